//! The layout calculator behind `farkas layout`: expressions, loop scripts, drawings, and JSON lines.
//!
//! In: `composition((4,8):(8,1), 2:4)`, or `split(N, 4); merge; predicate`, or one JSON question per line.
//! Out: the result, its isl map and a table to draw; or a diagnostic with the position in the script.
//! Not here: arguments, files and colours, which the command line has.
//!
//! ```
//! # use farkas_layout as layout;
//! let answer = layout::calculator::evaluate("complement((2,3):(1,2), 12)").unwrap();
//! assert_eq!(answer.result, "2:6");
//! ```

mod draw;
mod functions;
mod graphs;
mod json;
mod jsonl;
mod loops;
mod morphisms;
mod properties;
mod script;

use diag::Span;

pub use draw::Table;
pub use jsonl::jsonl;

pub use crate::cute::is_parametric;
use crate::cute::{Layout, parametric};
use crate::error::{Error, Result};
use crate::iter::Schedule;
use crate::transform::{Axis, Solver, Transform};

/// What a script comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The value as text.
    pub result: String,
    /// Its isl map, if it has one that isl finds in time.
    pub map: Option<String>,
    /// What else should be known, such as holes.
    pub notes: Vec<String>,
    /// What `--draw` shows.
    pub table: Option<Table>,
}

/// Scripts longer than this are refused.
const MAX_SCRIPT: usize = 1 << 16;

/// Evaluates an expression over layouts, or a script over loops or a graph, with the usual budget for isl.
pub fn evaluate(script: &str) -> Result<Answer, diag::Error> {
    let solver = Solver::new().map_err(|error| error.into_diag(Span::default()))?;
    evaluate_with(script, &solver)
}

/// The same, with a solver of one's own.
pub fn evaluate_with(script: &str, solver: &Solver) -> Result<Answer, diag::Error> {
    let whole = Span::new(0, script.len());
    if script.len() > MAX_SCRIPT {
        let message = format!("the script is longer than {MAX_SCRIPT} bytes");
        return Err(Error::Syntax { at: whole, message }.into_diag(whole));
    }
    let answer = match script.split_once("==") {
        Some((a, b)) => compare(a, b, solver),
        None if graphs::is_script(script) => graphs::run(script, solver),
        None if loops::is_script(script) => loops::run(script, solver),
        None => functions::run(script, solver),
    };
    answer.map_err(|(span, error)| error.into_diag(span))
}

/// Where the cells of an array are that has these axes, by a layout, steps on its axes, or a graph with a question.
pub fn storage(script: &str, axes: Vec<Axis>) -> Result<Transform, diag::Error> {
    let solver = Solver::new().map_err(|error| error.into_diag(Span::default()))?;
    let found = if graphs::is_script(script) {
        graphs::transform(script, &solver)
    } else if loops::is_step(script) {
        loops::storage(script, axes, &solver)
    } else if is_parametric(script) {
        parametric(script, axes.len()).map_err(|error| (Span::new(0, script.len()), error))
    } else {
        functions::storage(script, axes.len(), &solver)
    };
    found.map_err(|(span, error)| error.into_diag(span))
}

/// What steps make of loops over these axes.
pub fn schedule(script: &str, axes: Vec<Axis>) -> Result<Schedule, diag::Error> {
    let solver = Solver::new().map_err(|error| error.into_diag(Span::default()))?;
    loops::schedule(script, axes, &solver).map_err(|(span, error)| error.into_diag(span))
}

/// Whether two scripts stand for the same map, extents included.
fn compare(a: &str, b: &str, solver: &Solver) -> Located<Answer> {
    let whole = Span::new(0, a.len() + 2 + b.len());
    let transform = |script: &str| {
        if loops::is_script(script) { loops::transform(script, solver) } else { functions::transform(script, solver) }
    };
    let (left, right) = (transform(a)?, transform(b).map_err(|(span, error)| later(a.len() + 2, span, error))?);
    let same = solver.equivalent(&left, &right).map_err(|error| (whole, error))?;
    Ok(Answer { result: same.to_string(), map: None, notes: Vec::new(), table: None })
}

/// An error in a part of a script that begins later.
fn later(by: usize, span: Span, error: Error) -> (Span, Error) {
    let shift = |span: Span| Span::new(span.start as usize + by, span.end as usize + by);
    let error = match error {
        Error::Syntax { at, message } => Error::Syntax { at: shift(at), message },
        error => error,
    };
    (shift(span), error)
}

/// An error and where in the script it happened.
type Located<T> = std::result::Result<T, (Span, Error)>;

/// What to know of a product: holes that no copy fills, and copies past its size.
fn product_notes(block: &Layout, copies: &Layout, product: &Layout) -> Vec<String> {
    let gap = block
        .gap()
        .map(|(stride, covered)| format!("{block} leaves holes: its stride {stride} is not a multiple of {covered}"));
    let past = past_note("copies", copies.size() - product.copies_past(block, copies), copies.size());
    gap.into_iter().chain(past).collect()
}

/// What to know of a composite that is smaller than the inner layout.
fn past_note(what: &str, held: i64, wanted: i64) -> Option<String> {
    (held < wanted).then(|| {
        format!(
            "the shape holds {held} of the {wanted} {what}: the others fill a row only in part, and stand past the \
             size of the result, where its last mode runs on"
        )
    })
}

/// The map as text; none, with a note, if isl cannot give it.
fn map_text(solver: &Solver, transform: &Result<Transform>, notes: &mut Vec<String>) -> Option<String> {
    let map = transform.as_ref().map_err(Clone::clone).and_then(|transform| solver.map(transform));
    match map {
        Ok(map) => Some(map.to_string()),
        Err(error) => {
            notes.push(format!("no isl map: {error}"));
            None
        }
    }
}
