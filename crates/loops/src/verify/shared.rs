//! The part of the verifier that is about iterations which run at once, and about scoped buffers.
//!
//! In: a kernel whose ids are in range.  Out: nothing, or what is wrong and where.
//! It refuses what the loops themselves show to be wrong: a cell that all iterations of a parallel loop write, a lane that
//! would leave the others. Which iterations touch which cells beyond that, the schedule's proof knows.

use program::{BinaryOp, Role};

use super::{Check, Problem, ensure};
use crate::concurrent::{Scoped, Varying, runs_at_most_once, runs_in_lockstep};
use crate::walk::Visit;
use crate::{ArrayId, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, LoopKind, Reduction, Space, Stmt, Target};

/// Checks the whole kernel; the place of a problem is left in `place`.
pub(super) fn check(kernel: &Kernel, place: &mut Vec<String>) -> Check {
    let mut checker = Checker {
        kernel,
        place: Vec::new(),
        scoped: Scoped::of(&kernel.body),
        open: Vec::new(),
        around: Vec::new(),
        unrolled: Vec::new(),
        problem: None,
    };
    checker.block(&kernel.body);
    match checker.problem {
        None => Ok(()),
        Some((found, problem)) => {
            *place = found;
            Err(problem)
        }
    }
}

/// A parallel or vector loop around the present place.
struct Around<'a> {
    found: &'a For,
    varying: Varying,
    /// Inside conditions or loops that may let only some of the iterations pass.
    partial: bool,
    /// How many scoped arrays were open in front of the loop: those opened since belong to an iteration.
    open: usize,
}

#[derive(Clone, Copy)]
enum Use {
    Load,
    Store,
    Update(BinaryOp),
}

struct Checker<'a> {
    kernel: &'a Kernel,
    place: Vec<String>,
    scoped: Vec<ArrayId>,
    /// Scoped arrays whose scope this is, with their space.
    open: Vec<(ArrayId, Space)>,
    around: Vec<Around<'a>>,
    /// Unrolled loops around.
    unrolled: Vec<crate::VarId>,
    /// The first problem.
    problem: Option<(Vec<String>, Problem)>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, check: Check) {
        if let (Err(problem), None) = (check, &self.problem) {
            self.problem = Some((self.place.clone(), problem));
        }
    }

    fn name(&self, array: ArrayId) -> &'a str {
        self.kernel.arrays.get(array.index()).map_or("?", |decl| decl.name.as_str())
    }

    fn block(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(f) => self.for_loop(f),
            Stmt::If { cond, then, otherwise } => {
                let before: Vec<bool> = self.around.iter().map(|around| around.partial).collect();
                self.cond(cond);
                self.block(then);
                self.block(otherwise);
                for (around, partial) in self.around.iter_mut().zip(before) {
                    around.partial = partial;
                }
            }
            Stmt::Store { array, index, value } => {
                self.expr(value);
                self.access(*array, Use::Store, index);
            }
            Stmt::Update { target, op, value } => {
                self.expr(value);
                if let Target::Cell { array, index } = target {
                    self.access(*array, Use::Update(*op), index);
                }
            }
            Stmt::Scatter { array, index, value, .. } => {
                index.iter().chain([value]).for_each(|part| self.expr(part));
                // What data decides may be the same for two iterations.
                let known = index.iter().filter_map(|index| match &index.kind {
                    ExprKind::Index(index) => Some(index),
                    _ => None,
                });
                self.data_access(*array);
                self.access(*array, Use::Store, known);
            }
            Stmt::Set { value, .. } => self.expr(value),
            Stmt::Alloc { array, space, body } => {
                self.place.push(format!("alloc of `{}`", self.name(*array)));
                self.scope(*array);
                if *space == Space::Registers {
                    let constant = self
                        .kernel
                        .arrays
                        .get(array.index())
                        .is_some_and(|decl| decl.shape.iter().all(|extent| matches!(extent, Index::Const(_))));
                    self.check(ensure(constant, || "an array in registers has no constant shape".to_owned()));
                }
                self.open.push((*array, *space));
                self.block(body);
                self.open.pop();
                self.place.pop();
            }
            Stmt::Barrier => self.barrier(),
            Stmt::Each(each) => {
                each.ends().for_each(|end| self.expr(end));
                // Whether an iteration gets inside is a matter of data.
                let before: Vec<bool> = self.around.iter().map(|around| around.partial).collect();
                self.around.iter_mut().for_each(|around| around.partial = true);
                self.block(&each.body);
                for (around, partial) in self.around.iter_mut().zip(before) {
                    around.partial = partial;
                }
            }
        }
    }

    fn cond(&mut self, cond: &Cond) {
        for around in &mut self.around {
            around.partial |= around.varying.cond(cond);
        }
    }

    fn for_loop(&mut self, f: &'a For) {
        let name = self.kernel.vars.get(f.var.index()).map_or("?", String::as_str);
        self.place.push(format!("for {name}"));
        let before: Vec<bool> = self.around.iter().map(|around| around.partial).collect();
        for around in &mut self.around {
            around.partial |= around.varying.enter(f);
        }
        let opened = self.open.len();
        let around = Around { found: f, varying: Varying::with(f.var), partial: runs_at_most_once(f), open: opened };
        match &f.kind {
            LoopKind::Serial => self.block(&f.body),
            LoopKind::Unrolled => {
                self.unrolled.push(f.var);
                self.block(&f.body);
                self.unrolled.pop();
            }
            LoopKind::Vector(_) => {
                self.check(ensure(runs_in_lockstep(f), || "the lanes of a vector loop would part".to_owned()));
                self.check(lane_sums(self.kernel, f));
                self.around.push(around);
                self.block(&f.body);
                self.around.pop();
            }
            LoopKind::Parallel(parallel) => {
                for reduction in &parallel.reductions {
                    self.reduction(*reduction);
                }
                for array in &parallel.private {
                    self.scope(*array);
                    self.open.push((*array, Space::Scratch));
                }
                self.around.push(around);
                self.block(&f.body);
                self.around.pop();
            }
        }
        self.open.truncate(opened);
        for (around, partial) in self.around.iter_mut().zip(before) {
            around.partial = partial;
        }
        self.place.pop();
    }

    fn reduction(&mut self, Reduction { array, op }: Reduction) {
        let decl = self.kernel.arrays.get(array.index());
        let checked = match decl {
            None => Err(Problem(format!("there is no array {}", array.0))),
            Some(decl) => ensure(crate::combines(op) && super::binary_accepts(op, decl.ty), || {
                format!("`{}` of {} is no reduction by `{}`", decl.name, decl.ty, op.name())
            }),
        };
        self.check(checked);
    }

    /// Opens the scope of an array.
    fn scope(&mut self, array: ArrayId) {
        let checked = match self.kernel.arrays.get(array.index()) {
            None => Err(Problem(format!("there is no array {}", array.0))),
            Some(decl) if decl.role != Role::Local => Err(Problem(format!("`{}` is an argument", decl.name))),
            Some(decl) => {
                let open = self.open.iter().any(|(known, _)| *known == array);
                ensure(!open, || format!("`{}` is there already", decl.name))
            }
        };
        self.check(checked);
    }

    fn access<'i>(&mut self, array: ArrayId, what: Use, index: impl IntoIterator<Item = &'i Index> + Clone) {
        let name = self.name(array);
        let place = match what {
            Use::Load => format!("load of `{name}`"),
            Use::Store => format!("store to `{name}`"),
            Use::Update(_) => format!("update of `{name}`"),
        };
        self.place.push(place);
        self.check(self.judge(array, what, index));
        self.place.pop();
    }

    fn judge<'i>(&self, array: ArrayId, what: Use, index: impl IntoIterator<Item = &'i Index> + Clone) -> Check {
        let scope = self.open.iter().rposition(|(known, _)| *known == array);
        ensure(scope.is_some() || !self.scoped.contains(&array), || "the array is used outside its scope".to_owned())?;
        if let Some((_, Space::Registers)) = scope.map(|scope| self.open[scope]) {
            let used = crate::VarsUsed::of_indices(index.clone());
            let constant = used.iter().all(|var| self.unrolled.contains(var));
            ensure(constant, || "a cell in registers is not known when the code is made".to_owned())?;
        }
        for around in self.around.iter().rev() {
            // An iteration does to its own arrays what it likes, and so do the lanes.
            if scope.is_some_and(|scope| scope >= around.open) {
                return Ok(());
            }
            let varies = around.partial || around.varying.any(index.clone());
            let who = || self.kernel.vars.get(around.found.var.index()).map_or("?", String::as_str);
            match &around.found.kind {
                LoopKind::Parallel(parallel) => {
                    match (parallel.reductions.iter().find(|reduction| reduction.array == array), what) {
                        (Some(reduction), Use::Update(op)) if reduction.op == op => {}
                        (Some(_), _) => {
                            let problem = "the array is touched otherwise than `reducing` says in the parallel loop";
                            return Err(Problem(format!("{problem} over `{}`", who())));
                        }
                        (None, Use::Load) => {}
                        (None, _) => ensure(varies, || {
                            format!("all iterations of the parallel loop over `{}` write the same cell", who())
                        })?,
                    }
                }
                _ => ensure(varies || !matches!(what, Use::Store), || {
                    format!("all lanes of the vector loop over `{}` write the same cell", who())
                })?,
            }
        }
        Ok(())
    }

    /// A cell that depends on data is not in registers.
    fn data_access(&mut self, array: ArrayId) {
        let registers = self.open.contains(&(array, Space::Registers));
        let name = self.name(array);
        self.check(ensure(!registers, || format!("a cell of `{name}`, which is in registers, depends on data")));
    }

    fn expr(&mut self, expr: &Expr) {
        let mut loads = Loads(Vec::new());
        loads.expr(expr);
        for load in loads.0 {
            match &load.kind {
                ExprKind::Load { array, index } => self.access(*array, Use::Load, index),
                ExprKind::Gather { array, .. } => {
                    self.data_access(*array);
                    self.access(*array, Use::Load, &[]);
                }
                _ => {}
            }
        }
    }

    fn barrier(&mut self) {
        self.place.push("barrier".to_owned());
        let checked = match self.around.last() {
            None => Err(Problem("there is no parallel loop around it".to_owned())),
            Some(around) if !around.found.kind.is_parallel() => Err(Problem("lanes are in step already".to_owned())),
            Some(around) => ensure(!around.partial || runs_at_most_once(around.found), || {
                "not all iterations of the parallel loop get there".to_owned()
            }),
        };
        self.check(checked);
        self.place.pop();
    }
}

/// All loads in an expression.
struct Loads<'a>(Vec<&'a Expr>);

impl<'a> Loads<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Load { .. } => self.0.push(expr),
            ExprKind::Gather { index, .. } => {
                self.0.push(expr);
                index.iter().for_each(|index| self.expr(index));
            }
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(a),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
        }
    }
}

/// A local to which all lanes add has no value in a lane.
fn lane_sums(kernel: &Kernel, f: &For) -> Check {
    let mut locals = Locals::default();
    locals.block(&f.body);
    let shared = locals.updated.iter().find(|local| !locals.set.contains(local) && locals.read.contains(local));
    let name = |local: &LocalId| kernel.locals.get(local.index()).map_or("?", |decl| decl.name.as_str());
    match shared {
        None => Ok(()),
        Some(local) => Err(Problem(format!("lanes read `{}`, to which all of them add", name(local)))),
    }
}

#[derive(Default)]
struct Locals {
    set: Vec<LocalId>,
    updated: Vec<LocalId>,
    read: Vec<LocalId>,
}

impl Visit for Locals {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Local(local) = expr.kind {
            self.read.push(local);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { local, .. } => self.set.push(*local),
            Stmt::Update { target: Target::Local(local), .. } => self.updated.push(*local),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}
