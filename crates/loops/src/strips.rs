//! Strips of lanes: one vector loop instead of a loop over vector loops.
//!
//! In: `for t in a..b { vector(n) for i in n * t..min(N, n * t + n) { … } }`, where nothing else uses `t`.  Out:
//! `vector(n) for i in n * a..min(N, n * b) { … }`. A vector loop runs in groups of `n` from its first iteration on, so the same
//! iterations run in lockstep, group after group as before. What lanes have in common is then combined once, after the last group.

use crate::walk::{Rewrite, Visit};
use crate::{For, Index, Kernel, LoopKind, Stmt, VarId};
use index::{constant_difference, extremum_operands, simplify_index};

/// Makes one loop of a loop over strips.
pub fn strips(mut kernel: Kernel) -> Kernel {
    kernel.body = Strips.block(kernel.body);
    kernel
}

struct Strips;

impl Rewrite for Strips {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match self.descend_stmt(stmt) {
            Stmt::For(strips) => Stmt::For(joined(&strips).unwrap_or(strips)),
            stmt => stmt,
        }]
    }
}

/// The loop over all strips at once.
fn joined(strips: &For) -> Option<For> {
    let (LoopKind::Serial, 1, [Stmt::For(strip)]) = (&strips.kind, strips.step, strips.body.as_slice()) else {
        return None;
    };
    let (&LoopKind::Vector(lanes), 1) = (&strip.kind, strip.step) else { return None };
    let lanes = i64::from(lanes);
    let times = |index: &Index| Index::Mul(Box::new(index.clone()), lanes);
    let start = times(&Index::Var(strips.var));
    let mut ends = extremum_operands(&strip.hi, false);
    let own = ends.iter().position(|end| constant_difference(end, &start) == Some(lanes))?;
    ends.remove(own);
    let used = Uses::of(strips.var, &strip.body) || ends.iter().any(|end| end.uses(strips.var));
    if constant_difference(&strip.lo, &start) != Some(0) || used {
        return None;
    }
    for end in extremum_operands(&strips.hi, false) {
        // The number of strips that reach an end needs no end of its own.
        let known = |bound: &Index| {
            let strips = Index::Add(Box::new(bound.clone()), Box::new(Index::Const(lanes - 1)));
            constant_difference(&Index::FloorDiv(Box::new(strips), lanes), &end) == Some(0)
        };
        if !ends.iter().any(known) {
            ends.push(times(&end));
        }
    }
    let hi = ends.into_iter().reduce(|a, b| Index::Min(Box::new(a), Box::new(b)))?;
    Some(For { lo: simplify_index(&times(&strips.lo)), hi: simplify_index(&hi), ..strip.clone() })
}

/// Whether statements use a variable.
struct Uses {
    var: VarId,
    found: bool,
}

impl Uses {
    fn of(var: VarId, stmts: &[Stmt]) -> bool {
        let mut uses = Uses { var, found: false };
        uses.block(stmts);
        uses.found
    }
}

impl Visit for Uses {
    fn index(&mut self, index: &Index) {
        self.found |= index.uses(self.var);
    }
}
