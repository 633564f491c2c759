//! Documents: text with places where a line may break, laid out to a width.
//!
//! In: a list of [`Doc`]s.  Out: text. A group is printed flat if it fits, and with all its breaks if not.
//! White space is only written when text follows, so no line ends in it and comments can still slip in front.
//! Not here: what the documents mean (`format`).

/// Lines are broken to fit in this many columns where that is possible.
const WIDTH: usize = 100;
const INDENT: usize = 4;

#[derive(Debug)]
pub(crate) enum Doc {
    Text(String),
    Space,
    /// A space, or a line break in a broken group.
    Line,
    /// Nothing, or a line break in a broken group.
    SoftLine,
    /// Always a line break, with a blank line if `blank`.
    Hard {
        blank: bool,
    },
    /// Runs to the end of the line; stays behind what precedes it unless it has a line of its own.
    Comment {
        text: String,
        own_line: bool,
        blank: bool,
    },
    /// Text that only a broken group shows.
    IfBroken(&'static str),
    Nest {
        docs: Vec<Doc>,
        broken: bool,
    },
    Group {
        docs: Vec<Doc>,
        broken: bool,
    },
}

/// The contents, one level further in.
pub(crate) fn nest(docs: Vec<Doc>) -> Doc {
    Doc::Nest { broken: docs.iter().any(must_break), docs }
}

pub(crate) fn group(docs: Vec<Doc>) -> Doc {
    Doc::Group { broken: docs.iter().any(must_break), docs }
}

fn must_break(doc: &Doc) -> bool {
    match doc {
        Doc::Comment { .. } | Doc::Hard { .. } => true,
        Doc::Nest { broken, .. } | Doc::Group { broken, .. } => *broken,
        _ => false,
    }
}

#[derive(Clone, Copy)]
enum Pending {
    Nothing,
    Space,
    Newline { indent: usize, blank: bool },
}

#[derive(Clone, Copy)]
struct Item<'a> {
    doc: &'a Doc,
    indent: usize,
    flat: bool,
}

/// The text of the documents; ends in a newline unless empty.
pub(crate) fn layout(docs: &[Doc]) -> String {
    let mut writer = Writer { out: String::new(), column: 0, pending: Pending::Nothing, after_comment: false };
    let mut stack = Vec::new();
    push_all(&mut stack, docs, 0, false);
    while let Some(item) = stack.pop() {
        let newline = |blank| Pending::Newline { indent: item.indent, blank };
        match item.doc {
            Doc::Text(text) => writer.text(text),
            Doc::Space => writer.space(),
            Doc::Line if item.flat => writer.space(),
            Doc::SoftLine | Doc::IfBroken(_) if item.flat => {}
            Doc::Line | Doc::SoftLine => writer.pending = newline(false),
            Doc::IfBroken(text) => writer.text(text),
            Doc::Hard { blank } => writer.pending = newline(*blank),
            Doc::Comment { text, own_line, blank } => writer.comment(text, *own_line, *blank, item.indent),
            Doc::Nest { docs, .. } => push_all(&mut stack, docs, item.indent + INDENT, item.flat),
            Doc::Group { docs, broken } => {
                let flat = item.flat || (!broken && fits(writer.room(), docs, &stack));
                push_all(&mut stack, docs, item.indent, flat);
            }
        }
    }
    if !writer.out.is_empty() {
        writer.out.push('\n');
    }
    writer.out
}

fn push_all<'a>(stack: &mut Vec<Item<'a>>, docs: &'a [Doc], indent: usize, flat: bool) {
    stack.extend(docs.iter().rev().map(|doc| Item { doc, indent, flat }));
}

/// Whether `docs`, printed flat, and what follows up to the next break fit in `room` columns.
fn fits(room: usize, docs: &[Doc], rest: &[Item<'_>]) -> bool {
    let mut used = 0;
    let mut stack = Vec::new();
    push_all(&mut stack, docs, 0, true);
    let mut rest = rest.iter().rev();
    while used <= room {
        let Some(item) = stack.pop().or_else(|| rest.next().copied()) else { return true };
        match item.doc {
            Doc::Text(text) => used += text.chars().count(),
            Doc::Space => used += 1,
            Doc::Line if item.flat => used += 1,
            Doc::SoftLine | Doc::IfBroken(_) if item.flat => {}
            Doc::IfBroken(text) => used += text.len(),
            Doc::Line | Doc::SoftLine | Doc::Hard { .. } | Doc::Comment { .. } => return true,
            // A group that comes later may still break.
            Doc::Nest { docs, .. } | Doc::Group { docs, .. } => push_all(&mut stack, docs, 0, item.flat),
        }
    }
    false
}

struct Writer {
    out: String,
    column: usize,
    pending: Pending,
    /// The current line ends in a comment, so that nothing can follow on it.
    after_comment: bool,
}

impl Writer {
    fn room(&self) -> usize {
        let column = match self.pending {
            Pending::Nothing => self.column,
            Pending::Space => self.column + 1,
            Pending::Newline { indent, .. } => indent,
        };
        WIDTH.saturating_sub(column)
    }

    fn space(&mut self) {
        if matches!(self.pending, Pending::Nothing) {
            self.pending = Pending::Space;
        }
    }

    fn text(&mut self, text: &str) {
        match self.pending {
            Pending::Nothing => {}
            Pending::Space => self.raw(" "),
            Pending::Newline { .. } if self.out.is_empty() => {}
            Pending::Newline { indent, blank } => {
                self.out.push_str(if blank { "\n\n" } else { "\n" });
                self.column = 0;
                self.raw(&" ".repeat(indent));
            }
        }
        self.pending = Pending::Nothing;
        self.after_comment = false;
        self.raw(text);
    }

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn comment(&mut self, text: &str, own_line: bool, blank: bool, indent: usize) {
        let after = match self.pending {
            Pending::Newline { indent, blank } => Pending::Newline { indent, blank },
            _ => Pending::Newline { indent, blank: false },
        };
        if own_line || self.after_comment {
            if let Pending::Newline { indent, blank: already } = after {
                self.pending = Pending::Newline { indent, blank: blank || already };
                self.text(text);
                self.pending = Pending::Newline { indent, blank: false };
            }
        } else {
            self.pending = if self.out.is_empty() { Pending::Nothing } else { Pending::Space };
            self.text(text);
            self.pending = after;
        }
        self.after_comment = true;
    }
}
