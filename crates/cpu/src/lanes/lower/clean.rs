//! Takes away what nothing needs: values, those that are made twice, and what loops carry in vain or without changing it.

use super::share::find_shared;
use crate::lanes::ir::{Loop, Program, Stmt, ValueId};

/// The same program with only what its effects depend on.
pub(super) fn clean(mut program: Program) -> Program {
    let mut names: Vec<ValueId> = (0..program.types.len()).map(|id| ValueId(id as u32)).collect();
    find_unchanged(&program.body, &mut names);
    find_shared(&program, &mut names);
    program.body = rename(std::mem::take(&mut program.body), &names);
    let mut needed = vec![false; program.types.len()];
    while mark(&program.body, &mut needed) {}
    program.body = keep(std::mem::take(&mut program.body), &needed);
    program
}

/// Marks what statements need; returns whether anything was new.
fn mark(body: &[Stmt], needed: &mut [bool]) -> bool {
    let mut changed = false;
    let mut need = |needed: &mut [bool], value: ValueId| {
        changed |= !std::mem::replace(&mut needed[value.index()], true);
    };
    let mut inner_changed = false;
    for stmt in body.iter().rev() {
        match stmt {
            Stmt::Let(value, op) => {
                if needed[value.index()] {
                    op.operands().into_iter().for_each(|operand| need(needed, operand));
                }
            }
            Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => {
                stmt.operands().into_iter().for_each(|operand| need(needed, operand));
            }
            Stmt::Loop(r#loop) => {
                for carried in &r#loop.carried {
                    if needed[carried.param.index()] || needed[carried.result.index()] {
                        for value in [carried.param, carried.next, carried.init] {
                            need(needed, value);
                        }
                    }
                }
                inner_changed |= mark(&r#loop.body, needed);
                if has_effect(&r#loop.body) || r#loop.carried.iter().any(|carried| needed[carried.result.index()]) {
                    need(needed, r#loop.trips);
                }
            }
        }
    }
    changed || inner_changed
}

fn has_effect(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Let(..) => false,
        Stmt::Loop(r#loop) => has_effect(&r#loop.body),
        Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => true,
    })
}

fn keep(body: Vec<Stmt>, needed: &[bool]) -> Vec<Stmt> {
    let mut kept = Vec::with_capacity(body.len());
    for stmt in body {
        match stmt {
            Stmt::Let(value, op) => {
                if needed[value.index()] {
                    kept.push(Stmt::Let(value, op));
                }
            }
            Stmt::Loop(mut r#loop) => {
                if !needed[r#loop.trips.index()] {
                    continue;
                }
                r#loop.carried.retain(|carried| needed[carried.param.index()]);
                r#loop.body = keep(r#loop.body, needed);
                if !r#loop.body.is_empty() || !r#loop.carried.is_empty() {
                    kept.push(Stmt::Loop(r#loop));
                }
            }
            stmt => kept.push(stmt),
        }
    }
    kept
}

/// What a value stands for, following names to their end.
pub(super) fn resolve(names: &[ValueId], value: ValueId) -> ValueId {
    let mut value = value;
    while names[value.index()] != value {
        value = names[value.index()];
    }
    value
}

/// Lets parameters that a loop hands on as they are stand for what they start as. Inner loops come first, so that an outer
/// one sees through them.
fn find_unchanged(body: &[Stmt], names: &mut [ValueId]) {
    for stmt in body {
        let Stmt::Loop(r#loop) = stmt else { continue };
        find_unchanged(&r#loop.body, names);
        for carried in &r#loop.carried {
            if resolve(names, carried.next) == carried.param {
                let init = resolve(names, carried.init);
                names[carried.param.index()] = init;
                names[carried.result.index()] = init;
            }
        }
    }
}

fn rename(body: Vec<Stmt>, names: &[ValueId]) -> Vec<Stmt> {
    let name = |value: ValueId| resolve(names, value);
    let stmts = body.into_iter().map(|stmt| match stmt {
        Stmt::Let(value, op) => Stmt::Let(value, op.renamed(name)),
        Stmt::Store { value, at, access, mask } => {
            Stmt::Store { value: name(value), at: at.renamed(name), access: access.renamed(name), mask: mask.map(name) }
        }
        Stmt::Scatter { value, base, index, mask } => {
            Stmt::Scatter { value: name(value), base: name(base), index: name(index), mask: mask.map(name) }
        }
        Stmt::Fetch(at) => Stmt::Fetch(at.renamed(name)),
        Stmt::Check { index, extent, mask, site } => {
            Stmt::Check { index: name(index), extent: name(extent), mask: mask.map(name), site }
        }
        Stmt::Loop(Loop { trips, mut carried, body }) => {
            carried.retain(|carried| name(carried.param) == carried.param);
            for carried in &mut carried {
                carried.init = name(carried.init);
                carried.next = name(carried.next);
            }
            Stmt::Loop(Loop { trips: name(trips), carried, body: rename(body, names) })
        }
    });
    stmts.collect()
}
