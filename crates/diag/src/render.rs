//! Diagnostics as text for people and as JSON for programs.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::{Diagnostic, Label, Severity, Source, Span};

/// Whether the text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// With ANSI sequences.
    Coloured,
}

/// Renders each diagnostic with its source lines, blank lines between them.
pub fn render(source: &Source, diagnostics: &[Diagnostic], style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let rendered = diagnostics.iter().map(|diagnostic| {
        let files = by_file(source, diagnostic);
        renderer.render(&[group(&files, diagnostic)])
    });
    rendered.collect::<Vec<_>>().join("\n\n")
}

/// The labels of a diagnostic, counted from the start of the files that they are in; the file of the first one comes first.
fn by_file(source: &Source, diagnostic: &Diagnostic) -> Vec<(Source, Vec<Label>)> {
    if !source.is_linked() {
        return vec![(source.clone(), diagnostic.labels.clone())];
    }
    let mut files: Vec<(u32, Source, Vec<Label>)> = Vec::new();
    for label in &diagnostic.labels {
        let (file, start) = source.file_at(label.span.start);
        let span = Span { start: label.span.start - start, end: label.span.end.saturating_sub(start) };
        let label = Label { span, ..label.clone() };
        match files.iter_mut().find(|(known, ..)| *known == start) {
            Some((_, _, labels)) => labels.push(label),
            None => files.push((start, file, vec![label])),
        }
    }
    files.into_iter().map(|(_, file, labels)| (file, labels)).collect()
}

fn group<'a>(files: &'a [(Source, Vec<Label>)], diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let snippets = files.iter().map(|(source, labels)| {
        let annotations = labels.iter().map(|label| annotation(source, label));
        Snippet::source(source.text()).path(source.name()).annotations(annotations)
    });
    let mut title = level.primary_title(diagnostic.message.as_str());
    // What is wrong with a call, or happens while it runs, has no page to look up.
    if diagnostic.code.starts_with(|first: char| first.is_ascii_uppercase()) {
        title = title.id(diagnostic.code);
    }
    let mut group = title.elements(snippets);
    if let Some(elsewhere) = &diagnostic.elsewhere {
        let annotations = elsewhere.labels.iter().map(|label| annotation(&elsewhere.source, label));
        let source = Snippet::source(elsewhere.source.text()).path(elsewhere.source.name());
        group = group.element(source.annotations(annotations));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.helps {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

fn annotation<'a>(source: &Source, label: &'a Label) -> annotate_snippets::Annotation<'a> {
    let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(clamp(source, label.span));
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

/// A range that lies in the text and on character boundaries, whatever the span says.
fn clamp(source: &Source, span: Span) -> std::ops::Range<usize> {
    let text = source.text();
    let floor = |mut offset: usize| {
        offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}

/// One diagnostic as data: code, message, labels with offsets and positions, notes and helps.
pub fn to_json(source: &Source, diagnostic: &Diagnostic) -> Value {
    let mut labels = labels_json(source, &diagnostic.labels);
    if let Some(elsewhere) = &diagnostic.elsewhere {
        labels.extend(labels_json(&elsewhere.source, &elsewhere.labels));
    }
    let file = source.file_at(diagnostic.span().start).0;
    let mut json = json!({
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": file.name(),
        "labels": labels,
        "notes": diagnostic.notes,
        "helps": diagnostic.helps,
    });
    if let Some(data) = &diagnostic.data {
        json["witness"] = data.as_ref().clone();
    }
    json
}

fn labels_json(source: &Source, labels: &[Label]) -> Vec<Value> {
    let label = |label: &Label| {
        let start = source.location(label.span.start);
        let end = source.location(label.span.end);
        let (file, base) = source.file_at(label.span.start);
        json!({
            "file": file.name(),
            "start": label.span.start.saturating_sub(base), "end": label.span.end.saturating_sub(base),
            "line": start.line, "column": start.column,
            "end_line": end.line, "end_column": end.column,
            "text": label.text, "primary": label.primary,
        })
    };
    labels.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendered_error_names_file_line_code_and_both_labels() {
        let source = Source::new("f.fks", "A[i] = A[i+1]\n");
        let diagnostic = Diagnostic::error("E0401", Span::new(7, 13), "reads what it writes")
            .here("read at i = 0")
            .label(Span::new(0, 4), "written at i = 1")
            .note("the instances of a forall have no order")
            .help("use `for`");
        let text = render(&source, &[diagnostic], Style::Plain);
        for part in ["error[E0401]", "f.fks:1:8", "read at i = 0", "written at i = 1", "note:", "help:"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn spans_outside_the_text_do_not_panic() {
        let source = Source::new("f.fks", "µ");
        let diagnostic = Diagnostic::error("E0001", Span::new(1, 99), "beyond");
        assert!(render(&source, &[diagnostic], Style::Plain).contains("beyond"));
    }
}
