//! Index arithmetic in front of loops: addresses, and parts of them, that a loop does not change are computed once, and those
//! that it moves by the same distance in each iteration are moved.

use loops::{
    ArrayId, Expr, ExprKind, For, Index, Rewrite, Scoped, Stmt, Substitute, Target, VarId, VarsBound, VarsUsed, Visit,
};

use super::Emit;
use super::body::{Emitter, Place};
use super::reuse::Moving;
use crate::ir::{BinaryOp, Operand, Reg, TernaryOp, Type};

/// The most addresses that a loop moves: each is a register or two.
const MAX_POINTERS: usize = 8;

/// An address that a loop moves.
#[derive(Debug)]
pub(super) struct Pointer {
    /// Of what.
    pub(super) moving: Moving,
    pub(super) at: Reg,
    /// Bytes from one iteration to the next.
    pub(super) by: Operand,
}

impl Emitter<'_> {
    /// Computes what the accesses of a loop have in common in all its iterations; the loop then finds it done (`reuse`).
    pub(super) fn prepare(&mut self, each: &For) -> Emit<Vec<Pointer>> {
        let mut bound = vec![each.var];
        each.body.iter().for_each(|stmt| bound.extend(VarsBound::of(stmt)));
        let mut accesses = Accesses { scoped: Scoped::of(&each.body), found: Vec::new() };
        accesses.block(&each.body);
        let mut pointers: Vec<Pointer> = Vec::new();
        for (array, index) in accesses.found {
            if !matches!(self.arrays.get(array.index()), Some(Place::Memory { .. })) {
                continue;
            }
            if is_outside(&VarsUsed::of_indices(&index), &bound) {
                self.cell(array, &index)?;
                continue;
            }
            let inside = bound.get(1..).unwrap_or(&[]);
            if is_outside(&VarsUsed::of_indices(&index), inside) && self.point(each, array, &index, &mut pointers)? {
                continue;
            }
            for subscript in &index {
                if let (Some(rest), _) = self.parted(subscript) {
                    self.prepare_index(&rest, &bound)?;
                }
            }
        }
        Ok(pointers)
    }

    /// Puts the first address of an access that the loop moves evenly among the pointers; whether it is one.
    fn point(&mut self, each: &For, array: ArrayId, index: &[Index], pointers: &mut Vec<Pointer>) -> Emit<bool> {
        let Some(Place::Memory { base, extents, bytes, .. }) = self.arrays.get(array.index()).cloned() else {
            return Ok(false);
        };
        let Some((parts, _)) = self.split(index, &extents) else { return Ok(false) };
        let moving: Moving = (array, parts.iter().map(|(rest, _)| rest.clone()).collect());
        if pointers.iter().any(|known| known.moving == moving) {
            return Ok(true);
        }
        let slope = |(rest, _): &(Option<Index>, i64)| rest.as_ref().map_or(Some(0), |rest| slope(rest, each.var));
        let slopes: Option<Vec<i64>> = parts.iter().map(slope).collect();
        let Some(slopes) = slopes.filter(|_| pointers.len() < MAX_POINTERS) else { return Ok(false) };
        let mut distance = Operand::Int(0);
        for (slope, extent) in slopes.iter().zip(&extents) {
            distance = match (distance, extent) {
                (Operand::Int(0), _) => Operand::Int(*slope),
                (Operand::Int(known), Operand::Int(extent)) => {
                    let Some(sum) = known.checked_mul(*extent).and_then(|known| known.checked_add(*slope)) else {
                        return Ok(false);
                    };
                    Operand::Int(sum)
                }
                (distance, extent) => self.b.mad(TernaryOp::MadLo, Type::S64, distance, *extent, *slope).into(),
            };
        }
        let Some(step) = each.step.checked_mul(bytes) else { return Ok(false) };
        let by = match distance {
            Operand::Int(distance) => match distance.checked_mul(step) {
                Some(by) => Operand::Int(by),
                None => return Ok(false),
            },
            distance => self.b.binary(BinaryOp::MulLo, Type::S64, distance, step).into(),
        };
        let mut start = Substitute { var: each.var, with: &each.lo };
        let first: Vec<_> = parts.iter().map(|(rest, _)| (rest.clone().map(|rest| start.index(rest)), 0)).collect();
        let first = self.moving(base, bytes, &first, &extents)?;
        let at = self.b.mov(Type::S64, first);
        self.align(at, base, (array, bytes), &parts, &extents);
        pointers.push(Pointer { moving, at, by });
        Ok(true)
    }

    /// The largest parts of an index that do not change.
    fn prepare_index(&mut self, index: &Index, bound: &[VarId]) -> Emit<()> {
        if is_outside(&VarsUsed::of_indices([index]), bound) {
            self.index(index)?;
            return Ok(());
        }
        match index {
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.prepare_index(a, bound)?;
                self.prepare_index(b, bound)
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => self.prepare_index(a, bound),
            Index::Const(_) | Index::Param(_) | Index::Var(_) | Index::Select(..) => Ok(()),
        }
    }
}

/// By how much an index grows with a variable; none if that changes.
fn slope(index: &Index, var: VarId) -> Option<i64> {
    match index {
        Index::Var(used) => Some(i64::from(*used == var)),
        Index::Add(a, b) => slope(a, var)?.checked_add(slope(b, var)?),
        Index::Sub(a, b) => slope(a, var)?.checked_sub(slope(b, var)?),
        Index::Mul(a, factor) => slope(a, var)?.checked_mul(*factor),
        other => (!other.uses(var)).then_some(0),
    }
}

fn is_outside(used: &[VarId], bound: &[VarId]) -> bool {
    used.iter().all(|var| !bound.contains(var))
}

/// The accesses to arrays of the kernel, each once.
struct Accesses {
    /// Arrays that are there only inside.
    scoped: Vec<ArrayId>,
    found: Vec<(ArrayId, Vec<Index>)>,
}

impl Accesses {
    fn access(&mut self, array: ArrayId, index: &[Index]) {
        let known = self.found.iter().any(|(other, known)| *other == array && known == index);
        if !known && !self.scoped.contains(&array) {
            self.found.push((array, index.to_vec()));
        }
    }
}

impl Visit for Accesses {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, index } = &expr.kind {
            self.access(*array, index);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Store { array, index, .. } | Stmt::Update { target: Target::Cell { array, index }, .. } = stmt {
            self.access(*array, index);
        }
        self.descend_stmt(stmt);
    }
}
