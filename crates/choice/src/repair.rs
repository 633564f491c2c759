//! Repairs: a small step that makes an illegal one legal, tried out before it is suggested.

use poly::{Entry, Instance, Verdict, Violation, prove};
use program::Role;
use steps::{Loops, Outcome, State, Step, Target, Verb, Word};

/// More arrays than so are not inlined to make one loop parallel.
const MOST_INLINED: usize = 4;

/// Steps to put in front of the refused one, as text, if one of the usual ones works.
pub(crate) fn suggest(state: &State, refused: &Step, violation: &Violation) -> Option<String> {
    inlined(state, refused, violation).or_else(|| {
        candidates(state, refused, violation).into_iter().find_map(|step| {
            let between = legal(state, &step)?;
            legal(&between, refused)?;
            Some(steps::show(&step, &state.subject.scop.function))
        })
    })
}

/// Iterations that share the cells of a local array, each for a value of its own, need none if the value stands where it is read.
fn inlined(state: &State, refused: &Step, violation: &Violation) -> Option<String> {
    let (mut state, mut inlined) = (state.clone(), Vec::new());
    let mut violation = violation.clone();
    for _ in 0..MOST_INLINED {
        let Violation::Carried { pair, .. } = violation else { return None };
        let (_, array) = state.subject.scop.array_named(&pair.array)?;
        if array.role != Role::Local {
            return None;
        }
        let step = Step::new(Verb::Inline { array: Word::new(array.name.clone()) });
        state = legal(&state, &step)?;
        inlined.push(steps::show(&step, &state.subject.scop.function));
        match judge(&state, refused)? {
            (_, Verdict::Legal(_)) => return Some(inlined.join("; ")),
            (_, Verdict::Illegal(next)) => violation = *next,
            (_, Verdict::Unknown { .. }) => return None,
        }
    }
    None
}

/// The state after a step, if it is legal.
fn legal(state: &State, step: &Step) -> Option<State> {
    match judge(state, step)? {
        (next, Verdict::Legal(_)) => Some(next),
        (_, Verdict::Illegal(_) | Verdict::Unknown { .. }) => None,
    }
}

/// The state after a step, and what the gate says to it; none if the step does not apply.
fn judge(state: &State, step: &Step) -> Option<(State, Verdict)> {
    let Outcome::Done(next) = steps::apply(state, step).ok()? else { return None };
    let verdict = prove(&next.subject, next.tree.clone()).ok()?;
    Some((next, verdict))
}

/// Shifts for a fusion, by the distance that a dependence reaches ahead; skews for what wants a permutable nest; for iterations
/// that are to be independent also what takes statements that need each other apart, or into one iteration.
fn candidates(state: &State, refused: &Step, violation: &Violation) -> Vec<Step> {
    match &refused.verb {
        Verb::Fuse { first, second, at } => {
            let mut shifts = Vec::new();
            for name in shifted_loops(state, first, second, at) {
                for distance in [1, 2, 3, 4, -1, -2] {
                    let loops = Loops::of(second.text.clone(), [name.clone()]);
                    shifts.push(Step::new(Verb::Shift { loops, distance }));
                }
            }
            shifts
        }
        Verb::Tile { loops, .. } | Verb::Interchange { loops } | Verb::Reorder { loops } | Verb::Jam { loops, .. } => {
            skews(state, loops, false)
        }
        Verb::Vectorize { loops, .. } => [parted(state, loops, violation), skews(state, loops, false)].concat(),
        Verb::Parallel { loops } | Verb::Place { loops, .. } => {
            [parted(state, loops, violation), skews(state, loops, false), skews(state, loops, true)].concat()
        }
        _ => Vec::new(),
    }
}

/// For a loop that carries a dependence from one statement to another: a shift by its distance, which puts both into one
/// iteration, or a loop for each.
fn parted(state: &State, loops: &Loops, violation: &Violation) -> Vec<Step> {
    let Violation::Carried { pair, id } = violation else { return Vec::new() };
    let (source, sink) = (&pair.source, &pair.sink);
    let name = |instance: &Instance| Word::new(state.subject.scop.at(instance.statement).source.clone());
    let (first, second) = (name(source), name(sink));
    let names = loops.names();
    let (false, [at]) = (first.text == second.text, names.as_slice()) else { return Vec::new() };
    let iteration = |instance: &Instance| {
        let counted = instance.branch.entries.iter().filter(|entry| !matches!(entry, Entry::Only(_)));
        let place = counted.into_iter().position(|entry| entry.as_loop().is_some_and(|(own, _)| own == *id))?;
        instance.time.get(place).copied()
    };
    let distance = iteration(sink).zip(iteration(source)).and_then(|(sink, source)| sink.checked_sub(source));
    let shift = |distance| Verb::Shift { loops: Loops::of(first.text.clone(), [at.text.clone()]), distance };
    let fission =
        |first: &Word, second: &Word| Verb::Fission { first: first.clone(), second: second.clone(), at: (*at).clone() };
    let apart = [fission(&first, &second), fission(&second, &first)];
    distance.map(shift).into_iter().chain(apart).map(Step::new).collect()
}

/// The loops of the second statement of a fusion that are to be shared: the innermost first.
fn shifted_loops(state: &State, first: &Word, second: &Word, at: &Word) -> Vec<String> {
    let (scop, tree) = (&state.subject.scop, &state.tree);
    let branches = tree.branches();
    let of = |name: &Word| {
        branches.iter().find(|branch| {
            let statement = scop.at(branch.statement);
            statement.source == name.text || statement.name == name.text
        })
    };
    let depth = of(first).and_then(|branch| {
        let (level, ..) = tree.loop_named(branch, &at.text)?;
        Some(branch.loops().filter(|(other, ..)| *other <= level).count())
    });
    let (Some(depth), Some(second)) = (depth, of(second)) else { return vec![at.text.clone()] };
    let mut names: Vec<String> = second.loops().take(depth).map(|(_, id, _)| tree.info(id).name.clone()).collect();
    names.reverse();
    names
}

/// Every loop of the nest added to the one right inside it, or, for wavefronts, to the one right outside.
fn skews(state: &State, loops: &Loops, outwards: bool) -> Vec<Step> {
    let nest = nest(state, loops);
    let targets = |one: &String, two: &String| {
        let names = vec![Word::new(one.clone()), Word::new(two.clone())];
        let target = |target: &Target| match target {
            Target::Of(statement, _) | Target::Everywhere(statement) => Target::Of(statement.clone(), names.clone()),
        };
        let of_statement = loops.targets.iter().all(|target| matches!(target, Target::Of(..)));
        let targets = if of_statement {
            loops.targets.iter().map(target).collect()
        } else {
            sources(state, loops).into_iter().map(|source| Target::Of(Word::new(source), names.clone())).collect()
        };
        Loops { targets }
    };
    let mut skews = Vec::new();
    for factor in [1, 2, 3] {
        for pair in nest.windows(2) {
            let [outer, inner] = pair else { continue };
            let loops = if outwards { targets(inner, outer) } else { targets(outer, inner) };
            skews.push(Step::new(Verb::Skew { loops, factor }));
        }
    }
    skews
}

/// The source statements that have a loop of the name given.
fn sources(state: &State, loops: &Loops) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for branch in state.tree.branches() {
        let has = loops.names().iter().any(|name| state.tree.loop_named(&branch, &name.text).is_some());
        let source = &state.subject.scop.at(branch.statement).source;
        if has && !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    sources
}

/// The loops of the first target's deepest part, outermost first.
fn nest(state: &State, loops: &Loops) -> Vec<String> {
    let (scop, tree) = (&state.subject.scop, &state.tree);
    let Some(target) = loops.targets.first() else { return Vec::new() };
    let branches = tree.branches();
    let meant = branches.iter().filter(|branch| match target {
        Target::Of(name, _) => {
            let statement = scop.at(branch.statement);
            statement.source == name.text || statement.name == name.text
        }
        Target::Everywhere(name) => tree.loop_named(branch, &name.text).is_some(),
    });
    let deepest = meant.max_by_key(|branch| branch.loops().count());
    deepest.map_or(Vec::new(), |branch| branch.loops().map(|(_, id, _)| tree.info(id).name.clone()).collect())
}
