//! Expressions: names resolved, operators typed, affine parts recognised.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::branch_condition;
use super::counted::Counted;
use super::extreme::{self, Extreme};
use super::names::{self, Meaning};
use super::piecewise;
use super::scan::Origin;
use super::typing::{cast, computed, widened};
use super::{Lowerer, MAX_DIMENSIONS};
use crate::{Affine, ArrayId, BinaryOp, Bound, Cond, Expr, ExprKind, ReduceOp, ScalarType, Subscript, UnaryOp, Value};

/// Whether an expression is made of literals only and still takes the type of its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weak {
    No,
    Int,
    Float,
}

/// A lowered expression and what is known about it.
#[derive(Clone)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) weak: Weak,
    /// The value, where it is an affine integer.
    pub(super) affine: Option<Affine>,
    /// The condition, where it is an affine one.
    pub(super) cond: Option<Cond>,
}

impl Typed {
    pub(super) fn strong(expr: Expr) -> Typed {
        Typed { expr, weak: Weak::No, affine: None, cond: None }
    }

    fn index(affine: Affine, span: Span) -> Typed {
        let expr = Expr { kind: ExprKind::Index(affine.clone()), ty: ScalarType::I64, span };
        Typed { expr, weak: Weak::No, affine: Some(affine), cond: None }
    }

    /// Index arithmetic is kept as one affine expression.
    pub(super) fn into_index(mut self) -> Typed {
        if let (Weak::No, Some(affine)) = (self.weak, &self.affine) {
            self.expr.kind = ExprKind::Index(affine.clone());
        }
        self
    }
}

impl Lowerer<'_> {
    /// An expression that must be affine in parameters and indices; `what` names its use.
    pub(super) fn lower_affine(&mut self, expr: &ast::Expr, what: &str) -> Option<Affine> {
        let typed = self.lower_size(expr)?;
        self.require_affine(typed, expr, what)
    }

    /// An expression in which products of parameters are sizes.
    pub(super) fn lower_size(&mut self, expr: &ast::Expr) -> Option<Typed> {
        let outside = std::mem::replace(&mut self.in_size, !self.in_schedule);
        let typed = self.lower_expr(expr);
        self.in_size = outside;
        typed
    }

    /// The affine value of a lowered expression, or the error that it has none.
    pub(super) fn require_affine(&mut self, typed: Typed, expr: &ast::Expr, what: &str) -> Option<Affine> {
        if typed.affine.is_none() {
            let message = match &expr.kind {
                ast::ExprKind::Name(name) => format!("{what} must be affine, and `{name}` is not"),
                _ => format!("{what} must be affine"),
            };
            let mut diagnostic = Diagnostic::error("E0301", expr.span, message)
                .here("not a sum of parameters and indices with constant factors")
                .note(AFFINE);
            if let (ExprKind::Load { array, .. }, ast::ExprKind::Name(name)) = (&typed.expr.kind, &expr.kind) {
                let declared = self.function.array(*array).span;
                diagnostic = diagnostic.label(declared, format!("`{name}` is a value, not an index"));
            } else if let (ExprKind::Scalar(id), ast::ExprKind::Name(name)) = (&typed.expr.kind, &expr.kind) {
                let declared = self.function.scalar(*id).span;
                diagnostic = diagnostic
                    .label(declared, format!("`{name}` is a value, not a size"))
                    .help("a size is a parameter: declare it between `<` and `>` instead of as an argument");
            } else if typed.expr.ty.is_float() {
                diagnostic = diagnostic.note(format!("its type is {}", typed.expr.ty));
            } else if what == "a bound" && depends_on_data(&typed.expr) {
                diagnostic = diagnostic
                    .note("the cells of a forall do not depend on data, but reductions and loops may")
                    .help("write a reduction, `sum[k: lo[i]..hi[i]] …`, or a loop, `for k in lo[i]..hi[i] { … }`");
            }
            self.report(diagnostic);
        }
        typed.affine.filter(|affine| self.has_opposite(affine, expr.span, what))
    }

    /// A condition that must be affine.
    pub(super) fn lower_cond(&mut self, expr: &ast::Expr, what: &str) -> Option<Cond> {
        let typed = self.lower_size(expr)?;
        if typed.cond.is_none() {
            let diagnostic = if typed.expr.ty == ScalarType::Bool {
                let diagnostic = Diagnostic::error("E0301", expr.span, format!("{what} must be affine"));
                if depends_on_data(&typed.expr) {
                    diagnostic
                        .here("depends on data")
                        .help("a condition on data belongs into the value: `if … then … else …`")
                } else {
                    diagnostic.here("not linear in parameters and indices").note(AFFINE)
                }
            } else {
                Diagnostic::error("E0201", expr.span, format!("{what} must be a condition"))
                    .here(format!("this is {}", typed.expr.ty))
            };
            self.report(diagnostic);
        }
        typed.cond
    }

    pub(super) fn lower_expr(&mut self, expr: &ast::Expr) -> Option<Typed> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int(value) => Some(int_literal(*value, span)),
            ast::ExprKind::Float(value) => Some(float_literal(*value, span)),
            ast::ExprKind::Bool(value) => {
                let expr = Expr { kind: ExprKind::Const(Value::Bool(*value)), ty: ScalarType::Bool, span };
                let cond = if *value { Cond::TRUE } else { Cond::FALSE };
                Some(Typed { cond: Some(cond), ..Typed::strong(expr) })
            }
            ast::ExprKind::Name(name) => self.lower_name(name, span),
            ast::ExprKind::Index { base, indices } => self.lower_load(base, indices, span),
            ast::ExprKind::Call { callee, args } => self.lower_call(callee, args, span),
            ast::ExprKind::Unary { op, operand } => {
                // A negative literal is one number, so that the smallest one can be written.
                if let (ast::UnaryOp::Neg, ast::ExprKind::Int(value)) = (op, &operand.kind)
                    && i64::try_from(-*value).is_ok()
                {
                    return Some(int_literal(-*value, span));
                }
                let operand = self.lower_expr(operand)?;
                match op {
                    ast::UnaryOp::BitNot => self.unary(UnaryOp::BitNot, operand, span),
                    ast::UnaryOp::Neg => self.unary(UnaryOp::Neg, operand, span),
                    ast::UnaryOp::Not => {
                        let cond = operand.cond.as_ref().and_then(Cond::negate);
                        let negated = self.unary(UnaryOp::Not, operand, span)?;
                        Some(Typed { cond, ..negated })
                    }
                }
            }
            ast::ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.lower_expr(lhs), self.lower_expr(rhs));
                self.lower_binary(*op, lhs?, rhs?, span)
            }
            ast::ExprKind::Compare { first, rest } => self.lower_comparison(first, rest, span),
            ast::ExprKind::If { cond, then, otherwise } => self.lower_if(cond, then, otherwise, span),
            ast::ExprKind::Reduce { scan, op, indices, guard, body } => {
                self.lower_reduce(*scan, *op, indices, guard.as_deref(), body, span)
            }
            ast::ExprKind::Apply { verb, lhs, rhs } => self.lower_apply(verb, lhs.as_deref(), rhs, span),
            ast::ExprKind::Paren(inner) => self.lower_expr(inner),
        }
    }

    fn lower_name(&mut self, name: &str, span: Span) -> Option<Typed> {
        match self.scope.lookup(name) {
            Some((Meaning::Param(id), _)) => Some(Typed::index(Affine::param(id), span)),
            Some((Meaning::Iter(id), _)) => Some(Typed::index(Affine::iter(id), span)),
            Some((Meaning::Counter(id), _)) => {
                Some(Typed::strong(Expr { kind: ExprKind::Counter(id), ty: ScalarType::I64, span }))
            }
            Some((Meaning::Scalar(id), _)) => {
                let ty = self.function.scalar(id).ty;
                Some(Typed::strong(Expr { kind: ExprKind::Scalar(id), ty, span }))
            }
            Some((Meaning::Array(id), _)) => {
                let cell = self.cell_of(id).into_iter().map(Subscript::Affine).collect();
                self.load(id, cell, span)
            }
            Some((Meaning::Constant(position), _)) => self.constant_value(position, span),
            Some((Meaning::Table(position), _)) => {
                let array = self.table_array(position);
                let cell = self.cell_of(array).into_iter().map(Subscript::Affine).collect();
                self.load(array, cell, span)
            }
            Some((Meaning::Broken, _)) => {
                self.poisoned = true;
                None
            }
            None => match name {
                "inf" => Some(float_literal(f64::INFINITY, span)),
                "nan" => Some(float_literal(f64::NAN, span)),
                _ => {
                    self.unknown_name(name, span);
                    None
                }
            },
        }
    }

    fn lower_load(&mut self, base: &ast::Ident, indices: &[ast::Expr], span: Span) -> Option<Typed> {
        if self.in_schedule {
            let name = &base.name;
            let message = format!("a schedule cannot depend on the values of `{name}`");
            self.report(
                Diagnostic::error("E0301", span, message)
                    .here("not known when the loops are made")
                    .help("the expression must be affine in indices and parameters, such as `i < N / 2`"),
            );
            return None;
        }
        let mut table = None;
        let array = match self.scope.lookup(&base.name) {
            Some((Meaning::Array(id), _)) => Some(id),
            Some((Meaning::Table(position), _)) => {
                table = Some(position);
                None
            }
            Some((Meaning::Broken, _)) => {
                self.poisoned = true;
                None
            }
            Some((meaning, declared)) => {
                let message = format!("`{}` is {}, not an array", base.name, meaning.describe());
                self.report(Diagnostic::error("E0107", base.span, message).label(declared, "declared here"));
                None
            }
            None => {
                let help = "arrays are arguments, outputs, or introduced by `let`".to_string();
                self.unknown(&base.name, base.span, help);
                None
            }
        };
        let index: Vec<Option<Subscript>> = indices.iter().map(|index| self.lower_subscript(index)).collect();
        let index: Option<Vec<Subscript>> = index.into_iter().collect();
        let Some(position) = table else { return self.load(array?, index?, span) };
        let index = index?;
        let cell = Subscript::all_affine(&index);
        if let Some((value, ty)) = cell.and_then(|cell| self.table_of(position)?.cell(&cell)) {
            let affine = if let Value::I64(value) = value { Some(Affine::constant(value)) } else { None };
            return Some(Typed { affine, ..Typed::strong(Expr { kind: ExprKind::Const(value), ty, span }) });
        }
        let array = self.table_array(position);
        self.load(array, index, span)
    }

    fn load(&mut self, array: ArrayId, index: Vec<Subscript>, span: Span) -> Option<Typed> {
        if !self.check_rank(array, index.len(), span) || self.report_negative(array, &index, span) {
            return None;
        }
        let ty = self.function.array(array).ty;
        let kind = match Subscript::all_affine(&index) {
            Some(index) => ExprKind::Load { array, index },
            None => match piecewise::load(array, ty, &index, span) {
                Some(load) => return Some(Typed::strong(load)),
                None => ExprKind::Gather { array, index },
            },
        };
        Some(Typed::strong(Expr { kind, ty, span }))
    }

    /// `x[-1]`, which other languages count from the end.
    fn report_negative(&mut self, array: ArrayId, index: &[Subscript], span: Span) -> bool {
        let constant = |subscript: &Subscript| subscript.as_affine().and_then(Affine::as_constant);
        let found =
            index.iter().enumerate().find_map(|(place, each)| Some((place, constant(each).filter(|at| *at < 0)?)));
        let Some((place, at)) = found else { return false };
        let declared = self.function.array(array);
        let cell = declared.shape[place].add(&Affine::constant(at)).map(|cell| self.function.show(&cell));
        let (name, declared) = (declared.name.clone(), declared.span);
        let message = format!("subscript {at} is outside `{name}`");
        let mut diagnostic = Diagnostic::error("E0401", span, message).label(declared, "declared here");
        if let Some(cell) = cell {
            let cells: Vec<String> =
                (0..index.len()).map(|at| if at == place { cell.clone() } else { "…".into() }).collect();
            diagnostic =
                diagnostic.help(format!("subscripts count from 0; from the end, write `{name}[{}]`", cells.join(", ")));
        }
        self.report(diagnostic);
        true
    }

    pub(super) fn check_rank(&mut self, array: ArrayId, subscripts: usize, span: Span) -> bool {
        let declared = self.function.array(array);
        let (name, rank, at) = (declared.name.clone(), declared.shape.len(), declared.span);
        if rank != subscripts {
            let plural = if rank == 1 { "" } else { "s" };
            let given = if subscripts == 1 { "subscript is" } else { "subscripts are" };
            let message = format!("`{name}` has {rank} dimension{plural}, but {subscripts} {given} given");
            let mut diagnostic = Diagnostic::error("E0107", span, message).label(at, "declared here");
            if rank == 0 {
                diagnostic = diagnostic.here(format!("`{name}` is a single value")).help(format!(
                    "write `{name}` alone; an index on the right is then bound by a reduction, such as `sum[i]`"
                ));
            }
            if subscripts == 0 {
                let example: Vec<&str> = ["i", "j", "k", "l"].into_iter().take(rank).collect();
                diagnostic = diagnostic.help(format!("name the cells: `{name}[{}]`", example.join(", ")));
            } else if subscripts < rank {
                let written = self.shared.source.slice(span);
                let more = vec!["…"; rank - subscripts].join(", ");
                if let Some(open) = written.strip_suffix(']').filter(|open| !open.contains('\n') && !open.contains('|'))
                {
                    diagnostic = diagnostic
                        .help(format!("name each cell, with one index for each dimension: `{open}, {more}]`"));
                }
            }
            self.report(diagnostic);
        }
        rank == subscripts
    }

    fn lower_call(&mut self, callee: &ast::Ident, args: &[ast::Expr], span: Span) -> Option<Typed> {
        if self.rearranges(&callee.name) {
            return self.lower_rearranged(callee, args, span);
        }
        if self.callee(&callee.name).is_some_and(|function| function.form.is_err()) {
            let errors = self.diagnostics.len();
            let value = self.call(callee, None, span);
            let help = self.rank_help(&callee.name, args);
            if let Some(error) = self.diagnostics.get_mut(errors).filter(|error| error.code == "E0104") {
                error.helps.extend(help);
            }
            return value;
        }
        if self.report_foreign_call(callee, args) {
            return None;
        }
        let lowered: Vec<Option<Typed>> = args.iter().map(|arg| self.lower_expr(arg)).collect();
        let lowered: Option<Vec<Typed>> = lowered.into_iter().collect();
        self.call(callee, lowered, span)
    }

    /// A function of scalars on values; `None` in place of them if one is in error.
    pub(super) fn call(&mut self, callee: &ast::Ident, args: Option<Vec<Typed>>, span: Span) -> Option<Typed> {
        if let Some(function) = self.callee(&callee.name) {
            return self.call_user(callee, function, args, span);
        }
        let name = callee.name.as_str();
        if let Some(ty) = ScalarType::from_name(name) {
            let [arg] = self.arguments(callee, args?)?;
            return self.lower_cast(arg, ty, span);
        }
        if let Some(op) = UnaryOp::FUNCTIONS.into_iter().find(|op| op.name() == name) {
            let [arg] = self.arguments(callee, args?)?;
            return self.unary(op, arg, span);
        }
        if TESTS.contains(&name) {
            let [arg] = self.arguments(callee, args?)?;
            return self.lower_test(name, arg, span);
        }
        if let Some(op) = BinaryOp::FUNCTIONS.into_iter().find(|op| op.name() == name) {
            let [lhs, rhs] = self.arguments(callee, args?)?;
            return self.binary(op, lhs, rhs, span);
        }
        self.unknown_function(callee, &[]);
        None
    }

    pub(super) fn unknown_function(&mut self, callee: &ast::Ident, args: &[ast::Expr]) {
        let name = callee.name.as_str();
        let diagnostic = match self.scope.lookup(name) {
            Some((Meaning::Array(_) | Meaning::Table(_), declared)) => {
                Diagnostic::error("E0104", callee.span, format!("`{name}` is an array, not a function"))
                    .label(declared, "declared here")
                    .help(format!("subscripts are written in square brackets: `{name}[…]`"))
            }
            _ if is_built_in(name) => {
                Diagnostic::error("E0104", callee.span, format!("`{name}(…)` is a value, not a statement"))
                    .help(format!("give it a name: `let x = {name}(…)`"))
            }
            _ => {
                let functions = UnaryOp::FUNCTIONS.into_iter().map(UnaryOp::name);
                let mut known: Vec<&str> =
                    functions.chain(BinaryOp::FUNCTIONS.into_iter().map(BinaryOp::name)).collect();
                known.extend(TESTS);
                known.extend(self.shared.callees.iter().map(|callee| callee.name));
                let diagnostic = Diagnostic::error("E0104", callee.span, format!("unknown function `{name}`"));
                if let Some(idiom) = self.idiom(name, args) {
                    return self.report(diagnostic.help(idiom));
                }
                let mut diagnostic = diagnostic.note(format!("the functions are {}", known.join(", ")));
                if let Some(closest) = names::closest(name, known.into_iter()) {
                    diagnostic = diagnostic.help(format!("did you mean `{closest}`?"));
                }
                diagnostic
            }
        };
        self.report(diagnostic);
    }

    fn arguments<const N: usize>(&mut self, callee: &ast::Ident, args: Vec<Typed>) -> Option<[Typed; N]> {
        let given = args.len();
        let exact = <[Typed; N]>::try_from(args).ok();
        if exact.is_none() {
            let plural = if N == 1 { "" } else { "s" };
            let name = &callee.name;
            let message = format!("`{name}` takes {N} argument{plural}, {given} given");
            let mut diagnostic = Diagnostic::error("E0105", callee.span, message);
            if matches!(name.as_str(), "min" | "max") && given > N {
                diagnostic =
                    diagnostic.help(format!("of more numbers, one after the other: `{name}({name}(a, b), c)`"));
            }
            self.report(diagnostic);
        }
        exact
    }

    /// `is_nan(x)` and `is_inf(x)`, by comparisons with infinity, which NaN fails whatever its sign.
    fn lower_test(&mut self, name: &str, arg: Typed, span: Span) -> Option<Typed> {
        let arg = computed(arg);
        // A literal is a float here, as it is for `sqrt`.
        let value = if arg.weak == Weak::Int { self.coerce(arg, ScalarType::F64)? } else { self.settle(arg)? };
        let ty = value.ty;
        if !ty.is_float() {
            let message = format!("`{name}` does not apply to {ty}");
            let diagnostic = Diagnostic::error("E0202", span, message).note("only floats can be NaN or infinite");
            self.report(diagnostic);
            return None;
        }
        let make = |kind, ty| Expr { kind, ty, span };
        let infinity = if ty == ScalarType::F32 { Value::F32(f32::INFINITY) } else { Value::F64(f64::INFINITY) };
        let size = Box::new(make(ExprKind::Unary(UnaryOp::ABS, Box::new(value)), ty));
        let infinity = Box::new(make(ExprKind::Const(infinity), ty));
        let op = if name == "is_inf" { BinaryOp::Eq } else { BinaryOp::Le };
        let test = make(ExprKind::Binary(op, size, infinity), ScalarType::Bool);
        Some(Typed::strong(if name == "is_inf" {
            test
        } else {
            make(ExprKind::Unary(UnaryOp::Not, Box::new(test)), ScalarType::Bool)
        }))
    }

    fn lower_cast(&mut self, arg: Typed, ty: ScalarType, span: Span) -> Option<Typed> {
        // An integer literal must fit; anything else converts at run time.
        if let (Weak::Int, ExprKind::Const(value)) = (arg.weak, &arg.expr.kind)
            && ty != ScalarType::Bool
        {
            let value = self.adapt_literal(*value, ty, span)?;
            let affine = arg.affine.filter(|_| ty == ScalarType::I64);
            return Some(Typed { affine, ..Typed::strong(Expr { kind: ExprKind::Const(value), ty, span }) });
        }
        let affine = arg.affine.clone().filter(|_| ty == ScalarType::I64 && arg.weak == Weak::No);
        let expr = self.settle(arg)?;
        if expr.ty == ty {
            return Some(Typed { affine, ..Typed::strong(Expr { span, ..expr }) });
        }
        Some(Typed::strong(Expr { span, ..cast(expr, ty) }))
    }

    pub(super) fn lower_binary(&mut self, op: ast::BinaryOp, lhs: Typed, rhs: Typed, span: Span) -> Option<Typed> {
        let combine: Option<fn(Vec<Cond>) -> Cond> = match op {
            ast::BinaryOp::And => Some(Cond::And),
            ast::BinaryOp::Or => Some(Cond::Or),
            _ => None,
        };
        let cond = match (combine, &lhs.cond, &rhs.cond) {
            (Some(combine), Some(a), Some(b)) => Some(combine(vec![a.clone(), b.clone()])),
            _ => None,
        };
        let op = match op {
            ast::BinaryOp::Add => BinaryOp::Add,
            ast::BinaryOp::Sub => BinaryOp::Sub,
            ast::BinaryOp::Mul => BinaryOp::Mul,
            ast::BinaryOp::Div => BinaryOp::Div,
            ast::BinaryOp::Rem => BinaryOp::Rem,
            ast::BinaryOp::And => BinaryOp::And,
            ast::BinaryOp::Or => BinaryOp::Or,
            ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
            ast::BinaryOp::BitOr => BinaryOp::BitOr,
            ast::BinaryOp::BitXor => BinaryOp::BitXor,
            ast::BinaryOp::Shl => BinaryOp::Shl,
            ast::BinaryOp::Shr => BinaryOp::Shr,
        };
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && rhs.affine.as_ref().and_then(Affine::as_constant) == Some(0) {
            let integers = lhs.expr.ty.is_int() && lhs.weak != Weak::Float;
            if integers && rhs.weak == Weak::Int {
                self.error("E0204", rhs.expr.span, "division of an integer by zero");
                return None;
            }
        }
        if matches!(op, BinaryOp::And | BinaryOp::Or) && lhs.expr.ty == ScalarType::Bool {
            let protects = !branch_condition(&lhs.expr, lhs.cond.as_ref(), op == BinaryOp::And).is_true();
            if may_fail(&rhs.expr, protects) {
                return self.short_circuit(op, lhs, rhs, cond, span);
            }
        }
        let result = self.binary(op, lhs, rhs, span)?;
        Some(Typed { cond, ..result })
    }

    /// `and` and `or` whose right side is evaluated only where the left side leaves the answer open.
    fn short_circuit(&mut self, op: BinaryOp, lhs: Typed, rhs: Typed, cond: Option<Cond>, span: Span) -> Option<Typed> {
        let affine = lhs.cond.clone();
        let (lhs, rhs) = (self.coerce(lhs, ScalarType::Bool)?, self.coerce(rhs, ScalarType::Bool)?);
        let known =
            Box::new(Expr { kind: ExprKind::Const(Value::Bool(op == BinaryOp::Or)), ty: ScalarType::Bool, span });
        let (then, otherwise) = if op == BinaryOp::And { (Box::new(rhs), known) } else { (known, Box::new(rhs)) };
        let kind = ExprKind::Select { cond: Box::new(lhs), affine, then, otherwise };
        Some(Typed { cond, ..Typed::strong(Expr { kind, ty: ScalarType::Bool, span }) })
    }

    /// `a <= b < c`: the conjunction of its neighbouring pairs.
    fn lower_comparison(
        &mut self,
        first: &ast::Expr,
        rest: &[(ast::CompareOp, ast::Expr)],
        span: Span,
    ) -> Option<Typed> {
        let errors = self.diagnostics.len();
        let mut operands = vec![(self.lower_expr(first), first.span)];
        self.teach_end_of_body(first, span, errors);
        operands.extend(rest.iter().map(|(_, operand)| (self.lower_expr(operand), operand.span)));
        let mut result: Option<Typed> = None;
        // Collected beside the chain: copied at every link, they would make it quadratic.
        let mut conds = Some(Vec::new());
        for ((op, _), pair) in rest.iter().zip(operands.windows(2)) {
            let [(lhs, left), (rhs, right)] = pair else { continue };
            let mut pair = self.compare(*op, lhs.clone()?, rhs.clone()?, left.to(*right))?;
            match (&mut conds, pair.cond.take()) {
                (Some(conds), Some(cond)) => conds.push(cond),
                _ => conds = None,
            }
            result = Some(match result {
                None => pair,
                Some(before) => self.lower_binary(ast::BinaryOp::And, before, pair, span)?,
            });
        }
        let cond = conds.map(|mut conds| if conds.len() == 1 { conds.remove(0) } else { Cond::And(conds) });
        result.map(|result| Typed { cond, ..result })
    }

    /// For `any[k] x[k] > 0`, where the body stops at the comparison: what was meant.
    fn teach_end_of_body(&mut self, first: &ast::Expr, comparison: Span, errors: usize) {
        let ast::ExprKind::Reduce { op: ast::ReduceOp::Any | ast::ReduceOp::All, body, .. } = &first.kind else {
            return;
        };
        let source = self.shared.source;
        let head = source.slice(Span { end: body.span.start, ..first.span }).trim_end();
        let whole = source.slice(Span { start: body.span.start, ..comparison });
        for error in self.diagnostics.iter_mut().skip(errors) {
            if error.code == "E0201" && error.span() == body.span {
                *error = error.clone().note("the body of a reduction stops at a comparison");
                error.helps = vec![format!("put the comparison into the body: `{head} ({whole})`")];
            }
        }
    }

    pub(super) fn compare(&mut self, op: ast::CompareOp, lhs: Typed, rhs: Typed, span: Span) -> Option<Typed> {
        let op = match op {
            ast::CompareOp::Eq => BinaryOp::Eq,
            ast::CompareOp::Ne => BinaryOp::Ne,
            ast::CompareOp::Lt => BinaryOp::Lt,
            ast::CompareOp::Le => BinaryOp::Le,
            ast::CompareOp::Gt => BinaryOp::Gt,
            ast::CompareOp::Ge => BinaryOp::Ge,
        };
        let side = |side: &Typed| match &side.affine {
            Some(affine) => Some(Extreme::Leaf(affine.clone())),
            None => Extreme::of(&side.expr),
        };
        let cond = match (side(&lhs), side(&rhs)) {
            (Some(a), Some(b)) => extreme::comparison(op, &a, &b),
            _ => None,
        };
        let (lhs, rhs, _) = self.join(computed(lhs), computed(rhs), false, span)?;
        if lhs.ty == ScalarType::Bool && !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            self.error("E0202", span, format!("`{}` does not apply to bool", op.name()));
            return None;
        }
        let expr = Expr { kind: ExprKind::Binary(op, Box::new(lhs), Box::new(rhs)), ty: ScalarType::Bool, span };
        Some(Typed { cond, ..Typed::strong(expr) })
    }

    fn lower_if(&mut self, cond: &ast::Expr, then: &ast::Expr, otherwise: &ast::Expr, span: Span) -> Option<Typed> {
        let (cond, then, otherwise) = (self.lower_expr(cond), self.lower_expr(then), self.lower_expr(otherwise));
        let (cond, then, otherwise) = (cond?, then?, otherwise?);
        let affine = cond.cond.clone();
        let cond = self.coerce(cond, ScalarType::Bool)?;
        let (then, otherwise, weak) = self.join(then, otherwise, false, span)?;
        let ty = then.ty;
        let kind =
            ExprKind::Select { cond: Box::new(cond), affine, then: Box::new(then), otherwise: Box::new(otherwise) };
        Some(Typed { expr: Expr { kind, ty, span }, weak, affine: None, cond: None })
    }

    fn lower_reduce(
        &mut self,
        scan: bool,
        op: ast::ReduceOp,
        indices: &[ast::ReduceIndex],
        guard: Option<&ast::Expr>,
        body: &ast::Expr,
        span: Span,
    ) -> Option<Typed> {
        if indices.len() > MAX_DIMENSIONS {
            self.error("E0308", span, format!("a reduction has at most {MAX_DIMENSIONS} indices"));
            return None;
        }
        self.scope.enter();
        let mut bounds: Option<Vec<Bound>> = Some(Vec::new());
        let mut limits = Cond::TRUE;
        for (position, index) in indices.iter().enumerate() {
            if self.is_counted(index.range.as_ref(), None) {
                let parts = Counted { scan, op, indices: &indices[position..], guard, body, span };
                let reduction = self.lower_counted(parts, bounds, limits);
                self.scope.leave();
                return reduction;
            }
            let uses = self.uses(body, &index.name.name);
            let outer = matches!(self.scope.lookup(&index.name.name), Some((Meaning::Iter(_), _)));
            let iter = self.declare_iter(&index.name);
            if outer {
                self.teach_outer_index(op, indices, &index.name);
            }
            let bound = self.bound(iter, &index.name, index.range.as_ref(), &uses, guard, true);
            match (bound, &mut bounds) {
                (Some((bound, narrower)), Some(bounds)) => {
                    self.origins.push(Origin { bound: bound.clone(), ordered: false });
                    bounds.push(bound);
                    limits = limits.and(narrower);
                }
                _ => bounds = None,
            }
        }
        let errors = self.diagnostics.len();
        let lowered = guard.map_or(Some(Cond::TRUE), |guard| self.lower_cond(guard, "a guard"));
        if let (None, Some(written)) = (&lowered, guard) {
            self.teach_value_of_data(op, indices, written, errors);
            self.teach_range_of_data(op, indices, written, errors);
        }
        let guard = lowered;
        let body = self.lower_expr(body);
        self.scope.leave();
        let reduction = self.reduction(op, bounds?, limits.and(guard?), body?, span)?;
        if scan { self.lower_scan(reduction, span) } else { Some(reduction) }
    }

    /// For an index of a reduction that is bound further out: most often the outer one is meant.
    fn teach_outer_index(&mut self, op: ast::ReduceOp, indices: &[ast::ReduceIndex], name: &ast::Ident) {
        let others: Vec<&str> =
            indices.iter().map(|index| index.name.name.as_str()).filter(|other| *other != name.name).collect();
        let Some(diagnostic) = self.diagnostics.last_mut().filter(|last| last.code == "E0304") else { return };
        let (name, op) = (&name.name, op.name());
        diagnostic.helps = vec![format!("choose another name if `{op}` is over all values of `{name}`")];
        if !others.is_empty() {
            let others = others.join(", ");
            diagnostic
                .helps
                .insert(0, format!("if there is one `{op}` for each outer `{name}`, leave it out: `{op}[{others}]`"));
        }
    }

    pub(super) fn reduction(
        &mut self,
        op: ast::ReduceOp,
        bounds: Vec<Bound>,
        guard: Cond,
        body: Typed,
        span: Span,
    ) -> Option<Typed> {
        let op = match op {
            ast::ReduceOp::Sum => ReduceOp::Sum,
            ast::ReduceOp::Prod => ReduceOp::Prod,
            ast::ReduceOp::Min => ReduceOp::Min,
            ast::ReduceOp::Max => ReduceOp::Max,
            ast::ReduceOp::Any => ReduceOp::Any,
            ast::ReduceOp::All => ReduceOp::All,
            ast::ReduceOp::ArgMin => ReduceOp::ArgMin,
            ast::ReduceOp::ArgMax => ReduceOp::ArgMax,
        };
        let place = op.extreme().is_some();
        if place && bounds.len() != 1 {
            self.report(one_index(op, span));
            return None;
        }
        let body = computed(body);
        let weak = body.weak;
        let body_span = body.expr.span;
        let body = match (op, weak) {
            (ReduceOp::Any | ReduceOp::All, _) => self.coerce(body, ScalarType::Bool)?,
            (ReduceOp::ArgMin | ReduceOp::ArgMax, _) => self.settle(body)?,
            (_, Weak::Int | Weak::Float) => body.expr,
            (ReduceOp::Sum | ReduceOp::Prod, Weak::No) => {
                let ty = widened(body.expr.ty);
                self.coerce(body, ty)?
            }
            (ReduceOp::Min | ReduceOp::Max | ReduceOp::Last | ReduceOp::Once, Weak::No) => body.expr,
        };
        if body.ty == ScalarType::Bool && !matches!(op, ReduceOp::Any | ReduceOp::All) {
            let mut diagnostic =
                Diagnostic::error("E0202", body_span, format!("`{}` does not apply to bool", op.name()));
            if op == ReduceOp::Sum {
                diagnostic = diagnostic.help("to count how often it holds, convert it: `sum[…] i64(…)`");
            }
            self.report(diagnostic);
            return None;
        }
        let (ty, weak) = if place { (ScalarType::I64, Weak::No) } else { (body.ty, weak) };
        let expr = Expr { kind: ExprKind::Reduce { op, bounds, guard, body: Box::new(body) }, ty, span };
        Some(Typed { expr, weak, affine: None, cond: None })
    }
}

fn one_index(op: ReduceOp, span: Span) -> Diagnostic {
    let name = op.name();
    Diagnostic::error("E0311", span, format!("`{name}` gives one index, and there are several"))
        .here("over more than one index")
        .note("its value is a number, so it cannot say where in two dimensions it was found")
        .help(format!("find it in two steps: the extreme of each row, `let best[i] = …`, then `{name}[i] best[i]`"))
}

const AFFINE: &str =
    "affine expressions are made of parameters, indices, integers, `+`, `-`, and `*`, `/`, `%` by a constant";

/// Whether evaluating an expression may be a fault, or out of bounds where a condition in front of it `protects` it.
pub(super) fn may_fail(expr: &Expr, protects: bool) -> bool {
    let mut fails = false;
    expr.visit(&mut |part| {
        fails |= match &part.kind {
            ExprKind::Load { index, .. } => protects && !index.is_empty(),
            // A fold may find its range to be backwards, and takes time.
            ExprKind::Gather { .. } | ExprKind::Fold { .. } => true,
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                divisor.ty.is_int() && !matches!(divisor.kind, ExprKind::Const(_))
            }
            _ => false,
        };
    });
    fails
}

/// Whether the value of an expression is more than a matter of parameters and indices.
pub(super) fn depends_on_data(expr: &Expr) -> bool {
    let mut depends = false;
    expr.visit(&mut |part| {
        depends |= matches!(
            part.kind,
            ExprKind::Load { .. } | ExprKind::Gather { .. } | ExprKind::Scalar(_) | ExprKind::Counter(_)
        );
    });
    depends
}

/// Functions of a float that give a truth value.
pub(super) const TESTS: [&str; 2] = ["is_nan", "is_inf"];

/// Whether a call of this name is a cast or a function of the language.
pub(super) fn is_built_in(name: &str) -> bool {
    ScalarType::from_name(name).is_some()
        || TESTS.contains(&name)
        || UnaryOp::FUNCTIONS.into_iter().any(|op| op.name() == name)
        || BinaryOp::FUNCTIONS.into_iter().any(|op| op.name() == name)
}

/// An integer that fits `i64` takes the type of its context; a larger one can only be a `u64`.
fn int_literal(value: i128, span: Span) -> Typed {
    match i64::try_from(value) {
        Ok(value) => {
            let expr = Expr { kind: ExprKind::Const(Value::I64(value)), ty: ScalarType::I64, span };
            Typed { expr, weak: Weak::Int, affine: Some(Affine::constant(value)), cond: None }
        }
        Err(_) => {
            let kind = ExprKind::Const(Value::U64(value as u64));
            Typed::strong(Expr { kind, ty: ScalarType::U64, span })
        }
    }
}

fn float_literal(value: f64, span: Span) -> Typed {
    let expr = Expr { kind: ExprKind::Const(Value::F64(value)), ty: ScalarType::F64, span };
    Typed { expr, weak: Weak::Float, affine: None, cond: None }
}
