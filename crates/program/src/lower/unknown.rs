//! Names that mean nothing where they stand: what could be meant.
//!
//! Not here: functions of other languages (`habits`).

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;

impl Lowerer<'_> {
    pub(super) fn unknown_name(&mut self, name: &str, span: Span) {
        let number = match name {
            "pi" | "PI" | "Pi" => Some("3.141592653589793"),
            "tau" | "TAU" => Some("6.283185307179586"),
            "e" | "E" => Some("2.718281828459045"),
            _ => None,
        };
        let help = if let Some(number) = number {
            format!("if it is the number, define it in front of the functions: `const {name} = {number}`")
        } else if self.in_signature {
            let written = self.function.params.iter().filter(|param| param.derived.is_none());
            let params = written.map(|param| param.name.as_str()).chain([name]);
            format!("if it is a parameter, declare it: `<{}>`", params.collect::<Vec<_>>().join(", "))
        } else {
            format!("if it is an index, bind it: by a subscript on the left, or by a reduction such as `sum[{name}]`")
        };
        self.unknown(name, span, help);
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span, help: String) {
        let mut diagnostic = Diagnostic::error("E0101", span, format!("`{name}` is not known here"));
        if let Some((_, op, body)) = self.reduced.iter().find(|(index, ..)| index == name) {
            return match self.beyond_its_body(diagnostic, name, *op, *body) {
                Some(diagnostic) => self.report(diagnostic),
                None => self.poisoned = true,
            };
        }
        match self.scope.closest(name).filter(|closest| !self.made_up.contains(*closest)) {
            Some(closest) => diagnostic = diagnostic.help(format!("did you mean `{closest}`?")),
            None => diagnostic = diagnostic.help(help),
        }
        self.report(diagnostic);
    }

    /// For an index behind the body of its reduction: where that ends. Said once for each reduction.
    fn beyond_its_body(&self, unknown: Diagnostic, name: &str, op: ast::ReduceOp, body: Span) -> Option<Diagnostic> {
        let said = |known: &Diagnostic| {
            known.message == unknown.message && known.labels.iter().any(|label| label.span == body)
        };
        if self.diagnostics.iter().any(said) {
            return None;
        }
        let op = op.name();
        let article = if op.starts_with('a') { "an" } else { "a" };
        let rest = self.shared.source.slice(Span { start: body.end, end: unknown.labels.first()?.span.start });
        let stops = match ["<<", ">>", "&", "^", "|"].into_iter().find(|bits| rest.trim_start().starts_with(bits)) {
            Some(bits) => format!("`{bits}`"),
            None => "`+`, `-` and comparisons".to_owned(),
        };
        Some(
            unknown
                .label(body, format!("`{name}` is the index of {article} `{op}`, and known in its body only"))
                .help(format!("a body stops at {stops}; if it goes on, write `{op}[{name}] (…)`")),
        )
    }
}
