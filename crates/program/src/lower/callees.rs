//! Who calls whom: the functions of a file, those that are called before those that call them.
//!
//! In: a file.  Out: an order, and an error for every cycle. A function on a cycle is not lowered.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::generic::Variant;
use super::inline::{Form, NoForm, form};
use crate::Function;

/// A function that others may call.
pub(super) struct Callee<'a> {
    pub(super) name: &'a str,
    pub(super) ast: &'a ast::Function,
    /// Missing while it is not lowered, and if it is in error.
    pub(super) lowered: Option<Function>,
    pub(super) form: Result<Form, NoForm>,
    /// Of a function over types or shapes: those that this one is for.
    pub(super) variant: Option<Variant>,
    /// The first of what is wrong with it.
    pub(super) error: Option<Diagnostic>,
}

impl<'a> Callee<'a> {
    pub(super) fn new(ast: &'a ast::Function, variant: Option<Variant>) -> Self {
        Callee { name: &ast.name.name, ast, lowered: None, form: Err(NoForm::Body), variant, error: None }
    }

    pub(super) fn set(&mut self, function: Function) {
        self.form = form(&function);
        self.lowered = Some(function);
    }
}

/// The positions of the functions, callees first, and the cycles among them.
pub(super) fn order(file: &ast::File) -> (Vec<usize>, Vec<Diagnostic>) {
    let calls = file.functions.iter().map(|function| calls_of(file, function)).collect();
    let mut search =
        Search { file, calls, state: vec![State::New; file.functions.len()], order: Vec::new(), cycles: Vec::new() };
    for position in 0..file.functions.len() {
        search.visit(position);
    }
    (search.order, search.cycles)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
    /// On a cycle that is reported.
    Cyclic,
}

struct Search<'a> {
    file: &'a ast::File,
    /// For each function, the functions that it calls, and where.
    calls: Vec<Vec<(usize, Span)>>,
    state: Vec<State>,
    order: Vec<usize>,
    cycles: Vec<Diagnostic>,
}

impl Search<'_> {
    /// Depth first, without recursion: a chain of calls may be as long as the file.
    fn visit(&mut self, start: usize) {
        if self.state[start] != State::New {
            return;
        }
        // Each function on the path, and how many of its calls are followed.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        self.state[start] = State::Open;
        while let Some((position, next)) = path.last_mut() {
            let position = *position;
            let Some(&(callee, _)) = self.calls[position].get(*next) else {
                if self.state[position] == State::Open {
                    self.state[position] = State::Done;
                    self.order.push(position);
                }
                path.pop();
                continue;
            };
            *next += 1;
            match self.state[callee] {
                State::New => {
                    self.state[callee] = State::Open;
                    path.push((callee, 0));
                }
                State::Open => self.report(&path, callee),
                State::Cyclic | State::Done => {}
            }
        }
    }

    fn report(&mut self, path: &[(usize, usize)], callee: usize) {
        let from = path.iter().position(|(position, _)| *position == callee).unwrap_or(0);
        let cycle = path.get(from..).unwrap_or_default();
        let name = |position: usize| self.file.functions[position].name.name.as_str();
        let mut names: Vec<String> = cycle.iter().map(|(position, _)| format!("`{}`", name(*position))).collect();
        names.push(names.first().cloned().unwrap_or_default());
        let call = |&(position, next): &(usize, usize)| self.calls[position].get(next.saturating_sub(1)).copied();
        let last = cycle.last().and_then(call).map_or(Span::default(), |(_, span)| span);
        let message = if cycle.len() == 1 {
            format!("{} calls itself", names[0])
        } else {
            format!("functions call each other in a circle: {}", names.join(" → "))
        };
        let mut diagnostic = Diagnostic::error("E0110", last, message)
            .here(format!("calls `{}` again", name(callee)))
            .note("calls are replaced by the body of the function, which would never end")
            .help("loops are written with `for`");
        for entry in cycle.iter().take(cycle.len().saturating_sub(1)) {
            if let Some((callee, span)) = call(entry) {
                diagnostic = diagnostic.label(span, format!("`{}` calls `{}`", name(entry.0), name(callee)));
            }
        }
        self.cycles.push(diagnostic);
        for (position, _) in cycle {
            self.state[*position] = State::Cyclic;
        }
    }
}

/// For each function, whether another one calls it.
pub(super) fn called(file: &ast::File) -> Vec<bool> {
    let mut called = vec![false; file.functions.len()];
    for function in &file.functions {
        calls_of(file, function).into_iter().for_each(|(position, _)| called[position] = true);
    }
    called
}

fn calls_of(file: &ast::File, function: &ast::Function) -> Vec<(usize, Span)> {
    let mut calls = Vec::new();
    let mut found = |callee: &ast::Ident| {
        if super::expr::is_built_in(&callee.name) {
            return;
        }
        // A function over types is there several times under its name, side by side; of two others, the first is meant.
        let named = |function: &ast::Function| function.name.name == callee.name;
        let Some(first) = file.functions.iter().position(named) else { return };
        let span = file.functions[first].span;
        let same = file.functions.iter().enumerate().skip(first).take_while(|(_, function)| function.span == span);
        calls.extend(same.map(|(position, _)| (position, callee.span)));
    };
    function.body.iter().for_each(|stmt| visit_stmt(stmt, &mut found));
    calls
}

fn visit_stmt(stmt: &ast::Stmt, found: &mut dyn FnMut(&ast::Ident)) {
    match &stmt.kind {
        ast::StmtKind::Let { target, value, .. } => {
            visit_target(target, found);
            value.iter().for_each(|value| visit_expr(value, found));
        }
        ast::StmtKind::Assign { target, value, .. } => {
            visit_target(target, found);
            visit_expr(value, found);
        }
        ast::StmtKind::Call { callee, args, .. } => {
            found(callee);
            args.iter().for_each(|arg| visit_expr(arg, found));
        }
        ast::StmtKind::For { range, step, until, body, .. } => {
            visit_range(range, found);
            step.iter().chain(until).for_each(|part| visit_expr(part, found));
            body.iter().for_each(|stmt| visit_stmt(stmt, found));
        }
        ast::StmtKind::If { arms } => {
            arms.iter().filter_map(|arm| arm.cond.as_ref()).for_each(|cond| visit_expr(cond, found));
            arms.iter().flat_map(|arm| &arm.body).for_each(|stmt| visit_stmt(stmt, found));
        }
    }
}

fn visit_target(target: &ast::Target, found: &mut dyn FnMut(&ast::Ident)) {
    for index in &target.indices {
        visit_expr(&index.expr, found);
        index.range.iter().for_each(|range| visit_range(range, found));
    }
    target.guard.iter().for_each(|guard| visit_expr(guard, found));
}

fn visit_range(range: &ast::Range, found: &mut dyn FnMut(&ast::Ident)) {
    visit_expr(&range.lo, found);
    visit_expr(&range.hi, found);
}

fn visit_expr(expr: &ast::Expr, found: &mut dyn FnMut(&ast::Ident)) {
    use ast::ExprKind::*;
    match &expr.kind {
        Int(_) | Float(_) | Bool(_) | Name(_) => {}
        Index { indices, .. } => indices.iter().for_each(|index| visit_expr(index, found)),
        Call { callee, args } => {
            found(callee);
            args.iter().for_each(|arg| visit_expr(arg, found));
        }
        Unary { operand, .. } => visit_expr(operand, found),
        Binary { lhs, rhs, .. } => {
            visit_expr(lhs, found);
            visit_expr(rhs, found);
        }
        Compare { first, rest } => {
            visit_expr(first, found);
            rest.iter().for_each(|(_, operand)| visit_expr(operand, found));
        }
        If { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(|part| visit_expr(part, found)),
        Reduce { indices, guard, body, .. } => {
            indices.iter().filter_map(|index| index.range.as_ref()).for_each(|range| visit_range(range, found));
            guard.iter().for_each(|guard| visit_expr(guard, found));
            visit_expr(body, found);
        }
        Apply { verb, lhs, rhs } => {
            visit_verb(verb, found);
            lhs.iter().chain([rhs]).for_each(|operand| visit_expr(operand, found));
        }
        Paren(inner) => visit_expr(inner, found),
    }
}

fn visit_verb(verb: &ast::Verb, found: &mut dyn FnMut(&ast::Ident)) {
    match &verb.kind {
        ast::VerbKind::Named { name, params } => {
            found(name);
            params.iter().for_each(|param| visit_expr(param, found));
        }
        ast::VerbKind::Rank { verb, .. } => visit_verb(verb, found),
        ast::VerbKind::Binary(_)
        | ast::VerbKind::Compare(_)
        | ast::VerbKind::Reduce { .. }
        | ast::VerbKind::Oblique { .. } => {}
    }
}
