//! Building the syntax tree from what pest matched.
//!
//! In: the pairs of one `function`.  Out: an [`ast::Function`](Function), or the limit that it breaks.
//! Spans run from the first to the last token; pest's own may end in white space where a rule ends in an option.
//! Every expression is built together with its depth, so that no tree deeper than the limit ever exists.

use std::sync::LazyLock;

use diag::{Diagnostic, Span};
use pest::iterators::{Pair, Pairs};
use pest::pratt_parser::{Assoc, Op, PrattParser};

use crate::ast::{
    Arg, Arm, AssignOp, BinaryOp, CompareOp, Constant, ConstantValue, Expr, ExprKind, Function, Ident, Range,
    ReduceIndex, ReduceOp, Stmt, StmtKind, Target, TargetIndex, Type, UnaryOp, Use,
};
use crate::limits::{MAX_NESTING, too_deep};
use crate::parse::Rule;
use crate::script::step;
use crate::verb::is_dyad;

pub(crate) type Built<T> = Result<T, Diagnostic>;

/// The operators from weakest to strongest; `level` has the same order.
static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    PrattParser::new()
        .op(Op::infix(Rule::kw_or, Assoc::Left) | Op::infix(Rule::dyad_or, Assoc::Left))
        .op(Op::infix(Rule::kw_and, Assoc::Left) | Op::infix(Rule::dyad_and, Assoc::Left))
        .op(Op::prefix(Rule::kw_not))
        .op(Op::infix(Rule::compare, Assoc::Left) | Op::infix(Rule::dyad_compare, Assoc::Left))
        .op(Op::infix(Rule::bit_or, Assoc::Left))
        .op(Op::infix(Rule::bit_xor, Assoc::Left))
        .op(Op::infix(Rule::bit_and, Assoc::Left))
        .op(Op::infix(Rule::shift, Assoc::Left))
        .op(Op::infix(Rule::additive, Assoc::Left) | Op::infix(Rule::dyad_additive, Assoc::Left))
        .op(Op::prefix(Rule::reduction) | Op::prefix(Rule::monad))
        .op(Op::infix(Rule::multiplicative, Assoc::Left) | Op::infix(Rule::dyad_multiplicative, Assoc::Left))
        .op(Op::prefix(Rule::negate) | Op::prefix(Rule::flip))
});

fn level(rule: Rule) -> Option<(u8, bool)> {
    let (level, prefix) = match rule {
        Rule::kw_or | Rule::dyad_or => (1, false),
        Rule::kw_and | Rule::dyad_and => (2, false),
        Rule::kw_not => (3, true),
        Rule::compare | Rule::dyad_compare => (4, false),
        Rule::bit_or => (5, false),
        Rule::bit_xor => (6, false),
        Rule::bit_and => (7, false),
        Rule::shift => (8, false),
        Rule::additive | Rule::dyad_additive => (9, false),
        Rule::reduction | Rule::monad => (10, true),
        Rule::multiplicative | Rule::dyad_multiplicative => (11, false),
        Rule::negate | Rule::flip => (12, true),
        _ => return None,
    };
    Some((level, prefix))
}

pub(crate) fn function(pair: Pair<'_, Rule>, base: usize) -> Built<Function> {
    Builder { base }.function(pair)
}

pub(crate) fn used(pair: Pair<'_, Rule>, base: usize) -> Built<Use> {
    let builder = Builder { base };
    let span = builder.span(&pair);
    let path = builder.parts(pair).next()?;
    let span = Span { end: builder.span(&path).end, ..span };
    Ok(Use { path: path.as_str().trim_matches('"').to_owned(), span })
}

pub(crate) fn constant(pair: Pair<'_, Rule>, base: usize) -> Built<Constant> {
    Builder { base }.constant(pair)
}

/// An expression and the number of nodes on its longest path.
pub(crate) struct Measured {
    pub(crate) expr: Expr,
    pub(crate) depth: usize,
}

/// `base` is the offset in the source at which the text given to pest begins.
#[derive(Clone, Copy)]
pub(crate) struct Builder {
    pub(crate) base: usize,
}

/// The children of a pair, without punctuation and keywords that only guide the parse.
pub(crate) struct Parts<'i> {
    pairs: Pairs<'i, Rule>,
    parent: Span,
}

impl<'i> Parts<'i> {
    pub(crate) fn optional(&mut self, rule: Rule) -> Option<Pair<'i, Rule>> {
        self.skip_punctuation();
        if self.pairs.peek()?.as_rule() == rule { self.pairs.next() } else { None }
    }

    pub(crate) fn next(&mut self) -> Built<Pair<'i, Rule>> {
        self.skip_punctuation();
        self.pairs.next().ok_or_else(|| mismatch(self.parent))
    }

    fn skip_punctuation(&mut self) {
        while self.pairs.peek().is_some_and(|pair| is_punctuation(pair.as_rule())) {
            self.pairs.next();
        }
    }

    /// All that are left, each mapped.
    pub(crate) fn each<T>(mut self, mut map: impl FnMut(Pair<'i, Rule>) -> Built<T>) -> Built<Vec<T>> {
        let mut all = Vec::new();
        loop {
            self.skip_punctuation();
            match self.pairs.next() {
                Some(pair) => all.push(map(pair)?),
                None => return Ok(all),
            }
        }
    }
}

fn is_punctuation(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::kw_fn
            | Rule::kw_const
            | Rule::kw_use
            | Rule::kw_schedule
            | Rule::kw_as
            | Rule::kw_at
            | Rule::kw_fill
            | Rule::layout_word
            | Rule::kw_where
            | Rule::kw_let
            | Rule::kw_for
            | Rule::kw_in
            | Rule::kw_by
            | Rule::kw_while
            | Rule::kw_if
            | Rule::kw_then
            | Rule::kw_else
            | Rule::kw_reduce
            | Rule::kw_oblique
            | Rule::kw_rank
            | Rule::lparen
            | Rule::rparen
            | Rule::lbracket
            | Rule::rbracket
            | Rule::lbrace
            | Rule::rbrace
            | Rule::less
            | Rule::greater
            | Rule::comma
            | Rule::semicolon
            | Rule::arrow
            | Rule::double_arrow
            | Rule::colon
            | Rule::equals
            | Rule::bar
            | Rule::dotdot
    )
}

pub(crate) fn mismatch(span: Span) -> Diagnostic {
    Diagnostic::error("E0001", span, "the grammar and the tree builder disagree here")
        .note("this is a bug in Farkas, not in the program")
}

fn unique_update(span: Span) -> Diagnostic {
    Diagnostic::error("E0001", span, "`unique` goes with `=`")
        .here("is combined with what is there")
        .help("leave `unique` out: instances that combine their values may meet in a cell")
}

impl Builder {
    pub(crate) fn span(self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        Span::new(self.base + span.start(), self.base + span.end())
    }

    pub(crate) fn parts<'i>(self, pair: Pair<'i, Rule>) -> Parts<'i> {
        let parent = self.span(&pair);
        Parts { pairs: pair.into_inner(), parent }
    }

    pub(crate) fn ident(self, pair: &Pair<'_, Rule>) -> Ident {
        Ident { name: pair.as_str().to_owned(), span: self.span(pair) }
    }

    fn function(self, pair: Pair<'_, Rule>) -> Built<Function> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let name = self.ident(&parts.next()?);
        let mut params = Vec::new();
        let mut types = Vec::new();
        if let Some(list) = parts.optional(Rule::params) {
            for (name, kind) in self.parts(list).each(|param| self.param(param))? {
                match kind {
                    Some(kind) => types.push((name, kind)),
                    None => params.push(name),
                }
            }
        }
        let args = self.parts(parts.next()?).each(|arg| self.arg(arg))?;
        let outs = match parts.optional(Rule::results) {
            Some(results) => self.parts(results).each(|out| self.arg(out))?,
            None => Vec::new(),
        };
        let context = match parts.optional(Rule::context) {
            Some(context) => self.parts(context).each(|condition| self.expr(condition))?,
            None => Vec::new(),
        };
        let mut inside = self.parts(parts.next()?);
        let mut layouts = Vec::new();
        while let Some(line) = inside.optional(Rule::layout_line) {
            layouts.push(step(self, self.parts(line).next()?)?);
        }
        let body = inside.each(|stmt| self.stmt(stmt))?;
        Ok(Function { name, params, types, args, outs, context, layouts, body, span })
    }

    /// A size, or a type with what it may be.
    fn param(self, pair: Pair<'_, Rule>) -> Built<(Ident, Option<Ident>)> {
        let mut parts = self.parts(pair);
        let name = self.ident(&parts.next()?);
        Ok((name, parts.optional(Rule::ident).map(|kind| self.ident(&kind))))
    }

    fn constant(self, pair: Pair<'_, Rule>) -> Built<Constant> {
        let start = self.span(&pair);
        let mut parts = self.parts(pair);
        let name = self.ident(&parts.next()?);
        let ty = match parts.optional(Rule::ty) {
            Some(ty) => Some(self.ty(ty)?),
            None => None,
        };
        let value = self.constant_value(parts.next()?)?;
        let span = Span { end: value.span().end, ..start };
        Ok(Constant { name, ty, value, span })
    }

    fn constant_value(self, pair: Pair<'_, Rule>) -> Built<ConstantValue> {
        if pair.as_rule() != Rule::table {
            return Ok(ConstantValue::One(self.expr(pair)?));
        }
        let span = self.span(&pair);
        Ok(ConstantValue::Table(self.parts(pair).each(|entry| self.constant_value(entry))?, span))
    }

    fn arg(self, pair: Pair<'_, Rule>) -> Built<Arg> {
        let start = self.span(&pair);
        let mut parts = self.parts(pair);
        let inout = parts.optional(Rule::kw_inout).is_some();
        let name = self.ident(&parts.next()?);
        let ty = self.ty(parts.next()?)?;
        let span = Span { end: ty.span.end, ..start };
        Ok(Arg { name, inout, ty, span })
    }

    fn ty(self, pair: Pair<'_, Rule>) -> Built<Type> {
        let mut parts = self.parts(pair);
        let scalar = self.ident(&parts.next()?);
        match parts.optional(Rule::shape) {
            Some(shape) => {
                let span = scalar.span.to(self.span(&shape));
                Ok(Type { scalar, shape: self.parts(shape).each(|extent| self.expr(extent))?, span })
            }
            None => Ok(Type { span: scalar.span, scalar, shape: Vec::new() }),
        }
    }

    fn body(self, pair: Pair<'_, Rule>) -> Built<Vec<Stmt>> {
        self.parts(pair).each(|stmt| self.stmt(stmt))
    }

    fn stmt(self, pair: Pair<'_, Rule>) -> Built<Stmt> {
        let start = self.span(&pair);
        let mut parts = self.parts(pair);
        let label = match parts.optional(Rule::label) {
            Some(label) => Some(self.ident(&self.parts(label).next()?)),
            None => None,
        };
        let inner = parts.next()?;
        let (kind, end) = match inner.as_rule() {
            Rule::for_loop => self.for_loop(inner)?,
            Rule::if_stmt => self.if_stmt(inner)?,
            Rule::definition => self.definition(inner)?,
            Rule::call_stmt => self.call_stmt(Vec::new(), self.parts(inner))?,
            _ => self.assignment(inner)?,
        };
        Ok(Stmt { label, kind, span: Span { end, ..start } })
    }

    /// The statement and the offset of its end, as in the two functions below.
    fn for_loop(self, pair: Pair<'_, Rule>) -> Built<(StmtKind, u32)> {
        let end = self.span(&pair).end;
        let mut parts = self.parts(pair);
        let index = self.ident(&parts.next()?);
        let (range, _) = self.range(parts.next()?)?;
        let step = match parts.optional(Rule::step) {
            Some(step) => Some(self.expr(self.parts(step).next()?)?),
            None => None,
        };
        let rev = parts.optional(Rule::kw_rev).is_some();
        let until = match parts.optional(Rule::until) {
            Some(until) => Some(self.expr(self.parts(until).next()?)?),
            None => None,
        };
        let body = self.body(parts.next()?)?;
        Ok((StmtKind::For { index, range, step, rev, until, body }, end))
    }

    fn if_stmt(self, pair: Pair<'_, Rule>) -> Built<(StmtKind, u32)> {
        let end = self.span(&pair).end;
        let arms = self.parts(pair).each(|arm| {
            let span = self.span(&arm);
            let conditional = arm.as_rule() == Rule::if_arm;
            let mut parts = self.parts(arm);
            let cond = if conditional { Some(self.expr(parts.next()?)?) } else { None };
            Ok(Arm { cond, body: self.body(parts.next()?)?, span })
        })?;
        Ok((StmtKind::If { arms }, end))
    }

    fn definition(self, pair: Pair<'_, Rule>) -> Built<(StmtKind, u32)> {
        let mut parts = self.parts(pair);
        if let Some(names) = parts.optional(Rule::let_names) {
            let targets = self.parts(names).each(|name| Ok(self.ident(&name)))?;
            return self.call_stmt(targets, parts);
        }
        let target = self.target(parts.next()?)?;
        let ty = match parts.optional(Rule::ty) {
            Some(ty) => Some(self.ty(ty)?),
            None => None,
        };
        let value = match parts.optional(Rule::expr) {
            Some(value) => Some(self.expr(value)?),
            None => None,
        };
        let end = value.as_ref().map(|value| value.span).or(ty.as_ref().map(|ty| ty.span)).unwrap_or(target.span).end;
        Ok((StmtKind::Let { target, ty, value }, end))
    }

    fn call_stmt(self, targets: Vec<Ident>, mut parts: Parts<'_>) -> Built<(StmtKind, u32)> {
        let callee = self.ident(&parts.next()?);
        let call = parts.next()?;
        let end = self.span(&call).end;
        let args = self.parts(call).each(|arg| self.expr(arg))?;
        Ok((StmtKind::Call { targets, callee, args }, end))
    }

    fn assignment(self, pair: Pair<'_, Rule>) -> Built<(StmtKind, u32)> {
        let mut parts = self.parts(pair);
        let unique = parts.optional(Rule::kw_unique);
        let target = self.target(parts.next()?)?;
        let op = match parts.next()?.as_str() {
            "=" if unique.is_some() => AssignOp::Unique,
            _ if unique.is_some() => return Err(unique_update(target.span)),
            "=" => AssignOp::Set,
            "+=" => AssignOp::Add,
            "-=" => AssignOp::Sub,
            "*=" => AssignOp::Mul,
            "/=" => AssignOp::Div,
            "%=" => AssignOp::Rem,
            "&=" => AssignOp::BitAnd,
            "|=" => AssignOp::BitOr,
            "^=" => AssignOp::BitXor,
            "<<=" => AssignOp::Shl,
            ">>=" => AssignOp::Shr,
            "min=" => AssignOp::Min,
            "max=" => AssignOp::Max,
            _ => return Err(mismatch(target.span)),
        };
        let value = self.expr(parts.next()?)?;
        let end = value.span.end;
        Ok((StmtKind::Assign { target, op, value }, end))
    }

    fn target(self, pair: Pair<'_, Rule>) -> Built<Target> {
        let mut parts = self.parts(pair);
        let name = self.ident(&parts.next()?);
        let Some(list) = parts.optional(Rule::target_indices) else {
            return Ok(Target { span: name.span, name, indices: Vec::new(), guard: None });
        };
        let span = name.span.to(self.span(&list));
        let mut parts = self.parts(list);
        let mut indices = Vec::new();
        while let Some(index) = parts.optional(Rule::target_index) {
            let mut parts = self.parts(index);
            let expr = self.expr(parts.next()?)?;
            let range = match parts.optional(Rule::range) {
                Some(range) => Some(self.range(range)?.0),
                None => None,
            };
            indices.push(TargetIndex { expr, range });
        }
        let guard = self.guard(&mut parts)?.map(|guard| guard.expr);
        Ok(Target { name, indices, guard, span })
    }

    fn guard(self, parts: &mut Parts<'_>) -> Built<Option<Measured>> {
        match parts.optional(Rule::guard) {
            Some(guard) => Ok(Some(self.measured(self.parts(guard).next()?)?)),
            None => Ok(None),
        }
    }

    /// The range and the depth of its deeper bound.
    fn range(self, pair: Pair<'_, Rule>) -> Built<(Range, usize)> {
        let mut parts = self.parts(pair);
        let lo = self.measured(parts.next()?)?;
        let hi = self.measured(parts.next()?)?;
        let span = lo.expr.span.to(hi.expr.span);
        Ok((Range { lo: lo.expr, hi: hi.expr, span }, lo.depth.max(hi.depth)))
    }

    pub(crate) fn expr(self, pair: Pair<'_, Rule>) -> Built<Expr> {
        Ok(self.measured(pair)?.expr)
    }

    pub(crate) fn measured(self, pair: Pair<'_, Rule>) -> Built<Measured> {
        self.check_operators(pair.clone().into_inner())?;
        PRECEDENCE
            .map_primary(|operand| self.operand(operand))
            .map_prefix(|op, operand| self.prefix(op, operand?))
            .map_infix(|lhs, op, rhs| self.infix(lhs?, &op, rhs?))
            .parse(pair.into_inner())
    }

    /// Refuses operators that pile up (`- - - …`, `a * sum[k] b * sum[k] …`) before the precedence parser, which
    /// recurses once for each that still waits for its right operand.
    fn check_operators(self, pairs: Pairs<'_, Rule>) -> Built<()> {
        let mut waiting: Vec<u8> = Vec::new();
        for pair in pairs {
            let Some((level, prefix)) = level(pair.as_rule()) else { continue };
            while !prefix && waiting.last().is_some_and(|&top| top >= level) {
                waiting.pop();
            }
            waiting.push(level);
            if waiting.len() > MAX_NESTING {
                return Err(too_deep(self.span(&pair), "operators are"));
            }
        }
        Ok(())
    }

    pub(crate) fn node(self, kind: ExprKind, span: Span, depth_below: usize) -> Built<Measured> {
        if depth_below >= MAX_NESTING {
            return Err(too_deep(span, "the expression is"));
        }
        Ok(Measured { expr: Expr { kind, span }, depth: depth_below + 1 })
    }

    fn operand(self, pair: Pair<'_, Rule>) -> Built<Measured> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::int => self.node(int(&pair, span)?, span, 0),
            Rule::float => self.node(float(&pair, span)?, span, 0),
            Rule::boolean => self.node(ExprKind::Bool(pair.as_str() == "true"), span, 0),
            Rule::paren => {
                let inner = self.measured(self.parts(pair).next()?)?;
                self.node(ExprKind::Paren(Box::new(inner.expr)), span, inner.depth)
            }
            Rule::conditional => {
                let mut parts = self.parts(pair);
                let cond = self.measured(parts.next()?)?;
                let then = self.measured(parts.next()?)?;
                let otherwise = self.measured(parts.next()?)?;
                let span = Span { end: otherwise.expr.span.end, ..span };
                let depth = cond.depth.max(then.depth).max(otherwise.depth);
                let kind = ExprKind::If {
                    cond: Box::new(cond.expr),
                    then: Box::new(then.expr),
                    otherwise: Box::new(otherwise.expr),
                };
                self.node(kind, span, depth)
            }
            _ => self.access(pair),
        }
    }

    fn access(self, pair: Pair<'_, Rule>) -> Built<Measured> {
        let mut parts = self.parts(pair);
        let name = self.ident(&parts.next()?);
        let mut depth = 0;
        let mut item = |pair| {
            let item = self.measured(pair)?;
            depth = depth.max(item.depth);
            Ok(item.expr)
        };
        if let Some(call) = parts.optional(Rule::call) {
            let span = name.span.to(self.span(&call));
            let args = self.parts(call).each(&mut item)?;
            self.node(ExprKind::Call { callee: name, args }, span, depth)
        } else if let Some(subscripts) = parts.optional(Rule::subscripts) {
            let span = name.span.to(self.span(&subscripts));
            let indices = self.parts(subscripts).each(&mut item)?;
            self.node(ExprKind::Index { base: name, indices }, span, depth)
        } else {
            self.node(ExprKind::Name(name.name), name.span, 0)
        }
    }

    fn prefix(self, op: Pair<'_, Rule>, operand: Measured) -> Built<Measured> {
        let span = self.span(&op).to(operand.expr.span);
        match op.as_rule() {
            Rule::reduction => self.reduction(op, span, operand),
            Rule::monad => self.apply(op, None, operand, span),
            rule => {
                let op = match rule {
                    Rule::kw_not => UnaryOp::Not,
                    Rule::flip => UnaryOp::BitNot,
                    _ => UnaryOp::Neg,
                };
                self.node(ExprKind::Unary { op, operand: Box::new(operand.expr) }, span, operand.depth)
            }
        }
    }

    fn reduction(self, head: Pair<'_, Rule>, span: Span, body: Measured) -> Built<Measured> {
        let mut parts = self.parts(head);
        let scan = parts.optional(Rule::kw_scan).is_some();
        let op = match parts.next()?.as_str() {
            "sum" => ReduceOp::Sum,
            "prod" => ReduceOp::Prod,
            "min" => ReduceOp::Min,
            "max" => ReduceOp::Max,
            "any" => ReduceOp::Any,
            "all" => ReduceOp::All,
            "argmin" => ReduceOp::ArgMin,
            "argmax" => ReduceOp::ArgMax,
            _ => return Err(mismatch(span)),
        };
        let mut depth = body.depth;
        let mut indices = Vec::new();
        while let Some(index) = parts.optional(Rule::reduce_index) {
            let mut parts = self.parts(index);
            let name = self.ident(&parts.next()?);
            let range = match parts.optional(Rule::range) {
                Some(range) => {
                    let (range, below) = self.range(range)?;
                    depth = depth.max(below);
                    Some(range)
                }
                None => None,
            };
            indices.push(ReduceIndex { name, range });
        }
        let guard = self.guard(&mut parts)?.map(|guard| {
            depth = depth.max(guard.depth);
            Box::new(guard.expr)
        });
        self.node(ExprKind::Reduce { scan, op, indices, guard, body: Box::new(body.expr) }, span, depth)
    }

    fn infix(self, lhs: Measured, op: &Pair<'_, Rule>, rhs: Measured) -> Built<Measured> {
        let span = lhs.expr.span.to(rhs.expr.span);
        if is_dyad(op.as_rule()) {
            return self.apply(op.clone(), Some(lhs), rhs, span);
        }
        let op = match op.as_str() {
            "or" => BinaryOp::Or,
            "and" => BinaryOp::And,
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "/" => BinaryOp::Div,
            "%" => BinaryOp::Rem,
            "&" => BinaryOp::BitAnd,
            "|" => BinaryOp::BitOr,
            "^" => BinaryOp::BitXor,
            "<<" => BinaryOp::Shl,
            ">>" => BinaryOp::Shr,
            _ => return self.comparison(lhs, op, rhs, span),
        };
        let depth = lhs.depth.max(rhs.depth);
        self.node(ExprKind::Binary { op, lhs: Box::new(lhs.expr), rhs: Box::new(rhs.expr) }, span, depth)
    }

    /// A comparison whose left side is a bare comparison continues the chain; parentheses break it.
    fn comparison(self, lhs: Measured, op: &Pair<'_, Rule>, rhs: Measured, span: Span) -> Built<Measured> {
        let op = match op.as_str() {
            "=" | "==" => CompareOp::Eq,
            "!=" => CompareOp::Ne,
            "<" => CompareOp::Lt,
            "<=" => CompareOp::Le,
            ">" => CompareOp::Gt,
            ">=" => CompareOp::Ge,
            _ => return Err(mismatch(span)),
        };
        match lhs.expr.kind {
            ExprKind::Compare { first, mut rest } => {
                rest.push((op, rhs.expr));
                // A chain is one node here, but the conjunction that it means is as deep as it is long.
                self.node(ExprKind::Compare { first, rest }, span, lhs.depth.max(rhs.depth))
            }
            kind => {
                let first = Box::new(Expr { kind, span: lhs.expr.span });
                let kind = ExprKind::Compare { first, rest: vec![(op, rhs.expr)] };
                self.node(kind, span, lhs.depth.max(rhs.depth))
            }
        }
    }
}

fn int(pair: &Pair<'_, Rule>, span: Span) -> Built<ExprKind> {
    let digits = pair.as_str().replace('_', "");
    let parsed = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(hexadecimal), _) => u64::from_str_radix(hexadecimal, 16),
        (_, Some(binary)) => u64::from_str_radix(binary, 2),
        _ => digits.parse(),
    };
    parsed.map(|value| ExprKind::Int(value.into())).map_err(|_| {
        Diagnostic::error("E0004", span, "the integer is too large")
            .here(format!("at most {} fits", u64::MAX))
            .help("write a float, such as `1e30`, if that is what is meant")
    })
}

fn float(pair: &Pair<'_, Rule>, span: Span) -> Built<ExprKind> {
    let digits = pair.as_str().replace('_', "");
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(ExprKind::Float(value)),
        _ => Err(Diagnostic::error("E0004", span, "the number is too large for `f64`")
            .here(format!("at most about {:.1e} fits", f64::MAX))
            .help("write `inf` for infinity")),
    }
}
