//! Lanes that stay together: loops inside of a vector loop whose ranges depend on the lane.
//!
//! In: a vector loop, such as that of a tile that a diagonal cuts.  Out: the same work in lockstep. The loops inside run over a range
//! that all lanes share, and a condition, which is a mask, keeps each lane to its own part of it. Where no lane's range is cut, which is
//! asked once and outside, there is no condition.

use crate::concurrent::Varying;
use crate::copy::copy;
use crate::walk::{Rewrite, Substitute, Visit};
use crate::{Cond, Expr, For, Index, Stmt, VarId, runs_in_lockstep, writes_one_cell};
use index::{CompareOp, constant_difference, extremum_operands, simplify_index};

/// A vector loop whose lanes stay together, for full and for cut ranges; none if the lanes cannot. `names` is the kernel's table of
/// loop variables.
pub fn keep_together(f: &For, names: &mut Vec<String>) -> Option<Stmt> {
    let mut cuts = Cuts { lanes: f, varying: Varying::with(f.var), whole: Vec::new(), possible: true };
    cuts.block(&f.body);
    if !cuts.possible || cuts.whole.is_empty() {
        return None;
    }
    let whole = std::mem::take(&mut cuts.whole);
    let spread = |guarded: bool, body: Vec<Stmt>| Spread { var: f.var, guarded }.block(body);
    let full = For { body: spread(false, f.body.clone()), ..f.clone() };
    let cut = Stmt::For(For { body: spread(true, f.body.clone()), ..f.clone() });
    // Lanes that would all write one cell never have all that they share: their ranges lie apart.
    if !runs_in_lockstep(&full) || writes_one_cell(&full, &[]) {
        return None;
    }
    let otherwise = copy(&[cut], names);
    Some(Stmt::If { cond: Cond::And(whole), then: vec![Stmt::For(full)], otherwise })
}

/// The ends of a range: those that all lanes share, and those that depend on the lane.
struct Ends {
    shared: Vec<Index>,
    own: Vec<Index>,
}

impl Ends {
    fn of(end: &Index, largest: bool, var: VarId) -> Ends {
        let (own, shared) = extremum_operands(end, largest).into_iter().partition(|operand| operand.uses(var));
        Ends { shared, own }
    }

    /// The end that all lanes share.
    fn together(&self, largest: bool) -> Option<Index> {
        let of = |one: Index, two: &Index| match largest {
            true => Index::Max(Box::new(one), Box::new(two.clone())),
            false => Index::Min(Box::new(one), Box::new(two.clone())),
        };
        let (first, others) = self.shared.split_first()?;
        Some(others.iter().fold(first.clone(), of))
    }
}

/// Finds the loops that the lanes run over different ranges, and when they do not.
struct Cuts<'a> {
    lanes: &'a For,
    varying: Varying,
    /// What holds if all lanes run over all that they share.
    whole: Vec<Cond>,
    possible: bool,
}

impl Cuts<'_> {
    /// The largest or smallest value of an end over all lanes.
    fn extreme(&self, end: &Index, largest: bool) -> Option<Index> {
        let var = self.lanes.var;
        let at = |value: &Index| simplify_index(&Substitute { var, with: value }.index(end.clone()));
        let next = at(&Index::Add(Box::new(Index::Var(var)), Box::new(Index::Const(1))));
        let grows = constant_difference(&next, end)? > 0;
        let last = Index::Sub(Box::new(self.lanes.hi.clone()), Box::new(Index::Const(1)));
        Some(if grows == largest { at(&last) } else { at(&self.lanes.lo) })
    }

    fn range(&mut self, f: &For) -> Option<()> {
        let (los, his) = (Ends::of(&f.lo, true, self.lanes.var), Ends::of(&f.hi, false, self.lanes.var));
        let (lo, hi) = (los.together(true)?, his.together(false)?);
        // With a larger step the iterations would be others if the loop began elsewhere.
        if f.step != 1 && !los.own.is_empty() {
            return None;
        }
        // A window that moves with the lane is short, and what all lanes share need not be.
        if los.own.iter().any(|lo| his.own.iter().any(|hi| constant_difference(hi, lo).is_some())) {
            return None;
        }
        for own in &los.own {
            let latest = self.extreme(own, true)?;
            self.whole.push(Cond::Compare(CompareOp::Le, latest, lo.clone()));
        }
        for own in &his.own {
            let earliest = self.extreme(own, false)?;
            self.whole.push(Cond::Compare(CompareOp::Ge, earliest, hi.clone()));
        }
        Some(())
    }
}

impl Visit for Cuts<'_> {
    // Only loops decide.
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::For(f) = stmt
            && self.varying.any([&f.lo, &f.hi])
        {
            // What a loop inside counts is the same for all lanes once its range is.
            let used = crate::VarsUsed::of_indices([&f.lo, &f.hi]);
            self.possible &= used.contains(&self.lanes.var) && f.kind.is_ordered() && self.range(f).is_some();
        }
        self.descend_stmt(stmt);
    }
}

/// Lets loops run over what all lanes share.
struct Spread {
    var: VarId,
    /// Whether each lane still has to keep to its own part.
    guarded: bool,
}

impl Rewrite for Spread {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let mut f = match self.descend_stmt(stmt) {
            Stmt::For(f) => f,
            stmt => return vec![stmt],
        };
        let (los, his) = (Ends::of(&f.lo, true, self.var), Ends::of(&f.hi, false, self.var));
        let (Some(lo), Some(hi)) = (los.together(true), his.together(false)) else { return vec![Stmt::For(f)] };
        if los.own.is_empty() && his.own.is_empty() {
            return vec![Stmt::For(f)];
        }
        if self.guarded {
            let own = Index::Var(f.var);
            let after = los.own.iter().map(|lo| Cond::Compare(CompareOp::Le, lo.clone(), own.clone()));
            let before = his.own.iter().map(|hi| Cond::Compare(CompareOp::Lt, own.clone(), hi.clone()));
            let cond = Cond::And(after.chain(before).collect());
            f.body = vec![Stmt::If { cond, then: f.body, otherwise: Vec::new() }];
        }
        (f.lo, f.hi) = (lo, hi);
        vec![Stmt::For(f)]
    }
}
