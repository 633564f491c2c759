//! Values as C. What can fail is written as statements before the one that needs the value.

use loops::{ArrayId, Expr, ExprKind};
use program::{BinaryOp, ScalarType, UnaryOp, Value};

use crate::emit::{Writer, bug, c_type};
use crate::index::{Level, Term, choice, number};

impl Writer<'_> {
    pub(crate) fn expr(&mut self, expr: &Expr) -> diag::Result<Term> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => constant(*value),
            ExprKind::Index(index) => self.index(index),
            ExprKind::Cond(cond) => self.cond(cond),
            ExprKind::Scalar(scalar) => Term::atom(&self.names.scalars[scalar.index()]),
            ExprKind::Load { array, index } => {
                let subscripts = index.iter().map(|subscript| self.index(subscript)).collect();
                self.cell(*array, subscripts)
            }
            ExprKind::Gather { array, index } => self.checked_cell(*array, index)?,
            ExprKind::At(span, inner) => {
                let outer = self.at.replace(*span);
                let value = self.expr(inner)?;
                self.at = outer;
                value
            }
            ExprKind::Local(local) => Term::atom(&self.names.locals[local.index()]),
            ExprKind::Unary(op, a) => {
                let a_term = self.expr(a)?;
                self.unary(*op, a.ty, a_term)?
            }
            ExprKind::Binary(op, a, b) => {
                let (ty, a_term) = (a.ty, self.expr(a)?);
                let b_term = self.expr(b)?;
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && ty.is_int();
                let known = matches!(&b.kind, ExprKind::Const(value) if value.as_i64().is_some_and(|value| value != 0));
                if !divides || known {
                    return self.binary(*op, ty, a_term, b_term);
                }
                let divisor = self.named(ty, b_term);
                let site = format!("an integer is divided by zero{}", self.place());
                self.require(&format!("{} != 0", divisor.text), site);
                self.binary(*op, ty, a_term, divisor)?
            }
            ExprKind::Cast(a) => {
                let term = self.expr(a)?;
                self.cast(a.ty, expr.ty, term)
            }
            ExprKind::Select(cond, a, b) => {
                let cond = self.expr(cond)?;
                self.select(expr.ty, cond, a, b)?
            }
        })
    }

    /// Branches if a branch can fail.
    fn select(&mut self, ty: ScalarType, cond: Term, a: &Expr, b: &Expr) -> diag::Result<Term> {
        let mut terms = Vec::new();
        let mut texts = Vec::new();
        self.depth += 1;
        for branch in [a, b] {
            let mut term = None;
            texts.push(self.aside(|writer| {
                term = Some(writer.expr(branch)?);
                Ok(())
            })?);
            terms.extend(term);
        }
        self.depth -= 1;
        let [Term { .. }, Term { .. }] = terms.as_slice() else { return Err(bug("a choice without branches")) };
        let (b, a) = (terms.remove(1), terms.remove(0));
        if texts.iter().all(String::is_empty) {
            return Ok(choice(cond, a, b));
        }
        let name = self.temporary();
        self.line(format!("{} {name} = 0;", c_type(ty)));
        self.line(format!("if ({}) {{", cond.text));
        self.out.push_str(&texts[0]);
        self.line(format!("    {name} = {};", a.text));
        self.line("} else {");
        self.out.push_str(&texts[1]);
        self.line(format!("    {name} = {};", b.text));
        self.line("}");
        Ok(Term::atom(name))
    }

    /// A value in a variable, unless it is a name already.
    fn named(&mut self, ty: ScalarType, term: Term) -> Term {
        if term.text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return term;
        }
        let name = self.temporary();
        self.line(format!("const {} {name} = {};", c_type(ty), term.text));
        Term::atom(name)
    }

    /// A cell whose subscripts are data, once they are found to be inside.
    pub(crate) fn checked_cell(&mut self, array: ArrayId, index: &[Expr]) -> diag::Result<Term> {
        let kernel = self.kernel;
        let declared = &kernel.arrays[array.index()];
        let mut subscripts = Vec::new();
        for (dimension, (subscript, extent)) in index.iter().zip(&declared.shape).enumerate() {
            if let ExprKind::Index(index) = &subscript.kind {
                subscripts.push(self.index(index));
                continue;
            }
            let term = self.expr(subscript)?;
            let term = self.named(ScalarType::I64, term);
            let extent = self.index(extent).at(Level::Sum);
            let site = format!("subscript {} of {} is outside{}", dimension + 1, declared.name, self.place());
            self.require(&format!("0 <= {0} && {0} < {extent}", term.text), site);
            subscripts.push(term);
        }
        Ok(self.cell(array, subscripts))
    }

    /// `, line 3`
    pub(crate) fn place(&self) -> String {
        match self.at {
            Some(span) => format!(", line {}", self.source.location(span.start).line),
            None => String::new(),
        }
    }

    fn unary(&mut self, op: UnaryOp, ty: ScalarType, a: Term) -> diag::Result<Term> {
        Ok(match op {
            UnaryOp::Neg if ty.is_float() => Term::new(format!("-{}", a.at(Level::Atom)), Level::Prefix),
            UnaryOp::Not => Term::new(format!("!{}", a.at(Level::Atom)), Level::Prefix),
            UnaryOp::BitNot => Term::new(format!("({})~{}", c_type(ty), a.at(Level::Atom)), Level::Prefix),
            UnaryOp::ABS if ty.is_unsigned() => a,
            UnaryOp::Function(function) if ty.is_float() => {
                let name = self.function(function, ty);
                Term::atom(format!("{name}({})", a.text))
            }
            op => {
                let name = self.integer_unary(op, ty).ok_or_else(|| bug(format!("`{}` on {ty}", op.name())))?;
                Term::atom(format!("{name}({})", a.text))
            }
        })
    }

    /// `ty` is the type of the operands.
    pub(crate) fn binary(&mut self, op: BinaryOp, ty: ScalarType, a: Term, b: Term) -> diag::Result<Term> {
        let infix = |op: &str, level: Level, left: Level, right: Level| {
            Term::new(format!("{} {op} {}", a.clone().at(left), b.clone().at(right)), level)
        };
        let float = ty.is_float();
        Ok(match op {
            BinaryOp::Last | BinaryOp::Once => b,
            op if op.is_comparison() => infix(op.name(), Level::Compare, Level::Sum, Level::Sum),
            BinaryOp::Add if float => infix("+", Level::Sum, Level::Sum, Level::Product),
            BinaryOp::Sub if float => infix("-", Level::Sum, Level::Sum, Level::Product),
            BinaryOp::Mul if float => infix("*", Level::Product, Level::Product, Level::Prefix),
            BinaryOp::Div if float => infix("/", Level::Product, Level::Product, Level::Prefix),
            BinaryOp::And => infix("&&", Level::And, Level::Compare, Level::Compare),
            BinaryOp::Or => infix("||", Level::Or, Level::Compare, Level::Compare),
            BinaryOp::Min if ty == ScalarType::Bool => infix("&&", Level::And, Level::Compare, Level::Compare),
            BinaryOp::Max if ty == ScalarType::Bool => infix("||", Level::Or, Level::Compare, Level::Compare),
            BinaryOp::BitAnd => infix("&", Level::Bits, Level::Prefix, Level::Prefix),
            BinaryOp::BitOr => infix("|", Level::Bits, Level::Prefix, Level::Prefix),
            BinaryOp::BitXor => infix("^", Level::Bits, Level::Prefix, Level::Prefix),
            BinaryOp::Function(function) => {
                let name = self.function_of_two(function, ty);
                Term::atom(format!("{name}({}, {})", a.text, b.text))
            }
            op => {
                let name = if float { self.float_binary(op, ty) } else { self.integer_binary(op, ty) };
                let name = name.ok_or_else(|| bug(format!("`{}` on {ty}", op.name())))?;
                Term::atom(format!("{name}({}, {})", a.text, b.text))
            }
        })
    }

    /// As Rust's `as`: integers wrap, floats saturate and NaN becomes 0.
    fn cast(&mut self, from: ScalarType, to: ScalarType, a: Term) -> Term {
        match (from.is_float(), to) {
            _ if from == to => a,
            _ if from.half().or(to.half()).is_some() => Term::atom(format!("{}({})", self.half(from, to), a.text)),
            (_, ScalarType::Bool) => Term::new(format!("{} != 0", a.at(Level::Sum)), Level::Compare),
            (true, to) if to.is_int() => Term::atom(format!("{}({})", self.saturating(from, to), a.text)),
            _ => Term::new(format!("({}){}", c_type(to), a.at(Level::Prefix)), Level::Prefix),
        }
    }
}

/// A value as C writes it.
pub(crate) fn constant(value: Value) -> Term {
    let text = match value {
        Value::F32(v) if v.is_nan() => "NAN".to_owned(),
        Value::F64(v) if v.is_nan() => "(double)NAN".to_owned(),
        Value::F32(v) if v.is_infinite() => if v > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned(),
        Value::F64(v) if v.is_infinite() => if v > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned(),
        Value::F16(v) => format!("{:#x}", v.to_bits()),
        Value::BF16(v) => format!("{:#x}", v.to_bits()),
        Value::F32(v) => format!("{v:?}f"),
        Value::F64(v) => format!("{v:?}"),
        Value::U64(v) if v > i64::MAX as u64 => format!("UINT64_C({v})"),
        Value::U32(v) => format!("{v}u"),
        Value::Bool(v) => v.to_string(),
        integer => return integer.as_i64().map_or(Term::atom("0"), number),
    };
    let level = if text.starts_with(['-', '(']) { Level::Prefix } else { Level::Atom };
    Term::new(text, level)
}
