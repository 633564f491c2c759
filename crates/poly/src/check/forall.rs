//! Foralls: the instances of one statement have no order, so none may read or write what another one writes.
//!
//! The check works on the program, not on the statements of the Scop: a reduction that is computed once for many
//! instances is still read by each of them.

use diag::{Diagnostic, Span};
use isl::{Set, Space};
use program::{Affine, Assign, BinaryOp, Cond, Expr, ExprKind, IterId, Node, Role, Subscript};

use crate::fault::{Attempt, Fault};
use crate::model::stride;
use crate::scop::{Scop, Statement};
use crate::sets::{aff, cond_set, in_range};
use crate::witness::{evaluate, show_cell, show_params, show_point, smallest};

pub(super) fn check(scop: &Scop) -> Attempt<Vec<Diagnostic>> {
    let mut checker = Checker { scop, diagnostics: Vec::new() };
    checker.block(&scop.function.body, &mut Vec::new(), &mut Vec::new())?;
    Ok(checker.diagnostics)
}

struct Checker<'a> {
    scop: &'a Scop,
    diagnostics: Vec<Diagnostic>,
}

/// Two instances of one forall, as dimensions: the enclosing loops, the writer's indices, the other's, and the
/// indices of the reductions in which the other reads.
struct Pair<'a> {
    assign: &'a Assign,
    outer: Vec<IterId>,
    inner: Vec<IterId>,
}

impl Pair<'_> {
    fn foralls(&self) -> usize {
        self.assign.foralls.len()
    }

    fn dims(&self) -> usize {
        self.outer.len() + 2 * self.foralls() + self.inner.len()
    }

    /// The dimension of an iterator as the writer (`false`) or the other instance (`true`) sees it.
    fn position(&self, iter: IterId, other: bool) -> Option<usize> {
        let find = |iters: &[IterId]| iters.iter().position(|known| *known == iter);
        if let Some(position) = find(&self.outer) {
            return Some(position);
        }
        let skip = self.outer.len() + if other { self.foralls() } else { 0 };
        if let Some(position) = self.assign.foralls.iter().position(|bound| bound.iter == iter) {
            return Some(skip + position);
        }
        find(&self.inner).map(|position| self.outer.len() + 2 * self.foralls() + position)
    }
}

/// What is known of the coordinate of a cell.
#[derive(Clone, Copy)]
enum Coordinate<'a> {
    Known(&'a Affine),
    /// It comes round at the end of the dimension: `u[(i + 1) % N]`.
    Round {
        inside: &'a Affine,
        size: &'a Affine,
    },
    Data,
}

impl Coordinate<'_> {
    fn of(subscript: &Subscript) -> Coordinate<'_> {
        let expr = match subscript {
            Subscript::Affine(affine) => return Coordinate::Known(affine),
            Subscript::Data(expr) => expr,
        };
        if let ExprKind::Binary(BinaryOp::Rem, inside, size) = &expr.kind
            && let (ExprKind::Index(inside), ExprKind::Index(size)) = (&inside.kind, &size.kind)
        {
            return Coordinate::Round { inside, size };
        }
        Coordinate::Data
    }
}

/// Whether a cell, of which data chooses some coordinates, always lies in another row than the one that is written: `V[t, p]` for `V[t + 1, j]`.
/// Whether rows have an order is then for the scheduler to find out, which takes every cell of the row to be needed.
fn steps_on(written: &[Affine], read: &[Subscript]) -> bool {
    let apart = |(written, read): (&Affine, &Subscript)| {
        let gap = read.as_affine().and_then(|read| written.sub(read));
        gap.and_then(|gap| gap.as_constant()).is_some_and(|gap| gap != 0)
    };
    written.iter().zip(read).any(apart)
}

impl Checker<'_> {
    fn block(&mut self, nodes: &[Node], outer: &mut Vec<IterId>, conds: &mut Vec<Cond>) -> Attempt<()> {
        for node in nodes {
            match node {
                Node::For(node) => {
                    outer.push(node.bound.iter);
                    conds.push(in_range(&node.bound)?.and(stride(node)?));
                    self.block(&node.body, outer, conds)?;
                    conds.pop();
                    outer.pop();
                }
                Node::Each(each) => self.block(&each.body, outer, conds)?,
                // Instances of a scatter may meet in a cell.
                Node::Scatter(_) => {}
                Node::Assign(assign) if assign.foralls.is_empty() => {}
                Node::Assign(assign) => self.assign(assign, outer, conds)?,
            }
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Assign, outer: &[IterId], conds: &[Cond]) -> Attempt<()> {
        let named_by_subscripts =
            assign.foralls.iter().all(|bound| assign.index.iter().any(|index| index.as_iter() == Some(bound.iter)));
        if !named_by_subscripts {
            let pair = Pair { assign, outer: outer.to_vec(), inner: Vec::new() };
            self.double_write(&pair, conds)?;
        }
        self.reads(assign, &assign.value, outer, conds, &mut Vec::new(), &mut Vec::new())
    }

    /// Checks every load of the target inside `expr`; `inner` and `path` are the reductions and conditions around it.
    fn reads(
        &mut self,
        assign: &Assign,
        expr: &Expr,
        outer: &[IterId],
        conds: &[Cond],
        inner: &mut Vec<IterId>,
        path: &mut Vec<Cond>,
    ) -> Attempt<()> {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Scalar(_) | ExprKind::Counter(_) => Ok(()),
            ExprKind::Fold { range, body, .. } => {
                let parts = range.ends().into_iter().chain([body.as_ref()]);
                parts.into_iter().try_for_each(|part| self.reads(assign, part, outer, conds, inner, path))
            }
            ExprKind::Load { array, index } => {
                if self.scop.equations.contains(*array) {
                    // Whether these have an order is for the scheduler to find out.
                    return Ok(());
                }
                if *array != assign.target || *index == assign.index {
                    // Reading one's own cell is fine, and equal subscripts name the same cell at the same instance
                    // only; that two instances share a cell is the business of `double_write`.
                    return Ok(());
                }
                let pair = Pair { assign, outer: outer.to_vec(), inner: inner.clone() };
                let index: Vec<Coordinate<'_>> = index.iter().map(Coordinate::Known).collect();
                self.foreign_read(&pair, conds, path, &index, expr.span)
            }
            ExprKind::Gather { array, index } => {
                for subscript in Subscript::data(index) {
                    self.reads(assign, subscript, outer, conds, inner, path)?;
                }
                if *array != assign.target || self.scop.equations.contains(*array) && steps_on(&assign.index, index) {
                    return Ok(());
                }
                let pair = Pair { assign, outer: outer.to_vec(), inner: inner.clone() };
                let index: Vec<Coordinate<'_>> = index.iter().map(Coordinate::of).collect();
                self.foreign_read(&pair, conds, path, &index, expr.span)
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => {
                self.reads(assign, operand, outer, conds, inner, path)
            }
            ExprKind::Binary(_, lhs, rhs) => {
                self.reads(assign, lhs, outer, conds, inner, path)?;
                self.reads(assign, rhs, outer, conds, inner, path)
            }
            ExprKind::Select { cond, affine, then, otherwise } => {
                self.reads(assign, cond, outer, conds, inner, path)?;
                for (branch, taken) in [(then, true), (otherwise, false)] {
                    path.push(program::branch_condition(cond, affine.as_ref(), taken));
                    self.reads(assign, branch, outer, conds, inner, path)?;
                    path.pop();
                }
                Ok(())
            }
            ExprKind::Reduce { bounds, guard, body, .. } => {
                let (iters, depth) = (inner.len(), path.len());
                for bound in bounds {
                    inner.push(bound.iter);
                    path.push(in_range(bound)?);
                }
                path.push(guard.clone());
                self.reads(assign, body, outer, conds, inner, path)?;
                inner.truncate(iters);
                path.truncate(depth);
                Ok(())
            }
        }
    }

    /// All pairs of different instances in one iteration of the enclosing loops.
    fn pairs(&self, pair: &Pair<'_>, conds: &[Cond]) -> Attempt<(Space, Set)> {
        let space = self.scop.params.tuple(None, &vec![""; pair.dims()])?;
        let mut set = Set::universe(space.clone())?;
        for cond in conds {
            set = set.intersect(cond_set(&space, cond, &|iter| pair.position(iter, false))?)?;
        }
        let ranges = pair.assign.foralls.iter().map(in_range).collect::<Attempt<Vec<_>>>()?;
        for other in [false, true] {
            for cond in ranges.iter().chain([&pair.assign.guard]) {
                set = set.intersect(cond_set(&space, cond, &|iter| pair.position(iter, other))?)?;
            }
        }
        Ok((space, set))
    }

    /// The pairs in which the writer's cell is, or may be, the cell that the other instance names by `index`.
    fn same_cell(&self, pair: &Pair<'_>, space: &Space, mut set: Set, index: &[Coordinate<'_>]) -> Attempt<Set> {
        let seen_by_other = |affine: &Affine| aff(space, affine, &|iter| pair.position(iter, true));
        for (written, other) in pair.assign.index.iter().zip(index) {
            let written = aff(space, written, &|iter| pair.position(iter, false))?;
            let same = match other {
                Coordinate::Known(other) => written.eq_set(seen_by_other(other)?)?,
                Coordinate::Round { inside, size } => {
                    // One turn at most is added or taken away; where it is more, nothing is known.
                    let turned = [1, 0, -1, -2].map(|turns| inside.add_scaled(size, turns));
                    let [Some(up), Some(same), Some(down), Some(farther)] = turned else { continue };
                    let zero = seen_by_other(&Affine::default())?;
                    let below = seen_by_other(&up)?.lt_set(zero.clone())?;
                    let mut cells = below.union(seen_by_other(&farther)?.ge_set(zero)?)?;
                    for cell in [up, same, down] {
                        cells = cells.union(written.clone().eq_set(seen_by_other(&cell)?)?)?;
                    }
                    cells
                }
                Coordinate::Data => continue,
            };
            set = set.intersect(same)?;
        }
        Ok(set)
    }

    /// The part of `set` in which the two instances differ; with `ordered`, in which the writer comes first.
    fn different(&self, pair: &Pair<'_>, space: &Space, set: Set, ordered: bool) -> Attempt<Set> {
        let mut equal_so_far = set;
        let mut different = Set::empty(space.clone())?;
        for bound in &pair.assign.foralls {
            let iter = Affine::iter(bound.iter);
            let one = aff(space, &iter, &|iter| pair.position(iter, false))?;
            let two = aff(space, &iter, &|iter| pair.position(iter, true))?;
            different = different.union(equal_so_far.clone().intersect(one.clone().lt_set(two.clone())?)?)?;
            if !ordered {
                different = different.union(equal_so_far.clone().intersect(one.clone().gt_set(two.clone())?)?)?;
            }
            equal_so_far = equal_so_far.intersect(one.eq_set(two)?)?;
        }
        Ok(different)
    }

    fn foreign_read(
        &mut self,
        pair: &Pair<'_>,
        conds: &[Cond],
        path: &[Cond],
        index: &[Coordinate<'_>],
        span: Span,
    ) -> Attempt<()> {
        let (space, mut set) = self.pairs(pair, conds)?;
        for cond in path {
            set = set.intersect(cond_set(&space, cond, &|iter| pair.position(iter, true))?)?;
        }
        let set = self.same_cell(pair, &space, set, index)?;
        let conflicts = self.different(pair, &space, set, false)?;
        let Some(conflict) = self.conflict(pair, conflicts)? else { return Ok(()) };
        if let Some(refusal) = self.scop.equations.refusal(self.scop, pair.assign.target, span) {
            // One system is refused once, however many of its reads are out of order.
            if !self.diagnostics.iter().any(|known| known.message == refusal.message) {
                self.diagnostics.push(refusal);
            }
            return Ok(());
        }
        let array = &self.scop.array(pair.assign.target).name;
        let known = index.iter().all(|coordinate| matches!(coordinate, Coordinate::Known(_)));
        let reads = if known { "reads" } else { "may read" };
        let message = format!("the forall `{}` {reads} what it writes at another instance", pair.assign.name);
        let mut diagnostic = Diagnostic::error("E0402", span, message)
            .here(format!("instance {} {reads} {}", conflict.other, conflict.cell))
            .label(pair.assign.target_span, format!("instance {} writes {}", conflict.writer, conflict.cell))
            .note(conflict.note())
            .help(format!("if the order matters, write a `for` loop; if the old values are meant, write the result to another array than `{array}`"));
        // Of what depends on data, no order can be found.
        if known {
            let updates = |statement: &Statement| statement.scatters() && statement.write.array == pair.assign.target;
            let why_not = match self.scop.array(pair.assign.target).role {
                Role::In | Role::InOut => "is neither",
                Role::Out | Role::Local if self.scop.statements.iter().any(updates) => "is also updated",
                Role::Out | Role::Local if pair.outer.is_empty() => "is also assigned in a `for`",
                Role::Out | Role::Local => "is used outside of this block as well",
            };
            diagnostic = diagnostic.help(format!(
                "a local or a result that one block alone assigns may refer to itself, as equations; `{array}` {why_not}"
            ));
        }
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    fn double_write(&mut self, pair: &Pair<'_>, conds: &[Cond]) -> Attempt<()> {
        let (space, set) = self.pairs(pair, conds)?;
        let index: Vec<Coordinate<'_>> = pair.assign.index.iter().map(Coordinate::Known).collect();
        let set = self.same_cell(pair, &space, set, &index)?;
        let conflicts = self.different(pair, &space, set, true)?;
        let Some(conflict) = self.conflict(pair, conflicts)? else { return Ok(()) };
        let message = format!("two instances of the forall `{}` write the same cell", pair.assign.name);
        let diagnostic = Diagnostic::error("E0403", pair.assign.target_span, message)
            .here(format!("instances {} and {} both write {}", conflict.writer, conflict.other, conflict.cell))
            .note(conflict.note())
            .help(
                "if the last one is meant to win, write a `for` loop; to combine them, use a reduction such as `sum`",
            );
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    fn conflict(&self, pair: &Pair<'_>, conflicts: Set) -> Attempt<Option<Conflict>> {
        let Some(sample) = smallest(conflicts, &self.scop.context)? else { return Ok(None) };
        let function = &self.scop.function;
        let (outer, rest) = sample.point.split_at(pair.outer.len());
        let (writer, rest) = rest.split_at(pair.foralls());
        let (other, inner) = rest.split_at(pair.foralls());
        let foralls: Vec<IterId> = pair.assign.foralls.iter().map(|bound| bound.iter).collect();
        let iters = [pair.outer.as_slice(), &foralls].concat();
        let point = [outer, writer].concat();
        let cell = evaluate(&pair.assign.index, &sample.params, &iters, &point)
            .ok_or(Fault::Overflow("the cell of a conflict"))?;
        let parenthesised = |values: &[i64]| format!("({})", show_point(function, &foralls, values));
        let mut other_shown = parenthesised(other);
        if !inner.is_empty() {
            other_shown = format!("{other_shown}, with {},", show_point(function, &pair.inner, inner));
        }
        Ok(Some(Conflict {
            writer: parenthesised(writer),
            other: other_shown,
            cell: show_cell(&self.scop.array(pair.assign.target).name, &cell),
            params: show_params(function, &sample.params),
            outer: show_point(function, &pair.outer, outer),
        }))
    }
}

/// A pair of instances in conflict, ready to be shown.
struct Conflict {
    writer: String,
    other: String,
    cell: String,
    params: String,
    outer: String,
}

impl Conflict {
    fn note(&self) -> String {
        let mut circumstances: Vec<String> = Vec::new();
        if !self.params.is_empty() {
            circumstances.push(format!("for {}", self.params));
        }
        if !self.outer.is_empty() {
            circumstances.push(format!("at {}", self.outer));
        }
        let circumstances = circumstances.join(" ");
        let separator = if circumstances.is_empty() { "" } else { "this happens " };
        let end = if circumstances.is_empty() { "" } else { "; " };
        format!("{separator}{circumstances}{end}the instances of a forall have no order")
    }
}
