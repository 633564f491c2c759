//! Constants of the file: numbers that act like literals, and small tables that act like input arrays.
//!
//! In: the constants of a syntax tree.  Out: their values, each computed once, when the file is read.
//! A table that is read at constant places only is replaced by its cells. Otherwise it is a local array that one
//! statement in front of the body fills.

use diag::{Diagnostic, Source, Span, deadline};
use syntax::ast;

use super::expr::Typed;
use super::names::Meaning;
use super::{Lowerer, MAX_ERRORS, Shared};
use crate::{
    Affine, Array, ArrayId, Assign, BinaryOp, Bound, Cond, Expr, ExprKind, Iter, IterId, Node, Role, ScalarType,
    UnaryOp, Value,
};

/// The most cells that a table may have.
const MAX_CELLS: usize = 64;

pub(super) struct Constant {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A number or a truth value; without a written type it adapts like a literal.
    One(Typed),
    Table(Table),
    /// Its definition is in error.
    Broken,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) ty: ScalarType,
    pub(super) shape: Vec<usize>,
    /// Row by row.
    cells: Vec<Value>,
    span: Span,
}

impl Table {
    pub(super) fn extents(&self) -> Vec<Affine> {
        self.shape.iter().map(|extent| Affine::constant(*extent as i64)).collect()
    }

    /// The value of a cell at a constant place inside the table.
    pub(super) fn cell(&self, index: &[Affine]) -> Option<(Value, ScalarType)> {
        if index.len() != self.shape.len() {
            return None;
        }
        let mut position = 0;
        for (index, extent) in index.iter().zip(&self.shape) {
            let index = usize::try_from(index.as_constant()?).ok().filter(|index| index < extent)?;
            position = position * extent + index;
        }
        Some((*self.cells.get(position)?, self.ty))
    }
}

/// The constants of a file, in the order in which they are defined; each may use those before it.
pub(super) fn lower(file: &ast::File, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Vec<Constant> {
    let mut constants: Vec<Constant> = Vec::new();
    for constant in &file.constants {
        if deadline::is_over() || diagnostics.len() >= MAX_ERRORS {
            break;
        }
        let name = &constant.name;
        let earlier = constants.iter().find(|known| known.name == name.name).map(|known| known.span);
        let function = file.functions.iter().find(|function| function.name.name == name.name);
        if let Some(first) = earlier.or(function.map(|function| function.name.span)) {
            diagnostics.push(
                Diagnostic::error("E0102", name.span, format!("`{}` is defined twice", name.name))
                    .here("defined here")
                    .label(first, "and here"),
            );
        }
        let shared = Shared { source, callees: &[], constants: &constants };
        let mut lowerer = Lowerer::new(name, shared);
        let kind = lowerer.constant(constant).unwrap_or(Kind::Broken);
        diagnostics.append(&mut lowerer.diagnostics);
        constants.push(Constant { name: name.name.clone(), span: name.span, kind });
    }
    constants
}

impl Lowerer<'_> {
    fn constant(&mut self, constant: &ast::Constant) -> Option<Kind> {
        let ty = match &constant.ty {
            Some(ty) => Some((self.scalar_type(&ty.scalar)?, ty)),
            None => None,
        };
        match (&constant.value, ty) {
            (ast::ConstantValue::One(value), Some((_, ty))) if !ty.shape.is_empty() => {
                self.error("E0114", value.span, "the cells of a table are written in brackets")
                    .helps
                    .push(format!("write `const {}: {}[3] = [1, 2, 3]`", constant.name.name, ty.scalar.name));
                None
            }
            (ast::ConstantValue::One(value), ty) => {
                self.constant_number(value, ty.map(|(scalar, _)| scalar)).map(Kind::One)
            }
            (ast::ConstantValue::Table(..), None) => {
                self.error("E0114", constant.name.span, "a table has a type")
                    .helps
                    .push(format!("write `const {}: f64[…] = […]`", constant.name.name));
                None
            }
            (ast::ConstantValue::Table(entries, span), Some((scalar, ty))) => {
                self.table(scalar, ty, entries, *span).map(Kind::Table)
            }
        }
    }

    /// A value that is known when the file is read, as one literal.
    fn constant_number(&mut self, value: &ast::Expr, ty: Option<ScalarType>) -> Option<Typed> {
        let typed = self.lower_expr(value)?;
        let Some(number) = fold(&typed.expr) else {
            self.report(
                Diagnostic::error("E0114", value.span, "not a constant")
                    .here("cannot be computed when the file is read")
                    .note(
                        "constants are made of literals, constants before them, `+ - * / %`, and functions of numbers",
                    ),
            );
            return None;
        };
        let Some(ty) = ty else {
            let expr = Expr { kind: ExprKind::Const(number), ty: typed.expr.ty, span: value.span };
            return Some(Typed { affine: affine_of(number), cond: None, weak: typed.weak, expr });
        };
        // The whole expression takes the type first: `1 / 2` is a half among floats.
        let expr = self.coerce(typed, ty)?;
        let number = fold(&expr)?;
        Some(Typed { affine: affine_of(number), ..Typed::strong(Expr { kind: ExprKind::Const(number), ..expr }) })
    }

    fn table(
        &mut self,
        scalar: ScalarType,
        ty: &ast::Type,
        entries: &[ast::ConstantValue],
        span: Span,
    ) -> Option<Table> {
        let shape = self.lower_shape(&ty.shape)?;
        let shape: Option<Vec<usize>> =
            shape.iter().map(|extent| usize::try_from(extent.as_constant()?).ok()).collect();
        let rank = ty.shape.len();
        let (Some(shape), 1 | 2) = (shape, rank) else {
            self.error("E0114", ty.span, "a table has one or two dimensions of constant extent");
            return None;
        };
        if shape.iter().try_fold(1_usize, |size, extent| size.checked_mul(*extent)).is_none_or(|size| size > MAX_CELLS)
        {
            self.error("E0114", ty.span, format!("a table has at most {MAX_CELLS} cells"))
                .helps
                .push("make it an argument of the function".into());
            return None;
        }
        let mut cells = Vec::new();
        self.cells(scalar, &shape, entries, span, &mut cells)?;
        Some(Table { ty: scalar, shape, cells, span })
    }

    fn cells(
        &mut self,
        ty: ScalarType,
        shape: &[usize],
        entries: &[ast::ConstantValue],
        span: Span,
        cells: &mut Vec<Value>,
    ) -> Option<()> {
        let (extent, inner) = shape.split_first()?;
        if entries.len() != *extent {
            let what = if inner.is_empty() { "entries" } else { "rows" };
            let plural = if entries.len() == 1 { "is" } else { "are" };
            self.error("E0114", span, format!("expected {extent} {what}, {} {plural} written", entries.len()));
            return None;
        }
        let mut sound = true;
        for entry in entries {
            let lowered = match entry {
                ast::ConstantValue::One(value) if inner.is_empty() => {
                    let value = self.constant_number(value, Some(ty));
                    value.and_then(|value| fold(&value.expr)).map(|value| cells.push(value))
                }
                ast::ConstantValue::Table(entries, span) if !inner.is_empty() => {
                    self.cells(ty, inner, entries, *span, cells)
                }
                ast::ConstantValue::One(value) => {
                    self.error("E0114", value.span, "a row of the table is written in brackets");
                    None
                }
                ast::ConstantValue::Table(_, span) => {
                    self.error("E0114", *span, "the table has more dimensions than its type");
                    None
                }
            };
            sound &= lowered.is_some();
        }
        sound.then_some(())
    }

    /// Makes the constants of the file visible.
    pub(super) fn declare_constants(&mut self) {
        for (position, constant) in self.shared.constants.iter().enumerate() {
            let meaning = match constant.kind {
                Kind::One(_) => Meaning::Constant(position),
                Kind::Table(_) => Meaning::Table(position),
                Kind::Broken => Meaning::Broken,
            };
            self.scope.insert(constant.name.clone(), meaning, constant.span);
        }
    }

    pub(super) fn constant_value(&self, position: usize, span: Span) -> Option<Typed> {
        match &self.shared.constants.get(position)?.kind {
            Kind::One(typed) => {
                let mut typed = typed.clone();
                typed.expr.span = span;
                if let ExprKind::Const(Value::Bool(value)) = typed.expr.kind {
                    typed.cond = Some(if value { Cond::TRUE } else { Cond::FALSE });
                }
                Some(typed)
            }
            Kind::Table(_) | Kind::Broken => None,
        }
    }

    pub(super) fn table_of(&self, position: usize) -> Option<&Table> {
        match &self.shared.constants.get(position)?.kind {
            Kind::Table(table) => Some(table),
            Kind::One(_) | Kind::Broken => None,
        }
    }

    /// The local array that holds a table.
    pub(super) fn table_array(&mut self, position: usize) -> ArrayId {
        if let Some((_, array)) = self.tables.iter().find(|(known, _)| *known == position) {
            return *array;
        }
        let id = ArrayId(self.function.arrays.len() as u32);
        let constant = &self.shared.constants[position];
        if let Kind::Table(table) = &constant.kind {
            let (name, shape) = (constant.name.clone(), table.extents());
            self.function.arrays.push(Array { name, ty: table.ty, shape, role: Role::Local, span: constant.span });
        }
        self.tables.push((position, id));
        id
    }

    /// The statements that fill the tables which the function reads.
    pub(super) fn fill_tables(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (position, array) in self.tables.clone() {
            let Some(table) = self.table_of(position).cloned() else { continue };
            let mut foralls = Vec::new();
            for (name, hi) in ["i", "j"].into_iter().zip(table.extents()) {
                let iter = IterId(self.function.iters.len() as u32);
                self.function.iters.push(Iter { name: name.into(), span: table.span, made_up: true });
                foralls.push(Bound { iter, lo: Affine::constant(0), hi });
            }
            let iters: Vec<IterId> = foralls.iter().map(|bound| bound.iter).collect();
            let Some(value) = choose(&table, &iters, &table.shape, &table.cells) else { continue };
            let mut name = format!("{}_table", self.function.array(array).name);
            while self.labels.contains(&name) {
                name.push('_');
            }
            nodes.push(Node::Assign(Assign {
                name,
                foralls,
                guard: Cond::TRUE,
                target: array,
                index: iters.iter().map(|iter| Affine::iter(*iter)).collect(),
                target_span: table.span,
                value,
                span: table.span,
            }));
        }
        nodes
    }
}

fn affine_of(value: Value) -> Option<Affine> {
    match value {
        Value::I64(value) => Some(Affine::constant(value)),
        _ => None,
    }
}

/// The cell at `iters` by halving the table; `None` for one without cells.
fn choose(table: &Table, iters: &[IterId], shape: &[usize], cells: &[Value]) -> Option<Expr> {
    let (ty, span) = (table.ty, table.span);
    let (Some((iter, inner_iters)), Some((extent, inner))) = (iters.split_first(), shape.split_first()) else {
        return Some(Expr { kind: ExprKind::Const(*cells.first()?), ty, span });
    };
    let row = cells.len().checked_div(*extent)?;
    let rows: Option<Vec<Expr>> = cells.chunks(row.max(1)).map(|row| choose(table, inner_iters, inner, row)).collect();
    halve(&rows?, 0, *iter, ty, span)
}

fn halve(rows: &[Expr], from: usize, iter: IterId, ty: ScalarType, span: Span) -> Option<Expr> {
    // Equal values need no choice.
    let kind = |expr: &Expr| expr.kind.clone();
    if rows.iter().all(|row| kind(row) == kind(&rows[0])) {
        return rows.first().cloned();
    }
    let middle = rows.len() / 2;
    let index = |kind| Expr { kind, ty: ScalarType::I64, span };
    let here = index(ExprKind::Index(Affine::iter(iter)));
    let limit = index(ExprKind::Const(Value::I64((from + middle) as i64)));
    let less = ExprKind::Binary(BinaryOp::Lt, Box::new(here), Box::new(limit));
    let cond = Box::new(Expr { kind: less, ty: ScalarType::Bool, span });
    let then = Box::new(halve(&rows[..middle], from, iter, ty, span)?);
    let otherwise = Box::new(halve(&rows[middle..], from + middle, iter, ty, span)?);
    // Without the affine form, which would only make sets of single cells.
    Some(Expr { kind: ExprKind::Select { cond, affine: None, then, otherwise }, ty, span })
}

/// The value of an expression of constants.
fn fold(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        ExprKind::Unary(op, operand) => fold_unary(*op, fold(operand)?),
        ExprKind::Binary(op, lhs, rhs) => {
            let (lhs, rhs) = (fold(lhs)?, fold(rhs)?);
            match (lhs, rhs) {
                (Value::F64(a), Value::F64(b)) => fold_float(*op, a, b).map(Value::F64),
                (Value::F32(a), Value::F32(b)) => match op {
                    BinaryOp::Function(function) => Some(Value::F32(function.f32(a, b))),
                    _ => fold_float(*op, f64::from(a), f64::from(b)).map(|value| Value::F32(value as f32)),
                },
                // A literal among floats is still an integer here.
                (Value::I64(a), Value::F64(b)) => fold_float(*op, a as f64, b).map(Value::F64),
                (Value::F64(a), Value::I64(b)) => fold_float(*op, a, b as f64).map(Value::F64),
                (a, b) if a.ty() == b.ty() && a.ty().is_int() => fold_int(*op, a.as_i64()?, b.as_i64()?, a.ty()),
                _ => None,
            }
        }
        ExprKind::Cast(operand) => match (fold(operand)?, expr.ty) {
            (Value::F32(value), ScalarType::F64) => Some(Value::F64(f64::from(value))),
            (Value::F32(value), ScalarType::F16) => Some(Value::F16(half::f16::from_f32(value))),
            (Value::F32(value), ScalarType::BF16) => Some(Value::BF16(half::bf16::from_f32(value))),
            (value, ty) if value.ty().is_int() && ty != ScalarType::Bool => Some(Value::from_i64(ty, value.as_i64()?)),
            _ => None,
        },
        _ => None,
    }
}

fn fold_int(op: BinaryOp, a: i64, b: i64, ty: ScalarType) -> Option<Value> {
    // A constant that wraps is a mistake, not a number.
    let value = match op {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Sub => a.checked_sub(b)?,
        BinaryOp::Mul => a.checked_mul(b)?,
        BinaryOp::Div => a.checked_div_euclid(b)?,
        BinaryOp::Rem => a.checked_rem_euclid(b)?,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl => a.checked_mul(1_i64.checked_shl(u32::try_from(b).ok().filter(|amount| *amount < 63)?)?)?,
        BinaryOp::Shr => a.checked_shr(u32::try_from(b).ok()?)?,
        _ => return None,
    };
    let narrow = Value::from_i64(ty, value);
    (narrow.as_i64() == Some(value)).then_some(narrow)
}

fn fold_float(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a.rem_euclid(b),
        BinaryOp::Function(function) => function.f64(a, b),
        BinaryOp::Min if !a.is_nan() && !b.is_nan() => a.min(b),
        BinaryOp::Max if !a.is_nan() && !b.is_nan() => a.max(b),
        _ => return None,
    })
}

fn fold_unary(op: UnaryOp, value: Value) -> Option<Value> {
    match (value, op) {
        (Value::F64(value), UnaryOp::Neg) => Some(Value::F64(-value)),
        (Value::F32(value), UnaryOp::Neg) => Some(Value::F32(-value)),
        (Value::F64(value), UnaryOp::Function(function)) => Some(Value::F64(function.f64(value))),
        (Value::F32(value), UnaryOp::Function(function)) => Some(Value::F32(function.f32(value))),
        (Value::Bool(value), UnaryOp::Not) => Some(Value::Bool(!value)),
        (value, UnaryOp::Neg) => fold_int(BinaryOp::Sub, 0, value.as_i64()?, value.ty()),
        (value, UnaryOp::BitNot) => Some(Value::from_i64(value.ty(), !value.as_i64()?)),
        (value, UnaryOp::ABS) => value.as_i64()?.checked_abs().map(|number| Value::from_i64(value.ty(), number)),
        _ => None,
    }
}
