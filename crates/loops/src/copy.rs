//! A second copy of statements, whose loops have variables of their own.

use std::collections::HashMap;

use crate::walk::{Rewrite, VarsBound};
use crate::{For, Index, Stmt, VarId};

/// Copies statements; `names` is the kernel's table of loop variables.
pub(crate) fn copy(stmts: &[Stmt], names: &mut Vec<String>) -> Vec<Stmt> {
    let mut fresh = HashMap::new();
    for var in stmts.iter().flat_map(VarsBound::of) {
        let name = names.get(var.index()).cloned().unwrap_or_default();
        fresh.insert(var, VarId(names.len() as u32));
        names.push(name);
    }
    Rename(fresh).block(stmts.to_vec())
}

struct Rename(HashMap<VarId, VarId>);

impl Rename {
    fn of(&self, var: VarId) -> VarId {
        self.0.get(&var).copied().unwrap_or(var)
    }
}

impl Rewrite for Rename {
    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Var(var) => Index::Var(self.of(var)),
            index => self.descend_index(index),
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match self.descend_stmt(stmt) {
            Stmt::For(f) => Stmt::For(For { var: self.of(f.var), ..f }),
            stmt => stmt,
        }]
    }
}
