//! The comments of a source, in order, for the formatter to put back.

use crate::tokens::{Kind, tokens};

pub(crate) struct Comment<'a> {
    /// From `#` on, without trailing white space.
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// Nothing but white space stands in front of it on its line.
    pub(crate) own_line: bool,
}

pub(crate) fn comments(text: &str) -> Vec<Comment<'_>> {
    let comments = tokens(text, 0).filter(|token| token.kind == Kind::Comment);
    let comments = comments.map(|token| {
        let before = text.get(..token.start).unwrap_or("");
        let line = before.rfind('\n').map_or(before, |newline| before.get(newline + 1..).unwrap_or(""));
        Comment { text: token.text.trim_end(), start: token.start, own_line: line.trim().is_empty() }
    });
    comments.collect()
}

/// Whether a blank line stands directly in front of `offset`.
pub(crate) fn blank_line_before(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or("");
    let gap = before.get(before.trim_end().len()..).unwrap_or("");
    gap.bytes().filter(|&byte| byte == b'\n').count() > 1
}
