//! `let s = 0`, and then `s += x[i]` with floats: the literal made `s` an integer, and a cast of `x[i]` would drop all fractions.
//! The fix is in the `let`, so that is where the message points; one is enough for all uses.

use diag::{Diagnostic, Span};

use super::Lowerer;
use crate::{ArrayId, Expr, ExprKind, ScalarType};

/// A local without a written type whose value is an integer literal.
pub(super) struct LiteralLet {
    pub(super) array: ArrayId,
    /// The name with its indices, and the value.
    pub(super) target: Span,
    pub(super) value: Span,
    pub(super) reported: bool,
}

impl Lowerer<'_> {
    /// A float is assigned to such a local; `false` if the array is none.
    pub(super) fn blame_literal_target(&mut self, array: ArrayId, value: &Expr) -> bool {
        let ty = value.ty;
        ty.is_float() && self.blame_literal_let(array, ty, value.span, format!("this is {ty}"), false)
    }

    /// An operand that reads such a local meets a float.
    pub(super) fn blame_literal_operand(&mut self, operand: &Expr, other: &Expr) -> bool {
        let ty = other.ty;
        match &operand.kind {
            ExprKind::Load { array, .. } if ty.is_float() => {
                self.blame_literal_let(*array, ty, other.span, format!("this is {ty}"), true)
            }
            _ => false,
        }
    }

    /// A value that reads such a local stands where a float is wanted.
    pub(super) fn blame_literal_value(&mut self, value: &Expr, wanted: ScalarType) -> bool {
        match &value.kind {
            ExprKind::Load { array, .. } if wanted.is_float() => {
                self.blame_literal_let(*array, wanted, value.span, format!("{wanted} is wanted here"), true)
            }
            _ => false,
        }
    }

    /// `read`: what is read may also be an integer on purpose, such as a count.
    fn blame_literal_let(&mut self, array: ArrayId, float: ScalarType, at: Span, here: String, read: bool) -> bool {
        let source = self.shared.source;
        let Some(found) = self.literal_lets.iter_mut().find(|found| found.array == array) else { return false };
        if !std::mem::replace(&mut found.reported, true) {
            let (target, value) = (source.slice(found.target), source.slice(found.value));
            let name = &self.function.array(array).name;
            let mut diagnostic = Diagnostic::error("E0201", at, format!("`{name}` is i64, and meets {float} here"))
                .here(here)
                .label(found.target, format!("i64, because `{value}` has no fraction and no type is written"))
                .help(format!("write the type: `let {target}: {float} = {value}`"));
            if read {
                diagnostic =
                    diagnostic.help(format!("if it is a whole number, convert it where it is used: `{float}(…)`"));
            }
            self.report(diagnostic);
        }
        true
    }
}
