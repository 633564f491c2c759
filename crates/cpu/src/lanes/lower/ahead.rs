//! The row that comes next, fetched while the one before is gone through for the last time.
//!
//! Where several vector loops read the same row of an array, only the first of them waits for memory, and the others find the row in a cache while
//! memory has nothing to do. So the last of them asks for the row that the next iteration of the loop around begins with. What is asked for need not exist.

use loops::{ArrayId, Expr, ExprKind, For, Index, Kernel, Stmt, Target, VarId, Visit};

/// The passes that are looked at, each beside all others.
const MOST_PASSES: usize = 200;

/// What vector loops ask for, by their variables: an array, and subscripts in which the loop around is one iteration further.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead(Vec<(VarId, ArrayId, Vec<Index>)>);

impl Ahead {
    /// The passes of a kernel over the rows of arrays that it does not write.
    pub(crate) fn of(kernel: &Kernel) -> Ahead {
        let written = vec![false; kernel.arrays.len()];
        let mut passes = Passes { written, around: Vec::new(), branches: Vec::new(), ifs: 0, found: Vec::new() };
        Written(&mut passes.written).block(&kernel.body);
        passes.block(&kernel.body);
        let is_last = |number: &usize| {
            let pass = &passes.found[*number];
            let (before, behind) = passes.found.split_at(*number);
            before.iter().any(|other| other.is_of_row(pass)) && !behind[1..].iter().any(|other| other.is_of_row(pass))
        };
        let mut ahead: Vec<(VarId, ArrayId, Vec<Index>)> = Vec::new();
        // Where there are so many, they are copies of each other, and each is as good as the next.
        for number in (0..passes.found.len().min(MOST_PASSES)).filter(is_last) {
            let next = passes.found[number].next();
            if !ahead.contains(&next) {
                ahead.push(next);
            }
        }
        Ahead(ahead)
    }

    /// What a vector loop asks for.
    pub(super) fn by(&self, vector: VarId) -> impl Iterator<Item = (ArrayId, &[Index])> {
        self.0.iter().filter(move |(var, ..)| *var == vector).map(|(_, array, index)| (*array, index.as_slice()))
    }
}

/// A vector loop that reads a row.
struct Pass {
    vector: VarId,
    /// The loop whose iterations have rows of their own, and its step.
    rows: VarId,
    step: i64,
    array: ArrayId,
    index: Vec<Index>,
    /// The branches that it is in: of two that exclude each other, one runs.
    branches: Vec<(u32, bool)>,
}

impl Pass {
    /// Whether another vector loop in the same loop reads the same row.
    fn is_of_row(&self, other: &Pass) -> bool {
        let own = |pass: &Pass, index: &Index| *index == Index::Var(pass.vector);
        let mut pairs = self.index.iter().zip(&other.index);
        let same = pairs.all(|(one, two)| one == two || own(self, one) && own(other, two));
        let excludes = |(number, side): &(u32, bool)| other.branches.contains(&(*number, !side));
        let is_other = self.vector != other.vector && !self.branches.iter().any(excludes);
        is_other && self.rows == other.rows && self.array == other.array && same
    }

    fn next(&self) -> (VarId, ArrayId, Vec<Index>) {
        let further = |index: &Index| match index {
            Index::Var(var) if *var == self.rows => {
                Index::Add(Box::new(index.clone()), Box::new(Index::Const(self.step)))
            }
            index => index.clone(),
        };
        (self.vector, self.array, self.index.iter().map(further).collect())
    }
}

struct Passes {
    written: Vec<bool>,
    /// The loops around, with their steps.
    around: Vec<(VarId, i64)>,
    /// The branches around, by the number of their condition.
    branches: Vec<(u32, bool)>,
    ifs: u32,
    found: Vec<Pass>,
}

impl Visit for Passes {
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::If { then, otherwise, .. } = stmt {
            let number = self.ifs;
            self.ifs += 1;
            for (side, stmts) in [(true, then), (false, otherwise)] {
                self.branches.push((number, side));
                self.block(stmts);
                self.branches.pop();
            }
            return;
        }
        let Stmt::For(r#for) = stmt else { return self.descend_stmt(stmt) };
        if r#for.kind.is_vector() {
            return self.vector(r#for);
        }
        self.around.push((r#for.var, r#for.step));
        self.block(&r#for.body);
        self.around.pop();
    }
}

impl Passes {
    fn vector(&mut self, r#for: &For) {
        let mut loads = Loads(Vec::new());
        loads.block(&r#for.body);
        for (array, index) in loads.0 {
            let along = index.last() == Some(&Index::Var(r#for.var));
            let of = |(var, _): &&(VarId, i64)| index.contains(&Index::Var(*var));
            let Some((rows, step)) = self.around.iter().rev().find(of).copied() else { continue };
            if !along || self.written[array.index()] {
                continue;
            }
            let same = |pass: &&Pass| pass.vector == r#for.var && pass.array == array && pass.index == index;
            let branches = self.branches.clone();
            if !self.found.iter().any(|pass| same(&pass) && pass.branches == branches) {
                self.found.push(Pass { vector: r#for.var, rows, step, array, index, branches });
            }
        }
    }
}

struct Loads(Vec<(ArrayId, Vec<Index>)>);

impl Visit for Loads {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, index } = &expr.kind {
            self.0.push((*array, index.clone()));
        }
        self.descend_expr(expr);
    }
}

struct Written<'a>(&'a mut [bool]);

impl Visit for Written<'_> {
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Store { array, .. }
            | Stmt::Scatter { array, .. }
            | Stmt::Update { target: Target::Cell { array, .. }, .. } => self.0[array.index()] = true,
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}
