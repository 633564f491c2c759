//! Calls of the functions of the file, inlined: in expressions, and as statements of their own.
//!
//! In: a call and a lowered callee.  Out: an expression, or statements over the caller's arrays and new locals.
//! Not here: copying the callee's body (`inline`), and the proof that its `where` holds (`implied`).

use std::collections::BTreeMap;

use diag::{Diagnostic, Span};
use syntax::ast;

use super::callees::Callee;
use super::expr::{Typed, Weak};
use super::generic::{Known, Variant};
use super::inline::{
    Inliner, MAX_NODES, MAX_STATEMENTS, MAX_TOTAL_NODES, NoForm, as_affine, loop_depth, reduction_depth,
    reduction_names, statements,
};
use super::names::Meaning;
use super::{Lowerer, MAX_DIMENSIONS, extreme};
use crate::{
    Affine, ArgRef, Array, ArrayId, Assign, Bound, Cond, Expr, ExprKind, Function, InlinedCall, Iter, IterId, Node,
    Role,
};

/// A call as a statement.
pub(super) struct CallStmt<'s> {
    pub(super) callee: &'s ast::Ident,
    pub(super) args: &'s [ast::Expr],
    pub(super) into: Into<'s>,
    pub(super) label: Option<&'s ast::Ident>,
    pub(super) span: Span,
}

/// What becomes of the results.
#[derive(Clone, Copy)]
pub(super) enum Into<'s> {
    /// New locals, or nothing for a function without results.
    Locals(&'s [ast::Ident]),
    /// A new local whose type is written.
    Local(&'s ast::Ident, Option<&'s ast::Type>),
    /// An array that exists.
    Array(&'s ast::Ident),
}

impl<'a> Lowerer<'a> {
    /// The function of the file that a name means where it is called.
    pub(super) fn callee(&self, name: &str) -> Option<&'a Callee<'a>> {
        let mut named = self.shared.callees.iter().filter(|callee| callee.name == name);
        let first = named.next().filter(|_| !super::expr::is_built_in(name))?;
        // Of a function over shapes, not all have a meaning.
        Some([first].into_iter().chain(named).find(|callee| callee.lowered.is_some()).unwrap_or(first))
    }

    fn lowered(&mut self, name: &ast::Ident, callee: &'a Callee<'a>) -> Option<&'a Function> {
        let rank = callee.variant.as_ref().and_then(Variant::rank);
        if let (None, Some(rank), Some(error)) = (&callee.lowered, rank, &callee.error) {
            let message = format!("`{}` has no meaning where its shape has {rank} axes", name.name);
            self.report(Diagnostic::error("E0112", name.span, message).label(error.span(), error.message.clone()));
        }
        self.poisoned |= callee.lowered.is_none();
        callee.lowered.as_ref()
    }

    /// A call inside an expression: the callee's result with the arguments in place of its own.
    pub(super) fn call_user(
        &mut self,
        callee: &ast::Ident,
        function: &'a Callee<'a>,
        args: Option<Vec<Typed>>,
        span: Span,
    ) -> Option<Typed> {
        let given = |position: usize| {
            let arg = args.as_ref()?.get(position)?;
            (arg.weak == Weak::No).then_some(Known { ty: arg.expr.ty, rank: 0 })
        };
        let function = self.variant(function, &given, None);
        let lowered = self.lowered(callee, function)?;
        let form = match &function.form {
            Ok(form) => form,
            Err(reason) => {
                self.report(not_an_expression(callee, lowered, *reason));
                return None;
            }
        };
        let args = args?;
        self.check_count(callee, lowered, lowered.scalars.len(), args.len())?;
        let mut scalars = Vec::new();
        for (arg, scalar) in args.into_iter().zip(&lowered.scalars) {
            let errors = self.diagnostics.len();
            let arg = self.coerce(arg, scalar.ty);
            for error in self.diagnostics.iter_mut().skip(errors) {
                *error = error.clone().label(scalar.span, format!("`{}` takes {} here", callee.name, scalar.ty));
            }
            scalars.push(arg);
        }
        let scalars: Vec<Expr> = scalars.into_iter().collect::<Option<_>>()?;
        let mut avoid = self.scope.loop_names();
        scalars.iter().for_each(|scalar| reduction_names(&self.function, scalar, &mut avoid));
        let mut inliner = Inliner {
            caller: &mut self.function,
            callee_iters: &form.iters,
            callee_counters: &form.counters,
            params: Vec::new(),
            scalars,
            arrays: Vec::new(),
            values: BTreeMap::new(),
            iters: BTreeMap::new(),
            counters: BTreeMap::new(),
            avoid,
            prefix: String::new(),
        };
        let size = inliner.size(&form.expr).filter(|size| self.inlined_nodes + size <= MAX_TOTAL_NODES);
        let Some(size) = size else {
            self.report(too_large(callee));
            return None;
        };
        self.inlined_nodes += size;
        let Some(expr) = inliner.expr(&form.expr) else {
            self.error("E0113", span, format!("the numbers in this call of `{}` are too large", callee.name));
            return None;
        };
        if self.scope.loops() + reduction_depth(&expr) > MAX_DIMENSIONS {
            self.error("E0308", span, format!("more than {MAX_DIMENSIONS} loops around one statement"));
            return None;
        }
        let (affine, cond) = (as_affine(&expr), extreme::condition(&expr));
        // What is wrong with the value as a whole is wrong at the call.
        Some(Typed { affine, cond, ..Typed::strong(Expr { span, ..expr }) })
    }

    fn check_count(&mut self, callee: &ast::Ident, function: &Function, wanted: usize, given: usize) -> Option<()> {
        if wanted == given {
            return Some(());
        }
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("`{}` takes {wanted} argument{plural}, {given} given", callee.name);
        self.report(Diagnostic::error("E0105", callee.span, message).label(function.span, "defined here"));
        None
    }

    /// A call as a statement: the callee's statements on the arrays of the caller.
    pub(super) fn lower_call_stmt(&mut self, call: &CallStmt<'_>, out: &mut Vec<Node>) {
        if self.inline_statements(call, out).is_none() {
            let names = match call.into {
                Into::Locals(names) => names,
                Into::Local(name, _) => std::slice::from_ref(name),
                Into::Array(_) => &[],
            };
            for name in names {
                if self.scope.lookup(&name.name).is_none() {
                    self.bind(name, Meaning::Broken);
                }
            }
        }
    }

    fn inline_statements(&mut self, call: &CallStmt<'_>, out: &mut Vec<Node>) -> Option<()> {
        let name = call.callee.name.as_str();
        let Some(function) = self.callee(name) else {
            self.unknown_function(call.callee, call.args);
            return None;
        };
        let prefix = self.statement_name(call.label);
        let taken = match call.into {
            Into::Array(target) => {
                self.known(&ast::Expr { kind: ast::ExprKind::Name(target.name.clone()), span: target.span })
            }
            Into::Locals(_) | Into::Local(..) => None,
        };
        let given = |position: usize| call.args.get(position).and_then(|arg| self.known(arg));
        let function = self.variant(function, &given, taken);
        let callee = self.lowered(call.callee, function)?;
        let outs: Vec<ArrayId> = callee.array_ids().filter(|id| callee.array(*id).role == Role::Out).collect();
        self.check_results(call, callee, outs.len())?;
        let inputs: Vec<ArgRef> = callee.signature.iter().copied().filter(|arg| !is_out(callee, *arg)).collect();
        self.check_count(call.callee, callee, inputs.len(), call.args.len())?;

        // The arrays first: they say what the parameters are.
        let mut arrays: Vec<Option<ArrayId>> = vec![None; callee.arrays.len()];
        let mut equations = Vec::new();
        let mut sound = true;
        for (input, arg) in inputs.iter().zip(call.args) {
            if let ArgRef::Array(id) = input {
                let errors = self.diagnostics.len();
                let given = self.array_argument(call.callee, callee, *id, arg);
                let help = if given.is_none() { self.rank_help(name, call.args) } else { None };
                if let Some(error) = self.diagnostics.get_mut(errors).filter(|error| error.code == "E0112") {
                    error.helps.extend(help);
                }
                match given {
                    Some(given) => {
                        arrays[id.index()] = Some(given);
                        self.equations(callee, *id, given, arg.span, &mut equations);
                    }
                    None => sound = false,
                }
            }
        }
        // What is wrong with the arguments is wrong with the result too.
        sound.then_some(())?;
        let target = match call.into {
            Into::Array(target) => {
                let id = self.writable_array(target)?;
                let [out] = outs.as_slice() else { return None };
                self.check_same_type(call.callee, callee, *out, id, target.span)?;
                self.equations(callee, *out, id, target.span, &mut equations);
                Some((*out, id, target))
            }
            _ => None,
        };
        self.check_aliases(call, callee, &arrays, target.map(|(_, id, _)| id))?;
        let params = self.solve(call, callee, &equations)?;

        let inliner = Inliner {
            caller: &mut self.function,
            callee_iters: &callee.iters,
            callee_counters: &callee.counters,
            params,
            scalars: Vec::new(),
            arrays: Vec::new(),
            values: BTreeMap::new(),
            iters: BTreeMap::new(),
            counters: BTreeMap::new(),
            avoid: Vec::new(),
            prefix,
        };
        let shapes: Option<Vec<Vec<Affine>>> = callee
            .arrays
            .iter()
            .map(|array| array.shape.iter().map(|extent| inliner.affine(extent)).collect())
            .collect();
        let context: Option<Vec<Cond>> =
            callee.context.iter().map(|requirement| inliner.cond(&requirement.cond)).collect();
        let (params, prefix) = (inliner.params, inliner.prefix);
        let (Some(shapes), Some(context)) = (shapes, context) else {
            self.error("E0113", call.span, format!("the numbers in this call of `{name}` are too large"));
            return None;
        };
        self.check_context(call, callee, &params, &context)?;
        self.inlined_statements += callee.body.iter().map(statements).sum::<usize>();
        if self.inlined_statements > MAX_STATEMENTS {
            let message = format!("this call makes `{}` too large", self.function.name);
            self.error("E0113", call.span, message)
                .notes
                .push(format!("calls may bring at most {MAX_STATEMENTS} statements into a function"));
            return None;
        }
        let depth = callee.body.iter().map(loop_depth).max().unwrap_or(0);
        if self.scope.loops() + depth > MAX_DIMENSIONS {
            self.error("E0308", call.span, format!("more than {MAX_DIMENSIONS} loops around one statement"));
            return None;
        }

        let scalars = self.scalar_arguments(call, callee, &inputs, &prefix, out)?;
        // A result that is also an argument is computed beside it, and copied when it is complete; and so is one that
        // refers to itself, which what has a value before cannot do.
        let refers_to_itself = |out: ArrayId| {
            let found = crate::find_systems(callee, &|_| true);
            let interrupted = found.interrupted.iter().map(|interruption| &interruption.system);
            found.systems.iter().chain(interrupted).any(|system| system.arrays.contains(&out))
        };
        let copy = target.filter(|(out, id, _)| arrays.contains(&Some(*id)) || refers_to_itself(*out));
        let mut results = Vec::new();
        for id in callee.array_ids() {
            if arrays[id.index()].is_some() {
                continue;
            }
            let array = callee.array(id);
            let shape = shapes[id.index()].clone();
            arrays[id.index()] = Some(match target {
                Some((out, target, _)) if out == id && copy.is_none() => target,
                _ => self.add_local(&array.name, array, shape, &prefix),
            });
            if array.role == Role::Out {
                results.push(arrays[id.index()]?);
            }
        }
        let arrays: Vec<ArrayId> = arrays.into_iter().collect::<Option<_>>()?;
        let avoid = self.scope.loop_names();
        let mut inliner = Inliner {
            caller: &mut self.function,
            callee_iters: &callee.iters,
            callee_counters: &callee.counters,
            params,
            scalars,
            arrays,
            values: BTreeMap::new(),
            iters: BTreeMap::new(),
            counters: BTreeMap::new(),
            avoid,
            prefix: prefix.clone(),
        };
        let nodes: Option<Vec<Node>> = callee.body.iter().map(|node| inliner.node(node)).collect();
        let Some(nodes) = nodes else {
            self.error("E0113", call.span, format!("the numbers in this call of `{name}` are too large"));
            return None;
        };
        out.extend(nodes);
        if let Some((out_id, target, name)) = copy {
            let from = inliner_result(&results, &outs, out_id)?;
            out.push(Node::Assign(self.copy(from, target, name, &prefix, call.span)));
        }
        let mut texts = vec![function.ast.span];
        texts.extend(callee.calls.iter().flat_map(|call| call.texts.iter().copied()));
        self.function.calls.push(InlinedCall { span: call.span, texts });
        self.bind_results(call, callee, &results)
    }

    /// Whether the results fit what is done with them.
    fn check_results(&mut self, call: &CallStmt<'_>, callee: &Function, results: usize) -> Option<()> {
        let name = &callee.name;
        let wanted = match call.into {
            Into::Locals(names) => names.len(),
            Into::Local(..) | Into::Array(_) => 1,
        };
        if wanted == results {
            return Some(());
        }
        let count = |count: usize| match count {
            0 => "no result".to_string(),
            1 => "1 result".to_string(),
            many => format!("{many} results"),
        };
        let message = match wanted {
            0 => format!("`{name}` gives {}, and nothing takes it", count(results)),
            _ => format!("`{name}` gives {}, not {wanted}", count(results)),
        };
        let example: Vec<&str> =
            callee.arrays.iter().filter(|array| array.role == Role::Out).map(|array| array.name.as_str()).collect();
        let help = match example.as_slice() {
            [] => format!("write the call alone: `{name}(…)`"),
            [one] => format!("name it: `let {one} = {name}(…)`"),
            many => format!("name them all: `let ({}) = {name}(…)`", many.join(", ")),
        };
        self.report(
            Diagnostic::error("E0105", call.callee.span, message).label(callee.span, "defined here").help(help),
        );
        None
    }

    /// The array that an argument names.
    fn array_argument(
        &mut self,
        name: &ast::Ident,
        callee: &Function,
        id: ArrayId,
        arg: &ast::Expr,
    ) -> Option<ArrayId> {
        let declared = callee.array(id);
        let takes = format!("`{}` takes {} here", name.name, describe(callee, declared));
        let ast::ExprKind::Name(given) = &arg.kind else {
            self.report(
                Diagnostic::error("E0112", arg.span, format!("argument `{}` is an array", declared.name))
                    .here("not the name of an array")
                    .label(declared.span, takes)
                    .help("give the values a name first: `let A[i] = …`"),
            );
            return None;
        };
        let array = match self.scope.lookup(given) {
            Some((Meaning::Array(array), _)) => array,
            Some((Meaning::Table(table), _)) if declared.role == Role::In => self.table_array(table),
            Some((Meaning::Broken, _)) => {
                self.poisoned = true;
                return None;
            }
            Some((meaning, at)) => {
                let message = format!("`{given}` is {}, not an array", meaning.describe());
                self.report(
                    Diagnostic::error("E0112", arg.span, message)
                        .label(at, "declared here")
                        .label(declared.span, takes),
                );
                return None;
            }
            None => {
                self.lower_expr(arg);
                return None;
            }
        };
        self.check_same_type(name, callee, id, array, arg.span)?;
        if declared.role == Role::InOut && self.function.array(array).role == Role::In {
            let at = self.function.array(array).span;
            self.report(
                Diagnostic::error("E0106", arg.span, format!("`{given}` is an input and cannot be changed"))
                    .here(format!("`{}` changes this argument", name.name))
                    .label(at, "declared here")
                    .label(declared.span, takes)
                    .help(format!("declare it `inout {given}: …` to change it in place")),
            );
            return None;
        }
        Some(array)
    }

    /// Type and rank of an array of the caller are those that the callee declares.
    fn check_same_type(
        &mut self,
        name: &ast::Ident,
        callee: &Function,
        id: ArrayId,
        given: ArrayId,
        span: Span,
    ) -> Option<()> {
        let (declared, array) = (callee.array(id), self.function.array(given));
        if declared.ty == array.ty && declared.shape.len() == array.shape.len() {
            return Some(());
        }
        let verb = if declared.role == Role::Out { "gives" } else { "takes" };
        let message = format!(
            "expected {}{}, found {}{}",
            declared.ty,
            callee.show_shape(declared),
            array.ty,
            self.function.show_shape(array)
        );
        // The cells of an operand have no declaration.
        let origin = if array.span == span { "cells of" } else { "declared here as" };
        let help = (declared.ty != array.ty && declared.shape.len() == array.shape.len())
            .then(|| format!("convert it first: `let converted[i] = {}({}[i])`", declared.ty, array.name));
        let mut diagnostic = Diagnostic::error("E0112", span, message)
            .label(array.span, format!("{origin} {}{}", array.ty, self.function.show_shape(array)))
            .label(declared.span, format!("`{}` {verb} {}", name.name, describe(callee, declared)));
        diagnostic.helps.extend(help);
        self.report(diagnostic);
        None
    }

    /// An array that the callee changes may not be given to it by a second name.
    fn check_aliases(
        &mut self,
        call: &CallStmt<'_>,
        callee: &Function,
        arrays: &[Option<ArrayId>],
        target: Option<ArrayId>,
    ) -> Option<()> {
        for changed in callee.array_ids().filter(|id| callee.array(*id).role == Role::InOut) {
            let given = arrays[changed.index()];
            let other = callee.array_ids().find(|id| *id != changed && given.is_some() && arrays[id.index()] == given);
            let is_target = given.is_some() && given == target;
            if other.is_none() && !is_target {
                continue;
            }
            let name = given.map_or("", |id| self.function.array(id).name.as_str());
            let second = match other {
                Some(other) => format!("is also `{}`", callee.array(other).name),
                None => "also takes the result".to_string(),
            };
            let message = format!("`{name}` is changed as `{}`, and {second}", callee.array(changed).name);
            let diagnostic = Diagnostic::error("E0112", call.span, message)
                .here(format!("`{name}` has two roles in this call"))
                .label(callee.array(changed).span, "changes this argument")
                .help(format!("give a copy: `let copy[i] = {name}[i]`"));
            self.report(diagnostic);
            return None;
        }
        Some(())
    }

    /// The scalar arguments; what is more than a name or a number is computed once, before the call.
    fn scalar_arguments(
        &mut self,
        call: &CallStmt<'_>,
        callee: &Function,
        inputs: &[ArgRef],
        prefix: &str,
        out: &mut Vec<Node>,
    ) -> Option<Vec<Expr>> {
        let mut scalars = vec![None; callee.scalars.len()];
        let mut sound = true;
        for (input, arg) in inputs.iter().zip(call.args) {
            let ArgRef::Scalar(id) = input else { continue };
            let scalar = callee.scalar(*id);
            let errors = self.diagnostics.len();
            let value = self.lower_expr(arg).and_then(|value| self.coerce(value, scalar.ty));
            for error in self.diagnostics.iter_mut().skip(errors).filter(|error| error.code == "E0201") {
                *error = error.clone().label(scalar.span, format!("`{}` takes {} here", callee.name, scalar.ty));
            }
            let Some(value) = value else {
                sound = false;
                continue;
            };
            let simple = matches!(value.kind, ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Scalar(_));
            let value = if simple {
                value
            } else {
                let (ty, span) = (value.ty, value.span);
                let array = Array { name: String::new(), ty, shape: Vec::new(), role: Role::Local, span: scalar.span };
                let array = self.add_local(&scalar.name, &array, Vec::new(), prefix);
                out.push(Node::Assign(Assign {
                    name: format!("{prefix}_{}", scalar.name),
                    foralls: Vec::new(),
                    guard: Cond::TRUE,
                    target: array,
                    index: Vec::new(),
                    target_span: arg.span,
                    value,
                    span: call.span,
                }));
                Expr { kind: ExprKind::Load { array, index: Vec::new() }, ty, span }
            };
            scalars[id.index()] = Some(value);
        }
        sound.then_some(())?;
        scalars.into_iter().collect()
    }

    /// An array that the source does not name here. It is called as in the callee, with the statement in front.
    pub(super) fn add_local(&mut self, name: &str, like: &Array, shape: Vec<Affine>, prefix: &str) -> ArrayId {
        let id = ArrayId(self.function.arrays.len() as u32);
        let name = format!("{prefix}_{name}");
        self.function.arrays.push(Array { name, ty: like.ty, shape, role: Role::Local, span: like.span });
        id
    }

    /// `target[i, j] = from[i, j]`
    pub(super) fn copy(
        &mut self,
        from: ArrayId,
        target: ArrayId,
        name: &ast::Ident,
        prefix: &str,
        span: Span,
    ) -> Assign {
        let (shape, ty) = (self.function.array(target).shape.clone(), self.function.array(target).ty);
        let taken = self.scope.loop_names();
        let mut foralls = Vec::new();
        for (position, hi) in shape.into_iter().enumerate() {
            let mut index = format!("c{position}");
            while taken.contains(&index) {
                index.push('_');
            }
            let iter = IterId(self.function.iters.len() as u32);
            self.function.iters.push(Iter { name: index, span: name.span, made_up: true });
            foralls.push(Bound { iter, lo: Affine::constant(0), hi });
        }
        let index: Vec<Affine> = foralls.iter().map(|bound| Affine::iter(bound.iter)).collect();
        Assign {
            name: format!("{prefix}_copy"),
            foralls,
            guard: Cond::TRUE,
            target,
            index: index.clone(),
            target_span: name.span,
            value: Expr { kind: ExprKind::Load { array: from, index }, ty, span },
            span,
        }
    }

    /// Gives the results the names that the statement says.
    fn bind_results(&mut self, call: &CallStmt<'_>, callee: &Function, results: &[ArrayId]) -> Option<()> {
        let names = match call.into {
            Into::Locals(names) => names,
            Into::Local(name, ty) => {
                if let Some(written) = ty {
                    let ty = self.scalar_type(&written.scalar)?;
                    let shape = self.lower_shape(&written.shape)?;
                    let result = self.function.array(*results.first()?);
                    let shapes = shape.len() == result.shape.len()
                        && shape.iter().zip(&result.shape).all(|(a, b)| self.eliminate(a) == self.eliminate(b));
                    if ty != result.ty || !shapes {
                        let found = format!("{}{}", result.ty, self.function.show_shape(result));
                        let message = format!("`{}` gives {found}", callee.name);
                        self.report(
                            Diagnostic::error("E0112", written.span, message)
                                .here("another type is written here")
                                .help("leave it out: it follows from the call"),
                        );
                        return None;
                    }
                }
                std::slice::from_ref(name)
            }
            Into::Array(_) => return Some(()),
        };
        for (name, id) in names.iter().zip(results) {
            let array = &mut self.function.arrays[id.index()];
            (array.name, array.span) = (name.name.clone(), name.span);
            self.bind(name, Meaning::Array(*id));
        }
        Some(())
    }
}

/// Whether a target is a whole array, or a scalar.
pub(super) fn is_whole(target: &ast::Target) -> bool {
    target.indices.is_empty() && target.guard.is_none()
}

fn inliner_result(results: &[ArrayId], outs: &[ArrayId], out: ArrayId) -> Option<ArrayId> {
    let position = outs.iter().position(|id| *id == out)?;
    results.get(position).copied()
}

fn is_out(callee: &Function, arg: ArgRef) -> bool {
    matches!(arg, ArgRef::Array(id) if callee.array(id).role == Role::Out)
}

/// `inout f64[N, M]`
fn describe(callee: &Function, array: &Array) -> String {
    let inout = if array.role == Role::InOut { "inout " } else { "" };
    format!("{inout}{}{}", array.ty, callee.show_shape(array))
}

fn too_large(callee: &ast::Ident) -> Diagnostic {
    Diagnostic::error("E0113", callee.span, format!("this call of `{}` is too large to be inlined", callee.name))
        .here(format!("more than {MAX_NODES} operations, or nested too deeply"))
        .note("arguments and `let`s of a function are computed again wherever it uses them")
        .help("give a part of it a name with `let` in the function that calls")
}

fn not_an_expression(callee: &ast::Ident, function: &Function, reason: NoForm) -> Diagnostic {
    let name = &callee.name;
    let outs = function.arrays.iter().filter(|array| array.role == Role::Out);
    let example = match outs.map(|array| array.name.as_str()).collect::<Vec<_>>().as_slice() {
        [] => format!("{name}(…)"),
        [one] => format!("let {one} = {name}(…)"),
        many => format!("let ({}) = {name}(…)", many.join(", ")),
    };
    let (message, here) = match reason {
        NoForm::TooLarge => return too_large(callee),
        NoForm::Arrays => (
            format!("`{name}` works on arrays and cannot be called here"),
            "in an indexed statement, a reduction or a branch",
        ),
        NoForm::Results => (format!("`{name}` does not have one result, so its call has no value"), "in a value"),
        NoForm::Body => (
            format!("`{name}` is more than one expression and cannot be called inside another"),
            "only `let`s of scalars and assignments of the result can be inlined here",
        ),
    };
    Diagnostic::error("E0104", callee.span, message)
        .here(here)
        .label(function.span, "defined here")
        .help(format!("call it by a statement of its own: `{example}`"))
}
