//! Tokens of the text form.

use std::fmt;

use program::ScalarType;

use super::{Read, error};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or a reserved word.
    Word(String),
    Number(Number),
    Symbol(&'static str),
    End,
}

/// A literal without its sign; the digits are kept, as their meaning depends on the type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) text: String,
    pub(super) float: bool,
    pub(super) suffix: Option<ScalarType>,
}

impl Token {
    /// Whether this is that symbol or word.
    pub(super) fn is(&self, text: &str) -> bool {
        match self {
            Token::Word(word) => word == text,
            Token::Symbol(symbol) => *symbol == text,
            Token::Number(_) | Token::End => false,
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{}`", number.text),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer symbols stand before their prefixes.
const SYMBOLS: [&str; 26] = [
    "..", ".", "==", "!=", "<=", ">=", "+=", "*=", "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "<", ">", "+",
    "-", "*", "/", "%", "@",
];

/// Splits the text; every token comes with its line, and the last one is `End`.
pub(super) fn tokens(text: &str) -> Read<Vec<(Token, usize)>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\n' {
            line += 1;
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = prefix(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push((word(&rest[..length]), line));
            length
        } else if first.is_ascii_digit() {
            let (number, length) = number(rest, line)?;
            tokens.push((Token::Number(number), line));
            length
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            tokens.push((Token::Symbol(symbol), line));
            symbol.len()
        } else {
            return error(line, format!("unexpected character {first:?}"));
        };
        rest = &rest[length..];
    }
    tokens.push((Token::End, line));
    Ok(tokens)
}

/// How many bytes at the start are characters of that kind.
fn prefix(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// A name, or one of the literals that are words.
fn word(text: &str) -> Token {
    let (base, suffix) = match text.split_once('_') {
        Some((base, suffix)) => (base, ScalarType::from_name(suffix).filter(|ty| ty.is_float())),
        None => (text, None),
    };
    let plain = base.len() == text.len();
    if matches!(base, "inf" | "nan") && (plain || suffix.is_some()) {
        return Token::Number(Number { text: base.to_owned(), float: true, suffix });
    }
    Token::Word(text.to_owned())
}

fn number(text: &str, line: usize) -> Read<(Number, usize)> {
    let digits = |from: usize| from + prefix(&text[from..], |c| c.is_ascii_digit());
    let starts = |from: usize, test: fn(char) -> bool| text[from..].chars().next().is_some_and(test);
    let mut end = digits(0);
    let mut float = false;
    // The dots of a range belong to no number.
    if starts(end, |c| c == '.') && starts(end + 1, |c| c.is_ascii_digit()) {
        float = true;
        end = digits(end + 1);
    }
    if starts(end, |c| c == 'e') {
        let sign = usize::from(starts(end + 1, |c| c == '+' || c == '-'));
        if starts(end + 1 + sign, |c| c.is_ascii_digit()) {
            float = true;
            end = digits(end + 1 + sign);
        }
    }
    let suffix_end = end + prefix(&text[end..], |c| c.is_ascii_alphanumeric() || c == '_');
    let suffix = match &text[end..suffix_end] {
        "" => None,
        name => match ScalarType::from_name(name) {
            Some(ty) if ty != ScalarType::Bool => Some(ty),
            _ => return error(line, format!("`{name}` is not a suffix of a number")),
        },
    };
    Ok((Number { text: text[..end].to_owned(), float, suffix }, suffix_end))
}
