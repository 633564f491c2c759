//! Sums over lanes: what it means that all lanes of a vector loop add to one target.
//!
//! In: a vector loop.  Out: the targets that its lanes share, and the same loop with a cell for each lane.
//!
//! Each lane adds up its own terms, and at the end lane `l` is combined with lane `l + n/2`, for `n` = lanes, halved until one is left, which is then
//! combined with the target. This is the meaning of the loop, whoever runs it: one who has lanes does it in registers, and for all others
//! ```text
//! vector(4) for i in 0..N { s += x[i] }
//! ```
//! is the same as
//! ```text
//! alloc s_lanes in scratch {
//!     for l in 0..4 { s_lanes[l] = -0.0 }
//!     vector(4) for i in 0..N { s_lanes[i mod 4] += x[i] }
//!     for l in 0..2 { s_lanes[l] += s_lanes[l + 2] }
//!     for l in 0..1 { s_lanes[l] += s_lanes[l + 1] }
//!     if 0 < N { s += s_lanes[0] }
//! }
//! ```
//! Lanes may share several cells of one array, as those of a few rows that run side by side, if subscripts that differ by a constant keep them apart. A
//! cell that is there only under a condition, as a row of the last few, is handed what there is for it under the same condition; where the condition
//! is another one in each lane, nobody knows whether there is such a cell, and lanes do not add up apart.
//! Only sums and products of floats depend on their order, so the others are left as they are.
//! Not here: partial results of parallel loops (`partials`).

use program::{BinaryOp, Role, ScalarType};

use index::constant_difference;

use crate::partials::neutral;
use crate::print::free_name;
use crate::walk::{Rewrite, VarsUsed, Visit};
use crate::{
    ArrayDecl, ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, LoopKind, Space, Stmt, Target,
    VarId,
};

/// A target that all lanes of a loop, and all loops inside, combine with.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneSum {
    /// A cell or local.
    pub target: Target,
    /// How they combine.
    pub op: BinaryOp,
    /// Of what.
    pub ty: ScalarType,
    /// What must hold for the target to exist, all of it; no lane and no loop inside changes that.
    pub conditions: Vec<Cond>,
}

impl LaneSum {
    /// Whether the order of its terms shows in the result.
    pub fn is_ordered(&self) -> bool {
        order_matters(self.op, self.ty)
    }

    /// Whether it is the one that an update adds to.
    pub fn is_of(&self, target: &Target, op: BinaryOp, ty: ScalarType) -> bool {
        self.target == *target && self.op == op && self.ty == ty
    }
}

/// Whether the order in which values of a type are combined shows in the result.
pub fn order_matters(op: BinaryOp, ty: ScalarType) -> bool {
    ty.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Mul)
}

/// The sums over lanes of a vector loop, or why its lanes cannot add up apart; iterations then do so one after the other.
pub fn lane_sums(f: &For) -> Result<Vec<LaneSum>, &'static str> {
    let mut found = Targets::default();
    found.block(&f.body);
    let mut inside = found.bound.clone();
    inside.push(f.var);
    let mut sums: Vec<LaneSum> = Vec::new();
    for sum in &found.updates {
        let LaneSum { target, op, ty, .. } = sum;
        let shared = match target {
            Target::Local(local) => !found.set.contains(local),
            Target::Cell { index, .. } => !mentions(index, &inside),
        };
        let by_all = match target {
            Target::Local(_) => shared,
            Target::Cell { index, .. } => !mentions(index, &[f.var]),
        };
        if by_all && !shared && order_matters(*op, *ty) {
            return Err("a sum over lanes whose target a loop inside moves along");
        }
        if !shared {
            continue;
        }
        let (varying, conditions): (Vec<Cond>, Vec<Cond>) =
            sum.conditions.iter().cloned().partition(|cond| any_of(&VarsUsed::of_cond(cond), &inside));
        let everywhere = target.array().is_none() || matches!(target, Target::Cell { index, .. } if index.is_empty());
        if !varying.is_empty() && !everywhere {
            return Err("a sum over lanes in a cell that is there only if some lane says so");
        }
        if let Some(known) = sums.iter_mut().find(|known| known.is_of(target, *op, *ty)) {
            // The target is there where any of its updates says so.
            if known.conditions.starts_with(&conditions) {
                known.conditions = conditions;
            } else if !conditions.starts_with(&known.conditions) {
                return Err("a sum over lanes under conditions of which none follows from another");
            }
            continue;
        }
        if sums.iter().any(|known| overlaps(&known.target, target)) {
            return Err("a target of two reductions");
        }
        match &sum.target {
            Target::Local(local) if found.read.contains(local) => {
                return Err("a sum over lanes that the loop also reads");
            }
            Target::Cell { .. } if found.touched.iter().any(|other| overlaps(other, target)) => {
                return Err("a sum over lanes in an array that the loop also uses");
            }
            _ => {}
        }
        if found.updates.iter().any(|other| other.target != sum.target && overlaps(&other.target, &sum.target)) {
            return Err("a sum over lanes in an array that the loop also updates elsewhere");
        }
        sums.push(LaneSum { conditions, ..sum.clone() });
    }
    Ok(sums)
}

/// Whether two targets may be the same.
fn overlaps(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Local(a), Target::Local(b)) => a == b,
        (Target::Cell { array: a, index: one }, Target::Cell { array: b, index: two }) => {
            let differs = |(one, two): (&Index, &Index)| constant_difference(one, two).is_some_and(|by| by != 0);
            a == b && !one.iter().zip(two).any(differs)
        }
        _ => false,
    }
}

fn mentions(index: &[Index], vars: &[VarId]) -> bool {
    any_of(&VarsUsed::of_indices(index), vars)
}

fn any_of(used: &[VarId], vars: &[VarId]) -> bool {
    used.iter().any(|var| vars.contains(var))
}

/// A cell of which it is not known where it is: without subscripts it overlaps every other one.
fn any_cell(array: ArrayId) -> Target {
    Target::Cell { array, index: Vec::new() }
}

/// What a loop body updates, and what it does otherwise with the same names.
#[derive(Default)]
struct Targets {
    /// Each with all conditions around it in the body.
    updates: Vec<LaneSum>,
    conditions: Vec<Cond>,
    bound: Vec<VarId>,
    set: Vec<LocalId>,
    read: Vec<LocalId>,
    /// Cells that are loaded from or stored to.
    touched: Vec<Target>,
}

impl Targets {
    /// Sees statements that are there only under conditions.
    fn under(&mut self, conditions: Vec<Cond>, stmts: &[Stmt]) {
        let outside = self.conditions.len();
        self.conditions.extend(conditions);
        self.block(stmts);
        self.conditions.truncate(outside);
    }
}

impl Visit for Targets {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(inner) => {
                self.bound.push(inner.var);
                let runs = constant_difference(&inner.hi, &inner.lo).is_some_and(|trips| trips > 0);
                let some = Cond::Compare(CompareOp::Lt, inner.lo.clone(), inner.hi.clone());
                return self.under(if runs { Vec::new() } else { vec![some] }, &inner.body);
            }
            Stmt::Update { target, op, value } => {
                let conditions = match target {
                    Target::Cell { .. } => self.conditions.clone(),
                    // A local is always there.
                    Target::Local(_) => Vec::new(),
                };
                self.updates.push(LaneSum { target: target.clone(), op: *op, ty: value.ty, conditions });
            }
            Stmt::If { cond, then, otherwise } => {
                let all = match cond {
                    Cond::And(all) => all.clone(),
                    cond => vec![cond.clone()],
                };
                self.under(all, then);
                return self.under(vec![Cond::Not(Box::new(cond.clone()))], otherwise);
            }
            Stmt::Set { local, .. } => self.set.push(*local),
            Stmt::Store { array, index, .. } => self.touched.push(Target::Cell { array: *array, index: index.clone() }),
            Stmt::Scatter { array, .. } => self.touched.push(any_cell(*array)),
            _ => {}
        }
        self.descend_stmt(stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local) => self.read.push(*local),
            ExprKind::Load { array, index } => self.touched.push(Target::Cell { array: *array, index: index.clone() }),
            ExprKind::Gather { array, .. } => self.touched.push(any_cell(*array)),
            _ => {}
        }
        self.descend_expr(expr);
    }
}

/// Gives lanes that share a target a cell each, in those vector loops that are `wanted`.
pub fn spread_sums(mut kernel: Kernel, wanted: &mut dyn FnMut(&For) -> bool) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Spread { kernel: &mut kernel, wanted }.block(body);
    kernel.body = body;
    kernel
}

struct Spread<'a> {
    kernel: &'a mut Kernel,
    wanted: &'a mut dyn FnMut(&For) -> bool,
}

impl Rewrite for Spread<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For(f) => match f.kind {
                LoopKind::Vector(lanes) if lanes.is_power_of_two() => self.vector(f, i64::from(lanes)),
                _ => vec![self.descend_stmt(Stmt::For(f))],
            },
            stmt => vec![self.descend_stmt(stmt)],
        }
    }
}

impl Spread<'_> {
    fn vector(&mut self, f: For, lanes: i64) -> Vec<Stmt> {
        let sums: Vec<LaneSum> = lane_sums(&f).unwrap_or_default().into_iter().filter(|sum| sum.is_ordered()).collect();
        if sums.is_empty() || !(self.wanted)(&f) {
            return vec![Stmt::For(f)];
        }
        let (lo, hi, step) = (f.lo.clone(), f.hi.clone(), f.step);
        let passed = Index::Sub(Box::new(Index::Var(f.var)), Box::new(lo.clone()));
        let lane = Index::Mod(Box::new(Index::FloorDiv(Box::new(passed), step)), lanes);
        let mut stmts = Vec::new();
        let (mut combined, mut last) = (Vec::new(), Vec::new());
        let mut arrays = Vec::new();
        let mut body = f.body;
        for sum in sums {
            let cells = LaneCells::declare(self.kernel, sum, lanes);
            arrays.push(cells.array);
            stmts.push(self.each(lanes, |l| cells.cleared(l)));
            body = cells.used(body, &lane);
            combined.extend(halves(lanes).map(|half| self.each(half, |l| cells.halved(l, half))));
            last.push(cells.handed_on());
        }
        stmts.push(Stmt::For(For { body, ..f }));
        stmts.extend(combined);
        // Where no iteration runs, the target need not exist.
        let cond = Cond::Compare(CompareOp::Lt, lo, hi);
        stmts.push(Stmt::If { cond, then: last, otherwise: Vec::new() });
        arrays.into_iter().fold(stmts, |body, array| vec![Stmt::Alloc { array, space: Space::Scratch, body }])
    }

    fn each(&mut self, count: i64, stmt: impl FnOnce(Index) -> Stmt) -> Stmt {
        self.kernel.vars.push("l".to_owned());
        let var = VarId(self.kernel.vars.len() as u32 - 1);
        let body = vec![stmt(Index::Var(var))];
        Stmt::For(For { var, kind: LoopKind::Serial, lo: Index::Const(0), hi: Index::Const(count), step: 1, body })
    }
}

/// How many pairs are combined at a time, until one is left.
pub(crate) fn halves(lanes: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(lanes / 2), |half| Some(half / 2)).take_while(|half| *half > 0)
}

/// An array with a cell for each lane, in the place of a target that they share.
pub(crate) struct LaneCells {
    pub(crate) array: ArrayId,
    sum: LaneSum,
}

impl LaneCells {
    pub(crate) fn declare(kernel: &mut Kernel, sum: LaneSum, lanes: i64) -> LaneCells {
        let name = match &sum.target {
            Target::Cell { array, .. } => &kernel.arrays[array.index()].name,
            Target::Local(local) => &kernel.locals[local.index()].name,
        };
        let taken = |name: &str| {
            kernel.arrays.iter().any(|array| array.name == name)
                || kernel.locals.iter().any(|local| local.name == name)
                || kernel.scalars.iter().any(|scalar| scalar.name == name)
                || kernel.params.iter().chain(&kernel.vars).any(|taken| taken == name)
        };
        let name = free_name(&format!("{name}_lanes"), &taken);
        let shape = vec![Index::Const(lanes)];
        kernel.arrays.push(ArrayDecl { name, ty: sum.ty, shape, role: Role::Local, strides: None });
        LaneCells { array: ArrayId(kernel.arrays.len() as u32 - 1), sum }
    }

    /// A cell before anything is combined with it.
    pub(crate) fn cleared(&self, at: Index) -> Stmt {
        let value = Expr::constant(neutral(self.sum.op, self.sum.ty));
        Stmt::Store { array: self.array, index: vec![at], value }
    }

    /// Statements that combine with the cell of their lane, and no more with the target.
    pub(crate) fn used(&self, body: Vec<Stmt>, lane: &Index) -> Vec<Stmt> {
        UseLane { target: &self.sum.target, array: self.array, lane }.block(body)
    }

    /// A cell is combined with the one so much further on.
    pub(crate) fn halved(&self, at: Index, half: i64) -> Stmt {
        let other = Index::Add(Box::new(at.clone()), Box::new(Index::Const(half)));
        let value = Expr::load(self.array, vec![other], self.sum.ty);
        let target = Target::Cell { array: self.array, index: vec![at] };
        Stmt::Update { target, op: self.sum.op, value }
    }

    /// What is left is combined with the target, if it exists.
    pub(crate) fn handed_on(&self) -> Stmt {
        let value = Expr::load(self.array, vec![Index::Const(0)], self.sum.ty);
        let update = Stmt::Update { target: self.sum.target.clone(), op: self.sum.op, value };
        match self.sum.conditions.as_slice() {
            [] => update,
            conditions => Stmt::If { cond: Cond::And(conditions.to_vec()), then: vec![update], otherwise: Vec::new() },
        }
    }
}

/// Puts the cell of the lane in the place of a target.
struct UseLane<'a> {
    target: &'a Target,
    array: ArrayId,
    lane: &'a Index,
}

impl Rewrite for UseLane<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Update { target, op, value } if target == *self.target => {
                let target = Target::Cell { array: self.array, index: vec![self.lane.clone()] };
                Stmt::Update { target, op, value }
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}
