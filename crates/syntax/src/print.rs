//! The syntax tree as text: one node a line, or an expression in one line with all its parentheses.
//!
//! In: a tree.  Out: what `--emit=ast` shows. Spans are left out, so equal programs print equally.
//! Not here: source text in canonical layout (`format`).

use crate::ast::{
    Arg, AssignOp, BinaryOp, CompareOp, Constant, ConstantValue, Expr, ExprKind, File, Function, Range, ReduceIndex,
    Stmt, StmtKind, Target, Type, UnaryOp,
};
use crate::script::{Script, print_script, step_to_string};
use crate::verb::verb_to_string;

/// The tree of a file, indented by two spaces a level.
pub fn print_ast(file: &File) -> String {
    let mut tree = Tree { out: String::new() };
    for used in &file.uses {
        tree.line(0, &format!("use {:?}", used.path));
    }
    for constant in &file.constants {
        tree.constant(constant);
    }
    for function in &file.functions {
        tree.function(function);
    }
    if !file.schedules.is_empty() {
        tree.out += &print_script(&Script { schedules: file.schedules.clone() });
    }
    tree.out
}

/// An expression in one line, with parentheses around every operation: `a + b * c` prints as `(a + (b * c))`.
/// Parentheses of the source are not shown again.
pub fn expr_to_string(expr: &Expr) -> String {
    let text = expr_to_string;
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Index { base, indices } => format!("{}[{}]", base.name, list(indices)),
        ExprKind::Call { callee, args } => format!("{}({})", callee.name, list(args)),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => format!("(-{})", text(operand)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => format!("(not {})", text(operand)),
        ExprKind::Unary { op: UnaryOp::BitNot, operand } => format!("(~{})", text(operand)),
        ExprKind::Binary { op, lhs, rhs } => format!("({} {} {})", text(lhs), binary_symbol(*op), text(rhs)),
        ExprKind::Compare { first, rest } => {
            let rest = rest.iter().map(|(op, operand)| format!(" {} {}", compare_symbol(*op), text(operand)));
            format!("({}{})", text(first), rest.collect::<String>())
        }
        ExprKind::If { cond, then, otherwise } => {
            format!("(if {} then {} else {})", text(cond), text(then), text(otherwise))
        }
        ExprKind::Reduce { scan, op, indices, guard, body } => {
            let scan = if *scan { "scan " } else { "" };
            format!("({scan}{}[{}] {})", op.name(), reduce_head(indices, guard.as_deref()), text(body))
        }
        ExprKind::Apply { verb, lhs, rhs } => {
            let lhs = lhs.as_ref().map_or(String::new(), |lhs| format!("{} ", text(lhs)));
            format!("({lhs}({}) {})", verb_to_string(verb), text(rhs))
        }
        ExprKind::Paren(inner) => text(inner),
    }
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr_to_string).collect::<Vec<_>>().join(", ")
}

fn range(range: &Range) -> String {
    format!("{}..{}", expr_to_string(&range.lo), expr_to_string(&range.hi))
}

fn with_guard(indices: String, guard: Option<&Expr>) -> String {
    guard.map_or(indices.clone(), |guard| format!("{indices} | {}", expr_to_string(guard)))
}

fn reduce_head(indices: &[ReduceIndex], guard: Option<&Expr>) -> String {
    let indices = indices.iter().map(|index| match &index.range {
        Some(bounds) => format!("{}: {}", index.name.name, range(bounds)),
        None => index.name.name.clone(),
    });
    with_guard(indices.collect::<Vec<_>>().join(", "), guard)
}

fn target(target: &Target) -> String {
    if target.indices.is_empty() {
        return target.name.name.clone();
    }
    let indices = target.indices.iter().map(|index| match &index.range {
        Some(bounds) => format!("{}: {}", expr_to_string(&index.expr), range(bounds)),
        None => expr_to_string(&index.expr),
    });
    let indices = indices.collect::<Vec<_>>().join(", ");
    format!("{}[{}]", target.name.name, with_guard(indices, target.guard.as_ref()))
}

fn ty(ty: &Type) -> String {
    if ty.shape.is_empty() { ty.scalar.name.clone() } else { format!("{}[{}]", ty.scalar.name, list(&ty.shape)) }
}

pub(crate) fn binary_symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
    }
}

pub(crate) fn compare_symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

struct Tree {
    out: String,
}

impl Tree {
    fn line(&mut self, level: usize, text: &str) {
        self.out.push_str(&"  ".repeat(level));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn constant(&mut self, constant: &Constant) {
        let declared = constant.ty.as_ref().map_or(String::new(), |declared| format!(": {}", ty(declared)));
        self.line(0, &format!("const {}{declared}", constant.name.name));
        self.constant_value(1, &constant.value);
    }

    fn constant_value(&mut self, level: usize, value: &ConstantValue) {
        match value {
            ConstantValue::One(expr) => self.expr(level, expr),
            ConstantValue::Table(entries, _) => {
                self.line(level, "table");
                entries.iter().for_each(|entry| self.constant_value(level + 1, entry));
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let types = function.types.iter().map(|(name, kind)| format!("{}: {}", name.name, kind.name));
        let params: Vec<_> = types.chain(function.params.iter().map(|param| param.name.clone())).collect();
        let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
        self.line(0, &format!("fn {}{params}", function.name.name));
        let mut arg = |what: &str, arg: &Arg| self.line(1, &format!("{what} {}: {}", arg.name.name, ty(&arg.ty)));
        for input in &function.args {
            arg(if input.inout { "inout" } else { "in" }, input);
        }
        for output in &function.outs {
            arg("out", output);
        }
        for condition in &function.context {
            self.line(1, "where");
            self.expr(2, condition);
        }
        for line in &function.layouts {
            self.line(1, &step_to_string(line));
        }
        self.body(1, &function.body);
    }

    fn body(&mut self, level: usize, body: &[Stmt]) {
        for stmt in body {
            self.stmt(level, stmt);
        }
    }

    fn stmt(&mut self, level: usize, stmt: &Stmt) {
        let label = stmt.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.name));
        match &stmt.kind {
            StmtKind::Let { target: name, ty: declared, value } => {
                let declared = declared.as_ref().map_or(String::new(), |declared| format!(": {}", ty(declared)));
                self.line(level, &format!("{label}let {}{declared}", target(name)));
                if let Some(value) = value {
                    self.expr(level + 1, value);
                }
            }
            StmtKind::Assign { target: name, op, value } => {
                let unique = if *op == AssignOp::Unique { "unique " } else { "" };
                self.line(level, &format!("{label}assign {unique}{} {}", target(name), op.symbol()));
                self.expr(level + 1, value);
            }
            StmtKind::Call { targets, callee, args } => {
                let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
                let names = if names.is_empty() { String::new() } else { format!("let ({}) = ", names.join(", ")) };
                self.line(level, &format!("{label}{names}call {}", callee.name));
                self.exprs(level + 1, args);
            }
            StmtKind::For { index, range: bounds, step, rev, until, body } => {
                let step = step.as_ref().map_or(String::new(), |step| format!(" by {}", expr_to_string(step)));
                let rev = if *rev { " rev" } else { "" };
                let until = until.as_ref().map_or(String::new(), |until| format!(" while {}", expr_to_string(until)));
                self.line(level, &format!("{label}for {} in {}{step}{rev}{until}", index.name, range(bounds)));
                self.body(level + 1, body);
            }
            StmtKind::If { arms } => {
                for (position, arm) in arms.iter().enumerate() {
                    let word = if position == 0 { "" } else { "else" };
                    let cond = arm.cond.as_ref().map(|cond| format!("if {}", expr_to_string(cond)));
                    let words: Vec<&str> = [Some(word), cond.as_deref()].into_iter().flatten().collect();
                    self.line(level, words.join(" ").trim());
                    self.body(level + 1, &arm.body);
                }
            }
        }
    }

    fn expr(&mut self, level: usize, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(value) => self.line(level, &format!("int {value}")),
            ExprKind::Float(value) => self.line(level, &format!("float {value:?}")),
            ExprKind::Bool(value) => self.line(level, &value.to_string()),
            ExprKind::Name(name) => self.line(level, &format!("name {name}")),
            ExprKind::Index { base, indices } => {
                self.line(level, &format!("index {}", base.name));
                self.exprs(level + 1, indices);
            }
            ExprKind::Call { callee, args } => {
                self.line(level, &format!("call {}", callee.name));
                self.exprs(level + 1, args);
            }
            ExprKind::Unary { op, operand } => {
                self.line(level, if *op == UnaryOp::Neg { "negate" } else { "not" });
                self.expr(level + 1, operand);
            }
            ExprKind::Binary { op, lhs, rhs } => {
                self.line(level, binary_symbol(*op));
                self.expr(level + 1, lhs);
                self.expr(level + 1, rhs);
            }
            ExprKind::Compare { first, rest } => {
                let ops: Vec<_> = rest.iter().map(|(op, _)| compare_symbol(*op)).collect();
                self.line(level, &format!("compare {}", ops.join(" ")));
                self.expr(level + 1, first);
                for (_, operand) in rest {
                    self.expr(level + 1, operand);
                }
            }
            ExprKind::If { cond, then, otherwise } => {
                self.line(level, "if");
                self.expr(level + 1, cond);
                self.expr(level + 1, then);
                self.expr(level + 1, otherwise);
            }
            ExprKind::Reduce { scan, op, indices, guard, body } => {
                let scan = if *scan { "scan " } else { "" };
                self.line(level, &format!("{scan}{} {}", op.name(), reduce_head(indices, guard.as_deref())));
                self.expr(level + 1, body);
            }
            ExprKind::Apply { verb, lhs, rhs } => {
                self.line(level, &format!("apply {}", verb_to_string(verb)));
                lhs.iter().for_each(|lhs| self.expr(level + 1, lhs));
                self.expr(level + 1, rhs);
            }
            ExprKind::Paren(inner) => {
                self.line(level, "paren");
                self.expr(level + 1, inner);
            }
        }
    }

    fn exprs(&mut self, level: usize, exprs: &[Expr]) {
        for expr in exprs {
            self.expr(level, expr);
        }
    }
}
