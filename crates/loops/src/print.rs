//! The text form of a kernel.
//!
//! In: a kernel, verified or not.  Out: text that `read` turns back into the same kernel.
//!
//! ```text
//! kernel gemv(N, K; alpha: f64; A: in f64[N, K], x: in f64[K], y: out f64[N]) {
//!     local t: f64
//!     parallel for c0 in 0..N {
//!         t = 0.0
//!         for c1 in 0..K {
//!             t = t + A[c0, c1] * x[c1]
//!         }
//!         y[c0] = alpha * t
//!     }
//! }
//! ```
//!
//! Bounds, subscripts, extents and the conditions of `if` are index arithmetic: `2 * c0 + 1`, `floor(c0 / 4)`,
//! `c0 mod 4`, `min(a, b)`, `select(c0 < N, a, b)`. What is stored is value arithmetic. There a loop variable or a
//! parameter stands for itself as an `i64`, while any larger index expression is marked as `index(c0 + 1)` and a
//! condition as `cond(c0 < N)`: `c0 + 1` would be a wrapping addition of two values.
//!
//! A literal has the type its place asks for: that of the assigned cell, or of the left operand. Where nothing asks,
//! or the kind of literal does not fit, `1.0` is an `f64` and `1` an `i64`. A suffix is shown only where this rule
//! would give another type: `1.0f32`, `3i32`, `inf_f32`.
//!
//! Subscripts that are values are marked: `gather(A, idx[c0])`, and `scatter(H, idx[c0]) += 1`. What is checked at run
//! time may say where it stands in the source, in bytes: `(x[c0] / y[c0])@40..53`.
//!
//! An update is `s[] += x[c0]` or `m max= x[c0]`. A parallel loop says what its iterations reduce and what each of them
//! has for itself: `parallel for c0 in 0..N reducing s by +, m by max private t, u { … }`. A scoped buffer is
//! `alloc t in scratch { … }`, with `t` declared like all local arrays.
//!
//! Names that are not identifiers, are reserved or are taken get changed until they are none of these.

use std::collections::HashSet;
use std::fmt::{self, Write};

use program::{BinaryOp, Role, ScalarType, UnaryOp, Value};

use crate::{ArrayId, Cond, Each, Expr, ExprKind, For, Index, Kernel, LoopKind, Parallel, Stmt, Target, VarId};

/// Words that the text form uses itself.
pub(crate) const RESERVED: [&str; 23] = [
    "kernel", "local", "array", "for", "in", "by", "if", "else", "parallel", "vector", "unroll", "mod", "and", "or",
    "not", "true", "false", "inf", "nan", "alloc", "barrier", "reducing", "private",
];

/// The type of a literal that carries no suffix, where the context asks for `expected`.
pub(crate) fn literal_type(float: bool, expected: Option<ScalarType>) -> ScalarType {
    match expected {
        Some(ty) if float && ty.is_float() || !float && ty.is_int() => ty,
        _ if float => ScalarType::F64,
        _ => ScalarType::I64,
    }
}

/// What the right operand of an operator is asked to be.
pub(crate) fn right_expected(op: BinaryOp, expected: Option<ScalarType>, left: ScalarType) -> Option<ScalarType> {
    Some(if op.is_comparison() { left } else { left_expected(op, expected).unwrap_or(left) })
}

/// What the left operand of an operator is asked to be.
pub(crate) fn left_expected(op: BinaryOp, expected: Option<ScalarType>) -> Option<ScalarType> {
    match op {
        BinaryOp::And | BinaryOp::Or => Some(ScalarType::Bool),
        op if op.is_comparison() => None,
        _ => expected,
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { kernel: self, names: Names::new(self), out: String::new(), indent: 0 };
        printer.kernel()?;
        f.write_str(&printer.out)
    }
}

/// Parts of loops, in the names that the whole is printed with.
pub(crate) struct Shown<'a>(Printer<'a>);

impl<'a> Shown<'a> {
    pub(crate) fn new(kernel: &'a Kernel) -> Shown<'a> {
        Shown(Printer { kernel, names: Names::new(kernel), out: String::new(), indent: 0 })
    }

    pub(crate) fn access(&mut self, array: ArrayId, index: &[Index]) -> String {
        self.0.aside(|printer| printer.access(array.index(), index)).unwrap_or_default()
    }

    /// An expression as a factor of a product.
    pub(crate) fn factor(&mut self, index: &Index) -> String {
        self.0.aside(|printer| printer.index(index, MUL)).unwrap_or_default()
    }

    pub(crate) fn var(&self, var: VarId) -> String {
        let mut text = String::new();
        name(&mut text, &self.0.names.vars, var.index());
        text
    }
}

/// The name under which everything is shown.
struct Names {
    params: Vec<String>,
    scalars: Vec<String>,
    arrays: Vec<String>,
    locals: Vec<String>,
    vars: Vec<String>,
}

impl Names {
    fn new(kernel: &Kernel) -> Names {
        let mut taken = HashSet::new();
        let mut unique = |names: Vec<&String>| -> Vec<String> {
            names
                .into_iter()
                .map(|name| {
                    let name = free_name(name, &|name| taken.contains(name));
                    taken.insert(name.clone());
                    name
                })
                .collect()
        };
        let params = unique(kernel.params.iter().collect());
        let scalars = unique(kernel.scalars.iter().map(|scalar| &scalar.name).collect());
        let arrays = unique(kernel.arrays.iter().map(|array| &array.name).collect());
        let locals = unique(kernel.locals.iter().map(|local| &local.name).collect());
        let mut names = Names { params, scalars, arrays, locals, vars: kernel.vars.clone() };
        names.name_vars(&kernel.body, &mut taken);
        names
    }

    /// Two loops may share a name unless one is inside the other.
    fn name_vars(&mut self, stmts: &[Stmt], taken: &mut HashSet<String>) {
        for stmt in stmts {
            match stmt {
                Stmt::For(f) => {
                    let wanted = self.vars.get(f.var.index()).map_or("c", String::as_str);
                    let name = free_name(wanted, &|name| taken.contains(name));
                    taken.insert(name.clone());
                    if let Some(var) = self.vars.get_mut(f.var.index()) {
                        var.clone_from(&name);
                    }
                    self.name_vars(&f.body, taken);
                    taken.remove(&name);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.name_vars(then, taken);
                    self.name_vars(otherwise, taken);
                }
                Stmt::Alloc { body, .. } => self.name_vars(body, taken),
                Stmt::Each(each) => self.name_vars(&each.body, taken),
                Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Scatter { .. } | Stmt::Set { .. } | Stmt::Barrier => {}
            }
        }
    }
}

/// `wanted` as an identifier that is neither reserved nor taken.
pub(crate) fn free_name(wanted: &str, taken: &impl Fn(&str) -> bool) -> String {
    let mut base: String =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let free = |name: &str| {
        let literal = matches!(name, "inf_f32" | "inf_f64" | "nan_f32" | "nan_f64");
        !taken(name) && !RESERVED.contains(&name) && !literal
    };
    if free(&base) {
        return base;
    }
    let mut number = 1u64;
    loop {
        let name = format!("{base}_{number}");
        if free(&name) {
            return name;
        }
        number += 1;
    }
}

// How tightly an operator binds. An operand that binds less tightly than its place needs parentheses.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const ADD: u8 = 5;
const MUL: u8 = 6;
const PREFIX: u8 = 7;
const ATOM: u8 = 8;

struct Printer<'a> {
    kernel: &'a Kernel,
    names: Names,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn kernel(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let mut sections = Vec::new();
        if !kernel.params.is_empty() {
            sections.push(self.names.params.join(", "));
        }
        if !kernel.scalars.is_empty() {
            let scalars = kernel.scalars.iter().zip(&self.names.scalars);
            sections.push(scalars.map(|(decl, name)| format!("{name}: {}", decl.ty)).collect::<Vec<_>>().join(", "));
        }
        let is_argument = |number: &usize| kernel.arrays[*number].role != Role::Local;
        let arguments: Vec<usize> = (0..kernel.arrays.len()).filter(is_argument).collect();
        if !arguments.is_empty() {
            let arguments = arguments.into_iter().map(|number| self.array(number)).collect::<Result<Vec<_>, _>>()?;
            sections.push(arguments.join(", "));
        }
        let name = free_name(&kernel.name, &|_| false);
        writeln!(self.out, "kernel {name}({}) {{", sections.join("; "))?;
        self.indent = 1;
        for number in (0..kernel.arrays.len()).filter(|number| !is_argument(number)) {
            let array = self.array(number)?;
            self.line(&format!("array {array}"))?;
        }
        for number in 0..kernel.locals.len() {
            let line = format!("local {}: {}", self.names.locals[number], kernel.locals[number].ty);
            self.line(&line)?;
        }
        self.block(&kernel.body)?;
        self.out.push_str("}\n");
        Ok(())
    }

    fn array(&mut self, number: usize) -> Result<String, fmt::Error> {
        let kernel = self.kernel;
        let decl = &kernel.arrays[number];
        let shape = self.aside(|printer| printer.index_list(&decl.shape))?;
        let role = if decl.role == Role::Local { String::new() } else { format!("{} ", decl.role.name()) };
        Ok(format!("{}: {role}{}[{shape}]", self.names.arrays[number], decl.ty))
    }

    /// What `print` writes, as a string of its own.
    fn aside(&mut self, print: impl FnOnce(&mut Self) -> fmt::Result) -> Result<String, fmt::Error> {
        let outer = std::mem::take(&mut self.out);
        let result = print(self);
        let text = std::mem::replace(&mut self.out, outer);
        result.map(|()| text)
    }

    fn line(&mut self, text: &str) -> fmt::Result {
        writeln!(self.out, "{}{text}", "    ".repeat(self.indent))
    }

    fn block(&mut self, stmts: &[Stmt]) -> fmt::Result {
        stmts.iter().try_for_each(|stmt| {
            let line = "    ".repeat(self.indent);
            self.out.push_str(&line);
            self.stmt(stmt)
        })
    }

    fn braced(&mut self, stmts: &[Stmt]) -> fmt::Result {
        self.out.push_str("{\n");
        self.indent += 1;
        self.block(stmts)?;
        self.indent -= 1;
        let line = "    ".repeat(self.indent);
        write!(self.out, "{line}}}")
    }

    /// One statement, from the current column to the end of its last line.
    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::For(f) => self.for_loop(f)?,
            Stmt::If { cond, then, otherwise } => {
                self.out.push_str("if ");
                self.cond(cond, OR)?;
                self.out.push(' ');
                self.braced(then)?;
                match otherwise.as_slice() {
                    [] => {}
                    [only @ Stmt::If { .. }] => {
                        self.out.push_str(" else ");
                        return self.stmt(only);
                    }
                    stmts => {
                        self.out.push_str(" else ");
                        self.braced(stmts)?;
                    }
                }
            }
            Stmt::Store { array, index, value } => {
                let ty = self.kernel.arrays.get(array.index()).map(|array| array.ty);
                self.access(array.index(), index)?;
                self.out.push_str(" = ");
                self.expr(value, OR, ty)?;
            }
            Stmt::Update { target, op, value } => {
                let ty = match target {
                    Target::Cell { array, index } => {
                        self.access(array.index(), index)?;
                        self.kernel.arrays.get(array.index()).map(|array| array.ty)
                    }
                    Target::Local(local) => {
                        name(&mut self.out, &self.names.locals, local.index());
                        self.kernel.locals.get(local.index()).map(|local| local.ty)
                    }
                };
                write!(self.out, " {}= ", op.name())?;
                self.expr(value, OR, ty)?;
            }
            Stmt::Scatter { array, index, op, value, at } => {
                self.out.push_str("scatter");
                self.gather(array.index(), index)?;
                if let Some(span) = at {
                    write!(self.out, "@{}..{}", span.start, span.end)?;
                }
                let ty = self.kernel.arrays.get(array.index()).map(|array| array.ty);
                write!(self.out, " {}= ", op.name())?;
                self.expr(value, OR, ty)?;
            }
            Stmt::Set { local, value } => {
                let ty = self.kernel.locals.get(local.index()).map(|local| local.ty);
                name(&mut self.out, &self.names.locals, local.index());
                self.out.push_str(" = ");
                self.expr(value, OR, ty)?;
            }
            Stmt::Alloc { array, space, body } => {
                self.out.push_str("alloc ");
                name(&mut self.out, &self.names.arrays, array.index());
                write!(self.out, " in {} ", space.name())?;
                self.braced(body)?;
            }
            Stmt::Barrier => self.out.push_str("barrier"),
            Stmt::Each(each) => self.each(each)?,
        }
        self.out.push('\n');
        Ok(())
    }

    /// `count k in lo..hi by step forwards while cond@3..5 { … }`
    fn each(&mut self, each: &Each) -> fmt::Result {
        let int = Some(ScalarType::I64);
        self.out.push_str("count ");
        name(&mut self.out, &self.names.locals, each.local.index());
        self.out.push_str(" in ");
        self.expr(&each.lo, ADD, int)?;
        self.out.push_str("..");
        self.expr(&each.hi, ADD, int)?;
        if each.step.kind != ExprKind::Const(Value::I64(1)) {
            self.out.push_str(" by ");
            self.expr(&each.step, ADD, int)?;
        }
        if each.forwards {
            self.out.push_str(" forwards");
        }
        if let Some(until) = &each.until {
            self.out.push_str(" while ");
            self.expr(until, OR, Some(ScalarType::Bool))?;
        }
        if let Some(span) = each.at {
            write!(self.out, " at @{}..{}", span.start, span.end)?;
        }
        self.out.push(' ');
        self.braced(&each.body)
    }

    fn for_loop(&mut self, f: &For) -> fmt::Result {
        match &f.kind {
            LoopKind::Serial => {}
            LoopKind::Parallel(Parallel { axis: Some(axis), .. }) => write!(self.out, "parallel({}) ", axis.name())?,
            LoopKind::Parallel(_) => self.out.push_str("parallel "),
            LoopKind::Vector(lanes) => write!(self.out, "vector({lanes}) ")?,
            LoopKind::Unrolled => self.out.push_str("unroll "),
        }
        self.out.push_str("for ");
        name(&mut self.out, &self.names.vars, f.var.index());
        self.out.push_str(" in ");
        self.index(&f.lo, ADD)?;
        self.out.push_str("..");
        self.index(&f.hi, ADD)?;
        if f.step != 1 {
            write!(self.out, " by {}", f.step)?;
        }
        if let LoopKind::Parallel(parallel) = &f.kind {
            self.parallel(parallel)?;
        }
        self.out.push(' ');
        self.braced(&f.body)
    }

    /// ` reducing s by +, m by max private t`
    fn parallel(&mut self, parallel: &Parallel) -> fmt::Result {
        for (number, reduction) in parallel.reductions.iter().enumerate() {
            self.out.push_str(if number == 0 { " reducing " } else { ", " });
            name(&mut self.out, &self.names.arrays, reduction.array.index());
            write!(self.out, " by {}", reduction.op.name())?;
        }
        for (number, array) in parallel.private.iter().enumerate() {
            self.out.push_str(if number == 0 { " private " } else { ", " });
            name(&mut self.out, &self.names.arrays, array.index());
        }
        Ok(())
    }

    fn access(&mut self, array: usize, index: &[Index]) -> fmt::Result {
        name(&mut self.out, &self.names.arrays, array);
        self.out.push('[');
        self.index_list(index)?;
        self.out.push(']');
        Ok(())
    }

    /// `(A, idx[c0], index(c1 + 1))`
    fn gather(&mut self, array: usize, index: &[Expr]) -> fmt::Result {
        self.out.push('(');
        name(&mut self.out, &self.names.arrays, array);
        for index in index {
            self.out.push_str(", ");
            self.expr(index, OR, Some(ScalarType::I64))?;
        }
        self.out.push(')');
        Ok(())
    }

    fn index_list(&mut self, list: &[Index]) -> fmt::Result {
        for (number, index) in list.iter().enumerate() {
            self.separate(number);
            self.index(index, ADD)?;
        }
        Ok(())
    }

    fn separate(&mut self, number: usize) {
        if number > 0 {
            self.out.push_str(", ");
        }
    }

    /// Writes what `print` writes, in parentheses if it binds less tightly than its place.
    fn at(&mut self, level: u8, place: u8, print: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        if level < place {
            self.out.push('(');
        }
        print(self)?;
        if level < place {
            self.out.push(')');
        }
        Ok(())
    }

    fn index(&mut self, index: &Index, place: u8) -> fmt::Result {
        match index {
            Index::Const(value) => write!(self.out, "{value}"),
            Index::Param(param) => {
                name(&mut self.out, &self.names.params, param.index());
                Ok(())
            }
            Index::Var(var) => {
                name(&mut self.out, &self.names.vars, var.index());
                Ok(())
            }
            Index::Add(a, b) | Index::Sub(a, b) => self.at(ADD, place, |p| {
                p.index(a, ADD)?;
                p.out.push_str(if matches!(index, Index::Add(..)) { " + " } else { " - " });
                p.index(b, MUL)
            }),
            Index::Mul(a, -1) => self.at(PREFIX, place, |p| {
                p.out.push('-');
                // `-(3)` is a product, `-3` a constant.
                p.at(if matches!(**a, Index::Const(_)) { OR } else { ATOM }, PREFIX, |p| p.index(a, PREFIX))
            }),
            Index::Mul(a, factor) => self.at(MUL, place, |p| {
                write!(p.out, "{factor} * ")?;
                p.index(a, PREFIX)
            }),
            Index::FloorDiv(a, divisor) => {
                self.out.push_str("floor(");
                self.index(a, MUL)?;
                write!(self.out, " / {divisor})")
            }
            Index::Mod(a, divisor) => self.at(MUL, place, |p| {
                p.index(a, ATOM)?;
                write!(p.out, " mod {divisor}")
            }),
            Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.out.push_str(match index {
                    Index::Xor(..) => "xor(",
                    Index::Min(..) => "min(",
                    _ => "max(",
                });
                self.index(a, ADD)?;
                self.out.push_str(", ");
                self.index(b, ADD)?;
                self.out.push(')');
                Ok(())
            }
            Index::Select(cond, a, b) => {
                self.out.push_str("select(");
                self.cond(cond, OR)?;
                self.out.push_str(", ");
                self.index(a, ADD)?;
                self.out.push_str(", ");
                self.index(b, ADD)?;
                self.out.push(')');
                Ok(())
            }
        }
    }

    fn cond(&mut self, cond: &Cond, place: u8) -> fmt::Result {
        match cond {
            Cond::Compare(op, a, b) => self.at(COMPARE, place, |p| {
                p.index(a, ADD)?;
                write!(p.out, " {} ", op.name())?;
                p.index(b, ADD)
            }),
            Cond::Not(cond) => self.at(NOT, place, |p| {
                p.out.push_str("not ");
                p.cond(cond, NOT)
            }),
            Cond::And(conds) => self.conds(conds, "true", " and ", AND, place),
            Cond::Or(conds) => self.conds(conds, "false", " or ", OR, place),
        }
    }

    fn conds(&mut self, conds: &[Cond], none: &str, word: &str, level: u8, place: u8) -> fmt::Result {
        match conds {
            [] => {
                self.out.push_str(none);
                Ok(())
            }
            [only] => self.cond(only, place),
            conds => self.at(level, place, |p| {
                for (number, cond) in conds.iter().enumerate() {
                    if number > 0 {
                        p.out.push_str(word);
                    }
                    p.cond(cond, level + 1)?;
                }
                Ok(())
            }),
        }
    }

    fn expr(&mut self, expr: &Expr, place: u8, expected: Option<ScalarType>) -> fmt::Result {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value, expected),
            ExprKind::Index(index @ (Index::Var(_) | Index::Param(_))) => self.index(index, ATOM),
            ExprKind::Index(index) => {
                self.out.push_str("index(");
                self.index(index, ADD)?;
                self.out.push(')');
                Ok(())
            }
            ExprKind::Cond(cond) => {
                self.out.push_str("cond(");
                self.cond(cond, OR)?;
                self.out.push(')');
                Ok(())
            }
            ExprKind::Scalar(scalar) => {
                name(&mut self.out, &self.names.scalars, scalar.index());
                Ok(())
            }
            ExprKind::Local(local) => {
                name(&mut self.out, &self.names.locals, local.index());
                Ok(())
            }
            ExprKind::Load { array, index } => self.access(array.index(), index),
            ExprKind::Gather { array, index } => {
                self.out.push_str("gather");
                self.gather(array.index(), index)
            }
            ExprKind::At(span, a) => {
                self.expr(a, ATOM, expected)?;
                write!(self.out, "@{}..{}", span.start, span.end)
            }
            ExprKind::Unary(UnaryOp::Neg, a) => self.at(PREFIX, place, |p| {
                p.out.push('-');
                let plain = matches!(a.kind, ExprKind::Const(value) if !value.to_string().starts_with('-'));
                p.at(if plain { OR } else { ATOM }, PREFIX, |p| p.expr(a, PREFIX, expected))
            }),
            ExprKind::Unary(UnaryOp::Not, a) => self.at(NOT, place, |p| {
                p.out.push_str("not ");
                p.expr(a, NOT, Some(ScalarType::Bool))
            }),
            ExprKind::Unary(op, a) => self.call(op.name(), &[(a, expected)]),
            ExprKind::Cast(a) => self.call(expr.ty.name(), &[(a, None)]),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, place, expected),
            ExprKind::Select(cond, a, b) => self
                .call("select", &[(cond, Some(ScalarType::Bool)), (a, expected), (b, Some(expected.unwrap_or(a.ty)))]),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, place: u8, expected: Option<ScalarType>) -> fmt::Result {
        let (left, right) = (left_expected(op, expected), right_expected(op, expected, a.ty));
        let (level, left_place) = match op {
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Function(_) => {
                return self.call(op.name(), &[(a, left), (b, right)]);
            }
            BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Last
            | BinaryOp::Once => {
                return self.call(op.name(), &[(a, left), (b, right)]);
            }
            BinaryOp::Or => (OR, OR),
            BinaryOp::And => (AND, AND),
            BinaryOp::Add | BinaryOp::Sub => (ADD, ADD),
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => (MUL, MUL),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => (COMPARE, ADD),
        };
        self.at(level, place, |p| {
            p.expr(a, left_place, left)?;
            write!(p.out, " {} ", op.name())?;
            p.expr(b, level + 1, right)
        })
    }

    fn call(&mut self, function: &str, arguments: &[(&Expr, Option<ScalarType>)]) -> fmt::Result {
        write!(self.out, "{function}(")?;
        for (number, (argument, expected)) in arguments.iter().enumerate() {
            self.separate(number);
            self.expr(argument, OR, *expected)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn constant(&mut self, value: Value, expected: Option<ScalarType>) -> fmt::Result {
        let ty = value.ty();
        let suffix = ty != ScalarType::Bool && ty != literal_type(ty.is_float(), expected);
        let text = value.to_string();
        let word = text.ends_with("inf") || text.ends_with("NaN");
        self.out.push_str(if text == "NaN" { "nan" } else { &text });
        match (suffix, word) {
            (false, _) => Ok(()),
            // An infinity that is asked to be an `f32` but is an `f64` needs the suffix as well.
            (true, true) => write!(self.out, "_{ty}"),
            (true, false) => write!(self.out, "{ty}"),
        }
    }
}

fn name(out: &mut String, names: &[String], number: usize) {
    match names.get(number) {
        Some(name) => out.push_str(name),
        // Only in a kernel that the verifier refuses.
        None => {
            out.push('?');
            out.push_str(&number.to_string());
        }
    }
}
