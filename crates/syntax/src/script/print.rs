//! Scripts in canonical form: one step a line, clauses in a fixed order, only the parentheses that are needed.
//!
//! In: a tree, parsed or made.  Out: text that parses to the same tree, apart from spans and parentheses.
//! Parentheses that were written stay. A made tree may hold what the parser never builds, such as a sum inside a
//! product without parentheses, or a negative literal; it gets the parentheses it needs.

use super::{Map, Schedule, Script, Step, Storage, Target};
use crate::ast::{BinaryOp, CompareOp, Expr, ExprKind, Ident, Range, ReduceIndex, UnaryOp};
use crate::print::{binary_symbol, compare_symbol};

/// Longer steps put every map on a line of its own; the indentation does not count.
const WIDTH: usize = 96;

/// The canonical text of a script; printing, parsing and printing again gives the same text.
pub fn print_script(script: &Script) -> String {
    script.schedules.iter().map(schedule).collect::<Vec<_>>().join("\n")
}

fn schedule(schedule: &Schedule) -> String {
    let head = schedule_head(schedule);
    if schedule.steps.is_empty() {
        return format!("{head} {{}}\n");
    }
    let steps: String = schedule.steps.iter().map(|each| format!("    {}\n", step_to_string(each))).collect();
    format!("{head} {{\n{steps}}}\n")
}

/// What stands in front of the steps.
pub(crate) fn schedule_head(schedule: &Schedule) -> String {
    let sizes = join(&schedule.sizes, |cond| expr(cond, Level::Or));
    let sizes = if sizes.is_empty() { sizes } else { format!(" where {sizes}") };
    format!("schedule {}{sizes}", schedule.function.name)
}

/// A step in canonical form; it may have several lines, indented for a schedule.
pub(crate) fn step_to_string(step: &Step) -> String {
    let mut out = step.verb.name.clone();
    if !step.targets.is_empty() {
        out += &format!(" {}", join(&step.targets, target));
    }
    if !step.by.is_empty() {
        out += &format!(" by {}", join(&step.by, |number| number.value.to_string()));
    }
    if let Some(at) = &step.at {
        out += &format!(" at {}", target(at));
    }
    match &step.storage {
        None => {}
        Some(Storage::Notation { text, .. }) => out += &format!(" = {text}"),
        Some(Storage::Map { outputs, shape, .. }) => {
            let list = |exprs: &[Expr]| join(exprs, |output| expr(output, Level::Or));
            out += &format!(" => [{}]", list(outputs));
            if let Some(shape) = shape {
                out += &format!(" in [{}]", list(shape));
            }
        }
    }
    // Behind `=`, which a condition would take in.
    if let Some(condition) = &step.condition {
        out += &format!(" where {}", expr(condition, Level::Or));
    }
    if let Some(axis) = &step.axis {
        out += &format!(" -> {}", axis.name);
    }
    match step.names.as_slice() {
        [] => {}
        [name] => out += &format!(" as {}", name.name),
        names => out += &format!(" as ({})", idents(names)),
    }
    if let Some(value) = &step.fill {
        out += &format!(" fill {}", value.name);
    }
    if !step.maps.is_empty() {
        let maps: Vec<String> = step.maps.iter().map(map).collect();
        let line = format!("{out} {{ {} }}", maps.join("; "));
        if line.len() <= WIDTH {
            return line;
        }
        out += &format!(" {{\n        {}\n    }}", maps.join("\n        "));
    }
    out
}

fn target(target: &Target) -> String {
    match &target.loops {
        Some(loops) => format!("{}[{}]", target.name.name, idents(loops)),
        None => target.name.name.clone(),
    }
}

fn map(map: &Map) -> String {
    let outputs = join(&map.outputs, |output| expr(output, Level::Or));
    format!("{}[{}] -> [{outputs}]", map.statement.name, idents(&map.inputs))
}

fn idents(names: &[Ident]) -> String {
    join(names, |name| name.name.clone())
}

fn join<T>(items: &[T], print: impl Fn(&T) -> String) -> String {
    items.iter().map(print).collect::<Vec<_>>().join(", ")
}

/// How strongly an expression holds together, as in the grammar's table of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Reduction,
    Product,
    Negation,
    Operand,
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Int(value) if *value < 0 => Level::Negation,
        ExprKind::Float(value) if value.is_sign_negative() => Level::Negation,
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Name(_) => Level::Operand,
        ExprKind::Index { .. } | ExprKind::Call { .. } | ExprKind::Paren(_) => Level::Operand,
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::BitNot, .. } => Level::Negation,
        ExprKind::Unary { op: UnaryOp::Not, .. } => Level::Not,
        ExprKind::Binary { op, .. } => binary_level(*op).0,
        ExprKind::Compare { .. } => Level::Comparison,
        // Its last branch takes in whatever follows.
        ExprKind::If { .. } => Level::Or,
        ExprKind::Reduce { .. } | ExprKind::Apply { .. } => Level::Reduction,
    }
}

/// The level of an operator, and the next stronger one, which its right operand must have.
fn binary_level(op: BinaryOp) -> (Level, Level) {
    match op {
        BinaryOp::Or => (Level::Or, Level::And),
        BinaryOp::And => (Level::And, Level::Not),
        BinaryOp::BitOr => (Level::BitOr, Level::BitXor),
        BinaryOp::BitXor => (Level::BitXor, Level::BitAnd),
        BinaryOp::BitAnd => (Level::BitAnd, Level::Shift),
        BinaryOp::Shl | BinaryOp::Shr => (Level::Shift, Level::Sum),
        BinaryOp::Add | BinaryOp::Sub => (Level::Sum, Level::Reduction),
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => (Level::Product, Level::Negation),
    }
}

/// An expression where only one at least as strong as `least` can stand without parentheses.
fn expr(expr: &Expr, least: Level) -> String {
    let text = bare(expr);
    if level(expr) < least { format!("({text})") } else { text }
}

/// The left operand of an operator: an `if` in it would take in the operator.
fn left(operand: &Expr, least: Level) -> String {
    if matches!(operand.kind, ExprKind::If { .. }) { format!("({})", bare(operand)) } else { expr(operand, least) }
}

fn bare(whole: &Expr) -> String {
    let any = |each: &Expr| expr(each, Level::Or);
    match &whole.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Index { base, indices } => format!("{}[{}]", base.name, join(indices, any)),
        ExprKind::Call { callee, args } => format!("{}({})", callee.name, join(args, any)),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => format!("-{}", expr(operand, Level::Negation)),
        ExprKind::Unary { op: UnaryOp::BitNot, operand } => format!("~{}", expr(operand, Level::Negation)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => format!("not {}", expr(operand, Level::Not)),
        ExprKind::Binary { op, lhs, rhs } => {
            let (own, stronger) = binary_level(*op);
            format!("{} {} {}", left(lhs, own), binary_symbol(*op), expr(rhs, stronger))
        }
        ExprKind::Compare { first, rest } => {
            let rest = rest.iter().map(|(op, operand)| format!(" {} {}", comparison(*op), expr(operand, Level::BitOr)));
            format!("{}{}", expr(first, Level::BitOr), rest.collect::<String>())
        }
        ExprKind::If { cond, then, otherwise } => {
            format!("if {} then {} else {}", any(cond), any(then), any(otherwise))
        }
        ExprKind::Reduce { scan, op, indices, guard, body } => {
            let scan = if *scan { "scan " } else { "" };
            let guard = guard.as_ref().map_or(String::new(), |guard| format!(" | {}", any(guard)));
            format!("{scan}{}[{}{guard}] {}", op.name(), join(indices, reduce_index), expr(body, Level::Reduction))
        }
        // No condition of a script is one; written so that it reads back.
        ExprKind::Apply { .. } => crate::print::expr_to_string(whole),
        ExprKind::Paren(inner) => format!("({})", any(inner)),
    }
}

/// Equality is written as in the conditions of programs.
fn comparison(op: CompareOp) -> &'static str {
    if op == CompareOp::Eq { "=" } else { compare_symbol(op) }
}

fn reduce_index(index: &ReduceIndex) -> String {
    match &index.range {
        Some(Range { lo, hi, .. }) => format!("{}: {}..{}", index.name.name, expr(lo, Level::Or), expr(hi, Level::Or)),
        None => index.name.name.clone(),
    }
}
