//! Diagnostics as text for people and as JSON for programs.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::{Diagnostic, Label, Severity, Source, Span};

/// Whether the text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

/// Renders each diagnostic with its source lines, blank lines between them.
pub fn render(source: &Source, diagnostics: &[Diagnostic], style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let rendered = diagnostics.iter().map(|diagnostic| renderer.render(&[group(source, diagnostic)]));
    rendered.collect::<Vec<_>>().join("\n\n")
}

fn group<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let annotations = diagnostic.labels.iter().map(|label| annotation(source, label));
    let snippet = Snippet::source(source.text()).path(source.name()).annotations(annotations);
    let mut title = level.primary_title(diagnostic.message.as_str());
    // What happens at run time has no page to look up.
    if diagnostic.code != "run" {
        title = title.id(diagnostic.code);
    }
    let mut group = title.element(snippet);
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
    let mut json = json!({
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": source.name(),
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
        json!({
            "file": source.name(),
            "start": label.span.start, "end": label.span.end,
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
