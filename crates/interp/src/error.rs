//! What can go wrong when a program runs.

use diag::Span;
use program::ScalarType;

/// A run-time failure. Spans are known for array programs only; a loop tree has none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what happened, in the names of the fields")]
pub enum Error {
    /// The data is at fault.
    #[error(transparent)]
    Fault(program::Fault),
    #[error("`{array}[{}]` is outside the shape [{}]", join(.index), join(.shape))]
    OutOfBounds { array: String, index: Vec<i64>, shape: Vec<i64>, span: Option<Span> },
    /// No clause of a system of equations defines the cell.
    #[error("`{array}[{}]` is read, but no equation defines it", join(.index))]
    Undefined { array: String, index: Vec<i64>, span: Option<Span> },
    #[error("`{array}[{}]` depends on itself", join(.index))]
    Cycle { array: String, index: Vec<i64>, span: Option<Span> },
    #[error("index arithmetic leaves 64 bits")]
    IndexOverflow { span: Option<Span> },
    #[error("expected {expected} {what}, found {found}")]
    Count { what: &'static str, expected: usize, found: usize },
    #[error("parameter `{param}` is {value}, which is negative")]
    NegativeParam { param: String, value: i64 },
    #[error("the parameters do not satisfy the `where` clause")]
    Requirement { span: Span },
    #[error("scalar `{scalar}` is {expected}, the argument is {found}")]
    ScalarType { scalar: String, expected: ScalarType, found: ScalarType },
    #[error("array `{array}` needs an argument")]
    MissingArray { array: String },
    #[error("array `{array}` has elements of type {expected}, the argument has {found}")]
    ArrayType { array: String, expected: ScalarType, found: ScalarType },
    #[error("array `{array}` has {expected} elements, the argument has {found}")]
    ArraySize { array: String, expected: usize, found: usize },
    #[error("array `{array}` has the shape [{}], which is negative or too large", join(.shape))]
    Shape { array: String, shape: Vec<i64> },
    #[error("there is no memory for array `{array}` of {elements} elements")]
    OutOfMemory { array: String, elements: usize },
    /// The verifiers let no such program through.
    #[error("the program is malformed: {what}")]
    Malformed { what: String },
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
