//! Random steps that fit a plan, made from bytes.

use diag::Span;
use poly::transform::{Condition, Step, Target, Word};
use poly::{Entry, LoopKind, Plan, Scop};
use program::{Affine, Cond, IterId};

pub(crate) struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

fn word(text: &str) -> Word {
    Word { text: text.to_string(), span: Span::default() }
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes: bytes.iter() }
    }

    /// A choice among `n`; 0 when there are no bytes left.
    pub(crate) fn pick(&mut self, n: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % n.max(1))
    }

    pub(crate) fn step(&mut self, plan: &Plan, scop: &Scop) -> Step {
        let verbs = [
            "interchange",
            "tile",
            "skew",
            "shift",
            "reverse",
            "strip",
            "reorder",
            "fuse",
            "fission",
            "sequence",
            "split",
            "parallel",
            "jam",
            "vectorize",
            "scale",
            "rfactor",
            "inline",
            "pack",
            "compute_at",
            "compute_at",
        ];
        let verb = verbs[self.pick(verbs.len())];
        let mut step = Step::new(word(verb));
        let position = self.pick(plan.statements.len());
        let statement = &plan.statements[position];
        let loops: Vec<&str> = statement.loops().map(|found| found.name.as_str()).collect();
        let other = &plan.statements[self.pick(plan.statements.len())];
        let wanted = match verb {
            "interchange" | "skew" => 2,
            "tile" | "reorder" => 2 + self.pick(2),
            _ => 1,
        };
        let mut chosen: Vec<&str> = Vec::new();
        for _ in 0..wanted {
            let name = loops.get(self.pick(loops.len())).copied().unwrap_or("none");
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
        let with_loops =
            |source: &str| Target { name: word(source), loops: Some(chosen.iter().map(|name| word(name)).collect()) };
        match verb {
            "fuse" | "fission" | "sequence" => {
                let plain = |source: &str| Target { name: word(source), loops: None };
                step.targets = vec![plain(&statement.source), plain(&other.source)];
                step.at = Some(word(chosen[0]));
            }
            "inline" | "pack" | "compute_at" => {
                // An array that the statement reads.
                let reads = &scop.statements[position].reads;
                let array = reads.get(self.pick(reads.len())).map_or("none", |read| &scop.array(read.array).name);
                step.targets = vec![Target { name: word(array), loops: None }];
                if verb != "inline" {
                    step.at = Some(word(chosen[0]));
                    step.at_statement = Some(word(&statement.name));
                }
            }
            _ => step.targets.push(with_loops(&statement.source)),
        }
        let size = |choices: &mut Self| [2, 3, 4, 1][choices.pick(4)];
        match verb {
            "tile" => step.by = chosen.iter().map(|_| (size(self), Span::default())).collect(),
            "skew" => step.by = vec![([1, -1, 2][self.pick(3)], Span::default())],
            "shift" => step.by = vec![([1, -1, 2, -2][self.pick(4)], Span::default())],
            "strip" | "jam" | "vectorize" | "scale" => step.by = vec![(size(self), Span::default())],
            "split" => {
                // `name < 2`, or `name != 1`, of the loop's first iterator.
                let bound = Affine::constant(1).sub(&Affine::iter(IterId(0))).unwrap();
                let cond =
                    if self.pick(2) == 0 { Cond::NonNegative(bound) } else { Cond::Zero(bound).negate().unwrap() };
                step.condition = Some(Condition { inputs: vec![word(chosen[0])], cond, span: Span::default() });
            }
            _ => {}
        }
        step
    }
}

pub(crate) fn show(step: &Step) -> String {
    let targets = step.targets.iter().map(|target| {
        let loops = target.loops.iter().flatten().map(|word| word.text.as_str()).collect::<Vec<_>>().join(", ");
        format!("{}[{loops}]", target.name.text)
    });
    let by: Vec<String> = step.by.iter().map(|(value, _)| value.to_string()).collect();
    let at = step.at.as_ref().map_or(String::new(), |word| format!(" at {}", word.text));
    format!("{} {} by {}{at}", step.verb.text, targets.collect::<Vec<_>>().join(", "), by.join(", "))
}

/// The plan with each of its parallel loops run backwards.
pub(crate) fn reversals_of_parallel_loops(plan: &Plan) -> Vec<Plan> {
    let mut names: Vec<String> = Vec::new();
    for found in plan.statements.iter().flat_map(|statement| statement.loops()) {
        if matches!(found.kind, LoopKind::Parallel | LoopKind::Vector(_)) && !names.contains(&found.name) {
            names.push(found.name.clone());
        }
    }
    let reversed = |name: &String| {
        let mut plan = plan.clone();
        for entry in plan.statements.iter_mut().flat_map(|statement| &mut statement.entries) {
            if let Entry::Loop(found) = entry
                && found.name == *name
                && found.kind != LoopKind::Serial
            {
                found.expr = found.expr.scale(-1).unwrap();
            }
        }
        plan
    };
    names.iter().map(reversed).collect()
}
