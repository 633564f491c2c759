//! The formatter: a program in canonical layout, with its comments.
//!
//! In: a source.  Out: text that parses to the same tree, or the syntax errors.
//! Lays out tokens by the tree's structure; the text of names and numbers is taken from the source. Comments stay
//! between the tokens where they were written. Equality is `=` in guards and `where`, and `==` in values.
//! Not here: fitting lines to the width (`doc`).

use std::iter::Peekable;
use std::vec::IntoIter;

use diag::{Diagnostic, Source, Span};

use crate::ast::{
    Arg, AssignOp, BinaryOp, CompareOp, Constant, ConstantValue, Expr, ExprKind, Function, Ident, Range, ReduceIndex,
    Stmt, StmtKind, Target, TargetIndex, Type, UnaryOp, Use, Verb, VerbKind,
};
use crate::comments::{Comment, blank_line_before, comments};
use crate::doc::{Doc, group, layout, nest};
use crate::print::{binary_symbol, compare_symbol};
use crate::script::{Schedule, Step, schedule_head, step_to_string};
use crate::tokens::next_token;
use crate::verb::fold_symbol;

/// Formats a whole source. Formatting twice gives the same text as formatting once.
pub fn format(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let file = crate::parse(source)?;
    let text = source.text();
    let mut formatter = Formatter { text, cursor: 0, comments: comments(text).into_iter().peekable(), in_guard: false };
    let mut out = Vec::new();
    let mut items: Vec<Item<'_>> = file.functions.iter().map(Item::Function).collect();
    items.extend(file.constants.iter().map(Item::Constant));
    items.extend(file.schedules.iter().map(Item::Schedule));
    items.extend(file.uses.iter().map(Item::Use));
    items.sort_by_key(Item::start);
    let mut before: Option<&Item<'_>> = None;
    for item in &items {
        formatter.skip(";");
        let start = item.start();
        // Constants may stand together, and so may files that are used; everything else is set apart.
        let apart = before.is_some_and(|before| {
            let together =
                matches!((before, item), (Item::Constant(_), Item::Constant(_)) | (Item::Use(_), Item::Use(_)));
            !together || blank_line_before(text, formatter.start_with_comments(start))
        });
        out.push(Doc::Hard { blank: apart });
        let has_comments = formatter.comments_between_items(&mut out, start, true);
        out.push(Doc::Hard { blank: if has_comments { blank_line_before(text, start) } else { apart } });
        match item {
            Item::Function(function) => formatter.function(&mut out, function),
            Item::Constant(constant) => formatter.constant(&mut out, constant),
            Item::Schedule(schedule) => formatter.schedule(&mut out, schedule),
            Item::Use(used) => formatter.used(&mut out, used),
        }
        before = Some(item);
    }
    formatter.skip(";");
    out.push(Doc::Hard { blank: !items.is_empty() });
    formatter.comments_between_items(&mut out, text.len(), true);
    Ok(layout(&out))
}

enum Item<'t> {
    Function(&'t Function),
    Constant(&'t Constant),
    Schedule(&'t Schedule),
    Use(&'t Use),
}

impl Item<'_> {
    fn start(&self) -> usize {
        match self {
            Item::Function(function) => function.span.start as usize,
            Item::Constant(constant) => constant.span.start as usize,
            Item::Schedule(schedule) => schedule.span.start as usize,
            Item::Use(used) => used.span.start as usize,
        }
    }
}

/// What stands in a function.
enum Inside<'a> {
    Layout(&'a Step),
    Stmt(&'a Stmt),
}

struct Formatter<'a> {
    text: &'a str,
    /// The end of the last token that was taken from the source.
    cursor: usize,
    comments: Peekable<IntoIter<Comment<'a>>>,
    in_guard: bool,
}

/// What stands behind the items of a list, before its closing bracket.
type Guard<'t> = Option<&'t Expr>;

impl<'a> Formatter<'a> {
    // ---- Tokens and comments ----

    fn next_offset(&self) -> usize {
        next_token(self.text, self.cursor).map_or(self.text.len(), |token| token.start)
    }

    /// Writes the next token of the source, which is `text`, behind the comments in front of it.
    fn token(&mut self, out: &mut Vec<Doc>, text: &str) {
        let start = self.next_offset();
        self.comments_before(out, start);
        out.push(Doc::Text(text.to_owned()));
        self.cursor = start + text.len();
    }

    fn spaced_token(&mut self, out: &mut Vec<Doc>, text: &str) {
        out.push(Doc::Space);
        self.token(out, text);
        out.push(Doc::Space);
    }

    fn ident(&mut self, out: &mut Vec<Doc>, ident: &Ident) {
        self.token(out, &ident.name);
    }

    /// Passes over tokens that the canonical layout leaves out.
    fn skip(&mut self, text: &str) {
        while let Some(token) = next_token(self.text, self.cursor).filter(|token| token.text == text) {
            self.cursor = token.end();
        }
    }

    fn has_comment_before(&mut self, offset: usize) -> bool {
        self.comments.peek().is_some_and(|comment| comment.start < offset)
    }

    /// Where an item begins if the comments in front of it are taken as a part of it.
    fn start_with_comments(&mut self, start: usize) -> usize {
        self.comments.peek().filter(|comment| comment.own_line).map_or(start, |comment| comment.start.min(start))
    }

    fn comments_before(&mut self, out: &mut Vec<Doc>, offset: usize) {
        while let Some(comment) = self.comments.next_if(|comment| comment.start < offset) {
            out.push(Doc::Comment { text: comment.text.to_owned(), own_line: comment.own_line, blank: false });
        }
    }

    /// As above, keeping blank lines in front of comments (for the first one only if `blank_first`). Returns
    /// whether one of them stands on its own line.
    fn comments_between_items(&mut self, out: &mut Vec<Doc>, offset: usize, blank_first: bool) -> bool {
        let mut any = false;
        while let Some(comment) = self.comments.next_if(|comment| comment.start < offset) {
            let blank = (any || blank_first) && blank_line_before(self.text, comment.start);
            out.push(Doc::Comment { text: comment.text.to_owned(), own_line: comment.own_line, blank });
            any |= comment.own_line;
        }
        any
    }

    // ---- Functions and statements ----

    fn param(&mut self, out: &mut Vec<Doc>, (name, kind): &(&Ident, Option<&Ident>)) {
        self.ident(out, name);
        if let Some(kind) = kind {
            self.token(out, ":");
            out.push(Doc::Space);
            self.ident(out, kind);
        }
    }

    fn used(&mut self, out: &mut Vec<Doc>, used: &Use) {
        self.token(out, "use");
        out.push(Doc::Space);
        self.token(out, &format!("\"{}\"", used.path));
    }

    fn constant(&mut self, out: &mut Vec<Doc>, constant: &Constant) {
        self.token(out, "const");
        out.push(Doc::Space);
        self.ident(out, &constant.name);
        if let Some(ty) = &constant.ty {
            self.token(out, ":");
            out.push(Doc::Space);
            self.ty(out, ty);
        }
        self.spaced_token(out, "=");
        match &constant.value {
            ConstantValue::One(value) => self.value(out, value),
            table => self.constant_value(out, table),
        }
    }

    fn constant_value(&mut self, out: &mut Vec<Doc>, value: &ConstantValue) {
        match value {
            ConstantValue::One(value) => self.expr(out, value),
            ConstantValue::Table(entries, _) => {
                self.list(out, ["[", "]"], entries, Formatter::constant_value, None);
            }
        }
    }

    fn function(&mut self, out: &mut Vec<Doc>, function: &Function) {
        self.token(out, "fn");
        out.push(Doc::Space);
        self.ident(out, &function.name);
        let sizes = function.params.iter().map(|size| (size, None));
        let types = function.types.iter().map(|(name, kind)| (name, Some(kind)));
        let mut params: Vec<(&Ident, Option<&Ident>)> = sizes.chain(types).collect();
        params.sort_by_key(|(name, _)| name.span.start);
        if !params.is_empty() {
            self.list(out, ["<", ">"], &params, Formatter::param, None);
        }
        self.list(out, ["(", ")"], &function.args, Formatter::arg, None);
        if !function.outs.is_empty() {
            self.spaced_token(out, "->");
            self.list(out, ["(", ")"], &function.outs, Formatter::arg, None);
        }
        if !function.context.is_empty() {
            let mut context = vec![Doc::Line];
            self.token(&mut context, "where");
            let mut conditions = vec![Doc::Line];
            for (number, condition) in function.context.iter().enumerate() {
                if number > 0 {
                    self.token(&mut conditions, ",");
                    conditions.push(Doc::Line);
                }
                self.guard(&mut conditions, condition);
            }
            self.skip(",");
            conditions.push(Doc::IfBroken(","));
            context.push(group(vec![nest(conditions)]));
            context.push(Doc::Line);
            out.push(group(context));
        }
        let layouts = function.layouts.iter().map(|line| (line.span, Inside::Layout(line)));
        let inside = layouts.chain(function.body.iter().map(|stmt| (stmt.span, Inside::Stmt(stmt))));
        let inside: Vec<(Span, Inside<'_>)> = inside.collect();
        let inside: Vec<(Span, &Inside<'_>)> = inside.iter().map(|(span, item)| (*span, item)).collect();
        self.block(out, &inside, function.span, |formatter, out, item| match item {
            Inside::Layout(line) => formatter.step(out, line),
            Inside::Stmt(stmt) => formatter.stmt(out, stmt),
        });
    }

    fn arg(&mut self, out: &mut Vec<Doc>, arg: &Arg) {
        if arg.inout {
            self.token(out, "inout");
            out.push(Doc::Space);
        }
        self.ident(out, &arg.name);
        self.token(out, ":");
        out.push(Doc::Space);
        self.ty(out, &arg.ty);
    }

    fn ty(&mut self, out: &mut Vec<Doc>, ty: &Type) {
        self.ident(out, &ty.scalar);
        if !ty.shape.is_empty() {
            self.list(out, ["[", "]"], &ty.shape, Formatter::expr, None);
        }
    }

    fn schedule(&mut self, out: &mut Vec<Doc>, schedule: &Schedule) {
        let head = schedule.sizes.last().map_or(schedule.function.span.end, |cond| cond.span.end) as usize;
        self.comments_before(out, head);
        out.push(Doc::Text(schedule_head(schedule)));
        self.cursor = head;
        let steps: Vec<(Span, &Step)> = schedule.steps.iter().map(|step| (step.span, step)).collect();
        self.block(out, &steps, schedule.span, Formatter::step);
    }

    /// A step stands on lines of its own; comments inside it go in front.
    fn step(&mut self, out: &mut Vec<Doc>, step: &Step) {
        let end = step.span.end as usize;
        self.comments_before(out, end);
        out.push(Doc::Text(step_to_string(step)));
        self.cursor = end;
    }

    fn body(&mut self, out: &mut Vec<Doc>, body: &[Stmt], whole: Span) {
        let body: Vec<(Span, &Stmt)> = body.iter().map(|stmt| (stmt.span, stmt)).collect();
        self.block(out, &body, whole, Formatter::stmt);
    }

    /// A block of items, each on lines of its own, whose `}` ends `whole`.
    fn block<T>(
        &mut self,
        out: &mut Vec<Doc>,
        body: &[(Span, &T)],
        whole: Span,
        item: impl Fn(&mut Self, &mut Vec<Doc>, &T),
    ) {
        out.push(Doc::Space);
        self.token(out, "{");
        let close = (whole.end as usize).saturating_sub(1);
        if body.is_empty() && !self.has_comment_before(close) {
            self.skip(";");
            return self.token(out, "}");
        }
        let mut inner = Vec::new();
        let mut first = true;
        for (span, found) in body {
            self.skip(";");
            let start = span.start as usize;
            inner.push(Doc::Hard { blank: false });
            first &= !self.comments_between_items(&mut inner, start, !first);
            inner.push(Doc::Hard { blank: !first && blank_line_before(self.text, start) });
            first = false;
            item(self, &mut inner, found);
        }
        self.skip(";");
        inner.push(Doc::Hard { blank: false });
        self.comments_between_items(&mut inner, close, !first);
        out.push(nest(inner));
        out.push(Doc::Hard { blank: false });
        self.token(out, "}");
    }

    fn stmt(&mut self, out: &mut Vec<Doc>, stmt: &Stmt) {
        let mut head = Vec::new();
        if let Some(label) = &stmt.label {
            self.ident(&mut head, label);
            self.token(&mut head, ":");
            head.push(Doc::Space);
        }
        match &stmt.kind {
            StmtKind::Let { target, ty, value } => {
                self.token(&mut head, "let");
                head.push(Doc::Space);
                self.target(&mut head, target);
                if let Some(ty) = ty {
                    self.token(&mut head, ":");
                    head.push(Doc::Space);
                    self.ty(&mut head, ty);
                }
                if value.is_some() {
                    self.spaced_token(&mut head, "=");
                }
                out.push(nest(head));
                if let Some(value) = value {
                    self.value(out, value);
                }
            }
            StmtKind::Assign { target, op, value } => {
                if *op == AssignOp::Unique {
                    self.token(&mut head, "unique");
                    head.push(Doc::Space);
                }
                self.target(&mut head, target);
                self.spaced_token(&mut head, op.symbol());
                out.push(nest(head));
                self.value(out, value);
            }
            StmtKind::Call { targets, callee, args } => {
                if !targets.is_empty() {
                    self.token(&mut head, "let");
                    head.push(Doc::Space);
                    self.list(&mut head, ["(", ")"], targets, Formatter::ident, None);
                    self.spaced_token(&mut head, "=");
                }
                out.push(nest(head));
                self.ident(out, callee);
                self.list(out, ["(", ")"], args, Formatter::expr, None);
            }
            StmtKind::For { index, range, step, rev, until, body } => {
                self.token(&mut head, "for");
                head.push(Doc::Space);
                self.ident(&mut head, index);
                self.spaced_token(&mut head, "in");
                self.range(&mut head, range);
                if let Some(step) = step {
                    self.spaced_token(&mut head, "by");
                    self.expr(&mut head, step);
                }
                if *rev {
                    head.push(Doc::Space);
                    self.token(&mut head, "rev");
                }
                if let Some(until) = until {
                    self.spaced_token(&mut head, "while");
                    self.expr(&mut head, until);
                }
                out.push(nest(head));
                self.body(out, body, stmt.span);
            }
            StmtKind::If { arms } => {
                for (position, arm) in arms.iter().enumerate() {
                    let mut head = Vec::new();
                    if position > 0 {
                        out.push(Doc::Space);
                        self.token(&mut head, "else");
                    }
                    if let Some(cond) = &arm.cond {
                        if position > 0 {
                            head.push(Doc::Space);
                        }
                        self.token(&mut head, "if");
                        head.push(Doc::Space);
                        self.expr(&mut head, cond);
                    }
                    out.push(nest(head));
                    self.body(out, &arm.body, arm.span);
                }
            }
        }
    }

    /// The right-hand side of a statement.
    fn value(&mut self, out: &mut Vec<Doc>, value: &Expr) {
        if self.has_comment_before(value.span.start as usize) {
            let mut inner = Vec::new();
            self.expr(&mut inner, value);
            out.push(nest(inner));
        } else {
            self.expr(out, value);
        }
    }

    fn target(&mut self, out: &mut Vec<Doc>, target: &Target) {
        self.ident(out, &target.name);
        if !target.indices.is_empty() {
            self.list(out, ["[", "]"], &target.indices, Formatter::target_index, target.guard.as_ref());
        }
    }

    fn target_index(&mut self, out: &mut Vec<Doc>, index: &TargetIndex) {
        self.expr(out, &index.expr);
        self.index_range(out, index.range.as_ref());
    }

    fn reduce_index(&mut self, out: &mut Vec<Doc>, index: &ReduceIndex) {
        self.ident(out, &index.name);
        self.index_range(out, index.range.as_ref());
    }

    fn index_range(&mut self, out: &mut Vec<Doc>, range: Option<&Range>) {
        if let Some(range) = range {
            self.token(out, ":");
            out.push(Doc::Space);
            self.range(out, range);
        }
    }

    fn range(&mut self, out: &mut Vec<Doc>, range: &Range) {
        self.expr(out, &range.lo);
        self.token(out, "..");
        self.expr(out, &range.hi);
    }

    /// A bracketed list: in one line, or one item a line.
    fn list<T>(
        &mut self,
        out: &mut Vec<Doc>,
        [open, close]: [&str; 2],
        items: &[T],
        item: impl Fn(&mut Formatter<'a>, &mut Vec<Doc>, &T),
        guard: Guard<'_>,
    ) {
        self.comments_before(out, self.next_offset());
        let mut list = Vec::new();
        self.token(&mut list, open);
        let mut inner = vec![Doc::SoftLine];
        for (number, each) in items.iter().enumerate() {
            if number > 0 {
                self.token(&mut inner, ",");
                inner.push(Doc::Line);
            }
            item(self, &mut inner, each);
        }
        self.skip(",");
        if let Some(guard) = guard {
            inner.push(Doc::Line);
            self.token(&mut inner, "|");
            inner.push(Doc::Space);
            self.guard(&mut inner, guard);
        } else if !items.is_empty() {
            inner.push(Doc::IfBroken(","));
        }
        self.comments_before(&mut inner, self.next_offset());
        list.push(nest(inner));
        list.push(Doc::SoftLine);
        self.token(&mut list, close);
        out.push(group(list));
    }

    // ---- Expressions ----

    fn guard(&mut self, out: &mut Vec<Doc>, condition: &Expr) {
        let outside = std::mem::replace(&mut self.in_guard, true);
        self.expr(out, condition);
        self.in_guard = outside;
    }

    fn expr(&mut self, out: &mut Vec<Doc>, expr: &Expr) {
        // Outside the group, which a comment would break.
        self.comments_before(out, expr.span.start as usize);
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Name(_) => {
                let text = self.text.get(expr.span.range()).unwrap_or("");
                self.token(out, text);
            }
            ExprKind::Index { base, indices } => {
                self.ident(out, base);
                self.list(out, ["[", "]"], indices, Formatter::expr, None);
            }
            ExprKind::Call { callee, args } => {
                self.ident(out, callee);
                self.list(out, ["(", ")"], args, Formatter::expr, None);
            }
            ExprKind::Unary { op, operand } => {
                if *op == UnaryOp::Not {
                    self.token(out, "not");
                    out.push(Doc::Space);
                } else {
                    self.token(out, if *op == UnaryOp::BitNot { "~" } else { "-" });
                }
                self.expr(out, operand);
            }
            ExprKind::Binary { op, .. } => self.chain(out, expr, *op),
            ExprKind::Compare { first, rest } => self.comparison(out, first, rest),
            ExprKind::If { .. } => self.conditional(out, expr),
            ExprKind::Reduce { scan, op, indices, guard, body } => {
                let mut reduction = Vec::new();
                if *scan {
                    self.token(&mut reduction, "scan");
                    reduction.push(Doc::Space);
                }
                self.token(&mut reduction, op.name());
                let outside = std::mem::replace(&mut self.in_guard, false);
                self.list(&mut reduction, ["[", "]"], indices, Formatter::reduce_index, guard.as_deref());
                self.in_guard = outside;
                if matches!(body.kind, ExprKind::Paren(_)) {
                    reduction.push(Doc::Space);
                    out.push(group(reduction));
                    self.expr(out, body);
                } else {
                    let mut inner = vec![Doc::Line];
                    self.expr(&mut inner, body);
                    reduction.push(nest(inner));
                    out.push(group(reduction));
                }
            }
            ExprKind::Apply { verb, lhs: None, rhs } => {
                let mut docs = Vec::new();
                self.verb(&mut docs, verb);
                let mut inner = vec![Doc::Line];
                self.expr(&mut inner, rhs);
                docs.push(nest(inner));
                out.push(group(docs));
            }
            ExprKind::Apply { verb, lhs: Some(lhs), rhs } => {
                let mut docs = Vec::new();
                self.expr(&mut docs, lhs);
                let mut inner = vec![Doc::Line];
                self.verb(&mut inner, verb);
                inner.push(Doc::Space);
                self.expr(&mut inner, rhs);
                docs.push(nest(inner));
                out.push(group(docs));
            }
            ExprKind::Paren(inner) => {
                let mut docs = Vec::new();
                self.token(&mut docs, "(");
                let mut nested = vec![Doc::SoftLine];
                self.expr(&mut nested, inner);
                self.comments_before(&mut nested, self.next_offset());
                docs.push(nest(nested));
                docs.push(Doc::SoftLine);
                self.token(&mut docs, ")");
                out.push(group(docs));
            }
        }
    }

    /// A verb with its parentheses, in one line.
    fn verb(&mut self, out: &mut Vec<Doc>, verb: &Verb) {
        self.token(out, "(");
        self.verb_body(out, verb);
        self.token(out, ")");
    }

    fn verb_body(&mut self, out: &mut Vec<Doc>, verb: &Verb) {
        match &verb.kind {
            VerbKind::Binary(op) => self.token(out, binary_symbol(*op)),
            VerbKind::Compare(CompareOp::Eq) => self.equality(out),
            VerbKind::Compare(op) => self.token(out, compare_symbol(*op)),
            VerbKind::Named { name, params } => {
                self.ident(out, name);
                for param in params {
                    out.push(Doc::Space);
                    self.expr(out, param);
                }
            }
            VerbKind::Reduce { op, .. } => {
                self.token(out, "reduce");
                out.push(Doc::Space);
                self.number(out);
                out.push(Doc::Space);
                self.token(out, fold_symbol(*op));
            }
            VerbKind::Oblique { op } => {
                self.token(out, "oblique");
                out.push(Doc::Space);
                self.token(out, fold_symbol(*op));
            }
            VerbKind::Rank { verb, right, .. } => {
                // Parentheses around the verb may be needed or not; they stay.
                match next_token(self.text, self.cursor).is_some_and(|token| token.text == "(") {
                    true => self.verb(out, verb),
                    false => self.verb_body(out, verb),
                }
                self.spaced_token(out, "rank");
                self.number(out);
                if right.is_some() {
                    out.push(Doc::Space);
                    self.number(out);
                }
            }
        }
    }

    /// The next number as it is written, with its sign.
    fn number(&mut self, out: &mut Vec<Doc>) {
        for _ in 0..2 {
            let Some(token) = next_token(self.text, self.cursor) else { return };
            self.token(out, token.text);
            if token.text != "-" {
                return;
            }
        }
    }

    /// A run of operators of the same strength breaks in front of each of them or of none.
    fn chain(&mut self, out: &mut Vec<Doc>, expr: &Expr, strongest: BinaryOp) {
        let mut operations = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary { op, lhs, rhs } = &first.kind {
            if strength(*op) != strength(strongest) {
                break;
            }
            operations.push((*op, rhs));
            first = lhs;
        }
        let mut docs = Vec::new();
        self.expr(&mut docs, first);
        let mut inner = Vec::new();
        for (op, operand) in operations.into_iter().rev() {
            inner.push(Doc::Line);
            self.token(&mut inner, binary_symbol(op));
            inner.push(Doc::Space);
            self.expr(&mut inner, operand);
        }
        docs.push(nest(inner));
        out.push(group(docs));
    }

    fn comparison(&mut self, out: &mut Vec<Doc>, first: &Expr, rest: &[(CompareOp, Expr)]) {
        let mut docs = Vec::new();
        self.expr(&mut docs, first);
        let mut inner = Vec::new();
        for (op, operand) in rest {
            inner.push(Doc::Line);
            if *op == CompareOp::Eq {
                self.equality(&mut inner);
            } else {
                self.token(&mut inner, compare_symbol(*op));
            }
            inner.push(Doc::Space);
            self.expr(&mut inner, operand);
        }
        docs.push(nest(inner));
        out.push(group(docs));
    }

    fn equality(&mut self, out: &mut Vec<Doc>) {
        let start = self.next_offset();
        let written = if self.text.get(start..).is_some_and(|rest| rest.starts_with("==")) { "==" } else { "=" };
        self.token(out, if self.in_guard { "=" } else { "==" });
        self.cursor = start + written.len();
    }

    /// `else if` goes on in the same group, so that long ladders do not drift to the right.
    fn conditional(&mut self, out: &mut Vec<Doc>, expr: &Expr) {
        let mut docs = Vec::new();
        let mut branches = Vec::new();
        let mut current = expr;
        let mut first = true;
        while let ExprKind::If { cond, then, otherwise } = &current.kind {
            let to = if first { &mut docs } else { &mut branches };
            self.token(to, "if");
            to.push(Doc::Space);
            // A condition of several lines has `then` on a line of its own.
            let mut whole = Vec::new();
            self.expr(&mut whole, cond);
            let mut branch = vec![Doc::Line];
            self.token(&mut branch, "then");
            branch.push(Doc::Space);
            self.expr(&mut branch, then);
            whole.push(nest(branch));
            to.push(group(whole));
            branches.push(Doc::Line);
            self.token(&mut branches, "else");
            branches.push(Doc::Space);
            current = otherwise;
            first = false;
        }
        self.expr(&mut branches, current);
        docs.push(nest(branches));
        out.push(group(docs));
    }
}

/// Equal for operators of the same precedence.
fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 0,
        BinaryOp::And => 1,
        BinaryOp::BitOr => 2,
        BinaryOp::BitXor => 3,
        BinaryOp::BitAnd => 4,
        BinaryOp::Shl | BinaryOp::Shr => 5,
        BinaryOp::Add | BinaryOp::Sub => 6,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 7,
    }
}
