//! The verifier: is this kernel something a back end may compile?
//!
//! In: any kernel.  Out: the same kernel as [`Verified`], or a bug report that names the place.
//! What concerns iterations that run at once and scoped buffers is in `shared`.
//! Not here: that accesses with subscripts in index arithmetic are in bounds. `poly` has proven that of the loops it generates
//! ([`crate::InBounds`]); of all others nothing is known, so back ends check them at run time.

mod shared;

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use program::{BinaryOp, Role, ScalarType, UnaryOp};

use crate::magnitude::{index_arithmetic_fits, sizes_that_fit};
use crate::walk::Visit;
use crate::{
    ArrayId, Cond, Each, Expr, ExprKind, For, Index, Kernel, LocalDecl, LocalId, LoopKind, ParamId, Stmt, Target,
    VarId, combines, hoist, spread_sums,
};

/// A kernel that passed [`verify`]; back ends accept nothing else.
#[derive(Clone, Debug)]
pub struct Verified {
    pub(crate) kernel: Kernel,
    pub(crate) in_bounds: bool,
    /// Sizes up to this need no look at the loops to know that index arithmetic fits; found when it is first asked for.
    known_to_fit: OnceLock<Option<i64>>,
}

impl Verified {
    /// For those who have verified the kernel, or changed a verified one as they may.
    pub(crate) fn new(kernel: Kernel, in_bounds: bool) -> Verified {
        Verified { kernel, in_bounds, known_to_fit: OnceLock::new() }
    }

    /// Whether all index arithmetic stays in 64 bits for these parameters, as [`index_arithmetic_fits`] says. A call asks this every time, so the
    /// loops are not walked for sizes that are small enough by a wide margin.
    pub fn index_arithmetic_fits(&self, params: &[i64]) -> bool {
        let known = *self.known_to_fit.get_or_init(|| sizes_that_fit(&self.kernel));
        known.is_some_and(|most| params.iter().all(|size| (0..=most).contains(size)))
            || index_arithmetic_fits(&self.kernel, params)
    }

    /// The kernel, which anyone may change again.
    pub fn into_kernel(self) -> Kernel {
        self.kernel
    }

    /// After [`hoist`], for back ends whose machine code nobody else improves. Loops about which nothing is proven stay as they are: their
    /// subscripts may fail, and do so where they stand.
    pub fn hoisted(&self) -> Verified {
        if !self.in_bounds {
            return self.clone();
        }
        let kernel = hoist(self.kernel.clone());
        let verdict = if cfg!(debug_assertions) { check(&kernel) } else { Ok(()) };
        debug_assert!(verdict.is_ok(), "hoist broke the kernel: {verdict:?}\n{kernel}");
        Verified::new(kernel, true)
    }

    /// After [`spread_sums`], for those who run iterations of vector loops one after the other.
    pub fn with_sums_spread(&self, mut wanted: impl FnMut(&For) -> bool) -> Verified {
        let kernel = spread_sums(self.kernel.clone(), &mut wanted);
        let verdict = if cfg!(debug_assertions) { check(&kernel) } else { Ok(()) };
        debug_assert!(verdict.is_ok(), "spread_sums broke the kernel: {verdict:?}\n{kernel}");
        // The cells of lanes are in bounds by how they are made; nothing else has changed.
        Verified::new(kernel, self.in_bounds)
    }

    /// Whether subscripts in index arithmetic are proven to be in bounds, so that nobody has to check them at run time.
    pub fn is_in_bounds(&self) -> bool {
        self.in_bounds
    }
}

impl Deref for Verified {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel.fmt(f)
    }
}

/// Checks that
/// - ids are in range, every loop variable is bound by one loop and used only inside it;
/// - a local is set before it is read, on every path, where a loop may run zero times;
/// - a local that a parallel or vector loop sets is private to the iteration: neither the value from before the loop is
///   read inside, nor the one from inside after it;
/// - types agree with the operators, subscripts with the rank, and `in` arrays are not stored to;
/// - extents use parameters only, divisors are positive, steps and lane counts at least 1;
/// - a cell that all iterations of a parallel loop write is one that the loop says it reduces, and is then only updated,
///   or it belongs to the iteration; all lanes of a vector loop run the same loops;
/// - scoped arrays are used inside their scopes, and barriers stand where every iteration gets to.
///
/// Whether subscripts are in bounds is not known of the result: code of it checks them.
pub fn verify(kernel: Kernel) -> diag::Result<Verified> {
    check(&kernel)?;
    Ok(Verified::new(kernel, false))
}

pub(crate) fn check(kernel: &Kernel) -> diag::Result<()> {
    let mut verifier =
        Verifier { kernel, place: Vec::new(), in_scope: Vec::new(), bound: HashSet::new(), set: HashSet::new() };
    let mut checked = verifier.kernel();
    let mut found = verifier.place;
    if checked.is_ok() {
        checked = shared::check(kernel, &mut found);
    }
    match checked {
        Ok(()) => Ok(()),
        Err(Problem(problem)) => {
            let mut place = vec![format!("kernel {}", kernel.name)];
            place.append(&mut found);
            Err(diag::Error::bug("loops", format!("{}: {problem}", place.join(", "))))
        }
    }
}

struct Problem(String);

type Check = Result<(), Problem>;

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(Problem(problem())) }
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Where we are, from the outside in; left as it is when a check fails.
    place: Vec<String>,
    in_scope: Vec<VarId>,
    /// All variables that a loop has bound so far.
    bound: HashSet<VarId>,
    /// Locals that have a value on every path to here.
    set: HashSet<LocalId>,
}

impl<'a> Verifier<'a> {
    fn at(&mut self, place: String, check: impl FnOnce(&mut Self) -> Check) -> Check {
        self.place.push(place);
        check(self)?;
        self.place.pop();
        Ok(())
    }

    fn kernel(&mut self) -> Check {
        let kernel = self.kernel;
        for array in &kernel.arrays {
            self.at(format!("shape of `{}`", array.name), |v| v.indices(&array.shape))?;
        }
        self.block(&kernel.body)
    }

    fn block(&mut self, stmts: &[Stmt]) -> Check {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Check {
        match stmt {
            Stmt::For(f) => {
                let name = self.kernel.vars.get(f.var.index()).cloned();
                let name = name.ok_or_else(|| Problem(format!("there is no loop variable {}", f.var.0)))?;
                self.at(format!("for {name}"), |v| v.for_loop(f))
            }
            Stmt::If { cond, then, otherwise } => {
                self.at("condition of `if`".to_owned(), |v| v.cond(cond))?;
                let before = self.set.clone();
                self.block(then)?;
                let after_then = std::mem::replace(&mut self.set, before);
                self.block(otherwise)?;
                self.set.retain(|local| after_then.contains(local));
                Ok(())
            }
            Stmt::Store { array, index, value } => {
                let ty = self.access(*array, index)?;
                let decl = &self.kernel.arrays[array.index()];
                self.at(format!("store to `{}`", decl.name), |v| {
                    ensure(decl.role != Role::In, || "an input is written".to_owned())?;
                    v.expr(value)?;
                    ensure(value.ty == ty, || format!("the cell is {ty}, the value {}", value.ty))
                })
            }
            Stmt::Scatter { array, index, op, value, .. } => {
                let ty = self.gather(*array, index)?;
                let decl = &self.kernel.arrays[array.index()];
                self.at(format!("scatter to `{}`", decl.name), |v| {
                    ensure(decl.role != Role::In, || "an input is written".to_owned())?;
                    v.expr(value)?;
                    ensure(value.ty == ty, || format!("the cell is {ty}, the value {}", value.ty))?;
                    let claims = *op == BinaryOp::Once && ty == ScalarType::I64;
                    let accepted = *op == BinaryOp::Last || claims || combines(*op) && binary_accepts(*op, ty);
                    ensure(accepted, || format!("`{}` does not scatter {ty}", op.name()))
                })
            }
            Stmt::Update { target: Target::Cell { array, index }, op, value } => {
                let ty = self.access(*array, index)?;
                let decl = &self.kernel.arrays[array.index()];
                self.at(format!("update of `{}`", decl.name), |v| {
                    ensure(decl.role != Role::In, || "an input is written".to_owned())?;
                    v.term(*op, value, ty)
                })
            }
            Stmt::Update { target: Target::Local(local), op, value } => {
                let decl = self.local(*local)?;
                self.at(format!("update of `{}`", decl.name), |v| {
                    v.is_set(*local, &decl.name)?;
                    v.term(*op, value, decl.ty)
                })
            }
            Stmt::Set { local, value } => {
                let decl = self.local(*local)?;
                self.at(format!("assignment to `{}`", decl.name), |v| {
                    v.expr(value)?;
                    ensure(value.ty == decl.ty, || format!("the local is {}, the value {}", decl.ty, value.ty))
                })?;
                self.set.insert(*local);
                Ok(())
            }
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::Each(each) => {
                let name = self.local(each.local)?.name.clone();
                self.at(format!("for {name}"), |v| v.each(each))
            }
            Stmt::Barrier => Ok(()),
        }
    }

    fn local(&self, local: LocalId) -> Result<&'a LocalDecl, Problem> {
        let decl = self.kernel.locals.get(local.index());
        decl.ok_or_else(|| Problem(format!("there is no local {}", local.0)))
    }

    fn is_set(&self, local: LocalId, name: &str) -> Check {
        ensure(self.set.contains(&local), || format!("local `{name}` may be read before it is set"))
    }

    /// What an update adds to a target of type `ty`.
    fn term(&mut self, op: BinaryOp, value: &Expr, ty: ScalarType) -> Check {
        self.expr(value)?;
        ensure(value.ty == ty, || format!("the target is {ty}, the value {}", value.ty))?;
        let accepted = combines(op) && binary_accepts(op, ty);
        ensure(accepted, || format!("`{}` does not reduce {ty}", op.name()))
    }

    fn for_loop(&mut self, f: &For) -> Check {
        self.index(&f.lo)?;
        self.index(&f.hi)?;
        ensure(f.step >= 1, || format!("the step is {}", f.step))?;
        ensure(f.kind != LoopKind::Vector(0), || "a vector loop has no lanes".to_owned())?;
        ensure(self.bound.insert(f.var), || "the variable is bound by another loop as well".to_owned())?;
        // What a parallel loop sets is lost after it, so also on the way to the next iteration of a loop around it.
        let mut private = Private { locals: HashSet::new(), parallel: false, vector: false };
        private.enter(f);
        private.block(&f.body);
        self.set.retain(|local| !private.locals.contains(local));
        let after = self.set.clone();
        self.in_scope.push(f.var);
        self.block(&f.body)?;
        self.in_scope.pop();
        // Possibly there was no iteration.
        self.set = after;
        Ok(())
    }

    fn each(&mut self, each: &Each) -> Check {
        for end in [&each.lo, &each.hi, &each.step] {
            self.expr(end)?;
            ensure(end.ty == ScalarType::I64, || format!("a bound is {}", end.ty))?;
        }
        ensure(self.local(each.local)?.ty == ScalarType::I64, || "the local is no i64".to_owned())?;
        ensure(!self.set.contains(&each.local), || "the local has a value outside of the loop".to_owned())?;
        let after = self.set.clone();
        self.set.insert(each.local);
        if let Some(until) = &each.until {
            self.expr(until)?;
            ensure(until.ty == ScalarType::Bool, || format!("it goes on by a value of type {}", until.ty))?;
        }
        self.block(&each.body)?;
        self.set = after;
        Ok(())
    }

    /// Checks an access and gives the type of the cell.
    fn access(&mut self, array: ArrayId, index: &[Index]) -> Result<ScalarType, Problem> {
        self.subscripts(array, index.len(), |v| v.indices(index))
    }

    /// The same for subscripts that are values.
    fn gather(&mut self, array: ArrayId, index: &[Expr]) -> Result<ScalarType, Problem> {
        self.subscripts(array, index.len(), |v| {
            index.iter().try_for_each(|index| {
                v.expr(index)?;
                ensure(index.ty == ScalarType::I64, || format!("a subscript is {}", index.ty))
            })
        })
    }

    fn subscripts(
        &mut self,
        array: ArrayId,
        count: usize,
        check: impl FnOnce(&mut Self) -> Check,
    ) -> Result<ScalarType, Problem> {
        let decl = self.kernel.arrays.get(array.index());
        let decl = decl.ok_or_else(|| Problem(format!("there is no array {}", array.0)))?;
        self.at(format!("subscripts of `{}`", decl.name), |v| {
            let rank = decl.shape.len();
            ensure(count == rank, || format!("{count} subscripts for an array of rank {rank}"))?;
            check(v)
        })?;
        Ok(decl.ty)
    }

    fn indices(&mut self, indices: &[Index]) -> Check {
        indices.iter().try_for_each(|index| self.index(index))
    }

    fn index(&mut self, index: &Index) -> Check {
        match index {
            Index::Const(_) => Ok(()),
            Index::Param(ParamId(id)) => {
                ensure((*id as usize) < self.kernel.params.len(), || format!("there is no parameter {id}"))
            }
            Index::Var(var) => ensure(self.in_scope.contains(var), || {
                let name = self.kernel.vars.get(var.index()).map_or("?", String::as_str);
                format!("loop variable `{name}` is used outside its loop")
            }),
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.index(a)?;
                self.index(b)
            }
            Index::Mul(a, _) => self.index(a),
            Index::FloorDiv(a, divisor) | Index::Mod(a, divisor) => {
                ensure(*divisor > 0, || format!("the divisor is {divisor}"))?;
                self.index(a)
            }
            Index::Select(cond, a, b) => {
                self.cond(cond)?;
                self.index(a)?;
                self.index(b)
            }
        }
    }

    fn cond(&mut self, cond: &Cond) -> Check {
        match cond {
            Cond::Compare(_, a, b) => {
                self.index(a)?;
                self.index(b)
            }
            Cond::Not(cond) => self.cond(cond),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().try_for_each(|cond| self.cond(cond)),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Check {
        let kernel = self.kernel;
        let ty = match &expr.kind {
            ExprKind::Const(value) => value.ty(),
            ExprKind::Index(index) => {
                self.index(index)?;
                ScalarType::I64
            }
            ExprKind::Cond(cond) => {
                self.cond(cond)?;
                ScalarType::Bool
            }
            ExprKind::Scalar(scalar) => {
                let decl = kernel.scalars.get(scalar.index());
                decl.ok_or_else(|| Problem(format!("there is no scalar {}", scalar.0)))?.ty
            }
            ExprKind::Local(local) => {
                let decl = self.local(*local)?;
                self.is_set(*local, &decl.name)?;
                decl.ty
            }
            ExprKind::Load { array, index } => self.access(*array, index)?,
            ExprKind::Gather { array, index } => self.gather(*array, index)?,
            ExprKind::At(_, a) => {
                self.expr(a)?;
                a.ty
            }
            ExprKind::Unary(op, a) => {
                self.expr(a)?;
                ensure(unary_accepts(*op, a.ty), || format!("`{}` does not apply to {}", op.name(), a.ty))?;
                a.ty
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a)?;
                self.expr(b)?;
                ensure(a.ty == b.ty, || format!("the operands of `{}` are {} and {}", op.name(), a.ty, b.ty))?;
                ensure(binary_accepts(*op, a.ty), || format!("`{}` does not apply to {}", op.name(), a.ty))?;
                if op.is_comparison() { ScalarType::Bool } else { a.ty }
            }
            ExprKind::Cast(a) => {
                self.expr(a)?;
                let stored = a.ty.half().or(expr.ty.half()).is_some();
                ensure(!stored || [a.ty, expr.ty].contains(&ScalarType::F32), || {
                    format!("{} is converted to {}, and not by way of f32", a.ty, expr.ty)
                })?;
                expr.ty
            }
            ExprKind::Select(cond, a, b) => {
                self.expr(cond)?;
                self.expr(a)?;
                self.expr(b)?;
                ensure(cond.ty == ScalarType::Bool, || format!("`select` decides by a value of type {}", cond.ty))?;
                ensure(a.ty == b.ty, || format!("the branches of `select` are {} and {}", a.ty, b.ty))?;
                a.ty
            }
        };
        ensure(expr.ty == ty, || format!("an expression of type {ty} says that it is {}", expr.ty))
    }
}

fn unary_accepts(op: UnaryOp, ty: ScalarType) -> bool {
    match op {
        _ if ty.half().is_some() => false,
        UnaryOp::Neg | UnaryOp::ABS => ty != ScalarType::Bool,
        UnaryOp::Not => ty == ScalarType::Bool,
        UnaryOp::BitNot => ty.is_int(),
        UnaryOp::Function(_) => ty.is_float(),
    }
}

fn binary_accepts(op: BinaryOp, ty: ScalarType) -> bool {
    match op {
        op if ty.half().is_some() => op == BinaryOp::Last,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => ty != ScalarType::Bool,
        BinaryOp::Rem => ty != ScalarType::Bool,
        op if op.is_bitwise() => ty.is_int(),
        BinaryOp::Function(_) => ty.is_float(),
        BinaryOp::And | BinaryOp::Or => ty == ScalarType::Bool,
        // Of any type; `false` is less than `true`.
        _ => true,
    }
}

/// The locals that belong to the iterations of parallel and vector loops among some statements: those that are set there.
/// What lanes only update is one local for all of them.
struct Private {
    locals: HashSet<LocalId>,
    parallel: bool,
    vector: bool,
}

impl Private {
    fn enter(&mut self, f: &For) {
        self.parallel |= f.kind.is_parallel();
        self.vector |= f.kind.is_vector();
    }
}

impl Visit for Private {
    fn stmt(&mut self, stmt: &Stmt) {
        let outside = (self.parallel, self.vector);
        match stmt {
            Stmt::Set { local, .. } if self.parallel || self.vector => {
                self.locals.insert(*local);
            }
            Stmt::Update { target: Target::Local(local), .. } if self.parallel => {
                self.locals.insert(*local);
            }
            Stmt::For(f) => self.enter(f),
            _ => {}
        }
        self.descend_stmt(stmt);
        (self.parallel, self.vector) = outside;
    }
}
