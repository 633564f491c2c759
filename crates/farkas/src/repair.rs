//! Repairs: a small step that makes an illegal one legal, tried out before it is suggested.

use poly::transform::{self, Step, Target, Word};
use poly::{Dependences, Kinds, Plan, Scop, Verdict};

/// A step to put in front of the refused one, as text, if one of the usual ones works.
pub(crate) fn suggest(scop: &Scop, dependences: &Dependences, plan: &Plan, refused: &Step) -> Option<String> {
    candidates(plan, refused).into_iter().find_map(|(text, step)| {
        let before = transform::apply(scop, plan, &step).ok()?;
        let after = transform::apply(scop, &before, refused).ok()?;
        let works = is_legal(scop, dependences, &before) && is_legal(scop, dependences, &after);
        works.then_some(text)
    })
}

fn is_legal(scop: &Scop, dependences: &Dependences, plan: &Plan) -> bool {
    let Ok(tree) = plan.tree(scop) else { return false };
    match poly::check_legal(scop, dependences, tree) {
        Ok(Verdict::Legal(legal)) => {
            matches!(poly::check_kinds(scop, dependences, plan, legal), Ok(Kinds::Proven(_)))
        }
        _ => false,
    }
}

/// Shifts for a fusion, by the distance that a dependence reaches ahead; skews for what wants a permutable nest.
fn candidates(plan: &Plan, refused: &Step) -> Vec<(String, Step)> {
    match refused.verb.text.as_str() {
        "fuse" => {
            let (Some(second), Some(at)) = (refused.targets.get(1), &refused.at) else { return Vec::new() };
            let name = second_loop(plan, refused, second, at);
            let shift = |by: i64| step("shift", refused, &[&second.name], &[&name], by);
            [1, 2, 3, 4, -1, -2].into_iter().map(shift).collect()
        }
        "tile" | "interchange" | "reorder" | "jam" | "parallel" | "vectorize" => {
            let statements: Vec<&Word> = refused.targets.iter().map(|target| &target.name).collect();
            let loops = nest(plan, refused);
            let mut skews = Vec::new();
            for by in [1, 2, 3] {
                for (position, inner) in loops.iter().enumerate().skip(1) {
                    skews.push(step("skew", refused, &statements, &[&loops[position - 1], inner], by));
                }
            }
            skews
        }
        _ => Vec::new(),
    }
}

/// The loop of the second statement of a fusion that is to become `at`: the one at the same depth.
fn second_loop(plan: &Plan, refused: &Step, second: &Target, at: &Word) -> String {
    let of = |name: &str| plan.statements.iter().find(|statement| statement.source == name || statement.name == name);
    let depth = refused.targets.first().and_then(|first| of(&first.name.text));
    let depth = depth.and_then(|statement| statement.loops().position(|found| found.name == at.text));
    let found = depth.and_then(|depth| of(&second.name.text)?.loops().nth(depth));
    found.map_or(at.text.clone(), |found| found.name.clone())
}

/// The loops of the first target's deepest part, outermost first.
fn nest(plan: &Plan, refused: &Step) -> Vec<String> {
    let Some(target) = refused.targets.first() else { return Vec::new() };
    let meant = |statement: &&poly::StatementPlan| match &target.loops {
        Some(_) => statement.source == target.name.text || statement.name == target.name.text,
        None => statement.loop_named(&target.name.text).is_some(),
    };
    let deepest = plan.statements.iter().filter(meant).max_by_key(|statement| statement.loops().count());
    deepest.map_or(Vec::new(), |statement| statement.loops().map(|found| found.name.clone()).collect())
}

/// `verb S0[i], S1[i] by n`, as text and as a step.
fn step(verb: &str, refused: &Step, statements: &[&Word], loops: &[&String], by: i64) -> (String, Step) {
    let names = loops.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let targets: Vec<String> = statements.iter().map(|name| format!("{}[{names}]", name.text)).collect();
    let text = format!("{verb} {} by {by}", targets.join(", "));
    let span = refused.span;
    let words = || loops.iter().map(|name| Word { text: name.to_string(), span }).collect();
    let targets = statements.iter().map(|name| Target { name: (*name).clone(), loops: Some(words()) }).collect();
    let verb = Word { text: verb.to_string(), span };
    let step = Step { targets, by: vec![(by, span)], ..Step::new(verb) };
    (text, step)
}
