//! Spaces of schedules: dimensions, each with choices, each a few transformation steps.
//!
//! `tile(i, j; 8, 16)` chooses a size for each loop, or none at all; `permute(i, j, k)` an order; `skew(t, i; 0..2)` a
//! factor; `shift(S1[i]; -1..1)` a distance; `fuse(S0, S1 at i)`, `fission(S0, S1 at t)`, `interchange(i, j)`,
//! `reverse(i)`, `parallel(i)` and `vectorize(i; 4, 8)` whether, and by how much. Loops without a statement belong to
//! the first statement that has them all.

use std::str::FromStr;

use diag::Span;
use poly::transform::{Step, Target, Word};
use poly::{Entry, Plan};

/// The product of its dimensions; the last one varies fastest.
#[derive(Clone, Debug)]
pub struct Space {
    pub dimensions: Vec<Dimension>,
}

#[derive(Clone, Debug)]
pub struct Dimension {
    /// As written.
    pub text: String,
    pub choices: Vec<Choice>,
}

#[derive(Clone, Debug)]
pub struct Choice {
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
        "interchange" | "reverse" | "parallel" => optional(verb, targets)?,
        _ => {
            let known = "tile permute skew shift strip vectorize unroll jam fuse fission interchange reverse parallel";
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

fn word(text: &str) -> Word {
    Word { text: text.trim().to_string(), span: Span::default() }
}

fn step(verb: &str) -> Step {
    Step::new(word(verb))
}

/// `S0[i, j]`, or loops of whichever statement has them: then the name is empty until [`aim`] fills it in.
fn target(text: &str) -> Result<(Target, Vec<String>), String> {
    let text = text.trim();
    let (name, loops) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((name, loops)) => (name.trim(), loops),
        None => ("", text),
    };
    let loops: Vec<String> = loops.split(',').map(|name| name.trim().to_string()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || character == '_')
    };
    if let Some(bad) = loops.iter().find(|name| !is_name(name)) {
        return Err(format!("`{bad}` is not the name of a loop"));
    }
    Ok((Target { name: word(name), loops: Some(loops.iter().map(|name| word(name)).collect()) }, loops))
}

/// The step with the statements of its loops found in a plan, and the loop of a fusion or fission that has none.
pub(super) fn aim(step: &Step, plan: &Plan) -> Step {
    let mut step = step.clone();
    if step.at.is_none() && matches!(step.verb.text.as_str(), "fuse" | "fission") {
        step.at = meeting(&step, plan);
    }
    if let [target] = step.targets.as_slice()
        && target.name.text.is_empty()
    {
        let names: Vec<&str> = target.loops.iter().flatten().map(|name| name.text.as_str()).collect();
        // How far in the outermost of the loops is, where all of them are there.
        let depth = |statement: &poly::StatementPlan| {
            let levels: Option<Vec<usize>> =
                names.iter().map(|name| statement.loop_named(name).map(|(level, _)| level)).collect();
            levels?.into_iter().min()
        };
        let first = plan.statements.iter().find_map(|statement| Some((statement, depth(statement)?)));
        let in_nest = |statement: &&poly::StatementPlan| {
            first.is_some_and(|(first, level)| {
                let same = statement.source == first.source;
                depth(statement).is_some() && (same || statement.shared_with(first) > level)
            })
        };
        let mut sources: Vec<&str> =
            plan.statements.iter().filter(in_nest).map(|found| found.source.as_str()).collect();
        sources.dedup();
        // Without one, the first statement: the step is then refused in its own words.
        if sources.is_empty() {
            sources.extend(plan.statements.first().map(|statement| statement.source.as_str()));
        }
        step.targets = sources.iter().map(|source| Target { name: word(source), ..target.clone() }).collect();
    }
    step
}

/// The innermost loop that both statements of a fusion could share, or those of a fission do share.
fn meeting(step: &Step, plan: &Plan) -> Option<Word> {
    let of = |target: &Target| {
        let named = |statement: &&poly::StatementPlan| {
            statement.source == target.name.text || statement.name == target.name.text
        };
        plan.statements.iter().filter(named).max_by_key(|statement| statement.loops().count())
    };
    let (first, second) = (of(step.targets.first()?)?, of(step.targets.get(1)?)?);
    let depth = match step.verb.text.as_str() {
        "fuse" => first.loops().count().min(second.loops().count()),
        _ => first.entries[..first.shared_with(second)].iter().filter_map(Entry::as_loop).count(),
    };
    first.loops().nth(depth.checked_sub(1)?).map(|found| word(&found.name))
}

/// Nothing, and every combination of sizes.
fn tilings(targets: &str, sizes: &[i64]) -> Result<Vec<Choice>, String> {
    let (target, loops) = target(targets)?;
    if sizes.is_empty() {
        return Err("`tile` needs sizes behind `;`".into());
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
        let by = chosen.into_iter().map(|size| (size, Span::default())).collect();
        choices.push(Choice { label, steps: vec![Step { targets: vec![target.clone()], by, ..step("tile") }] });
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
    let choice = |order: Vec<String>| {
        let label = order.join(" ");
        let reordered = Target { loops: Some(order.iter().map(|name| word(name)).collect()), ..target.clone() };
        let steps =
            if order == loops { Vec::new() } else { vec![Step { targets: vec![reordered], ..step("reorder") }] };
        Choice { label, steps }
    };
    Ok(orders.into_iter().map(choice).collect())
}

/// A choice per number; 0 leaves everything as it is.
fn amounts(verb: &str, targets: &str, numbers: &[i64]) -> Result<Vec<Choice>, String> {
    let (target, _) = target(targets)?;
    if numbers.is_empty() {
        return Err(format!("`{verb}` needs numbers behind `;`"));
    }
    let choice = |number: &i64| {
        let step = Step { targets: vec![target.clone()], by: vec![(*number, Span::default())], ..step(verb) };
        Choice { label: number.to_string(), steps: if *number == 0 { Vec::new() } else { vec![step] } }
    };
    Ok(numbers.iter().map(choice).collect())
}

/// `S0, S1 at i`: done or not. Without `at`, [`aim`] finds the loop.
fn pairs(verb: &str, targets: &str) -> Result<Vec<Choice>, String> {
    let form = || format!("`{verb}` is written `{verb}(S0, S1)` or `{verb}(S0, S1 at i)`");
    let (statements, at) = match targets.split_once(" at ") {
        Some((statements, at)) => (statements, Some(word(at))),
        None => (targets, None),
    };
    let names: Vec<&str> = statements.split(',').map(str::trim).collect();
    if names.len() != 2 {
        return Err(form());
    }
    let targets = names.iter().map(|name| Target { name: word(name), loops: None }).collect();
    Ok(with_and_without(Step { targets, at, ..step(verb) }))
}

fn optional(verb: &str, targets: &str) -> Result<Vec<Choice>, String> {
    Ok(with_and_without(Step { targets: vec![target(targets)?.0], ..step(verb) }))
}

fn with_and_without(step: Step) -> Vec<Choice> {
    vec![Choice { label: "no".into(), steps: Vec::new() }, Choice { label: "yes".into(), steps: vec![step] }]
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
