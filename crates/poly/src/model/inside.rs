//! What a statement reads, and loops inside of it: those whose bounds depend on data, and reductions in them.
//!
//! In: an expression, or such a loop.  Out: accesses of the statement, to all cells that come into question, and of the loops inside,
//! over their iterators as well.

use isl::{Dim, Set};
use program::{Affine, ArrayId, Bound, Cond, Each, Expr, ExprKind, IterId, Node, ReduceOp, ScalarType, Subscript};

use super::{Modeller, Parts, Place, affine_subscripts, stride, unique};
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Block, Inside, Statement, StatementKind};
use crate::sets::Frame;

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) frame: &'a Frame,
    pub(super) domain: &'a Set,
    pub(super) iters: &'a [IterId],
}

impl Modeller<'_> {
    /// A loop whose bounds depend on data, as one statement.
    pub(super) fn each(&mut self, each: &Each, place: Place) -> Attempt<()> {
        let mut written = None;
        let found = &mut |array: ArrayId| written = written.or((!each.own.contains(&array)).then_some(array));
        each.visit(&mut |_| {}, found);
        // A loop that changes nothing outside of it has nothing to say.
        let Some(array) = written else { return Ok(()) };
        let span = each.span;
        let name = unique(&each.name, |name| self.statements.iter().any(|known| known.name == name));
        let mut time = place.time.clone();
        time.push(Affine::constant(0));
        let statement = self.build(Parts {
            name,
            source: each.name.clone(),
            kind: StatementKind::Update(ReduceOp::Last),
            kept: place.iters.len(),
            iters: place.iters,
            ordered: place.ordered,
            domain: place.domain,
            target: (array, Vec::new(), span),
            value: Expr { kind: ExprKind::Const(program::Value::Bool(false)), ty: ScalarType::Bool, span },
            time,
            span,
            each: Some(each.clone()),
        })?;
        self.statements.push(statement);
        Ok(())
    }

    pub(super) fn build_block(&self, parts: Parts, each: Each, frame: &Frame, domain: Set) -> Attempt<Statement> {
        let mut inside = Vec::new();
        let node = Node::Each(each);
        self.inside(&parts.iters, &parts.domain, std::slice::from_ref(&node), &mut inside)?;
        let Node::Each(each) = node else { return Err(Fault::bug("a loop is no loop")) };
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for found in &inside {
            let outside = |access: &&Access| !each.own.contains(&access.array);
            for write in found.writes.iter().filter(outside) {
                let write = self.outward(frame, &parts.iters, found.iters.len(), write)?;
                // What it may write, it may leave as it was.
                reads.push(write.clone());
                writes.push(write);
            }
            for read in found.reads.iter().filter(outside) {
                reads.push(self.outward(frame, &parts.iters, found.iters.len(), read)?);
            }
        }
        if writes.is_empty() {
            return Err(Fault::bug("a loop that writes nothing"));
        }
        let write = writes.remove(0);
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
            block: Some(Block { each, writes }),
            inside,
            value: parts.value,
            time: parts.time,
            span: parts.span,
        })
    }

    /// What the statements of a loop whose bounds depend on data do, over the iterators around it and their own.
    fn inside(&self, iters: &[IterId], domain: &Set, nodes: &[Node], found: &mut Vec<Inside>) -> Attempt<()> {
        for node in nodes {
            let (bounds, guard, target, exprs): (&[Bound], Cond, _, Vec<&Expr>) = match node {
                Node::For(node) => {
                    let bounds = std::slice::from_ref(&node.bound);
                    let (iters, domain) = self.extended(iters, domain.clone(), bounds, &stride(node)?)?;
                    self.inside(&iters, &domain, &node.body, found)?;
                    continue;
                }
                Node::Each(each) => {
                    self.inside(iters, domain, &each.body, found)?;
                    (&[], Cond::TRUE, None, each.range.ends().into_iter().chain(&each.until).collect())
                }
                Node::Assign(assign) => {
                    let target = (assign.target, affine_subscripts(&assign.index), assign.target_span);
                    (&assign.foralls, assign.guard.clone(), Some(target), vec![&assign.value])
                }
                Node::Scatter(scatter) => {
                    let target = (scatter.target, scatter.index.clone(), scatter.target_span);
                    let exprs = Subscript::data(&scatter.index).chain([&scatter.value]).collect();
                    (&scatter.foralls, scatter.guard.clone(), Some(target), exprs)
                }
            };
            let (iters, domain) = self.extended(iters, domain.clone(), bounds, &guard)?;
            let frame = self.frame(None, &iters)?;
            let scope = Scope { frame: &frame, domain: &domain, iters: &iters };
            let (mut writes, mut reads) = (Vec::new(), Vec::new());
            if let Some((array, index, span)) = target {
                writes.push(self.access(&frame, &domain, array, &index, span)?);
            }
            for expr in exprs {
                self.collect_reads(scope, expr, &mut reads, found)?;
            }
            found.push(Inside { iters, writes, reads });
        }
        Ok(())
    }

    /// The access of loops inside, `depth` of them with those around, as the statement around sees it: a subscript that they move is
    /// a matter of data.
    pub(super) fn outward(&self, frame: &Frame, iters: &[IterId], depth: usize, access: &Access) -> Attempt<Access> {
        let outward = |subscript: &Subscript| match subscript {
            Subscript::Affine(affine) => {
                let mut fixed = true;
                affine.visit_iters(&mut |iter| fixed &= iters.contains(&iter));
                if fixed {
                    return subscript.clone();
                }
                let kind = ExprKind::Index(affine.clone());
                Subscript::Data(Box::new(Expr { kind, ty: ScalarType::I64, span: access.span }))
            }
            Subscript::Data(_) => subscript.clone(),
        };
        let index: Vec<Subscript> = access.index.iter().map(outward).collect();
        // Conditions around the access narrow the instances of the statement that perform it.
        let inner = depth.saturating_sub(iters.len());
        let domain = access.map.clone().domain()?.project_out(Dim::Set, iters.len(), inner)?;
        let domain = domain.coalesce()?.reset_space(frame.space.clone())?;
        self.access(frame, &domain, access.array, &index, access.span)
    }

    /// Every load, with the instances that perform it: affine conditions around it narrow them. What is loaded in reductions that
    /// are left inside the expression goes to `inside`.
    pub(super) fn collect_reads(
        &self,
        scope: Scope<'_>,
        expr: &Expr,
        reads: &mut Vec<Access>,
        inside: &mut Vec<Inside>,
    ) -> Attempt<()> {
        let Scope { frame, domain, iters } = scope;
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Scalar(_) | ExprKind::Counter(_) => {}
            ExprKind::Fold { range, body, .. } => {
                for part in range.ends().into_iter().chain([body.as_ref()]) {
                    self.collect_reads(scope, part, reads, inside)?;
                }
            }
            ExprKind::Reduce { bounds, guard, body, .. } => {
                let (iters, domain) = self.extended(iters, domain.clone(), bounds, guard)?;
                let frame = self.frame(None, &iters)?;
                let mut reads = Vec::new();
                let scope = Scope { frame: &frame, domain: &domain, iters: &iters };
                self.collect_reads(scope, body, &mut reads, inside)?;
                inside.push(Inside { iters, writes: Vec::new(), reads });
            }
            ExprKind::Load { array, index } => {
                reads.push(self.access(frame, domain, *array, &affine_subscripts(index), expr.span)?);
            }
            ExprKind::Gather { array, index } => {
                reads.push(self.access(frame, domain, *array, index, expr.span)?);
                for subscript in Subscript::data(index) {
                    self.collect_reads(scope, subscript, reads, inside)?;
                }
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => {
                self.collect_reads(scope, operand, reads, inside)?
            }
            ExprKind::Binary(_, lhs, rhs) => {
                self.collect_reads(scope, lhs, reads, inside)?;
                self.collect_reads(scope, rhs, reads, inside)?;
            }
            ExprKind::Select { cond, affine, then, otherwise } => {
                self.collect_reads(scope, cond, reads, inside)?;
                let (taken, not_taken) = match affine {
                    Some(affine) => {
                        let holds = frame.cond(affine)?;
                        (domain.clone().intersect(holds.clone())?, domain.clone().subtract(holds)?)
                    }
                    None => {
                        let side = |taken| -> Attempt<Set> {
                            match program::branch_condition(cond, None, taken) {
                                known if known.is_true() => Ok(domain.clone()),
                                known => Ok(domain.clone().intersect(frame.cond(&known)?)?),
                            }
                        };
                        (side(true)?, side(false)?)
                    }
                };
                self.collect_reads(Scope { domain: &taken, ..scope }, then, reads, inside)?;
                self.collect_reads(Scope { domain: &not_taken, ..scope }, otherwise, reads, inside)?;
            }
        }
        Ok(())
    }
}
