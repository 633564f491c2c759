//! When shapes agree, and the errors that say where they do not.
//!
//! Operands of one operation have equal shapes, or are scalars. The frames that `rank` leaves agree if one begins with
//! the other.

use diag::{Diagnostic, Span};

use super::super::Lowerer;
use super::Shape;
use crate::{Affine, Atom, Cond};

/// An operand and its shape.
pub(super) struct Part {
    pub(super) span: Span,
    pub(super) shape: Shape,
    /// The cells are those of arrays at the same place; no verb is between.
    pub(super) direct: bool,
}

impl Part {
    pub(super) fn named(span: Span, shape: Shape) -> Part {
        Part { span, shape, direct: true }
    }

    /// The last `rank` axes.
    pub(super) fn cell(&self, rank: usize) -> Part {
        Part { span: self.span, shape: self.shape[self.shape.len() - rank..].to_vec(), direct: self.direct }
    }
}

impl Lowerer<'_> {
    /// Whether two extents are equal for all parameters that `where` admits, as far as simple reasoning shows.
    pub(super) fn same_extent(&self, a: &Affine, b: &Affine) -> bool {
        let difference = self.exact(a).sub(&self.exact(b));
        difference.is_some_and(|difference| self.implied(&Cond::Zero(difference)))
    }

    fn same_shape(&self, a: &[Affine], b: &[Affine]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_extent(a, b))
    }

    /// The shape of an operation on cells: that of its operands, of which scalars take on any. An operation that is a
    /// verb could have ranks.
    pub(super) fn agree(&mut self, verb: Option<&str>, parts: &[Part]) -> Option<Shape> {
        let Some(first) = parts.iter().find(|part| !part.shape.is_empty()) else { return Some(Vec::new()) };
        let other = parts.iter().find(|part| !part.shape.is_empty() && !self.same_shape(&first.shape, &part.shape));
        let Some(other) = other else { return Some(first.shape.clone()) };
        let (one, two) = (self.show_shape_list(&first.shape), self.show_shape_list(&other.shape));
        let mut diagnostic = Diagnostic::error("E0205", other.span, format!("shapes {one} and {two} do not agree"))
            .here(format!("shape {two}"))
            .label(first.span, format!("shape {one}"));
        diagnostic = if first.shape.len() == other.shape.len() {
            self.explain_difference(diagnostic, &first.shape, &other.shape)
        } else {
            self.explain_ranks(diagnostic, verb, first, other)
        };
        self.report(diagnostic);
        None
    }

    /// Whether the value of a statement fits its target; a scalar is stored in every cell.
    pub(super) fn check_target(&mut self, name: &str, target: &Part, value: &Part) -> Option<()> {
        if value.shape.is_empty() || self.same_shape(&target.shape, &value.shape) {
            return Some(());
        }
        let found = self.show_shape_list(&value.shape);
        let declared = self.show_shape_list(&target.shape);
        let message = if target.shape.is_empty() {
            format!("`{name}` is a scalar, but its value has shape {found}")
        } else {
            format!("`{name}` has shape {declared}, but its value has shape {found}")
        };
        let mut diagnostic = Diagnostic::error("E0207", value.span, message).here(format!("shape {found}"));
        diagnostic = diagnostic
            .label(target.span, if target.shape.is_empty() { "a scalar".into() } else { format!("shape {declared}") });
        let turned: Shape = value.shape.iter().rev().cloned().collect();
        if turned.len() > 1 && self.same_shape(&target.shape, &turned) {
            diagnostic = diagnostic.help("the axes are reversed by `transpose(…)`");
        } else if target.shape.len() == value.shape.len() {
            diagnostic = self.explain_difference(diagnostic, &target.shape, &value.shape);
        } else if target.shape.len() < value.shape.len() {
            let more = value.shape.len() - target.shape.len();
            let axes = if more == 1 { "axis".to_string() } else { format!("{more} axes") };
            diagnostic = diagnostic.help(format!("to add up along the last {axes}: `(reduce {more} +) …`"));
        }
        self.report(diagnostic);
        None
    }

    /// The longer of two frames, if it begins with the other.
    pub(super) fn agree_frames(&mut self, left: &Part, right: &Part, ranks: (usize, usize)) -> Option<Shape> {
        let frame = |part: &Part, rank: usize| part.shape[..part.shape.len() - rank].to_vec();
        let (one, two) = (frame(left, ranks.0), frame(right, ranks.1));
        let common = one.len().min(two.len());
        if self.same_shape(&one[..common], &two[..common]) {
            return Some(if one.len() < two.len() { two } else { one });
        }
        let label = |part: &Part, frame: &[Affine], rank: usize| {
            let shape = self.show_shape_list(&part.shape);
            format!("shape {shape}: frame {} of rank-{rank} cells", self.show_shape_list(frame))
        };
        let (shown_one, shown_two) = (self.show_shape_list(&one), self.show_shape_list(&two));
        let diagnostic =
            Diagnostic::error("E0205", right.span, format!("frames {shown_one} and {shown_two} do not agree"))
                .here(label(right, &two, ranks.1))
                .label(left.span, label(left, &one, ranks.0))
                .note("cells are paired along their frames, of which one must begin with the other");
        let diagnostic = self.explain_difference(diagnostic, &one[..common], &two[..common]);
        self.report(diagnostic);
        None
    }

    /// The first axis that differs, with an example where it does so only sometimes.
    fn explain_difference(&self, diagnostic: Diagnostic, one: &[Affine], two: &[Affine]) -> Diagnostic {
        let axes = one.iter().zip(two).enumerate();
        let Some((axis, (a, b))) = axes.into_iter().find(|(_, (a, b))| !self.same_extent(a, b)) else {
            return diagnostic;
        };
        let (shown_a, shown_b) = (self.function.show(a), self.function.show(b));
        let difference = a.sub(b).map(|difference| self.eliminate(&difference));
        if difference.as_ref().and_then(Affine::as_constant).is_some() {
            return diagnostic.note(format!("axis {axis}: {shown_a} and {shown_b} are never equal"));
        }
        let note = match self.differ_for(a, b) {
            Some(values) => format!("axis {axis}: {shown_a} and {shown_b} differ, for example for {values}"),
            None => format!("axis {axis}: {shown_a} and {shown_b} are not known to be equal"),
        };
        diagnostic.note(note).help(format!("if they are always equal, say so: `where {shown_a} = {shown_b}`"))
    }

    /// Which ranks would make operands with different numbers of axes meet.
    fn explain_ranks(&self, diagnostic: Diagnostic, verb: Option<&str>, first: &Part, other: &Part) -> Diagnostic {
        let mut diagnostic =
            diagnostic.note("without `rank`, the operands of an operation have equal shapes, or are scalars");
        let Some(verb) = verb else { return diagnostic };
        let (long, short) = if first.shape.len() < other.shape.len() { (other, first) } else { (first, other) };
        let (rank, more) = (short.shape.len(), long.shape.len() - short.shape.len());
        let written = |long_rank: usize, short_rank: usize| {
            let (one, two) =
                if first.shape.len() < other.shape.len() { (short_rank, long_rank) } else { (long_rank, short_rank) };
            format!("`({verb} rank {one} {two})`")
        };
        let at_end = self.same_shape(&long.shape[more..], &short.shape);
        let at_start = self.same_shape(&long.shape[..rank], &short.shape);
        if at_end || !at_start {
            diagnostic = diagnostic.help(format!(
                "{} pairs each rank-{rank} cell of the one with the whole of the other",
                written(rank, rank)
            ));
        }
        if at_start {
            diagnostic = diagnostic.help(format!(
                "{} pairs each rank-{more} cell of the one with a single number of the other",
                written(more, 0)
            ));
        }
        diagnostic
    }

    /// `[N, M]`, also for a scalar: `[]`.
    pub(super) fn show_shape_list(&self, shape: &[Affine]) -> String {
        format!("[{}]", self.function.show_list(shape))
    }

    /// The expression with every exact division carried out: `4 * (N / 4)` is `N` where `N % 4 = 0`.
    pub(super) fn exact(&self, affine: &Affine) -> Affine {
        let mut result = self.eliminate(affine);
        for (atom, coefficient) in affine.terms.clone() {
            let Atom::Div(numerator, divisor) = &atom else { continue };
            if coefficient % divisor != 0 || !self.divides(*divisor, numerator) {
                continue;
            }
            let replaced = result
                .add_scaled(&Affine::atom(atom.clone()), -coefficient)
                .and_then(|rest| rest.add_scaled(&self.eliminate(numerator), coefficient / divisor));
            if let Some(replaced) = replaced {
                result = replaced;
            }
        }
        result
    }

    /// Whether a constant divides an expression, by itself or by what `where` says of it and of its parameters.
    pub(super) fn divides(&self, divisor: i64, affine: &Affine) -> bool {
        let affine = self.eliminate(affine);
        let mut facts: Vec<(Affine, i64)> = Vec::new();
        for requirement in &self.function.context {
            multiples(&requirement.cond, &mut facts);
        }
        let facts: Vec<(Affine, i64)> = facts.into_iter().map(|(known, by)| (self.eliminate(&known), by)).collect();
        let known = |wanted: &Affine| facts.iter().any(|(known, by)| known == wanted && by % divisor == 0);
        let term = |atom: &Atom, coefficient: i64| {
            let is_atom = |known: &Affine| *known == Affine::atom(atom.clone());
            coefficient % divisor == 0
                || facts.iter().any(|(known, by)| {
                    is_atom(known) && coefficient.checked_mul(*by).is_some_and(|product| product % divisor == 0)
                })
        };
        known(&affine)
            || affine.constant % divisor == 0 && affine.terms.iter().all(|(atom, factor)| term(atom, *factor))
    }
}

/// `e % d = 0`, which reads `e - d * (e / d) = 0`, says that `e` is a multiple of `d`.
fn multiples(cond: &Cond, found: &mut Vec<(Affine, i64)>) {
    match cond {
        Cond::And(conds) => conds.iter().for_each(|cond| multiples(cond, found)),
        Cond::Zero(affine) => {
            for (atom, coefficient) in &affine.terms {
                let Atom::Div(numerator, divisor) = atom else { continue };
                let rest = affine.add_scaled(&Affine::atom(atom.clone()), -coefficient);
                let sides = [(rest.clone(), -divisor), (rest.and_then(|rest| rest.scale(-1)), *divisor)];
                if sides.iter().any(|(side, factor)| side.as_ref() == Some(numerator) && coefficient == factor) {
                    found.push(((**numerator).clone(), *divisor));
                }
            }
        }
        Cond::NonNegative(_) | Cond::Or(_) => {}
    }
}
