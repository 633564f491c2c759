//! Rearrangements: `reverse`, `transpose`, `take`, `drop`, `stride`, `split` and `merge`.
//!
//! In: a rearrangement, its parameters and a shape.  Out: the new shape, and for each cell the one it is read from. All are
//! affine, so no data moves: `take(3, A)` in an expression reads `A`.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::super::Lowerer;
use super::Shape;
use super::agree::Part;
use crate::{Affine, Cond};

const NAMES: [&str; 7] = ["reverse", "transpose", "take", "drop", "stride", "split", "merge"];

/// Acts on the first axis where no axis is given.
pub(super) enum Rearrangement {
    Reverse,
    /// Axis `n` of the result is this axis of the operand.
    Transpose(Vec<usize>),
    /// Cells `skip..skip + length` of the first axis.
    Window {
        skip: Affine,
        length: Affine,
    },
    Stride {
        step: i64,
        length: Affine,
    },
    /// One axis becomes two, of which the inner has this extent.
    Split {
        axis: usize,
        outer: Affine,
        inner: i64,
    },
    /// An axis and the next, of this extent, become one.
    Merge {
        axis: usize,
        inner: i64,
        length: Affine,
    },
}

impl Rearrangement {
    fn shape(&self, shape: &[Affine]) -> Shape {
        let first = |length: &Affine| [std::slice::from_ref(length), &shape[1..]].concat();
        match self {
            Rearrangement::Reverse => shape.to_vec(),
            Rearrangement::Transpose(axes) => axes.iter().map(|axis| shape[*axis].clone()).collect(),
            Rearrangement::Window { length, .. } | Rearrangement::Stride { length, .. } => first(length),
            Rearrangement::Split { axis, outer, inner } => {
                [&shape[..*axis], &[outer.clone(), Affine::constant(*inner)], &shape[axis + 1..]].concat()
            }
            Rearrangement::Merge { axis, length, .. } => {
                [&shape[..*axis], std::slice::from_ref(length), &shape[axis + 2..]].concat()
            }
        }
    }

    /// The cell of the operand that a cell of the result is; `None` if the numbers are too large.
    pub(super) fn cell(&self, shape: &[Affine], cell: &[Affine]) -> Option<Vec<Affine>> {
        let first = |index: Affine| Some([&[index], &cell[1..]].concat());
        match self {
            Rearrangement::Reverse => first(shape[0].sub(&cell[0])?.sub(&Affine::constant(1))?),
            Rearrangement::Transpose(axes) => {
                let place = |axis: usize| axes.iter().position(|from| *from == axis).map(|place| cell[place].clone());
                (0..axes.len()).map(place).collect()
            }
            Rearrangement::Window { skip, .. } => first(cell[0].add(skip)?),
            Rearrangement::Stride { step, .. } => first(cell[0].scale(*step)?),
            Rearrangement::Split { axis, inner, .. } => {
                let index = cell[axis + 1].add_scaled(&cell[*axis], *inner)?;
                Some([&cell[..*axis], &[index], &cell[axis + 2..]].concat())
            }
            Rearrangement::Merge { axis, inner, .. } => {
                let index = [cell[*axis].div(*inner)?, cell[*axis].rem(*inner)?];
                Some([&cell[..*axis], &index, &cell[axis + 1..]].concat())
            }
        }
    }
}

impl Lowerer<'_> {
    /// Whether a call of this name rearranges an array. Functions of the file come first.
    pub(in super::super) fn rearranges(&self, name: &str) -> bool {
        NAMES.contains(&name) && self.callee(name).is_none()
    }

    pub(super) fn rearranged_shape(
        &mut self,
        name: &ast::Ident,
        params: &[ast::Expr],
        operand: &Part,
    ) -> Option<Shape> {
        Some(self.rearrangement(name, params, operand)?.shape(&operand.shape))
    }

    /// The rearrangement, checked against the shape that it is applied to.
    pub(super) fn rearrangement(
        &mut self,
        name: &ast::Ident,
        params: &[ast::Expr],
        operand: &Part,
    ) -> Option<Rearrangement> {
        let shape = &operand.shape;
        let Some(extent) = shape.first() else {
            self.report(
                Diagnostic::error("E0208", name.span, format!("`{}` needs an array", name.name))
                    .label(operand.span, "this is a scalar"),
            );
            return None;
        };
        match name.name.as_str() {
            "reverse" => {
                let [] = self.params(name, params, "reverse(A)")?;
                Some(Rearrangement::Reverse)
            }
            "transpose" => self.transposition(name, params, operand),
            "take" | "drop" => {
                let [count] = self.params(name, params, &format!("{}(3, A)", name.name))?;
                let window = self.window(name.name == "take", count, extent)?;
                let window = self.narrowed(window, name.span)?;
                if let (true, Rearrangement::Window { length, .. }) = (name.name == "take", &window) {
                    self.check_take(count.span, operand, extent, length)?;
                }
                Some(window)
            }
            "stride" => {
                let [step] = self.params(name, params, "stride(2, A)")?;
                let step = self.positive(step, "a stride")?;
                let length = self.steps(extent, step);
                let length = self.narrowed(length, name.span)?;
                Some(Rearrangement::Stride { step, length })
            }
            "split" => {
                let [axis, inner] = self.params(name, params, "split(0, 4, A)")?;
                let axis = self.axis(axis, operand, 0)?;
                let inner = self.positive(inner, "the extent of the inner axis")?;
                self.split(name, operand, axis, inner)
            }
            _ => {
                let [axis] = self.params(name, params, "merge(0, A)")?;
                let axis = self.axis(axis, operand, 1)?;
                self.merge(name, operand, axis)
            }
        }
    }

    fn transposition(&mut self, name: &ast::Ident, params: &[ast::Expr], operand: &Part) -> Option<Rearrangement> {
        let rank = operand.shape.len();
        if params.is_empty() {
            return Some(Rearrangement::Transpose((0..rank).rev().collect()));
        }
        let mut axes = Vec::new();
        for param in params {
            axes.push(self.axis(param, operand, 0)?);
        }
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if sorted != (0..rank).collect::<Vec<_>>() {
            let shape = self.show_shape_list(&operand.shape);
            let all: Vec<String> = (0..rank).rev().map(|axis| axis.to_string()).collect();
            self.report(
                Diagnostic::error("E0209", name.span, "a transposition names every axis once")
                    .label(operand.span, format!("shape {shape}"))
                    .help(format!("such as `transpose({}, A)`, the same as `transpose(A)`", all.join(", "))),
            );
            return None;
        }
        Some(Rearrangement::Transpose(axes))
    }

    /// `take` or `drop`; a negative number counts from the end. The inner `None` says that the numbers are too large.
    fn window(&mut self, take: bool, count: &ast::Expr, extent: &Affine) -> Option<Option<Rearrangement>> {
        let count = self.parameter(count, "the number of cells")?;
        let from_end = count.as_constant().is_some_and(|count| count < 0);
        let size = if from_end { count.scale(-1) } else { Some(count) };
        let window = size.and_then(|size| {
            let rest = extent.sub(&size)?;
            let zero = Affine::constant(0);
            let (skip, length) = match (take, from_end) {
                (true, false) => (zero, size),
                (true, true) => (rest, size),
                (false, false) => (size, rest),
                (false, true) => (zero, rest),
            };
            Some(Rearrangement::Window { skip, length })
        });
        Some(window)
    }

    /// The number of steps that begin inside an extent: the quotient rounded up. What divides is divided.
    fn steps(&self, extent: &Affine, step: i64) -> Option<Affine> {
        let extent = self.exact(extent);
        if self.divides(step, &extent) {
            return extent.div(step);
        }
        let mut multiple = Affine::default();
        for (atom, coefficient) in extent.terms.iter().filter(|(_, coefficient)| *coefficient % step == 0) {
            multiple = multiple.add_scaled(&Affine::atom(atom.clone()), *coefficient)?;
        }
        let rest = extent.sub(&multiple)?.add(&Affine::constant(step - 1))?;
        multiple.div(step)?.add(&rest.div(step)?)
    }

    /// What is taken must be there. Of an array itself that is proven later, for each access; but the cells behind the
    /// end of what another verb gives may exist.
    fn check_take(&mut self, span: Span, operand: &Part, extent: &Affine, length: &Affine) -> Option<()> {
        if operand.direct {
            return Some(());
        }
        let rest = extent.sub(length);
        if rest.is_some_and(|rest| self.implied(&Cond::NonNegative(rest))) {
            return Some(());
        }
        let (extent, length) = (self.function.show(extent), self.function.show(length));
        self.report(
            Diagnostic::error("E0209", span, format!("{length} cells are taken, but only {extent} may be there"))
                .label(operand.span, format!("shape {}", self.show_shape_list(&operand.shape)))
                .help(format!("if there are always enough, say so: `where {extent} >= {length}`")),
        );
        None
    }

    fn split(&mut self, name: &ast::Ident, operand: &Part, axis: usize, inner: i64) -> Option<Rearrangement> {
        let extent = self.exact(&operand.shape[axis]);
        if !self.divides(inner, &extent) {
            let shown = self.function.show(&operand.shape[axis]);
            let mut diagnostic = Diagnostic::error(
                "E0210",
                name.span,
                format!("axis {axis} of extent {shown} is not known to be a multiple of {inner}"),
            )
            .label(operand.span, format!("shape {}", self.show_shape_list(&operand.shape)));
            diagnostic = match extent.as_constant() {
                Some(extent) => diagnostic.help(format!(
                    "leave the rest out: `split({axis}, {inner}, take({}, A))`",
                    extent - extent.rem_euclid(inner)
                )),
                None => {
                    let compound = extent.terms.len() > 1 || extent.constant != 0;
                    let shown = if compound { format!("({shown})") } else { shown };
                    diagnostic.help(format!("if it always is, say so: `where {shown} % {inner} = 0`"))
                }
            };
            self.report(diagnostic);
            return None;
        }
        let outer = self.narrowed(extent.div(inner), name.span)?;
        Some(Rearrangement::Split { axis, outer, inner })
    }

    fn merge(&mut self, name: &ast::Ident, operand: &Part, axis: usize) -> Option<Rearrangement> {
        let (outer, inner) = (&operand.shape[axis], &operand.shape[axis + 1]);
        let literal = self.eliminate(inner).as_constant().filter(|inner| *inner > 0);
        let Some(literal) = literal else {
            let shown = self.function.show(inner);
            self.report(
                Diagnostic::error(
                    "E0210",
                    name.span,
                    format!("axes {axis} and {} cannot be merged: {shown} is not a positive constant", axis + 1),
                )
                .label(operand.span, format!("shape {}", self.show_shape_list(&operand.shape)))
                .note(format!("a cell of the merged axis would be found by dividing by {shown}, which is not affine")),
            );
            return None;
        };
        let length = self.narrowed(outer.scale(literal), name.span)?;
        Some(Rearrangement::Merge { axis, inner: literal, length: self.exact(&length) })
    }

    // ---- Parameters ----

    fn params<'e, const N: usize>(
        &mut self,
        name: &ast::Ident,
        params: &'e [ast::Expr],
        example: &str,
    ) -> Option<[&'e ast::Expr; N]> {
        let found: Vec<&ast::Expr> = params.iter().collect();
        let given = found.len();
        let exact = <[&ast::Expr; N]>::try_from(found).ok();
        if exact.is_none() {
            let plural = if N == 1 { "" } else { "s" };
            let message = format!("`{}` has {N} parameter{plural}, {given} given", name.name);
            self.error("E0209", name.span, message).helps.push(format!("write `{example}`"));
        }
        exact
    }

    /// Affine in the parameters of the function and in the indices around the statement.
    fn parameter(&mut self, expr: &ast::Expr, what: &str) -> Option<Affine> {
        let outside = self.cell.take();
        let affine = self.lower_affine(expr, what);
        self.cell = outside;
        affine
    }

    fn literal(&mut self, expr: &ast::Expr, what: &str) -> Option<i64> {
        let constant = self.parameter(expr, what)?.as_constant();
        if constant.is_none() {
            self.error("E0209", expr.span, format!("{what} must be a constant"));
        }
        constant
    }

    fn positive(&mut self, expr: &ast::Expr, what: &str) -> Option<i64> {
        let constant = self.literal(expr, what)?;
        if constant < 1 {
            self.error("E0209", expr.span, format!("{what} must be at least 1"));
            return None;
        }
        Some(constant)
    }

    /// The number of an axis that at least `after` others follow.
    fn axis(&mut self, expr: &ast::Expr, operand: &Part, after: usize) -> Option<usize> {
        let axis = self.literal(expr, "an axis")?;
        let count = operand.shape.len();
        let found = usize::try_from(axis).ok().filter(|axis| axis + after < count);
        if found.is_none() {
            let span: Span = expr.span;
            let shape = self.show_shape_list(&operand.shape);
            let message = match usize::try_from(axis) {
                Ok(known) if known < count => format!("no axis follows axis {axis}"),
                _ => format!("there is no axis {axis}"),
            };
            self.report(
                Diagnostic::error("E0209", span, message)
                    .label(operand.span, format!("shape {shape}"))
                    .note(format!("axes are counted from 0, so the last is axis {}", count - 1)),
            );
        }
        found
    }
}
