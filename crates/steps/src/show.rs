//! Steps as lines of a script.

use layout::iter::Operation;
use program::{Cond, Function, Iter};

use crate::rearrange::verb_name;
use crate::step::{Condition, Formula, Loops, Place, Relation, Step, Storage, Target, Verb, Word};

/// A step as a line of a script; of a `map`, several lines.
pub fn show(step: &Step, function: &Function) -> String {
    let by = |sizes: &[i64]| format!(" by {}", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    match &step.verb {
        Verb::Tile { loops: over, sizes, names } => format!("tile {}{}{}", loops(over), by(sizes), named(names)),
        Verb::Strip { loops: over, size, name } => format!("strip {}{}{}", loops(over), by(&[*size]), one(name)),
        Verb::Jam { loops: over, size, name } => format!("jam {}{}{}", loops(over), by(&[*size]), one(name)),
        Verb::Unroll { loops: over, size, name } => {
            let size = size.map_or(String::new(), |size| by(&[size]));
            format!("unroll {}{size}{}", loops(over), one(name))
        }
        Verb::Vectorize { loops: over, lanes, name } => {
            format!("vectorize {}{}{}", loops(over), by(&[i64::from(*lanes)]), one(name))
        }
        Verb::Parallel { loops: over } => format!("parallel {}", loops(over)),
        Verb::Place { loops: over, axis } => format!("place {} -> {}", loops(over), axis.name()),
        Verb::Separate { loops: over } => format!("separate {}", loops(over)),
        Verb::Interchange { loops: over } => format!("interchange {}", loops(over)),
        Verb::Reorder { loops: over } => format!("reorder {}", loops(over)),
        Verb::Skew { loops: over, factor } => format!("skew {}{}", loops(over), by(&[*factor])),
        Verb::Shift { loops: over, distance } => format!("shift {}{}", loops(over), by(&[*distance])),
        Verb::Reverse { loops: over } => format!("reverse {}", loops(over)),
        Verb::Scale { loops: over, factor } => format!("scale {}{}", loops(over), by(&[*factor])),
        Verb::Fuse { first, second, at } => format!("fuse {}, {} at {}", first.text, second.text, at.text),
        Verb::Fission { first, second, at } => format!("fission {}, {} at {}", first.text, second.text, at.text),
        Verb::Sequence { statements } => format!("sequence {}", words(statements)),
        Verb::Split { loops: over, condition } => {
            let text = lent(function, condition).show_cond(condition.body());
            format!("split {} where {text}", loops(over))
        }
        Verb::Detach { statement, condition, name } => {
            let text = lent(function, condition).show_cond(condition.body());
            format!("detach {} where {text}{}", statement.text, one(name))
        }
        Verb::Recount { loops: over, operation, names } => {
            let numbers = match operation {
                Operation::Split { factor, .. } => by(&[*factor]),
                Operation::Resize { left, right } => by(&[*left, *right]),
                Operation::Merge | Operation::Swizzle(_) => String::new(),
            };
            format!("{} {}{numbers}{}", verb_name(step), loops(over), named(names))
        }
        Verb::Loops { loops: over, text, predicate } => {
            let shown = |predicate: &Condition| lent(function, predicate).show_cond(predicate.body());
            let runs = predicate.as_ref().map_or(String::new(), |predicate| format!(" where {}", shown(predicate)));
            format!("loops {} = {}{runs}", loops(over), text.text)
        }
        Verb::Map { relations } => {
            let lines = relations.iter().map(|relation| format!("        {}\n", self::relation(function, relation)));
            format!("map {{\n{}    }}", lines.collect::<String>())
        }
        Verb::Rfactor { loops: over, names } => format!("rfactor {}{}", loops(over), named(names)),
        Verb::Pack { array, reads, at, panels, name } => {
            let reads = reads.as_ref().map_or(String::new(), |reads| format!("[{}]", words(reads)));
            let panels = if panels.is_empty() { String::new() } else { by(panels) };
            let at = at.as_ref().map_or(String::new(), |at| format!(" at {}", place(at)));
            format!("pack {}{reads}{at}{panels}{}", array.text, one(name))
        }
        Verb::ComputeAt { array, at, name } => format!("compute_at {} at {}{}", array.text, place(at), one(name)),
        Verb::Extend { loops: over, size } => format!("extend {}{}", loops(over), by(&[*size])),
        Verb::Inline { array } => format!("inline {}", array.text),
        Verb::Expand { array, indices, name } => format!("expand {}[{}]{}", array.text, words(indices), one(name)),
        Verb::Layout { array, storage, name, given, fill } => {
            let array = &array.text;
            let inputs = |inputs: &[Word]| match inputs {
                [] => String::new(),
                inputs => format!("[{}]", words(inputs)),
            };
            let storage = match storage {
                Storage::Panels(panels) => by(panels),
                Storage::Notation { inputs: names, text, .. } => format!("{} = {text}", inputs(names)),
                Storage::Map { places, shape } => {
                    let list = lent(function, places).show_list(places.body());
                    let shape = shape.as_ref().map(|shape| format!(" in [{}]", function.show_list(shape)));
                    format!("{} => [{list}]{}", inputs(places.inputs()), shape.unwrap_or_default())
                }
            };
            let verb = if *given { "stored" } else { "layout" };
            let fill = fill.as_ref().map_or(String::new(), |value| format!(" fill {}", value.text));
            format!("{verb} {array}{storage}{}{fill}", one(name))
        }
    }
}

/// The steps of a function as a script, for some of its sizes or for all.
pub fn show_script(sizes: Option<&Cond>, steps: &[Step], function: &Function) -> String {
    show_reasoned(sizes, steps.iter().map(|step| (step, "")), function)
}

/// The same, each step with a comment that says why, unless that is empty.
pub fn show_reasoned<'a>(
    sizes: Option<&Cond>,
    steps: impl IntoIterator<Item = (&'a Step, &'a str)>,
    function: &Function,
) -> String {
    let mut lines = String::new();
    for (step, why) in steps {
        let text = show(step, function);
        match why {
            "" => lines.push_str(&format!("    {text}\n")),
            // What takes several lines has the reason above it.
            why if text.contains('\n') => lines.push_str(&format!("    # {why}\n    {text}\n")),
            why => lines.push_str(&format!("    {text:<56} # {why}\n")),
        }
    }
    let sizes = sizes.map_or(String::new(), |sizes| format!(" where {}", function.show_cond(sizes)));
    format!("schedule {}{sizes} {{\n{lines}}}\n", function.name)
}

fn words(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn loops(loops: &Loops) -> String {
    let targets = loops.targets.iter().map(|target| match target {
        Target::Everywhere(name) => name.text.clone(),
        Target::Of(statement, names) => format!("{}[{}]", statement.text, words(names)),
    });
    targets.collect::<Vec<_>>().join(", ")
}

fn named(names: &[Word]) -> String {
    match names {
        [] => String::new(),
        [name] => format!(" as {}", name.text),
        names => format!(" as ({})", words(names)),
    }
}

fn one(name: &Option<Word>) -> String {
    named(name.as_slice())
}

fn place(place: &Place) -> String {
    match &place.statement {
        Some(statement) => format!("{}[{}]", statement.text, place.at.text),
        None => place.at.text.clone(),
    }
}

fn relation(function: &Function, relation: &Relation) -> String {
    let times = lent(function, &relation.times).show_list(relation.times.body());
    format!("{}[{}] -> [{times}]", relation.statement.text, words(relation.times.inputs()))
}

/// A function whose iterators are the inputs of a formula, to show it with.
fn lent<T>(function: &Function, formula: &Formula<T>) -> Function {
    let iter = |input: &Word| Iter { name: input.text.clone(), span: input.span, made_up: false };
    Function { iters: formula.inputs().iter().map(iter).collect(), ..function.clone() }
}
