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
        .or_else(|| declaration(site))
        .or_else(|| list(site))
}

/// `def f(x):`, `import numpy`, `let K = 3` outside of functions.
fn part_of_a_file(site: &Site<'_>) -> Option<Diagnostic> {
    if !site.expects(Rule::function) {
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

/// `for (int i = 0; …)`, `for i in 0..N:`.
fn loop_header(site: &Site<'_>) -> Option<Diagnostic> {
    match (site.before_text(0), site.found_text()) {
        ("for", "(") => Some(site.unexpected().help("write `for i in 0..N { … }`")),
        (_, ":") if site.expects(Rule::step) => {
            Some(site.unexpected().help("the statements stand in braces: `for i in 0..N { … }`"))
        }
        _ => None,
    }
}

/// `if c:`, `if c then x = 1`, and `a if c else b`, which reads as `a` and a statement.
fn block(site: &Site<'_>) -> Option<Diagnostic> {
    let header = site.before.iter().find(|token| matches!(token.text, "if" | "for" | "fn" | "{" | "}"))?;
    if header.text != "if" || !(site.expects(Rule::body) || site.expects(Rule::lbrace)) {
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

/// `x: f64[]`, `x: [f64; N]`, `double x[N]`.
fn declaration(site: &Site<'_>) -> Option<Diagnostic> {
    let found = site.found?;
    let names = |token: &Token<'_>| token.kind == Kind::Word && !token.is_keyword();
    match found.text {
        "]" if site.before_text(0) == "[" && site.before_text(2) == ":" => {
            let ty = site.before_text(1);
            let help = format!("name the extents, and declare them between `<` and `>`: `fn f<N>(x: {ty}[N])`");
            Some(site.error("an array has extents").here("expected an extent").help(help))
        }
        "[" if site.expects(Rule::ty) => {
            Some(site.unexpected().help("extents stand behind the type of the elements: `x: f64[N]`"))
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
