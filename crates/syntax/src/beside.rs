//! Schedules that stand beside the functions of a program, in the same file.
//!
//! In: the text of a file.  Out: the program and the schedules as two texts, each with white space where the other is, so
//! that both grammars read their part undisturbed and every span counts from the start of the file.

use crate::tokens::{Kind, Token, tokens};

/// The program and the schedules of a file; none if it has no schedules.
pub(crate) fn separate(text: &str) -> Option<(String, String)> {
    let mut program = String::with_capacity(text.len());
    let mut script = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in regions(text) {
        let (before, inside) = (text.get(at..start)?, text.get(start..end)?);
        program.push_str(before);
        program.push_str(&blank(inside));
        script.push_str(&blank(before));
        script.push_str(inside);
        at = end;
    }
    if at == 0 {
        return None;
    }
    let rest = text.get(at..)?;
    program.push_str(rest);
    script.push_str(&blank(rest));
    Some((program, script))
}

/// As many spaces as bytes, with the same lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// Where schedules begin and end. One begins where the word opens a line or follows a `}`, and ends with its `}` or, where
/// that is missing, in front of the next function, constant or schedule.
fn regions(text: &str) -> Vec<(usize, usize)> {
    let mut regions = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut before: Option<Token<'_>> = None;
    for token in tokens(text, 0).filter(|token| token.kind != Kind::Comment) {
        let opens_line = before.is_none_or(|b| text.get(b.end()..token.start).is_some_and(|gap| gap.contains('\n')));
        let begins = opens_line || before.is_some_and(|before| before.text == "}");
        if begins
            && matches!(token.text, "schedule" | "fn" | "const")
            && let Some((start, _)) = open.take()
        {
            regions.push((start, token.start));
        }
        match (token.text, &mut open) {
            ("schedule", None) if begins => open = Some((token.start, 0)),
            ("{", Some((_, depth))) => *depth += 1,
            ("}", Some((start, depth))) => {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    regions.push((*start, token.end()));
                    open = None;
                }
            }
            _ => {}
        }
        before = Some(token);
    }
    regions.extend(open.map(|(start, _)| (start, text.len())));
    regions
}
