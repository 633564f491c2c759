//! Headers, declarations and blocks as other languages write them, and what to write instead.
//!
//! In: the site of a syntax error.  Out: a diagnostic with a help line, or nothing when the habit is not known.
//! Not here: characters, operators and slips of every kind (`mistakes`).

use diag::Diagnostic;

use crate::errors::Site;
use crate::parse::Rule;
use crate::tokens::{Kind, Token};

/// The first habit that fits.
pub(crate) fn recognise(site: &Site<'_>) -> Option<Diagnostic> {
    part_of_a_file(site)
        .or_else(|| loop_header(site))
        .or_else(|| block(site))
        .or_else(|| parameter(site))
        .or_else(|| declaration(site))
        .or_else(|| list(site))
}

/// `def f(x):`, `import numpy`, `let K = 3` outside of functions.
fn part_of_a_file(site: &Site<'_>) -> Option<Diagnostic> {
    if !site.expects_function() {
        return None;
    }
    let help = match site.found_text() {
        "def" | "function" | "func" | "void" | "double" | "float" | "int" | "pub" | "static" => {
            "a function is written `fn f<N>(x: f64[N]) -> (y: f64[N]) { … }`"
        }
        "import" | "from" | "include" => {
            "functions of another file are made known by `use \"file.fks\"`; those of mathematics are there"
        }
        "let" | "var" => "a number for the whole file is a constant: `const K = 3`",
        _ => return None,
    };
    Some(site.unexpected().help(help))
}

/// The word that the nearest header in front begins with, and the tokens between both, nearest first.
fn header<'s, 'a>(site: &'s Site<'a>) -> Option<(&'a str, &'s [Token<'a>])> {
    let at = site.before.iter().position(|token| matches!(token.text, "if" | "else" | "for" | "fn" | "{" | "}"))?;
    Some((site.before[at].text, &site.before[..at]))
}

/// `for (int i = 0; …)`, `for i in 0..N:`, `for i in 0..N step 2`.
fn loop_header(site: &Site<'_>) -> Option<Diagnostic> {
    let (word, inside) = header(site)?;
    let ranges = inside.iter().any(|token| token.text == "..");
    let help = match (word, site.found_text()) {
        ("for", "(") if inside.is_empty() => "write `for i in 0..N { … }`",
        ("for", ":") if ranges => "the statements stand in braces: `for i in 0..N { … }`",
        ("for", "step") if ranges => "the step stands behind `by`: `for i in 0..N by 2 { … }`",
        _ => return None,
    };
    Some(site.unexpected().help(help))
}

/// `if c:`, `if c then x = 1`, `elif c`, `else:`, and `a if c else b`, which reads as `a` and a statement.
fn block(site: &Site<'_>) -> Option<Diagnostic> {
    if matches!(site.before_text(0), "elif" | "elsif" | "elseif") {
        let help =
            format!("`{}` is two words here: `if a {{ … }} else if b {{ … }} else {{ … }}`", site.before_text(0));
        return Some(site.unexpected().help(help));
    }
    let (word, inside) = header(site)?;
    if word == "else" && inside.is_empty() && site.found_text() == ":" {
        return Some(site.unexpected().help("the statements stand in braces: `if c { … } else { … }`"));
    }
    if !matches!(word, "if" | "else") || !(site.expects(Rule::body) || site.expects(Rule::lbrace)) {
        return None;
    }
    let help = match site.found_text() {
        ":" => "the statements stand in braces: `if c { … } else { … }`",
        "then" => {
            "statements stand in braces, `if c { … }`; with `then` it chooses a value, `y[i] = if c then a else b`"
        }
        "else" => "the condition stands in front of both values: `if c then a else b`",
        _ => return None,
    };
    Some(site.unexpected().help(help))
}

/// What stands in the header of a function: `fn f(x: f64[N]):`, `<const N: usize>`, `x: [f64; N]`, `x: &mut f64[N]`, `x: inout f64[N]`,
/// `x::f64[N]`, `x[N]: f64`, `x: Array<f64, N>`.
fn parameter(site: &Site<'_>) -> Option<Diagnostic> {
    let (word, _) = header(site)?;
    if word != "fn" {
        return None;
    }
    let behind = "extents stand behind the type of the elements: `x: f64[N]`";
    let help = match (site.before_text(1), site.before_text(0), site.found_text()) {
        (_, ")", ":") => "what a function does stands in braces: `fn f<N>(x: f64[N]) -> (y: f64[N]) { … }`",
        ("<" | ",", "const", _) => "a size is a name alone: `fn f<N>(x: f64[N])`",
        (_, ":", "&") => "no marks for references: `x: f64[N]` is read, and `inout x: f64[N]` may be changed",
        (_, ":", "inout") => "`inout` stands in front of the name: `inout x: f64[N]`",
        (_, ":", ":") => "one colon: `x: f64[N]`",
        (_, ":", "[") => behind,
        ("(" | "," | "inout", _, "[") if site.expects(Rule::colon) => behind,
        (":", _, "<") => "an array is the type of its elements and its extents: `x: f64[N]`",
        _ => return None,
    };
    Some(site.unexpected().help(help))
}

/// `x: f64[]`, `double x[N]`.
fn declaration(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    let names = |token: &Token<'_>| token.kind == Kind::Word && !token.is_keyword();
    match found.text {
        "]" if site.before_text(0) == "[" && site.before_text(2) == ":" => {
            let ty = site.before_text(1);
            let help = format!("name the extents, and declare them between `<` and `>`: `fn f<N>(x: {ty}[N])`");
            Some(site.error("an array has extents").here("expected an extent").help(help))
        }
        _ if names(&found) && site.expects(Rule::colon) && matches!(site.before_text(1), "(" | "," | "inout") => {
            Some(site.unexpected().help(format!("a type stands behind the name: `{}: f64[N]`", found.text)))
        }
        _ => None,
    }
}

/// `let t = [1, 2, 3]`.
fn list(site: &Site<'_>) -> Option<Diagnostic> {
    (site.found_text() == "[" && site.expects_expression()).then(|| {
        site.unexpected().help("a table of numbers is a constant, outside of functions: `const T: f64[3] = [1, 2, 3]`")
    })
}
