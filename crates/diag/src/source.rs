//! A source text and positions in it.

use std::sync::Arc;

/// A half-open range of bytes in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
}

impl Span {
    /// Sources are limited to 1 MiB, so offsets fit; a larger offset saturates.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range of offsets.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// A named source text. Cheap to clone.
///
/// A program that uses other files is one text, too: its own, and theirs behind it. Positions count through all of them, and are shown
/// in the file that they are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Of a linked text: the files that it is made of, its own first.
    parts: Arc<[Part]>,
}

/// A file in a linked text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    name: Arc<str>,
    range: std::ops::Range<usize>,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { name: name.into(), text: text.into(), parts: Arc::new([]) }
    }

    /// One text of several files, in this order; the first one gives it its name.
    pub fn linked(files: &[Source]) -> Source {
        let mut text = String::new();
        let mut parts = Vec::new();
        for file in files {
            let start = text.len();
            text.push_str(file.text());
            parts.push(Part { name: file.name.clone(), range: start..text.len() });
            text.push('\n');
        }
        let name = files.first().map_or_else(|| Arc::from(""), |file| file.name.clone());
        Source { name, text: text.into(), parts: parts.into() }
    }

    /// Whether the files that it uses are part of it.
    pub fn is_linked(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether a position is in the program itself, and not in a file that it uses.
    pub fn is_own(&self, span: Span) -> bool {
        self.parts.first().is_none_or(|own| (span.start as usize) <= own.range.end)
    }

    /// The file that a position is in, as a source of its own, and where in the text it begins.
    pub fn file_at(&self, offset: u32) -> (Source, u32) {
        let found = self.parts.iter().rev().find(|part| part.range.start <= offset as usize);
        match found {
            Some(part) => {
                let text = self.text.get(part.range.clone()).unwrap_or_default();
                (Source::new(part.name.clone(), text), u32::try_from(part.range.start).unwrap_or(u32::MAX))
            }
            None => (self.clone(), 0),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty when the span lies outside the source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The line and the column in the file that the position is in.
    pub fn location(&self, offset: u32) -> Location {
        if self.is_linked() {
            let (file, start) = self.file_at(offset);
            return file.location(offset.saturating_sub(start));
        }
        let offset = (offset as usize).min(self.text.len());
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Location { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_count_characters() {
        let source = Source::new("x.fks", "ab\nµc\n");
        assert_eq!(source.location(0), Location { line: 1, column: 1 });
        assert_eq!(source.location(5), Location { line: 2, column: 2 });
        assert_eq!(source.location(99), Location { line: 3, column: 1 });
    }

    #[test]
    fn a_linked_text_knows_its_files() {
        let linked = Source::linked(&[Source::new("a", "one\n"), Source::new("b", "two\nthree")]);
        assert_eq!((linked.name(), linked.text()), ("a", "one\n\ntwo\nthree\n"));
        let at = linked.text().find("three").unwrap_or_default() as u32;
        let (file, start) = linked.file_at(at);
        assert_eq!((file.name(), file.text(), start), ("b", "two\nthree", 5));
        assert_eq!(linked.location(at), Location { line: 2, column: 1 });
        assert!(linked.is_own(Span::new(0, 3)) && !linked.is_own(Span::new(5, 6)));
    }
}
