//! Which thread touches a cell: do two accesses to one cell come from the same thread?

use crate::quotient::Range;
use crate::walk::Visit;
use crate::{ArrayId, Expr, ExprKind, Index, Stmt, Target, VarId};
use index::{Linear, linear};

use super::Nest;
use super::phases::Phases;

/// Which threads along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Each for its own place.
    Own,
    /// The first.
    First,
    /// All of them do the same.
    Any,
}

/// One access of a phase.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Access {
    pub(super) array: ArrayId,
    write: bool,
    /// The nest of loops over threads in which it is, and who it is along each axis.
    nest: Option<usize>,
    owners: [Owner; 3],
    /// One for each subscript; none where it is not known well enough.
    subscripts: Vec<Option<Subscript>>,
    /// Loops around that may have gone on since.
    loose: Vec<VarId>,
}

/// A value from `base + least` to `base + most`.
#[derive(Clone, Debug, PartialEq)]
struct Subscript {
    base: Linear,
    least: i64,
    most: i64,
}

impl Access {
    /// The access as it is seen from outside of a loop.
    pub(super) fn leaving(mut self, var: VarId) -> Access {
        self.loose.push(var);
        self
    }

    /// Whether another thread may touch the same cell by the other access, one of them writing. `apart` are loops of which the two
    /// may be in different iterations.
    pub(super) fn conflicts(&self, other: &Access, apart: &[VarId], phases: &Phases) -> bool {
        if self.array != other.array || !self.write && !other.write {
            return false;
        }
        let loose: Vec<VarId> = [apart, &self.loose, &other.loose].concat();
        let both = self.subscripts.iter().zip(&other.subscripts);
        let pairs = || both.clone().filter_map(|(one, two)| one.as_ref().zip(two.as_ref()));
        if pairs().any(|(one, two)| are_apart(one, two, &loose, phases).unwrap_or(false)) {
            return false;
        }
        // Threads are numbered in each nest anew.
        if self.nest != other.nest {
            return true;
        }
        let Some(nest) = self.nest.and_then(|nest| phases.nests.get(nest)) else {
            return [self.owners, other.owners].concat().contains(&Owner::Any);
        };
        !(0..3).filter(|axis| nest.extents[*axis] > 1).all(|axis| match (self.owners[axis], other.owners[axis]) {
            (Owner::First, Owner::First) => true,
            (Owner::Own, Owner::Own) => {
                pairs().any(|(one, two)| determine(one, two, axis, &loose, nest).unwrap_or(false))
            }
            _ => false,
        })
    }
}

/// Whether two subscripts are never equal, whichever threads they are of.
fn are_apart(one: &Subscript, two: &Subscript, loose: &[VarId], phases: &Phases) -> Option<bool> {
    let (one, two) = (one.of_all(phases)?, two.of_all(phases)?);
    if loose.iter().any(|var| !one.is_without(*var) || !two.is_without(*var)) {
        return Some(false);
    }
    let distance = one.base.clone().add_scaled(&two.base, -1)?.as_constant()?;
    let (least, most) = (one.least.checked_sub(two.most)?, one.most.checked_sub(two.least)?);
    Some(distance.checked_add(least)? > 0 || distance.checked_add(most)? < 0)
}

impl Subscript {
    /// The values that all threads together have.
    fn of_all(&self, phases: &Phases) -> Option<Subscript> {
        let mut all = self.clone();
        for nest in &phases.nests {
            for (place, extent) in nest.places.iter().zip(nest.extents) {
                let moves = all.base.coefficient(*place).unwrap_or(0).checked_mul(extent - 1)?;
                all.least = all.least.checked_add(moves.min(0))?;
                all.most = all.most.checked_add(moves.max(0))?;
                all.base = all.base.replace(*place, &Linear::constant(0))?;
            }
        }
        Some(all)
    }

    fn is_without(&self, var: VarId) -> bool {
        self.base.replace(var, &Linear::constant(0)).as_ref() == Some(&self.base)
    }
}

/// Whether two subscripts can only be equal at the same place along an axis.
fn determine(one: &Subscript, two: &Subscript, axis: usize, loose: &[VarId], nest: &Nest) -> Option<bool> {
    let place = nest.places[axis];
    let by = one.base.coefficient(place)?;
    if two.base.coefficient(place)? != by {
        return Some(false);
    }
    let zero = Linear::constant(0);
    let (mut least, mut most) = (one.least.checked_sub(two.most)?, one.most.checked_sub(two.least)?);
    let mut bases = [one.base.replace(place, &zero)?, two.base.replace(place, &zero)?];
    for (number, (other, extent)) in nest.places.iter().zip(nest.extents).enumerate() {
        if number == axis {
            continue;
        }
        // The two may be at different places along the other axes.
        for (base, sign) in bases.iter_mut().zip([1i64, -1]) {
            let moves = base.coefficient(*other).unwrap_or(0).checked_mul(sign)?.checked_mul(extent - 1)?;
            least = least.checked_add(moves.min(0))?;
            most = most.checked_add(moves.max(0))?;
            *base = base.replace(*other, &zero)?;
        }
    }
    // Whatever the values of what is left, among them the iterations of loose loops that each of the two is in, these move them apart by
    // multiples of this.
    let mut loops = 0i64;
    for var in loose {
        for base in &mut bases {
            loops = gcd(loops, base.coefficient(*var).unwrap_or(0));
            *base = base.replace(*var, &zero)?;
        }
    }
    let [one, two] = bases;
    let (distance, rest) = one.add_scaled(&two, -1)?.residue();
    let loops = gcd(loops, rest);
    let (least, most) = (distance.checked_add(least)?, distance.checked_add(most)?);
    // Two different places are `n` apart, 1 <= n < extent, in either direction.
    for places in 1..extent_of(nest, axis) {
        let moved = by.checked_mul(places)?;
        for moved in [moved, -moved] {
            if holds_multiple(least.checked_add(moved)?, most.checked_add(moved)?, loops) {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Whether a multiple of `of` is among the numbers from `least` to `most`; of zero, whether zero is.
fn holds_multiple(least: i64, most: i64, of: i64) -> bool {
    if of == 0 { least <= 0 && 0 <= most } else { most.div_euclid(of).saturating_mul(of) >= least }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

fn extent_of(nest: &Nest, axis: usize) -> i64 {
    nest.extents.get(axis).copied().unwrap_or(1)
}

/// What a statement touches, done by these threads.
pub(super) fn accesses(stmt: &Stmt, (nest, owners): (Option<usize>, [Owner; 3])) -> Vec<Access> {
    let mut collect = Collect { nest, owners, inner: Vec::new(), scoped: Vec::new(), found: Vec::new() };
    collect.stmt(stmt);
    collect.found
}

struct Collect {
    nest: Option<usize>,
    owners: [Owner; 3],
    /// Loops inside of the statement.
    inner: Vec<Range>,
    /// Arrays that belong to it.
    scoped: Vec<ArrayId>,
    found: Vec<Access>,
}

impl Collect {
    fn access(&mut self, array: ArrayId, write: bool, subscripts: Vec<Option<Subscript>>) {
        let access = Access { array, write, nest: self.nest, owners: self.owners, subscripts, loose: Vec::new() };
        if !self.scoped.contains(&array) && !self.found.contains(&access) {
            self.found.push(access);
        }
    }

    fn known(&mut self, array: ArrayId, write: bool, index: &[Index]) {
        let subscripts = index.iter().map(|index| self.subscript(index)).collect();
        self.access(array, write, subscripts);
    }

    /// The values of a subscript while the loops inside run.
    fn subscript(&self, index: &Index) -> Option<Subscript> {
        let (mut base, mut least, mut most) = (linear(index)?, 0i64, 0i64);
        for range in self.inner.iter().rev() {
            let Some(by) = base.coefficient(range.var) else {
                // It may still hide in a quotient.
                base = base.replace(range.var, &Linear::constant(0))?;
                continue;
            };
            let (low, width) = range.first_and_width()?;
            let moves = by.checked_mul(width)?;
            least = least.checked_add(moves.min(0))?;
            most = most.checked_add(moves.max(0))?;
            base = base.replace(range.var, low)?;
        }
        Some(Subscript { base, least, most })
    }
}

impl Visit for Collect {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.known(*array, false, index),
            ExprKind::Gather { array, .. } => self.access(*array, false, Vec::new()),
            _ => {}
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => {
                self.inner.push(Range::of(f.var, &f.lo, &f.hi));
                self.descend_stmt(stmt);
                self.inner.pop();
                return;
            }
            Stmt::Alloc { array, .. } => self.scoped.push(*array),
            Stmt::Store { array, index, .. } => self.known(*array, true, index),
            Stmt::Update { target: Target::Cell { array, index }, .. } => self.known(*array, true, index),
            Stmt::Scatter { array, .. } => self.access(*array, true, Vec::new()),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}
