//! The Farkas language as text: grammar, syntax tree, error messages and formatter.
//!
//! In: a [`Source`](diag::Source).  Out: an [`ast::File`], or diagnostics; or the source in canonical layout.
//! Needs: `grammar/farkas.pest`, which is the definition of the language.
//! Not here: what names mean, types, shapes (`program`).
#![forbid(unsafe_code)]

pub mod ast;
mod comments;
mod doc;
mod errors;
mod format;
mod limits;
mod mistakes;
mod parse;
mod print;
mod tokens;
mod tree;

pub use format::format;
pub use limits::{MAX_NESTING, MAX_SOURCE_BYTES, decode};
pub use parse::parse;
pub use print::{expr_to_string, print_ast};

#[cfg(test)]
mod tests;
