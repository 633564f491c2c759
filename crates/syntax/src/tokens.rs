//! A flat view of the text as tokens.
//!
//! In: text.  Out: words, numbers, symbols and comments with their offsets, without gaps other than white space.
//! Serves the limits (before parsing), the error messages (what was found) and the formatter (comments).
//! Not here: any structure; that is the grammar's business. No text is rejected.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// Starts with a digit; runs on through letters, so that `2x` is one token.
    Number,
    Symbol,
    Comment,
    /// A character that no Farkas program contains outside comments.
    Foreign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_keyword(&self) -> bool {
        self.kind == Kind::Word && KEYWORDS.contains(&self.text)
    }
}

/// As in the grammar's rule `keyword`.
pub(crate) const KEYWORDS: [&str; 20] = [
    "fn", "let", "for", "inout", "in", "by", "rev", "where", "if", "then", "else", "and", "or", "not", "true", "false",
    "argmin", "argmax", "scan", "schedule",
];

/// The words that make a reduction before `[`.
pub(crate) const REDUCTIONS: [&str; 8] = ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax"];

/// The words that make a parenthesis a verb, where a number or a parameter follows.
pub(crate) const VERB_WORDS: [&str; 9] =
    ["rank", "reduce", "oblique", "take", "drop", "stride", "transpose", "split", "merge"];

/// Symbols of more than one character, longer ones first; some exist only to be named in error messages.
const LONG_SYMBOLS: [&str; 33] = [
    "..=", "...", "<<=", ">>=", "**=", "//=", "..", "->", "=>", "==", "!=", "<=", ">=", "<<", ">>", "<>", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=", "&&", "||", "**", "//", "/*", "++", "<-",
];

/// The tokens of `text` from byte `from` (a character boundary) on.
pub(crate) fn tokens(text: &str, from: usize) -> impl Iterator<Item = Token<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let start = at + blank;
        let token = token_at(text.get(start..)?, start)?;
        at = token.end();
        Some(token)
    })
}

fn token_at(rest: &str, start: usize) -> Option<Token<'_>> {
    let first = rest.chars().next()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (kind, len) = if first == '#' {
        (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
    } else if first.is_ascii_digit() {
        (Kind::Number, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
    } else if is_word(first) {
        (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
    } else if let Some(symbol) = LONG_SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        (Kind::Symbol, symbol.len())
    } else if first.is_ascii_graphic() {
        (Kind::Symbol, 1)
    } else {
        (Kind::Foreign, first.len_utf8())
    };
    Some(Token { kind, text: rest.get(..len)?, start })
}

/// The first token at or after `from` that is not a comment.
pub(crate) fn next_token(text: &str, from: usize) -> Option<Token<'_>> {
    tokens(text, from).find(|token| token.kind != Kind::Comment)
}

/// The brackets that are open at one place, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brackets<'a> {
    pub(crate) open: Vec<Token<'a>>,
}

impl<'a> Brackets<'a> {
    /// Takes in one token. A closer that matches nothing, an `fn` or a `schedule` forgets all openers: no parse
    /// goes past it with brackets open.
    pub(crate) fn see(&mut self, token: Token<'a>) {
        match token.text {
            "(" | "[" | "{" => self.open.push(token),
            ")" | "]" | "}" => match self.open.last() {
                Some(opener) if closer_of(opener.text) == token.text => drop(self.open.pop()),
                _ => self.open.clear(),
            },
            "fn" | "schedule" => self.open.clear(),
            _ => {}
        }
    }
}

pub(crate) fn closer_of(opener: &str) -> &'static str {
    match opener {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}
