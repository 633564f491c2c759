//! Ranges of indices: written, or inferred from the dimensions that the index ranges over.
//!
//! An index that stands alone in a subscript (`A[i, k]`) ranges over that dimension. All such uses must agree.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;
use super::extreme::{Extreme, Limits};
use super::names::Meaning;
use super::rank::visit;
use crate::{Affine, Bound, Cond, IterId};

/// A subscript that consists of the index alone, or of little more.
#[derive(Clone)]
pub(super) struct Use {
    pub(super) extent: Affine,
    /// What is added to the index.
    pub(super) by: i64,
    pub(super) span: Span,
    /// Such as `dimension 2 of B`.
    pub(super) place: String,
    pub(super) weight: Weight,
}

/// How much a use says about the range; the lightest of the kinds below count only where no heavier one is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// The index and a constant, `x[i - 1]`, where something else decides whether it is evaluated. Says nothing about the range.
    Possible,
    /// The index and a constant, wherever the statement is done. Says how far others go: `x[i]` beside `x[i + 1]`.
    Certain,
    /// The index and a constant in a branch of an `if` that asks for the index: `if i > 0 then x[i - 1] else 0`.
    Beside,
    /// The subscript is more than the index, but every value of it is a cell: `x[(i + 1) % N]`.
    Wrapped,
    /// In a branch of an `if` that asks for the index: `if i < n then x[i] else 0`.
    Chosen,
    /// Anywhere else on the right.
    Read,
    /// On the left. It decides where it is never larger than what is read.
    Target,
}

/// A subscript of the target that is the index and a constant, such as `t + 1`.
pub(super) struct Shifted {
    by: i64,
    extent: Affine,
    place: String,
}

impl Shifted {
    /// The index is never negative, and the target has a cell for it.
    pub(super) fn range(&self) -> Option<Limits> {
        let lo = self.by.checked_neg()?.max(0);
        let hi = self.extent.add_scaled(&Affine::constant(self.by), -1)?;
        Some(Limits::plain(Affine::constant(lo), hi))
    }
}

impl Lowerer<'_> {
    /// Whether a use says nothing that the shifted target does not say better: in `U[t + 1] = V[t]`, one of the same extent.
    pub(super) fn outdoes(&self, shifted: &Shifted, other: &Use) -> bool {
        other.place == shifted.place || self.eliminate(&other.extent) == self.eliminate(&shifted.extent)
    }

    /// The range of `name`: the written one, else the one all `uses` agree on, else the one that the guard gives. One that is
    /// `plain` where it is bound could be given a range there.
    pub(super) fn bound(
        &mut self,
        iter: IterId,
        name: &ast::Ident,
        written: Option<&ast::Range>,
        uses: &[Use],
        guard: Option<&ast::Expr>,
        plain: bool,
    ) -> Option<(Bound, Cond)> {
        if let Some(range) = written {
            let limits = self.lower_range(range)?;
            let mut own = false;
            limits.los.iter().chain(&limits.his).for_each(|end| end.visit_iters(&mut |found| own |= found == iter));
            if own {
                let what = format!("the range of `{0}` is said in terms of `{0}`", name.name);
                self.report(Diagnostic::error("E0101", range.span, what).here("is not known before it has a range"));
                return None;
            }
            return self.narrowed(limits.bound(iter), range.span);
        }
        let (uses, hints) = (self.deciding(uses, guard), uses);
        let agreed = uses.first().map(|first| self.eliminate(&first.extent));
        let agree = uses.iter().all(|other| Some(self.eliminate(&other.extent)) == agreed);
        let light = uses.iter().all(|each| each.weight <= Weight::Chosen);
        // Subscripts are not negative, so where there are any, the guard need only say where the range ends.
        let guarded = guard.filter(|_| light || !agree);
        if let Some(range) = guarded.and_then(|guard| self.guarded_range(guard, &name.name, !uses.is_empty())) {
            let limits = self.lower_range(&range)?;
            // The guard narrows what uses say; only where it says more than they do, it means more.
            if !agree || uses.first().is_none_or(|first| !self.fits_into(&limits, &first.extent)) {
                return self.narrowed(limits.bound(iter), range.span);
            }
        }
        let Some(first) = uses.first() else {
            // Where a declaration is in error, so may be the reason for this.
            if self.scope.has_broken() {
                return None;
            }
            let ends = guard.is_some_and(|guard| self.guarded_range(guard, &name.name, true).is_some());
            let help = if ends {
                format!("the guard says where it ends; say where it begins, too: `0 <= {} …`", name.name)
            } else if plain {
                format!("write the range: `{}: 0..{}`", name.name, self.likely_end(hints))
            } else {
                format!("bound it in the guard, behind the subscripts: `… | 0 <= {} < …]`", name.name)
            };
            self.report(
                Diagnostic::error("E0302", name.span, format!("the range of index `{}` is not known", name.name))
                    .here("stands alone in no subscript")
                    .help(help),
            );
            return None;
        };
        if !agree {
            self.report(self.ambiguous(name, &uses, plain));
            return None;
        }
        Limits::plain(Affine::constant(0), first.extent.clone()).bound(iter)
    }

    /// The size to show where a range is to be written: that of a dimension in which the index stands with a constant, or the only one of the
    /// function, if it has one.
    fn likely_end(&self, hints: &[Use]) -> String {
        if let Some(hint) = hints.first() {
            let end = hint.extent.add_scaled(&Affine::constant(hint.by.max(0)), -1);
            return end.map_or("…".to_owned(), |end| self.function.show(&end));
        }
        let mut sizes = self.function.params.iter().filter(|param| param.derived.is_none());
        match (sizes.next(), sizes.next()) {
            (Some(only), None) => only.name.clone(),
            _ => "…".to_owned(),
        }
    }

    /// Whether a range is known to lie within the cells of a dimension.
    fn fits_into(&self, limits: &Limits, extent: &Affine) -> bool {
        let holds = |gap: Option<Affine>| gap.is_some_and(|gap| self.implied(&Cond::NonNegative(gap)));
        limits.los.iter().any(|lo| holds(Some(lo.clone()))) && limits.his.iter().any(|hi| holds(extent.sub(hi)))
    }

    /// The uses that an index takes its range from: the heaviest, and of these the target's alone where it fits into all others. Without a guard,
    /// a use ends before `x[i + 1]` leaves the same dimension.
    fn deciding(&self, uses: &[Use], guard: Option<&ast::Expr>) -> Vec<Use> {
        let Some(heaviest) = uses.iter().map(|each| each.weight).max() else { return Vec::new() };
        let least = heaviest.clamp(Weight::Beside, Weight::Read);
        let mut counting: Vec<Use> = uses.iter().filter(|each| each.weight >= least).cloned().collect();
        if heaviest == Weight::Read && guard.is_none() {
            for each in &mut counting {
                let same = uses.iter().filter(|other| other.weight == Weight::Certain && other.place == each.place);
                let farthest = same.map(|other| other.by).max().unwrap_or(0).max(0);
                let nearer = each.extent.add_scaled(&Affine::constant(farthest), -1);
                each.extent = nearer.unwrap_or_else(|| each.extent.clone());
            }
        }
        let (targets, reads): (Vec<&Use>, Vec<&Use>) = counting.iter().partition(|each| each.weight == Weight::Target);
        let fits = |target: &Use, read: &Use| {
            read.extent.sub(&target.extent).is_some_and(|more| self.implied(&Cond::NonNegative(more)))
        };
        let inside = !targets.is_empty() && targets.iter().all(|target| reads.iter().all(|read| fits(target, read)));
        if inside { targets.into_iter().cloned().collect() } else { counting }
    }

    /// The range that a guard gives an index: `lo <= i < hi`, in any spelling, as one part of a conjunction. The bounds are over
    /// names that are bound before it. The guard stays, so nothing but the range depends on which bounds are found.
    fn guarded_range(&self, guard: &ast::Expr, name: &str, from_zero: bool) -> Option<ast::Range> {
        let mut limits = (None, None);
        self.guard_limits(guard, name, &mut limits);
        let zero = from_zero.then_some(ast::Expr { kind: ast::ExprKind::Int(0), span: guard.span });
        Some(ast::Range { lo: limits.0.or(zero)?, hi: limits.1?, span: guard.span })
    }

    fn guard_limits(&self, guard: &ast::Expr, name: &str, limits: &mut (Option<ast::Expr>, Option<ast::Expr>)) {
        match &guard.kind {
            ast::ExprKind::Paren(inner) => self.guard_limits(inner, name, limits),
            ast::ExprKind::Binary { op: ast::BinaryOp::And, lhs, rhs } => {
                self.guard_limits(lhs, name, limits);
                self.guard_limits(rhs, name, limits);
            }
            ast::ExprKind::Compare { first, rest } => {
                let mut left = &**first;
                for (op, right) in rest {
                    use ast::CompareOp::*;
                    let (small, large, strict) = match op {
                        Lt | Le => (left, right, *op == Lt),
                        Gt | Ge => (right, left, *op == Gt),
                        Eq | Ne => {
                            left = right;
                            continue;
                        }
                    };
                    if is_name(large, name) && self.is_limit(small, name) {
                        limits.0.get_or_insert_with(|| plus(small, strict));
                    } else if is_name(small, name) && self.is_limit(large, name) {
                        limits.1.get_or_insert_with(|| plus(large, !strict));
                    }
                    left = right;
                }
            }
            _ => {}
        }
    }

    /// Whether an expression can bound `name`: it is over other names, which are known.
    fn is_limit(&self, expr: &ast::Expr, name: &str) -> bool {
        let mut known = true;
        visit(expr, &mut |part| {
            known &= match &part.kind {
                ast::ExprKind::Name(other) => {
                    let meaning = self.scope.lookup(other).map(|(meaning, _)| meaning);
                    other != name
                        && matches!(meaning, Some(Meaning::Param(_) | Meaning::Iter(_) | Meaning::Constant(_)))
                }
                ast::ExprKind::Int(_)
                | ast::ExprKind::Unary { .. }
                | ast::ExprKind::Binary { .. }
                | ast::ExprKind::Paren(_) => true,
                _ => false,
            };
        });
        known
    }

    /// All ranges that an index could have, and sizes for which they differ.
    fn ambiguous(&self, name: &ast::Ident, uses: &[Use], plain: bool) -> Diagnostic {
        let mut candidates: Vec<&Use> = Vec::new();
        for each in uses {
            let known = |other: &&Use| self.eliminate(&other.extent) == self.eliminate(&each.extent);
            if !candidates.iter().any(known) {
                candidates.push(each);
            }
        }
        let message = format!("index `{}` ranges over dimensions of different extents", name.name);
        let mut diagnostic = Diagnostic::error("E0303", name.span, message);
        let mut ranges = Vec::new();
        for each in &candidates {
            let extent = self.function.show(&each.extent);
            diagnostic = diagnostic.label(each.span, format!("{} has extent {extent}", each.place));
            ranges.push(if plain {
                format!("`{}: 0..{extent}`", name.name)
            } else {
                format!("`| 0 <= {} < {extent}`", name.name)
            });
        }
        let last = ranges.pop().unwrap_or_default();
        let what = if plain { "write the range" } else { "bound it in the guard, to the range" };
        diagnostic = diagnostic.help(format!("{what} that is meant: {} or {last}", ranges.join(", ")));
        let [one, two, ..] = candidates.as_slice() else { return diagnostic };
        self.explain_extents(diagnostic, &one.extent, &two.extent)
    }

    /// A written range; its lower bound may be a maximum and its upper bound a minimum.
    pub(super) fn lower_range(&mut self, range: &ast::Range) -> Option<Limits> {
        let (los, his) = (self.lower_limit(&range.lo, true), self.lower_limit(&range.hi, false));
        Some(Limits { los: los?, his: his? })
    }

    fn lower_limit(&mut self, expr: &ast::Expr, lower: bool) -> Option<Vec<Affine>> {
        let typed = self.lower_size(expr)?;
        if typed.affine.is_none()
            && let Some(extreme) = Extreme::of(&typed.expr)
        {
            let limits = if lower { extreme.as_max() } else { extreme.as_min() };
            if limits.is_none() {
                let (side, other) = if lower { ("a lower", "min") } else { ("an upper", "max") };
                let (fits, example) = if lower { ("max", "i >= a or i >= b") } else { ("min", "i < a or i < b") };
                let diagnostic = Diagnostic::error("E0301", expr.span, format!("{side} bound cannot be a `{other}`"))
                    .here(format!("{side} bound may be a `{fits}`"))
                    .help(format!("write a wider range and a guard: `| {example}`"));
                self.report(diagnostic);
            }
            return limits;
        }
        Some(vec![self.require_affine(typed, expr, "a bound")?])
    }

    /// Ranges and conditions are made of what lies on the other side of a number, and one next to it: that there is such.
    pub(super) fn has_opposite(&mut self, affine: &Affine, span: Span, what: &str) -> bool {
        let opposite = Affine::constant(-1).add_scaled(affine, -1);
        if opposite.is_none() {
            self.error("E0301", span, format!("the numbers in {what} are too large"));
        }
        opposite.is_some()
    }

    /// The result of a computation with bounds, or the error that they are too large.
    pub(super) fn narrowed<T>(&mut self, result: Option<T>, span: Span) -> Option<T> {
        if result.is_none() {
            self.error("E0301", span, "the numbers in this range are too large");
        }
        result
    }

    /// Subscripts of the target, and inside them, in which `name` stands alone.
    pub(super) fn target_uses(&self, target: &ast::Target, name: &str) -> Vec<Use> {
        let subscripts: Vec<&ast::Expr> = target.indices.iter().map(|index| &index.expr).collect();
        let mut uses = self.subscript_uses(&target.name.name, &subscripts, name);
        uses.iter_mut().filter(|each| each.weight == Weight::Read).for_each(|each| each.weight = Weight::Target);
        subscripts.into_iter().for_each(|subscript| self.collect_uses(subscript, name, &mut uses));
        uses
    }

    /// The subscript of the target in which `name` stands with a constant, if there is one, and none in which it is alone.
    pub(super) fn target_shift(&self, target: &ast::Target, name: &str) -> Option<Shifted> {
        let Some((Meaning::Array(id), _)) = self.scope.lookup(&target.name.name) else { return None };
        let shape = &self.function.array(id).shape;
        let mut found = None;
        for (position, (index, extent)) in target.indices.iter().zip(shape).enumerate() {
            match constant_shift(&index.expr, name) {
                Some(0) => return None,
                Some(by) if found.is_none() => {
                    let place = place(position, &target.name.name);
                    found = Some(Shifted { by, extent: extent.clone(), place });
                }
                _ => {}
            }
        }
        found
    }

    /// Subscripts inside `expr` in which `name` stands alone.
    pub(super) fn uses(&self, expr: &ast::Expr, name: &str) -> Vec<Use> {
        let mut found = Vec::new();
        self.collect_uses(expr, name, &mut found);
        found
    }

    fn subscript_uses(&self, array: &str, subscripts: &[&ast::Expr], name: &str) -> Vec<Use> {
        let shape = match self.scope.lookup(array) {
            Some((Meaning::Array(id), _)) => self.function.array(id).shape.clone(),
            Some((Meaning::Table(position), _)) => self.table_of(position).map_or(Vec::new(), |table| table.extents()),
            _ => return Vec::new(),
        };
        let mut uses = Vec::new();
        for (position, (subscript, extent)) in subscripts.iter().zip(&shape).enumerate() {
            let by = constant_shift(subscript, name);
            let weight = match by {
                Some(0) => Weight::Read,
                Some(_) => Weight::Certain,
                None if self.wraps(subscript, name, extent) => Weight::Wrapped,
                None => continue,
            };
            let place = place(position, array);
            uses.push(Use { extent: extent.clone(), by: by.unwrap_or(0), span: subscript.span, place, weight });
        }
        uses
    }

    /// Whether a subscript brings `name`, with something added, back into the extent: by `%`, or between `max` and `min`.
    fn wraps(&self, subscript: &ast::Expr, name: &str, extent: &Affine) -> bool {
        use ast::ExprKind::*;
        match &subscript.kind {
            Paren(inner) => self.wraps(inner, name, extent),
            Binary { op: ast::BinaryOp::Rem, lhs, rhs } => {
                let whole = self.known_size(rhs).is_some_and(|size| self.eliminate(&size) == self.eliminate(extent));
                whole && self.moved(lhs, name)
            }
            Call { callee, args } if matches!(callee.name.as_str(), "min" | "max") => {
                let inside = |arg: &ast::Expr| self.moved(arg, name) || self.wraps(arg, name, extent);
                let ends = |arg: &ast::Expr| self.known_size(arg).is_some();
                matches!(args.as_slice(), [a, b] if inside(a) && ends(b) || ends(a) && inside(b))
            }
            _ => false,
        }
    }

    /// Whether an expression is `name`, or that and something which no index that is already bound moves about.
    fn moved(&self, expr: &ast::Expr, name: &str) -> bool {
        use ast::ExprKind::*;
        // What an index looks up is a value, and no index itself.
        fn still(lowerer: &Lowerer<'_>, expr: &ast::Expr, name: &str) -> bool {
            match &expr.kind {
                Name(other) => other != name && !matches!(lowerer.scope.lookup(other), Some((Meaning::Iter(_), _))),
                Index { .. } => {
                    let mut free = true;
                    visit(expr, &mut |part| free &= !matches!(&part.kind, Name(other) if other == name));
                    free
                }
                Int(_) => true,
                Paren(inner) | Unary { operand: inner, .. } => still(lowerer, inner, name),
                Binary { lhs, rhs, .. } => still(lowerer, lhs, name) && still(lowerer, rhs, name),
                _ => false,
            }
        }
        let still = |expr: &ast::Expr| still(self, expr, name);
        match &expr.kind {
            Name(found) => found == name,
            Paren(inner) => self.moved(inner, name),
            Binary { op: ast::BinaryOp::Add, lhs, rhs } => {
                self.moved(lhs, name) && still(rhs) || still(lhs) && self.moved(rhs, name)
            }
            Binary { op: ast::BinaryOp::Sub, lhs, rhs } => self.moved(lhs, name) && still(rhs),
            _ => false,
        }
    }

    /// The value of a sum of parameters and constants.
    fn known_size(&self, expr: &ast::Expr) -> Option<Affine> {
        use ast::ExprKind::*;
        match &expr.kind {
            Int(value) => i64::try_from(*value).ok().map(Affine::constant),
            Paren(inner) => self.known_size(inner),
            Name(name) => match self.scope.lookup(name)?.0 {
                Meaning::Param(id) => Some(Affine::param(id)),
                Meaning::Constant(position) => self.constant_value(position, expr.span)?.affine,
                _ => None,
            },
            Binary { op: ast::BinaryOp::Add, lhs, rhs } => self.known_size(lhs)?.add(&self.known_size(rhs)?),
            Binary { op: ast::BinaryOp::Sub, lhs, rhs } => self.known_size(lhs)?.sub(&self.known_size(rhs)?),
            Binary { op: ast::BinaryOp::Mul, lhs, rhs } => {
                let (lhs, rhs) = (self.known_size(lhs)?, self.known_size(rhs)?);
                super::typing::affine_operation(crate::BinaryOp::Mul, &lhs, &rhs)
            }
            _ => None,
        }
    }

    fn collect_uses(&self, expr: &ast::Expr, name: &str, found: &mut Vec<Use>) {
        use ast::ExprKind::*;
        match &expr.kind {
            Int(_) | Float(_) | Bool(_) | Name(_) => {}
            Index { base, indices } => {
                let subscripts: Vec<&ast::Expr> = indices.iter().collect();
                found.extend(self.subscript_uses(&base.name, &subscripts, name));
                indices.iter().for_each(|index| self.collect_uses(index, name, found));
            }
            Call { args, .. } => args.iter().for_each(|arg| self.collect_uses(arg, name, found)),
            Unary { operand, .. } => self.collect_uses(operand, name, found),
            Binary { op, lhs, rhs } => {
                self.collect_uses(lhs, name, found);
                let before = found.len();
                self.collect_uses(rhs, name, found);
                // The right side counts only where the left one leaves the answer open.
                if matches!(op, ast::BinaryOp::And | ast::BinaryOp::Or) {
                    doubt(&mut found[before..]);
                }
            }
            Compare { first, rest } => {
                self.collect_uses(first, name, found);
                rest.iter().for_each(|(_, operand)| self.collect_uses(operand, name, found));
            }
            If { cond, then, otherwise } => {
                self.collect_uses(cond, name, found);
                let before = found.len();
                [then, otherwise].into_iter().for_each(|part| self.collect_uses(part, name, found));
                let asks = asks_for(cond, name);
                for each in &mut found[before..] {
                    each.weight = match each.weight {
                        Weight::Certain | Weight::Possible if asks => Weight::Beside,
                        Weight::Certain => Weight::Possible,
                        weight if asks => weight.min(Weight::Chosen),
                        weight => weight,
                    };
                }
            }
            // An inner index of the same name hides ours.
            Reduce { scan, indices, guard, body, .. } => {
                if indices.iter().all(|index| index.name.name != name) {
                    let before = found.len();
                    self.collect_uses(body, name, found);
                    // There may be nothing to reduce.
                    doubt(&mut found[before..]);
                    for range in indices.iter().filter_map(|index| index.range.as_ref()) {
                        found.extend(self.uses_of_ends(range, name));
                    }
                    if let (true, [index], Some(guard)) = (*scan, indices.as_slice(), guard)
                        && ends_at(guard, &index.name.name, name)
                    {
                        let along = self.uses(body, &index.name.name).into_iter();
                        let along = along.filter(|each| each.weight > Weight::Beside);
                        found.extend(along.map(|each| Use { weight: Weight::Wrapped, ..each }));
                    }
                }
            }
            Apply { lhs, rhs, .. } => {
                lhs.iter().chain([rhs]).for_each(|operand| self.collect_uses(operand, name, found));
            }
            Paren(inner) => self.collect_uses(inner, name, found),
        }
    }

    /// Where rows begin and end. They count if nothing else does, since `ptr` of `ptr[i]..ptr[i + 1]` has one cell more than there are rows,
    /// and then without that cell.
    fn uses_of_ends(&self, range: &ast::Range, name: &str) -> Vec<Use> {
        let decisive = |end: &ast::Expr| -> Vec<Use> {
            self.uses(end, name).into_iter().filter(|each| each.weight > Weight::Beside).collect()
        };
        let mut uses = decisive(&range.lo);
        if let (ast::ExprKind::Index { base, indices }, ast::ExprKind::Index { base: other, indices: ends }, [only]) =
            (&range.lo.kind, &range.hi.kind, uses.as_mut_slice())
            && base.name == other.name
        {
            let shift = indices.iter().zip(ends).find(|(begin, _)| is_name(begin, name));
            let by = shift.and_then(|(_, end)| constant_shift(end, name)).filter(|by| *by > 0).unwrap_or(0);
            let rows = only.extent.add_scaled(&Affine::constant(by), -1);
            only.extent = rows.unwrap_or_else(|| only.extent.clone());
        }
        uses.extend(decisive(&range.hi));
        uses.iter_mut().for_each(|each| each.weight = Weight::Wrapped);
        uses
    }
}

/// What was certain is so no longer.
fn doubt(uses: &mut [Use]) {
    let certain = uses.iter_mut().filter(|each| each.weight == Weight::Certain);
    certain.for_each(|each| each.weight = Weight::Possible);
}

/// Whether a condition asks for the value of an index itself, not only for cells that it names.
fn asks_for(cond: &ast::Expr, name: &str) -> bool {
    use ast::ExprKind::*;
    match &cond.kind {
        Name(found) => found == name,
        Paren(inner) | Unary { operand: inner, .. } => asks_for(inner, name),
        Binary { lhs, rhs, .. } => asks_for(lhs, name) || asks_for(rhs, name),
        Compare { first, rest } => asks_for(first, name) || rest.iter().any(|(_, operand)| asks_for(operand, name)),
        Call { args, .. } => args.iter().any(|arg| asks_for(arg, name)),
        _ => false,
    }
}

fn is_name(expr: &ast::Expr, name: &str) -> bool {
    match &expr.kind {
        ast::ExprKind::Name(found) => found == name,
        ast::ExprKind::Paren(inner) => is_name(inner, name),
        _ => false,
    }
}

/// Whether a guard says how far a scan along `index` goes by comparing it with `end`.
fn ends_at(guard: &ast::Expr, index: &str, end: &str) -> bool {
    match &guard.kind {
        ast::ExprKind::Paren(inner) => ends_at(inner, index, end),
        ast::ExprKind::Binary { op: ast::BinaryOp::And, lhs, rhs } => {
            ends_at(lhs, index, end) || ends_at(rhs, index, end)
        }
        ast::ExprKind::Compare { first, rest } => {
            let operands: Vec<&ast::Expr> =
                std::iter::once(&**first).chain(rest.iter().map(|(_, each)| each)).collect();
            operands.windows(2).any(|pair| {
                is_name(pair[0], index) && is_name(pair[1], end) || is_name(pair[0], end) && is_name(pair[1], index)
            })
        }
        _ => false,
    }
}

/// The expression, or the next integer after it.
fn plus(expr: &ast::Expr, one: bool) -> ast::Expr {
    if !one {
        return expr.clone();
    }
    let number = ast::Expr { kind: ast::ExprKind::Int(1), span: expr.span };
    let (lhs, rhs) = (Box::new(expr.clone()), Box::new(number));
    ast::Expr { kind: ast::ExprKind::Binary { op: ast::BinaryOp::Add, lhs, rhs }, span: expr.span }
}

fn place(position: usize, array: &str) -> String {
    format!("dimension {} of `{array}`", position + 1)
}

/// `c` if the expression is `name + c`, `c + name` or `name - c`, or 0 for `name`.
fn constant_shift(expr: &ast::Expr, name: &str) -> Option<i64> {
    use ast::ExprKind::*;
    match &expr.kind {
        Name(found) if found == name => Some(0),
        Paren(inner) => constant_shift(inner, name),
        Binary { op, lhs, rhs } => match (op, &lhs.kind, &rhs.kind) {
            (ast::BinaryOp::Add, Name(found), Int(by)) | (ast::BinaryOp::Add, Int(by), Name(found))
                if found == name =>
            {
                i64::try_from(*by).ok()
            }
            (ast::BinaryOp::Sub, Name(found), Int(by)) if found == name => i64::try_from(by.checked_neg()?).ok(),
            _ => None,
        },
        _ => None,
    }
}
