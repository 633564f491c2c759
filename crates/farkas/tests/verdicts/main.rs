//! The verdicts of the compiler against an oracle that shares nothing with it: programs and schedules are made here, together
//! with what they mean, and instances and memory are counted through one by one.
//!
//! Nothing called legal may run a pair of conflicting instances in the wrong order or at once, or compute anything else. Every
//! witness must name two instances that exist, touch the cell as it says, stand in that order in the program, and do not
//! run in that order in the schedule. `FARKAS_PAIRS=20000` is the long form; `FARKAS_SEED` starts elsewhere.
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "the long form says how much it did")]

#[path = "../../../../tests/dice.rs"]
mod dice;
mod program;
mod reduced;
mod rewritten;
mod schedule;

use std::num::NonZeroUsize;
use std::time::Duration;

use diag::{Diagnostic, Source, Style};
use farkas::explore::{Exploration, Judgement, Space, explore, measure};
use farkas::{Args, Data, Engine, Error, Function, Options, Order};

use dice::Dice;
use program::{Instance, Program};
use schedule::Schedule;

/// The sizes at which instances are counted through.
const SIZES: std::ops::RangeInclusive<i64> = 0..=11;

/// How often there was which answer.
#[derive(Debug, Default)]
struct Tally {
    legal: usize,
    illegal: usize,
    unknown: usize,
    unfit: usize,
}

pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub(crate) fn engine(schedule: &Schedule) -> Engine {
    let schedule = match schedule.is_tree {
        true => farkas::Schedule::Tree(Source::new("s.yaml", schedule.text.as_str())),
        false => farkas::Schedule::Script(Source::new("s.sched", schedule.text.as_str())),
    };
    let time_limit = Duration::from_secs(10);
    Engine::with_options(Options { schedule: Some(schedule), time_limit, ..Options::default() })
}

fn judge(program: &Program, schedule: &Schedule, computes: bool, tally: &mut Tally) -> Result<(), String> {
    let source = Source::new("f.fks", program.text());
    match engine(schedule).check(&source) {
        Ok(_) => {
            tally.legal += 1;
            is_legal(program, schedule)?;
            if computes { computes_the_same(program, schedule, &source) } else { Ok(()) }
        }
        Err(Error::Budget { .. }) => {
            tally.unknown += 1;
            Ok(())
        }
        Err(Error::User { diagnostics, .. }) => {
            let refusal = diagnostics.iter().find(|diagnostic| matches!(diagnostic.code, "E0501" | "E0503"));
            match refusal {
                Some(refusal) => {
                    tally.illegal += 1;
                    // Steps are judged one by one, so an earlier one can be the one that is refused.
                    let line = schedule.text[..refusal.span().start as usize].matches('\n').count();
                    is_illegal(program, &schedule.on_line(line), refusal)
                }
                None if diagnostics
                    .iter()
                    .all(|diagnostic| matches!(diagnostic.code, "E0511" | "E0512" | "E0513" | "E0514")) =>
                {
                    tally.unfit += 1;
                    Ok(())
                }
                None => {
                    Err(format!("refused for another reason: {:?}", diagnostics.first().map(|first| &first.message)))
                }
            }
        }
        Err(error) => Err(error.render(Style::Plain)),
    }
}

/// Nothing that conflicts is out of order.
fn is_legal(program: &Program, schedule: &Schedule) -> Result<(), String> {
    for n in SIZES {
        for (first, second) in program.conflicts(n) {
            if let Some(fault) = schedule.fault(&first, &second) {
                return Err(format!("UNSOUND: called legal, but for N = {n}, {first:?} and {second:?}: {fault:?}"));
            }
        }
    }
    Ok(())
}

/// The witness is one.
fn is_illegal(program: &Program, schedule: &Schedule, refusal: &Diagnostic) -> Result<(), String> {
    let data = refusal.data.as_deref().ok_or("a refusal without a witness")?;
    let broken = |what: &str| Err(format!("FALSE WITNESS: {what} in {data}"));
    let n = data["params"]["N"].as_i64().unwrap_or(-1);
    if !(0..=40).contains(&n) {
        return broken("no usable size");
    }
    let instance = |end: &str| -> Option<Instance> {
        let number = data[end]["statement"].as_str()?.strip_prefix('S')?.parse().ok()?;
        let values = &data[end]["values"];
        let values =
            program::NAMES[..program.depth].iter().map(|name| values[*name].as_i64()).collect::<Option<_>>()?;
        Some((number, values))
    };
    let (Some(first), Some(second)) = (instance("source"), instance("sink")) else {
        return broken("no two instances");
    };
    let order = program.instances(n);
    let place = |instance: &Instance| order.iter().position(|known| known == instance);
    let (Some(before), Some(after)) = (place(&first), place(&second)) else {
        return broken("an instance that does not exist");
    };
    if before >= after {
        return broken("a pair that the program does not order so");
    }
    let cell: Vec<i64> =
        data["cell"].as_array().map(|cell| cell.iter().filter_map(|i| i.as_i64()).collect()).unwrap_or_default();
    let touches = |instance: &Instance, writes: bool| {
        let accesses = program.accesses(n, instance);
        accesses.iter().any(|(array, at, kind)| data["array"] == *array && *at == cell && *kind == writes)
    };
    let (first_writes, second_writes) = match data["kind"].as_str() {
        Some("flow") => (true, false),
        Some("anti") => (false, true),
        Some("output") => (true, true),
        _ => return broken("no kind"),
    };
    if !touches(&first, first_writes) || !touches(&second, second_writes) {
        return broken("a cell that is not touched so");
    }
    match schedule.fault(&first, &second) {
        Some(_) => Ok(()),
        None => broken("a pair that runs in order"),
    }
}

/// Machine code of the schedule leaves in memory what the program leaves there.
fn computes_the_same(program: &Program, schedule: &Schedule, source: &Source) -> Result<(), String> {
    let module = match engine(schedule).compile_source(source) {
        Ok(module) => module,
        Err(Error::Budget { .. }) => return Ok(()),
        Err(error) => return Err(error.render(Style::Plain)),
    };
    let function = module.function("f").map_err(|error| error.to_string())?;
    leaves_the_same(program, function)
}

fn leaves_the_same(program: &Program, function: &Function) -> Result<(), String> {
    for n in [5, 8, 11] {
        let width = (2 * n + 4) as usize;
        let start = |count: usize| (0..count as i64).map(|at| at * 7919 % 1009).collect::<Vec<i64>>();
        let (mut a, mut b) = (start(width), start(width * width));
        let (mut found_a, mut found_b) = (Data::from(a.clone()), Data::from(b.clone()));
        let mut args = Args::new();
        args.size("N", n).data_mut("A", &mut found_a, &[width]).data_mut("B", &mut found_b, &[width, width]);
        function.call(&mut args).map_err(|error| error.to_string())?;
        drop(args);
        program.run(n, &program.instances(n), &mut a, &mut b);
        if found_a != Data::from(a) || found_b != Data::from(b) {
            return Err(format!("UNSOUND: called legal, but computes something else for N = {n}"));
        }
    }
    Ok(())
}

fn run(seed: u64, pairs: u64) {
    let start = number("FARKAS_SEED", 0).wrapping_mul(1_000_003) + seed * 500_000_000;
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for at in 0..pairs {
        let mut dice = Dice::new(start + at + 1);
        let program = Program::random(&mut dice);
        let schedule =
            if dice.roll(3) == 0 { Schedule::tree(&mut dice, &program) } else { Schedule::script(&mut dice, &program) };
        if let Err(what) = judge(&program, &schedule, at % 8 == 0, &mut tally) {
            failures.push(format!("{what}\n{}{}", program.text(), schedule.text));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {pairs} ({tally:?}):\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n")
    );
    // Else it is not about verdicts.
    assert!(pairs < 100 || tally.legal * 10 > pairs as usize && tally.illegal * 10 > pairs as usize, "{tally:?}");
    eprintln!("{pairs} pairs: {tally:?}");
}

fn fail<T>(error: &Error, source: &Source) -> T {
    panic!("{}\n{}", error.render(Style::Plain), source.text());
}

/// Every point of a space that is called legal is run.
#[test]
fn points_that_explore_calls_legal_compute_the_same() {
    let (mut legal, mut illegal) = (0, 0);
    for at in 0..number("FARKAS_PAIRS", 1200) / 50 {
        let mut dice = Dice::new(number("FARKAS_SEED", 0).wrapping_mul(1_000_003) + at + 990_001);
        let program = Program::random(&mut dice);
        let inner = program::NAMES[program.depth - 1];
        let text = match program.depth {
            1 => "reverse(i), parallel(i)".to_owned(),
            _ => format!("permute(i,{inner}), reverse(i), tile(i,{inner}; 2,3)"),
        };
        let space: Space = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let source = Source::new("f.fks", program.text());
        let engine = Engine::with_options(Options { order: Order::Original, ..Options::default() });
        let exploration = Exploration { sample: None, seed: 0, threads: NonZeroUsize::new(1) };
        let mut rows = explore(&engine, &source, "f", &space, &exploration, &|_, _| {})
            .unwrap_or_else(|error| fail(&error, &source));
        legal += rows.iter().filter(|row| row.judgement == Judgement::Legal).count();
        illegal += rows.iter().filter(|row| row.judgement != Judgement::Legal).count();
        let run = |function: &Function| {
            leaves_the_same(&program, function).unwrap_or_else(|what| panic!("{what}\n{text}\n{}", program.text()));
            Ok::<_, Error>(Duration::ZERO)
        };
        measure(&engine, &source, "f", &space, &mut rows, run).unwrap_or_else(|error| fail(&error, &source));
    }
    let few = number("FARKAS_PAIRS", 1200) < 1000;
    assert!(few || legal > 20 && illegal > 20, "{legal} legal, {illegal} not");
    eprintln!("{legal} legal points, {illegal} others");
}

// Two halves, so that two cores share the work.

#[test]
fn verdicts_and_witnesses_hold_on_the_first_half() {
    run(1, number("FARKAS_PAIRS", 1200) / 2);
}

#[test]
fn verdicts_and_witnesses_hold_on_the_second_half() {
    run(2, number("FARKAS_PAIRS", 1200) / 2);
}
