//! Parsing of scripts: from text to a syntax tree, or to one diagnostic per broken step.
//!
//! In: a source.  Out: a [`Script`], or everything that is wrong with its syntax.
//! After an error, parsing resumes at the next step or, where no step could be found, at the next `schedule`.
//! Not here: building nodes (`tree`), wording of errors (`mistakes`), limits and stack (as for programs).

use diag::{Diagnostic, Source, deadline};
use pest::Parser;

use super::{Script, mistakes, tree};
use crate::parse::{Grammar, MAX_ERRORS, Rule, with_large_stack};
use crate::tokens::{Brackets, Kind, Token, tokens};
use crate::{errors, limits};

/// Parses a whole script. The order of the diagnostics is that of the text.
pub fn parse_script(source: &Source) -> Result<Script, Vec<Diagnostic>> {
    let checked = limits::check(source).map_err(|diagnostic| vec![diagnostic]);
    checked.and_then(|()| with_large_stack(source, parse_schedules)).map_err(|mut diagnostics| {
        // The help against deep nesting is to use `let`, which scripts do not have.
        diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == "E0003").for_each(|d| d.helps.clear());
        diagnostics
    })
}

/// Where parsing starts or resumes: outside of schedules, or between the steps of one.
#[derive(Clone, Copy)]
struct Place<'a> {
    at: usize,
    /// The `{` of the schedule.
    body: Option<Token<'a>>,
}

impl Place<'_> {
    fn rule(&self) -> Rule {
        if self.body.is_some() { Rule::script_rest } else { Rule::script }
    }
}

pub(crate) fn parse_schedules(text: &str) -> Result<Script, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut schedules = Vec::new();
    let mut from = Some(Place { at: 0, body: None });
    while let Some(place) = from.take() {
        match Grammar::parse(place.rule(), text.get(place.at..).unwrap_or("")) {
            Ok(pairs) => schedules = tree::schedules(text, place.at, pairs, &mut diagnostics),
            Err(error) => {
                let failed_at = place.at + errors::offset(&error);
                let (broken, next) = places_around(text, place, failed_at);
                check_steps_between(text, place, broken, &mut diagnostics);
                let open = Brackets { open: broken.body.into_iter().collect() };
                diagnostics.push(mistakes::syntax_error(text, broken.at, open, failed_at, &error));
                from = next.filter(|_| diagnostics.len() < MAX_ERRORS && deadline::check("parse").is_ok());
            }
        }
    }
    diagnostics.truncate(MAX_ERRORS);
    if diagnostics.is_empty() { Ok(Script { schedules }) } else { Err(diagnostics) }
}

/// The steps in front of the broken one may still break limits.
fn check_steps_between(text: &str, from: Place<'_>, broken: Place<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut part = text.get(from.at..broken.at).unwrap_or("").to_owned();
    if broken.body.is_some() {
        part.push('}');
    }
    if let Ok(pairs) = Grammar::parse(from.rule(), &part) {
        tree::schedules(text, from.at, pairs, diagnostics);
    }
}

/// Where the step with the error begins (or its schedule, if the error is outside of steps), and where to resume.
fn places_around<'a>(text: &'a str, from: Place<'a>, failed_at: usize) -> (Place<'a>, Option<Place<'a>>) {
    let mut broken = from;
    let mut brackets = Brackets { open: from.body.into_iter().collect() };
    let mut before: Option<Token<'a>> = None;
    let mut tokens = tokens(text, from.at).filter(|token| token.kind != Kind::Comment).peekable();
    while let Some(token) = tokens.next_if(|token| token.end() <= failed_at) {
        let here = Neighbours { text, before, token };
        brackets.see(token);
        match brackets.open.as_slice() {
            [] if token.text == "}" => broken = Place { at: token.end(), body: None },
            [] if here.begins_schedule() => broken = Place { at: token.start, body: None },
            [body] if here.begins_step() => broken = Place { at: token.start, body: Some(*body) },
            _ => {}
        }
        before = Some(token);
    }
    let rest = tokens.scan(before, |before, token| {
        let before = before.replace(token);
        Some(Neighbours { text, before, token })
    });
    (broken, resume(rest, &brackets, failed_at))
}

/// The next place where a step or a schedule begins, from the token that failed on; `brackets` are open in front of
/// it. Which of them the broken step would have closed is not known, so all but the braces of maps are ignored.
fn resume<'a>(
    rest: impl Iterator<Item = Neighbours<'a>>,
    brackets: &Brackets<'a>,
    failed_at: usize,
) -> Option<Place<'a>> {
    let body = brackets.open.first().copied();
    let in_brackets = brackets.open.len() > 1;
    let mut in_map = brackets.open.iter().skip(1).any(|opener| opener.text == "{");
    for here in rest {
        let token = here.token;
        if here.begins_schedule() {
            return Some(Place { at: token.start, body: None });
        }
        if body.is_none() {
            continue;
        }
        if in_map || token.text == "{" {
            in_map = token.text != "}";
            continue;
        }
        // A step that lacks its end fails at the first token of the next one, or just in front of it.
        let is_first = here.before.is_none_or(|before| before.end() <= failed_at);
        let may_follow = here.before.is_none_or(|before| before.start <= failed_at) && here.opens_line();
        let begins_step = match in_brackets {
            true => here.begins_step() && !is_first,
            false => here.begins_step() || may_follow && is_name(&token),
        };
        if token.text == ";" {
            return Some(Place { at: token.end(), body });
        } else if token.text == "}" || begins_step {
            return Some(Place { at: token.start, body });
        }
    }
    None
}

/// As the grammar's rule `name`.
fn is_name(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && !token.is_keyword() && !matches!(token.text, "as" | "at")
}

/// A token and the one in front of it.
struct Neighbours<'a> {
    text: &'a str,
    before: Option<Token<'a>>,
    token: Token<'a>,
}

impl Neighbours<'_> {
    fn opens_line(&self) -> bool {
        self.before
            .is_none_or(|before| self.text.get(before.end()..self.token.start).is_some_and(|gap| gap.contains('\n')))
    }

    /// A schedule looks as if it begins where the word opens a line or follows a `}`.
    fn begins_schedule(&self) -> bool {
        self.token.text == "schedule" && (self.opens_line() || self.before.is_some_and(|before| before.text == "}"))
    }

    /// Inside a schedule: a word that could be a verb, behind a separator and what could be the end of a step.
    fn begins_step(&self) -> bool {
        let is_name =
            |token: &Token<'_>| token.kind == Kind::Word && !token.is_keyword() && !matches!(token.text, "as" | "at");
        let after_step = self.before.is_none_or(|before| {
            matches!(before.text, ")" | "]" | "}" | "true" | "false") || before.kind == Kind::Number || is_name(&before)
        });
        let after_mark = self.before.is_none_or(|before| matches!(before.text, "{" | ";"));
        is_name(&self.token) && (after_mark || after_step && self.opens_line())
    }
}
