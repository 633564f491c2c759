//! Lowering: from the syntax tree to the typed program.
//!
//! In: a syntax tree.  Out: a [`Program`] with names resolved, types checked, ranges inferred; or every error found.
//! Recovery is per statement: one bad statement does not hide the errors of the next.
//! Not here: proofs about all parameter values (bounds, independence of foralls); they need isl and live in `poly`.

mod callees;
mod calls;
mod conditions;
mod constants;
mod counted;
mod data;
mod early;
mod example;
mod expr;
mod extreme;
mod generic;
mod habits;
mod if_stmt;
mod implied;
mod inline;
mod literal_let;
mod matching;
mod names;
mod piecewise;
mod range;
mod rank;
mod scan;
mod split;
mod stmt;
mod typing;
mod unique;
mod unknown;

use std::collections::BTreeSet;

use diag::{Diagnostic, Source, Span, deadline};
use syntax::ast;

use crate::{
    Affine, ArgRef, Array, ArrayId, Atom, Cond, Function, Iter, IterId, Node, Param, ParamId, Program, Requirement,
    Role, Scalar, ScalarId, ScalarType,
};
use callees::Callee;
pub use conditions::branch_condition;
use constants::Constant;
use names::{Meaning, Scope};

/// Dimensions of an array, and loops around one statement.
pub(crate) const MAX_DIMENSIONS: usize = 16;

/// Nobody reads more errors at once.
const MAX_ERRORS: usize = 50;

/// Lowers every function of a file; `source` is its text, for quoting. Once the deadline in force is over, the rest is left
/// out.
pub fn lower(file: &ast::File, source: &Source) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let constants = constants::lower(file, source, &mut diagnostics);
    let (expanded, variants) = generic::expand(file, &mut diagnostics);
    let file = &expanded;
    let (order, cycles) = callees::order(file);
    let called = callees::called(file);
    diagnostics.extend(cycles);
    let functions = file.functions.iter().zip(variants);
    let mut callees: Vec<Callee<'_>> = functions.map(|(function, variant)| Callee::new(function, variant)).collect();
    let mut errors: Vec<Vec<Diagnostic>> = vec![Vec::new(); callees.len()];
    for position in order {
        if deadline::is_over() {
            break;
        }
        let function = &file.functions[position];
        let shared = Shared { source, callees: &callees, constants: &constants };
        let (taken_apart, outside) =
            if called[position] { (function.clone(), Vec::new()) } else { split::split(function) };
        match Lowerer::new(&function.name, shared).run(&taken_apart, &outside) {
            Ok(function) => callees[position].set(function),
            Err(found) => {
                callees[position].error = found.first().cloned();
                errors[position] = found;
            }
        }
    }
    generic::silence(&callees, &mut errors);
    for (position, (function, errors)) in file.functions.iter().zip(errors).enumerate() {
        let mut earlier = file.functions[..position].iter().filter(|earlier| earlier.span != function.span);
        if let Some(first) = earlier.find(|earlier| earlier.name.name == function.name.name) {
            diagnostics.push(
                Diagnostic::error("E0102", function.name.span, format!("`{}` is defined twice", first.name.name))
                    .here("defined again here")
                    .label(first.name.span, "first defined here"),
            );
        }
        // What is wrong for one choice of types is most often wrong for all.
        for error in errors {
            let known = |known: &Diagnostic| known.code == error.code && known.span() == error.span();
            if function.types.is_empty() || !diagnostics.iter().any(known) {
                diagnostics.push(error);
            }
        }
    }
    diagnostics.truncate(MAX_ERRORS);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    Ok(Program { functions: generic::of_program(callees) })
}

/// What all functions of a file see.
#[derive(Clone, Copy)]
struct Shared<'a> {
    source: &'a Source,
    /// The functions of the file; those that are called are lowered before those that call them.
    callees: &'a [Callee<'a>],
    constants: &'a [Constant],
}

/// An expression of a schedule script, over a function's parameters and `inputs`: `IterId(n)` stands for `inputs[n]`.
pub fn lower_index(function: &Function, inputs: &[ast::Ident], expr: &ast::Expr) -> Result<Affine, Vec<Diagnostic>> {
    in_scope(function, inputs, |lowerer| lowerer.lower_affine(expr, "a time"))
}

/// A condition of a schedule script, likewise.
pub fn lower_condition(function: &Function, inputs: &[ast::Ident], expr: &ast::Expr) -> Result<Cond, Vec<Diagnostic>> {
    in_scope(function, inputs, |lowerer| lowerer.lower_cond(expr, "a condition"))
}

fn in_scope<T>(
    function: &Function,
    inputs: &[ast::Ident],
    work: impl FnOnce(&mut Lowerer<'_>) -> Option<T>,
) -> Result<T, Vec<Diagnostic>> {
    let source = Source::new("", "");
    let name = ast::Ident { name: function.name.clone(), span: function.span };
    let mut lowerer = Lowerer::new(&name, Shared { source: &source, callees: &[], constants: &[] });
    lowerer.function = Function { iters: Vec::new(), ..function.clone() };
    (lowerer.in_signature, lowerer.in_schedule) = (false, true);
    for (position, param) in function.params.iter().enumerate() {
        lowerer.scope.insert(param.name.clone(), Meaning::Param(ParamId(position as u32)), param.span);
    }
    for input in inputs {
        lowerer.declare_iter(input);
    }
    match work(&mut lowerer) {
        Some(result) if lowerer.diagnostics.is_empty() => Ok(result),
        _ => Err(lowerer.diagnostics),
    }
}

/// State while one function is lowered.
struct Lowerer<'a> {
    function: Function,
    shared: Shared<'a>,
    /// Only parameters can be meant: in extents and in `where`.
    in_signature: bool,
    /// The text is a schedule's, which knows no data.
    in_schedule: bool,
    /// A size is wanted, so products of parameters are parameters themselves.
    in_size: bool,
    /// It is the extent of an array, so a minimum or maximum is one as well.
    in_extent: bool,
    scope: Scope,
    diagnostics: Vec<Diagnostic>,
    /// Parameters that `where` equates with something else, in elimination order.
    equalities: Vec<(ParamId, Affine)>,
    labels: Vec<String>,
    statements: usize,
    /// The name of the statement that is being lowered, and what goes in front of it.
    statement: String,
    pending: Vec<Node>,
    /// The ranges of all indices so far.
    origins: Vec<scan::Origin>,
    /// Something that the function uses is in error elsewhere; it is not reported again.
    poisoned: bool,
    /// How many statements, and nodes of expressions, calls have brought here.
    inlined_statements: usize,
    inlined_nodes: usize,
    /// The tables that the function reads, and the arrays that hold them.
    tables: Vec<(usize, ArrayId)>,
    /// The cell of which a whole-array expression is lowered; elsewhere arrays have subscripts.
    cell: Option<Vec<Affine>>,
    /// Names in the statement, which indices that lowering makes up keep clear of.
    mentioned: BTreeSet<String>,
    /// The indices of reductions in the statement, with the bodies that they are known in.
    reduced: Vec<(String, ast::ReduceOp, Span)>,
    /// Indices that lowering made up, which no one can have meant.
    made_up: BTreeSet<String>,
    /// Locals that are integers only because a literal without a fraction is one.
    literal_lets: Vec<literal_let::LiteralLet>,
}

impl<'a> Lowerer<'a> {
    /// With the constants of the file in scope.
    fn new(name: &ast::Ident, shared: Shared<'a>) -> Self {
        let mut lowerer = Lowerer {
            function: Function {
                name: name.name.clone(),
                span: name.span,
                params: Vec::new(),
                context: Vec::new(),
                scalars: Vec::new(),
                arrays: Vec::new(),
                iters: Vec::new(),
                counters: Vec::new(),
                signature: Vec::new(),
                body: Vec::new(),
                calls: Vec::new(),
                outside: Vec::new(),
                layouts: Vec::new(),
                stored: Vec::new(),
            },
            shared,
            in_signature: true,
            in_schedule: false,
            in_size: false,
            in_extent: false,
            scope: Scope::default(),
            diagnostics: Vec::new(),
            equalities: Vec::new(),
            labels: Vec::new(),
            statements: 0,
            statement: String::new(),
            pending: Vec::new(),
            origins: Vec::new(),
            poisoned: false,
            inlined_statements: 0,
            inlined_nodes: 0,
            tables: Vec::new(),
            cell: None,
            mentioned: BTreeSet::new(),
            reduced: Vec::new(),
            made_up: BTreeSet::new(),
            literal_lets: Vec::new(),
        };
        lowerer.declare_constants();
        lowerer
    }

    fn run(
        mut self,
        function: &ast::Function,
        outside: &[(String, Vec<ast::Expr>)],
    ) -> Result<Function, Vec<Diagnostic>> {
        for param in &function.params {
            self.declare_param(param);
        }
        for condition in &function.context {
            self.lower_requirement(condition);
        }
        for arg in &function.args {
            self.declare_arg(arg, if arg.inout { Role::InOut } else { Role::In });
        }
        for out in &function.outs {
            if out.inout {
                self.error("E0109", out.span, "an output cannot be `inout`")
                    .helps
                    .push("move it to the argument list: `inout` arguments are read and written in place".into());
            }
            self.declare_arg(out, Role::Out);
        }
        for (name, shape) in outside {
            if let (Some((Meaning::Array(id), _)), Some(shape)) = (self.scope.lookup(name), self.lower_shape(shape)) {
                self.function.outside.push((id, shape));
            }
        }
        self.function.layouts.clone_from(&function.layouts);
        self.in_signature = false;
        self.collect_labels(&function.body);
        let body = self.lower_block(&function.body);
        self.function.body = self.fill_tables();
        self.function.body.extend(body);
        if self.diagnostics.is_empty() && !self.poisoned { Ok(self.function) } else { Err(self.diagnostics) }
    }

    /// Records an error and hands it back for labels, notes and helps.
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.diagnostics.len();
        self.diagnostics.push(Diagnostic::error(code, span, message));
        &mut self.diagnostics[at]
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Binds a name in the innermost scope; a name that is already visible is an error.
    fn bind(&mut self, name: &ast::Ident, meaning: Meaning) {
        if let Some((earlier, first)) = self.scope.lookup(&name.name) {
            let mut diagnostic = Diagnostic::error("E0102", name.span, format!("`{}` is defined twice", name.name))
                .here("defined again here")
                .label(first, "first defined here");
            let rank = |meaning: Meaning| match meaning {
                Meaning::Array(id) => Some(self.function.array(id).shape.len()),
                _ => None,
            };
            if self.in_signature {
                diagnostic = diagnostic.help("choose another name for one of them");
            } else if rank(meaning).is_some_and(|new| new > 0 && rank(earlier) == Some(new)) {
                diagnostic = diagnostic.help(format!("to give `{}` more values, leave out the `let`", name.name));
            } else if rank(meaning) == Some(0) && rank(earlier) == Some(0) {
                diagnostic =
                    diagnostic.help(format!("to give it another value, leave out the `let`: `{} = …`", name.name));
            }
            self.report(diagnostic);
        }
        self.scope.insert(name.name.clone(), meaning, name.span);
    }

    fn declare_param(&mut self, name: &ast::Ident) {
        let id = ParamId(self.function.params.len() as u32);
        self.function.params.push(Param { name: name.name.clone(), span: name.span, derived: None });
        self.bind(name, Meaning::Param(id));
    }

    fn declare_arg(&mut self, arg: &ast::Arg, role: Role) {
        let ty = self.scalar_type(&arg.ty.scalar);
        let shape = self.lower_shape(&arg.ty.shape);
        let (Some(ty), Some(shape)) = (ty, shape) else {
            // The name is known even if its type is not, so that its uses are not reported as unknown.
            self.bind(&arg.name, Meaning::Broken);
            return;
        };
        if shape.is_empty() && role == Role::In {
            let id = ScalarId(self.function.scalars.len() as u32);
            self.function.scalars.push(Scalar { name: arg.name.name.clone(), ty, span: arg.name.span });
            self.function.signature.push(ArgRef::Scalar(id));
            self.bind(&arg.name, Meaning::Scalar(id));
        } else {
            let id = self.declare_array(&arg.name, ty, shape, role);
            self.function.signature.push(ArgRef::Array(id));
        }
    }

    fn declare_array(&mut self, name: &ast::Ident, ty: ScalarType, shape: Vec<Affine>, role: Role) -> ArrayId {
        let id = self.add_array(name, ty, shape, role);
        self.bind(name, Meaning::Array(id));
        id
    }

    /// Adds an array to the function without binding its name.
    fn add_array(&mut self, name: &ast::Ident, ty: ScalarType, shape: Vec<Affine>, role: Role) -> ArrayId {
        let id = ArrayId(self.function.arrays.len() as u32);
        self.function.arrays.push(Array { name: name.name.clone(), ty, shape, role, span: name.span });
        id
    }

    fn declare_iter(&mut self, name: &ast::Ident) -> IterId {
        let id = IterId(self.function.iters.len() as u32);
        self.function.iters.push(Iter { name: name.name.clone(), span: name.span, made_up: false });
        self.check_index_name(name);
        self.scope.insert(name.name.clone(), Meaning::Iter(id), name.span);
        self.check_loops(name);
        id
    }

    fn scalar_type(&mut self, name: &ast::Ident) -> Option<ScalarType> {
        let found = ScalarType::from_name(&name.name);
        if found.is_none() {
            let known = ScalarType::ALL.map(ScalarType::name);
            let mut diagnostic = Diagnostic::error("E0103", name.span, format!("unknown type `{}`", name.name))
                .note(format!("the types are {}", known.join(", ")));
            let alias = match name.name.as_str() {
                "float" | "single" => Some("f32"),
                "double" | "real" => Some("f64"),
                "int" => Some("i32"),
                "long" | "index" | "usize" => Some("i64"),
                "byte" => Some("u8"),
                "uint" | "unsigned" => Some("u32"),
                "half" | "float16" => Some("f16"),
                "bfloat16" | "bfloat" => Some("bf16"),
                "float32" => Some("f32"),
                "float64" => Some("f64"),
                name if name.starts_with("int") || name.starts_with("uint") => {
                    let width = name.trim_start_matches("uint").trim_start_matches("int");
                    let sign = if name.starts_with('u') { 'u' } else { 'i' };
                    known.into_iter().find(|ty| ty.starts_with(sign) && &ty[1..] == width)
                }
                other => names::closest(other, known.into_iter()),
            };
            let size = matches!(self.scope.lookup(&name.name), Some((Meaning::Param(_), _)));
            if size {
                let name = &name.name;
                let help =
                    format!("`{name}` is a size; as a type it is declared `{name}: float`, and stands for f32 and f64");
                diagnostic = diagnostic.help(help);
            } else if name.name.starts_with("complex") {
                let help =
                    "there are no complex numbers: the two parts are arrays of their own, or a last axis of extent 2";
                diagnostic = diagnostic.help(help);
            } else if let Some(alias) = alias {
                diagnostic = diagnostic.help(format!("did you mean `{alias}`?"));
            }
            self.report(diagnostic);
        }
        found
    }

    /// Extents: affine in the parameters alone.
    fn lower_shape(&mut self, shape: &[ast::Expr]) -> Option<Vec<Affine>> {
        if let Some(extra) = shape.get(MAX_DIMENSIONS) {
            self.error("E0308", extra.span, format!("an array has at most {MAX_DIMENSIONS} dimensions"));
            return None;
        }
        let extents: Vec<Option<Affine>> = shape.iter().map(|extent| self.lower_extent(extent)).collect();
        extents.into_iter().collect()
    }

    fn lower_extent(&mut self, extent: &ast::Expr) -> Option<Affine> {
        self.in_extent = true;
        let affine = self.lower_affine(extent, "an extent");
        self.in_extent = false;
        let affine = affine?;
        let mut uses_iter = false;
        affine.visit_iters(&mut |_| uses_iter = true);
        if uses_iter {
            self.error("E0306", extent.span, "an extent may use parameters only")
                .notes
                .push("arrays are allocated once per call, so their size cannot depend on a loop".into());
            return None;
        }
        Some(affine)
    }

    fn lower_requirement(&mut self, condition: &ast::Expr) {
        let Some(cond) = self.lower_cond(condition, "a `where` condition") else { return };
        self.note_equalities(&cond);
        let text = self.shared.source.slice(condition.span).to_string();
        self.function.context.push(Requirement { cond, text, span: condition.span });
    }

    /// Remembers `N = M` so that ranges over `N` and over `M` agree.
    fn note_equalities(&mut self, cond: &Cond) {
        match cond {
            Cond::And(conds) => conds.iter().for_each(|cond| self.note_equalities(cond)),
            Cond::Zero(affine) => {
                let affine = self.eliminate(affine);
                let pivot = affine.terms.iter().rev().find_map(|(atom, coefficient)| match atom {
                    Atom::Param(id) if coefficient.abs() == 1 => Some((*id, *coefficient)),
                    _ => None,
                });
                let Some((param, sign)) = pivot else { return };
                // coefficient · param + rest = 0, so param = -coefficient · rest.
                let rest = affine.add_scaled(&Affine::param(param), -sign).and_then(|rest| rest.scale(-sign));
                self.equalities.extend(rest.map(|rest| (param, rest)));
            }
            Cond::NonNegative(_) | Cond::Or(_) => {}
        }
    }

    /// The expression with every equated parameter replaced; unchanged where that would overflow.
    fn eliminate(&self, affine: &Affine) -> Affine {
        let mut result = affine.clone();
        for (param, replacement) in &self.equalities {
            let Some(coefficient) = result.terms.get(&Atom::Param(*param)).copied() else { continue };
            let replaced = result
                .add_scaled(&Affine::param(*param), -coefficient)
                .and_then(|without| without.add_scaled(replacement, coefficient));
            if let Some(replaced) = replaced {
                result = replaced;
            }
        }
        result
    }

    fn collect_labels(&mut self, block: &[ast::Stmt]) {
        for stmt in block {
            if let Some(label) = &stmt.label {
                if self.labels.contains(&label.name) {
                    self.error("E0102", label.span, format!("label `{}` is used twice", label.name));
                }
                self.labels.push(label.name.clone());
            }
            match &stmt.kind {
                ast::StmtKind::For { body, .. } => self.collect_labels(body),
                ast::StmtKind::If { arms } => arms.iter().for_each(|arm| self.collect_labels(&arm.body)),
                _ => {}
            }
        }
    }

    fn statement_name(&mut self, label: Option<&ast::Ident>) -> String {
        let name = match label {
            Some(label) => label.name.clone(),
            None => loop {
                let name = format!("S{}", self.statements);
                self.statements += 1;
                if !self.labels.contains(&name) {
                    break name;
                }
            },
        };
        self.statement.clone_from(&name);
        name
    }

    fn lower_block(&mut self, block: &[ast::Stmt]) -> Vec<Node> {
        self.scope.enter();
        let mut nodes = Vec::new();
        block.iter().for_each(|stmt| self.lower_stmt(stmt, &mut nodes));
        self.scope.leave();
        nodes
    }
}
