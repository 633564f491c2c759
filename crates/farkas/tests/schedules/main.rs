//! Random schedules of random programs: the static check and the replay must agree.
//!
//! Legal: replaying the schedule finds every read its own writer. Illegal: the witness is a real pair that the schedule
//! turns round. A loop proven parallel can be run backwards. A program with other statements leaves the same formulas in its
//! results, and computes the same numbers as the interpreter. `FARKAS_PAIRS` sets how many pairs of program and schedule
//! are judged (5,000 unless told), `FARKAS_SEED` gives others.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../random/program.rs"]
mod program_text;
mod steps;
#[path = "../random/values.rs"]
mod values;

use std::time::Duration;

use std::rc::Rc;

use ::steps::{Outcome, State, Step};
use isl::{Budget, Context};
use poly::{Proven, Replay, Tree, Verdict, Violation};
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
    /// Legal schedules of programs with other statements.
    rewritten: u32,
}

/// A program as it is written.
struct Subject<'a> {
    case: &'a program_text::Generated,
    written: Rc<poly::Subject>,
    /// The same with all pairs in order as dependences, as if there had been no time for exact ones.
    all_pairs: Rc<poly::Subject>,
    params: Vec<i64>,
}

impl<'a> Subject<'a> {
    fn new(case: &'a program_text::Generated) -> Subject<'a> {
        let source = case.linked();
        let file = syntax::parse(&source).unwrap();
        let program = program::lower(&file, &source).unwrap();
        let ctx = Context::new().unwrap();
        let function = program.functions.iter().find(|function| function.name == "f").unwrap();
        let scop = poly::model(&ctx, function).unwrap();
        let dependences = poly::dependences(&scop, Budget::default()).unwrap();
        let mut params = vec![case.n as i64, case.m as i64];
        for param in &function.params[2..] {
            let derived = param.derived.as_ref().unwrap();
            params.push(derived.eval(&|param| params[param.index()]).unwrap());
        }
        let in_a_moment = Budget { operations: Some(1), ..Budget::default() };
        let all_pairs = poly::dependences(&scop, in_a_moment).unwrap();
        assert!(dependences.exact && !all_pairs.exact);
        let subject = |dependences| Rc::new(poly::Subject::new(scop.clone(), dependences, None));
        Subject { case, written: subject(dependences), all_pairs: subject(all_pairs), params }
    }

    fn within<T>(&self, work: impl FnOnce() -> diag::Result<T>) -> diag::Result<T> {
        let budget = Budget { time: Some(Duration::from_secs(5)), ..Budget::default() };
        self.written.within(budget, work)
    }

    /// The state after a step; none if it is refused.
    fn apply(&self, state: &State, step: &Step, tally: &mut Tally) -> Result<Option<State>, String> {
        match self.within(|| ::steps::apply(state, step)) {
            Ok(Outcome::Done(next)) => Ok(Some(next)),
            Ok(Outcome::Misplaced(_)) => {
                tally.refused += 1;
                Ok(None)
            }
            Ok(Outcome::Changed(_)) => {
                tally.illegal += 1;
                Ok(None)
            }
            Err(diag::Error::Budget { .. }) => {
                tally.unknown += 1;
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Judges a state both ways; whether it is legal.
    fn judge(&self, state: &State, tally: &mut Tally) -> Result<bool, String> {
        let verdict = self.within(|| poly::prove(&state.subject, state.tree.clone()));
        let verdict = verdict.map_err(|error| error.to_string())?;
        if state.subject.written.is_none() {
            let other = self.within(|| poly::prove(&self.all_pairs, state.tree.clone()));
            match (&verdict, other.map_err(|error| error.to_string())?) {
                (Verdict::Legal(_), Verdict::Illegal(other)) => return Err(format!("all pairs: {other:?}")),
                (Verdict::Illegal(_), Verdict::Legal(_)) => return Err("legal by all pairs".into()),
                _ => {}
            }
        }
        match verdict {
            Verdict::Unknown { .. } => {
                tally.unknown += 1;
                Ok(false)
            }
            Verdict::Legal(proven) => {
                tally.legal += 1;
                self.replays(&proven)?;
                if state.subject.written.is_some() {
                    tally.rewritten += 1;
                    self.computes_the_same(&proven)?;
                }
                for backwards in steps::reversals_of_parallel_loops(&state.tree) {
                    tally.parallel += 1;
                    self.runs_backwards(state, backwards)?;
                }
                Ok(true)
            }
            Verdict::Illegal(violation) => {
                tally.illegal += 1;
                match &*violation {
                    Violation::Reversed(pair) => {
                        poly::confirm(&state.subject.scop, pair).map_err(|what| format!("{what}: {pair:?}"))?;
                        self.is_smallest(state, &pair.params)?;
                        Ok(false)
                    }
                    Violation::Carried { .. } | Violation::Wide { .. } | Violation::Misplaced { .. } => Ok(false),
                    Violation::Instances { .. } => Err(format!("{violation:?}")),
                }
            }
        }
    }

    /// At no smaller sizes, one after the other, is anything reversed.
    fn is_smallest(&self, state: &State, params: &[i64]) -> Result<(), String> {
        const MOST: i64 = 200;
        let combinations: i64 = params.iter().map(|size| size + 1).product();
        for number in (0..combinations - 1).step_by(((combinations / MOST) as usize).max(1)) {
            let mut rest = number;
            let mut subject = (*state.subject).clone();
            for (position, size) in params.iter().enumerate() {
                let fixed = i32::try_from(rest % (size + 1)).map_err(|error| error.to_string())?;
                let context = subject.scop.context.fix_si(isl::Dim::Param, position, fixed);
                subject.scop.context = context.map_err(|error| error.to_string())?;
                rest /= size + 1;
            }
            let sizes = subject.scop.context.to_string();
            let verdict = self.within(|| poly::prove(&Rc::new(subject), state.tree.clone()));
            if let Verdict::Illegal(violation) = verdict.map_err(|error| error.to_string())?
                && let Violation::Reversed(pair) = *violation
            {
                return Err(format!("{params:?} are not the smallest sizes, {sizes} are smaller: {pair:?}"));
            }
        }
        Ok(())
    }

    /// A loop that is proven parallel can run backwards.
    fn runs_backwards(&self, state: &State, backwards: Tree) -> Result<(), String> {
        match self.within(|| poly::prove(&state.subject, backwards)).map_err(|error| error.to_string())? {
            Verdict::Legal(proven) => self.replays(&proven),
            Verdict::Unknown { .. } => Ok(()),
            Verdict::Illegal(violation) => Err(format!("a parallel loop cannot run backwards: {violation:?}")),
        }
    }

    fn replays(&self, proven: &Proven) -> Result<(), String> {
        match poly::replay(proven, &self.params).map_err(|error| error.to_string())? {
            Replay::Same => Ok(()),
            Replay::TooLarge => Err("too many instances to replay".into()),
            Replay::Different(disagreement) => Err(format!("called legal, but {}", disagreement.what)),
        }
    }

    /// Runs the program and the loops of a schedule on the interpreter.
    fn computes_the_same(&self, proven: &Proven) -> Result<(), String> {
        let show = |error: &dyn std::fmt::Display| error.to_string();
        let kernel = poly::generate(proven).map_err(|error| show(&error))?.optimized();
        let kernel = kernel.verified().map_err(|error| show(&error))?;
        let (n, m) = (self.case.n, self.case.m);
        let arguments = [("A", n * m, 1), ("v", n, 2), ("w", m, 3), ("U", n * m, 4), ("x", n, 5), ("F", n * m, 6)];
        let argument = |name: &str| {
            let (_, length, seed) = arguments.iter().find(|(known, ..)| *known == name)?;
            Some(values::data(self.case.ty, *length, *seed))
        };
        let env = |names: Vec<String>| interp::Env {
            params: self.params.clone(),
            scalars: Vec::new(),
            arrays: names.iter().map(|name| argument(name)).collect(),
        };
        let mut expected = env(self.written.scop.function.arrays.iter().map(|array| array.name.clone()).collect());
        let mut found = env(kernel.arrays.iter().map(|array| array.name.clone()).collect());
        interp::run_program(&self.written.scop.function, &mut expected).map_err(|error| show(&error))?;
        interp::run_concurrently(&kernel, &mut found, 1).map_err(|error| show(&error))?;
        for name in ["U", "x"] {
            let one = self.written.scop.function.arrays.iter().position(|array| array.name == name);
            let two = kernel.arrays.iter().position(|array| array.name == name);
            let (Some(one), Some(two)) = (one, two) else { return Err(format!("`{name}` is lost")) };
            let (Some(one), Some(two)) = (&expected.arrays[one], &found.arrays[two]) else { continue };
            if !values::agree(self.case.ty, self.case.rounds, one, two) {
                return Err(format!("{name} should be {one:?}, but is {two:?}, by\n{kernel}"));
            }
        }
        Ok(())
    }
}

/// Judges some scripts for one program; each script goes on until a step is refused or illegal.
fn check(program: &[u8], scripts: &[Vec<u8>], tally: &mut Tally) -> Result<(), String> {
    let case = program_text::generate(program);
    let subject = Subject::new(&case);
    for script in scripts {
        let tree = subject.written.scop.order.clone();
        let mut state = State { subject: Rc::clone(&subject.written), tree };
        let mut choices = steps::Choices::new(script);
        let mut applied = Vec::new();
        for _ in 0..1 + choices.pick(4) {
            let step = choices.step(&state);
            applied.push(::steps::show(&step, &state.subject.scop.function));
            let explain = |what: String, tree: &str| {
                let (n, m, script) = (case.n, case.m, applied.join("\n"));
                format!("N = {n}, M = {m}\n{}\n{script}\n{tree}\n{what}", case.linked().text())
            };
            state = match subject.apply(&state, &step, tally).map_err(|what| explain(what, ""))? {
                Some(changed) => changed,
                None => break,
            };
            let judged = subject.judge(&state, tally);
            let legal = judged.map_err(|what| explain(what, &state.tree.to_text(&state.subject.scop)))?;
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
    let config = Config { cases: 16, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut seeds = TestRunner::new_with_rng(config.clone(), rng);
    let program = proptest::collection::vec(any::<u8>(), 8..70);
    let scripts = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 4..40), 12);
    let cases = (program, scripts);
    let tally = std::cell::Cell::new(Tally::default());
    while tally.get().legal + tally.get().illegal < wanted {
        let mut runner = TestRunner::new_with_rng(config.clone(), seeds.new_rng());
        let result = runner.run(&cases, |(program, scripts)| {
            let mut so_far = tally.get();
            let outcome = check(&program, &scripts, &mut so_far);
            tally.set(so_far);
            outcome.map_err(TestCaseError::fail)
        });
        if let Err(failure) = result {
            panic!("{failure}");
        }
    }
    let tally = tally.get();
    // Of some pairs, all may be legal; of many, enough are of each sort, or the generator has lost its point.
    let verdicts = tally.legal > wanted / 10 && tally.illegal > wanted / 50;
    let varied = verdicts && tally.parallel > 0 && tally.rewritten > wanted / 100;
    assert!(varied || wanted < 1000, "{tally:?}");
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
