//! Schedules that users bring: where they stand, and for which functions they are.

use diag::{Diagnostic, Source};
use program::Function;
use steps::Step;
use syntax::script;

use crate::versions::{Versions, hold};

/// A schedule given by the user.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A script in the language of `docs/schedules.md`.
    Script(Source),
    /// The schedules that stand beside the functions of a program.
    Beside(Source),
    /// An isl schedule tree as YAML.
    Tree(Source),
}

/// Why a script was not followed; the diagnostics are about the script.
pub(crate) type Refused = Vec<Diagnostic>;

impl Schedule {
    /// The text that it stands in.
    pub(crate) fn text(&self) -> &Source {
        match self {
            Schedule::Script(text) | Schedule::Beside(text) | Schedule::Tree(text) => text,
        }
    }

    /// The schedules by function; none of a tree.
    pub(crate) fn parse(&self) -> Result<script::Script, Refused> {
        match self {
            Schedule::Script(text) => syntax::parse_script(text),
            Schedule::Beside(program) => Ok(script::Script { schedules: syntax::parse(program)?.schedules }),
            Schedule::Tree(_) => Ok(script::Script { schedules: Vec::new() }),
        }
    }

    /// The lines that are for one function at some sizes; none if there are no such.
    pub(crate) fn lines(&self, function: &Function, params: &[i64]) -> Result<Option<Vec<script::Step>>, Refused> {
        for schedule in self.of(function)? {
            if hold(&steps::read_sizes(&schedule.sizes, function)?, params) {
                return Ok(Some(schedule.steps));
            }
        }
        Ok(None)
    }

    /// The ways to run one function, each for some sizes; the last is for all others. None if there is no schedule for it.
    pub(crate) fn versions(&self, function: &Function) -> Result<Option<Versions<Vec<Step>>>, Refused> {
        let schedules = self.of(function)?;
        if schedules.is_empty() {
            return Ok(None);
        }
        let mut diagnostics = Vec::new();
        let mut versions = Versions { special: Vec::new(), general: Vec::new() };
        for schedule in &schedules {
            let mut steps = Vec::new();
            for line in &schedule.steps {
                match steps::read(line, function) {
                    Ok(step) => steps.push(step),
                    Err(errors) => diagnostics.extend(errors),
                }
            }
            match steps::read_sizes(&schedule.sizes, function) {
                Ok(_) if schedule.sizes.is_empty() => versions.general = steps,
                Ok(sizes) => versions.special.push((sizes, steps)),
                Err(errors) => diagnostics.extend(errors),
            }
        }
        if diagnostics.is_empty() { Ok(Some(versions)) } else { Err(diagnostics) }
    }

    /// What is written for one function, in its order.
    fn of(&self, function: &Function) -> Result<Vec<script::Schedule>, Refused> {
        let mut schedules = self.parse()?.schedules;
        schedules.retain(|schedule| schedule.function.name == function.name);
        Ok(schedules)
    }
}

/// A function has so many schedules for different sizes at most.
const MOST_VERSIONS: usize = 16;

/// Every schedule of a script must be for a function of the program, and for sizes that are left.
pub(crate) fn check_names(schedules: &[script::Schedule], program: &program::Program) -> Result<(), Refused> {
    for (position, schedule) in schedules.iter().enumerate() {
        let for_all =
            |earlier: &&script::Schedule| earlier.function.name == schedule.function.name && earlier.sizes.is_empty();
        if let Some(first) = schedules[..position].iter().find(for_all) {
            let name = &schedule.function.name;
            let (message, first_is, help) = match schedule.sizes.is_empty() {
                true => (
                    format!("`{name}` has two schedules"),
                    "the first is here",
                    "to have several for different sizes, say for which the first one is: `schedule … where N <= 16 { … }`",
                ),
                false => (
                    format!("no sizes of `{name}` are left"),
                    "this schedule is for all sizes",
                    "a schedule for some sizes stands in front of the one for all others",
                ),
            };
            let diagnostic = Diagnostic::error("E0102", schedule.function.span, message).help(help);
            return Err(vec![diagnostic.label(first.function.span, first_is)]);
        }
        let of_the_same =
            schedules[..position].iter().filter(|earlier| earlier.function.name == schedule.function.name);
        if of_the_same.count() >= MOST_VERSIONS {
            let message = format!("`{}` has more than {MOST_VERSIONS} schedules", schedule.function.name);
            let diagnostic = Diagnostic::error("E0102", schedule.function.span, message);
            return Err(vec![diagnostic.note("each of them is proven and becomes code of its own")]);
        }
    }
    let known: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
    let strangers = schedules.iter().filter(|schedule| !known.contains(&schedule.function.name.as_str()));
    let diagnostics: Vec<Diagnostic> = strangers
        .map(|schedule| {
            let message = format!("the program has no function `{}`", schedule.function.name);
            Diagnostic::error("E0511", schedule.function.span, message)
                .note(format!("its functions are {}", known.join(", ")))
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}
