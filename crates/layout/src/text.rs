//! Reading nested tuples and layouts from text.
//!
//! In: `((2,4),3):((1,6),2)`.  Out: the value, or an error with the position.
//! Nesting is limited to [`MAX_DEPTH`], so no text can exhaust the stack.

use std::str::FromStr;

use diag::Span;

use crate::cute::Layout;
use crate::error::{Error, Result};
use crate::nested::{MAX_DEPTH, Nested};

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, position: 0 }
    }

    pub(crate) fn position(&mut self) -> usize {
        self.skip_space();
        self.position
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    pub(crate) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    pub(crate) fn expect(&mut self, wanted: char) -> Result<()> {
        if self.eat(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{wanted}`"))) }
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// An error about what stands here.
    pub(crate) fn unexpected(&mut self, wanted: &str) -> Error {
        let found = self.peek().map_or("the text ends".to_owned(), |found| format!("there is `{found}`"));
        self.error_here(format!("expected {wanted}, but {found}"))
    }

    pub(crate) fn error_here(&mut self, message: impl Into<String>) -> Error {
        let start = self.position();
        let end = (start + self.rest().chars().next().map_or(0, char::len_utf8)).max(start);
        Error::Syntax { at: Span::new(start, end), message: message.into() }
    }

    /// A name, or nothing if there is none here.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length)
    }

    pub(crate) fn integer(&mut self) -> Result<i64> {
        let start = self.position();
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if length == 0 {
            return Err(self.unexpected("a number"));
        }
        let length = length + (rest.len() - digits.len());
        let number = rest.get(..length).and_then(|text| text.parse().ok());
        self.position += length;
        number.ok_or(Error::Syntax {
            at: Span::new(start, start + length),
            message: "this number does not fit 64 bits".to_owned(),
        })
    }

    /// A nested tuple of whatever `leaf` reads.
    pub(crate) fn nested<T>(&mut self, leaf: &mut impl FnMut(&mut Self) -> Result<T>) -> Result<Nested<T>> {
        self.nested_at(leaf, 0)
    }

    fn nested_at<T>(&mut self, leaf: &mut impl FnMut(&mut Self) -> Result<T>, depth: usize) -> Result<Nested<T>> {
        if self.peek() != Some('(') {
            return Ok(Nested::Leaf(leaf(self)?));
        }
        if depth >= MAX_DEPTH {
            return Err(self.error_here(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.expect('(')?;
        let mut modes = Vec::new();
        while !self.eat(')') {
            if !modes.is_empty() {
                self.expect(',')?;
                if self.eat(')') {
                    break;
                }
            }
            modes.push(self.nested_at(leaf, depth + 1)?);
        }
        Ok(Nested::Tuple(modes))
    }

    /// A layout; without a stride it is the compact one.
    pub(crate) fn layout(&mut self) -> Result<Layout> {
        let start = self.position();
        let shape = self.nested(&mut Cursor::integer)?;
        let layout = if self.eat(':') {
            let stride = self.nested(&mut Cursor::integer)?;
            Layout::new(&shape, &stride)
        } else {
            Layout::compact(&shape)
        };
        layout.map_err(|error| Error::Syntax { at: Span::new(start, self.position), message: error.to_string() })
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Layout> {
        let mut cursor = Cursor::new(text);
        let layout = cursor.layout()?;
        cursor.end()?;
        Ok(layout)
    }
}

impl FromStr for Nested<i64> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Nested<i64>> {
        let mut cursor = Cursor::new(text);
        let nested = cursor.nested(&mut Cursor::integer)?;
        cursor.end()?;
        Ok(nested)
    }
}
