//! Unrolling: loops that are to be written out, written out.
//!
//! In: a kernel with `unroll` loops.  Out: one in which those of a constant, small number of iterations are copies of their
//! bodies; the others are serial loops. A loop that only the last tile cuts short, `lo..min(N, lo + 8)`, is written out for
//! full tiles, and apart from them for the last one: the condition that tells them apart stands outside of all the loops
//! that do not change it, so hot loops have none. A loop along which full tiles become cut ones, as at a diagonal, is divided there.

use crate::concurrent::only_iteration;
use crate::copy::copy;
use crate::walk::{Rewrite, Substitute, VarsBound, VarsUsed, Visit};
use crate::{Cond, Expr, For, Index, Kernel, LoopKind, Stmt};
use index::{CompareOp, constant_difference, extremum_operands, linear, simplify_index};

/// Loops of more iterations are not written out.
const MAX_TRIPS: i64 = 64;
/// Once a kernel has this many copies of statements and of the parts of their values, further loops stay loops.
const MAX_NODES: usize = 1 << 16;

/// Writes out the loops that are marked so.
pub fn unroll(mut kernel: Kernel) -> Kernel {
    let mut unroll = Unroll { names: std::mem::take(&mut kernel.vars), nodes: 0, lanes: false };
    kernel.body = unroll.block(kernel.body);
    kernel.vars = unroll.names;
    crate::simplify(kernel)
}

struct Unroll {
    names: Vec<String>,
    /// How much has been copied.
    nodes: usize,
    /// Inside of a vector loop.
    lanes: bool,
}

impl Rewrite for Unroll {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        if let Some(tile) = self.room_for(0, 1).then(|| Tile::first_in(&stmt)).flatten() {
            return vec![self.apart(stmt, &tile)];
        }
        let Stmt::For(f) = stmt else { return vec![self.descend_stmt(stmt)] };
        if let Some(turn) = self.room_for(0, 1).then(|| Turn::in_loop(&f)).flatten() {
            return self.divided(f, &turn);
        }
        if f.kind != LoopKind::Unrolled {
            let outside = self.lanes;
            self.lanes |= f.kind.is_vector();
            let stmt = self.descend_stmt(Stmt::For(f));
            self.lanes = outside;
            return vec![stmt];
        }
        let size = Size::of(&f.body);
        match trips(&f).filter(|trips| *trips <= MAX_TRIPS && self.room_for(size, *trips)) {
            None => {
                let body = self.block(f.body);
                vec![Stmt::For(For { kind: LoopKind::Serial, body, ..f })]
            }
            Some(trips) => {
                let copies = (0..trips).flat_map(|trip| {
                    self.nodes += size;
                    let offset = Index::Const(trip.wrapping_mul(f.step));
                    let value = simplify_index(&Index::Add(Box::new(f.lo.clone()), Box::new(offset)));
                    let body = copy(&f.body, &mut self.names);
                    Substitute { var: f.var, with: &value }.block(only_iteration(f.kind.clone(), body))
                });
                let copies: Vec<Stmt> = copies.collect();
                // Bounds of loops inside may be constants now.
                self.block(copies)
            }
        }
    }
}

impl Unroll {
    fn room_for(&self, size: usize, copies: i64) -> bool {
        let copied = usize::try_from(copies).unwrap_or(usize::MAX).saturating_mul(size);
        self.nodes.saturating_add(copied) < MAX_NODES
    }

    /// A statement for full tiles, and a copy of it for the last one.
    fn apart(&mut self, stmt: Stmt, tile: &Tile) -> Stmt {
        let last = copy(std::slice::from_ref(&stmt), &mut self.names);
        self.nodes += Size::of(&last);
        let full = SetTile { tile, full: true, lanes: self.lanes }.stmt(stmt);
        let last = SetTile { tile, full: false, lanes: self.lanes }.block(last);
        Stmt::If { cond: tile.is_full(), then: self.block(full), otherwise: self.block(last) }
    }
}

impl Unroll {
    /// A loop up to where its tiles turn from full to cut or from cut to full, and from there on.
    fn divided(&mut self, f: For, turn: &Turn) -> Vec<Stmt> {
        let cut = SetTile { tile: &turn.tile, full: false, lanes: self.lanes }.block(f.body.clone());
        let cut = copy(&[Stmt::For(For { body: cut, ..f.clone() })], &mut self.names);
        self.nodes += Size::of(&cut);
        let uncut = Stmt::For(For { body: Uncut { turn }.block(f.body.clone()), ..f });
        let (first, second) = if turn.full_first { (vec![uncut], cut) } else { (cut, vec![uncut]) };
        let at = || Box::new(turn.at.clone());
        let first = first.into_iter().map(|stmt| match stmt {
            Stmt::For(f) => Stmt::For(For { hi: simplify_index(&Index::Min(Box::new(f.hi.clone()), at())), ..f }),
            stmt => stmt,
        });
        let second = second.into_iter().map(|stmt| match stmt {
            Stmt::For(f) => Stmt::For(For { lo: simplify_index(&Index::Max(Box::new(f.lo.clone()), at())), ..f }),
            stmt => stmt,
        });
        let parts = first.chain(second).collect();
        self.block(parts)
    }
}

/// Where along a loop one bound of a tile in it begins or ceases to cut the tile short.
struct Turn {
    tile: Tile,
    /// The bound, which moves with the loop.
    bound: Index,
    /// The first iteration behind the turn.
    at: Index,
    /// Whether tiles are full before it, as far as this bound goes, or behind it.
    full_first: bool,
}

impl Turn {
    /// Of a loop whose tiles depend on it and on nothing else that changes in it.
    fn in_loop(f: &For) -> Option<Turn> {
        if f.kind != LoopKind::Serial || f.step != 1 {
            return None;
        }
        let mut tiles = Vec::new();
        f.body.iter().for_each(|stmt| tiles_in_stmt(stmt, &mut tiles));
        let inner: Vec<_> = f.body.iter().flat_map(VarsBound::of).collect();
        let settled = |tile: &Tile| !VarsUsed::of_indices([&tile.lo, &tile.hi]).iter().any(|var| inner.contains(var));
        tiles.into_iter().filter(settled).find_map(|tile| Turn::of(f, tile))
    }

    fn of(f: &For, tile: Tile) -> Option<Turn> {
        let moves = |index: &&Index| index.uses(f.var);
        let (first, end) = &tile.whole;
        let (los, his) = &tile.cuts;
        let mut moving = los.iter().map(|lo| (lo, true)).chain(his.iter().map(|hi| (hi, false)));
        let (bound, is_low) = moving.clone().find(|(bound, _)| moves(bound))?;
        let alone = moving.by_ref().filter(|(bound, _)| moves(bound)).count() == 1;
        if !alone || moves(&first) || moves(&end) || linear(bound)?.coefficient(f.var) != Some(1) {
            return None;
        }
        // Full are the tiles with `bound <= first`, or with `end <= bound`.
        let edge = if is_low { first } else { end };
        let apart = Index::Sub(Box::new(edge.clone()), Box::new(bound.clone()));
        let at = Index::Add(Box::new(Index::Var(f.var)), Box::new(apart));
        let at = Index::Add(Box::new(at), Box::new(Index::Const(i64::from(is_low))));
        let at = simplify_index(&at);
        let bound = bound.clone();
        (!at.uses(f.var)).then_some(Turn { tile, bound, at, full_first: is_low })
    }
}

/// Takes a bound out of the ranges of tiles, where it cuts none.
struct Uncut<'a> {
    turn: &'a Turn,
}

impl Rewrite for Uncut<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(f) = stmt else { return vec![self.descend_stmt(stmt)] };
        let Turn { tile, bound, .. } = self.turn;
        let is_tile = tile.is(&f);
        let Stmt::For(mut f) = self.descend_stmt(Stmt::For(f)) else { return Vec::new() };
        if is_tile {
            let left = |cuts: &[Index]| -> Vec<Index> { cuts.iter().filter(|cut| *cut != bound).cloned().collect() };
            let max = |one: Index, two: Index| Index::Max(Box::new(one), Box::new(two));
            let min = |one: Index, two: Index| Index::Min(Box::new(one), Box::new(two));
            f.lo = left(&tile.cuts.0).into_iter().fold(tile.whole.0.clone(), max);
            f.hi = left(&tile.cuts.1).into_iter().fold(tile.whole.1.clone(), min);
        }
        vec![Stmt::For(f)]
    }
}

/// How many statements and parts of values there are.
#[derive(Default)]
struct Size(usize);

impl Size {
    fn of(stmts: &[Stmt]) -> usize {
        let mut size = Size::default();
        size.block(stmts);
        size.0
    }
}

impl Visit for Size {
    fn expr(&mut self, expr: &Expr) {
        self.0 += 1;
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.0 += 1;
        self.descend_stmt(stmt);
    }
}

/// The number of iterations, if the loop shows it.
fn trips(f: &For) -> Option<i64> {
    let length = constant_difference(&f.hi, &f.lo)?;
    Some(if length <= 0 { 0 } else { (length - 1) / f.step + 1 })
}

/// The range of a loop that is to be written out and has a constant length unless other bounds cut it short.
struct Tile {
    lo: Index,
    hi: Index,
    /// Where it begins and ends if nothing cuts it short.
    whole: (Index, Index),
    /// The bounds that can: it begins at the first or later, and ends at the second or before.
    cuts: (Vec<Index>, Vec<Index>),
}

impl Tile {
    /// Of one loop.
    fn of(f: &For) -> Option<Tile> {
        if f.kind != LoopKind::Unrolled || trips(f).is_some() {
            return None;
        }
        let (mut los, mut his) = (extremum_operands(&f.lo, true), extremum_operands(&f.hi, false));
        let mut best: Option<(i64, usize, usize)> = None;
        for (start, lo) in los.iter().enumerate() {
            for (end, hi) in his.iter().enumerate() {
                let length = constant_difference(hi, lo).filter(|length| *length > 0);
                best = best.into_iter().chain(length.map(|length| (length, start, end))).min();
            }
        }
        let (_, start, end) = best.filter(|(length, ..)| (length - 1) / f.step < MAX_TRIPS)?;
        // With a larger step the iterations would be others if the loop began elsewhere.
        if f.step != 1 && los.len() > 1 {
            return None;
        }
        let whole = (los.remove(start), his.remove(end));
        Some(Tile { lo: f.lo.clone(), hi: f.hi.clone(), whole, cuts: (los, his) })
    }

    /// Of the first loop in a statement, itself included, whose range does not change inside of the statement.
    fn first_in(stmt: &Stmt) -> Option<Tile> {
        let Stmt::For(f) = stmt else { return None };
        let bound = VarsBound::of(stmt);
        let mut found = Vec::new();
        tiles_in(f, &mut found);
        let stays = |tile: &Tile| !VarsUsed::of_indices([&tile.lo, &tile.hi]).iter().any(|var| bound.contains(var));
        found.into_iter().find(stays)
    }

    /// Nothing cuts it short.
    fn is_full(&self) -> Cond {
        self.inside(&self.whole.0, CompareOp::Le, &self.whole.1)
    }

    /// A value is in the range, besides the bounds of the whole.
    fn has(&self, value: &Index) -> Cond {
        self.inside(value, CompareOp::Lt, value)
    }

    fn inside(&self, first: &Index, ends: CompareOp, last: &Index) -> Cond {
        let (los, his) = &self.cuts;
        let los = los.iter().map(|lo| Cond::Compare(CompareOp::Le, lo.clone(), first.clone()));
        let his = his.iter().map(|hi| Cond::Compare(ends, last.clone(), hi.clone()));
        Cond::And(los.chain(his).collect())
    }

    fn is(&self, f: &For) -> bool {
        f.kind == LoopKind::Unrolled && f.lo == self.lo && f.hi == self.hi
    }
}

/// Ranges that full and last tiles share, of a loop and those in it; iterations of parallel loops stay together.
fn tiles_in(f: &For, found: &mut Vec<Tile>) {
    if f.kind.is_parallel() {
        return;
    }
    found.extend(Tile::of(f));
    f.body.iter().for_each(|stmt| tiles_in_stmt(stmt, found));
}

fn tiles_in_stmt(stmt: &Stmt, found: &mut Vec<Tile>) {
    match stmt {
        Stmt::For(inner) => tiles_in(inner, found),
        Stmt::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).for_each(|stmt| tiles_in_stmt(stmt, found));
        }
        Stmt::Alloc { body, .. } => body.iter().for_each(|stmt| tiles_in_stmt(stmt, found)),
        _ => {}
    }
}

/// Makes the loops over a tile those of a full one, or of the last.
struct SetTile<'a> {
    tile: &'a Tile,
    full: bool,
    lanes: bool,
}

impl Rewrite for SetTile<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(f) = stmt else { return vec![self.descend_stmt(stmt)] };
        let outside = self.lanes;
        self.lanes |= f.kind.is_vector();
        let is_tile = self.tile.is(&f);
        let Stmt::For(mut f) = self.descend_stmt(Stmt::For(f)) else { return Vec::new() };
        self.lanes = outside;
        if is_tile && self.full {
            (f.lo, f.hi) = self.tile.whole.clone();
        } else if is_tile && self.lanes {
            // Lanes keep in registers what they accumulate only if they see each cell, so there is a copy for each iteration
            // that may be.
            let cond = self.tile.has(&Index::Var(f.var));
            f.body = vec![Stmt::If { cond, then: f.body, otherwise: Vec::new() }];
            (f.lo, f.hi) = self.tile.whole.clone();
        } else if is_tile {
            f.kind = LoopKind::Serial;
            if let (true, [end]) = (self.tile.cuts.0.is_empty(), self.tile.cuts.1.as_slice()) {
                f.hi = end.clone();
            }
        }
        vec![Stmt::For(f)]
    }
}
