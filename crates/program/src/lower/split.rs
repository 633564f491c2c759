//! Arrays whose extent is a product, taken as arrays of more dimensions: `y[h * D + d]` of a `y: f32[H * D]` is `y[h, d]`.
//!
//! In: a function as written.  Out: the same function with such subscripts taken apart, and the extents that its callers know.
//! Memory is row-major, so both are the same cells; but the parts are affine, so that bounds are proven and dependences exact.
//! An array is left as it is if one of its subscripts has no such parts, if it is used as a whole or has a layout of its own, and in
//! functions that others call, which must agree with them about the dimensions.

use syntax::{ast, expr_to_string};

use super::rank::visit;

/// A dimension that is taken apart.
struct Split {
    array: String,
    position: usize,
    /// The extents, outermost first; at least two.
    factors: Vec<ast::Expr>,
    /// Assigned by the function, so that nothing else will do.
    written: bool,
}

/// The function with dimensions taken apart, and the arguments whose extents differ from what is written.
pub(super) fn split(function: &ast::Function) -> (ast::Function, Vec<(String, Vec<ast::Expr>)>) {
    let mut function = function.clone();
    let mut outside = Vec::new();
    let arguments = function.args.iter().chain(&function.outs).map(|arg| arg.name.name.clone());
    let names: Vec<String> = arguments.chain(declared_once(&function.body)).collect();
    // A layout speaks of the dimensions that are written.
    let laid_out =
        |name: &String| function.layouts.iter().flat_map(|step| &step.targets).any(|target| target.name.name == *name);
    let names: Vec<String> = names.into_iter().filter(|name| !laid_out(name)).collect();
    for name in names {
        while let Some(split) = candidates(&function, &name).into_iter().find(|split| fits(&function.body, split)) {
            let arg = function.args.iter_mut().chain(&mut function.outs).find(|arg| arg.name.name == name);
            let shape = match arg {
                Some(arg) => {
                    if outside.iter().all(|(known, _)| *known != name) {
                        outside.push((name.clone(), arg.ty.shape.clone()));
                    }
                    Some(&mut arg.ty.shape)
                }
                None => function.body.iter_mut().find_map(|stmt| match &mut stmt.kind {
                    ast::StmtKind::Let { target, ty: Some(ty), .. } if target.name.name == name => Some(&mut ty.shape),
                    _ => None,
                }),
            };
            if let Some(shape) = shape {
                shape.splice(split.position..=split.position, split.factors.clone());
            }
            function.body.iter_mut().for_each(|stmt| rewrite_stmt(stmt, &split));
        }
    }
    (function, outside)
}

/// The locals that the function declares by a type alone, and nothing else by their name.
fn declared_once(body: &[ast::Stmt]) -> Vec<String> {
    let mut named: Vec<&str> = Vec::new();
    body.iter().for_each(|stmt| names_of_lets(stmt, &mut named));
    let mut found = Vec::new();
    for stmt in body {
        if let ast::StmtKind::Let { target, ty: Some(ty), value: None } = &stmt.kind
            && !ty.shape.is_empty()
            && named.iter().filter(|name| **name == target.name.name).count() == 1
        {
            found.push(target.name.name.clone());
        }
    }
    found
}

fn names_of_lets<'a>(stmt: &'a ast::Stmt, named: &mut Vec<&'a str>) {
    match &stmt.kind {
        ast::StmtKind::Let { target, .. } => named.push(&target.name.name),
        ast::StmtKind::For { body, .. } => body.iter().for_each(|stmt| names_of_lets(stmt, named)),
        ast::StmtKind::If { arms } => {
            arms.iter().flat_map(|arm| &arm.body).for_each(|stmt| names_of_lets(stmt, named));
        }
        ast::StmtKind::Assign { .. } | ast::StmtKind::Call { .. } => {}
    }
}

/// The dimensions of an argument or local that are products of sizes, each taken apart at all factors, or at the last ones only: `2 * H * D` as
/// 2 by H by D, or as 2 * H by D. The parts of one are none.
fn candidates(function: &ast::Function, name: &str) -> Vec<Split> {
    let inputs = function.args.iter().map(|arg| (arg, arg.inout));
    let mut arguments = inputs.chain(function.outs.iter().map(|out| (out, true)));
    let declared = function.body.iter().find_map(|stmt| match &stmt.kind {
        ast::StmtKind::Let { target, ty: Some(ty), .. } if target.name.name == name => Some((ty, false)),
        _ => None,
    });
    let found = arguments.find(|(arg, _)| arg.name.name == name).map(|(arg, written)| (&arg.ty, written));
    let Some((ty, written)) = found.or(declared) else { return Vec::new() };
    let mut splits = Vec::new();
    for (position, extent) in ty.shape.iter().enumerate() {
        let mut factors = Vec::new();
        factors_of(extent, &mut factors);
        let sizes = factors.iter().filter(|factor| !matches!(factor.kind, ast::ExprKind::Int(_))).count();
        for together in 1..factors.len() {
            let (first, rest) = factors.split_at(together);
            let Some(first) = first.iter().cloned().reduce(product).filter(|_| sizes >= 2) else { continue };
            let factors = std::iter::once(first).chain(rest.iter().cloned()).collect();
            splits.push(Split { array: name.to_string(), position, factors, written });
        }
    }
    splits
}

fn product(lhs: ast::Expr, rhs: ast::Expr) -> ast::Expr {
    let span = lhs.span.to(rhs.span);
    let kind = ast::ExprKind::Binary { op: ast::BinaryOp::Mul, lhs: Box::new(lhs), rhs: Box::new(rhs) };
    ast::Expr { kind, span }
}

fn factors_of(expr: &ast::Expr, factors: &mut Vec<ast::Expr>) {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => match &inner.kind {
            ast::ExprKind::Binary { op: ast::BinaryOp::Mul, .. } => factors_of(inner, factors),
            _ => factors.push((**inner).clone()),
        },
        ast::ExprKind::Binary { op: ast::BinaryOp::Mul, lhs, rhs } => {
            factors_of(lhs, factors);
            factors_of(rhs, factors);
        }
        _ => factors.push(expr.clone()),
    }
}

/// Terms of a sum, with whether they are subtracted.
fn terms_of(expr: &ast::Expr, negative: bool, terms: &mut Vec<(ast::Expr, bool)>) {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => terms_of(inner, negative, terms),
        ast::ExprKind::Binary { op: op @ (ast::BinaryOp::Add | ast::BinaryOp::Sub), lhs, rhs } => {
            terms_of(lhs, negative, terms);
            terms_of(rhs, negative != (*op == ast::BinaryOp::Sub), terms);
        }
        _ => terms.push((expr.clone(), negative)),
    }
}

fn sum_of(terms: Vec<(ast::Expr, bool)>, span: diag::Span) -> ast::Expr {
    let make = |kind| ast::Expr { kind, span };
    let mut sum: Option<ast::Expr> = None;
    for (term, negative) in terms {
        sum = Some(match (sum, negative) {
            (None, false) => term,
            (None, true) => make(ast::ExprKind::Unary { op: ast::UnaryOp::Neg, operand: Box::new(term) }),
            (Some(sum), _) => {
                let op = if negative { ast::BinaryOp::Sub } else { ast::BinaryOp::Add };
                make(ast::ExprKind::Binary { op, lhs: Box::new(sum), rhs: Box::new(term) })
            }
        });
    }
    sum.unwrap_or_else(|| make(ast::ExprKind::Int(0)))
}

/// The subscripts of the parts, or nothing if the last factors do not show in it.
fn parts_of(subscript: &ast::Expr, factors: &[ast::Expr]) -> Option<Vec<ast::Expr>> {
    let [first @ .., last] = factors else { return None };
    if first.is_empty() {
        return Some(vec![subscript.clone()]);
    }
    let wanted = expr_to_string(last);
    let mut terms = Vec::new();
    terms_of(subscript, false, &mut terms);
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (term, negative) in terms {
        let mut factors = Vec::new();
        factors_of(&term, &mut factors);
        match factors.iter().position(|factor| expr_to_string(factor) == wanted) {
            Some(position) => {
                factors.remove(position);
                let one = ast::Expr { kind: ast::ExprKind::Int(1), span: term.span };
                outer.push((factors.into_iter().reduce(product).unwrap_or(one), negative));
            }
            None => inner.push((term, negative)),
        }
    }
    if outer.is_empty() {
        return None;
    }
    // `h * D + D - 1` and `H * D - 1` are the last cells of rows.
    if !inner.is_empty()
        && inner.iter().all(|(term, negative)| *negative && matches!(term.kind, ast::ExprKind::Int(1..)))
    {
        outer.push((ast::Expr { kind: ast::ExprKind::Int(1), span: subscript.span }, true));
        inner.insert(0, (last.clone(), false));
    }
    let mut parts = parts_of(&sum_of(outer, subscript.span), first)?;
    parts.push(sum_of(inner, subscript.span));
    Some(parts)
}

/// Whether the last part of a subscript means a cell of the row: it is an index alone, or counted from the end. Any other may mean to run on into the next one.
fn stays(last: &ast::Expr, split: &Split) -> bool {
    let mut terms = Vec::new();
    terms_of(last, false, &mut terms);
    match (terms.as_slice(), split.factors.last()) {
        ([(only, false)], _) => matches!(only.kind, ast::ExprKind::Name(_)),
        ([(first, false), ..], Some(extent)) => expr_to_string(first) == expr_to_string(extent),
        _ => false,
    }
}

/// Whether every use of the array is a subscript that comes apart. Of an array that is no result, the last part stays in its row.
fn fits(body: &[ast::Stmt], split: &Split) -> bool {
    let mut fits = true;
    let mut judge = |indices: &[&ast::Expr]| {
        let parts = indices.get(split.position).and_then(|subscript| parts_of(subscript, &split.factors));
        fits &= parts.is_some_and(|parts| split.written || parts.last().is_some_and(|last| stays(last, split)));
    };
    let mut used = false;
    body.iter().for_each(|stmt| {
        visit_stmt(stmt, &mut |part| match part {
            Part::Expr(expr) => match &expr.kind {
                ast::ExprKind::Index { base, indices } if base.name == split.array => {
                    used = true;
                    judge(&indices.iter().collect::<Vec<_>>());
                }
                ast::ExprKind::Name(name) if *name == split.array => judge(&[]),
                _ => {}
            },
            Part::Target(target) if target.name.name == split.array => {
                used = true;
                let ranged = target.indices.iter().any(|index| index.range.is_some());
                let indices: Vec<&ast::Expr> = target.indices.iter().map(|index| &index.expr).collect();
                judge(if ranged { &[] } else { &indices });
            }
            Part::Target(_) => {}
            Part::Call => judge(&[]),
        });
    });
    fits && used
}

enum Part<'a> {
    Expr(&'a ast::Expr),
    Target(&'a ast::Target),
    /// A statement that hands arrays on.
    Call,
}

fn visit_stmt<'a>(stmt: &'a ast::Stmt, found: &mut dyn FnMut(Part<'_>)) {
    let mut exprs: Vec<&'a ast::Expr> = Vec::new();
    match &stmt.kind {
        ast::StmtKind::Let { target, value, .. } => {
            // A declaration is no use.
            if value.is_some() {
                found(Part::Target(target));
            }
            exprs.extend(target_exprs(target));
            exprs.extend(value);
        }
        ast::StmtKind::Assign { target, value, .. } => {
            found(Part::Target(target));
            exprs.extend(target_exprs(target));
            exprs.push(value);
        }
        ast::StmtKind::Call { .. } => found(Part::Call),
        ast::StmtKind::For { range, until, body, .. } => {
            exprs.extend([&range.lo, &range.hi]);
            exprs.extend(until);
            body.iter().for_each(|stmt| visit_stmt(stmt, found));
        }
        ast::StmtKind::If { arms } => {
            exprs.extend(arms.iter().filter_map(|arm| arm.cond.as_ref()));
            arms.iter().flat_map(|arm| &arm.body).for_each(|stmt| visit_stmt(stmt, found));
        }
    }
    exprs.into_iter().for_each(|expr| visit(expr, &mut |part| found(Part::Expr(part))));
}

fn target_exprs(target: &ast::Target) -> impl Iterator<Item = &ast::Expr> {
    let ranges = target.indices.iter().filter_map(|index| index.range.as_ref());
    let bounds = ranges.flat_map(|range| [&range.lo, &range.hi]);
    target.indices.iter().map(|index| &index.expr).chain(bounds).chain(&target.guard)
}

fn rewrite_stmt(stmt: &mut ast::Stmt, split: &Split) {
    match &mut stmt.kind {
        ast::StmtKind::Let { target, value, .. } => {
            rewrite_target(target, split);
            value.iter_mut().for_each(|value| rewrite(value, split));
        }
        ast::StmtKind::Assign { target, value, .. } => {
            rewrite_target(target, split);
            rewrite(value, split);
        }
        ast::StmtKind::Call { args, .. } => args.iter_mut().for_each(|arg| rewrite(arg, split)),
        ast::StmtKind::For { range, until, body, .. } => {
            [&mut range.lo, &mut range.hi].into_iter().chain(until).for_each(|part| rewrite(part, split));
            body.iter_mut().for_each(|stmt| rewrite_stmt(stmt, split));
        }
        ast::StmtKind::If { arms } => {
            for arm in arms {
                arm.cond.iter_mut().for_each(|cond| rewrite(cond, split));
                arm.body.iter_mut().for_each(|stmt| rewrite_stmt(stmt, split));
            }
        }
    }
}

fn rewrite_target(target: &mut ast::Target, split: &Split) {
    target.indices.iter_mut().for_each(|index| rewrite(&mut index.expr, split));
    target.guard.iter_mut().for_each(|guard| rewrite(guard, split));
    if target.name.name == split.array
        && let Some(index) = target.indices.get(split.position)
        && let Some(parts) = parts_of(&index.expr, &split.factors)
    {
        let parts = parts.into_iter().map(|expr| ast::TargetIndex { expr, range: None });
        target.indices.splice(split.position..=split.position, parts);
    }
}

fn rewrite(expr: &mut ast::Expr, split: &Split) {
    use ast::ExprKind::*;
    match &mut expr.kind {
        Int(_) | Float(_) | Bool(_) | Name(_) => {}
        Index { base, indices } => {
            indices.iter_mut().for_each(|index| rewrite(index, split));
            if base.name == split.array
                && let Some(parts) = parts_of(&indices[split.position], &split.factors)
            {
                indices.splice(split.position..=split.position, parts);
            }
        }
        Call { args, .. } => args.iter_mut().for_each(|arg| rewrite(arg, split)),
        Unary { operand: inner, .. } | Paren(inner) => rewrite(inner, split),
        Binary { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|side| rewrite(side, split)),
        Compare { first, rest } => {
            rewrite(first, split);
            rest.iter_mut().for_each(|(_, operand)| rewrite(operand, split));
        }
        If { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(|part| rewrite(part, split)),
        Reduce { indices, guard, body, .. } => {
            let ranges = indices.iter_mut().filter_map(|index| index.range.as_mut());
            ranges.flat_map(|range| [&mut range.lo, &mut range.hi]).for_each(|bound| rewrite(bound, split));
            guard.iter_mut().for_each(|guard| rewrite(guard, split));
            rewrite(body, split);
        }
        Apply { lhs, rhs, .. } => lhs.iter_mut().chain([rhs]).for_each(|side| rewrite(side, split)),
    }
}
