//! Why calls are refused, in the names of the program.

use diag::{Diagnostic, Source, Span};
use program::ScalarType;

/// Why a call was refused, or failed while it ran.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The module has no such function.
    #[error("there is no function `{name}`; there is {}", known.join(", "))]
    UnknownFunction {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The function has no such argument.
    #[error("there is no argument `{name}`; the arguments are {}", known.join(", "))]
    UnknownArgument {
        /// What was given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Two arguments have the same name.
    #[error("argument `{name}` is given twice")]
    GivenTwice {
        /// That name.
        name: String,
    },
    /// An argument was not given.
    #[error("argument `{name}` is missing")]
    MissingArgument {
        /// Of the argument.
        name: String,
    },
    /// An argument has elements of another type.
    #[error("argument `{name}` is {expected}, but {given} was given")]
    WrongType {
        /// Of the argument.
        name: String,
        /// What the function takes.
        expected: ScalarType,
        /// What was given.
        given: ScalarType,
    },
    /// An array has more or fewer dimensions.
    #[error("argument `{name}` has {expected} dimensions, but an array of {given} was given")]
    WrongRank {
        /// Of the argument.
        name: String,
        /// What the function takes.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// A scalar where an array belongs.
    #[error("argument `{name}` is an array, but a scalar was given")]
    ExpectedArray {
        /// Of the argument.
        name: String,
    },
    /// An array where a scalar belongs.
    #[error("argument `{name}` is a scalar, but an array was given")]
    ExpectedScalar {
        /// Of the argument.
        name: String,
    },
    /// An output, given as something to read.
    #[error("argument `{name}` is written by the function, but was given to be read only")]
    NotWritable {
        /// Of the argument.
        name: String,
    },
    /// A slice that is longer or shorter than its shape says.
    #[error("{len} elements do not make an array `{name}` of shape {shape:?}")]
    Misshapen {
        /// Of the argument.
        name: String,
        /// How many elements there are.
        len: usize,
        /// The shape that they were given with.
        shape: Vec<usize>,
    },
    /// The function has no such parameter.
    #[error("there is no parameter `{name}`; the parameters are {}", known.join(", "))]
    UnknownSize {
        /// What was given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Two different values of one parameter.
    #[error("parameter `{name}` is given two values")]
    SizeGivenTwice {
        /// Of the parameter.
        name: String,
    },
    /// A size below zero.
    #[error("parameter `{name}` is {value}, but sizes are never negative")]
    NegativeSize {
        /// Of the parameter.
        name: String,
        /// What was given.
        value: i64,
    },
    /// A parameter that nothing determines.
    #[error("the value of parameter `{name}` is neither given nor visible in the shape of an array")]
    MissingSize {
        /// Of the parameter.
        name: String,
    },
    /// A dimension whose length does not fit the sizes.
    #[error("dimension {dimension} of `{array}` has length {length}, but must have length {extent}, with {sizes}")]
    Extent {
        /// Of the argument.
        array: String,
        /// From 1.
        dimension: usize,
        /// What the array has.
        length: i64,
        /// What it must be, in the words of the program.
        extent: String,
        /// The values of the parameters, as text.
        sizes: String,
    },
    /// A `where` condition that the sizes do not satisfy.
    #[error("the sizes do not satisfy `where {condition}`, with {sizes}")]
    Requirement {
        /// In the words of the program.
        condition: String,
        /// The values of the parameters, as text.
        sizes: String,
        /// Where the program says it.
        span: Span,
    },
    /// An extent that is negative, or past what memory can be, at these sizes.
    #[error("array `{array}` cannot have the extent {extent} for these sizes")]
    TooLarge {
        /// Of the argument.
        array: String,
        /// In the words of the program.
        extent: String,
        /// Where the program says it.
        span: Span,
    },
    /// A layout with more places than 64 bits can count, at these sizes.
    #[error("the layout of `{array}` has more places than 64 bits can count, with {sizes}")]
    Layout {
        /// The array.
        array: String,
        /// The values of the parameters, as text.
        sizes: String,
        /// Where the program or its schedule says it.
        span: Span,
        /// The text of the schedule, if that says it.
        schedule: Option<Box<Source>>,
    },
    /// A product, quotient or minimum of sizes that is no size.
    #[error("the size {size} {why}, with {sizes}")]
    Derived {
        /// In the words of the program.
        size: String,
        /// What is wrong with it.
        why: program::NoSize,
        /// The values of the parameters, as text.
        sizes: String,
        /// What was to be computed, in numbers.
        computed: String,
        /// Where the program says it.
        span: Span,
    },
    /// Sizes for which subscripts would not fit 64 bits.
    #[error("index arithmetic would leave 64 bits, with {sizes}")]
    IndexOverflow {
        /// The values of the parameters, as text.
        sizes: String,
    },
    /// A limit of no threads at all.
    #[error("a call needs at least one thread")]
    NoThreads,
    /// The system gives no threads.
    #[error("no pool of threads could be made: {why}")]
    Pool {
        /// What it says.
        why: String,
    },
    /// A GPU is asked for, and the library cannot reach one.
    #[error(
        "this library was built without the feature `cuda`, so it cannot launch anything; `Device::Emulate` runs without a GPU"
    )]
    NoLauncher,
    /// A call of PTX is to be prepared, or PTX to be tuned.
    #[error("only code for this machine can be prepared or tuned, and this is PTX")]
    NoMachineCode,
    /// Code for the sizes of a call, which had none yet, could not be made.
    #[error("there is no code for these sizes: {why}")]
    NotMade {
        /// What was in the way, such as a time limit.
        why: String,
    },
    /// The code refused the arguments, or failed while it ran.
    #[error(transparent)]
    Run(#[from] cpu::CallError),
    /// The kernels refused the arguments, or failed while they ran.
    #[error(transparent)]
    Gpu(#[from] ptx::RunError),
    /// The interpreter failed while it ran.
    #[error(transparent)]
    Interpret(#[from] interp::Error),
}

impl CallError {
    /// The refusal as a message at its place, if it is about something that the program or its schedule says.
    pub(crate) fn diagnostic(&self) -> Option<Diagnostic> {
        let (span, here) = match self {
            CallError::Requirement { span, .. } | CallError::TooLarge { span, .. } | CallError::Layout { span, .. } => {
                (*span, String::new())
            }
            CallError::Derived { span, computed, .. } => (*span, format!("this is {computed}")),
            _ => return None,
        };
        Some(Diagnostic::error("usage", span, self.to_string()).here(here))
    }

    /// Who is at fault, if kernels did not run to their end.
    pub fn gpu_failure(&self) -> Option<ptx::Failure> {
        match self {
            CallError::Gpu(error) => Some(error.failure()),
            _ => None,
        }
    }
}
