//! The text form of programs, and of single affine expressions for messages.

use std::fmt::{self, Write};

use crate::{
    Affine, ArgRef, Array, Assign, Atom, BinaryOp, Bound, Cond, DataRange, Each, Expr, ExprKind, For, Function, Node,
    Program, ReduceOp, Role, Scatter, Subscript, UnaryOp, Value,
};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, function) in self.functions.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{function}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fn {}", self.name)?;
        if !self.params.is_empty() {
            let names: Vec<&str> =
                self.params.iter().filter(|param| param.derived.is_none()).map(|param| param.name.as_str()).collect();
            write!(f, "<{}>", names.join(", "))?;
        }
        let args: Vec<String> = self.signature.iter().map(|arg| self.show_arg(*arg)).collect();
        write!(f, "({})", args.join(", "))?;
        if !self.context.is_empty() {
            let conds: Vec<String> = self.context.iter().map(|requirement| self.show_cond(&requirement.cond)).collect();
            write!(f, " where {}", conds.join(", "))?;
        }
        writeln!(f, " {{")?;
        for array in self.arrays.iter().filter(|array| array.role == Role::Local) {
            writeln!(f, "    local {}", self.show_array(array))?;
        }
        let mut body = String::new();
        self.body.iter().try_for_each(|node| self.write_node(&mut body, node, 1))?;
        writeln!(f, "{body}}}")
    }
}

/// Binding strength, for parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Lowest,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Atom,
}

fn level(op: BinaryOp) -> Level {
    use BinaryOp::*;
    match op {
        Or => Level::Or,
        And => Level::And,
        Eq | Ne | Lt | Le | Gt | Ge => Level::Compare,
        Add | Sub => Level::Sum,
        Mul | Div | Rem => Level::Product,
        Min | Max | Function(_) | BitAnd | BitOr | BitXor | Shl | Shr | Last | Once => Level::Atom,
    }
}

impl Function {
    fn show_arg(&self, arg: ArgRef) -> String {
        match arg {
            ArgRef::Scalar(id) => format!("{}: in {}", self.scalar(id).name, self.scalar(id).ty),
            ArgRef::Array(id) => self.show_array(self.array(id)),
        }
    }

    fn show_array(&self, array: &Array) -> String {
        let role = if array.role == Role::Local { String::new() } else { format!("{} ", array.role.name()) };
        format!("{}: {role}{}{}", array.name, array.ty, self.show_shape(array))
    }

    /// `[N, M + 1]`, or nothing for a scalar.
    pub fn show_shape(&self, array: &Array) -> String {
        if array.shape.is_empty() { String::new() } else { format!("[{}]", self.show_list(&array.shape)) }
    }

    /// Expressions, with commas between them.
    pub fn show_list(&self, affines: &[Affine]) -> String {
        affines.iter().map(|affine| self.show(affine)).collect::<Vec<_>>().join(", ")
    }

    /// An affine expression in the user's names.
    pub fn show(&self, affine: &Affine) -> String {
        let mut text = String::new();
        // Positive terms first, so that `N - 1` is not printed as `-1 + N`, nor `i - j` as `-j + i`.
        let (positive, negative): (Vec<_>, Vec<_>) =
            affine.terms.iter().partition(|(_, coefficient)| **coefficient > 0);
        for (atom, coefficient) in positive.into_iter().chain(negative) {
            let name = match atom {
                Atom::Param(id) if coefficient.abs() != 1 && self.param(*id).derived.is_some() => {
                    format!("({})", self.show_param(*id))
                }
                Atom::Param(id) => self.show_param(*id),
                Atom::Iter(id) => self.iter(*id).name.clone(),
                Atom::Div(numerator, divisor) => {
                    let simple = numerator.terms.len() + usize::from(numerator.constant != 0) <= 1;
                    let numerator = self.show(numerator);
                    let quotient =
                        if simple { format!("{numerator} / {divisor}") } else { format!("({numerator}) / {divisor}") };
                    if coefficient.abs() == 1 { quotient } else { format!("({quotient})") }
                }
            };
            let factor = match coefficient.unsigned_abs() {
                1 => String::new(),
                factor => format!("{factor}*"),
            };
            let sign = match (text.is_empty(), *coefficient < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text.push_str(&format!("{sign}{factor}{name}"));
        }
        match (text.is_empty(), affine.constant) {
            (true, constant) => text.push_str(&constant.to_string()),
            (false, 0) => {}
            (false, constant) if constant < 0 => text.push_str(&format!(" - {}", constant.unsigned_abs())),
            (false, constant) => text.push_str(&format!(" + {constant}")),
        }
        text
    }

    /// A condition in the names of the function.
    pub fn show_cond(&self, cond: &Cond) -> String {
        let join = |conds: &[Cond], word: &str| {
            conds
                .iter()
                .map(|cond| match cond {
                    Cond::NonNegative(_) | Cond::Zero(_) => self.show_cond(cond),
                    _ => format!("({})", self.show_cond(cond)),
                })
                .collect::<Vec<_>>()
                .join(word)
        };
        match cond {
            Cond::NonNegative(affine) => self.show_comparison(affine, ">="),
            Cond::Zero(affine) => self.show_comparison(affine, "="),
            Cond::And(conds) if conds.is_empty() => "true".into(),
            Cond::Or(conds) if conds.is_empty() => "false".into(),
            Cond::And(conds) => join(conds, " and "),
            Cond::Or(conds) => join(conds, " or "),
        }
    }

    /// `left >= right` with only positive terms on either side; a number alone stands on the right.
    fn show_comparison(&self, affine: &Affine, op: &str) -> String {
        let side = |sign: i64| {
            let terms = affine.terms.iter().filter(|(_, c)| c.signum() == sign).map(|(a, c)| (a.clone(), c.abs()));
            let constant = if affine.constant.signum() == sign { affine.constant.saturating_abs() } else { 0 };
            self.show(&Affine { constant, terms: terms.collect() })
        };
        match (affine.terms.values().any(|c| *c > 0), op) {
            (false, ">=") => format!("{} <= {}", side(-1), side(1)),
            (false, _) => format!("{} {op} {}", side(-1), side(1)),
            (true, _) => format!("{} {op} {}", side(1), side(-1)),
        }
    }

    fn show_bounds(&self, bounds: &[Bound]) -> String {
        let bounds = bounds.iter().map(|bound| {
            format!("{} in {}..{}", self.iter(bound.iter).name, self.show(&bound.lo), self.show(&bound.hi))
        });
        bounds.collect::<Vec<_>>().join(", ")
    }

    fn show_guard(&self, guard: &Cond) -> String {
        if guard.is_true() { String::new() } else { format!(" | {}", self.show_cond(guard)) }
    }

    fn write_node(&self, out: &mut String, node: &Node, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        match node {
            Node::For(For { bound, step, rev, body, .. }) => {
                write!(out, "{indent}for {}", self.show_bounds(std::slice::from_ref(bound)))?;
                if *step != 1 {
                    write!(out, " by {step}")?;
                }
                writeln!(out, "{} {{", if *rev { " rev" } else { "" })?;
                body.iter().try_for_each(|node| self.write_node(out, node, depth + 1))?;
                writeln!(out, "{indent}}}")
            }
            Node::Assign(assign) => writeln!(out, "{indent}{}", self.show_assign(assign)),
            Node::Scatter(scatter) => writeln!(out, "{indent}{}", self.show_scatter(scatter)),
            Node::Each(Each { name, range, until, body, .. }) => {
                write!(out, "{indent}{name}: for {}", self.show_data_range(range))?;
                if let Some(until) = until {
                    write!(out, " while {}", self.show_expr(until))?;
                }
                writeln!(out, " {{")?;
                body.iter().try_for_each(|node| self.write_node(out, node, depth + 1))?;
                writeln!(out, "{indent}}}")
            }
        }
    }

    fn show_data_range(&self, range: &DataRange) -> String {
        let (lo, hi) = (self.show_at(&range.lo, Level::Sum), self.show_at(&range.hi, Level::Sum));
        let step = match &range.step.kind {
            ExprKind::Const(Value::I64(1)) => String::new(),
            _ => format!(" by {}", self.show_at(&range.step, Level::Sum)),
        };
        format!("{} in {lo}..{hi}{step}", self.counter(range.counter).name)
    }

    fn show_assign(&self, assign: &Assign) -> String {
        let mut text = format!("{}: {}", assign.name, self.show_forall(&assign.foralls, &assign.guard));
        text.push_str(&self.array(assign.target).name);
        if !assign.index.is_empty() {
            text.push_str(&format!("[{}]", self.show_list(&assign.index)));
        }
        format!("{text} = {}", self.show_expr(&assign.value))
    }

    /// The `= …` of a scatter says how it combines: `H[idx[i]] sum= x[i]`.
    fn show_scatter(&self, scatter: &Scatter) -> String {
        let Scatter { name, foralls, guard, target, index, op, value, .. } = scatter;
        let (forall, target) = (self.show_forall(foralls, guard), &self.array(*target).name);
        let (index, value) = (self.show_subscripts(index), self.show_expr(value));
        let op = if *op == ReduceOp::Last { "" } else { op.name() };
        format!("{name}: {forall}{target}[{index}] {op}= {value}")
    }

    fn show_forall(&self, foralls: &[Bound], guard: &Cond) -> String {
        if foralls.is_empty() && guard.is_true() {
            return String::new();
        }
        let space = if foralls.is_empty() { "" } else { " " };
        format!("forall{space}{}{}: ", self.show_bounds(foralls), self.show_guard(guard))
    }

    /// Subscripts, with commas between them.
    pub fn show_subscripts(&self, index: &[Subscript]) -> String {
        let shown = index.iter().map(|subscript| match subscript {
            Subscript::Affine(affine) => self.show(affine),
            Subscript::Data(expr) => self.show_expr(expr),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// A value in the names of the function.
    pub fn show_expr(&self, expr: &Expr) -> String {
        self.show_at(expr, Level::Lowest)
    }

    fn show_at(&self, expr: &Expr, outer: Level) -> String {
        let (text, inner) = match &expr.kind {
            ExprKind::Const(value) => (value.to_string(), Level::Atom),
            ExprKind::Index(affine) => {
                let simple = affine.terms.len() + usize::from(affine.constant != 0) <= 1;
                (self.show(affine), if simple { Level::Product } else { Level::Sum })
            }
            ExprKind::Scalar(id) => (self.scalar(*id).name.clone(), Level::Atom),
            ExprKind::Counter(id) => (self.counter(*id).name.clone(), Level::Atom),
            ExprKind::Load { array, index } => {
                let subscripts = if index.is_empty() { String::new() } else { format!("[{}]", self.show_list(index)) };
                (format!("{}{subscripts}", self.array(*array).name), Level::Atom)
            }
            ExprKind::Gather { array, index } => {
                (format!("{}[{}]", self.array(*array).name, self.show_subscripts(index)), Level::Atom)
            }
            ExprKind::Unary(op @ (UnaryOp::Neg | UnaryOp::Not), operand) => {
                let space = if *op == UnaryOp::Not { " " } else { "" };
                (format!("{}{space}{}", op.name(), self.show_at(operand, Level::Atom)), Level::Unary)
            }
            ExprKind::Unary(op, operand) => (format!("{}({})", op.name(), self.show_expr(operand)), Level::Atom),
            ExprKind::Binary(op, lhs, rhs)
                if op.is_bitwise()
                    || matches!(
                        op,
                        BinaryOp::Min | BinaryOp::Max | BinaryOp::Function(_) | BinaryOp::Last | BinaryOp::Once
                    ) =>
            {
                (format!("{}({}, {})", op.name(), self.show_expr(lhs), self.show_expr(rhs)), Level::Atom)
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let level = level(*op);
                let tighter = match level {
                    Level::Or => Level::And,
                    Level::And => Level::Compare,
                    Level::Compare => Level::Sum,
                    Level::Sum => Level::Product,
                    _ => Level::Unary,
                };
                let left = if level == Level::Compare { tighter } else { level };
                (format!("{} {} {}", self.show_at(lhs, left), op.name(), self.show_at(rhs, tighter)), level)
            }
            ExprKind::Cast(operand) => (format!("{}({})", expr.ty, self.show_expr(operand)), Level::Atom),
            ExprKind::Select { cond, then, otherwise, .. } => {
                let parts = [cond, then, otherwise].map(|part| self.show_expr(part));
                (format!("if {} then {} else {}", parts[0], parts[1], parts[2]), Level::Lowest)
            }
            ExprKind::Fold { op, range, body } => {
                let head = format!("{}[{}]", op.name(), self.show_data_range(range));
                (format!("{head} {}", self.show_at(body, Level::Product)), Level::Sum)
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                let head = format!("{}[{}{}]", op.name(), self.show_bounds(bounds), self.show_guard(guard));
                // The body takes in products; in a product itself the reduction would take in what follows.
                (format!("{head} {}", self.show_at(body, Level::Product)), Level::Sum)
            }
        };
        if inner < outer { format!("({text})") } else { text }
    }
}
