//! `if c { … } else { … }` as a statement.
//!
//! In: conditions with blocks.  Out: where all conditions are affine, the statements of the blocks with guards; else, loops of at most
//! one iteration, each of which is one step of the program as others whose bounds depend on data are (`counted`).

use diag::Span;
use syntax::ast;

use super::Lowerer;
use super::conditions::branch_condition;
use super::names::Meaning;
use super::stmt::narrow;
use crate::{
    Array, ArrayId, Assign, BinaryOp, Cond, CounterId, DataRange, Each, Expr, ExprKind, Iter, Node, Role, ScalarType,
    Value,
};

/// The name of what is made up here in scopes: no one can mean it.
const KEYWORD: &str = "if";

/// A condition on data, or on indices only.
struct Condition {
    value: Expr,
    affine: Option<Cond>,
}

impl Condition {
    /// What is known about indices where it holds, or fails.
    fn implies(&self, holds: bool) -> Cond {
        branch_condition(&self.value, self.affine.as_ref(), holds)
    }
}

impl Lowerer<'_> {
    pub(super) fn lower_if_statement(&mut self, arms: &[ast::Arm], span: Span, out: &mut Vec<Node>) {
        let conditions: Vec<Option<Condition>> =
            arms.iter().filter_map(|arm| arm.cond.as_ref()).map(|cond| self.lower_condition(cond)).collect();
        let Some(conditions) = conditions.into_iter().collect::<Option<Vec<Condition>>>() else {
            // What is wrong in the blocks is said as well.
            arms.iter().for_each(|arm| drop(self.lower_block(&arm.body)));
            return;
        };
        let affine: Option<Vec<Cond>> = conditions.iter().map(|condition| condition.affine.clone()).collect();
        match affine.filter(|_| !self.scope.counts()) {
            Some(conds) => self.lower_guarded(arms, &conds, out),
            None => self.lower_chosen(arms, conditions, span, out),
        }
    }

    fn lower_condition(&mut self, cond: &ast::Expr) -> Option<Condition> {
        self.mention_reductions(cond);
        let typed = self.lower_size(cond)?;
        let affine = typed.cond.clone();
        Some(Condition { value: self.coerce(typed, ScalarType::Bool)?, affine })
    }

    /// Each block runs where its condition holds and those before it do not.
    fn lower_guarded(&mut self, arms: &[ast::Arm], conds: &[Cond], out: &mut Vec<Node>) {
        let mut before = Cond::TRUE;
        for (position, arm) in arms.iter().enumerate() {
            let mut nodes = self.lower_block(&arm.body);
            let Some(cond) = conds.get(position) else {
                narrow(&mut nodes, &before);
                out.append(&mut nodes);
                continue;
            };
            narrow(&mut nodes, &before.clone().and(cond.clone()));
            out.append(&mut nodes);
            let Some(fails) = self.narrowed(cond.negate(), arm.span) else { return };
            before = before.and(fails);
        }
    }

    /// The number of the block that is taken is found first, where several ask for it or finding it takes a loop.
    fn lower_chosen(&mut self, arms: &[ast::Arm], conditions: Vec<Condition>, span: Span, out: &mut Vec<Node>) {
        let name = self.statement_name(None);
        let in_front = std::mem::take(&mut self.pending);
        let mut implied = Vec::new();
        let mut before = Cond::TRUE;
        for condition in &conditions {
            implied.push(before.clone().and(condition.implies(true)));
            before = before.and(condition.implies(false));
        }
        implied.push(before);
        let mut reduces = false;
        let mut look = |part: &Expr| reduces |= matches!(part.kind, ExprKind::Reduce { .. } | ExprKind::Fold { .. });
        conditions.iter().for_each(|condition| condition.value.visit(&mut look));
        if let ([arm], [condition], false) = (arms, conditions.as_slice(), reduces) {
            out.extend(self.lower_arm(name, condition.value.clone(), &implied[0], arm));
        } else {
            let mut chosen = number(conditions.len(), span);
            for (position, Condition { value, affine }) in conditions.into_iter().enumerate().rev() {
                chosen = select(value, affine, number(position, span), chosen);
            }
            let kept = self.keep(&name, chosen, out);
            if let Some(assignments) = self.common_assignments(arms) {
                self.lower_common(&assignments, kept, span, out);
                self.pending = in_front;
                return;
            }
            let ty = ScalarType::I64;
            let chosen = Box::new(Expr { kind: ExprKind::Load { array: kept, index: Vec::new() }, ty, span });
            for (position, (arm, implied)) in arms.iter().zip(implied).enumerate() {
                let block = if position == 0 { name.clone() } else { self.statement_name(None) };
                let taken = ExprKind::Binary(BinaryOp::Eq, chosen.clone(), Box::new(number(position, span)));
                let taken = Expr { kind: taken, ty: ScalarType::Bool, span };
                out.extend(self.lower_arm(block, taken, &implied, arm));
            }
        }
        self.pending = in_front;
    }

    /// Where all blocks assign the same cells, one after the other, their values are what is chosen: each assignment with its value in every block.
    fn common_assignments<'s>(&self, arms: &'s [ast::Arm]) -> Option<Vec<(&'s ast::Stmt, Vec<&'s ast::Expr>)>> {
        let (first, others) = arms.split_first()?;
        let all = arms.last()?.cond.is_none() && !others.is_empty() && !first.body.is_empty();
        let text = |target: &ast::Target| -> String {
            self.shared.source.slice(target.span).chars().filter(|letter| !letter.is_whitespace()).collect()
        };
        let mut found = Vec::new();
        for (position, stmt) in first.body.iter().enumerate().filter(|_| all) {
            let ast::StmtKind::Assign { target, op, value } = &stmt.kind else { return None };
            let mut values = vec![value];
            for arm in others {
                match arm.body.get(position).map(|other| &other.kind) {
                    Some(ast::StmtKind::Assign { target: other, op: same, value })
                        if same == op && text(other) == text(target) && arm.body.len() == first.body.len() =>
                    {
                        values.push(value);
                    }
                    _ => return None,
                }
            }
            found.push((stmt, values));
        }
        (!found.is_empty()).then_some(found)
    }

    fn lower_common(
        &mut self,
        assignments: &[(&ast::Stmt, Vec<&ast::Expr>)],
        chosen: ArrayId,
        span: Span,
        out: &mut Vec<Node>,
    ) {
        let make = |kind: ast::ExprKind| ast::Expr { kind, span };
        self.scope.enter();
        self.scope.insert(KEYWORD.to_owned(), Meaning::Array(chosen), span);
        for (stmt, values) in assignments {
            let ast::StmtKind::Assign { target, op, .. } = &stmt.kind else { continue };
            let mut rest = values.iter().enumerate().rev();
            let Some((_, last)) = rest.next() else { continue };
            let mut value = (*last).clone();
            for (position, taken) in rest {
                let first = Box::new(make(ast::ExprKind::Name(KEYWORD.to_owned())));
                let ours = (ast::CompareOp::Eq, make(ast::ExprKind::Int(position as i128)));
                let cond = Box::new(make(ast::ExprKind::Compare { first, rest: vec![ours] }));
                let (then, otherwise) = (Box::new((*taken).clone()), Box::new(value));
                value = make(ast::ExprKind::If { cond, then, otherwise });
            }
            let kind = ast::StmtKind::Assign { target: target.clone(), op: *op, value };
            self.lower_stmt(&ast::Stmt { label: stmt.label.clone(), kind, span: stmt.span }, out);
        }
        self.scope.leave();
    }

    /// A local with this value.
    fn keep(&mut self, name: &str, value: Expr, out: &mut Vec<Node>) -> ArrayId {
        let (ty, span) = (value.ty, value.span);
        let target = ArrayId(self.function.arrays.len() as u32);
        let name = format!("{name}_if");
        self.function.arrays.push(Array { name: name.clone(), ty, shape: Vec::new(), role: Role::Local, span });
        let (foralls, guard, index) = (Vec::new(), Cond::TRUE, Vec::new());
        out.push(Node::Assign(Assign { name, foralls, guard, target, index, target_span: span, value, span }));
        target
    }

    fn lower_arm(&mut self, name: String, taken: Expr, implied: &Cond, arm: &ast::Arm) -> Option<Node> {
        let span = arm.cond.as_ref().map_or(arm.span, |cond| cond.span);
        let counter = CounterId(self.function.counters.len() as u32);
        self.function.counters.push(Iter { name: format!("{name}_once"), span, made_up: true });
        self.scope.enter();
        self.scope.insert(KEYWORD.to_owned(), Meaning::Counter(counter), span);
        let own = self.function.arrays.len();
        let body = self.lower_block(&arm.body);
        self.scope.leave();
        let own = self.own_arrays(own);
        let hi = select(taken, None, number(1, span), number(0, span));
        let (lo, step) = (number(0, span), number(1, span));
        let range = Box::new(DataRange { counter, lo, hi, step, forwards: false, span });
        let mut each = Each { name, range, until: None, body, own, span: arm.span };
        self.check_own(&each)?;
        narrow(&mut each.body, implied);
        Some(Node::Each(each))
    }
}

fn number(value: usize, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(Value::I64(value as i64)), ty: ScalarType::I64, span }
}

fn select(cond: Expr, affine: Option<Cond>, then: Expr, otherwise: Expr) -> Expr {
    let (ty, span) = (then.ty, cond.span);
    let kind = ExprKind::Select { cond: Box::new(cond), affine, then: Box::new(then), otherwise: Box::new(otherwise) };
    Expr { kind, ty, span }
}
