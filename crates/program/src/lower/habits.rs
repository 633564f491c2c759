//! Functions of other array languages, and what is written here instead.
//!
//! In: calls by name.  Out: messages about the call itself. They come before anything is said about its arguments or the shape of
//! its value, which nobody can know.

use std::collections::BTreeSet;

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;
use super::calls::is_whole;
use super::names::Meaning;
use super::rank::visit;
use crate::{ArrayId, Role, ScalarType};

impl Lowerer<'_> {
    /// Reports the calls in a statement about whole arrays that cannot mean anything; `true` if there are some.
    pub(super) fn report_foreign_calls(&mut self, stmt: &ast::Stmt) -> bool {
        let (target, value) = match &stmt.kind {
            ast::StmtKind::Assign { target, value, .. } => (target, value),
            ast::StmtKind::Let { target, value: Some(value), .. } => (target, value),
            _ => return false,
        };
        if !is_whole(target) {
            return false;
        }
        let mut calls = Vec::new();
        visit(value, &mut |part| {
            if let ast::ExprKind::Call { callee, args } = &part.kind {
                calls.push((callee.clone(), args.clone()));
            }
        });
        let errors = self.diagnostics.len();
        for (callee, args) in &calls {
            self.report_foreign_call(callee, args);
        }
        let found = self.diagnostics.len() > errors;
        if found && matches!(stmt.kind, ast::StmtKind::Let { .. }) {
            self.bind(&target.name, Meaning::Broken);
        }
        found
    }

    /// Reports a call of what is no function, and `max(x)` of an array; `true` if it is one of them.
    pub(super) fn report_foreign_call(&mut self, callee: &ast::Ident, args: &[ast::Expr]) -> bool {
        let name = callee.name.as_str();
        if self.callee(name).is_some() || self.rearranges(name) {
            return false;
        }
        if !super::expr::is_built_in(name) {
            self.unknown_function(callee, args);
            return true;
        }
        let [arg] = args else { return false };
        let Some(array) = self.array_of(arg).filter(|_| matches!(name, "min" | "max")) else { return false };
        let given = &self.function.array(array).name;
        let rank = self.function.array(array).shape.len();
        let indices = self.free_indices(rank);
        let cell = format!("{given}[{indices}]");
        let diagnostic = Diagnostic::error("E0105", callee.span, format!("`{name}` takes 2 arguments, 1 given"))
            .help(format!("of all cells of an array: `{name}[{indices}] {cell}`, or `(reduce {rank} {name}) {given}`"));
        self.report(diagnostic);
        true
    }

    /// The array that an expression names.
    fn array_of(&self, expr: &ast::Expr) -> Option<ArrayId> {
        let ast::ExprKind::Name(name) = &expr.kind else { return None };
        match self.scope.lookup(name) {
            Some((Meaning::Array(id), _)) if !self.function.array(id).shape.is_empty() => Some(id),
            _ => None,
        }
    }

    /// What a function of NumPy and its like is called here, or how it is written.
    pub(super) fn idiom(&self, name: &str, args: &[ast::Expr]) -> Option<String> {
        let array = args.first().and_then(|arg| self.array_of(arg)).map(|id| self.function.array(id));
        let (x, rank) = array.map_or(("x", 1), |array| (array.name.as_str(), array.shape.len()));
        let indices = self.free_indices(rank);
        let cell = format!("{x}[{indices}]");
        let ty = array.map_or(ScalarType::F64, |array| array.ty);
        Some(match name {
            "mean" | "average" | "avg" if ty != ScalarType::Bool => {
                let count = array.map_or("N".to_string(), |array| {
                    let extents = array.shape.iter().map(|extent| match (extent.terms.len(), extent.constant) {
                        (0, _) | (1, 0) => self.function.show(extent),
                        _ => format!("({})", self.function.show(extent)),
                    });
                    extents.collect::<Vec<_>>().join(" * ")
                });
                let (cast, ty) = if ty.is_float() { ("", ty) } else { ("f64", ScalarType::F64) };
                format!("divide a sum by the number of cells: `{cast}(sum[{indices}] {cell}) / {ty}({count})`")
            }
            "norm" if ty.is_float() => format!("write `sqrt(sum[{indices}] {cell} * {cell})`"),
            "cumsum" | "cumprod" if rank == 1 => {
                let op = if name == "cumsum" { "sum" } else { "prod" };
                format!("write a scan: `y[i] = scan {op}[k | k <= i] {x}[k]`")
            }
            "dot" | "inner" => "write a sum over the common index: `sum[k] x[k] * y[k]`".to_string(),
            "matmul" | "mm" | "gemm" => {
                "write a sum over the common index: `C[i, j] = sum[k] A[i, k] * B[k, j]`".to_string()
            }
            "outer" => "combine each number with each row: `x (* rank 0 1) y`".to_string(),
            "diff" => format!("write `drop(1, {x}) - drop(-1, {x})`"),
            "flip" | "rev" => format!("write `reverse({x})`"),
            "zeros" | "ones" | "full" => "declare it with a value: `let z[i: 0..N]: f64 = 0`".to_string(),
            "maximum" | "fmax" => "write `max(x, y)`".to_string(),
            "minimum" | "fmin" => "write `min(x, y)`".to_string(),
            "relu" => format!("write `max({x}, 0)`"),
            "sigmoid" => format!("write `1 / (1 + exp(-{x}))`"),
            "clip" | "clamp" => format!("write `min(max({x}, lo), hi)`"),
            "square" => format!("write `{x} * {x}`"),
            "power" => "write `pow(x, y)`".to_string(),
            "sign" | "sgn" => format!("write `if {x} > 0 then 1 else if {x} < 0 then -1 else 0`"),
            "std" | "var" => format!(
                "with the mean in `m`, the variance is `(sum[{indices}] ({cell} - m) * ({cell} - m)) / {ty}(N)`"
            ),
            "sort" | "argsort" | "median" | "percentile" | "quantile" => format!(
                "count how many come before: `let rank[i] = sum[j] i64({x}[j] < {x}[i] or {x}[j] = {x}[i] and j < i)`, then \
                 `unique y[rank[i]] = {x}[i]`"
            ),
            "roll" => format!("write `y[i] = {x}[(i - 1) % N]`"),
            "histogram" | "bincount" => "write a scatter: `count[b] = 0`, then `count[bin[i]] += 1`".to_string(),
            "concatenate" | "concat" | "hstack" | "vstack" => {
                "assign the parts: `y[i: 0..N] = a[i]`, then `y[N + i | 0 <= i < M] = b[i]`".to_string()
            }
            "arange" | "linspace" | "range" => "an index is a number: `let t[i: 0..N] = f64(i)`".to_string(),
            "print" | "println" | "printf" => {
                "`farkas run` prints the results of a function: make it one of them".to_string()
            }
            "rotl" | "rotate_left" | "rol" => "write `(x << k) | (x >> (32 - k))` of a `u32`".to_string(),
            "rotr" | "rotate_right" | "ror" => "write `(x >> k) | (x << (32 - k))` of a `u32`".to_string(),
            "popcount" | "bit_count" | "popcnt" => "write `sum[k: 0..32] ((x >> k) & 1)` of a `u32`".to_string(),
            "copy" => format!("an assignment copies: `y = {x}`"),
            "einsum" => "name the indices: `C[i, j] = sum[k] A[i, k] * B[k, j]`".to_string(),
            "swap" => format!("keep one of them: `let t = {x}[i]`, `{x}[i] = {x}[j]`, `{x}[j] = t`, in a `for`"),
            "random" | "rand" | "randn" | "normal" | "uniform" => {
                "random numbers are data: make them an argument of the function".to_string()
            }
            "isnan" => "write `is_nan(x)`".to_string(),
            "isinf" => "write `is_inf(x)`".to_string(),
            "rsqrt" => format!("write `1 / sqrt({x})`"),
            "arcsin" | "arccos" | "arctan" | "arctan2" => format!("write `a{}(…)`", &name[3..]),
            "mod" | "fmod" | "remainder" => "write `x % y`".to_string(),
            "logical_and" | "logical_or" => format!("write `x {} y`", &name[8..]),
            "logical_not" => "write `not x`".to_string(),
            "ln" => "write `log(x)`".to_string(),
            "fabs" => "write `abs(x)`".to_string(),
            "select" | "ifelse" => "write `if c then a else b`".to_string(),
            "len" | "size" | "shape" => "sizes are parameters, such as the `N` of `x: f64[N]`".to_string(),
            "float" | "double" | "int" => "a cast is a call of the type: `f64(…)`, `i64(…)`".to_string(),
            _ => return None,
        })
    }

    /// For a function of arrays that is called on what has more axes than it takes: the rank that maps it.
    pub(super) fn rank_help(&self, callee: &str, args: &[ast::Expr]) -> Option<String> {
        let function = self.callee(callee)?.lowered.as_ref()?;
        let count = |role: Role| function.arrays.iter().filter(|array| array.role == role).count();
        if count(Role::Out) != 1 || count(Role::InOut) != 0 || !(1..=2).contains(&args.len()) {
            return None;
        }
        let inputs = function.signature.iter().map(|arg| match arg {
            crate::ArgRef::Array(id) => (function.array(*id).role == Role::In).then(|| function.array(*id).shape.len()),
            crate::ArgRef::Scalar(_) => Some(0),
        });
        let ranks: Vec<usize> = inputs.flatten().collect();
        let mut larger = false;
        let mut operands = Vec::new();
        for (arg, rank) in args.iter().zip(&ranks) {
            let name = match &arg.kind {
                ast::ExprKind::Name(name) => name,
                ast::ExprKind::Index { base, .. } => &base.name,
                _ => return None,
            };
            let Some((Meaning::Array(id), _)) = self.scope.lookup(name) else { return None };
            larger |= self.function.array(id).shape.len() > *rank;
            operands.push(name.as_str());
        }
        let applied = match (operands.as_slice(), ranks.as_slice()) {
            _ if !larger => return None,
            ([x], [rank]) => format!("({callee} rank {rank}) {x}"),
            ([x, y], [left, right]) => format!("{x} ({callee} rank {left} {right}) {y}"),
            _ => return None,
        };
        let cells = match ranks.iter().max() {
            Some(1) => "row".to_string(),
            rank => format!("cell of rank {}", rank.unwrap_or(&0)),
        };
        Some(format!("to call it on every {cells}, in a statement without indices: `… = {applied}`"))
    }

    /// For a guard on data: the value that leaves out the same terms.
    pub(super) fn teach_value_of_data(
        &mut self,
        op: ast::ReduceOp,
        indices: &[ast::ReduceIndex],
        guard: &ast::Expr,
        errors: usize,
    ) {
        let neutral = match op {
            ast::ReduceOp::Sum => "0",
            ast::ReduceOp::Prod => "1",
            ast::ReduceOp::Min | ast::ReduceOp::ArgMin => "inf",
            ast::ReduceOp::Max | ast::ReduceOp::ArgMax => "-inf",
            ast::ReduceOp::Any => "false",
            ast::ReduceOp::All => "true",
        };
        let written = self.shared.source.slice(guard.span).to_string();
        let names: Vec<&str> = indices.iter().map(|index| index.name.name.as_str()).collect();
        let Some(diagnostic) = self.diagnostics.get_mut(errors).filter(|found| found.code == "E0301") else { return };
        let general = "a condition on data belongs into the value: ";
        if let Some(help) = diagnostic.helps.iter_mut().find(|help| help.starts_with(general)) {
            *help = format!("{general}`{}[{}] (if {written} then … else {neutral})`", op.name(), names.join(", "));
        }
    }

    /// For a guard `a[i] <= k < b[i]`, which asks every `k` of all rows: the range that takes only those of the row.
    pub(super) fn teach_range_of_data(
        &mut self,
        op: ast::ReduceOp,
        indices: &[ast::ReduceIndex],
        guard: &ast::Expr,
        errors: usize,
    ) {
        let Some((index, lo, hi)) = range_of(guard) else { return };
        if !indices.iter().any(|known| known.name.name == index) {
            return;
        }
        let (lo, hi) = (self.shared.source.slice(lo).to_string(), self.shared.source.slice(hi).to_string());
        let Some(diagnostic) = self.diagnostics.get_mut(errors).filter(|found| found.code == "E0301") else { return };
        let help = format!("data may be the bounds of a range: `{}[{index}: {lo}..{hi}] …`", op.name());
        diagnostic.helps.insert(0, help);
    }

    /// Names for indices that mean nothing yet: `i, j`.
    pub(super) fn free_indices(&self, rank: usize) -> String {
        self.free_indices_beside(rank, &BTreeSet::new())
    }

    /// Likewise, and that an expression does not bind.
    pub(super) fn free_indices_beside(&self, rank: usize, bound: &BTreeSet<String>) -> String {
        let letters =
            ["i", "j", "k", "l"].into_iter().map(String::from).chain((0..).map(|number| format!("i{number}")));
        let free = letters.filter(|name| self.scope.lookup(name).is_none() && !bound.contains(name));
        free.take(rank).collect::<Vec<_>>().join(", ")
    }
}

/// The index that a condition bounds on both sides, `lo <= k < hi` or `k >= lo and k < hi`, with these.
fn range_of(guard: &ast::Expr) -> Option<(&str, Span, Span)> {
    use ast::CompareOp::{Ge, Le, Lt};
    /// One side, and whether it is the lower one.
    fn side(expr: &ast::Expr) -> Option<(&str, Span, bool)> {
        let ast::ExprKind::Compare { first, rest } = &expr.kind else { return None };
        match rest.as_slice() {
            [(Ge, lo)] => Some((name_of(first)?, lo.span, true)),
            [(Le, index)] => Some((name_of(index)?, first.span, true)),
            [(Lt, hi)] => Some((name_of(first)?, hi.span, false)),
            _ => None,
        }
    }
    match &guard.kind {
        ast::ExprKind::Paren(inner) => range_of(inner),
        ast::ExprKind::Compare { first, rest } => match rest.as_slice() {
            [(Le, index), (Lt, hi)] => Some((name_of(index)?, first.span, hi.span)),
            _ => None,
        },
        ast::ExprKind::Binary { op: ast::BinaryOp::And, lhs, rhs } => {
            let ((index, lo, lower), (other, hi, also_lower)) = (side(lhs)?, side(rhs)?);
            (index == other && lower && !also_lower).then_some((index, lo, hi))
        }
        _ => None,
    }
}

fn name_of(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        ast::ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
