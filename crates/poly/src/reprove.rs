//! Proving loops again that were stored: do they touch only cells that exist, and may their parallel iterations run at once?
//!
//! In: verified loops from anywhere, and the function that they claim to be of.  Out: the same loops as [`InBounds`], or why not.
//! Nothing is taken from where the loops come from: domains are those that the loops themselves span. Most is shown
//! in plain arithmetic (`quick`); isl is asked about the other kernels.
//! Not here: that the loops compute what the function says.

mod apart;
mod forms;
mod quick;
mod races;
mod region;
mod weights;

use isl::{Aff, Context, Dim, LocalSpace, PwAff, Set, Space, Val};
use loops::{ArrayId, CompareOp, Cond, Each, Expr, ExprKind, For, InBounds, Index, Kernel, LoopKind, Stmt, Target};
use loops::{VarId, Verified};
use program::{BinaryOp, Function, Role, UnaryOp};

use crate::fault::{Attempt, Fault};
use crate::model;
use crate::sets::Params;
use quick::Shown;
use races::Touched;
use region::Region;

/// Proves that loops of `function` are in bounds for all sizes that it admits, and that parallel iterations do not meet. Names
/// are taken from the function.
pub fn reprove(ctx: &Context, function: &Function, loops: Verified) -> Result<InBounds, String> {
    let mut kernel = loops.into_kernel();
    adopt(&mut kernel, function)?;
    // Each version is one for all sizes; what sizes it is for would only be more to look through. A choice that is part of the loops needs it.
    let versions = parts(ctx, function, &kernel, kernel.versions());
    let proven = match versions {
        Ok(Err(_)) if kernel.version_count() > 1 => parts(ctx, function, &kernel, [kernel.body.as_slice()]),
        proven => proven,
    };
    match proven {
        Ok(Ok(())) => Ok(InBounds::by_proof(kernel)),
        Ok(Err(why)) => Err(why),
        Err(fault) => Err(fault.at("reprove").to_string()),
    }
}

/// Proves parts of a kernel that nothing is around, or says why it cannot.
fn parts<'a>(
    ctx: &Context,
    function: &Function,
    kernel: &'a Kernel,
    parts: impl IntoIterator<Item = &'a [Stmt]>,
) -> Attempt<Result<(), String>> {
    let context = context(function);
    for part in parts {
        let shown = context.as_ref().map_or(Shown::NOTHING, |context| quick::show(kernel, part, context));
        if shown == Shown::ALL {
            continue;
        }
        let params = Params::new(ctx, function)?;
        let sizes = model::context(&params, function)?;
        let params = &params;
        let mut prover = Prover { kernel, ctx, params, shown, vars: Vec::new(), regions: Vec::new(), seen: Vec::new() };
        let everything = Set::universe(params.space().set_from_params()?)?.intersect_params(sizes)?;
        match prover.block(part, &everything) {
            Ok(()) => {}
            Err(Stop::Unproven(why)) => return Ok(Err(why)),
            Err(Stop::Fault(fault)) => return Err(fault),
        }
    }
    Ok(Ok(()))
}

/// What is required of sizes.
fn context(function: &Function) -> Option<Vec<Cond>> {
    let required = function.context.iter().map(|requirement| requirement.cond.clone());
    let all = required.chain(function.derived_facts());
    all.map(|cond| Cond::of_affine(&cond, &|id| Some(Index::Param(id)), &|_| None)).collect()
}

/// The arguments must be those of the function, whose names they get.
fn adopt(kernel: &mut Kernel, function: &Function) -> Result<(), String> {
    let other = |what: &str| Err(format!("its {what} are not those of `{}`", function.name));
    if kernel.params.len() != function.params.len() {
        return other("parameters");
    }
    if !kernel.scalars.iter().map(|scalar| scalar.ty).eq(function.scalars.iter().map(|scalar| scalar.ty)) {
        return other("scalars");
    }
    let mut declared = function.arrays.iter().filter(|array| array.role != Role::Local);
    for array in kernel.arrays.iter_mut().filter(|array| array.role != Role::Local) {
        let Some(found) = declared.next() else { return other("arrays") };
        let shape = found.shape.iter().map(|extent| Index::of_affine(extent, &|id| Some(Index::Param(id)), &|_| None));
        let same = array.ty == found.ty && array.role == found.role;
        if !same || shape.collect::<Option<Vec<_>>>().as_ref() != Some(&array.shape) {
            return other("arrays");
        }
        array.name.clone_from(&found.name);
    }
    if declared.next().is_some() {
        return other("arrays");
    }
    kernel.name.clone_from(&function.name);
    kernel.params = function.params.iter().map(|param| param.name.clone()).collect();
    for (scalar, found) in kernel.scalars.iter_mut().zip(&function.scalars) {
        scalar.name.clone_from(&found.name);
    }
    Ok(())
}

/// All of which a variable is at least, or less than.
fn operands(index: &Index, largest: bool) -> Vec<&Index> {
    match index {
        Index::Max(a, b) if largest => [operands(a, largest), operands(b, largest)].concat(),
        Index::Min(a, b) if !largest => [operands(a, largest), operands(b, largest)].concat(),
        index => vec![index],
    }
}

/// Why the proof ends.
enum Stop {
    Unproven(String),
    Fault(Fault),
}

impl<E: Into<Fault>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Fault(error.into())
    }
}

type Proof<T> = Result<T, Stop>;

struct Prover<'a> {
    kernel: &'a Kernel,
    ctx: &'a Context,
    params: &'a Params,
    /// What need not be proven any more.
    shown: Shown,
    /// The loops around, one dimension of the present domain each.
    vars: Vec<VarId>,
    /// The parallel loops among them, unless their iterations are known to stay apart.
    regions: Vec<Touched<'a>>,
    /// Accesses that are known to be inside at the present place.
    seen: Vec<(ArrayId, &'a [Index])>,
}

impl<'a> Prover<'a> {
    /// What is behind a narrower domain begins with nothing known, and leaves what was.
    fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Proof<T>) -> Proof<T> {
        let known = std::mem::take(&mut self.seen);
        let result = work(self);
        self.seen = known;
        result
    }

    fn block(&mut self, stmts: &'a [Stmt], domain: &Set) -> Proof<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt, domain))
    }

    fn stmt(&mut self, stmt: &'a Stmt, domain: &Set) -> Proof<()> {
        match stmt {
            Stmt::For(f) => self.for_loop(f, domain),
            Stmt::If { cond, then, otherwise } => {
                let holds = self.cond(cond, &domain.get_space()?)?;
                let without = domain.clone().subtract(holds.clone())?;
                let with = domain.clone().intersect(holds)?;
                self.within(|prover| prover.block(then, &with))?;
                self.within(|prover| prover.block(otherwise, &without))
            }
            Stmt::Store { array, index, value } => {
                self.expr(value, domain)?;
                self.access(*array, index, domain, true)
            }
            Stmt::Update { target, value, .. } => {
                self.expr(value, domain)?;
                match target {
                    Target::Cell { array, index } => self.access(*array, index, domain, true),
                    Target::Local(_) => Ok(()),
                }
            }
            Stmt::Scatter { array, index, value, .. } => {
                self.expr(value, domain)?;
                self.data_access(*array, index, domain, true)
            }
            Stmt::Set { value, .. } => self.expr(value, domain),
            Stmt::Alloc { array, body, .. } => {
                self.regions.iter_mut().for_each(|touched| touched.region.own(*array));
                self.block(body, domain)
            }
            Stmt::Barrier => Ok(()),
            Stmt::Each(each) => self.each(each, domain),
        }
    }

    fn each(&mut self, each: &'a Each, domain: &Set) -> Proof<()> {
        each.ends().try_for_each(|end| self.expr(end, domain))?;
        self.block(&each.body, domain)
    }

    fn for_loop(&mut self, f: &'a For, domain: &Set) -> Proof<()> {
        let position = self.vars.len();
        self.vars.push(f.var);
        let mut inside = domain.clone().add_dims(Dim::Set, 1)?;
        let space = inside.get_space()?;
        let var = Aff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, position)?;
        for lo in operands(&f.lo, true) {
            inside = inside.intersect(self.compare(CompareOp::Ge, PwAff::from_aff(var.clone())?, lo, &space)?)?;
        }
        for hi in operands(&f.hi, false) {
            inside = inside.intersect(self.compare(CompareOp::Lt, PwAff::from_aff(var.clone())?, hi, &space)?)?;
        }
        if f.step != 1 {
            let distance = PwAff::from_aff(var)?.sub(self.value(&f.lo, &space)?)?;
            let remainder = distance.mod_val(Val::from_i64(self.ctx, f.step)?)?;
            let zero = PwAff::from_aff(Aff::zero_on_domain_space(space)?)?;
            inside = inside.intersect(remainder.eq_set(zero)?)?;
        }
        let watched = match &f.kind {
            LoopKind::Parallel(parallel) if !self.shown.apart => {
                for touched in &mut self.regions {
                    parallel.private.iter().for_each(|array| touched.region.own(*array));
                }
                self.regions.push(Touched::new(Region::new(f, parallel), position));
                true
            }
            _ => false,
        };
        self.within(|prover| prover.block(&f.body, &inside))?;
        if watched
            && let Some(touched) = self.regions.pop()
            && let Some(array) = touched.conflict()?
        {
            let name = self.kernel.arrays.get(array.index()).map_or("?", |array| array.name.as_str());
            return Err(Stop::Unproven(format!("iterations of a parallel loop may meet in `{name}`")));
        }
        self.vars.pop();
        Ok(())
    }

    fn expr(&mut self, expr: &'a Expr, domain: &Set) -> Proof<()> {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {
                Ok(())
            }
            ExprKind::Load { array, index } => self.access(*array, index, domain, false),
            ExprKind::Gather { array, index } => self.data_access(*array, index, domain, false),
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(a, domain),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, domain)?;
                self.expr(b, domain)
            }
            ExprKind::Select(cond, a, b) => {
                self.expr(cond, domain)?;
                for (branch, chosen) in [(a, true), (b, false)] {
                    match self.known(cond, chosen, &domain.get_space()?)? {
                        None => self.expr(branch, domain)?,
                        Some(known) => {
                            let narrower = domain.clone().intersect(known)?;
                            self.within(|prover| prover.expr(branch, &narrower))?;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Where a value may be `wanted`, as far as it is index arithmetic.
    fn known(&self, value: &Expr, wanted: bool, space: &Space) -> Proof<Option<Set>> {
        Ok(match &value.kind {
            ExprKind::Cond(cond) => {
                let holds = self.cond(cond, space)?;
                Some(if wanted { holds } else { holds.complement()? })
            }
            ExprKind::At(_, a) => self.known(a, wanted, space)?,
            ExprKind::Unary(UnaryOp::Not, a) => self.known(a, !wanted, space)?,
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (*op == BinaryOp::And) == wanted => {
                match (self.known(a, wanted, space)?, self.known(b, wanted, space)?) {
                    (Some(a), Some(b)) => Some(a.intersect(b)?),
                    (a, b) => a.or(b),
                }
            }
            _ => None,
        })
    }

    fn access(&mut self, array: ArrayId, index: &'a [Index], domain: &Set, written: bool) -> Proof<()> {
        if !self.seen.contains(&(array, index)) {
            for (position, subscript) in index.iter().enumerate() {
                self.inside(array, position, subscript, domain)?;
            }
            self.seen.push((array, index));
        }
        let known: Vec<Option<&Index>> = index.iter().map(Some).collect();
        self.record(array, &known, domain, written)
    }

    /// Subscripts that are values are checked while the loops run.
    fn data_access(&mut self, array: ArrayId, index: &'a [Expr], domain: &Set, written: bool) -> Proof<()> {
        let mut known = Vec::new();
        for (position, subscript) in index.iter().enumerate() {
            self.expr(subscript, domain)?;
            let subscript = match &subscript.kind {
                ExprKind::Index(index) => Some(index),
                _ => None,
            };
            if let Some(index) = subscript {
                self.inside(array, position, index, domain)?;
            }
            known.push(subscript);
        }
        self.record(array, &known, domain, written)
    }

    fn inside(&self, array: ArrayId, position: usize, subscript: &Index, domain: &Set) -> Proof<()> {
        if self.shown.inside {
            return Ok(());
        }
        let decl = self.kernel.arrays.get(array.index()).ok_or_else(|| Fault::bug("an array is missing"))?;
        let extent = decl.shape.get(position).ok_or_else(|| Fault::bug("a dimension is missing"))?;
        let space = domain.get_space()?;
        let value = self.value(subscript, &space)?;
        let zero = PwAff::from_aff(Aff::zero_on_domain_space(space.clone())?)?;
        let cells = value.clone().ge_set(zero)?.intersect(self.compare(CompareOp::Lt, value, extent, &space)?)?;
        if domain.is_subset(&cells)? {
            return Ok(());
        }
        Err(Stop::Unproven(format!("dimension {} of `{}` may be left", position + 1, decl.name)))
    }

    /// Keeps an access for the parallel loops around.
    fn record(&mut self, array: ArrayId, index: &[Option<&Index>], domain: &Set, written: bool) -> Proof<()> {
        if !self.regions.iter().any(|touched| touched.region.watches(array)) {
            return Ok(());
        }
        let space = domain.get_space()?;
        let mut values = Vec::new();
        for subscript in index {
            values.push(subscript.map(|index| self.value(index, &space)).transpose()?);
        }
        let cells = races::cells(self.params, domain, values)?;
        for touched in self.regions.iter_mut().filter(|touched| touched.region.watches(array)) {
            touched.record(array, &cells, written)?;
        }
        Ok(())
    }

    fn cond(&self, cond: &Cond, space: &Space) -> Proof<Set> {
        Ok(match cond {
            Cond::Compare(op, a, b) => self.compare(*op, self.value(a, space)?, b, space)?,
            Cond::Not(cond) => self.cond(cond, space)?.complement()?,
            Cond::And(conds) => {
                let mut set = Set::universe(space.clone())?;
                for cond in conds {
                    set = set.intersect(self.cond(cond, space)?)?;
                }
                set
            }
            Cond::Or(conds) => {
                let mut set = Set::empty(space.clone())?;
                for cond in conds {
                    set = set.union(self.cond(cond, space)?)?;
                }
                set
            }
        })
    }

    fn compare(&self, op: CompareOp, a: PwAff, b: &Index, space: &Space) -> Proof<Set> {
        let b = self.value(b, space)?;
        Ok(match op {
            CompareOp::Lt => a.lt_set(b)?,
            CompareOp::Le => a.le_set(b)?,
            CompareOp::Gt => b.lt_set(a)?,
            CompareOp::Ge => a.ge_set(b)?,
            CompareOp::Eq => a.eq_set(b)?,
            CompareOp::Ne => a.ne_set(b)?,
        })
    }

    /// An index expression over the loops around and the parameters.
    fn value(&self, index: &Index, space: &Space) -> Proof<PwAff> {
        let number = |value: i64| Val::from_i64(self.ctx, value);
        Ok(match index {
            Index::Const(value) => PwAff::from_aff(Aff::val_on_domain_space(space.clone(), number(*value)?)?)?,
            Index::Param(id) => PwAff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Param, id.index())?,
            Index::Var(var) => {
                let position = self.vars.iter().position(|known| known == var);
                let position = position.ok_or_else(|| Fault::bug("a loop variable is used outside its loop"))?;
                PwAff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, position)?
            }
            Index::Add(a, b) => self.value(a, space)?.add(self.value(b, space)?)?,
            Index::Sub(a, b) => self.value(a, space)?.sub(self.value(b, space)?)?,
            Index::Mul(a, factor) => self.value(a, space)?.scale_val(number(*factor)?)?,
            Index::FloorDiv(a, divisor) => self.value(a, space)?.scale_down_val(number(*divisor)?)?.floor()?,
            Index::Mod(a, divisor) => self.value(a, space)?.mod_val(number(*divisor)?)?,
            Index::Xor(..) => return Err(Stop::Unproven("an exclusive or is not affine".to_owned())),
            Index::Min(a, b) => self.value(a, space)?.min(self.value(b, space)?)?,
            Index::Max(a, b) => self.value(a, space)?.max(self.value(b, space)?)?,
            Index::Select(cond, a, b) => {
                let chosen = self.cond(cond, space)?;
                let then = self.value(a, space)?.intersect_domain(chosen.clone())?;
                then.union_add(self.value(b, space)?.subtract_domain(chosen)?)?
            }
        })
    }
}
