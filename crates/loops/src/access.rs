//! Where some statements touch an array, and the step that puts a scalar local in the place of one of its cells.
//!
//! Shared by `contract` and `promote`, which differ in when that step is allowed.

use program::ScalarType;

use crate::print::free_name;
use crate::walk::{Rewrite, VarsBound, VarsUsed, Visit};
use crate::{ArrayDecl, ArrayId, Expr, ExprKind, Index, Kernel, LocalDecl, LocalId, Stmt, Target};

/// What one statement, with all inside it, does to one array.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) loads: usize,
    pub(crate) stores: usize,
    /// The subscripts, if they are the same in all accesses and no loop inside the statement changes them.
    pub(crate) cell: Option<Vec<Index>>,
    /// Whether a local could not take the place of the cell, because iterations would share it: a parallel loop
    /// touches it, or a vector loop stores to it.
    pub(crate) shared: bool,
}

impl Accesses {
    pub(crate) fn of(stmt: &Stmt, array: ArrayId) -> Accesses {
        let mut survey = Survey { array, accesses: Accesses::default(), uniform: true, parallel: false, vector: false };
        survey.stmt(stmt);
        let mut accesses = survey.accesses;
        if let Some(cell) = &accesses.cell {
            let bound = VarsBound::of(stmt);
            let invariant = VarsUsed::of_indices(cell).iter().all(|var| !bound.contains(var));
            if !survey.uniform || !invariant {
                accesses.cell = None;
            }
        }
        accesses
    }

    pub(crate) fn any(&self) -> bool {
        self.loads + self.stores > 0
    }

    /// Whether a local can stand for `cell` in this statement.
    pub(crate) fn only(&self, cell: &[Index]) -> bool {
        !self.shared && self.cell.as_deref() == Some(cell)
    }
}

struct Survey {
    array: ArrayId,
    accesses: Accesses,
    uniform: bool,
    /// Inside a parallel or vector loop of the statement.
    parallel: bool,
    vector: bool,
}

impl Survey {
    fn access(&mut self, index: &[Index], store: bool) {
        match &self.accesses.cell {
            None => self.accesses.cell = Some(index.to_vec()),
            Some(cell) => self.uniform &= cell.as_slice() == index,
        }
        self.count(store);
    }

    /// An access to a cell that depends on data, so to no cell that a local could stand for.
    fn unknown(&mut self, store: bool) {
        self.uniform = false;
        self.count(store);
    }

    fn count(&mut self, store: bool) {
        self.accesses.shared |= self.parallel || self.vector && store;
        if store {
            self.accesses.stores += 1;
        } else {
            self.accesses.loads += 1;
        }
    }
}

impl Visit for Survey {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, index } = &expr.kind
            && *array == self.array
        {
            self.access(index, false);
        }
        if let ExprKind::Gather { array, .. } = &expr.kind
            && *array == self.array
        {
            self.unknown(false);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => {
                let outside = (self.parallel, self.vector);
                self.parallel |= f.kind.is_parallel();
                self.vector |= f.kind.is_vector();
                self.descend_stmt(stmt);
                (self.parallel, self.vector) = outside;
            }
            Stmt::Store { array, index, .. } if *array == self.array => {
                self.access(index, true);
                self.descend_stmt(stmt);
            }
            Stmt::Update { target: Target::Cell { array, index }, .. } if *array == self.array => {
                self.access(index, false);
                self.access(index, true);
                self.descend_stmt(stmt);
            }
            Stmt::Scatter { array, .. } if *array == self.array => {
                self.unknown(false);
                self.unknown(true);
                self.descend_stmt(stmt);
            }
            stmt => self.descend_stmt(stmt),
        }
    }
}

/// Puts a local in the place of every access to an array.
#[derive(Debug)]
pub(crate) struct UseLocal {
    pub(crate) array: ArrayId,
    pub(crate) local: LocalId,
}

impl Rewrite for UseLocal {
    fn expr(&mut self, expr: Expr) -> Expr {
        match expr.kind {
            ExprKind::Load { array, .. } if array == self.array => Expr::local(self.local, expr.ty),
            _ => self.descend_expr(expr),
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Store { array, value, .. } if array == self.array => {
                Stmt::Set { local: self.local, value: self.expr(value) }
            }
            Stmt::Update { target, op, value } if target.array() == Some(self.array) => {
                Stmt::Update { target: Target::Local(self.local), op, value: self.expr(value) }
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}

/// Declares a local for a cell of the array; if it `replaces` the whole array, it may take over the name.
pub(crate) fn declare_local(kernel: &mut Kernel, array: ArrayId, replaces: bool) -> LocalId {
    let decl = &kernel.arrays[array.index()];
    let (ty, name) = (decl.ty, decl.name.clone());
    let wanted = if replaces { name } else { name.to_lowercase() };
    declare(kernel, &wanted, ty, replaces.then_some(array))
}

/// Declares a local with that name, or one like it.
pub(crate) fn fresh_local(kernel: &mut Kernel, wanted: &str, ty: ScalarType) -> LocalId {
    declare(kernel, wanted, ty, None)
}

fn declare(kernel: &mut Kernel, wanted: &str, ty: ScalarType, replaced: Option<ArrayId>) -> LocalId {
    let taken = |name: &str| {
        let of_array =
            |(number, array): (usize, &ArrayDecl)| array.name == name && replaced != Some(ArrayId(number as u32));
        kernel.params.iter().chain(&kernel.vars).any(|taken| taken == name)
            || kernel.scalars.iter().any(|scalar| scalar.name == name)
            || kernel.arrays.iter().enumerate().any(of_array)
            || kernel.locals.iter().any(|local| local.name == name)
    };
    let name = free_name(wanted, &taken);
    kernel.locals.push(LocalDecl { name, ty });
    LocalId(kernel.locals.len() as u32 - 1)
}
