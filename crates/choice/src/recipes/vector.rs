//! Vector loops: innermost loops whose iterations are independent, or meet only in reductions, and whose cells lie side by side.

use poly::{Branch, LoopId, LoopKind, Scop, Statement, Subject, Tree};
use program::{BinaryOp, Expr, ExprKind, ScalarType, Subscript, UnaryOp};
use steps::{Loops, Step, Target, Verb, Word};

use super::Plan;
use crate::cost::Walk;
use crate::machine::Machine;

/// So many registers hold the partial results of a sum: additions take a few cycles, and two start in each.
const ACCUMULATORS: u32 = 4;
/// So many registers are worked on at once elsewhere, which halves the loop's own cost.
const ABREAST: u32 = 2;

/// The innermost loops of a tree, but for straight code, that can be vector loops and gain by it.
pub(crate) fn loops(subject: &Subject, tree: &Tree) -> diag::Result<Vec<LoopId>> {
    let branches = tree.branches();
    let mut found: Vec<LoopId> = Vec::new();
    for id in branches.iter().filter_map(|branch| innermost(tree, branch)) {
        let inside: Vec<&Branch> = branches.iter().filter(|branch| branch.level_of(id).is_some()).collect();
        let is_plain = tree.info(id).kind == LoopKind::Serial && !found.contains(&id);
        if is_plain
            && inside.iter().all(|branch| innermost(tree, branch) == Some(id))
            && inside.iter().all(|branch| gains(&subject.scop, tree, branch))
            && !poly::may_carry(subject, tree, id)?
        {
            found.push(id);
        }
    }
    Ok(found)
}

/// The innermost loop of a branch that is not straight code.
pub(crate) fn innermost(tree: &Tree, branch: &Branch) -> Option<LoopId> {
    let mut loops = branch.loops().rev().map(|(_, id, _)| id);
    loops.find(|id| tree.info(*id).kind != LoopKind::Unrolled)
}

/// Whether a statement is faster in lanes along its innermost loop.
fn gains(scop: &Scop, tree: &Tree, branch: &Branch) -> bool {
    let statement = scop.at(branch.statement);
    if !has_lanes(statement) {
        return false;
    }
    let steps = Walk::new(tree, branch, statement).kinds_of_steps(statement, &[]);
    steps.near > 0 && (steps.far <= steps.near / 2 || steps.far <= 2 * steps.near && is_heavy(&statement.value))
}

/// Whether lanes can run a statement at all.
pub(crate) fn has_lanes(statement: &Statement) -> bool {
    let accesses = std::iter::once(&statement.write).chain(&statement.reads);
    let exact = accesses.flat_map(|access| &access.index).all(|subscript| matches!(subscript, Subscript::Affine(_)));
    let mut simple = true;
    statement.value.visit(&mut |expr| {
        let divides = matches!(expr.kind, ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) && !expr.ty.is_float();
        simple &= !divides && !matches!(expr.kind, ExprKind::Fold { .. } | ExprKind::Gather { .. });
    });
    exact && simple && statement.block.is_none()
}

/// Whether computing costs so much that fetching cells one by one does not matter.
fn is_heavy(value: &Expr) -> bool {
    let mut heavy = false;
    // A division is not: eight of them at once take nearly as long as eight in a row.
    value.visit(&mut |expr| heavy |= matches!(expr.kind, ExprKind::Unary(UnaryOp::Function(_), _)));
    heavy
}

/// Makes vector loops of the loops given, which are those of the plan's tree.
pub(crate) fn vectorize(plan: &mut Plan, loops: &[LoopId], machine: &Machine) -> diag::Result<()> {
    let subject = std::rc::Rc::clone(&plan.state.subject);
    let scop = &subject.scop;
    let tree = plan.state.tree.clone();
    let branches = tree.branches();
    for id in loops {
        let inside: Vec<&Branch> = branches.iter().filter(|branch| branch.level_of(*id).is_some()).collect();
        let Some(targets) = targets(scop, &tree, *id) else { continue };
        let statements: Vec<&Statement> = inside.iter().map(|branch| scop.at(branch.statement)).collect();
        let sums = inside.iter().all(|branch| is_sum(scop, &tree, branch));
        // Straight code inside has sums enough to work on at once.
        let straight = inside.iter().all(|branch| branch.loops().next_back().is_some_and(|(_, last, _)| last != *id));
        let registers = if sums && !straight { ACCUMULATORS } else { ABREAST };
        let lanes = machine.lanes(widest(scop, &statements)) * registers;
        let why = if sums {
            format!("{registers} partial results of {} lanes", lanes / registers)
        } else {
            format!("{ABREAST} registers of {} lanes, whose cells lie side by side", lanes / ABREAST)
        };
        let over = Word::new(plan.fresh(&format!("{}v", tree.info(*id).name)));
        plan.take(Step::new(Verb::Vectorize { loops: Loops { targets }, lanes, name: Some(over) }), why)?;
    }
    Ok(())
}

/// A loop as it is reached from the statements in it; none if they have no name for it in common.
pub(crate) fn targets(scop: &Scop, tree: &Tree, id: LoopId) -> Option<Vec<Target>> {
    let branches = tree.branches();
    let inside: Vec<&Branch> = branches.iter().filter(|branch| branch.level_of(id).is_some()).collect();
    let name = tree.name_in(&inside, id)?;
    let statement = |branch: &&Branch| Word::new(scop.at(branch.statement).name.clone());
    Some(inside.iter().map(|branch| Target::Of(statement(branch), vec![Word::new(name)])).collect())
}

/// Whether a statement adds up along its innermost loop.
pub(crate) fn is_sum(scop: &Scop, tree: &Tree, branch: &Branch) -> bool {
    let statement = scop.at(branch.statement);
    statement.kind.is_update() && Walk::new(tree, branch, statement).stays(&statement.write.index)
}

/// Bytes of the widest number that some statements work with.
pub(crate) fn widest(scop: &Scop, statements: &[&Statement]) -> u32 {
    let mut bytes = 1;
    let mut see = |ty: ScalarType| bytes = bytes.max(ty.bytes());
    for statement in statements {
        see(scop.array(statement.write.array).ty);
        statement.value.visit(&mut |expr| see(expr.ty));
    }
    bytes as u32
}
