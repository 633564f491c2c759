//! Parsing: from text to a syntax tree, or to one diagnostic per broken function.
//!
//! In: a source.  Out: an [`ast::File`], or everything that is wrong with its syntax.
//! Needs: the pest grammar, limits checked first (`limits`).
//! Not here: building nodes (`tree`), wording of errors (`errors`).

use std::sync::mpsc;
use std::time::{Duration, Instant};

use diag::{Diagnostic, Source, Span, deadline};
use pest::Parser;
use pest::iterators::{Pair, Pairs};

use crate::ast::File;
use crate::script::{Script, parse_schedules};
use crate::tokens::{Kind, Token, tokens};
use crate::{beside, errors, limits, tree};

/// The parser that pest derives from the three grammars, in a module of its own because the derive makes public items.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../../grammar/farkas.pest"]
    #[grammar = "../../../grammar/ranks.pest"]
    #[grammar = "../../../grammar/schedule.pest"]
    pub(crate) struct Grammar;
}
pub(crate) use grammar::{Grammar, Rule};

/// The generated parser recurses, and unoptimised it needs tens of kilobytes per level of nesting.
const STACK_BYTES: usize = 64 << 20;

/// After this many errors the rest is not reported.
pub(crate) const MAX_ERRORS: usize = 50;

/// Parses a whole source. After an error, parsing resumes at the next function, so that every broken function
/// reports its first error.
pub fn parse(source: &Source) -> Result<File, Vec<Diagnostic>> {
    limits::check(source).map_err(|diagnostic| vec![diagnostic])?;
    with_large_stack(source, |text| match beside::separate(text) {
        None => parse_functions(text),
        Some((program, script)) => parse_both(&program, &script),
    })
}

/// Runs a parser on a thread whose stack suffices for the deepest nesting that the limits accept. A parser that does not come back
/// before the deadline is not waited for: pest cannot be stopped, and ends on its own soon since texts have a limit.
pub(crate) fn with_large_stack<T: Send + 'static>(
    source: &Source,
    parser: fn(&str) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    let (done, parsed) = mpsc::channel();
    let (source, left) = (source.clone(), deadline::left());
    let work = move || {
        let result = deadline::within(Instant::now(), left.unwrap_or(Duration::MAX), || parser(source.text()));
        // Nobody waits any more if the time is over.
        let _ = done.send(result);
    };
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map_err(|error| {
        let message = format!("no thread could be started to parse this: {error}");
        vec![Diagnostic::error("E0003", Span::default(), message)]
    })?;
    let result = match left {
        Some(left) => parsed.recv_timeout(left),
        None => parsed.recv().map_err(mpsc::RecvTimeoutError::from),
    };
    match result {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(Vec::new()),
        Err(mpsc::RecvTimeoutError::Disconnected) => match worker.join() {
            Ok(()) => Err(Vec::new()),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// A program and the schedules beside it. The errors of both are reported, in the order of the text.
fn parse_both(program: &str, script: &str) -> Result<File, Vec<Diagnostic>> {
    match (parse_functions(program), parse_schedules(script)) {
        (Ok(file), Ok(Script { schedules })) => Ok(File { schedules, ..file }),
        (file, script) => {
            let mut diagnostics = [file.err(), script.err()].into_iter().flatten().flatten().collect::<Vec<_>>();
            diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
            diagnostics.truncate(MAX_ERRORS);
            Err(diagnostics)
        }
    }
}

fn parse_functions(text: &str) -> Result<File, Vec<Diagnostic>> {
    let mut file = File { uses: Vec::new(), constants: Vec::new(), functions: Vec::new(), schedules: Vec::new() };
    let mut diagnostics = Vec::new();
    let mut from = Some(0);
    while let Some(base) = from.take() {
        match Grammar::parse(Rule::file, text.get(base..).unwrap_or("")) {
            Ok(pairs) => build_items(pairs, base, &mut file, &mut diagnostics),
            Err(error) => {
                let failed_at = base + errors::offset(&error);
                let (broken, next) = functions_around(text, base, failed_at);
                // The functions in front of the broken one may still break limits.
                if let Ok(pairs) = Grammar::parse(Rule::file, text.get(base..broken).unwrap_or("")) {
                    build_items(pairs, base, &mut file, &mut diagnostics);
                }
                diagnostics.push(errors::syntax_error(text, broken, failed_at, &error));
                from = next.filter(|_| diagnostics.len() < MAX_ERRORS && deadline::check("parse").is_ok());
            }
        }
    }
    diagnostics.truncate(MAX_ERRORS);
    if diagnostics.is_empty() { Ok(file) } else { Err(diagnostics) }
}

fn build_items(pairs: Pairs<'_, Rule>, base: usize, file: &mut File, diagnostics: &mut Vec<Diagnostic>) {
    for pair in pairs.flat_map(Pair::into_inner) {
        let built = match pair.as_rule() {
            Rule::used => tree::used(pair, base).map(|used| file.uses.push(used)),
            Rule::function => tree::function(pair, base).map(|function| file.functions.push(function)),
            Rule::constant => tree::constant(pair, base).map(|constant| file.constants.push(constant)),
            _ => Ok(()),
        };
        diagnostics.extend(built.err());
    }
}

/// Where the function with the error begins, and where the next one does. A function looks as if it begins where
/// an `fn` opens a line or follows a `}`.
fn functions_around(text: &str, base: usize, failed_at: usize) -> (usize, Option<usize>) {
    let mut broken = base;
    let mut before: Option<Token<'_>> = None;
    for token in tokens(text, base).filter(|token| token.kind != Kind::Comment) {
        let opens_line = before.is_none_or(|b| text.get(b.end()..token.start).is_some_and(|gap| gap.contains('\n')));
        let after_body = before.is_some_and(|b| b.text == "}");
        if token.text == "fn" && (opens_line || after_body) {
            if token.start < failed_at {
                broken = token.start;
            } else if token.start > base {
                return (broken, Some(token.start));
            }
        }
        before = Some(token);
    }
    (broken, None)
}
