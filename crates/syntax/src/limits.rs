//! Limits that make parsing safe on any input: size, bracket depth and nested `if`, all found without recursion.
//!
//! In: bytes or text, unparsed.  Out: a [`Source`], or the diagnostic that says which limit it breaks.
//! The depth of expression trees is limited while they are built (`tree`).

use diag::{Diagnostic, Source, Span};

use crate::tokens::{Brackets, Kind, REDUCTIONS, VERB_WORDS, tokens};

/// The largest source that is accepted.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// The deepest nesting that is accepted: of brackets and `if`s in the text, and of nodes in an expression tree.
pub const MAX_NESTING: usize = 256;

/// Turns the bytes of a file into a source. A byte-order mark in front is dropped.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Source, Diagnostic> {
    let not_text = |at: usize, what: String| {
        Diagnostic::error("E0005", Span::default(), format!("`{name}` is not a text file"))
            .note(format!("{what} at byte {at}"))
            .help("Farkas programs are UTF-8 text")
    };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(not_text(at, "there is a NUL byte".to_owned()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let at = error.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or_default();
            Err(not_text(at, format!("the byte 0x{byte:02X} is not UTF-8")))
        }
    }
}

pub(crate) fn too_deep(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0003", span, format!("{what} nested too deeply"))
        .here(format!("this is level {}", MAX_NESTING + 1))
        .note(format!("at most {MAX_NESTING} levels are allowed"))
        .help("give a part of it a name with `let`")
}

/// Checks size and nesting, so that the recursive parser cannot run out of stack.
pub(crate) fn check(source: &Source) -> Result<(), Diagnostic> {
    let text = source.text();
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!("the source has {} bytes, more than {MAX_SOURCE_BYTES}", text.len());
        return Err(Diagnostic::error("E0002", Span::default(), message).help("split it into several files"));
    }
    check_nesting(text)
}

/// Counts open brackets and, between two brackets, the `if`s since the expression began. Newlines do not end a
/// statement, but two operands in a row do.
fn check_nesting(text: &str) -> Result<(), Diagnostic> {
    let mut brackets = Brackets::default();
    // How many `if`s are open at each bracket level, and their sum.
    let mut ifs = vec![0_usize];
    let mut open_ifs = 0;
    // Whether each open bracket is that of a reduction or may be that of a verb, no operands when they close.
    let mut of_prefix = Vec::new();
    let mut after_operand = false;
    let mut after_reduction_word = false;
    for token in tokens(text, 0).filter(|token| token.kind != Kind::Comment) {
        let depth_before = brackets.open.len();
        brackets.see(token);
        let is_name = token.kind == Kind::Word && !token.is_keyword();
        let ends_expression =
            matches!(token.text, "let" | "for" | ";" | "," | "|" | ".." | "fn") || (is_name && after_operand);
        if brackets.open.len() > depth_before {
            ifs.push(0);
            of_prefix.push(after_reduction_word);
        }
        let mut closed_prefix = false;
        while ifs.len() > brackets.open.len() + 1 {
            open_ifs -= ifs.pop().unwrap_or(0);
            closed_prefix = of_prefix.pop().unwrap_or(false);
        }
        if VERB_WORDS.contains(&token.text)
            && let Some(open) = of_prefix.last_mut()
        {
            *open = true;
        }
        if let Some(here) = ifs.last_mut() {
            if ends_expression || token.text == "}" {
                open_ifs -= *here;
                *here = 0;
            }
            if token.text == "if" {
                *here += 1;
                open_ifs += 1;
            }
        }
        if brackets.open.len() + open_ifs > MAX_NESTING {
            let what = if token.text == "if" { "`if` is" } else { "brackets are" };
            return Err(too_deep(Span::new(token.start, token.end()), what));
        }
        after_operand = is_name
            || token.kind == Kind::Number
            || matches!(token.text, "true" | "false")
            || (matches!(token.text, ")" | "]") && !closed_prefix);
        after_reduction_word = REDUCTIONS.contains(&token.text);
    }
    Ok(())
}
