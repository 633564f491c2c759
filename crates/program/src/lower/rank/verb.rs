//! Verbs: the shape of what they give, and the value of one cell of it.
//!
//! A verb of rank r sees the cells of rank r, the last r axes, and maps over the frame, the axes in front. The shape of
//! the result and the cell are found by the same steps, so a cell can be lowered without further checks.

use diag::{Diagnostic, Span};
use syntax::ast::{self, VerbKind};

use super::super::Lowerer;
use super::super::expr::Typed;
use super::Shape;
use super::agree::Part;
use crate::{Affine, Atom, Bound, Cond};

/// An operand as one application of a verb sees it: an expression, the subscripts of its frame, and its cell's shape.
struct Operand<'e> {
    expr: &'e ast::Expr,
    frame: Vec<Affine>,
    part: Part,
}

/// As it is written in a verb.
pub(super) fn operator_name(kind: &VerbKind) -> &str {
    match kind {
        VerbKind::Binary(op) => match op {
            ast::BinaryOp::Add => "+",
            ast::BinaryOp::Sub => "-",
            ast::BinaryOp::Mul => "*",
            ast::BinaryOp::Div => "/",
            ast::BinaryOp::Rem => "%",
            ast::BinaryOp::And => "and",
            ast::BinaryOp::Or => "or",
            ast::BinaryOp::BitAnd => "&",
            ast::BinaryOp::BitOr => "|",
            ast::BinaryOp::BitXor => "^",
            ast::BinaryOp::Shl => "<<",
            ast::BinaryOp::Shr => ">>",
        },
        VerbKind::Compare(op) => match op {
            ast::CompareOp::Eq => "=",
            ast::CompareOp::Ne => "!=",
            ast::CompareOp::Lt => "<",
            ast::CompareOp::Le => "<=",
            ast::CompareOp::Gt => ">",
            ast::CompareOp::Ge => ">=",
        },
        VerbKind::Named { name, .. } => &name.name,
        VerbKind::Reduce { .. } => "reduce",
        VerbKind::Oblique { .. } => "oblique",
        VerbKind::Rank { verb, .. } => operator_name(&verb.kind),
    }
}

impl Lowerer<'_> {
    // ---- Shapes ----

    pub(super) fn applied_shape(&mut self, verb: &ast::Verb, lhs: Option<&Part>, rhs: &Part) -> Option<Shape> {
        match lhs {
            Some(lhs) => self.dyad_shape(verb, lhs, rhs),
            None => self.monad_shape(verb, rhs),
        }
    }

    fn monad_shape(&mut self, verb: &ast::Verb, operand: &Part) -> Option<Shape> {
        let shape = &operand.shape;
        match &verb.kind {
            VerbKind::Rank { verb: inner, left, right } => {
                self.check_one_rank(verb, *right)?;
                let rank = self.rank_of(*left, operand, verb.span)?;
                let result = self.monad_shape(inner, &operand.cell(rank))?;
                Some([&shape[..shape.len() - rank], result.as_slice()].concat())
            }
            VerbKind::Reduce { axes, .. } => {
                let axes = usize::try_from(*axes).unwrap_or(usize::MAX);
                if axes == 0 || axes > shape.len() {
                    self.too_few_axes(verb, operand, axes);
                    return None;
                }
                Some(shape[..shape.len() - axes].to_vec())
            }
            VerbKind::Oblique { .. } => {
                let [frame @ .., rows, columns] = shape.as_slice() else {
                    self.too_few_axes(verb, operand, 2);
                    return None;
                };
                let length = rows.add(columns).and_then(|sum| sum.sub(&Affine::constant(1)));
                let length = self.narrowed(length, verb.span)?;
                Some([frame, &[length]].concat())
            }
            VerbKind::Named { name, params } if self.rearranges(&name.name) => {
                self.rearranged_shape(name, params, operand)
            }
            VerbKind::Named { name, params } => {
                self.no_params(name, params)?;
                Some(shape.clone())
            }
            VerbKind::Binary(_) | VerbKind::Compare(_) => {
                let name = operator_name(&verb.kind);
                self.error("E0105", verb.span, format!("`{name}` takes 2 operands, 1 given"))
                    .helps
                    .push(format!("write one on its left: `A ({name} rank 1 0) b`"));
                None
            }
        }
    }

    fn dyad_shape(&mut self, verb: &ast::Verb, lhs: &Part, rhs: &Part) -> Option<Shape> {
        match &verb.kind {
            VerbKind::Rank { verb: inner, .. } => {
                let (left, right) = self.ranks_of(verb, lhs, rhs)?;
                let frame = self.agree_frames(lhs, rhs, (left, right))?;
                let result = self.dyad_shape(inner, &lhs.cell(left), &rhs.cell(right))?;
                Some([frame, result].concat())
            }
            VerbKind::Reduce { .. } | VerbKind::Oblique { .. } => self.takes_one(verb),
            VerbKind::Named { name, .. } if self.rearranges(&name.name) => self.takes_one(verb),
            VerbKind::Named { name, params } => {
                self.no_params(name, params)?;
                self.agree_cells(verb, lhs, rhs)
            }
            VerbKind::Binary(_) | VerbKind::Compare(_) => self.agree_cells(verb, lhs, rhs),
        }
    }

    fn agree_cells(&mut self, verb: &ast::Verb, lhs: &Part, rhs: &Part) -> Option<Shape> {
        self.agree(Some(operator_name(&verb.kind)), &[lhs.cell(lhs.shape.len()), rhs.cell(rhs.shape.len())])
    }

    pub(super) fn check_one_rank(&mut self, verb: &ast::Verb, second: Option<i64>) -> Option<()> {
        if second.is_some() {
            self.error("E0206", verb.span, "a verb with one operand has one rank")
                .helps
                .push("the second rank is for an operand on the left: `A (+ rank 1 0) b`".into());
        }
        second.is_none().then_some(())
    }

    /// The ranks of a verb between two operands.
    pub(super) fn ranks_of(&mut self, verb: &ast::Verb, lhs: &Part, rhs: &Part) -> Option<(usize, usize)> {
        let VerbKind::Rank { left, right, .. } = &verb.kind else { return None };
        let left_rank = self.rank_of(*left, lhs, verb.span);
        let right_rank = self.rank_of(right.unwrap_or(*left), rhs, verb.span);
        left_rank.zip(right_rank)
    }

    /// A written rank as a number of axes; negative ones count from the rank of the operand.
    pub(super) fn rank_of(&mut self, written: i64, operand: &Part, span: Span) -> Option<usize> {
        let axes = operand.shape.len();
        if let Some(rank) = clip_rank(written, axes) {
            return Some(rank);
        }
        let shape = self.show_shape_list(&operand.shape);
        let what = match axes {
            0 => "a scalar, which has no axes".to_string(),
            1 => format!("shape {shape}, which has 1 axis"),
            _ => format!("shape {shape}, which has {axes} axes"),
        };
        self.report(
            Diagnostic::error("E0206", span, format!("there are no cells of rank {written} here"))
                .here(format!("rank {written}"))
                .label(operand.span, what)
                .help(format!("the rank of a cell is at most that of the whole: write `rank {axes}`, or leave it out")),
        );
        None
    }

    fn too_few_axes(&mut self, verb: &ast::Verb, operand: &Part, wanted: usize) {
        let name = syntax::verb_to_string(verb);
        let found = match operand.shape.len() {
            0 => "this is a scalar".to_string(),
            1 => format!("shape {}, which has 1 axis", self.show_shape_list(&operand.shape)),
            axes => format!("shape {}, which has {axes} axes", self.show_shape_list(&operand.shape)),
        };
        let message = match (wanted, &verb.kind) {
            (0, _) => "a reduction is over at least one axis".to_string(),
            (_, VerbKind::Oblique { .. }) => "anti-diagonals need two axes".to_string(),
            (1, _) => format!("`{name}` reduces over an axis, but there is none"),
            _ => format!("`{name}` reduces over more axes than there are"),
        };
        let mut diagnostic = Diagnostic::error("E0208", verb.span, message).label(operand.span, found);
        if let (VerbKind::Reduce { op, .. }, axes @ 1..) = (&verb.kind, operand.shape.len()) {
            let all = syntax::verb_to_string(&ast::Verb {
                kind: VerbKind::Reduce { axes: axes as i64, op: *op },
                span: verb.span,
            });
            diagnostic = diagnostic.help(format!("over all of them: `({all})`"));
        }
        self.report(diagnostic);
    }

    fn takes_one(&mut self, verb: &ast::Verb) -> Option<Shape> {
        let name = operator_name(&verb.kind);
        self.error("E0105", verb.span, format!("`{name}` takes 1 operand, 2 given"))
            .helps
            .push("write the verb in front of its operand".into());
        None
    }

    fn no_params(&mut self, name: &ast::Ident, params: &[ast::Expr]) -> Option<()> {
        let Some(param) = params.first() else { return Some(()) };
        self.error("E0209", param.span, format!("`{}` has no parameters as a verb", name.name))
            .notes
            .push("only `take`, `drop`, `stride`, `transpose`, `split` and `merge` do".into());
        None
    }

    // ---- Cells ----

    /// The cell of an application that the current subscripts point to; in an indexed statement, its scalar value.
    pub(in super::super) fn lower_apply(
        &mut self,
        verb: &ast::Verb,
        lhs: Option<&ast::Expr>,
        rhs: &ast::Expr,
        span: Span,
    ) -> Option<Typed> {
        let lhs = match lhs {
            Some(lhs) => Some(self.operand(lhs)?),
            None => None,
        };
        let rhs = self.operand(rhs)?;
        let shape = self.applied_shape(verb, lhs.as_ref().map(|lhs| &lhs.part), &rhs.part)?;
        let cell = self.cell_for(&shape, span)?;
        match lhs {
            Some(lhs) => self.dyad_cell(verb, lhs, rhs, &cell, span),
            None => self.monad_cell(verb, rhs, &cell, span),
        }
    }

    /// `take(3, A)` and its like.
    pub(in super::super) fn lower_rearranged(
        &mut self,
        callee: &ast::Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Typed> {
        let (params, array) = self.rearranged_array(callee, args, span)?;
        let operand = self.operand(array)?;
        let shape = self.rearranged_shape(callee, params, &operand.part)?;
        let cell = self.cell_for(&shape, span)?;
        self.rearranged_cell(callee, params, operand, &cell)
    }

    /// The subscripts for a value of this shape. An indexed statement has none for arrays.
    fn cell_for(&mut self, shape: &[Affine], span: Span) -> Option<Vec<Affine>> {
        if shape.is_empty() {
            return Some(Vec::new());
        }
        if self.cell.as_ref().is_none_or(|cell| cell.len() != shape.len()) {
            let shown = self.show_shape_list(shape);
            self.report(
                Diagnostic::error("E0207", span, format!("this has shape {shown}, but a number is needed here"))
                    .here(format!("shape {shown}"))
                    .note("a statement with indices on the left is about single cells")
                    .help("name the array first, `let T = …`, and then its cells, `T[i]`"),
            );
        }
        self.cell.clone().filter(|cell| cell.len() == shape.len())
    }

    fn operand<'e>(&mut self, expr: &'e ast::Expr) -> Option<Operand<'e>> {
        Some(Operand { expr, frame: Vec::new(), part: self.part(expr)? })
    }

    /// The value of one cell of an operand; of a scalar, its value.
    fn cell_at(&mut self, operand: &Operand<'_>, cell: &[Affine]) -> Option<Typed> {
        let cell = if operand.part.shape.is_empty() { &[] } else { cell };
        let outside = self.cell.replace([operand.frame.as_slice(), cell].concat());
        let value = self.lower_expr(operand.expr);
        self.cell = outside;
        value
    }

    fn monad_cell(&mut self, verb: &ast::Verb, operand: Operand<'_>, cell: &[Affine], span: Span) -> Option<Typed> {
        match &verb.kind {
            VerbKind::Rank { verb, left, .. } => {
                let frame = operand.part.shape.len() - clip_rank(*left, operand.part.shape.len())?;
                let (around, inside) = cell.split_at_checked(frame)?;
                self.monad_cell(verb, operand.within(frame, around), inside, span)
            }
            VerbKind::Reduce { axes, op } => {
                let kept = operand.part.shape.len().checked_sub(usize::try_from(*axes).ok()?)?;
                self.scope.enter();
                let mut bounds = Vec::new();
                for extent in &operand.part.shape[kept..] {
                    let iter = self.fresh_index("k", verb.span);
                    bounds.push(Bound { iter, lo: Affine::constant(0), hi: extent.clone() });
                }
                let reduced: Vec<Affine> = bounds.iter().map(|bound| Affine::iter(bound.iter)).collect();
                let body = self.cell_at(&operand, &[cell, reduced.as_slice()].concat());
                self.scope.leave();
                self.reduction(*op, bounds, Cond::TRUE, body?, span)
            }
            VerbKind::Oblique { op } => {
                let [.., rows, columns] = operand.part.shape.as_slice() else { return None };
                let (diagonal, around) = cell.split_last()?;
                self.scope.enter();
                let iter = self.fresh_index("k", verb.span);
                let row = Affine::iter(iter);
                // Row `k` meets diagonal `d` in column `d - k`, if there is one.
                let column = diagonal.sub(&row);
                let last = column.as_ref().and_then(|column| columns.sub(column)?.sub(&Affine::constant(1)));
                let limits = column.zip(last);
                let body = limits.as_ref().map(|(column, _)| [around, &[row, column.clone()]].concat());
                let body = body.and_then(|cell| self.cell_at(&operand, &cell));
                self.scope.leave();
                let (column, last) = self.narrowed(limits, span)?;
                let guard = Cond::NonNegative(column).and(Cond::NonNegative(last));
                let bound = Bound { iter, lo: Affine::constant(0), hi: rows.clone() };
                self.reduction(*op, vec![bound], guard, body?, span)
            }
            VerbKind::Named { name, params } if self.rearranges(&name.name) => {
                self.rearranged_cell(name, params, operand, cell)
            }
            VerbKind::Named { name, .. } => {
                let arg = self.cell_at(&operand, cell);
                self.call(name, arg.map(|arg| vec![arg]), span)
            }
            VerbKind::Binary(_) | VerbKind::Compare(_) => None,
        }
    }

    fn dyad_cell(
        &mut self,
        verb: &ast::Verb,
        lhs: Operand<'_>,
        rhs: Operand<'_>,
        cell: &[Affine],
        span: Span,
    ) -> Option<Typed> {
        if let VerbKind::Rank { verb: inner, left, right } = &verb.kind {
            let left = lhs.part.shape.len() - clip_rank(*left, lhs.part.shape.len())?;
            let axes = rhs.part.shape.len();
            let right = axes - clip_rank(right.unwrap_or_else(|| written_left(verb)), axes)?;
            let (around, inside) = cell.split_at_checked(left.max(right))?;
            let (lhs, rhs) = (lhs.within(left, around), rhs.within(right, around));
            return self.dyad_cell(inner, lhs, rhs, inside, span);
        }
        let (lhs, rhs) = (self.cell_at(&lhs, cell), self.cell_at(&rhs, cell));
        match &verb.kind {
            VerbKind::Binary(op) => self.lower_binary(*op, lhs?, rhs?, span),
            VerbKind::Compare(op) => self.compare(*op, lhs?, rhs?, span),
            VerbKind::Named { name, .. } => {
                let args = lhs.zip(rhs).map(|(lhs, rhs)| vec![lhs, rhs]);
                self.call(name, args, span)
            }
            VerbKind::Reduce { .. } | VerbKind::Oblique { .. } | VerbKind::Rank { .. } => None,
        }
    }

    fn rearranged_cell(
        &mut self,
        name: &ast::Ident,
        params: &[ast::Expr],
        operand: Operand<'_>,
        cell: &[Affine],
    ) -> Option<Typed> {
        let rearranged = self.rearrangement(name, params, &operand.part)?;
        let cell = rearranged.cell(&operand.part.shape, cell);
        let cell = self.narrowed(cell, name.span)?;
        if cell.iter().map(size).sum::<usize>() > MAX_TERMS {
            self.report(
                Diagnostic::error("E0301", name.span, "the subscripts of this rearrangement are too large")
                    .note(format!("verbs inside one another become one subscript, of at most {MAX_TERMS} terms"))
                    .help("give a part of it a name with `let`"),
            );
            return None;
        }
        self.cell_at(&operand, &cell)
    }
}

impl<'e> Operand<'e> {
    /// What is left of it inside the first `axes` axes of its frame.
    fn within(self, axes: usize, around: &[Affine]) -> Operand<'e> {
        let frame = [self.frame.as_slice(), &around[..axes]].concat();
        Operand { expr: self.expr, frame, part: self.part.cell(self.part.shape.len() - axes) }
    }
}

/// The largest subscripts of one cell, in terms. A quotient holds what it divides, so splits and merges inside one
/// another double them.
const MAX_TERMS: usize = 200;

fn size(affine: &Affine) -> usize {
    let term = |atom: &Atom| if let Atom::Div(numerator, _) = atom { 1 + size(numerator) } else { 1 };
    affine.terms.keys().map(term).sum()
}

/// The number of axes that a rank means; none if there are not so many.
fn clip_rank(written: i64, axes: usize) -> Option<usize> {
    match usize::try_from(written) {
        Ok(rank) => Some(rank).filter(|rank| *rank <= axes),
        Err(_) => Some(axes.saturating_sub(usize::try_from(written.unsigned_abs()).unwrap_or(usize::MAX))),
    }
}

fn written_left(verb: &ast::Verb) -> i64 {
    if let VerbKind::Rank { left, .. } = &verb.kind { *left } else { 0 }
}
