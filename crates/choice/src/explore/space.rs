//! Spaces of schedules: dimensions, each with choices, each a few transformation steps.
//!
//! `tile(i, j; 8, 16)` chooses a size for each loop, or none at all; `permute(i, j, k)` an order; `skew(t, i; 0..2)` a
//! factor; `shift(S1[i]; -1..1)` a distance; `fuse(S0, S1 at i)`, `fission(S0, S1 at t)`, `interchange(i, j)`,
//! `reverse(i)`, `parallel(i)` and `vectorize(i; 4, 8)` whether, and by how much; `rfactor(S0[k])`, `pack(B at k)`,
//! `compute_at(a at S1[i])` and `inline(a)` whether. Loops without a statement belong to the first statement that has
//! them all.

use std::str::FromStr;

use poly::Branch;
use steps::{Loops, Place, State, Step, Target, Verb, Word};

/// The product of its dimensions; the last one varies fastest.
#[derive(Clone, Debug)]
pub struct Space {
    /// What is chosen.
    pub dimensions: Vec<Dimension>,
}

/// One thing to choose.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// As written.
    pub text: String,
    /// What there is to choose from.
    pub choices: Vec<Choice>,
}

/// One of the choices.
#[derive(Clone, Debug)]
pub struct Choice {
    /// As tables show it.
    pub label: String,
    pub(super) steps: Vec<Step>,
}

impl Space {
    /// How many points there are.
    pub fn size(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.choices.len()).fold(1, usize::saturating_mul)
    }

    /// The numbers of the points to look at, ascending.
    pub(super) fn points(&self, sample: Option<usize>, seed: u64) -> Vec<usize> {
        let size = self.size();
        let Some(wanted) = sample.filter(|wanted| *wanted < size) else { return (0..size).collect() };
        let mut state = seed;
        let mut points = std::collections::BTreeSet::new();
        while points.len() < wanted {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            points.insert((mixed ^ (mixed >> 31)) as usize % size);
        }
        points.into_iter().collect()
    }

    pub(super) fn choices(&self, point: usize) -> Vec<&Choice> {
        let mut rest = point;
        let mut choices: Vec<&Choice> = Vec::new();
        for dimension in self.dimensions.iter().rev() {
            let count = dimension.choices.len().max(1);
            choices.extend(dimension.choices.get(rest % count));
            rest /= count;
        }
        choices.reverse();
        choices
    }
}

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> Result<Space, String> {
        if text.len() > 10_000 {
            return Err("a space is described in at most 10,000 characters".into());
        }
        let mut dimensions = Vec::new();
        for part in split_outside_brackets(text, ',')? {
            dimensions.push(dimension(part.trim())?);
        }
        let space = Space { dimensions };
        if space.size() > 100_000_000 {
            return Err(format!("a space of {} points is too large", space.size()));
        }
        Ok(space)
    }
}

/// The parts between separators that stand in no bracket.
fn split_outside_brackets(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (position, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1).ok_or_else(|| format!("unbalanced `{character}` in `{text}`"))?,
            _ if character == separator && depth == 0 => {
                parts.push(&text[start..position]);
                start = position + character.len_utf8();
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(format!("a bracket is not closed in `{text}`"));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

/// `verb(targets; numbers)`
fn dimension(text: &str) -> Result<Dimension, String> {
    let form = || format!("`{text}` is not of the form `verb(loops; numbers)`");
    let (verb, inside) = text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(form)?;
    let verb = verb.trim();
    let parts = split_outside_brackets(inside, ';')?;
    let (targets, numbers) = match parts.as_slice() {
        [targets] => (*targets, Vec::new()),
        [targets, numbers] => (*targets, self::numbers(numbers)?),
        _ => return Err(form()),
    };
    let choices = match verb {
        "tile" => tilings(targets, &numbers)?,
        "permute" => permutations(targets)?,
        "skew" | "shift" | "strip" | "vectorize" | "unroll" | "jam" => amounts(verb, targets, &numbers)?,
        "fuse" | "fission" => pairs(verb, targets)?,
        "interchange" | "reverse" | "parallel" | "rfactor" => optional(verb, targets)?,
        "pack" | "compute_at" | "inline" => of_array(verb, targets)?,
        _ => {
            let known = "tile permute skew shift strip vectorize unroll jam fuse fission interchange reverse parallel \
                         rfactor pack compute_at inline";
            return Err(format!("unknown dimension `{verb}`; the dimensions are {known}"));
        }
    };
    if choices.is_empty() {
        return Err(format!("`{text}` has no choices"));
    }
    Ok(Dimension { text: text.to_string(), choices })
}

/// `8, 16, 0..3`: ranges include both ends.
fn numbers(text: &str) -> Result<Vec<i64>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| text.trim().parse::<i64>().map_err(|_| format!("`{part}` is not a number"));
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if to.saturating_sub(from) > 1000 {
                    return Err(format!("`{part}` is too long a range"));
                }
                numbers.extend(from..=to);
            }
            None => numbers.push(number(part)?),
        }
    }
    Ok(numbers)
}

/// `S0[i, j]`, or loops of whichever statement has them: then the name is empty until [`aim`] fills it in.
fn target(text: &str) -> Result<(Loops, Vec<String>), String> {
    let text = text.trim();
    let (name, loops) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((name, loops)) => (name.trim(), loops),
        None => ("", text),
    };
    let loops: Vec<String> = loops.split(',').map(|name| name.trim().to_string()).collect();
    if let Some(bad) = loops.iter().find(|name| !is_name(name)) {
        return Err(format!("`{bad}` is not the name of a loop"));
    }
    Ok((Loops::of(name, loops.clone()), loops))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || character == '_')
}

/// The step with the statements of its loops found in a tree, and the loop of a fusion or fission that has none.
pub(super) fn aim(step: &Step, state: &State) -> Step {
    let mut step = step.clone();
    match &mut step.verb {
        Verb::Fuse { first, second, at } if at.text.is_empty() => {
            at.text = meeting(state, first, second, true).unwrap_or_default();
        }
        Verb::Fission { first, second, at } if at.text.is_empty() => {
            at.text = meeting(state, first, second, false).unwrap_or_default();
        }
        Verb::Tile { loops, .. }
        | Verb::Strip { loops, .. }
        | Verb::Jam { loops, .. }
        | Verb::Unroll { loops, .. }
        | Verb::Vectorize { loops, .. }
        | Verb::Parallel { loops }
        | Verb::Place { loops, .. }
        | Verb::Interchange { loops }
        | Verb::Reorder { loops }
        | Verb::Skew { loops, .. }
        | Verb::Shift { loops, .. }
        | Verb::Reverse { loops }
        | Verb::Rfactor { loops, .. } => aim_loops(loops, state),
        _ => {}
    }
    step
}

/// Names the statements of the first nest that has all the loops.
fn aim_loops(loops: &mut Loops, state: &State) {
    let [Target::Of(statement, names)] = loops.targets.as_slice() else { return };
    if !statement.text.is_empty() {
        return;
    }
    let (scop, tree) = (&state.subject.scop, &state.tree);
    let branches = tree.branches();
    // The outermost of the loops, where all of them are there.
    let outermost = |branch: &Branch| {
        let found: Option<Vec<_>> = names.iter().map(|name| tree.loop_named(branch, &name.text)).collect();
        found?.into_iter().min_by_key(|(level, ..)| *level).map(|(_, id, _)| id)
    };
    let source = |branch: &Branch| scop.at(branch.statement).source.clone();
    let first = branches.iter().find_map(|branch| Some((source(branch), outermost(branch)?)));
    let mut sources: Vec<String> = Vec::new();
    for branch in &branches {
        let Some((first, id)) = &first else { break };
        let in_nest = outermost(branch).is_some_and(|own| source(branch) == *first || own == *id);
        if in_nest && !sources.contains(&source(branch)) {
            sources.push(source(branch));
        }
    }
    // Without one, the first statement: the step is then refused in its own words.
    if sources.is_empty() {
        sources.extend(scop.statements.first().map(|statement| statement.source.clone()));
    }
    let names = names.clone();
    loops.targets = sources.into_iter().map(|source| Target::Of(Word::new(source), names.clone())).collect();
}

/// The innermost loop that both statements of a fusion could share, or those of a fission do share.
fn meeting(state: &State, first: &Word, second: &Word, fuse: bool) -> Option<String> {
    let (scop, tree) = (&state.subject.scop, &state.tree);
    let branches = tree.branches();
    let of = |name: &Word| {
        let named = |branch: &&Branch| {
            let statement = scop.at(branch.statement);
            statement.source == name.text || statement.name == name.text
        };
        branches.iter().filter(named).max_by_key(|branch| branch.loops().count())
    };
    let (first, second) = (of(first)?, of(second)?);
    let depth = if fuse {
        first.loops().count().min(second.loops().count())
    } else {
        let shared = first.shared_with(second);
        first.loops().filter(|(level, ..)| *level < shared).count()
    };
    let (_, id, _) = first.loops().nth(depth.checked_sub(1)?)?;
    Some(tree.info(id).name.clone())
}

/// Nothing, and every combination of sizes.
fn tilings(targets: &str, sizes: &[i64]) -> Result<Vec<Choice>, String> {
    let (target, loops) = target(targets)?;
    if sizes.is_empty() {
        return Err("`tile` needs sizes behind `;`".into());
    }
    if let Some(size) = sizes.iter().find(|size| **size < 1) {
        return Err(format!("a size of {size} is not possible; sizes are at least 1"));
    }
    let mut choices = vec![Choice { label: "-".into(), steps: Vec::new() }];
    let count = sizes.len().checked_pow(loops.len() as u32).filter(|count| *count <= 1_000_000);
    for number in 0..count.ok_or("too many tile sizes")? {
        let mut rest = number;
        let mut chosen = Vec::new();
        for _ in &loops {
            chosen.push(sizes[rest % sizes.len()]);
            rest /= sizes.len();
        }
        chosen.reverse();
        let label = chosen.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        let step = Step::new(Verb::Tile { loops: target.clone(), sizes: chosen, names: Vec::new() });
        choices.push(Choice { label, steps: vec![step] });
    }
    Ok(choices)
}

fn permutations(targets: &str) -> Result<Vec<Choice>, String> {
    let (target, loops) = target(targets)?;
    if loops.len() > 7 {
        return Err("`permute` takes at most 7 loops".into());
    }
    let mut orders: Vec<Vec<String>> = vec![Vec::new()];
    for _ in &loops {
        let longer = |order: &Vec<String>| {
            let rest = loops.iter().filter(|name| !order.contains(name));
            rest.map(|name| [order.as_slice(), std::slice::from_ref(name)].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let statement = match target.targets.as_slice() {
        [Target::Of(statement, _)] => statement.text.clone(),
        _ => String::new(),
    };
    let choice = |order: Vec<String>| {
        let label = order.join(" ");
        let moved = order != loops;
        let step = Step::new(Verb::Reorder { loops: Loops::of(statement.clone(), order) });
        Choice { label, steps: if moved { vec![step] } else { Vec::new() } }
    };
    Ok(orders.into_iter().map(choice).collect())
}

/// A choice per number; 0 leaves everything as it is.
fn amounts(verb: &str, targets: &str, numbers: &[i64]) -> Result<Vec<Choice>, String> {
    let (loops, names) = target(targets)?;
    if numbers.is_empty() {
        return Err(format!("`{verb}` needs numbers behind `;`"));
    }
    let wanted = if verb == "skew" { 2 } else { 1 };
    if names.len() != wanted {
        return Err(format!("`{verb}` takes {}", if wanted == 2 { "two loops" } else { "one loop" }));
    }
    let step = |number: i64| -> Result<Step, String> {
        let loops = loops.clone();
        let size = || if number < 1 { Err(format!("`{verb}` by {number} is not possible")) } else { Ok(number) };
        Ok(Step::new(match verb {
            "skew" => Verb::Skew { loops, factor: number },
            "shift" => Verb::Shift { loops, distance: number },
            "strip" => Verb::Strip { loops, size: size()?, name: None },
            "unroll" => Verb::Unroll { loops, size: Some(size()?), name: None },
            "jam" => Verb::Jam { loops, size: size()?, name: None },
            _ => {
                let lanes = u32::try_from(size()?).ok().filter(|lanes| *lanes <= 1024);
                Verb::Vectorize { loops, lanes: lanes.ok_or("a vector has at most 1024 lanes")?, name: None }
            }
        }))
    };
    let choice = |number: &i64| {
        let steps = if *number == 0 { Vec::new() } else { vec![step(*number)?] };
        Ok(Choice { label: number.to_string(), steps })
    };
    numbers.iter().map(choice).collect()
}

/// `S0, S1 at i`: done or not. Without `at`, [`aim`] finds the loop.
fn pairs(verb: &str, targets: &str) -> Result<Vec<Choice>, String> {
    let form = || format!("`{verb}` is written `{verb}(S0, S1)` or `{verb}(S0, S1 at i)`");
    let (statements, at) = targets.split_once(" at ").unwrap_or((targets, ""));
    let (first, second) = statements.split_once(',').ok_or_else(form)?;
    if second.contains(',') {
        return Err(form());
    }
    let (first, second) = (Word::new(first.trim()), Word::new(second.trim()));
    let at = Word::new(at.trim());
    let verb = if verb == "fuse" { Verb::Fuse { first, second, at } } else { Verb::Fission { first, second, at } };
    Ok(with_and_without(verb))
}

fn optional(verb: &str, targets: &str) -> Result<Vec<Choice>, String> {
    let (loops, names) = target(targets)?;
    Ok(with_and_without(match (verb, names.len()) {
        ("interchange", 2) => Verb::Interchange { loops },
        ("interchange", _) => return Err("`interchange` takes two loops".into()),
        ("parallel", _) => Verb::Parallel { loops },
        ("reverse", 1) => Verb::Reverse { loops },
        ("rfactor", 1) => Verb::Rfactor { loops, names: Vec::new() },
        _ => return Err(format!("`{verb}` takes one loop")),
    }))
}

/// `B at kt`, `a at S1[i]`, `a`: done or not.
fn of_array(verb: &str, targets: &str) -> Result<Vec<Choice>, String> {
    let (array, at) = match targets.split_once(" at ") {
        Some((array, at)) => (array.trim(), Some(at.trim())),
        None => (targets.trim(), None),
    };
    if !is_name(array) {
        return Err(format!("`{array}` is not the name of an array"));
    }
    let array = Word::new(array);
    let place = |at: &str| -> Result<Place, String> {
        let (statement, at) = match at.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((statement, at)) => (Some(Word::new(statement.trim())), at.trim()),
            None => (None, at),
        };
        if is_name(at) {
            Ok(Place { statement, at: Word::new(at) })
        } else {
            Err(format!("`{at}` is not the name of a loop"))
        }
    };
    Ok(with_and_without(match (verb, at) {
        ("inline", None) => Verb::Inline { array },
        ("pack", Some(at)) => Verb::Pack { array, reads: None, at: Some(place(at)?), panels: Vec::new(), name: None },
        ("compute_at", Some(at)) => Verb::ComputeAt { array, at: place(at)?, name: None },
        ("inline", Some(_)) => return Err("`inline` is written `inline(a)`".into()),
        _ => return Err(format!("`{verb}` is written `{verb}(a at i)` or `{verb}(a at S0[i])`")),
    }))
}

fn with_and_without(verb: Verb) -> Vec<Choice> {
    vec![Choice { label: "no".into(), steps: Vec::new() }, Choice { label: "yes".into(), steps: vec![Step::new(verb)] }]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn points_are_the_product_of_the_choices() {
        let space: Space = "tile(i, j; 8, 16), permute(i, j, k), skew(t, i; 0..2)".parse().unwrap();
        assert_eq!(space.size(), 5 * 6 * 3);
        let labels = |point: usize| space.choices(point).iter().map(|choice| choice.label.clone()).collect::<Vec<_>>();
        assert_eq!(labels(0), ["-", "i j k", "0"]);
        assert_eq!(labels(space.size() - 1), ["16x16", "k j i", "2"]);
        assert_eq!(space.points(Some(7), 1).len(), 7);
    }

    #[test]
    fn bad_spaces_are_explained() {
        for (text, what) in [
            ("tile(i", "not closed"),
            ("tile(i, j)", "needs sizes"),
            ("twist(i)", "unknown dimension"),
            ("skew(t, i; x)", "not a number"),
            ("fuse(S0)", "is written"),
            ("permute(a,b,c,d,e,f,g,h)", "at most 7"),
        ] {
            let error = text.parse::<Space>().unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
