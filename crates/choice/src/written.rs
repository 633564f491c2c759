//! A tree as a script: the steps that make it out of the program's own order.

use std::rc::Rc;

use poly::{LoopKind, Scop, Statement, StatementId, Tree};
use program::{Affine, IterId};
use steps::{Formula, Loops, Relation, Step, Verb, Word};

/// The steps that give a program the order of `tree`; none if the times of a statement have pieces, as after a split.
pub fn written(subject: &Rc<poly::Subject>, tree: &Tree) -> Option<Vec<Step>> {
    let scop = &subject.scop;
    let of = |(statement, times): (StatementId, Vec<Affine>)| relation(scop, scop.at(statement), &times, false);
    let mut relations = tree.times()?.into_iter().map(of).collect::<Option<Vec<_>>>()?;
    // In the order of the statements, whatever their order in the tree.
    let position = |relation: &Relation| scop.statements.iter().position(|known| known.name == relation.statement.text);
    relations.sort_by_key(position);
    let mut steps = vec![Step::new(Verb::Map { relations })];
    // Loops go by what the `map` calls them.
    let state = steps::State { subject: Rc::clone(subject), tree: scop.order.clone() };
    let steps::Outcome::Done(mapped) = steps::apply(&state, &steps[0]).ok()? else { return None };
    let branches = tree.branches();
    for ((id, found), (_, named)) in tree.loops().zip(mapped.tree.loops()) {
        // The loop goes by its name around a statement that counts with it.
        let counts = |branch: &poly::Branch| branch.loops().any(|(_, own, expr)| own == id && !expr.is_invariant());
        let inside = branches.iter().find(|branch| counts(branch))?;
        let loops = Loops::of(scop.at(inside.statement).name.clone(), [named.name.clone()]);
        match found.kind {
            LoopKind::Serial => {}
            LoopKind::Parallel => steps.push(Step::new(Verb::Parallel { loops: loops.clone() })),
            LoopKind::Placed(axis) => steps.push(Step::new(Verb::Place { loops: loops.clone(), axis })),
            LoopKind::Unrolled => steps.push(Step::new(Verb::Unroll { loops: loops.clone(), size: None, name: None })),
            // A vector loop of its own is not a step; it comes from one that is cut.
            LoopKind::Vector(_) => return None,
        }
        if found.separate {
            steps.push(Step::new(Verb::Separate { loops }));
        }
    }
    Some(steps)
}

/// When a statement runs, as `map` says it. If asked, an index that is counted by two loops goes by another name, so that each of the loops
/// can be called after what others count with it.
pub(crate) fn relation(scop: &Scop, statement: &Statement, times: &[Affine], renamed: bool) -> Option<Relation> {
    let name = |iter: &IterId| {
        let name = &scop.function.iter(*iter).name;
        let twice = renamed && times.iter().filter(|time| time.as_iter() == Some(*iter)).count() > 1;
        let taken = |name: &str| scop.function.iters.iter().any(|known| known.name == name);
        Word::new(if twice { poly::unique(&format!("{name}{name}"), taken) } else { name.clone() })
    };
    let numbered = |time: &Affine| {
        let place = |iter: IterId| statement.iters.iter().position(|known| *known == iter);
        time.substitute(&|iter| place(iter).map(|place| Affine::iter(IterId(place as u32))))
    };
    let times = times.iter().map(numbered).collect::<Option<Vec<_>>>()?;
    let inputs = statement.iters.iter().map(name).collect();
    let name = Word::new(statement.name.clone());
    Some(Relation { statement: name, times: Formula::new(inputs, times), span: diag::Span::default() })
}
