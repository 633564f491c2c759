//! Programs that are rejected: each diagnostic at a marked line, each marker met.

use farkas::{Diagnostic, Engine, Error, Source, Style};

use crate::case::{Case, Marker};
use crate::{Failure, stages};

pub(crate) fn check(case: &mut Case, failures: &mut Vec<Failure>) {
    let engine = Engine::new();
    let error = match engine.check(&case.source) {
        Ok(_) => return failures.push(Failure::new("the program is accepted, but errors are expected")),
        Err(error) => error,
    };
    if engine.compile_source(&case.source).is_ok() {
        failures.push(Failure::new("`check` rejects what `compile` accepts"));
    }
    let Error::User { diagnostics, .. } = &error else {
        return failures.push(Failure::new(format!("not an error of the program: {error}")));
    };
    compare_markers(&case.source, &case.markers, diagnostics, 0, failures);
    let message = error.render(Style::Plain);
    if let Some(position) = case.sections.iter().position(|section| section.name == "message") {
        stages::compare(case, position, &message, failures);
    }
}

/// Each diagnostic must be at a marked line of `text`, and each marker met; `above` lines of the case precede the text.
pub(crate) fn compare_markers(
    text: &Source,
    markers: &[Marker],
    diagnostics: &[Diagnostic],
    above: usize,
    failures: &mut Vec<Failure>,
) {
    let mut unmet: Vec<&Marker> = markers.iter().collect();
    let mut unmarked: Vec<&Diagnostic> = Vec::new();
    for diagnostic in diagnostics {
        let line = text.location(diagnostic.span().start).line;
        match unmet.iter().position(|marker| meets(marker, diagnostic, line)) {
            Some(position) => drop(unmet.remove(position)),
            None => unmarked.push(diagnostic),
        }
    }
    for marker in unmet {
        let code = marker.code.as_ref().map_or(String::new(), |code| format!("[{code}]"));
        failures.push(Failure::new(format!("line {}: missing error{code}: {}", marker.line + above, marker.text)));
    }
    for diagnostic in unmarked {
        let line = text.location(diagnostic.span().start).line;
        let line = line + above;
        let (code, message) = (diagnostic.code, &diagnostic.message);
        failures.push(Failure::new(format!("line {line}: unexpected error[{code}]: {message}")));
    }
}

fn meets(marker: &Marker, diagnostic: &Diagnostic, line: usize) -> bool {
    marker.line == line
        && marker.code.as_ref().is_none_or(|code| code == diagnostic.code)
        && diagnostic.message.contains(&marker.text)
}
