//! Takes out of loops what is the same in every iteration and takes long to make: roots, quotients, values of functions.
//!
//! In: a program.  Out: one with such values in front of the loops. Each then keeps a register for the whole loop, so what is made by a few
//! cheap operations stays where it is, and so does what is in memory, which may change, and what happens once at most.

use std::collections::{HashMap, HashSet};

use crate::lanes::ir::{BinaryOp, Loop, Op, Program, Stmt, Type, UnaryOp, ValueId};

/// From so many cheap operations on, a value is worth a register.
const WORTH: u32 = 4;
/// As many cheap operations as a root or a quotient takes.
const LONG: u32 = 8;

/// Whether anything was taken out of a loop of the program.
pub(super) fn take_out(program: &mut Program) -> bool {
    let mut once = HashSet::new();
    find_comparisons(&program.body, &mut once);
    let mut taking = Taking { types: &program.types, once, any: false };
    program.body = taking.block(std::mem::take(&mut program.body));
    taking.any
}

/// The words that are 0 or 1: a loop of so many turns is a condition.
fn find_comparisons(body: &[Stmt], found: &mut HashSet<ValueId>) {
    for stmt in body {
        match stmt {
            Stmt::Let(value, Op::Word(op, ..)) if op.is_comparison() => {
                found.insert(*value);
            }
            Stmt::Loop(r#loop) => find_comparisons(&r#loop.body, found),
            _ => {}
        }
    }
}

struct Taking<'a> {
    types: &'a [Type],
    once: HashSet<ValueId>,
    any: bool,
}

impl Taking<'_> {
    /// Inner loops come first, so that an outer one sees what they have put in front.
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut stmts = Vec::with_capacity(body.len());
        for stmt in body {
            let Stmt::Loop(mut r#loop) = stmt else {
                stmts.push(stmt);
                continue;
            };
            r#loop.body = self.block(r#loop.body);
            if !self.once.contains(&r#loop.trips) {
                let taken = self.unchanging(&r#loop);
                let (front, rest) = r#loop.body.into_iter().partition(|stmt| match stmt {
                    Stmt::Let(value, _) => taken.contains(value),
                    _ => false,
                });
                r#loop.body = rest;
                self.any |= !taken.is_empty();
                stmts.extend::<Vec<Stmt>>(front);
            }
            stmts.push(Stmt::Loop(r#loop));
        }
        stmts
    }

    /// The values of a loop's body that are worth being made in front of it, with all that they are made of.
    fn unchanging(&self, r#loop: &Loop) -> HashSet<ValueId> {
        let mut inside: HashSet<ValueId> = r#loop.carried.iter().map(|carried| carried.param).collect();
        defined(&r#loop.body, &mut inside);
        // How long those take that are the same in every iteration.
        let mut same: HashMap<ValueId, (u32, &Op)> = HashMap::new();
        for (value, op) in r#loop.body.iter().filter_map(Stmt::as_let) {
            let operands = op.operands();
            let known = |operand: &ValueId| !inside.contains(operand) || same.contains_key(operand);
            let Some(cost) = cost(op).filter(|_| self.is_lanes(value) && operands.iter().all(known)) else { continue };
            let before: u32 = operands.iter().filter_map(|operand| same.get(operand)).map(|(cost, _)| *cost).sum();
            same.insert(value, (cost.saturating_add(before), op));
        }
        let mut needed = Vec::new();
        for stmt in &r#loop.body {
            if stmt.as_let().is_none_or(|(value, _)| !same.contains_key(&value)) {
                reads(stmt, &mut needed);
            }
        }
        needed.extend(r#loop.carried.iter().map(|carried| carried.next));
        needed.retain(|value| same.get(value).is_some_and(|(cost, _)| *cost >= WORTH));
        let mut taken = HashSet::new();
        while let Some(value) = needed.pop() {
            if let Some((_, op)) = same.get(&value).filter(|_| taken.insert(value)) {
                needed.extend(op.operands());
            }
        }
        taken
    }

    fn is_lanes(&self, value: ValueId) -> bool {
        matches!(self.types[value.index()], Type::Lanes(_))
    }
}

/// How long an operation takes, if it depends on nothing but its operands.
fn cost(op: &Op) -> Option<u32> {
    match op {
        Op::Unary(UnaryOp::Sqrt, _) | Op::Binary(BinaryOp::Div, ..) => Some(LONG),
        Op::Unary(..)
        | Op::Binary(..)
        | Op::Shift(..)
        | Op::Fma(..)
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::FromWord(_)
        | Op::Splat(_) => Some(1),
        _ => None,
    }
}

fn defined(body: &[Stmt], found: &mut HashSet<ValueId>) {
    for stmt in body {
        match stmt {
            Stmt::Let(value, _) => {
                found.insert(*value);
            }
            Stmt::Loop(r#loop) => {
                found.extend(r#loop.carried.iter().flat_map(|carried| [carried.param, carried.result]));
                defined(&r#loop.body, found);
            }
            _ => {}
        }
    }
}

/// What a statement reads, and what all in it read.
fn reads(stmt: &Stmt, found: &mut Vec<ValueId>) {
    found.extend(stmt.operands());
    if let Stmt::Loop(r#loop) = stmt {
        found.extend(r#loop.carried.iter().map(|carried| carried.next));
        r#loop.body.iter().for_each(|stmt| reads(stmt, found));
    }
}
