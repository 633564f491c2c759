//! Diagnostics: where in the source something is, what is wrong with it, and how that is shown.
//!
//! In: spans and messages from every stage.  Out: rendered text or JSON, in the user's names at the user's lines.
//! Not here: IR types and file access; a [`Source`] is given its text.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod deadline;
mod error;
mod explain;
mod render;
mod source;

pub use error::{Error, Resource, Result, Spent};
pub use explain::{explain, explained_codes};
pub use render::{Style, render, to_json};
pub use source::{Location, Source, Span};

/// How bad it is. Only errors stop a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// There is no result.
    Error,
    /// There is one, but something about it may not be meant.
    Warning,
}

/// A span with a short text under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What is underlined.
    pub span: Span,
    /// What stands under it.
    pub text: String,
    /// The primary label is what the message is about; the others are context.
    pub primary: bool,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable code such as `E0203`, by which the message can be looked up; `usage` for calls that are refused, `run` for what happens while one runs.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// Places in the source, with what is to be said about them.
    pub labels: Vec<Label>,
    /// Facts that help to understand the message.
    pub notes: Vec<String>,
    /// What the user could do about it.
    pub helps: Vec<String>,
    /// Labels in another source: a schedule script's error also shows the program.
    pub elsewhere: Option<Box<Elsewhere>>,
    /// The facts behind the message as data, for `--message-format=json`.
    pub data: Option<Box<serde_json::Value>>,
}

/// Labels in a source other than the one a diagnostic is about.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The other source.
    pub source: Source,
    /// Places in it.
    pub labels: Vec<Label>,
}

impl PartialEq for Elsewhere {
    fn eq(&self, other: &Elsewhere) -> bool {
        self.source.name() == other.source.name() && self.labels == other.labels
    }
}

impl Eq for Elsewhere {}

impl Diagnostic {
    /// An error whose primary label, at `span`, is still without text.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, text: String::new(), primary: true }],
            notes: Vec::new(),
            helps: Vec::new(),
            elsewhere: None,
            data: None,
        }
    }

    /// A warning, likewise.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Sets the text under the primary label.
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some(label) = self.labels.iter_mut().find(|label| label.primary) {
            label.text = text.into();
        }
        self
    }

    /// Adds a secondary label.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds an advice.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// The same message about `span` of another source, to which `text` belongs; its labels stay where they are.
    pub fn moved_to(mut self, own: &Source, span: Span, text: impl Into<String>) -> Self {
        let label = Label { span, text: text.into(), primary: true };
        let labels = std::mem::replace(&mut self.labels, vec![label]);
        self.elsewhere = Some(Box::new(Elsewhere { source: own.clone(), labels }));
        self
    }

    /// The labels of another source that is the same as the diagnostic's own, among its own.
    pub fn gathered(mut self, own: &Source) -> Self {
        if let Some(elsewhere) = self.elsewhere.take_if(|elsewhere| elsewhere.source.name() == own.name()) {
            self.labels.extend(elsewhere.labels.into_iter().map(|label| Label { primary: false, ..label }));
        }
        self
    }

    /// Sets the facts behind the message.
    pub fn with_data(mut self, data: serde_json::Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// The span the message is about.
    pub fn span(&self) -> Span {
        self.labels.iter().find(|label| label.primary).map_or(Span::default(), |label| label.span)
    }
}
