//! Loop generation: from a proven schedule to the loop tree.
//!
//! In: [`Proven`]; nothing else can be lowered.  Out: loops without any trace of isl, with all subscripts in bounds.
//! Not here: simplification and register use of the loops (`loops::optimize`).

mod body;

use std::collections::HashMap;
use std::time::Duration;

use isl::ast::{self, Op};
use isl::{AstBuild, AstOptions, Budget, Id, Schedule};
use loops::{
    ArrayDecl, ArrayId, CompareOp, Cond, For, InBounds, Index, Kernel, LocalDecl, LoopKind, Parallel, ParamId,
    Reduction, ScalarDecl, Stmt, VarId,
};
use program::{Affine, Atom};

use crate::fault::{Attempt, Fault};
use crate::prove::{Proven, stays_within};
use crate::scop::{ArrayOrigin, Scop, ScopArray};
use crate::tree::{self, LoopId, Marks};
use body::{Body, Names};

/// What isl may take to cut loops apart, which only makes them simpler: a few tenths of a second, counted in operations so that the loops are the
/// same on every machine, unless it is very slow.
const SEPARATION: Budget = Budget { time: Some(Duration::from_secs(1)), operations: Some(600_000), memory: None };

/// Generates the loops of a schedule. They touch the cells that the program's statements touch, which `check_program` has
/// shown to exist.
pub fn generate(proven: &Proven) -> diag::Result<InBounds> {
    let generate = || -> Attempt<InBounds> {
        let tree = ast_of_tree(proven)?;
        let mut generator = Generator::new(proven);
        let body = generator.node(&tree, None)?;
        let shared = std::mem::take(&mut generator.shared);
        let kernel = with_private_buffers(proven, generator.finish(body)?, &shared)?;
        Ok(InBounds::by_proof(kernel))
    };
    generate().map_err(|fault| fault.of_loops("loops", &proven.subject().scop.function))
}

/// Buffers that have cells for every iteration of a parallel loop, but are filled and read within one, are private to iterations: as many
/// of them as threads are enough, and they stay in their caches.
fn with_private_buffers(proven: &Proven, mut kernel: Kernel, shared: &[(LoopId, VarId)]) -> Attempt<Kernel> {
    let (subject, branches) = (proven.subject(), proven.tree().branches());
    let is_buffer = |array: &&ScopArray| array.origin == ArrayOrigin::Buffer;
    if shared.is_empty() || !subject.scop.arrays.iter().any(|array| is_buffer(&array)) {
        return Ok(kernel);
    }
    // Which slice is whose shows in simple subscripts only.
    kernel = loops::simplify(kernel);
    for (position, array) in subject.scop.arrays.iter().enumerate().filter(|(_, array)| is_buffer(array)) {
        let mut known: Vec<LoopId> = shared.iter().map(|(id, _)| *id).collect();
        known.dedup();
        for id in known {
            if stays_within(subject, &branches, &array.name, id)? {
                let vars: Vec<VarId> = shared.iter().filter(|(own, _)| *own == id).map(|(_, var)| *var).collect();
                kernel = loops::keep_private(kernel, ArrayId(position as u32), &vars);
            }
        }
    }
    Ok(kernel)
}

/// The loop program of the tree; with loops cut apart where that is wanted and isl can do it in time.
pub(crate) fn ast_of_tree(proven: &Proven) -> Attempt<ast::Node> {
    let scop = &proven.subject().scop;
    let mut whole = proven.to_run();
    if whole.loops().any(|(_, found)| found.separate) {
        let schedule = whole.to_isl(scop, Marks::Loops)?;
        let cut = scop.params.ctx().with_budget(SEPARATION, || Ok(ast_of(scop, schedule)));
        match cut.map_err(Fault::from).and_then(|cut| cut) {
            Ok(tree) => return Ok(tree),
            // isl 0.27 fails to cut some strided domains; the loops are right without.
            Err(fault) => tracing::debug!(?fault, "the loops cannot be cut"),
        }
    }
    let ids: Vec<LoopId> = whole.loops().map(|(id, _)| id).collect();
    ids.into_iter().for_each(|id| whole.edit(id, |found| found.separate = false));
    ast_of(scop, whole.to_isl(scop, Marks::Loops)?)
}

/// The loop program of a schedule, as isl sees it.
fn ast_of(scop: &Scop, schedule: Schedule) -> Attempt<ast::Node> {
    let ctx = scop.params.ctx();
    // One comparison per loop condition; its bound then reads `min(…)`.
    ctx.set_ast_options(&AstOptions { atomic_upper_bound: true, detect_min_max: true, ..AstOptions::default() })?;
    let depth =
        schedule.get_map()?.maps()?.iter().map(|map| map.dim(isl::Dim::Out)).collect::<isl::Result<Vec<_>>>()?;
    let prefix = loop_prefix(scop);
    let names = (0..depth.into_iter().max().unwrap_or(0)).map(|position| format!("{prefix}{position}"));
    let iterators = names.map(|name| Id::new(ctx, &name)).collect::<isl::Result<Vec<_>>>()?;
    let build = AstBuild::from_context(scop.context.clone())?.set_iterators(&iterators)?;
    Ok(build.node_from_schedule(schedule)?.to_tree()?)
}

/// Loop variables are named so that none looks like a parameter.
fn loop_prefix(scop: &Scop) -> String {
    let mut prefix = "c".to_string();
    let clashes = |prefix: &str| {
        scop.function.params.iter().any(|param| {
            param.name.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    while clashes(&prefix) {
        prefix.push('_');
    }
    prefix
}

struct Generator<'a> {
    proven: &'a Proven,
    scop: &'a Scop,
    vars: Vec<String>,
    locals: Vec<LocalDecl>,
    /// What each name of isl's means here.
    names: HashMap<String, Index>,
    /// The parallel loops that are placed nowhere, with the variables of their pieces.
    shared: Vec<(LoopId, VarId)>,
}

impl<'a> Generator<'a> {
    fn new(proven: &'a Proven) -> Self {
        let scop = &proven.subject().scop;
        let params = scop.function.params.iter().enumerate();
        let names = params.map(|(position, param)| (param.name.clone(), Index::Param(ParamId(position as u32))));
        Generator { proven, scop, vars: Vec::new(), locals: Vec::new(), names: names.collect(), shared: Vec::new() }
    }

    fn finish(self, body: Vec<Stmt>) -> Attempt<Kernel> {
        let function = &self.scop.function;
        let arrays = self.scop.arrays.iter().map(|array| {
            let extent = |affine: &Affine| -> Attempt<Index> {
                let extent = Index::of_affine(affine, &param, &|_| None).ok_or_else(unresolved)?;
                // An array of ours for nothing has no cells; sizes themselves are never negative.
                let positive = is_positive(affine);
                Ok(if (array.origin != ArrayOrigin::Declared || array.laid.is_some()) && !positive {
                    Index::Max(Box::new(Index::Const(0)), Box::new(extent))
                } else {
                    extent
                })
            };
            let mut shape = array.shape.iter().map(extent).collect::<Attempt<Vec<Index>>>()?;
            if let (Some(first), Some(at_most)) = (shape.first_mut(), &array.first_at_most) {
                *first = Index::Min(Box::new(first.clone()), Box::new(extent(at_most)?));
            }
            Ok(ArrayDecl { name: array.name.clone(), ty: array.ty, shape, role: array.role, strides: None })
        });
        Ok(Kernel {
            name: function.name.clone(),
            params: function.params.iter().map(|param| param.name.clone()).collect(),
            scalars: function.scalars.iter().map(|s| ScalarDecl { name: s.name.clone(), ty: s.ty }).collect(),
            arrays: arrays.collect::<Attempt<_>>()?,
            vars: self.vars,
            locals: self.locals,
            body,
        })
    }

    /// The statements of a node. A mark has told which loop of the tree those right inside are: all of them, where isl has cut
    /// it into several, and none further in, where a piece of it is no loop at all.
    fn node(&mut self, node: &ast::Node, marked: Option<LoopId>) -> Attempt<Vec<Stmt>> {
        match node {
            ast::Node::Block(nodes) => {
                let mut stmts = Vec::new();
                for node in nodes {
                    stmts.extend(self.node(node, marked)?);
                }
                Ok(stmts)
            }
            ast::Node::Mark { id, body } => {
                let id = id.parse().map(LoopId).map_err(|_| Fault::bug(format!("a mark {id} in loops")))?;
                self.node(body, Some(id))
            }
            ast::Node::If { cond, then, otherwise } => {
                let cond = self.cond(cond)?;
                let then = self.node(then, marked)?;
                let otherwise = otherwise.as_ref().map_or(Ok(Vec::new()), |node| self.node(node, marked))?;
                Ok(vec![Stmt::If { cond, then, otherwise }])
            }
            ast::Node::For { iterator, init, cond, inc, body, degenerate, .. } => {
                let lo = self.index(init)?;
                if *degenerate {
                    let hidden = self.names.insert(iterator.clone(), lo);
                    let body = self.node(body, None)?;
                    self.restore(iterator, hidden);
                    return Ok(body);
                }
                let hi = self.upper_bound(iterator, cond)?;
                let ast::Expr::Int(step @ 1..) = inc else {
                    return Err(Fault::bug(format!("a loop increment of {inc:?}")));
                };
                let var = VarId(self.vars.len() as u32);
                self.vars.push(iterator.clone());
                let hidden = self.names.insert(iterator.clone(), Index::Var(var));
                let body = self.node(body, None)?;
                self.restore(iterator, hidden);
                Ok(vec![self.of_kind(marked, For { var, kind: LoopKind::Serial, lo, hi, step: *step, body })])
            }
            ast::Node::User(expr, _) => self.instance(expr),
        }
    }

    /// The loop as the schedule wants it to run: a parallel loop says what its iterations add up in, and a vector loop whose
    /// lanes cannot stay together runs one iteration after the other.
    fn of_kind(&mut self, marked: Option<LoopId>, found: For) -> Stmt {
        let Some(id) = marked else { return Stmt::For(found) };
        let kind = match self.proven.tree().info(id).kind {
            tree::LoopKind::Serial => LoopKind::Serial,
            kind @ (tree::LoopKind::Parallel | tree::LoopKind::Placed(_)) => {
                if kind.axis().is_none() {
                    self.shared.push((id, found.var));
                }
                let named = self.proven.reductions(id).iter();
                let reductions =
                    named.map(|named| Reduction { array: ArrayId(named.array.0), op: named.op.combine() }).collect();
                LoopKind::Parallel(Parallel { reductions, private: Vec::new(), axis: kind.axis() })
            }
            tree::LoopKind::Vector(lanes) => LoopKind::Vector(lanes),
            tree::LoopKind::Unrolled => LoopKind::Unrolled,
        };
        let found = For { kind, ..found };
        let reductions = match &found.kind {
            LoopKind::Parallel(parallel) => parallel.reductions.as_slice(),
            LoopKind::Vector(_) => &[],
            LoopKind::Serial | LoopKind::Unrolled => return Stmt::For(found),
        };
        // What is proven and yet writes one cell has only one iteration, from which isl has taken the variable.
        if loops::writes_one_cell(&found, reductions) {
            return Stmt::For(For { kind: LoopKind::Serial, ..found });
        }
        if found.kind.is_vector() && !loops::runs_in_lockstep(&found) {
            let together = loops::keep_together(&found, &mut self.vars);
            return together.unwrap_or(Stmt::For(For { kind: LoopKind::Serial, ..found }));
        }
        Stmt::For(found)
    }

    fn restore(&mut self, iterator: &str, hidden: Option<Index>) {
        match hidden {
            Some(index) => self.names.insert(iterator.to_string(), index),
            None => self.names.remove(iterator),
        };
    }

    /// The bound `e` of `iterator < e`, or `e + 1` of `iterator <= e`.
    fn upper_bound(&self, iterator: &str, cond: &ast::Expr) -> Attempt<Index> {
        let ast::Expr::Op(op @ (Op::Lt | Op::Le), args) = cond else {
            return Err(Fault::bug(format!("a loop condition {cond:?}")));
        };
        match args.as_slice() {
            [ast::Expr::Id(name), bound] if name == iterator => {
                let bound = self.index(bound)?;
                Ok(match op {
                    Op::Le => Index::Add(Box::new(bound), Box::new(Index::Const(1))),
                    _ => bound,
                })
            }
            _ => Err(Fault::bug(format!("a loop condition {cond:?}"))),
        }
    }

    /// One statement instance, from isl's `S0(c0, c1 + 1)`.
    fn instance(&mut self, expr: &ast::Expr) -> Attempt<Vec<Stmt>> {
        let ast::Expr::Op(Op::Call, args) = expr else { return Err(Fault::bug(format!("a user node {expr:?}"))) };
        let Some((ast::Expr::Id(name), args)) = args.split_first() else {
            return Err(Fault::bug("a call without a name"));
        };
        let statement = self.scop.statement(name).ok_or_else(|| Fault::bug(format!("no statement {name}")))?;
        let values = args.iter().map(|arg| self.index(arg)).collect::<Attempt<Vec<_>>>()?;
        if values.len() != statement.iters.len() {
            return Err(Fault::bug(format!("{name} is called with {} values", values.len())));
        }
        let names = Names { vars: &mut self.vars, locals: &mut self.locals };
        Body::instance(self.scop, names, statement, &values)
    }

    fn index(&self, expr: &ast::Expr) -> Attempt<Index> {
        let args = |args: &[ast::Expr]| args.iter().map(|arg| self.index(arg)).collect::<Attempt<Vec<_>>>();
        match expr {
            ast::Expr::Int(value) => Ok(Index::Const(*value)),
            ast::Expr::Id(name) => {
                self.names.get(name).cloned().ok_or_else(|| Fault::bug(format!("unknown name {name} in loops")))
            }
            ast::Expr::Op(op @ (Op::Cond | Op::Select), parts) => {
                let [cond, then, otherwise] = parts.as_slice() else {
                    return Err(Fault::bug(format!("{op:?} of {parts:?}")));
                };
                let cond = Box::new(self.cond(cond)?);
                Ok(Index::Select(cond, Box::new(self.index(then)?), Box::new(self.index(otherwise)?)))
            }
            ast::Expr::Op(Op::Minus, parts) => match args(parts)?.pop() {
                Some(operand) => Ok(Index::Mul(Box::new(operand), -1)),
                None => Err(Fault::bug("a minus without operand")),
            },
            ast::Expr::Op(op, parts) => {
                let mut operands = args(parts)?.into_iter();
                let first = operands.next().ok_or_else(|| Fault::bug(format!("{op:?} without operands")))?;
                operands.try_fold(first, |left, right| combine(*op, left, right))
            }
        }
    }

    fn cond(&self, expr: &ast::Expr) -> Attempt<Cond> {
        match expr {
            ast::Expr::Int(value) => Ok(if *value != 0 { Cond::And(Vec::new()) } else { Cond::Or(Vec::new()) }),
            ast::Expr::Op(Op::And | Op::AndThen, parts) => {
                Ok(Cond::And(parts.iter().map(|part| self.cond(part)).collect::<Attempt<_>>()?))
            }
            ast::Expr::Op(Op::Or | Op::OrElse, parts) => {
                Ok(Cond::Or(parts.iter().map(|part| self.cond(part)).collect::<Attempt<_>>()?))
            }
            ast::Expr::Op(op, parts) => {
                let op = match op {
                    Op::Eq => CompareOp::Eq,
                    Op::Le => CompareOp::Le,
                    Op::Lt => CompareOp::Lt,
                    Op::Ge => CompareOp::Ge,
                    Op::Gt => CompareOp::Gt,
                    _ => return Err(Fault::bug(format!("{op:?} as a condition"))),
                };
                let [lhs, rhs] = parts.as_slice() else { return Err(Fault::bug(format!("{op:?} of {parts:?}"))) };
                Ok(Cond::Compare(op, self.index(lhs)?, self.index(rhs)?))
            }
            ast::Expr::Id(name) => Err(Fault::bug(format!("{name} as a condition"))),
        }
    }
}

/// Integer operators of two operands.
fn combine(op: Op, left: Index, right: Index) -> Attempt<Index> {
    let (left, right) = match (op, left, right) {
        (Op::Mul, left, Index::Const(factor)) | (Op::Mul, Index::Const(factor), left) => {
            return Ok(Index::Mul(Box::new(left), factor));
        }
        // An exact division is a floor division.
        (Op::Div | Op::FdivQ | Op::PdivQ, left, Index::Const(divisor @ 1..)) => {
            return Ok(Index::FloorDiv(Box::new(left), divisor));
        }
        (Op::PdivR | Op::ZdivR, left, Index::Const(divisor @ 1..)) => return Ok(Index::Mod(Box::new(left), divisor)),
        (_, left, right) => (Box::new(left), Box::new(right)),
    };
    match op {
        Op::Add => Ok(Index::Add(left, right)),
        Op::Sub => Ok(Index::Sub(left, right)),
        Op::Min => Ok(Index::Min(left, right)),
        Op::Max => Ok(Index::Max(left, right)),
        _ => Err(Fault::bug(format!("{op:?} of {left:?} and {right:?}"))),
    }
}

/// Whether it is not negative by its form, for sizes that are not.
fn is_positive(affine: &Affine) -> bool {
    let positive = |atom: &Atom| match atom {
        Atom::Param(_) => true,
        Atom::Div(numerator, _) => is_positive(numerator),
        Atom::Iter(_) => false,
    };
    affine.constant >= 0 && affine.terms.iter().all(|(atom, by)| positive(atom) && *by > 0)
}

/// A parameter is called the same in loops.
fn param(id: ParamId) -> Option<Index> {
    Some(Index::Param(id))
}

fn unresolved() -> Fault {
    Fault::bug("an iterator has no value in the loops")
}
