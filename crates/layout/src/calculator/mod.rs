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
mod json;
mod jsonl;
mod loops;
mod script;

use diag::Span;

pub use draw::Table;
pub use jsonl::jsonl;

use crate::cute::Layout;
use crate::error::{Error, Result};
use crate::transform::{Solver, Transform};

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

/// Evaluates an expression over layouts or a script over loops.
pub fn evaluate(script: &str) -> Result<Answer, diag::Error> {
    let whole = Span::new(0, script.len());
    if script.len() > MAX_SCRIPT {
        let message = format!("the script is longer than {MAX_SCRIPT} bytes");
        return Err(Error::Syntax { at: whole, message }.into_diag(whole));
    }
    let answer = if loops::is_script(script) { loops::run(script) } else { functions::run(script) };
    answer.map_err(|(span, error)| error.into_diag(span))
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
