//! Kernels in few words, for the tests of this crate.
#![allow(dead_code, reason = "each test file uses part of it")]
#![allow(clippy::allow_attributes, reason = "which part is used differs from file to file")]

use loops::{
    ArrayDecl, ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalDecl, LocalId, LoopKind, ParamId,
    ScalarDecl, ScalarId, Stmt, VarId,
};
use program::{BinaryOp, Role, ScalarType, UnaryOp, Value};

pub(crate) fn kernel(name: &str, params: &[&str], vars: &[&str]) -> Kernel {
    Kernel {
        name: name.to_owned(),
        params: params.iter().map(|name| (*name).to_owned()).collect(),
        scalars: Vec::new(),
        arrays: Vec::new(),
        vars: vars.iter().map(|name| (*name).to_owned()).collect(),
        locals: Vec::new(),
        body: Vec::new(),
    }
}

pub(crate) fn array(kernel: &mut Kernel, name: &str, ty: ScalarType, shape: Vec<Index>, role: Role) -> ArrayId {
    kernel.arrays.push(ArrayDecl { name: name.to_owned(), ty, shape, role });
    ArrayId(kernel.arrays.len() as u32 - 1)
}

pub(crate) fn scalar(kernel: &mut Kernel, name: &str, ty: ScalarType) -> Expr {
    kernel.scalars.push(ScalarDecl { name: name.to_owned(), ty });
    Expr { kind: ExprKind::Scalar(ScalarId(kernel.scalars.len() as u32 - 1)), ty }
}

pub(crate) fn local(kernel: &mut Kernel, name: &str, ty: ScalarType) -> LocalId {
    kernel.locals.push(LocalDecl { name: name.to_owned(), ty });
    LocalId(kernel.locals.len() as u32 - 1)
}

pub(crate) fn c(constant: i64) -> Index {
    Index::Const(constant)
}

pub(crate) fn p(param: u32) -> Index {
    Index::Param(ParamId(param))
}

pub(crate) fn v(var: u32) -> Index {
    Index::Var(VarId(var))
}

pub(crate) fn add(a: Index, b: Index) -> Index {
    Index::Add(Box::new(a), Box::new(b))
}

pub(crate) fn sub(a: Index, b: Index) -> Index {
    Index::Sub(Box::new(a), Box::new(b))
}

pub(crate) fn times(a: Index, factor: i64) -> Index {
    Index::Mul(Box::new(a), factor)
}

pub(crate) fn less(a: Index, b: Index) -> Cond {
    Cond::Compare(CompareOp::Lt, a, b)
}

pub(crate) fn constant(value: Value) -> Expr {
    Expr { kind: ExprKind::Const(value), ty: value.ty() }
}

pub(crate) fn load(kernel: &Kernel, array: ArrayId, index: Vec<Index>) -> Expr {
    Expr { kind: ExprKind::Load { array, index }, ty: kernel.arrays[array.index()].ty }
}

pub(crate) fn get(kernel: &Kernel, local: LocalId) -> Expr {
    Expr { kind: ExprKind::Local(local), ty: kernel.locals[local.index()].ty }
}

pub(crate) fn unary(op: UnaryOp, a: Expr) -> Expr {
    Expr { ty: a.ty, kind: ExprKind::Unary(op, Box::new(a)) }
}

pub(crate) fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let ty = if op.is_comparison() { ScalarType::Bool } else { a.ty };
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty }
}

pub(crate) fn cast(ty: ScalarType, a: Expr) -> Expr {
    Expr { kind: ExprKind::Cast(Box::new(a)), ty }
}

pub(crate) fn select(cond: Expr, a: Expr, b: Expr) -> Expr {
    Expr { ty: a.ty, kind: ExprKind::Select(Box::new(cond), Box::new(a), Box::new(b)) }
}

pub(crate) fn index_expr(index: Index) -> Expr {
    Expr { kind: ExprKind::Index(index), ty: ScalarType::I64 }
}

pub(crate) fn cond_expr(cond: Cond) -> Expr {
    Expr { kind: ExprKind::Cond(cond), ty: ScalarType::Bool }
}

pub(crate) fn store(array: ArrayId, index: Vec<Index>, value: Expr) -> Stmt {
    Stmt::Store { array, index, value }
}

pub(crate) fn set(local: LocalId, value: Expr) -> Stmt {
    Stmt::Set { local, value }
}

pub(crate) fn for_(kind: LoopKind, var: u32, lo: Index, hi: Index, step: i64, body: Vec<Stmt>) -> Stmt {
    Stmt::For(For { var: VarId(var), kind, lo, hi, step, body })
}

pub(crate) fn serial(var: u32, lo: Index, hi: Index, body: Vec<Stmt>) -> Stmt {
    for_(LoopKind::Serial, var, lo, hi, 1, body)
}

/// `C = A B`, accumulating each element in a local.
pub(crate) fn matmul(ty: ScalarType) -> Kernel {
    let mut k = kernel("matmul", &["N", "M", "K"], &["i", "j", "k"]);
    let a = array(&mut k, "A", ty, vec![p(0), p(2)], Role::In);
    let b = array(&mut k, "B", ty, vec![p(2), p(1)], Role::In);
    let out = array(&mut k, "C", ty, vec![p(0), p(1)], Role::Out);
    let t = local(&mut k, "t", ty);
    let product = binary(BinaryOp::Mul, load(&k, a, vec![v(0), v(2)]), load(&k, b, vec![v(2), v(1)]));
    let step = set(t, binary(BinaryOp::Add, get(&k, t), product));
    let element = vec![
        set(t, constant(Value::from_i64(ty, 0))),
        serial(2, c(0), p(2), vec![step]),
        store(out, vec![v(0), v(1)], get(&k, t)),
    ];
    k.body = vec![serial(0, c(0), p(0), vec![serial(1, c(0), p(1), element)])];
    k
}
