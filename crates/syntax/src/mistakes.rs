//! Common mistakes: what people write from habit with another language, and what to write instead.
//!
//! In: the site of a syntax error.  Out: a diagnostic with a help line, or nothing when the mistake is not known.

use diag::{Diagnostic, Span};

use crate::errors::Site;
use crate::habits;
use crate::parse::Rule;
use crate::tokens::{Kind, REDUCTIONS, Token, next_token};

/// The first mistake that fits. The order matters: a wrong character explains more than a missing `then`.
pub(crate) fn recognise(site: &Site<'_>) -> Option<Diagnostic> {
    foreign_character(site)
        .or_else(|| foreign_statement(site))
        .or_else(|| habits::recognise(site))
        .or_else(|| unclosed(site, "fn", "a new function begins here"))
        .or_else(|| number(site))
        .or_else(|| reduction(site))
        .or_else(|| slice(site))
        .or_else(|| range_of_index(site))
        .or_else(|| attribute(site))
        .or_else(|| foreign_symbol(site))
        .or_else(|| brackets(site))
        .or_else(|| loop_header(site))
        .or_else(|| labelled_loop(site))
        .or_else(|| keyword_as_name(site))
        .or_else(|| conditional(site))
        .or_else(|| statement(site))
}

pub(crate) fn span_of(token: &Token<'_>) -> Span {
    Span::new(token.start, token.end())
}

pub(crate) fn foreign_character(site: &Site<'_>) -> Option<Diagnostic> {
    let token = site.found?;
    let character = token.text.chars().next()?;
    if token.kind != Kind::Foreign {
        return None;
    }
    let code = u32::from(character);
    let shown = if character.is_control() || character.is_whitespace() || code == 0xFEFF {
        format!("the character U+{code:04X}")
    } else {
        format!("the character `{character}` (U+{code:04X})")
    };
    let diagnostic = site.error(format!("{shown} does not belong to the language")).here("not expected here");
    let help = match character {
        '×' | '·' | '∙' | '⋅' => "write `*`".to_owned(),
        '÷' => "write `/`".to_owned(),
        '−' | '–' | '—' => "write `-`".to_owned(),
        '≤' => "write `<=`".to_owned(),
        '≥' => "write `>=`".to_owned(),
        '≠' => "write `!=`".to_owned(),
        '∑' | 'Σ' => "write `sum[k] …`".to_owned(),
        '∏' | 'Π' => "write `prod[k] …`".to_owned(),
        '∞' => "write `inf`".to_owned(),
        '…' => "write `..`".to_owned(),
        '→' => "write `->`".to_owned(),
        '∧' => "write `and`".to_owned(),
        '∨' => "write `or`".to_owned(),
        '¬' => "write `not`".to_owned(),
        '\u{A0}' | '\u{2007}' | '\u{202F}' => "write an ordinary space".to_owned(),
        _ if character.is_alphabetic() => "names are made of `A`-`Z`, `a`-`z`, `0`-`9` and `_`".to_owned(),
        _ => return Some(diagnostic),
    };
    Some(diagnostic.help(help))
}

/// `return`, `while` and the like parse as a name, so the error comes one token later.
fn foreign_statement(site: &Site<'_>) -> Option<Diagnostic> {
    let word = site.before.first()?;
    if !site.expects(Rule::assign_op) {
        return None;
    }
    let (message, help) = match word.text {
        "return" => ("there is no `return`", "name the result in `-> (Y: …)` and assign to it: `Y[i] = …`"),
        "while" | "loop" => {
            ("there is no such loop", "loops have bounds, and may stop before: `for t in 0..T while err > tol { … }`")
        }
        "break" | "continue" => (
            "a loop has no such way out",
            "it stops where the condition behind its range fails, `for t in 0..T while err > tol { … }`; an `if` leaves out a part of it",
        ),
        "pass" => ("there is nothing to say here", "an empty block is `{ }`"),
        "var" | "const" | "def" => ("this does not define anything", "write `let name = …`"),
        _ => return None,
    };
    Some(Diagnostic::error("E0001", span_of(word), message).here("not a statement").help(help))
}

/// The end of the file while brackets are open, or the word that begins a new part of it.
pub(crate) fn unclosed(site: &Site<'_>, new_part: &str, begins_here: &'static str) -> Option<Diagnostic> {
    let opener = site.brackets.open.last()?;
    let where_noticed = match site.found_text() {
        "" => "the file ends here",
        word if word == new_part => begins_here,
        _ => return None,
    };
    let message = format!("unclosed `{}`", opener.text);
    Some(Diagnostic::error("E0001", span_of(opener), message).here("never closed").label(site.span(), where_noticed))
}

pub(crate) fn number(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    let after_found = next_token(site.text, found.end()).filter(|next| next.start == found.end());
    if found.text == "." {
        let before = site.before.first().filter(|b| b.kind == Kind::Number && b.end() == found.start);
        let after = after_found.filter(|a| a.kind == Kind::Number);
        let literal = Span::new(before.map_or(found.start, |b| b.start), after.map_or(found.end(), |a| a.end()));
        let text = site.text.get(literal.range()).unwrap_or(".");
        let help = match (before, after) {
            (Some(_), None) => format!("write `{text}0`"),
            (None, Some(_)) => format!("write `0{text}`"),
            (Some(_), Some(_)) => return Some(malformed_number(literal, text)),
            (None, None) => return None,
        };
        let message = format!("`{text}` is not a number");
        let diagnostic = Diagnostic::error("E0001", literal, message).here("a digit is missing");
        return Some(diagnostic.note("the point of a number has a digit on both sides").help(help));
    }
    let is_plain = found.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    (found.kind == Kind::Number && !is_plain && site.expects_expression())
        .then(|| malformed_number(span_of(&found), found.text))
}

fn malformed_number(span: Span, text: &str) -> Diagnostic {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, letters) = text.split_at(digits);
    let diagnostic = Diagnostic::error("E0001", span, format!("`{text}` is not a number")).here("not a number");
    match letters {
        "" => diagnostic,
        "f" | "f32" | "f64" | "i32" | "i64" | "u8" | "u32" | "u64" => {
            diagnostic.help("numbers have no suffix; write a cast: `f32(…)`")
        }
        _ if number == "0" || letters.starts_with(['e', 'E']) => {
            diagnostic.help("numbers are written `12`, `1.5`, `1e-3`, `0xFF` or `0b101`")
        }
        _ => diagnostic.help(format!("to multiply, write `{number} * {letters}`")),
    }
}

/// `sum(k, …)`, `sum k …`, `let sum[i] = …`.
pub(crate) fn reduction(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    let next = next_token(site.text, found.end()).map_or("", |token| token.text);
    if REDUCTIONS.contains(&found.text) {
        if next == "(" && site.expects_expression() {
            return Some(without_brackets(&found));
        }
        if next == "[" && !site.expects_expression() {
            return Some(not_an_array(&found));
        }
        if matches!(found.text, "min" | "max") && next == "=" && site.expects(Rule::assign_op) {
            let help = format!("write `{}=` without a space", found.text);
            return Some(site.unexpected().help(help));
        }
    }
    if let Some(word) = site.before.first().filter(|word| word.text == "scan") {
        let diagnostic = Diagnostic::error("E0001", span_of(word), "`scan` stands in front of a reduction");
        return Some(diagnostic.help("name what is accumulated, and how far: `scan sum[k | k <= i] …`"));
    }
    let word = site.before.first().filter(|word| REDUCTIONS.contains(&word.text));
    match (word, found.text) {
        (Some(word), "[") => Some(not_an_array(word)),
        (Some(word), "(") if site.expects(Rule::lbracket) && !site.expects(Rule::assign_op) => {
            Some(without_brackets(word))
        }
        // `s = sum k A[k]` reads as `s = sum` and a statement that begins with `k`.
        _ if site.expects(Rule::assign_op) => {
            let target = target_start(&site.before)?;
            site.before.get(target + 1).filter(|word| REDUCTIONS.contains(&word.text)).map(without_brackets)
        }
        _ => None,
    }
}

/// How far back the name of the assignment target that ends here is: past its subscripts, if it has some.
fn target_start(before: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (distance, token) in before.iter().enumerate() {
        match token.text {
            "]" => depth += 1,
            "[" => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return (token.kind == Kind::Word).then_some(distance),
            _ => {}
        }
    }
    None
}

fn not_an_array(word: &Token<'_>) -> Diagnostic {
    Diagnostic::error("E0001", span_of(word), format!("`{}` cannot be the name of an array", word.text))
        .here(format!("`{}[` begins a reduction", word.text))
}

fn without_brackets(word: &Token<'_>) -> Diagnostic {
    Diagnostic::error("E0001", span_of(word), format!("`{}` is a reduction, not a function", word.text))
        .here("expected `[` and its indices")
        .help(format!("name the index in brackets: `{}[k] A[k]`", word.text))
}

pub(crate) fn foreign_symbol(site: &Site<'_>) -> Option<Diagnostic> {
    let unknown = |help: &str| {
        Some(site.error(format!("unknown operator `{}`", site.found_text())).here("not an operator").help(help))
    };
    match site.found_text() {
        ":=" => unknown("assign with `=`"),
        "<-" => unknown("assign with `=`"),
        "&&" => unknown("write `and`"),
        "||" => unknown("write `or`"),
        "|" if site.before_text(0) == "|" => unknown("write `or`"),
        "|" if !site.expects(Rule::bar) && site.expects(Rule::additive) => Some(
            site.unexpected()
                .help("`|` begins a guard in an index list: `A[i | i > 0]`; write `or` for a choice")
                .help("for the bits that either has, put the operator into parentheses: `(i | 1)`"),
        ),
        "!" => unknown("write `not`"),
        "**" => unknown("multiply instead, `x * x`, or write `pow(x, y)`"),
        "**=" => unknown("write `x *= x`, or `x = pow(x, y)`"),
        "//=" => {
            unknown("write `/=`: of integers it is the quotient rounded down, as of a remainder that is never negative")
        }
        "@=" => unknown("a product of matrices is a sum over their common index: `C[i, j] = sum[k] A[i, k] * B[k, j]`"),
        "++" => unknown("write `+= 1`"),
        "=>" => unknown("write `>=`"),
        "<>" if site.before_text(1) == "fn" => {
            Some(site.error("the parameter list is empty").here("nothing inside").help("leave out `<>`"))
        }
        "<>" => unknown("write `!=`"),
        "//" if site.expects(Rule::multiplicative) => {
            unknown("write `/`: of integers it is the quotient rounded down, as of a remainder that is never negative")
        }
        "//" | "/*" => Some(
            site.error(format!("`{}` does not begin a comment", site.found_text()))
                .here("not expected here")
                .help("comments begin with `#` and end with the line"),
        ),
        "..=" | "..." => Some(
            site.error(format!("unknown range `{}`", site.found_text()))
                .here("expected `..`")
                .help("ranges leave out their end: `0..N` ends at `N - 1`"),
        ),
        "@" => unknown("a product of matrices is a sum over their common index: `C[i, j] = sum[k] A[i, k] * B[k, j]`"),
        "?" => unknown("write `if c then a else b`"),
        "\"" | "'" | "`" => Some(site.error("there are no strings").here("not expected here")),
        "==" if site.expects(Rule::assign_op) || site.expects(Rule::equals) => {
            Some(site.error("`==` compares").here(site.expectation()).help("assign with `=`"))
        }
        _ => None,
    }
}

/// `A[0, :]`, `x[1:]`, `x[0..N]`: a row, or a part of it, as a value.
fn slice(site: &Site<'_>) -> Option<Diagnostic> {
    let inside = site.brackets.open.last().is_some_and(|opener| opener.text == "[");
    let whole_axis = site.found_text() == ":" && matches!(site.before_text(0), "[" | ",");
    let part = matches!(site.found_text(), ":" | "..") && !site.expects(Rule::dotdot) && !is_index(site);
    let open_end = matches!(site.found_text(), "]" | ",") && site.before_text(0) == ":";
    (inside && (whole_axis || part || open_end)).then(|| {
        site.error("there are no slices")
            .here("expected an index")
            .help("name the cells, for all values of an index: `y[j] = A[0, j]`")
            .help("a function of vectors is called on every row by `(f rank 1) A`")
    })
}

/// Whether a name alone stands in front, at the beginning of an index list or behind a comma, so that it could be given a range.
fn is_index(site: &Site<'_>) -> bool {
    let name = site.before.first().is_some_and(|name| name.kind == Kind::Word && !name.is_keyword());
    name && matches!(site.before_text(1), "[" | ",") && site.expects(Rule::colon)
}

/// `sum[i in 0..N]`, `sum[i = 0..N]`.
fn range_of_index(site: &Site<'_>) -> Option<Diagnostic> {
    let inside = site.brackets.open.last().is_some_and(|opener| opener.text == "[");
    (inside && is_index(site) && matches!(site.found_text(), "in" | "=")).then(|| {
        let help = format!("a range stands behind a colon: `{}: 0..N`", site.before_text(0));
        site.unexpected().help(help)
    })
}

/// `x.T`, `x.sum()`.
fn attribute(site: &Site<'_>) -> Option<Diagnostic> {
    let (found, owner) = (site.found?, site.before.first()?);
    let name = next_token(site.text, found.end()).filter(|next| next.kind == Kind::Word)?;
    let has_owner = owner.kind == Kind::Word && !owner.is_keyword() || matches!(owner.text, "]" | ")");
    if found.text != "." || !has_owner {
        return None;
    }
    let operand = if owner.kind == Kind::Word { owner.text } else { "…" };
    if matches!(operand, "np" | "numpy" | "math" | "torch" | "jnp" | "cmath") {
        let message = format!("there is no `{operand}`");
        let help = match name.text {
            word if REDUCTIONS.contains(&word) => {
                format!("write `{word}[i] x[i]`, or `{word}[i, j] x[i, j]` of a matrix")
            }
            "where" => "choose a value for each cell: `if c then a else b`".to_owned(),
            word => format!("functions have no module in front: write `{word}(…)`"),
        };
        return Some(Diagnostic::error("E0001", span_of(owner), message).here("not a value").help(help));
    }
    let help = match name.text {
        "T" => format!("write `transpose({operand})`"),
        word if REDUCTIONS.contains(&word) => format!("write `{word}[i] {operand}[i]`"),
        "copy" => format!("an assignment copies: `y = {operand}`"),
        "astype" => "a cast is a call of the type: `f32(…)`".to_owned(),
        "reshape" | "flatten" | "ravel" | "view" => {
            "subscripts that come apart at the factors of a size are the reshaped array: `y[h, d] = x[h * D + d]`"
                .to_owned()
        }
        "dot" => format!("write a sum over the common index: `sum[k] {operand}[k] * y[k]`"),
        "mean" => format!("divide a sum by the number of cells: `(sum[i] {operand}[i]) / f64(N)`"),
        "shape" | "size" => "sizes are parameters, such as the `N` of `x: f64[N]`".to_owned(),
        word => format!("functions stand in front: `{word}({operand})`"),
    };
    let message = format!("there is no `.{}`", name.text);
    Some(site.error(message).here("values have no members").help(help))
}

pub(crate) fn brackets(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    match (site.before_text(0), found.text) {
        ("[", "]" | "|") => {
            let diagnostic = site.error("the index list is empty").here("expected an index");
            let help = if REDUCTIONS.contains(&site.before_text(1)) {
                format!("name the index to reduce over: `{}[k] …`", site.before_text(1))
            } else {
                "a single value has no brackets: write just its name".to_owned()
            };
            Some(diagnostic.help(help))
        }
        ("]", "[") => Some(
            site.error("one pair of brackets holds all indices")
                .here("a second pair")
                .help("separate the indices by commas: `A[i, j]`"),
        ),
        (_, ")" | "]" | "}") if site.brackets.open.is_empty() => {
            Some(site.error(format!("unexpected `{}`", found.text)).here("closes nothing"))
        }
        ("->", _) if site.expects(Rule::lparen) => Some(
            site.error(format!("unexpected `{}`", found.text))
                .here("expected `(`")
                .help("results are named, in parentheses: `-> (Y: f64[N])`"),
        ),
        (_, "=" | ")" | "}" | ";") if site.expects(Rule::rbracket) => {
            Some(site.unexpected().help("a `]` is missing before this"))
        }
        _ => None,
    }
}

/// `for i = 0..N`, `for i in N`, `for i in 0:N`.
fn loop_header(site: &Site<'_>) -> Option<Diagnostic> {
    if site.expects(Rule::kw_in) {
        return Some(site.unexpected().help("write `for i in 0..N { … }`"));
    }
    if site.expects(Rule::dotdot) {
        return Some(site.unexpected().help("a range is written `0..N`; its end is not part of it"));
    }
    None
}

fn keyword_as_name(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found.filter(Token::is_keyword)?;
    if found.text == "schedule" {
        let diagnostic = site.error("a schedule cannot stand here".to_owned()).here(site.expectation());
        return Some(diagnostic.help("schedules stand outside of functions and begin a line: `schedule f { … }`"));
    }
    let called = next_token(site.text, found.end()).is_some_and(|next| next.text == "(");
    if found.text == "where" && called && site.expects_expression() {
        let diagnostic = site.error("`where` is not a function".to_owned()).here(site.expectation());
        return Some(diagnostic.help("choose a value for each cell: `if c then a else b`"));
    }
    let wants_name = [Rule::ident, Rule::target, Rule::ty, Rule::result, Rule::reduce_index, Rule::argument];
    let wants_name = wants_name.iter().any(|&rule| site.expects(rule));
    let in_expression = site.expects_expression() && matches!(found.text, "in" | "by" | "rev" | "where" | "inout");
    (wants_name || in_expression).then(|| {
        site.error(format!("`{}` is a keyword and cannot be a name", found.text))
            .here(site.expectation())
            .help(format!("choose another name, such as `{}_`", found.text))
    })
}

pub(crate) fn conditional(site: &Site<'_>) -> Option<Diagnostic> {
    let missing = if site.expects(Rule::kw_then) {
        "then"
    } else if site.expects(Rule::kw_else) {
        "else"
    } else {
        return None;
    };
    let found =
        if site.found.is_some() { format!("found `{}`", site.found_text()) } else { "the file ends".to_owned() };
    let diagnostic =
        site.error(format!("`if` without `{missing}`")).here(format!("{found} where `{missing}` could be"));
    Some(diagnostic.help("`if` is an expression with both branches: `if c then a else b`"))
}

fn statement(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    match found.text {
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>="
            if site.before_text(0) == ")" && site.expects_statement() =>
        {
            Some(
                site.error("a call cannot be assigned")
                    .here("the statement in front of this is a call")
                    .help("elements are written in square brackets: `A[i] = …`"),
            )
        }
        _ if site.expects(Rule::assign_op) => two_operands(site),
        _ if site.expects(Rule::equals) && site.before_text(0) == "mut" => {
            let word = site.before.first()?;
            let diagnostic = Diagnostic::error("E0001", span_of(word), "there is no `mut`").here("not expected here");
            Some(diagnostic.help(format!("every local can be assigned again: `let {} = …`", found.text)))
        }
        _ if site.expects(Rule::equals) && site.expects(Rule::colon) => {
            Some(site.unexpected().help("give it a value, `let x = …`, or a type, `let x: f64[N]`"))
        }
        _ => None,
    }
}

/// `s = a b`: the second operand reads as the start of a statement, so the error comes one token later.
fn two_operands(site: &Site<'_>) -> Option<Diagnostic> {
    let at = target_start(&site.before)?;
    let [word, operand, ..] = site.before.get(at..)? else { return None };
    let is_operand = |token: &Token<'_>| {
        matches!(token.kind, Kind::Word | Kind::Number) && !token.is_keyword() || matches!(token.text, ")" | "]")
    };
    let gap = site.text.get(operand.end()..word.start)?;
    (word.kind == Kind::Word && is_operand(operand) && !gap.contains('\n')).then(|| {
        let diagnostic = Diagnostic::error("E0001", span_of(word), format!("unexpected `{}`", word.text))
            .here("expected an operator, or a statement that assigns");
        match word.text {
            _ if is_cast(site.before.get(at + 1..).unwrap_or_default()) => {
                diagnostic.help(format!("a cast is a call of the type: `f32({}…)`", word.text))
            }
            "mod" | "rem" => diagnostic.help("write `%`"),
            "div" => diagnostic.help("write `/`"),
            "xor" => diagnostic.help("write `^`"),
            "is" => diagnostic.help("write `=`"),
            _ if operand.kind == Kind::Word => {
                let rest = if at > 0 { "[…]" } else { "" };
                let (one, two) = (operand.text, word.text);
                diagnostic
                    .help(format!("to call a function, write `{one}({two}{rest})`; to multiply, `{one} * {two}{rest}`"))
            }
            _ => diagnostic,
        }
    })
}

/// Whether what stands in front, nearest first, is `(float)`.
fn is_cast(before: &[Token<'_>]) -> bool {
    let [close, name, open, ..] = before else { return false };
    let types = ["float", "double", "int", "long", "f32", "f64", "i32", "i64", "u8", "u32", "u64"];
    close.text == ")" && open.text == "(" && types.contains(&name.text)
}

fn labelled_loop(site: &Site<'_>) -> Option<Diagnostic> {
    (site.found_text() == "for" && site.before_text(0) == ":" && site.expects(Rule::kw_let))
        .then(|| site.error("a loop has no label").here("expected `let` or an assignment"))
}
