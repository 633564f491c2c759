//! Tuning: which of several schedules is the fastest, by running them.
//!
//! In: a function, the sizes of its calls, and somebody who can time a compiled function.  Out: a trial for each way to choose a
//! schedule. What is known is kept in the cache after each of them, per function, options, sizes and threads; so tuning can be
//! stopped at any time and goes on where it was, and [`Program::compile_for`] takes the best that is known by then.
//! A trial says how to choose, not what to run: whatever a cache says, the schedule that is chosen is proven like any other.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cache::Key;
use crate::engine::{Function, Program};
use crate::threads::Threads;
use crate::{Args, Cache, CallError, Error, Machine, Options, Order, Recipes, Result, Target, call};

/// One way to choose a schedule, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The way, for people.
    pub name: String,
    /// What the schedule was expected to cost; only the order of two costs of one function means something, and only where their names
    /// say `by cost`. None for schedules that somebody wrote.
    pub cost: Option<u64>,
    /// How long a call takes, or why that is not known.
    pub outcome: Outcome,
    /// A hash of the loops.
    loops: String,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A call takes so long.
    Time(Duration),
    /// It has the loops of the trial with this number.
    Same(usize),
    /// It could not be compiled.
    Failed(String),
}

/// A way to choose a schedule.
#[derive(Clone, Debug)]
struct Variation {
    name: &'static str,
    passed_over: usize,
    recipes: Recipes,
    machine: Option<Machine>,
    /// Whether a schedule that somebody wrote is followed.
    as_given: bool,
}

impl Variation {
    /// All of them, for a function that is compiled with these options; what would be compiled without tuning is the first.
    fn all(options: &Options) -> Vec<Variation> {
        let first = Variation {
            name: "by cost, the best",
            passed_over: 0,
            recipes: options.recipes,
            machine: options.machine,
            as_given: false,
        };
        let mut all = Vec::new();
        if options.schedule.is_some() || options.order == Order::Original {
            all.push(Variation { name: "as given", as_given: true, ..first.clone() });
        }
        all.push(first.clone());
        for (passed_over, name) in [(1, "by cost, the second"), (2, "by cost, the third"), (3, "by cost, the fourth")] {
            all.push(Variation { name, passed_over, ..first.clone() });
        }
        if let Some(machine) = options.facts() {
            let Machine { l1, l2, l3, vector_bytes, .. } = machine;
            let smaller = Machine { l1: l1 / 2, l2: l2 / 2, l3: l3 / 2, ..machine };
            let larger = Machine { l1: l1 * 2, l2: l2 * 2, l3: l3 * 2, ..machine };
            all.push(Variation { name: "for caches of half the size", machine: Some(smaller), ..first.clone() });
            all.push(Variation { name: "for caches of twice the size", machine: Some(larger), ..first.clone() });
            if vector_bytes >= 32 {
                let narrower = Machine { vector_bytes: vector_bytes / 2, ..machine };
                all.push(Variation { name: "for vectors of half the width", machine: Some(narrower), ..first.clone() });
            }
            all.push(Variation { name: "without recipes", recipes: Recipes::None, ..first });
        }
        all
    }

    fn options(&self, options: &Options) -> Options {
        let mut options =
            Options { passed_over: self.passed_over, recipes: self.recipes, machine: self.machine, ..options.clone() };
        if !self.as_given {
            options.schedule = None;
            options.order = Order::Scheduled;
        }
        options
    }
}

impl Program {
    /// The sizes of a call of a function with these arguments, by name.
    pub fn sizes_of(&self, name: &str, args: &Args<'_>) -> Result<Vec<(String, i64)>> {
        call::sizes_of(self.function(name)?, args).map_err(|error| Error::of_call(self.source(), error))
    }

    /// The extents of an array argument of a function once the sizes are known.
    pub fn shape_of(&self, name: &str, args: &Args<'_>, array: &str) -> Result<Vec<usize>> {
        call::shape_of(self.function(name)?, args, array).map_err(|error| Error::of_call(self.source(), error))
    }

    /// Has `run` time the function with several schedules, for calls with these sizes. What earlier tuning found out is not
    /// measured again. `tell` is told each trial, those that were known included, and how many there are in all.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let text = "fn sum<N>(x: f64[N]) -> (s: f64) { s = sum[i] x[i] }";
    /// let program = farkas::Engine::new().read(&farkas::Source::new("sum.fks", text))?;
    /// let (x, mut s) = (farkas::Data::from(vec![1.0; 64]), farkas::Data::from(vec![0.0]));
    /// let trials = program.tune("sum", &[("N".to_string(), 64)], |function| {
    ///     let mut args = farkas::Args::new();
    ///     args.data("x", &x, &[64]).data_mut("s", &mut s, &[]);
    ///     let started = Instant::now();
    ///     function.call(&mut args)?;
    ///     Ok::<Duration, farkas::Error>(started.elapsed())
    /// }, |_, _, _| {})?;
    /// assert!(!trials.is_empty());
    /// let fastest = program.compile_for("sum", &[("N".to_string(), 64)])?;
    /// # Ok::<(), farkas::Error>(())
    /// ```
    pub fn tune<E: From<Error>>(
        &self,
        name: &str,
        sizes: &[(String, i64)],
        mut run: impl FnMut(&Function) -> std::result::Result<Duration, E>,
        mut tell: impl FnMut(usize, usize, &Trial),
    ) -> std::result::Result<Vec<Trial>, E> {
        let options = Options { ahead: Some(sizes.to_vec()), ..self.options_of(name)? };
        if options.target != Target::Cpu {
            return Err(Error::Call(CallError::NoMachineCode).into());
        }
        let key = self.tuning_key(name, &options, sizes);
        let known = self.known_trials(&key);
        let mut trials: Vec<Trial> = Vec::new();
        let all = Variation::all(&options);
        for (number, variation) in all.iter().enumerate() {
            let trial = match known.iter().find(|trial| trial.name == variation.name && trial.fits(&trials)) {
                Some(trial) => trial.clone(),
                None => self.attempt(name, variation, &options, &trials, &mut run)?,
            };
            tell(number, all.len(), &trial);
            trials.push(trial);
            self.take_note(&key, &to_text(&trials));
        }
        Ok(trials)
    }

    /// Compiles one function with the schedule that tuning has found to be the fastest for calls with these sizes, or as
    /// [`Program::compile`] does if there was no tuning.
    pub fn compile_for(&self, name: &str, sizes: &[(String, i64)]) -> Result<Function> {
        let options = self.options_of(name)?;
        if options.target != Target::Cpu {
            return self.compile(name);
        }
        let options = Options { ahead: Some(sizes.to_vec()), ..options };
        let known = self.known_trials(&self.tuning_key(name, &options, sizes));
        let winner = fastest(&known).and_then(|best| {
            let name = &known.get(best)?.name;
            Variation::all(&options).into_iter().find(|variation| variation.name == name)
        });
        match winner {
            None => self.compile_with(name, options),
            Some(winner) => self.compile_with(name, winner.options(&options)),
        }
    }

    fn attempt<E: From<Error>>(
        &self,
        name: &str,
        variation: &Variation,
        options: &Options,
        trials: &[Trial],
        run: &mut impl FnMut(&Function) -> std::result::Result<Duration, E>,
    ) -> std::result::Result<Trial, E> {
        let trial = |cost, outcome, loops| Trial { name: variation.name.to_string(), cost, outcome, loops };
        // The cache knows loops, but not what they were expected to cost.
        let options = Options { cache: Cache::Off, ..variation.options(options) };
        let function = match self.compile_with(name, options) {
            Ok(function) => function,
            Err(error @ (Error::Budget { .. } | Error::User { .. })) => {
                return Ok(trial(None, Outcome::Failed(error.to_string()), String::new()));
            }
            Err(error) => return Err(error.into()),
        };
        let loops = Key::of_text(&function.code().generated).to_string();
        let same = trials.iter().position(|other| other.loops == loops && matches!(other.outcome, Outcome::Time(_)));
        let outcome = match same {
            Some(number) => Outcome::Same(number),
            None => Outcome::Time(run(&function)?),
        };
        Ok(trial(function.cost(), outcome, loops))
    }

    /// Of what decides which schedule is the fastest.
    fn tuning_key(&self, name: &str, options: &Options, sizes: &[(String, i64)]) -> Key {
        let threads = match &options.threads {
            Threads::All => "all".to_string(),
            Threads::Count(count) => count.to_string(),
            Threads::Pool(pool) => pool.current_num_threads().to_string(),
        };
        let base = Key::new(self.source(), name, options);
        Key::of_text(&format!("tuned {base} {sizes:?} {threads} {:?}", options.worth_sharing))
    }

    /// What is known about a function, if it makes sense.
    fn known_trials(&self, key: &Key) -> Vec<Trial> {
        self.note(key).and_then(|text| from_text(&text)).unwrap_or_default()
    }
}

impl Trial {
    /// Whether it can stand behind these: what it is the same as is there.
    fn fits(&self, before: &[Trial]) -> bool {
        match self.outcome {
            Outcome::Same(number) => before.get(number).is_some_and(|other| other.loops == self.loops),
            Outcome::Time(_) | Outcome::Failed(_) => true,
        }
    }
}

/// The number of the fastest trial.
pub fn fastest(trials: &[Trial]) -> Option<usize> {
    let timed = trials.iter().enumerate().filter_map(|(number, trial)| match trial.outcome {
        Outcome::Time(time) => Some((time, number)),
        Outcome::Same(_) | Outcome::Failed(_) => None,
    });
    timed.min().map(|(_, number)| number)
}

fn to_text(trials: &[Trial]) -> String {
    let rows = trials.iter().map(|Trial { name, cost, outcome, loops }| {
        let (nanos, same, failed) = match outcome {
            Outcome::Time(time) => (u64::try_from(time.as_nanos()).ok(), None, None),
            Outcome::Same(number) => (None, Some(number), None),
            Outcome::Failed(why) => (None, None, Some(why)),
        };
        json!({ "name": name, "cost": cost, "nanos": nanos, "same": same, "failed": failed, "loops": loops })
    });
    json!({ "trials": rows.collect::<Vec<_>>() }).to_string()
}

/// None if it is not what [`to_text`] writes.
fn from_text(text: &str) -> Option<Vec<Trial>> {
    let stored: Value = serde_json::from_str(text).ok()?;
    let trial = |row: &Value| {
        let word = |what: &str| row[what].as_str().map(str::to_string);
        let same = row["same"].as_u64().and_then(|number| usize::try_from(number).ok());
        let outcome = match (row["nanos"].as_u64(), same) {
            (Some(nanos), _) => Outcome::Time(Duration::from_nanos(nanos)),
            (None, Some(number)) => Outcome::Same(number),
            (None, None) => Outcome::Failed(word("failed")?),
        };
        Some(Trial { name: word("name")?, cost: row["cost"].as_u64(), outcome, loops: word("loops")? })
    };
    stored["trials"].as_array()?.iter().map(trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(name: &str, outcome: Outcome) -> Trial {
        Trial { name: name.to_string(), cost: Some(7), outcome, loops: "x".to_string() }
    }

    #[test]
    fn trials_are_read_as_they_were_written() {
        let trials = vec![
            trial("a", Outcome::Time(Duration::from_nanos(1500))),
            trial("b", Outcome::Same(0)),
            trial("c", Outcome::Failed("why".to_string())),
        ];
        assert_eq!(from_text(&to_text(&trials)), Some(trials.clone()));
        assert_eq!(fastest(&trials), Some(0));
        for text in ["", "{}", "[]", "{\"trials\": 3}", "{\"trials\": [{}]}", "{\"trials\": [{\"name\": \"a\"}]}"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_the_same_as_nothing_is_tried_again() {
        let first = trial("a", Outcome::Time(Duration::from_nanos(1)));
        assert!(trial("b", Outcome::Same(0)).fits(std::slice::from_ref(&first)));
        assert!(!trial("b", Outcome::Same(1)).fits(std::slice::from_ref(&first)));
        assert!(!Trial { loops: "y".to_string(), ..trial("b", Outcome::Same(0)) }.fits(&[first]));
    }
}
