//! The verifier of the array program: ids in range, types as the operators want them.
//!
//! A failure here is ours, never the user's: lowering has already reported what the user can get wrong.

use diag::Error;

use crate::{
    Affine, Assign, Atom, BinaryOp, Bound, Cond, CounterId, DataRange, Each, Expr, ExprKind, Function, IterId, Node,
    Program, ReduceOp, Role, ScalarType, Scatter, Subscript, UnaryOp,
};

/// Checks every function of a program.
pub fn verify(program: &Program) -> diag::Result<()> {
    for function in &program.functions {
        let mut checker = Checker { function, bound: Vec::new(), counting: Vec::new() };
        checker.function().map_err(|what| Error::bug("lower", format!("function `{}`: {what}", function.name)))?;
    }
    Ok(())
}

struct Checker<'a> {
    function: &'a Function,
    /// Iterators in scope.
    bound: Vec<IterId>,
    /// Counters in scope.
    counting: Vec<CounterId>,
}

type Check = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

impl Checker<'_> {
    fn function(&mut self) -> Check {
        for array in &self.function.arrays {
            array.shape.iter().try_for_each(|extent| self.affine(extent))?;
        }
        for requirement in &self.function.context {
            self.cond(&requirement.cond)?;
        }
        self.block(&self.function.body)
    }

    fn block(&mut self, nodes: &[Node]) -> Check {
        nodes.iter().try_for_each(|node| match node {
            Node::For(node) => {
                ensure(node.step != 0, || "a step of 0".into())?;
                let mark = self.bind(std::slice::from_ref(&node.bound))?;
                self.block(&node.body)?;
                self.bound.truncate(mark);
                Ok(())
            }
            Node::Assign(assign) => self.assign(assign).map_err(|what| format!("{}: {what}", assign.name)),
            Node::Scatter(scatter) => self.scatter(scatter).map_err(|what| format!("{}: {what}", scatter.name)),
            Node::Each(each) => self.each(each).map_err(|what| format!("{}: {what}", each.name)),
        })
    }

    fn each(&mut self, each: &Each) -> Check {
        self.range(&each.range)?;
        each.until.iter().try_for_each(|until| {
            self.expr(until)?;
            ensure(until.ty == ScalarType::Bool, || format!("a condition of {}", until.ty))
        })?;
        self.block(&each.body)?;
        self.counting.pop();
        Ok(())
    }

    /// Brings the counter into scope; the caller takes it back.
    fn range(&mut self, range: &DataRange) -> Check {
        for end in range.ends() {
            self.expr(end)?;
            ensure(end.ty == ScalarType::I64, || format!("a bound of {}", end.ty))?;
        }
        ensure(range.counter.index() < self.function.counters.len(), || format!("no counter {:?}", range.counter))?;
        ensure(!self.counting.contains(&range.counter), || format!("{:?} is bound twice", range.counter))?;
        self.counting.push(range.counter);
        Ok(())
    }

    /// Brings iterators into scope; returns where the scope stood before.
    fn bind(&mut self, bounds: &[Bound]) -> Result<usize, String> {
        let mark = self.bound.len();
        for bound in bounds {
            self.affine(&bound.lo)?;
            self.affine(&bound.hi)?;
            ensure(bound.iter.index() < self.function.iters.len(), || format!("no iterator {:?}", bound.iter))?;
            ensure(!self.bound.contains(&bound.iter), || format!("{:?} is bound twice", bound.iter))?;
            self.bound.push(bound.iter);
        }
        Ok(mark)
    }

    fn assign(&mut self, assign: &Assign) -> Check {
        let mark = self.bind(&assign.foralls)?;
        self.cond(&assign.guard)?;
        ensure(assign.target.index() < self.function.arrays.len(), || format!("no array {:?}", assign.target))?;
        let target = self.function.array(assign.target);
        ensure(target.role != Role::In, || format!("input {} is assigned", target.name))?;
        ensure(target.shape.len() == assign.index.len(), || format!("rank of {}", target.name))?;
        assign.index.iter().try_for_each(|index| self.affine(index))?;
        self.expr(&assign.value)?;
        ensure(assign.value.ty == target.ty, || format!("{} value for a cell of {}", assign.value.ty, target.ty))?;
        self.bound.truncate(mark);
        Ok(())
    }

    fn scatter(&mut self, scatter: &Scatter) -> Check {
        let mark = self.bind(&scatter.foralls)?;
        self.cond(&scatter.guard)?;
        ensure(scatter.target.index() < self.function.arrays.len(), || format!("no array {:?}", scatter.target))?;
        let target = self.function.array(scatter.target);
        ensure(target.role != Role::In, || format!("input {} is assigned", target.name))?;
        ensure(target.shape.len() == scatter.index.len(), || format!("rank of {}", target.name))?;
        self.subscripts(&scatter.index)?;
        ensure(Subscript::all_affine(&scatter.index).is_none(), || "a scatter to affine cells".into())?;
        self.expr(&scatter.value)?;
        let replaces = matches!(scatter.op, ReduceOp::Last | ReduceOp::Once);
        let claims = scatter.op != ReduceOp::Once || target.ty == ScalarType::I64;
        ensure(claims, || format!("cells of {} cannot be claimed", target.ty))?;
        let combinable = target.ty != ScalarType::Bool && target.ty.half().is_none();
        let fits = scatter.value.ty == target.ty && (replaces || combinable);
        ensure(fits, || format!("{} value for a cell of {}", scatter.value.ty, target.ty))?;
        let combines = replaces || matches!(scatter.op, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Min | ReduceOp::Max);
        ensure(combines, || format!("scatter by {}", scatter.op.name()))?;
        self.bound.truncate(mark);
        Ok(())
    }

    fn subscripts(&mut self, index: &[Subscript]) -> Check {
        index.iter().try_for_each(|subscript| match subscript {
            Subscript::Affine(affine) => self.affine(affine),
            Subscript::Data(expr) => {
                self.expr(expr)?;
                ensure(expr.ty == ScalarType::I64, || format!("a subscript of {}", expr.ty))
            }
        })
    }

    fn affine(&self, affine: &Affine) -> Check {
        affine.terms.iter().try_for_each(|(atom, coefficient)| {
            ensure(*coefficient != 0, || "a zero coefficient".into())?;
            match atom {
                Atom::Param(id) => ensure(id.index() < self.function.params.len(), || format!("no parameter {id:?}")),
                Atom::Iter(id) => ensure(self.bound.contains(id), || format!("{id:?} is used outside its loop")),
                Atom::Div(numerator, divisor) => {
                    ensure(*divisor >= 2, || format!("divisor {divisor}"))?;
                    self.affine(numerator)
                }
            }
        })
    }

    fn cond(&self, cond: &Cond) -> Check {
        match cond {
            Cond::NonNegative(affine) | Cond::Zero(affine) => self.affine(affine),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().try_for_each(|cond| self.cond(cond)),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Check {
        let ty = expr.ty;
        let fits = match &expr.kind {
            ExprKind::Const(value) => value.ty() == ty,
            ExprKind::Index(affine) => {
                self.affine(affine)?;
                ty == ScalarType::I64
            }
            ExprKind::Scalar(id) => self.function.scalars.get(id.index()).is_some_and(|scalar| scalar.ty == ty),
            ExprKind::Counter(id) => self.counting.contains(id) && ty == ScalarType::I64,
            ExprKind::Load { array, index } => {
                index.iter().try_for_each(|index| self.affine(index))?;
                let array = self.function.arrays.get(array.index());
                array.is_some_and(|array| array.ty == ty && array.shape.len() == index.len())
            }
            ExprKind::Gather { array, index } => {
                self.subscripts(index)?;
                let array = self.function.arrays.get(array.index());
                let depends = Subscript::all_affine(index).is_none();
                depends && array.is_some_and(|array| array.ty == ty && array.shape.len() == index.len())
            }
            ExprKind::Unary(op, operand) => {
                self.expr(operand)?;
                let applies = match *op {
                    UnaryOp::Not => ty == ScalarType::Bool,
                    UnaryOp::BitNot => ty.is_int(),
                    UnaryOp::Neg | UnaryOp::ABS => ty != ScalarType::Bool,
                    UnaryOp::Function(_) => ty.is_float(),
                };
                applies && ty.half().is_none() && operand.ty == ty
            }
            ExprKind::Binary(op, lhs, rhs) => {
                self.expr(lhs)?;
                self.expr(rhs)?;
                let operand = lhs.ty;
                let applies = match op {
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Last => true,
                    BinaryOp::Once => operand == ScalarType::I64,
                    BinaryOp::And | BinaryOp::Or => operand == ScalarType::Bool,
                    op if op.is_bitwise() => operand.is_int(),
                    BinaryOp::Function(_) => operand.is_float(),
                    _ => operand != ScalarType::Bool,
                };
                let computes = operand.half().is_none() || *op == BinaryOp::Last;
                applies
                    && computes
                    && rhs.ty == operand
                    && ty == if op.is_comparison() { ScalarType::Bool } else { operand }
            }
            ExprKind::Cast(operand) => {
                self.expr(operand)?;
                let halves = [operand.ty, ty].into_iter().filter(|ty| ty.half().is_some()).count();
                halves == 0 || [operand.ty, ty].contains(&ScalarType::F32)
            }
            ExprKind::Select { cond, affine, then, otherwise } => {
                self.expr(cond)?;
                self.expr(then)?;
                self.expr(otherwise)?;
                affine.iter().try_for_each(|cond| self.cond(cond))?;
                cond.ty == ScalarType::Bool && then.ty == ty && otherwise.ty == ty
            }
            ExprKind::Fold { op, range, body } => {
                self.range(range)?;
                self.expr(body)?;
                self.counting.pop();
                let logical = matches!(op, ReduceOp::Any | ReduceOp::All);
                op.extreme().is_none() && body.ty == ty && ty.half().is_none() && logical == (ty == ScalarType::Bool)
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                let mark = self.bind(bounds)?;
                self.cond(guard)?;
                self.expr(body)?;
                self.bound.truncate(mark);
                let place = op.extreme().is_some();
                let logical = matches!(op, ReduceOp::Any | ReduceOp::All);
                if place {
                    ty == ScalarType::I64
                        && body.ty != ScalarType::Bool
                        && body.ty.half().is_none()
                        && bounds.len() == 1
                } else {
                    body.ty == ty && ty.half().is_none() && logical == (ty == ScalarType::Bool)
                }
            }
        };
        ensure(fits, || format!("ill-typed: {}", self.function.show_expr(expr)))
    }
}
