//! A tree as a script: the steps that make it out of the program's own order.

use std::rc::Rc;

use poly::{LoopKind, StatementId, Tree};
use program::{Affine, IterId};
use steps::{Formula, Loops, Relation, Step, Verb, Word};

/// The steps that give a program the order of `tree`; none if the times of a statement have pieces, as after a split.
pub fn written(subject: &Rc<poly::Subject>, tree: &Tree) -> Option<Vec<Step>> {
    let scop = &subject.scop;
    let relation = |(statement, times): (StatementId, Vec<Affine>)| {
        let found = scop.at(statement);
        let inputs = found.iters.iter().map(|iter| Word::new(scop.function.iter(*iter).name.clone())).collect();
        let numbered = |time: &Affine| {
            let place = |iter: IterId| found.iters.iter().position(|known| *known == iter);
            time.substitute(&|iter| place(iter).map(|place| Affine::iter(IterId(place as u32))))
        };
        let times: Option<Vec<Affine>> = times.iter().map(numbered).collect();
        let statement = Word::new(found.name.clone());
        Some(Relation { statement, times: Formula::new(inputs, times?), span: diag::Span::default() })
    };
    let mut relations = tree.times()?.into_iter().map(relation).collect::<Option<Vec<_>>>()?;
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
