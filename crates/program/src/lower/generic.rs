//! Functions over any type of floats and any number of axes: `fn norm<T: float, S: shape, N>(x: T[S, N]) -> (r: T[S])`.
//!
//! In: a file.  Out: the file with every such function once per choice of types and ranks, under the same name; a call takes the one
//! that its arguments fit. They are there to be called, so they are no functions of the program themselves.

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

/// How many axes a shape may stand for.
const MAX_RANK: usize = 6;

/// How many bytes of text all functions that are made of others may have together, which bounds the memory that they take.
const MAX_TEXT: usize = 16 << 20;

/// Which choice of types and of a rank a function was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    types: Vec<ScalarType>,
    /// For each argument, the type parameter that is its type.
    args: Vec<Option<usize>>,
    /// Likewise for each result.
    outs: Vec<Option<usize>>,
    shape: Option<Shape>,
}

/// What a function over shapes was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    rank: usize,
    /// For each argument that has the shape in its type, how many axes it has beside it.
    args: Vec<Option<usize>>,
    /// Likewise for each result.
    outs: Vec<Option<usize>>,
}

impl Variant {
    /// The rank that a shape stands for.
    pub(super) fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(|shape| shape.rank)
    }
}

/// What is known of an argument, or of what takes a result: its type, and its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) ty: ScalarType,
    pub(super) rank: usize,
}

/// The file with its functions over types written out, and for each function which choice it is.
pub(super) fn expand(file: &ast::File, diagnostics: &mut Vec<Diagnostic>) -> (ast::File, Vec<Option<Variant>>) {
    let mut expanded = ast::File { functions: Vec::new(), ..file.clone() };
    let mut variants = Vec::new();
    let mut text = 0;
    for function in &file.functions {
        check(function, diagnostics);
        if function.types.is_empty() {
            expanded.functions.push(function.clone());
            variants.push(None);
            continue;
        }
        let is_shape = |kind: &ast::Ident| kind.name == "shape";
        let names: Vec<&str> =
            function.types.iter().filter(|(_, kind)| !is_shape(kind)).map(|(name, _)| name.name.as_str()).collect();
        let shapes: Vec<&ast::Ident> =
            function.types.iter().filter(|(_, kind)| is_shape(kind)).map(|(name, _)| name).collect();
        // There is one, or else an error is told.
        let shape = shapes.first().copied();
        let position = |arg: &ast::Arg| names.iter().position(|name| *name == arg.ty.scalar.name);
        let args: Vec<Option<usize>> = function.args.iter().map(position).collect();
        let outs: Vec<Option<usize>> = function.outs.iter().map(position).collect();
        let count = names.len().min(MAX_TYPES);
        let copies = (1 << count) * (1 + shape.map_or(0, |_| MAX_RANK));
        text += copies * function.span.range().len();
        if text > MAX_TEXT {
            let message =
                format!("`{}` is too large to be made for {copies} choices of types and ranks", function.name.name);
            diagnostics.push(Diagnostic::error("E0113", function.name.span, message));
            break;
        }
        for choice in 0..1_usize << count {
            let types: Vec<ScalarType> = (0..count).map(|at| FLOATS[choice >> at & 1]).collect();
            for rank in 0..=shape.map_or(0, |_| MAX_RANK) {
                let mut copy = function.clone();
                let axes = shape.map(|shape| axes(shape, rank, function));
                copy.params.extend(axes.iter().flatten().cloned());
                let axes = axes.as_deref().map(|axes| (shapes.as_slice(), axes));
                Substitution { names: &names, types: &types, axes }.function(&mut copy);
                expanded.functions.push(copy);
                let shape = shape.map(|_| Shape {
                    rank,
                    args: function.args.iter().map(|arg| beside(&arg.ty, &shapes)).collect(),
                    outs: function.outs.iter().map(|out| beside(&out.ty, &shapes)).collect(),
                });
                variants.push(Some(Variant { types: types.clone(), args: args.clone(), outs: outs.clone(), shape }));
            }
        }
    }
    (expanded, variants)
}

/// How many axes a type has beside a shape, if it has that.
fn beside(ty: &ast::Type, shapes: &[&ast::Ident]) -> Option<usize> {
    ty.shape.iter().any(|extent| is_named(extent, shapes)).then(|| ty.shape.len() - 1)
}

fn is_named(extent: &ast::Expr, shapes: &[&ast::Ident]) -> bool {
    matches!(&extent.kind, ast::ExprKind::Name(name) if shapes.iter().any(|shape| *name == shape.name))
}

/// The sizes that a shape stands for, with names that the function does not use.
fn axes(shape: &ast::Ident, rank: usize, function: &ast::Function) -> Vec<ast::Ident> {
    let args = function.args.iter().chain(&function.outs).map(|arg| &arg.name.name);
    let taken: Vec<&String> = args.chain(function.params.iter().map(|param| &param.name)).collect();
    let axis = |axis: usize| {
        let mut name = format!("{}{axis}", shape.name);
        while taken.contains(&&name) {
            name.push('_');
        }
        ast::Ident { name, span: shape.span }
    };
    (0..rank).map(axis).collect()
}

fn check(function: &ast::Function, diagnostics: &mut Vec<Diagnostic>) {
    for (position, (name, kind)) in function.types.iter().enumerate() {
        if !["float", "shape"].contains(&kind.name.as_str()) {
            let message = format!("types are `float`, and shapes are `shape`, not `{}`", kind.name);
            diagnostics.push(
                Diagnostic::error("E0103", kind.span, message)
                    .note("`T: float` stands for f32 and f64, `S: shape` for any number of axes; sizes have no type"),
            );
        }
        let is_second = |(_, other): &(ast::Ident, ast::Ident)| other.name == "shape" && kind.name == "shape";
        if function.types[..position].iter().any(is_second) {
            diagnostics.push(Diagnostic::error("E0103", name.span, "a function is over one shape at most"));
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
        let types = function.types[..=position].iter().filter(|(_, kind)| kind.name != "shape").count();
        if types == MAX_TYPES + 1 && kind.name != "shape" {
            let message = format!("a function is over at most {MAX_TYPES} types");
            diagnostics.push(Diagnostic::error("E0103", name.span, message));
        }
    }
}

impl<'a> Lowerer<'a> {
    /// The function that a call means, where several are made of one: that of the types and ranks of its arguments, and of the array
    /// that takes the result if they do not say. Of numbers without a type, the widest.
    pub(super) fn variant(
        &self,
        callee: &'a Callee<'a>,
        given: &dyn Fn(usize) -> Option<Known>,
        taken: Option<Known>,
    ) -> &'a Callee<'a> {
        let Some(variant) = &callee.variant else { return callee };
        let types: Vec<ScalarType> = (0..variant.types.len())
            .map(|position| {
                let args = variant.args.iter().enumerate().filter(|(_, own)| **own == Some(position));
                let known = args.filter_map(|(arg, _)| given(arg)).map(|known| widened(known.ty));
                let known = known.filter(|ty| ty.is_float());
                let widest = known.max_by_key(|ty| ty.bytes());
                let result = taken.map(|known| known.ty).filter(|ty| FLOATS.contains(ty));
                let result = result.filter(|_| variant.outs.contains(&Some(position)));
                widest.or(result).unwrap_or(ScalarType::F64)
            })
            .collect();
        let rank = variant.shape.as_ref().map(|shape| {
            let args = shape.args.iter().enumerate().filter_map(|(arg, beside)| Some((given(arg)?.rank, (*beside)?)));
            let outs = shape.outs.iter().filter_map(|beside| Some((taken?.rank, (*beside)?)));
            let found = args.chain(outs).next();
            found.map_or(Some(0), |(rank, beside)| rank.checked_sub(beside)).unwrap_or(shape.rank)
        });
        let fits = |other: &&'a Callee<'a>| {
            other.name == callee.name
                && other.variant.as_ref().is_some_and(|variant| variant.types == types && variant.rank() == rank)
        };
        self.shared.callees.iter().find(fits).unwrap_or(callee)
    }

    /// What an argument of a call statement names.
    pub(super) fn known(&self, arg: &ast::Expr) -> Option<Known> {
        let ast::ExprKind::Name(name) = &arg.kind else { return None };
        match self.scope.lookup(name)?.0 {
            Meaning::Array(id) => {
                let array = self.function.array(id);
                Some(Known { ty: array.ty, rank: array.shape.len() })
            }
            Meaning::Scalar(id) => Some(Known { ty: self.function.scalar(id).ty, rank: 0 }),
            Meaning::Table(table) => self.table_of(table).map(|table| Known { ty: table.ty, rank: table.shape.len() }),
            _ => None,
        }
    }
}

/// A function over shapes need not have a meaning for every rank: where it has one for some, the others are an error only where they are
/// called. Where it has none, rank 1 says why.
pub(super) fn silence(callees: &[Callee<'_>], errors: &mut [Vec<Diagnostic>]) {
    for (callee, errors) in callees.iter().zip(errors) {
        let Some(rank) = callee.variant.as_ref().and_then(Variant::rank) else { continue };
        let means = callees.iter().any(|other| other.ast.span == callee.ast.span && other.lowered.is_some());
        if means || rank != 1 {
            errors.clear();
        }
    }
}

/// The functions that callers see.
pub(super) fn of_program(callees: Vec<Callee<'_>>) -> Vec<Function> {
    callees.into_iter().filter(|callee| callee.variant.is_none()).filter_map(|callee| callee.lowered).collect()
}

/// Puts types and axes in the place of their names.
struct Substitution<'n> {
    names: &'n [&'n str],
    types: &'n [ScalarType],
    axes: Option<(&'n [&'n ast::Ident], &'n [ast::Ident])>,
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
        let Some((shapes, axes)) = self.axes else { return };
        let size = |axis: &ast::Ident, span| ast::Expr { kind: ast::ExprKind::Name(axis.name.clone()), span };
        let extents = std::mem::take(&mut ty.shape).into_iter();
        let written = extents.flat_map(|extent| match is_named(&extent, shapes) {
            true => axes.iter().map(|axis| size(axis, extent.span)).collect(),
            false => vec![extent],
        });
        ty.shape = written.collect();
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
            ast::StmtKind::If { arms } => {
                for arm in arms {
                    arm.cond.iter_mut().for_each(|cond| self.expr(cond));
                    arm.body.iter_mut().for_each(|stmt| self.stmt(stmt));
                }
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

#[cfg(test)]
mod tests {
    use diag::Source;

    /// Half a megabyte, 56 times over, would take memory that nobody expects.
    #[test]
    fn copies_of_large_functions_are_bounded() {
        let lines = "    y = x + 1\n".repeat(40_000);
        let text = format!("fn f<T: float, U: float, V: float, S: shape>(x: T[S]) -> (y: T[S]) {{\n{lines}}}\n");
        let source = Source::new("f.fks", text.as_str());
        let file = syntax::parse(&source).expect("it is a program");
        let errors = crate::lower(&file, &source).expect_err("it is too large");
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(messages, ["`f` is too large to be made for 56 choices of types and ranks"]);
    }
}
