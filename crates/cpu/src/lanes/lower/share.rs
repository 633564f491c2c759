//! Finds values that are made twice.
//!
//! In: a program.  Out: for each value that another one in force stands for, which; copies of a row, unrolled, compute what they have in common
//! once. What is in memory may change in between, so loads are not looked at: the lowering knows itself which of them are the same.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use super::clean::resolve;
use super::same_op;
use crate::lanes::ir::{Op, Program, Stmt, ValueId};

/// Which kind of operation, of which values.
type Key = (Discriminant<Op>, Vec<ValueId>);

/// Writes into `names` by which values others go.
pub(super) fn find_shared(program: &Program, names: &mut [ValueId]) {
    Shared { program, names, made: HashMap::new() }.block(&program.body);
}

struct Shared<'a> {
    program: &'a Program,
    names: &'a mut [ValueId],
    /// What has been made on the way to here.
    made: HashMap<Key, Vec<(ValueId, Op)>>,
}

impl Shared<'_> {
    fn block(&mut self, body: &[Stmt]) {
        let mut here = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Let(_, Op::Load { .. } | Op::Gather { .. }) => {}
                Stmt::Let(value, op) => {
                    let op = op.renamed(|operand| resolve(self.names, operand));
                    let key = (discriminant(&op), op.operands());
                    let known = self.made.entry(key.clone()).or_default();
                    let types = &self.program.types;
                    let same = |(other, made): &&(ValueId, Op)| {
                        types[other.index()] == types[value.index()] && same_op(made, &op)
                    };
                    match known.iter().find(same) {
                        Some((other, _)) => self.names[value.index()] = *other,
                        None => {
                            known.push((*value, op));
                            here.push(key);
                        }
                    }
                }
                Stmt::Loop(r#loop) => self.block(&r#loop.body),
                Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => {}
            }
        }
        // Behind a loop nobody sees what it has made.
        for key in here {
            if let Some(known) = self.made.get_mut(&key) {
                known.pop();
            }
        }
    }
}
