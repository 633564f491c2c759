//! Schedules that users bring: where they stand, and for which functions they are.

use diag::{Diagnostic, Source};
use program::Function;
use steps::Step;
use syntax::script;

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

    /// The lines for one function; none if there is no schedule for it.
    pub(crate) fn lines(&self, function: &Function) -> Result<Option<Vec<script::Step>>, Refused> {
        let mut schedules = self.parse()?.schedules.into_iter();
        let own = schedules.find(|schedule| schedule.function.name == function.name);
        Ok(own.map(|schedule| schedule.steps))
    }

    /// The steps for one function; none if there is no schedule for it.
    pub(crate) fn steps(&self, function: &Function) -> Result<Option<Vec<Step>>, Refused> {
        let Some(lines) = self.lines(function)? else { return Ok(None) };
        let (mut steps, mut diagnostics) = (Vec::new(), Vec::new());
        for step in &lines {
            match steps::read(step, function) {
                Ok(step) => steps.push(step),
                Err(errors) => diagnostics.extend(errors),
            }
        }
        if diagnostics.is_empty() { Ok(Some(steps)) } else { Err(diagnostics) }
    }
}

/// Every schedule of a script must be for a function of the program.
pub(crate) fn check_names(schedules: &[script::Schedule], program: &program::Program) -> Result<(), Refused> {
    for (position, schedule) in schedules.iter().enumerate() {
        let same = |earlier: &&script::Schedule| earlier.function.name == schedule.function.name;
        if let Some(first) = schedules[..position].iter().find(same) {
            let message = format!("`{}` has two schedules", schedule.function.name);
            let diagnostic = Diagnostic::error("E0102", schedule.function.span, message);
            return Err(vec![diagnostic.label(first.function.span, "the first is here")]);
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
