//! Untyped trees, with names looked up, as index expressions, conditions and values.

use std::collections::HashMap;

use program::{BinaryOp, ScalarType, UnaryOp, Value};

use super::tree::{Infix, Tree, TreeKind, literal};
use super::{Read, error};
use crate::print::{left_expected, right_expected};
use crate::{
    ArrayDecl, ArrayId, CompareOp, Cond, Expr, ExprKind, Index, Kernel, LocalDecl, LocalId, ParamId, ScalarDecl,
    ScalarId, VarId,
};

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Param(ParamId),
    Scalar(ScalarId),
    Array(ArrayId),
    Local(LocalId),
    Var(VarId),
}

/// The kernel so far, and the names in scope.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) kernel: Kernel,
    names: HashMap<String, Meaning>,
}

impl Scope {
    fn declare(&mut self, line: usize, name: &str, meaning: Meaning) -> Read<()> {
        match self.names.insert(name.to_owned(), meaning) {
            None => Ok(()),
            Some(_) => error(line, format!("`{name}` is already declared")),
        }
    }

    pub(super) fn declare_param(&mut self, line: usize, name: String) -> Read<()> {
        self.declare(line, &name, Meaning::Param(ParamId(self.kernel.params.len() as u32)))?;
        self.kernel.params.push(name);
        Ok(())
    }

    pub(super) fn declare_scalar(&mut self, line: usize, decl: ScalarDecl) -> Read<()> {
        self.declare(line, &decl.name, Meaning::Scalar(ScalarId(self.kernel.scalars.len() as u32)))?;
        self.kernel.scalars.push(decl);
        Ok(())
    }

    pub(super) fn declare_array(&mut self, line: usize, decl: ArrayDecl) -> Read<()> {
        self.declare(line, &decl.name, Meaning::Array(ArrayId(self.kernel.arrays.len() as u32)))?;
        self.kernel.arrays.push(decl);
        Ok(())
    }

    pub(super) fn declare_local(&mut self, line: usize, decl: LocalDecl) -> Read<()> {
        self.declare(line, &decl.name, Meaning::Local(LocalId(self.kernel.locals.len() as u32)))?;
        self.kernel.locals.push(decl);
        Ok(())
    }

    /// Binds a loop variable, until `leave`.
    pub(super) fn enter(&mut self, line: usize, name: &str) -> Read<VarId> {
        let var = VarId(self.kernel.vars.len() as u32);
        self.declare(line, name, Meaning::Var(var))?;
        self.kernel.vars.push(name.to_owned());
        Ok(var)
    }

    pub(super) fn leave(&mut self, name: &str) {
        self.names.remove(name);
    }

    pub(super) fn meaning(&self, line: usize, name: &str) -> Read<Meaning> {
        self.names.get(name).copied().map_or_else(|| error(line, format!("`{name}` is not declared")), Ok)
    }

    pub(super) fn index(&self, tree: &Tree) -> Read<Index> {
        let line = tree.line;
        Ok(match &tree.kind {
            TreeKind::Name(name) => match self.meaning(line, name)? {
                Meaning::Param(param) => Index::Param(param),
                Meaning::Var(var) => Index::Var(var),
                _ => return error(line, format!("`{name}` is neither a parameter nor a loop variable")),
            },
            TreeKind::Number { .. } => Index::Const(integer(tree)?),
            TreeKind::Neg(operand) => Index::Mul(self.boxed(operand)?, -1),
            TreeKind::Binary(Infix::Op(BinaryOp::Add), a, b) => Index::Add(self.boxed(a)?, self.boxed(b)?),
            TreeKind::Binary(Infix::Op(BinaryOp::Sub), a, b) => Index::Sub(self.boxed(a)?, self.boxed(b)?),
            TreeKind::Binary(Infix::Op(BinaryOp::Mul), a, b) => match integer(a) {
                Ok(factor) => Index::Mul(self.boxed(b)?, factor),
                Err(_) => Index::Mul(self.boxed(a)?, integer(b)?),
            },
            TreeKind::Binary(Infix::Mod, a, b) => Index::Mod(self.boxed(a)?, integer(b)?),
            TreeKind::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("floor", [Tree { kind: TreeKind::Binary(Infix::Op(BinaryOp::Div), a, b), .. }]) => {
                    Index::FloorDiv(self.boxed(a)?, integer(b)?)
                }
                ("xor", [a, b]) => Index::Xor(self.boxed(a)?, self.boxed(b)?),
                ("min", [a, b]) => Index::Min(self.boxed(a)?, self.boxed(b)?),
                ("max", [a, b]) => Index::Max(self.boxed(a)?, self.boxed(b)?),
                ("select", [cond, a, b]) => Index::Select(Box::new(self.cond(cond)?), self.boxed(a)?, self.boxed(b)?),
                _ => return error(line, format!("`{name}` is no function of index arithmetic")),
            },
            _ => return error(line, "not an index expression"),
        })
    }

    fn boxed(&self, tree: &Tree) -> Read<Box<Index>> {
        self.index(tree).map(Box::new)
    }

    pub(super) fn cond(&self, tree: &Tree) -> Read<Cond> {
        Ok(match &tree.kind {
            TreeKind::Bool(true) => Cond::TRUE,
            TreeKind::Bool(false) => Cond::FALSE,
            TreeKind::Not(operand) => Cond::Not(Box::new(self.cond(operand)?)),
            TreeKind::Chain(op, operands) => {
                let conds = operands.iter().map(|operand| self.cond(operand)).collect::<Read<_>>()?;
                if *op == BinaryOp::And { Cond::And(conds) } else { Cond::Or(conds) }
            }
            TreeKind::Binary(Infix::Op(op), a, b) if op.is_comparison() => {
                let op = match op {
                    BinaryOp::Eq => CompareOp::Eq,
                    BinaryOp::Ne => CompareOp::Ne,
                    BinaryOp::Lt => CompareOp::Lt,
                    BinaryOp::Le => CompareOp::Le,
                    BinaryOp::Gt => CompareOp::Gt,
                    _ => CompareOp::Ge,
                };
                Cond::Compare(op, self.index(a)?, self.index(b)?)
            }
            _ => return error(tree.line, "not a condition on indices"),
        })
    }

    pub(super) fn expr(&self, tree: &Tree, expected: Option<ScalarType>) -> Read<Expr> {
        let line = tree.line;
        Ok(match &tree.kind {
            TreeKind::Bool(value) => Expr::constant(Value::Bool(*value)),
            TreeKind::Number { negative, number } => Expr::constant(literal(line, *negative, number, expected)?),
            TreeKind::Name(name) => {
                let kernel = &self.kernel;
                let (kind, ty) = match self.meaning(line, name)? {
                    Meaning::Param(param) => (ExprKind::Index(Index::Param(param)), ScalarType::I64),
                    Meaning::Var(var) => (ExprKind::Index(Index::Var(var)), ScalarType::I64),
                    Meaning::Scalar(scalar) => (ExprKind::Scalar(scalar), kernel.scalars[scalar.index()].ty),
                    Meaning::Local(local) => (ExprKind::Local(local), kernel.locals[local.index()].ty),
                    Meaning::Array(_) => return error(line, format!("the array `{name}` needs subscripts")),
                };
                Expr { kind, ty }
            }
            TreeKind::Access(name, index) => match self.meaning(line, name)? {
                Meaning::Array(array) => {
                    let index = index.iter().map(|index| self.index(index)).collect::<Read<_>>()?;
                    Expr::load(array, index, self.kernel.arrays[array.index()].ty)
                }
                _ => return error(line, format!("`{name}` is not an array")),
            },
            TreeKind::At(span, operand) => {
                let operand = self.expr(operand, expected)?;
                Expr { ty: operand.ty, kind: ExprKind::At(*span, Box::new(operand)) }
            }
            TreeKind::Neg(operand) => unary(UnaryOp::Neg, self.expr(operand, expected)?),
            TreeKind::Not(operand) => unary(UnaryOp::Not, self.expr(operand, Some(ScalarType::Bool))?),
            TreeKind::Binary(Infix::Op(op), a, b) => self.binary(*op, a, b, expected)?,
            TreeKind::Binary(Infix::Mod, ..) => {
                return error(line, "`mod` belongs to index arithmetic; values use `%`");
            }
            TreeKind::Chain(op, operands) => {
                let mut operands = operands.iter().map(|operand| self.expr(operand, Some(ScalarType::Bool)));
                let Some(first) = operands.next() else { return error(line, "an operand is missing") };
                operands.try_fold(first?, |left, right| Ok(pair(*op, left, right?)))?
            }
            TreeKind::Call(name, arguments) => self.call(line, name, arguments, expected)?,
        })
    }

    /// An array, and subscripts that are values.
    pub(super) fn gather(&self, array: &Tree, index: &[Tree]) -> Read<(ArrayId, Vec<Expr>)> {
        let TreeKind::Name(name) = &array.kind else { return error(array.line, "expected the name of an array") };
        let Meaning::Array(array) = self.meaning(array.line, name)? else {
            return error(array.line, format!("`{name}` is not an array"));
        };
        let index = index.iter().map(|index| self.expr(index, Some(ScalarType::I64))).collect::<Read<_>>()?;
        Ok((array, index))
    }

    fn binary(&self, op: BinaryOp, a: &Tree, b: &Tree, expected: Option<ScalarType>) -> Read<Expr> {
        let left = self.expr(a, left_expected(op, expected))?;
        let right = self.expr(b, right_expected(op, expected, left.ty))?;
        Ok(pair(op, left, right))
    }

    fn call(&self, line: usize, name: &str, arguments: &[Tree], expected: Option<ScalarType>) -> Read<Expr> {
        if let (Some(ty), [argument]) = (ScalarType::from_name(name), arguments) {
            return Ok(Expr { kind: ExprKind::Cast(Box::new(self.expr(argument, None)?)), ty });
        }
        let bitwise = BinaryOp::BITWISE.into_iter().find(|op| op.name() == name);
        if let (Some(op), [a, b]) = (bitwise, arguments) {
            return self.binary(op, a, b, expected);
        }
        let function = UnaryOp::FUNCTIONS.into_iter().chain([UnaryOp::BitNot]).find(|op| op.name() == name);
        if let (Some(op), [argument]) = (function, arguments) {
            return Ok(unary(op, self.expr(argument, expected)?));
        }
        if let (Some(op), [a, b]) = (BinaryOp::FUNCTIONS.into_iter().find(|op| op.name() == name), arguments) {
            return self.binary(op, a, b, expected);
        }
        match (name, arguments) {
            ("gather", [array, index @ ..]) => {
                let (array, index) = self.gather(array, index)?;
                let ty = self.kernel.arrays[array.index()].ty;
                Ok(Expr { kind: ExprKind::Gather { array, index }, ty })
            }
            ("index", [index]) => Ok(Expr { kind: ExprKind::Index(self.index(index)?), ty: ScalarType::I64 }),
            ("cond", [cond]) => Ok(Expr { kind: ExprKind::Cond(self.cond(cond)?), ty: ScalarType::Bool }),
            ("select", [cond, a, b]) => {
                let cond = self.expr(cond, Some(ScalarType::Bool))?;
                let a = self.expr(a, expected)?;
                let b = self.expr(b, Some(expected.unwrap_or(a.ty)))?;
                let ty = a.ty;
                Ok(Expr { kind: ExprKind::Select(Box::new(cond), Box::new(a), Box::new(b)), ty })
            }
            _ => error(line, format!("there is no function `{name}` of {} arguments", arguments.len())),
        }
    }
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    let ty = operand.ty;
    Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty }
}

fn pair(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let ty = if op.is_comparison() { ScalarType::Bool } else { left.ty };
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty }
}

fn integer(tree: &Tree) -> Read<i64> {
    match &tree.kind {
        TreeKind::Number { negative, number } if number.suffix.is_none() && !number.float => {
            match literal(tree.line, *negative, number, Some(ScalarType::I64))? {
                Value::I64(value) => Ok(value),
                _ => error(tree.line, "expected an integer"),
            }
        }
        _ => error(tree.line, "expected an integer literal"),
    }
}
