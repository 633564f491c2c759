//! Programs that compile: the text of each stage, and calls.

use std::str::FromStr;

use farkas::{Emit, Engine, Machine, Module, Options, Order, Recipes, Style};

use crate::case::Case;
use crate::{Failure, pattern, run};

/// The same program in the order that the scheduler finds, in its own, and as recipes make it.
pub(crate) struct Compiled {
    pub(crate) scheduled: Module,
    pub(crate) original: Module,
    /// None where a schedule is given.
    pub(crate) prepared: Option<Module>,
    /// For the emulator of GPUs, where the schedule places loops there.
    pub(crate) placed: Option<Module>,
    /// What the source means, for questions that the compiled functions do not answer.
    pub(crate) program: program::Program,
}

pub(crate) fn check(case: &mut Case, failures: &mut Vec<Failure>) {
    // A case about syntax alone need not make sense.
    if let [section] = case.sections.as_slice()
        && section.name == "ast"
    {
        match farkas::syntax_tree(&case.source) {
            Ok(tree) => compare(case, 0, &tree, failures),
            Err(error) => failures.push(Failure::new(format!("does not parse\n{}", error.render(Style::Plain)))),
        }
        return;
    }
    let compiled = match compile(case) {
        Ok(compiled) => compiled,
        Err(error) => return failures.push(Failure::new(error)),
    };
    for module in [&compiled.scheduled, &compiled.original].into_iter().chain(&compiled.prepared) {
        loops_read_back(module, failures);
    }
    for position in 0..case.sections.len() {
        let name = case.sections[position].name.clone();
        let found = match name.as_str() {
            "run" => run::check(&mut case.sections[position], &compiled, failures),
            "ast" => farkas::syntax_tree(&case.source).unwrap_or_else(|error| error.render(Style::Plain)),
            // What recipes make of a program is a matter of its own.
            "script" | "prepared" => {
                let stage = if name == "prepared" { "loops" } else { "script" };
                compiled.prepared.as_ref().map_or(String::new(), |module| text_of(module, stage))
            }
            _ => text_of(&compiled.scheduled, &name),
        };
        if name != "run" {
            compare(case, position, &found, failures);
        }
    }
}

/// Compares a section with what was found, and puts that in its place if it differs.
pub(crate) fn compare(case: &mut Case, position: usize, found: &str, failures: &mut Vec<Failure>) {
    let section = &mut case.sections[position];
    if pattern::matches(&section.expected, found) && pattern::says_something(&section.expected) {
        return;
    }
    let diff = pattern::diff(&section.expected, found);
    failures.push(Failure { text: format!("line {}: --- {}\n{diff}", section.line, section.name), blessable: true });
    section.expected = pattern::normalise(found);
}

fn compile(case: &Case) -> Result<Compiled, String> {
    let emit = vec![Emit::Program, Emit::Statements, Emit::Deps, Emit::Schedule, Emit::Loops];
    let options = Options { emit, recipes: Recipes::None, ..Options::default() };
    let scheduled = Engine::with_options(options.clone()).compile_source(&case.source);
    let scheduled = scheduled.map_err(|error| format!("does not compile\n{}", error.render(Style::Plain)))?;
    let compiled = beside_original(case, scheduled, options)?;
    // One machine for all, wherever the test runs.
    let (emit, machine) = (vec![Emit::Script, Emit::Loops], Some(Machine::REFERENCE));
    let options = Options { emit, recipes: Recipes::Auto, machine, ..Options::default() };
    let prepared = Engine::with_options(options).compile_source(&case.source);
    let prepared = prepared.map_err(|error| format!("has no recipe\n{}", error.render(Style::Plain)))?;
    Ok(Compiled { prepared: Some(prepared), ..compiled })
}

/// A compiled program, and beside it the same in its own order.
pub(crate) fn beside_original(case: &Case, scheduled: Module, options: Options) -> Result<Compiled, String> {
    let options = Options { order: Order::Original, schedule: None, ..options };
    let original = Engine::with_options(options).compile_source(&case.source);
    let original = original.map_err(|error| format!("does not compile\n{}", error.render(Style::Plain)))?;
    let file = syntax::parse(&case.source).map_err(|_| "parses only once")?;
    let program = program::lower(&file, &case.source).map_err(|_| "lowers only once")?;
    Ok(Compiled { scheduled, original, prepared: None, placed: None, program })
}

/// The text of a stage, of all functions.
pub(crate) fn text_of(module: &Module, stage: &str) -> String {
    let Ok(emit) = Emit::from_str(stage) else { return format!("there is no stage `{stage}`") };
    let texts = module.functions().iter().flat_map(|function| function.texts());
    let texts = texts.filter(|(of, _)| *of == emit).map(|(_, text)| pattern::normalise(text));
    texts.collect::<Vec<_>>().join("\n")
}

/// What the loop printer writes, the reader reads.
pub(crate) fn loops_read_back(module: &Module, failures: &mut Vec<Failure>) {
    let texts = module.functions().iter().flat_map(|function| function.texts());
    for (_, text) in texts.filter(|(emit, _)| *emit == Emit::Loops) {
        let again = loops::parse(text)
            .map_err(|error| error.to_string())
            .and_then(|kernel| loops::verify(kernel).map_err(|error| error.to_string()))
            .map_or_else(|error| error, |kernel| kernel.to_string());
        if again != *text {
            let diff = pattern::diff(text, &again);
            failures.push(Failure::new(format!("the loops do not read back as they were printed\n{diff}")));
        }
    }
}
