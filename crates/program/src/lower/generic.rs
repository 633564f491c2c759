//! Functions over any type of floats: `fn norm<T: float, N>(x: T[N]) -> (r: T)`.
//!
//! In: a file.  Out: the file with every such function once per choice of types, under the same name; a call takes the one that its
//! arguments fit. They are there to be called, so they are no functions of the program themselves.
//! Not here: functions over any rank, which is what `rank` is for (`rank`).

use diag::Diagnostic;
use syntax::ast;

use super::Lowerer;
use super::callees::Callee;
use super::names::Meaning;
use super::typing::widened;
use crate::{Function, ScalarType};

/// What `float` stands for, the wider one last.
const FLOATS: [ScalarType; 2] = [ScalarType::F32, ScalarType::F64];

/// The choices of types double with each type.
const MAX_TYPES: usize = 3;

/// Which choice of types a function was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    types: Vec<ScalarType>,
    /// For each argument, the type parameter that is its type.
    args: Vec<Option<usize>>,
    /// Likewise for each result.
    outs: Vec<Option<usize>>,
}

/// The file with its functions over types written out, and for each function which choice it is.
pub(super) fn expand(file: &ast::File, diagnostics: &mut Vec<Diagnostic>) -> (ast::File, Vec<Option<Variant>>) {
    let mut expanded = ast::File { functions: Vec::new(), ..file.clone() };
    let mut variants = Vec::new();
    for function in &file.functions {
        check(function, diagnostics);
        if function.types.is_empty() {
            expanded.functions.push(function.clone());
            variants.push(None);
            continue;
        }
        let names: Vec<&str> = function.types.iter().map(|(name, _)| name.name.as_str()).collect();
        let position = |arg: &ast::Arg| names.iter().position(|name| *name == arg.ty.scalar.name);
        let args: Vec<Option<usize>> = function.args.iter().map(position).collect();
        let outs: Vec<Option<usize>> = function.outs.iter().map(position).collect();
        let count = names.len().min(MAX_TYPES);
        for choice in 0..1_usize << count {
            let types: Vec<ScalarType> = (0..count).map(|at| FLOATS[choice >> at & 1]).collect();
            let mut copy = function.clone();
            Substitution { names: &names, types: &types }.function(&mut copy);
            expanded.functions.push(copy);
            variants.push(Some(Variant { types, args: args.clone(), outs: outs.clone() }));
        }
    }
    (expanded, variants)
}

fn check(function: &ast::Function, diagnostics: &mut Vec<Diagnostic>) {
    for (position, (name, kind)) in function.types.iter().enumerate() {
        if kind.name != "float" {
            let message = format!("types are `float`, not `{}`", kind.name);
            diagnostics.push(
                Diagnostic::error("E0103", kind.span, message)
                    .note("`T: float` stands for f32 and f64; sizes have no type"),
            );
        }
        if ScalarType::from_name(&name.name).is_some() {
            let message = format!("`{}` is a type already", name.name);
            diagnostics.push(Diagnostic::error("E0102", name.span, message).help("choose another name, such as `T`"));
        }
        let earlier = function.types[..position].iter().map(|(earlier, _)| earlier);
        if let Some(first) = earlier.chain(&function.params).find(|known| known.name == name.name) {
            diagnostics.push(
                Diagnostic::error("E0102", name.span, format!("`{}` is defined twice", name.name))
                    .here("defined again here")
                    .label(first.span, "first defined here"),
            );
        }
        if position == MAX_TYPES {
            let message = format!("a function is over at most {MAX_TYPES} types");
            diagnostics.push(Diagnostic::error("E0103", name.span, message));
        }
    }
}

impl<'a> Lowerer<'a> {
    /// The function that a call means, where several are made of one: that of the types of its arguments, and of the array that takes
    /// the result if they do not say. Of numbers without a type, the widest.
    pub(super) fn variant(
        &self,
        callee: &'a Callee<'a>,
        given: &dyn Fn(usize) -> Option<ScalarType>,
        taken: Option<ScalarType>,
    ) -> &'a Callee<'a> {
        let Some(variant) = &callee.variant else { return callee };
        let types: Vec<ScalarType> = (0..variant.types.len())
            .map(|position| {
                let args = variant.args.iter().enumerate().filter(|(_, own)| **own == Some(position));
                let known = args.filter_map(|(arg, _)| given(arg)).filter(|ty| ty.is_float()).map(widened);
                let widest = known.max_by_key(|ty| ty.bytes());
                let result = taken.filter(|ty| FLOATS.contains(ty) && variant.outs.contains(&Some(position)));
                widest.or(result).unwrap_or(ScalarType::F64)
            })
            .collect();
        let fits = |other: &&'a Callee<'a>| {
            other.name == callee.name && other.variant.as_ref().is_some_and(|variant| variant.types == types)
        };
        self.shared.callees.iter().find(fits).unwrap_or(callee)
    }

    /// The type of what an argument of a call statement names.
    pub(super) fn named_type(&self, arg: &ast::Expr) -> Option<ScalarType> {
        let ast::ExprKind::Name(name) = &arg.kind else { return None };
        match self.scope.lookup(name)?.0 {
            Meaning::Array(id) => Some(self.function.array(id).ty),
            Meaning::Scalar(id) => Some(self.function.scalar(id).ty),
            Meaning::Table(table) => self.table_of(table).map(|table| table.ty),
            _ => None,
        }
    }
}

/// The functions that callers see.
pub(super) fn of_program(callees: Vec<Callee<'_>>) -> Vec<Function> {
    callees.into_iter().filter(|callee| callee.variant.is_none()).filter_map(|callee| callee.lowered).collect()
}

/// Puts types in the place of their names.
struct Substitution<'n> {
    names: &'n [&'n str],
    types: &'n [ScalarType],
}

impl Substitution<'_> {
    fn function(&self, function: &mut ast::Function) {
        function.args.iter_mut().chain(&mut function.outs).for_each(|arg| self.ty(&mut arg.ty));
        function.body.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn ident(&self, ident: &mut ast::Ident) {
        let found = self.names.iter().position(|name| *name == ident.name).and_then(|at| self.types.get(at));
        if let Some(ty) = found {
            ident.name = ty.name().to_owned();
        }
    }

    fn ty(&self, ty: &mut ast::Type) {
        self.ident(&mut ty.scalar);
    }

    fn stmt(&self, stmt: &mut ast::Stmt) {
        match &mut stmt.kind {
            ast::StmtKind::Let { target, ty, value } => {
                self.target(target);
                ty.iter_mut().for_each(|ty| self.ty(ty));
                value.iter_mut().for_each(|value| self.expr(value));
            }
            ast::StmtKind::Assign { target, value, .. } => {
                self.target(target);
                self.expr(value);
            }
            ast::StmtKind::Call { args, .. } => args.iter_mut().for_each(|arg| self.expr(arg)),
            ast::StmtKind::For { range, step, until, body, .. } => {
                self.range(range);
                step.iter_mut().chain(until).for_each(|part| self.expr(part));
                body.iter_mut().for_each(|stmt| self.stmt(stmt));
            }
        }
    }

    fn target(&self, target: &mut ast::Target) {
        for index in &mut target.indices {
            self.expr(&mut index.expr);
            index.range.iter_mut().for_each(|range| self.range(range));
        }
        target.guard.iter_mut().for_each(|guard| self.expr(guard));
    }

    fn range(&self, range: &mut ast::Range) {
        self.expr(&mut range.lo);
        self.expr(&mut range.hi);
    }

    fn expr(&self, expr: &mut ast::Expr) {
        use ast::ExprKind::*;
        match &mut expr.kind {
            Int(_) | Float(_) | Bool(_) | Name(_) => {}
            Index { indices, .. } => indices.iter_mut().for_each(|index| self.expr(index)),
            Call { callee, args } => {
                self.ident(callee);
                args.iter_mut().for_each(|arg| self.expr(arg));
            }
            Unary { operand, .. } => self.expr(operand),
            Binary { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|part| self.expr(part)),
            Compare { first, rest } => {
                self.expr(first);
                rest.iter_mut().for_each(|(_, operand)| self.expr(operand));
            }
            If { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(|part| self.expr(part)),
            Reduce { indices, guard, body, .. } => {
                indices.iter_mut().filter_map(|index| index.range.as_mut()).for_each(|range| self.range(range));
                guard.iter_mut().for_each(|guard| self.expr(guard));
                self.expr(body);
            }
            Apply { verb, lhs, rhs } => {
                self.verb(verb);
                lhs.iter_mut().chain([rhs]).for_each(|operand| self.expr(operand));
            }
            Paren(inner) => self.expr(inner),
        }
    }

    fn verb(&self, verb: &mut ast::Verb) {
        match &mut verb.kind {
            ast::VerbKind::Named { name, params } => {
                self.ident(name);
                params.iter_mut().for_each(|param| self.expr(param));
            }
            ast::VerbKind::Rank { verb, .. } => self.verb(verb),
            _ => {}
        }
    }
}
