//! Modelling: from the array program to statements as sets and maps.
//!
//! In: a verified function.  Out: a [`Scop`] in which every reduction is an init, an update and a fini statement.
//! A reduction is computed once for all instances of its forall that share it: its statements range over the enclosing
//! `for` loops and over those forall indices that it uses.
//! Not here: whether the program is legal (`check`), and any order but the original one.

mod inside;

use diag::Span;
use isl::{Context, Dim, Set};
use program::{
    Affine, ArrayId, Assign, Atom, BinaryOp, Bound, Cond, Each, Expr, ExprKind, For, Function, IterId, Node, ReduceOp,
    Role, ScalarType, Scatter, Subscript,
};

use crate::equations::{self, Equations};
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, ArrayOrigin, Inside, Scop, ScopArray, Statement, StatementKind};
use crate::sets::{Frame, Params, below, in_range};
use crate::tree::{StatementId, Tree, of_program};
use inside::Scope;

/// Models one function.
pub fn model(ctx: &Context, function: &Function) -> diag::Result<Scop> {
    Modeller::new(ctx, function).and_then(Modeller::run).map_err(|fault| fault.of_function("model", function))
}

struct Modeller<'a> {
    function: &'a Function,
    params: Params,
    /// What `where` says.
    requirements: Set,
    context: Set,
    arrays: Vec<ScopArray>,
    statements: Vec<Statement>,
    /// Every iterator's range, for the extents of accumulators.
    ranges: Vec<Option<(Affine, Affine)>>,
}

/// The loops around a place in the program.
#[derive(Clone)]
struct Place {
    /// How many of `iters` belong to `for` loops; these come first.
    ordered: usize,
    iters: Vec<IterId>,
    domain: Set,
    /// The original order so far.
    time: Vec<Affine>,
}

/// What a statement is made of; its accesses follow from that.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Unique in the Scop.
    pub name: String,
    /// The source statement it is part of.
    pub source: String,
    /// What it is.
    pub kind: StatementKind,
    /// Its dimensions.
    pub iters: Vec<IterId>,
    /// How many belong to `for` loops.
    pub ordered: usize,
    /// How many are not reduced.
    pub kept: usize,
    /// In any space with a dimension per iterator.
    pub domain: Set,
    /// What it writes.
    pub target: (ArrayId, Vec<Subscript>, Span),
    /// What is stored.
    pub value: Expr,
    /// When it runs in the program as written.
    pub time: Vec<Affine>,
    /// Where it is written.
    pub span: Span,
    /// The loop that the statement is, if its bounds depend on data.
    pub each: Option<Each>,
}

impl Parts {
    /// Those of a statement.
    pub fn of(statement: &Statement) -> Parts {
        let write = &statement.write;
        Parts {
            name: statement.name.clone(),
            source: statement.source.clone(),
            kind: statement.kind,
            iters: statement.iters.clone(),
            ordered: statement.ordered,
            kept: statement.kept,
            domain: statement.domain.clone(),
            target: (write.array, write.index.clone(), write.span),
            value: statement.value.clone(),
            time: statement.time.clone(),
            span: statement.span,
            each: statement.block.as_ref().map(|block| block.each.clone()),
        }
    }

    /// The statement, among the arrays and iterators of `scop`.
    pub fn build(self, scop: &Scop) -> Attempt<Statement> {
        let modeller = Modeller {
            function: &scop.function,
            params: scop.params.clone(),
            requirements: scop.context.clone(),
            context: scop.context.clone(),
            arrays: scop.arrays.clone(),
            statements: Vec::new(),
            ranges: Vec::new(),
        };
        modeller.build(self)
    }
}

/// One source statement while its reductions are taken out.
struct Source<'a> {
    name: &'a str,
    span: Span,
    target_span: Span,
    /// The time of the statement; its parts follow each other behind it.
    time: Vec<Affine>,
    parts: i64,
    reductions: usize,
}

impl<'a> Modeller<'a> {
    fn new(ctx: &Context, function: &'a Function) -> Attempt<Self> {
        let params = Params::new(ctx, function)?;
        let requirements = requirements(&params, function)?;
        let context = non_negative(requirements.clone(), function)?;
        let mut arrays: Vec<ScopArray> = Vec::new();
        for array in &function.arrays {
            let name = unique(&array.name, |name| arrays.iter().any(|known| known.name == name));
            arrays.push(ScopArray {
                name,
                ty: array.ty,
                shape: array.shape.clone(),
                first_at_most: None,
                role: array.role,
                origin: ArrayOrigin::Declared,
                expanded: 0,
                laid: None,
                span: array.span,
            });
        }
        let ranges = vec![None; function.iters.len()];
        Ok(Modeller { function, params, requirements, context, arrays, statements: Vec::new(), ranges })
    }

    fn run(mut self) -> Attempt<Scop> {
        let frame = self.frame(None, &[])?;
        // That parameters are not negative follows from a loop that runs, nearly always; stating it in every domain
        // only makes isl slower.
        let domain = Set::universe(frame.space)?.intersect_params(self.requirements.clone())?;
        let outermost = Place { ordered: 0, iters: Vec::new(), domain, time: Vec::new() };
        self.block(&self.function.body, &outermost)?;
        let times: Vec<(StatementId, Vec<Affine>)> = self
            .statements
            .iter()
            .enumerate()
            .map(|(position, statement)| (StatementId::new(position), statement.time.clone()))
            .collect();
        let mut scop = Scop {
            function: self.function.clone(),
            params: self.params,
            context: self.context,
            arrays: self.arrays,
            statements: self.statements,
            equations: Equations::default(),
            order: Tree::from_times(&times, &of_program(self.function)),
        };
        scop.equations = equations::find(&scop)?;
        Ok(scop)
    }

    fn frame(&self, name: Option<&str>, iters: &[IterId]) -> Attempt<Frame> {
        Frame::new(&self.params, self.function, name, iters)
    }

    fn block(&mut self, nodes: &[Node], place: &Place) -> Attempt<()> {
        for (position, node) in nodes.iter().enumerate() {
            let mut place = place.clone();
            place.time.push(Affine::constant(position as i64));
            match node {
                Node::For(node) => self.ordered_loop(node, place)?,
                Node::Assign(assign) => self.assign(assign, place)?,
                Node::Scatter(scatter) => self.scatter(scatter, place)?,
                Node::Each(each) => self.each(each, place)?,
            }
        }
        Ok(())
    }

    fn ordered_loop(&mut self, node: &For, place: Place) -> Attempt<()> {
        let iter = Affine::iter(node.bound.iter);
        let mut place = self.enter(place, std::slice::from_ref(&node.bound), &stride(node)?)?;
        place.ordered += 1;
        let downwards = (node.step < 0) != node.rev;
        let direction = if downwards { iter.scale(-1) } else { Some(iter) };
        place.time.push(direction.ok_or(Fault::Overflow("a loop index"))?);
        self.block(&node.body, &place)
    }

    /// The place inside loops over `bounds` that run where `guard` holds. The time is the caller's business.
    fn enter(&mut self, mut place: Place, bounds: &[Bound], guard: &Cond) -> Attempt<Place> {
        for bound in bounds {
            let range = (self.extreme(&bound.lo, false)?, self.extreme(&bound.hi, true)?);
            self.ranges[bound.iter.index()] = Some(range);
        }
        (place.iters, place.domain) = self.extended(&place.iters, place.domain, bounds, guard)?;
        Ok(place)
    }

    /// The iterators and instances inside more loops.
    fn extended(&self, iters: &[IterId], domain: Set, bounds: &[Bound], guard: &Cond) -> Attempt<(Vec<IterId>, Set)> {
        let iters: Vec<IterId> = iters.iter().copied().chain(bounds.iter().map(|bound| bound.iter)).collect();
        let frame = self.frame(None, &iters)?;
        let mut domain = domain.add_dims(Dim::Set, bounds.len())?.reset_space(frame.space.clone())?;
        for bound in bounds {
            domain = domain.intersect(frame.cond(&in_range(bound)?)?)?;
        }
        if !guard.is_true() {
            domain = domain.intersect(frame.cond(guard)?)?.coalesce()?;
        }
        Ok((iters, domain))
    }

    fn assign(&mut self, assign: &Assign, place: Place) -> Attempt<()> {
        let time = place.time.clone();
        let place = self.enter(place, &assign.foralls, &assign.guard)?;
        let Assign { span, target_span, .. } = *assign;
        let mut source = Source { name: &assign.name, span, target_span, time, parts: 0, reductions: 0 };
        let value = match self.accumulates_in_place(assign, &place) {
            Some((op, bounds, guard, body)) => {
                let accumulator = (assign.target, assign.index.clone());
                self.reduction(&mut source, &place, op, bounds, guard, body, Some(accumulator), &[], assign.value.span)?
            }
            None => self.extract(&mut source, &assign.value, &place, &mut Vec::new())?,
        };
        let (kind, suffix) =
            if source.reductions > 0 { (StatementKind::Fini, "_fini") } else { (StatementKind::Assign, "") };
        let mut time = source.time.clone();
        time.push(Affine::constant(source.parts));
        time.extend(place.iters[place.ordered..].iter().map(|iter| Affine::iter(*iter)));
        let name = format!("{}{suffix}", assign.name);
        let target = (assign.target, affine_subscripts(&assign.index), assign.target_span);
        self.statement(&source, name, kind, &place, target, value, time, 0)
    }

    /// One update per instance, of a cell that the others may share.
    fn scatter(&mut self, scatter: &Scatter, place: Place) -> Attempt<()> {
        let time = place.time.clone();
        let place = self.enter(place, &scatter.foralls, &scatter.guard)?;
        let Scatter { span, target_span, target: array, op, .. } = *scatter;
        let mut source = Source { name: &scatter.name, span, target_span, time, parts: 0, reductions: 0 };
        let index = self.extract_subscripts(&mut source, &scatter.index, &place, &mut Vec::new())?;
        let term = self.extract(&mut source, &scatter.value, &place, &mut Vec::new())?;
        let ty = term.ty;
        let old = Expr { kind: ExprKind::Gather { array, index: index.clone() }, ty, span: target_span };
        let value = Expr { kind: ExprKind::Binary(op.combine(), Box::new(old), Box::new(term)), ty, span };
        let mut time = source.time.clone();
        time.push(Affine::constant(source.parts));
        time.extend(place.iters[place.ordered..].iter().map(|iter| Affine::iter(*iter)));
        let suffix = if source.reductions > 0 { "_scatter" } else { "" };
        let name = format!("{}{suffix}", scatter.name);
        let (target, reduced) = ((array, index, target_span), place.iters.len());
        self.statement(&source, name, StatementKind::Update(op), &place, target, value, time, reduced)
    }

    /// A statement that is one reduction, uses all of its indices, and does not read its target, accumulates there.
    fn accumulates_in_place<'e>(
        &self,
        assign: &'e Assign,
        place: &Place,
    ) -> Option<(ReduceOp, &'e [Bound], &'e Cond, &'e Expr)> {
        let ExprKind::Reduce { op, bounds, guard, body } = &assign.value.kind else { return None };
        // The place of an extreme takes two reductions, neither of which is the result.
        if op.extreme().is_some() {
            return None;
        }
        let reads_target = body.reads(assign.target).is_some();
        let used = assign.value.iters();
        let uses_all = place.iters[place.ordered..].iter().all(|iter| used.contains(iter));
        (!reads_target && uses_all).then_some((*op, bounds.as_slice(), guard, body.as_ref()))
    }

    /// The expression with its reductions replaced by loads of their accumulators.
    ///
    /// `conditions` are the data-dependent conditions under which the expression is evaluated; a reduction under
    /// them is computed for every instance, so they guard its terms instead.
    fn extract(
        &mut self,
        source: &mut Source<'_>,
        expr: &Expr,
        place: &Place,
        conditions: &mut Vec<Expr>,
    ) -> Attempt<Expr> {
        let kind = match &expr.kind {
            // What a loop inside the statement computes, it computes there.
            ExprKind::Const(_)
            | ExprKind::Index(_)
            | ExprKind::Scalar(_)
            | ExprKind::Counter(_)
            | ExprKind::Fold { .. }
            | ExprKind::Load { .. } => expr.kind.clone(),
            ExprKind::Gather { array, index } => {
                let index = self.extract_subscripts(source, index, place, conditions)?;
                ExprKind::Gather { array: *array, index }
            }
            ExprKind::Unary(op, operand) => {
                ExprKind::Unary(*op, Box::new(self.extract(source, operand, place, conditions)?))
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let lhs = self.extract(source, lhs, place, conditions)?;
                let rhs = self.extract(source, rhs, place, conditions)?;
                ExprKind::Binary(*op, Box::new(lhs), Box::new(rhs))
            }
            ExprKind::Cast(operand) => ExprKind::Cast(Box::new(self.extract(source, operand, place, conditions)?)),
            ExprKind::Select { cond, affine, then, otherwise } => {
                let cond = self.extract(source, cond, place, conditions)?;
                let mut branches = Vec::new();
                for (branch, taken) in [(then, true), (otherwise, false)] {
                    branches.push(self.extract_branch(
                        source,
                        branch,
                        &cond,
                        affine.as_ref(),
                        taken,
                        place,
                        conditions,
                    )?);
                }
                let (Some(otherwise), Some(then)) = (branches.pop(), branches.pop()) else {
                    return Err(Fault::bug("a branch is missing"));
                };
                let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                ExprKind::Select { cond: Box::new(cond), affine: affine.clone(), then, otherwise }
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                return self.reduction(source, place, *op, bounds, guard, body, None, conditions, expr.span);
            }
        };
        Ok(Expr { kind, ty: expr.ty, span: expr.span })
    }

    fn extract_subscripts(
        &mut self,
        source: &mut Source<'_>,
        index: &[Subscript],
        place: &Place,
        conditions: &mut Vec<Expr>,
    ) -> Attempt<Vec<Subscript>> {
        let mut extracted = Vec::new();
        for subscript in index {
            extracted.push(match subscript {
                Subscript::Affine(affine) => Subscript::Affine(affine.clone()),
                Subscript::Data(expr) => Subscript::Data(Box::new(self.extract(source, expr, place, conditions)?)),
            });
        }
        Ok(extracted)
    }

    #[expect(clippy::too_many_arguments, reason = "a branch is known by its condition, its side and its place")]
    fn extract_branch(
        &mut self,
        source: &mut Source<'_>,
        branch: &Expr,
        cond: &Expr,
        affine: Option<&Cond>,
        taken: bool,
        place: &Place,
        conditions: &mut Vec<Expr>,
    ) -> Attempt<Expr> {
        if !contains_reduction(branch) {
            return Ok(branch.clone());
        }
        if let Some(affine) = affine {
            let affine = if taken { Some(affine.clone()) } else { affine.negate() };
            let affine = affine.ok_or(Fault::Overflow("a condition"))?;
            let frame = self.frame(None, &place.iters)?;
            let mut place = place.clone();
            place.domain = place.domain.intersect(frame.cond(&affine)?)?.coalesce()?;
            return self.extract(source, branch, &place, conditions);
        }
        let holds = if taken {
            cond.clone()
        } else {
            let kind = ExprKind::Unary(program::UnaryOp::Not, Box::new(cond.clone()));
            Expr { kind, ty: cond.ty, span: cond.span }
        };
        conditions.push(holds);
        let branch = self.extract(source, branch, place, conditions);
        conditions.pop();
        branch
    }

    /// Makes the init and update statements of a reduction and returns the load of its finished value.
    #[expect(clippy::too_many_arguments, reason = "the parts of a reduction, and where it stands")]
    fn reduction(
        &mut self,
        source: &mut Source<'_>,
        place: &Place,
        op: ReduceOp,
        bounds: &[Bound],
        guard: &Cond,
        body: &Expr,
        accumulator: Option<(ArrayId, Vec<Affine>)>,
        conditions: &[Expr],
        span: Span,
    ) -> Attempt<Expr> {
        if let (Some(extreme), [bound]) = (op.extreme(), bounds) {
            return self.place_of_extreme(source, place, extreme, bound, guard, body, conditions, span);
        }
        let ty = body.ty;
        let mut used = body.iters();
        bounds.iter().for_each(|bound| {
            bound.lo.visit_iters(&mut |iter| used.push(iter));
            bound.hi.visit_iters(&mut |iter| used.push(iter));
        });
        guard.visit_iters(&mut |iter| used.push(iter));
        conditions.iter().for_each(|condition| used.extend(condition.iters()));
        let shared = self.keep_iters(place, &used)?;

        let mut term = body.clone();
        for condition in conditions.iter().rev() {
            let neutral = Expr { kind: ExprKind::Const(op.neutral(ty)), ty, span: body.span };
            let (cond, then, otherwise) = (Box::new(condition.clone()), Box::new(term), Box::new(neutral));
            term = Expr { kind: ExprKind::Select { cond, affine: None, then, otherwise }, ty, span: body.span };
        }
        let number = source.reductions;
        source.reductions += 1;
        let inner = self.enter(shared.clone(), bounds, guard)?;
        let term = self.extract(source, &term, &inner, &mut Vec::new())?;

        let suffix = if number == 0 { String::new() } else { number.to_string() };
        let ((array, index), span) = match accumulator {
            Some(in_place) => (in_place, source.target_span),
            None => {
                let name = format!("{}_{}{suffix}", source.name, op.name());
                (self.accumulator(&name, &shared, ty, span)?, span)
            }
        };
        let part = Affine::constant(source.parts);
        source.parts += 1;
        let mut time = source.time.clone();
        time.push(part);
        time.extend(shared.iters[shared.ordered..].iter().map(|iter| Affine::iter(*iter)));

        let target = (array, affine_subscripts(&index), span);
        let init = Expr { kind: ExprKind::Const(op.neutral(ty)), ty, span };
        let name = format!("{}_init{suffix}", source.name);
        let init_time = [time.as_slice(), &[Affine::constant(0)]].concat();
        self.statement(source, name, StatementKind::Init(op), &shared, target.clone(), init, init_time, 0)?;

        let load = Expr { kind: ExprKind::Load { array, index }, ty, span };
        let sum = ExprKind::Binary(op.combine(), Box::new(load.clone()), Box::new(term));
        let update = Expr { kind: sum, ty, span };
        let name = format!("{}_update{suffix}", source.name);
        time.push(Affine::constant(1));
        time.extend(bounds.iter().map(|bound| Affine::iter(bound.iter)));
        self.statement(source, name, StatementKind::Update(op), &inner, target, update, time, bounds.len())?;
        Ok(load)
    }

    /// `argmin` and `argmax`: the extreme, then the smallest index at which the body has that value. Where it is NaN,
    /// it equals nothing, and the first body that is NaN is meant.
    #[expect(clippy::too_many_arguments, reason = "the parts of a reduction, and where it stands")]
    fn place_of_extreme(
        &mut self,
        source: &mut Source<'_>,
        place: &Place,
        extreme: ReduceOp,
        bound: &Bound,
        guard: &Cond,
        body: &Expr,
        conditions: &[Expr],
        span: Span,
    ) -> Attempt<Expr> {
        let bounds = std::slice::from_ref(bound);
        let best = self.reduction(source, place, extreme, bounds, guard, body, None, conditions, span)?;
        // What the update of the extreme combines is the body without its reductions, which are not done again.
        let update = self.statements.last().ok_or_else(|| Fault::bug("an update is missing"))?;
        let term = Box::new(update.term()?.clone());
        let make = |kind, ty| Expr { kind, ty, span };
        let binary =
            |op, lhs: Box<Expr>, rhs: Box<Expr>| Box::new(make(ExprKind::Binary(op, lhs, rhs), ScalarType::Bool));
        let mut found = binary(BinaryOp::Eq, term.clone(), Box::new(best));
        if body.ty.is_float() {
            found = binary(BinaryOp::Or, found, binary(BinaryOp::Ne, term.clone(), term));
        }
        let index = |value| make(ExprKind::Const(value), ScalarType::I64);
        let none = index(ReduceOp::Min.neutral(ScalarType::I64));
        let here = make(ExprKind::Index(Affine::iter(bound.iter)), ScalarType::I64);
        let choose = |cond, then: Expr, otherwise: Expr| {
            let (then, otherwise) = (Box::new(then), Box::new(otherwise));
            make(ExprKind::Select { cond, affine: None, then, otherwise }, ScalarType::I64)
        };
        let candidate = choose(found, here, none.clone());
        let first = self.reduction(source, place, ReduceOp::Min, bounds, guard, &candidate, None, &[], span)?;
        let nowhere = binary(BinaryOp::Eq, Box::new(first.clone()), Box::new(none));
        Ok(choose(nowhere, index(program::Value::I64(-1)), first))
    }

    /// The place with only its ordered loops and the iterators in `used`.
    fn keep_iters(&self, place: &Place, used: &[IterId]) -> Attempt<Place> {
        let mut kept = place.clone();
        for position in (place.ordered..place.iters.len()).rev() {
            if !used.contains(&place.iters[position]) {
                kept.domain = kept.domain.project_out(Dim::Set, position, 1)?;
                kept.iters.remove(position);
            }
        }
        if kept.iters.len() < place.iters.len() {
            kept.domain = kept.domain.coalesce()?.reset_space(self.frame(None, &kept.iters)?.space)?;
        }
        Ok(kept)
    }

    /// A new array for partial results, and the subscripts by which an instance finds its cell.
    fn accumulator(
        &mut self,
        name: &str,
        place: &Place,
        ty: ScalarType,
        span: Span,
    ) -> Attempt<(ArrayId, Vec<Affine>)> {
        let overflow = || Fault::Overflow("the extent of an accumulator");
        let (mut shape, mut index) = (Vec::new(), Vec::new());
        for iter in &place.iters {
            let (lo, hi) = self.ranges[iter.index()].clone().ok_or_else(|| Fault::bug("an iterator has no range"))?;
            shape.push(hi.sub(&lo).ok_or_else(overflow)?);
            index.push(Affine::iter(*iter).sub(&lo).ok_or_else(overflow)?);
        }
        let name = unique(name, |name| self.arrays.iter().any(|known| known.name == name));
        let id = ArrayId(self.arrays.len() as u32);
        self.arrays.push(ScopArray {
            name,
            ty,
            shape,
            first_at_most: None,
            role: Role::Local,
            origin: ArrayOrigin::Accumulator,
            expanded: place.ordered,
            laid: None,
            span,
        });
        Ok((id, index))
    }

    /// The largest or smallest value of an expression, as one over the parameters.
    fn extreme(&self, affine: &Affine, largest: bool) -> Attempt<Affine> {
        let overflow = || Fault::Overflow("a range");
        let mut sum = Affine::constant(affine.constant);
        for (atom, coefficient) in &affine.terms {
            let upwards = largest == (*coefficient > 0);
            let extreme = match atom {
                Atom::Param(id) => Affine::param(*id),
                Atom::Iter(id) => {
                    let range = self.ranges[id.index()].as_ref();
                    let (lo, hi) = range.ok_or_else(|| Fault::bug("an iterator has no range"))?;
                    if upwards { hi.sub(&Affine::constant(1)).ok_or_else(overflow)? } else { lo.clone() }
                }
                Atom::Div(numerator, divisor) => {
                    self.extreme(numerator, upwards)?.div(*divisor).ok_or_else(overflow)?
                }
            };
            sum = sum.add_scaled(&extreme, *coefficient).ok_or_else(overflow)?;
        }
        Ok(sum)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a statement")]
    fn statement(
        &mut self,
        source: &Source<'_>,
        name: String,
        kind: StatementKind,
        place: &Place,
        (array, index, target_span): (ArrayId, Vec<Subscript>, Span),
        value: Expr,
        time: Vec<Affine>,
        reduced: usize,
    ) -> Attempt<()> {
        let name = unique(&name, |name| self.statements.iter().any(|known| known.name == name));
        let parts = Parts {
            name,
            source: source.name.to_string(),
            kind,
            iters: place.iters.clone(),
            ordered: place.ordered,
            kept: place.iters.len() - reduced,
            domain: place.domain.clone(),
            target: (array, index, target_span),
            value,
            time,
            span: source.span,
            each: None,
        };
        let statement = self.build(parts)?;
        self.statements.push(statement);
        Ok(())
    }

    fn build(&self, parts: Parts) -> Attempt<Statement> {
        let frame = self.frame(Some(&parts.name), &parts.iters)?;
        let domain = parts.domain.clone().reset_space(frame.space.clone())?;
        if let Some(each) = parts.each.clone() {
            return self.build_block(parts, each, &frame, domain);
        }
        let (array, mut index, span) = parts.target;
        // The cell that a scatter updates is the one that it reads.
        if let (ExprKind::Binary(_, old, _), true) = (&parts.value.kind, parts.kind.is_update())
            && let ExprKind::Gather { index: read, .. } = &old.kind
        {
            index.clone_from(read);
        }
        let write = self.access(&frame, &domain, array, &index, span)?;
        let mut reads = Vec::new();
        let mut inside = Vec::new();
        let scope = Scope { frame: &frame, domain: &domain, iters: &parts.iters };
        self.collect_reads(scope, &parts.value, &mut reads, &mut inside)?;
        for found in &inside {
            let Inside { iters, reads: inner, .. } = found;
            for access in inner {
                reads.push(self.outward(&frame, &parts.iters, iters.len(), access)?);
            }
        }
        Ok(Statement {
            name: parts.name,
            source: parts.source,
            kind: parts.kind,
            iters: parts.iters,
            ordered: parts.ordered,
            kept: parts.kept,
            domain,
            write,
            reads,
            block: None,
            inside,
            value: parts.value,
            time: parts.time,
            span: parts.span,
        })
    }

    fn access(&self, frame: &Frame, domain: &Set, array: ArrayId, index: &[Subscript], span: Span) -> Attempt<Access> {
        let declared = &self.arrays[array.index()];
        let range = self.params.tuple(Some(&declared.name), &vec![""; index.len()])?;
        let map = match Subscript::all_affine(index) {
            Some(index) => frame.map(range, &index)?,
            None => {
                let outputs: Vec<Option<&Affine>> = index.iter().map(Subscript::as_affine).collect();
                let mut map = frame.may_map(&self.params, range.clone(), &outputs)?;
                // What depends on data is checked at run time, so it stays inside the array.
                for (position, extent) in declared.shape.iter().enumerate().filter(|(at, _)| outputs[*at].is_none()) {
                    map = map.intersect_range(below(&range, position, extent)?)?;
                }
                map
            }
        };
        Ok(Access { array, index: index.to_vec(), span, map: map.intersect_domain(domain.clone())? })
    }
}

/// The sizes that calls can have.
pub(crate) fn context(params: &Params, function: &Function) -> Attempt<Set> {
    non_negative(requirements(params, function)?, function)
}

fn non_negative(mut sizes: Set, function: &Function) -> Attempt<Set> {
    for position in 0..function.params.len() {
        sizes = sizes.lower_bound_si(Dim::Param, position, 0)?;
    }
    Ok(sizes)
}

/// The parameter values that `where` admits.
fn requirements(params: &Params, function: &Function) -> Attempt<Set> {
    let mut requirements = Set::universe(params.space())?;
    let frame = Frame::new(params, function, None, &[])?;
    for requirement in &function.context {
        requirements = requirements.intersect(frame.cond(&requirement.cond)?.params()?)?;
    }
    for fact in function.derived_facts() {
        requirements = requirements.intersect(frame.cond(&fact)?.params()?)?;
    }
    Ok(requirements.coalesce()?)
}

/// Which values of the range a stepped loop visits.
pub(crate) fn stride(node: &For) -> Attempt<Cond> {
    let size = node.step.checked_abs().ok_or(Fault::Overflow("a step"))?;
    if size == 1 {
        return Ok(Cond::TRUE);
    }
    let iter = Affine::iter(node.bound.iter);
    let distance = if node.step > 0 {
        iter.sub(&node.bound.lo)
    } else {
        node.bound.hi.sub(&iter).and_then(|gap| gap.sub(&Affine::constant(1)))
    };
    let remainder = distance.and_then(|distance| distance.rem(size));
    Ok(Cond::Zero(remainder.ok_or(Fault::Overflow("a step"))?))
}

/// `name`, or with the first number behind it that makes it new.
pub fn unique(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_string();
    }
    let numbered = (2..).map(|number| format!("{name}_{number}")).find(|candidate| !taken(candidate));
    numbered.unwrap_or_else(|| name.to_string())
}

fn contains_reduction(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| found |= matches!(expr.kind, ExprKind::Reduce { .. }));
    found
}

/// Subscripts that are known.
pub fn affine_subscripts(index: &[Affine]) -> Vec<Subscript> {
    index.iter().cloned().map(Subscript::Affine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_unique_by_numbers() {
        let taken = ["S0".to_string(), "S0_2".to_string()];
        assert_eq!(unique("S0", |name| taken.iter().any(|known| known == name)), "S0_3");
        assert_eq!(unique("S1", |_| false), "S1");
    }
}
