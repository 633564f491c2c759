//! The syntax tree of schedule scripts: which verbs were written, with spans; nothing resolved.
//!
//! ```text
//! schedule gemm {
//!     tile S0[i, j, k] by 64, 64, 256 as (it, jt, kt)
//!     parallel it
//!     unroll i by 8; vectorize j by 16
//!     fuse S0, S1 at i
//!     layout A[i, j] => [i / 8, j, i % 8]
//!     map { S0[i, j] -> [i + j, j]; S1[i] -> [2*i, 0] }
//! }
//! ```
//!
//! Reading (`parse`, with `tree` and `mistakes`) and writing (`print`) are below it. The grammar, and where a step
//! ends, is in `grammar/schedule.pest`.

mod mistakes;
mod parse;
mod print;
mod tree;

pub(crate) use parse::parse_schedules;
pub use parse::parse_script;
pub use print::print_script;
pub(crate) use print::{schedule_head, step_to_string};
pub(crate) use tree::step;

use diag::Span;

use crate::ast::{Expr, Ident};

/// A script file: the schedules of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// In the order of the text.
    pub schedules: Vec<Schedule>,
}

/// `schedule function { steps }`, or `schedule function where sizes { steps }`
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// For which function.
    pub function: Ident,
    /// What its sizes have to be; without conditions, all that no earlier schedule is for.
    pub sizes: Vec<Expr>,
    /// In order.
    pub steps: Vec<Step>,
    /// Its text.
    pub span: Span,
}

/// One verb with its operands. Which operands a verb takes is not known here.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is done.
    pub verb: Ident,
    /// To which statements and loops.
    pub targets: Vec<Target>,
    /// `by 64, -1, 2`
    pub by: Vec<Number>,
    /// `as (it, jt)` or `as it`
    pub names: Vec<Ident>,
    /// `at kt` or `at S0[kt]`
    pub at: Option<Target>,
    /// `where i < 5`, of `split`
    pub condition: Option<Expr>,
    /// `{ S0[i, j] -> [i + j, j] }`, of `map`
    pub maps: Vec<Map>,
    /// `=> [i % 2, j]` or `= (4,8):(8,1)`, of `layout`
    pub storage: Option<Storage>,
    /// `-> block.x`, of `place`
    pub axis: Option<Ident>,
    /// `fill 0`, of `layout`
    pub fill: Option<Ident>,
    /// Its text.
    pub span: Span,
}

/// Where the cells of an array live.
#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// `=> [i % 2, j] in [2, M]`
    Map {
        /// The place of a cell.
        outputs: Vec<Expr>,
        /// The extents behind `in`.
        shape: Option<Vec<Expr>>,
        /// Its text.
        span: Span,
    },
    /// What stands behind `=`, for whoever reads layouts.
    Notation {
        /// As it is written.
        text: String,
        /// Where.
        span: Span,
    },
}

/// `S0`, `i`, or `S0[i, j]`
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The statement or loop.
    pub name: Ident,
    /// The loops in brackets; `None` without brackets.
    pub loops: Option<Vec<Ident>>,
    /// Its text.
    pub span: Span,
}

/// An integer, with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The number.
    pub value: i64,
    /// Its text.
    pub span: Span,
}

/// `S0[i, j] -> [i + j, j]`
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Whose times these are.
    pub statement: Ident,
    /// Names for its indices.
    pub inputs: Vec<Ident>,
    /// One expression per level.
    pub outputs: Vec<Expr>,
    /// Its text.
    pub span: Span,
}
