//! Rebasing: a loop starts where its subscripts are simplest.
//!
//! In: a kernel with normalised index arithmetic (`simplify`).  Out: one in which `for c1 in c0 + N..c0 + 2 * N` with
//! subscripts `c1 - c0 - N` has become `for c1 in 0..N` with subscripts `c1`.
//! Fusion and skewing leave such loops behind: all statements of a loop share one variable, and what shifts them
//! against each other goes into bounds and subscripts.

use crate::walk::{Rewrite, Substitute, VarsBound, VarsUsed, Visit};
use crate::{Cond, For, Index, Kernel, Stmt, Target, VarId};
use index::{offset_of, simplify_cond, simplify_index};

/// Shifts loops where that makes their index arithmetic smaller and their start no harder to compute.
pub fn rebase(mut kernel: Kernel) -> Kernel {
    kernel.body = Rebase.block(kernel.body);
    kernel
}

struct Rebase;

impl Rewrite for Rebase {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::For(found) => {
                let found = rebase_loop(found);
                Stmt::For(For { body: self.block(found.body), ..found })
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}

/// Tries the offsets at which the body uses the variable, and takes the best.
fn rebase_loop(found: For) -> For {
    let mut offsets = Offsets { var: found.var, found: Vec::new() };
    offsets.block(&found.body);
    let inside: Vec<VarId> = found.body.iter().flat_map(VarsBound::of).collect();
    offsets.found.retain(|offset| VarsUsed::of_indices([offset]).iter().all(|var| !inside.contains(var)));
    let start = weight(&found.lo);
    let mut best = (total(&found), found.clone());
    for offset in offsets.found {
        if weight(&less(&found.lo, &offset)) > start {
            continue;
        }
        let shifted = shift(found.clone(), &offset);
        let shifted = (total(&shifted), shifted);
        if shifted.0 < best.0 {
            best = shifted;
        }
    }
    best.1
}

/// The loop with `var` in the place of `var - offset`.
fn shift(found: For, offset: &Index) -> For {
    let with = Index::Add(Box::new(Index::Var(found.var)), Box::new(offset.clone()));
    let body = Shift { var: found.var, with: &with }.block(found.body);
    For { lo: less(&found.lo, offset), hi: less(&found.hi, offset), body, ..found }
}

fn less(index: &Index, offset: &Index) -> Index {
    simplify_index(&Index::Sub(Box::new(index.clone()), Box::new(offset.clone())))
}

/// Puts something in the place of a variable, and what uses it into normal form again; the rest is in it.
struct Shift<'a> {
    var: VarId,
    with: &'a Index,
}

impl Rewrite for Shift<'_> {
    fn index(&mut self, index: Index) -> Index {
        if !index.uses(self.var) {
            return index;
        }
        simplify_index(&Substitute { var: self.var, with: self.with }.index(index))
    }

    fn cond(&mut self, cond: Cond) -> Cond {
        if !VarsUsed::of_cond(&cond).contains(&self.var) {
            return cond;
        }
        simplify_cond(&Substitute { var: self.var, with: self.with }.cond(cond))
    }
}

/// What a variable less a constant is compared with in subscripts: `x` for `var - x + 3`. At most a few.
struct Offsets {
    var: VarId,
    found: Vec<Index>,
}

impl Visit for Offsets {
    fn index(&mut self, index: &Index) {
        const MOST: usize = 4;
        if let Some(offset) = offset_of(index, self.var)
            && self.found.len() < MOST
            && !self.found.contains(&offset)
        {
            self.found.push(offset);
        }
        self.descend_index(index);
    }
}

/// How much index arithmetic there is in an expression; constants are free.
fn weight(index: &Index) -> usize {
    let mut weight = Weight(0);
    weight.index(index);
    weight.0
}

/// How much index arithmetic there is in a loop.
fn total(found: &For) -> usize {
    let mut weight = Weight(0);
    weight.index(&found.lo);
    weight.index(&found.hi);
    weight.block(&found.body);
    weight.0
}

struct Weight(usize);

impl Visit for Weight {
    fn stmt(&mut self, stmt: &Stmt) {
        // What an update changes is read and written.
        if let Stmt::Update { target: Target::Cell { index, .. }, .. } = stmt {
            index.iter().for_each(|index| self.index(index));
        }
        self.descend_stmt(stmt);
    }

    fn index(&mut self, index: &Index) {
        match index {
            Index::Const(_) | Index::Add(..) | Index::Sub(..) => {}
            _ => self.0 += 1,
        }
        self.descend_index(index);
    }
}
