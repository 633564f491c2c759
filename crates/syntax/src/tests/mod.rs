//! Tests of the whole crate, by topic.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use diag::{Source, Style, render};

use crate::ast::File;
use crate::{parse, print_ast};

mod formatting;
mod hostile;
mod messages;
mod messages_of_tokens;
mod precedence;
mod random;
mod script;
mod script_hostile;
mod script_messages;
mod tree;

fn source(text: &str) -> Source {
    Source::new("f.fks", text)
}

fn parsed(text: &str) -> File {
    let source = source(text);
    parse(&source).unwrap_or_else(|errors| panic!("{text}\n{}", render(&source, &errors, Style::Plain)))
}

/// The tree as text, which leaves out spans.
fn tree_of(text: &str) -> String {
    print_ast(&parsed(text))
}

/// The rendered errors of a source that does not parse.
fn errors_of(text: &str) -> String {
    let source = source(text);
    match parse(&source) {
        Ok(_) => panic!("this should not parse:\n{text}"),
        Err(errors) => render(&source, &errors, Style::Plain),
    }
}
