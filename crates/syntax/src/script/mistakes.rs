//! Syntax errors of scripts: what was found, what could stand there, and the cure where the mistake is a common one.
//!
//! In: pest's error and the place of the broken step.  Out: one diagnostic.
//! Not here: what is the same as in programs (`crate::mistakes`), such as a foreign character or `&&`.

use diag::{Diagnostic, Span};
use pest::error::Error;

use crate::errors::Site;
use crate::mistakes::{brackets, conditional, foreign_character, foreign_symbol, number, reduction, unclosed};
use crate::parse::Rule;
use crate::tokens::{Brackets, Kind, next_token};

/// The diagnostic for an error at `failed_at` in the step (or schedule) that begins at `start`, where `brackets` are
/// open.
pub(super) fn syntax_error(
    text: &str,
    start: usize,
    brackets: Brackets<'_>,
    failed_at: usize,
    error: &Error<Rule>,
) -> Diagnostic {
    match Site::new(text, start, brackets, failed_at, error) {
        Ok(site) => recognise(&site).unwrap_or_else(|| site.unexpected()),
        Err(limit) => limit,
    }
}

/// The first mistake that fits, as for programs.
fn recognise(site: &Site<'_>) -> Option<Diagnostic> {
    foreign_character(site)
        .or_else(|| unclosed_bracket(site))
        .or_else(|| integer(site))
        .or_else(|| arrow(site))
        .or_else(|| number(site))
        .or_else(|| reduction(site))
        .or_else(|| operator(site))
        .or_else(|| brackets(site))
        .or_else(|| list(site))
        .or_else(|| conditional(site))
        .or_else(|| outside(site))
}

/// The end of the file or a new schedule while brackets are open.
fn unclosed_bracket(site: &Site<'_>) -> Option<Diagnostic> {
    let in_line = site.found.zip(site.before.first()).is_some_and(|(found, before)| {
        before.text != "}" && !site.text.get(before.end()..found.start).is_some_and(|gap| gap.contains('\n'))
    });
    if in_line { None } else { unclosed(site, "schedule", "a new schedule begins here") }
}

/// `by 1.5`, `by N`, `by -N`, `by 2x`.
fn integer(site: &Site<'_>) -> Option<Diagnostic> {
    let not_integer = |diagnostic: Diagnostic| {
        Some(diagnostic.here("expected an integer").help("`by` takes integers, such as `64` or `-1`"))
    };
    let found = site.found?;
    if site.expects(Rule::signed) || site.expected == [Rule::int] {
        return not_integer(site.unexpected());
    }
    // In an expression, `1.` is a mistake of its own.
    let whole = site.before.first().filter(|whole| whole.kind == Kind::Number && whole.end() == found.start)?;
    if found.text != "." || site.expects(Rule::additive) {
        return None;
    }
    let fraction = next_token(site.text, found.end()).filter(|next| next.start == found.end());
    let end = fraction.filter(|fraction| fraction.kind == Kind::Number).map_or(found.end(), |fraction| fraction.end());
    let text = site.text.get(whole.start..end).unwrap_or(".");
    not_integer(Diagnostic::error("E0001", Span::new(whole.start, end), format!("`{text}` is not an integer")))
}

/// `map S0[i] -> [i]`, `map { S0[i] => [i] }`, `map { S0[i] -> i }`, `place i -> x`.
fn arrow(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    if site.expects(Rule::axis) {
        if let ("[", Some(arrow)) = (found.text, site.before.first()) {
            let diagnostic = Diagnostic::error("E0001", Span::new(arrow.start, arrow.end()), "unexpected `->`");
            let diagnostic = diagnostic.here("expected `,`, `by`, `as`, `at`, `where` or the end of the step");
            return Some(diagnostic.help("maps stand in braces: `map { S0[i] -> [i] }`"));
        }
        return Some(site.unexpected().help("loops are placed on `block.x`, `thread.x`, or `y` and `z` of either"));
    }
    if site.expects(Rule::arrow) && !site.expects(Rule::kw_at) {
        return Some(site.unexpected().help("a map is written `S0[i, j] -> [j, i]`"));
    }
    (site.before_text(0) == "->").then(|| site.unexpected().help("the new loops stand in brackets: `-> [i + j, j]`"))
}

/// Operators of other languages, without those that assign: nothing is assigned here.
fn operator(site: &Site<'_>) -> Option<Diagnostic> {
    if matches!(site.found_text(), ":=" | "<-" | "++") { None } else { foreign_symbol(site) }
}

/// Lists that lack their brackets or have the wrong ones or separators.
fn list(site: &Site<'_>) -> Option<Diagnostic> {
    let help = match site.found_text() {
        "," if site.before_text(1) == "as" => "several names stand in parentheses: `as (it, jt)`",
        "," if site.before_text(0) == "]" && site.expects(Rule::name) && site.expects(Rule::rbrace) => {
            let diagnostic = site.unexpected().here("expected `;` or `}`");
            return Some(diagnostic.help("separate maps by `;` or a new line"));
        }
        "," if site.expects(Rule::kw_at) && site.expects(Rule::additive) => "join conditions by `and`",
        "(" if site.expects(Rule::kw_at) && site.expects(Rule::name) => {
            "targets follow the verb: `tile S0[i, j] by 8, 8`"
        }
        "(" if site.before.first()?.kind == Kind::Word && site.expects(Rule::lbracket) => {
            "loops stand in brackets: `S0[i, j]`"
        }
        "}" if site.before_text(0) == "{" => "leave out the braces, or write a map: `{ S0[i] -> [i] }`",
        _ => return None,
    };
    Some(site.unexpected().help(help))
}

/// Steps that stand outside of a schedule.
fn outside(site: &Site<'_>) -> Option<Diagnostic> {
    site.found.filter(|found| found.kind == Kind::Word && !found.is_keyword())?;
    let is_outside = site.expects(Rule::script) || site.expects(Rule::schedule) || site.expects(Rule::kw_schedule);
    (is_outside && site.brackets.open.is_empty()).then(|| {
        site.unexpected().help("steps stand in a schedule: `schedule name { … }`, with the name of a function")
    })
}
