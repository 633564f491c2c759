//! Random schedules of random programs: the static check and the replay must agree.
//!
//! Legal: replaying the schedule finds every read its own writer. Illegal: the witness is a real pair that the schedule
//! turns round. A loop proven parallel can be run backwards. `FARKAS_PAIRS` sets how many pairs of program and schedule
//! are judged (5,000 unless told), `FARKAS_SEED` gives others.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../random/program.rs"]
#[expect(dead_code, reason = "the type and rounding of a program matter only where it is run")]
mod program_text;
mod steps;

use std::time::Duration;

use diag::Source;
use isl::{Budget, Context};
use poly::transform::apply;
use poly::{Dependences, Kinds, Plan, Scop, Storage, Verdict, Violation};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How often each answer was given, so that the test cannot pass by refusing everything.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    legal: u32,
    illegal: u32,
    refused: u32,
    unknown: u32,
    parallel: u32,
}

struct Subject {
    ctx: Context,
    scop: Scop,
    deps: Dependences,
    params: Vec<i64>,
}

impl Subject {
    fn new(case: &program_text::Generated) -> Subject {
        let source = Source::new("random.fks", case.source.as_str());
        let file = syntax::parse(&source).unwrap();
        let program = program::lower(&file, &source).unwrap();
        let ctx = Context::new().unwrap();
        let scop = poly::model(&ctx, &program.functions[0], Storage::Expanded).unwrap();
        let deps = poly::dependences(&scop).unwrap();
        Subject { ctx, scop, deps, params: vec![case.n as i64, case.m as i64] }
    }

    /// Judges a plan both ways; whether it is legal.
    fn judge(&self, plan: &Plan, tally: &mut Tally) -> Result<bool, String> {
        let tree = plan.tree(&self.scop).map_err(|error| error.to_string())?;
        let budget = Budget { time: Some(Duration::from_secs(5)), operations: None };
        let verdict = self.ctx.with_budget(budget, || Ok(poly::check_legal(&self.scop, &self.deps, tree.clone())));
        match verdict.unwrap().map_err(|error| error.to_string())? {
            Verdict::Unknown { .. } => {
                tally.unknown += 1;
                Ok(false)
            }
            Verdict::Legal(legal) => {
                tally.legal += 1;
                self.replays(&tree)?;
                match poly::check_kinds(&self.scop, &self.deps, plan, legal).map_err(|error| error.to_string())? {
                    Kinds::Proven(_) => {
                        for backwards in steps::reversals_of_parallel_loops(plan) {
                            tally.parallel += 1;
                            self.replays(&backwards.tree(&self.scop).map_err(|error| error.to_string())?)?;
                        }
                        Ok(true)
                    }
                    Kinds::Carried(_) | Kinds::Wide { .. } | Kinds::Unknown { .. } => Ok(false),
                }
            }
            Verdict::Illegal(violation) => {
                tally.illegal += 1;
                match *violation {
                    Violation::Reversed(reversed) => {
                        poly::confirm(&self.scop, &reversed.pair).map_err(|what| format!("{what}: {reversed:?}"))?;
                        Ok(false)
                    }
                    Violation::Instances { .. } => Err(format!("{violation:?}")),
                }
            }
        }
    }

    fn replays(&self, tree: &isl::Schedule) -> Result<(), String> {
        match poly::replay(&self.scop, tree, &self.params).map_err(|error| error.to_string())? {
            None => Ok(()),
            Some(disagreement) => Err(format!("called legal, but {}", disagreement.what)),
        }
    }
}

/// Judges some scripts for one program; each script goes on until a step is refused or illegal.
fn check(program: &[u8], scripts: &[Vec<u8>], tally: &mut Tally) -> Result<(), String> {
    let case = program_text::generate(program);
    let subject = Subject::new(&case);
    for script in scripts {
        let mut plan = Plan::original(&subject.scop);
        let mut choices = steps::Choices::new(script);
        let mut applied = Vec::new();
        for _ in 0..1 + choices.pick(4) {
            let step = choices.step(&plan);
            applied.push(steps::show(&step));
            match apply(&subject.scop, &plan, &step) {
                Err(_) => {
                    tally.refused += 1;
                    break;
                }
                Ok(changed) => plan = changed,
            }
            let legal = subject.judge(&plan, tally).map_err(|what| {
                let (n, m) = (case.n, case.m);
                format!(
                    "N = {n}, M = {m}\n{}\n{}\n{}\n{what}",
                    case.source,
                    applied.join("\n"),
                    plan.to_text(&subject.scop)
                )
            })?;
            if !legal {
                break;
            }
        }
    }
    Ok(())
}

fn run_pairs(seed: u8) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let wanted = number("FARKAS_PAIRS").unwrap_or(5000) / 2;
    let mut bytes = [seed; 32];
    bytes[..4].copy_from_slice(&number("FARKAS_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { cases: 1_000_000, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let program = proptest::collection::vec(any::<u8>(), 8..70);
    let scripts = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 4..40), 12);
    let tally = std::cell::Cell::new(Tally::default());
    let result = runner.run(&(program, scripts), |(program, scripts)| {
        let mut so_far = tally.get();
        if so_far.legal + so_far.illegal >= wanted {
            return Ok(());
        }
        let outcome = check(&program, &scripts, &mut so_far);
        tally.set(so_far);
        outcome.map_err(TestCaseError::fail)
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let tally = tally.get();
    assert!(tally.legal > wanted / 10 && tally.illegal > wanted / 50 && tally.parallel > 0, "{tally:?}");
}

// Two halves, so that two cores share the work.

#[test]
fn static_and_dynamic_legality_agree_on_the_first_half() {
    run_pairs(1);
}

#[test]
fn static_and_dynamic_legality_agree_on_the_second_half() {
    run_pairs(2);
}
