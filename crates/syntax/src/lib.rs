//! The Farkas language as text: grammar, syntax tree, error messages and formatter.
//!
//! In: a [`Source`](diag::Source).  Out: an [`ast::File`], or diagnostics; or the source in canonical layout.
//! Schedule scripts likewise: a [`script::Script`].
//! Needs: `grammar/farkas.pest` with `grammar/ranks.pest`, and `grammar/schedule.pest`, which define the two languages.
//! Not here: what names mean, types, shapes (`program`); which verbs a script may use and what they do (`steps`).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ast;
mod beside;
mod comments;
mod doc;
mod errors;
mod format;
mod habits;
mod limits;
mod link;
mod mistakes;
mod parse;
mod print;
pub mod script;
mod tokens;
mod tree;
mod verb;

pub use format::format;
pub use limits::{MAX_NESTING, MAX_SOURCE_BYTES, decode};
pub use link::{Read, Unlinked, link};
pub use parse::parse;
pub use print::{expr_to_string, print_ast};
pub use script::{parse_script, print_script};
pub use verb::verb_to_string;

#[cfg(test)]
mod tests;
