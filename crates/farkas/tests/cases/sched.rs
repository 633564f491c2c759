//! Programs with a schedule, in `sched` (a script) or `tree` (an isl schedule tree).
//!
//! `#~ error` in the script marks steps that must be refused; `message` holds the whole error, and `witness` lines
//! `source.values.i = 1` of its data. Without these the schedule must be accepted, and then `run`, `loops` and
//! `schedule` speak of the scheduled program, which is also replayed at small sizes (`Options::verify_dynamic`).
//! Any schedule can be saved as a tree and loaded again, unless its script changes the statements.
//! `options` holds lines `operations = 2000` and `strict-order = true`; `unknown` expects that the budget runs out.

use farkas::{Diagnostic, Emit, Engine, Error, Module, Options, Schedule, Source, Style};
use serde_json::Value;

use crate::case::{self, Case, Section};
use crate::{Failure, errors, run, stages};

pub(crate) fn check(case: &mut Case, failures: &mut Vec<Failure>) {
    if let Err(why) = try_check(case, failures) {
        failures.push(Failure::new(why));
    }
}

fn try_check(case: &mut Case, failures: &mut Vec<Failure>) -> Result<(), String> {
    let options = options(case)?;
    let engine = Engine::with_options(options.clone());
    let replayed = Engine::with_options(Options { verify_dynamic: true, ..options.clone() });
    let checked = replayed.check(&case.source).map(|_| ());
    let compiled = engine.compile_source(&case.source);
    // What `check` says must hold when code is generated.
    let answer = |error: Option<&Error>| error.map_or("accepted".to_string(), |error| error.render(Style::Plain));
    let (one, two) = (answer(checked.as_ref().err()), answer(compiled.as_ref().err()));
    let both_unknown = matches!((&checked, &compiled), (Err(Error::Budget { .. }), Err(Error::Budget { .. })));
    if one != two && !both_unknown {
        failures.push(Failure::new(format!("`check` says\n{one}\nand `compile` says\n{two}")));
    }
    let expects_refusal = has_markers(case)? || case.section("message").is_some() || case.section("witness").is_some();
    match (compiled, expects_refusal, case.section("unknown").is_some()) {
        (Err(Error::Budget { .. }), _, true) => Ok(()),
        (_, _, true) => Err(format!("the budget should run out, but the answer is\n{two}")),
        (Err(error), true, _) => refused(case, &error, failures),
        (Ok(_), true, _) => Err("the schedule is accepted, but should be refused".into()),
        (Err(_), false, _) => Err(format!("the schedule is refused\n{two}")),
        (Ok(module), false, _) => accepted(case, module, &options, failures),
    }
}

/// The schedule of a case, as if it were in a file of its own.
fn schedule(case: &Case) -> Result<Schedule, String> {
    match (case.section("sched"), case.section("tree")) {
        (Some(script), None) => Ok(Schedule::Script(Source::new("case.sched", without_markers(&script.expected)))),
        (None, Some(tree)) => Ok(Schedule::Tree(Source::new("case.yaml", tree.expected.as_str()))),
        _ => Err("a case has one schedule: `sched` or `tree`".into()),
    }
}

/// The script as messages should quote it.
fn without_markers(script: &str) -> String {
    let lines = script.lines().map(|line| line.split("#~").next().unwrap_or_default().trim_end());
    lines.map(|line| format!("{line}\n")).collect()
}

fn options(case: &Case) -> Result<Options, String> {
    let emit = vec![Emit::Program, Emit::Statements, Emit::Deps, Emit::Schedule, Emit::Loops];
    let emit = [emit, case.section("layouts").map(|_| Emit::Layouts).into_iter().collect()].concat();
    let mut options = Options { emit, schedule: Some(schedule(case)?), ..Options::default() };
    for (key, value) in case.section("options").map(pairs).transpose()?.unwrap_or_default() {
        match key.as_str() {
            "strict-order" => options.strict_order = value.parse().map_err(|_| format!("strict-order = {value}"))?,
            "operations" => options.operation_limit = Some(value.parse().map_err(|_| format!("`{value}` operations"))?),
            _ => return Err(format!("there is no option `{key}`")),
        }
    }
    Ok(options)
}

/// The lines `key = value` of a section, without comments.
fn pairs(section: &Section) -> Result<Vec<(String, String)>, String> {
    let lines = section.expected.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let lines = lines.filter(|line| !line.is_empty()).map(|line| {
        let (key, value) = line.split_once('=').ok_or_else(|| format!("`{line}` does not read `key = value`"))?;
        Ok((key.trim().to_string(), value.trim().to_string()))
    });
    lines.collect()
}

fn has_markers(case: &Case) -> Result<bool, String> {
    Ok(match case.section("sched") {
        Some(script) => !case::markers(&script.expected)?.is_empty(),
        None => false,
    })
}

fn refused(case: &mut Case, error: &Error, failures: &mut Vec<Failure>) -> Result<(), String> {
    let Error::User { source, diagnostics } = error else { return Err(format!("not an error of the script: {error}")) };
    if !matches!(source.name(), "case.sched" | "case.yaml") {
        return Err(format!("not an error of the script:\n{}", error.render(Style::Plain)));
    }
    if let Some(script) = case.section("sched") {
        errors::compare_markers(source, &case::markers(&script.expected)?, diagnostics, script.line, failures);
    }
    if let Some(witness) = case.section("witness") {
        compare_witness(witness, diagnostics, failures)?;
    }
    if let Some(position) = case.sections.iter().position(|section| section.name == "message") {
        stages::compare(case, position, &error.render(Style::Plain), failures);
    }
    Ok(())
}

fn compare_witness(section: &Section, diagnostics: &[Diagnostic], failures: &mut Vec<Failure>) -> Result<(), String> {
    let Some(data) = diagnostics.iter().find_map(|diagnostic| diagnostic.data.as_deref()) else {
        return Err("the error has no witness".into());
    };
    for (key, expected) in pairs(section)? {
        let found = key.split('.').try_fold(data, |data, name| data.get(name));
        // What is not JSON is a string: names need no quotes.
        let expected = serde_json::from_str(&expected).unwrap_or(Value::String(expected));
        if found != Some(&expected) {
            let found = found.map_or("nothing".to_string(), Value::to_string);
            failures.push(Failure::new(format!("witness: {key} = {expected} is expected, found {found} in\n{data}")));
        }
    }
    Ok(())
}

fn accepted(case: &mut Case, module: Module, options: &Options, failures: &mut Vec<Failure>) -> Result<(), String> {
    stages::loops_read_back(&module, failures);
    load_again(case, &module, options, failures);
    let mut compiled = stages::beside_original(case, module, options.clone())?;
    if case.section("sched").is_some_and(|script| script.expected.split_whitespace().any(|word| word == "place")) {
        let target = farkas::Target::Ptx { sm: 70 };
        let options = Options { target, device: farkas::Device::Emulate, ..options.clone() };
        let placed = Engine::with_options(options).compile_source(&case.source);
        let placed = placed.map_err(|error| format!("is nothing for a GPU\n{}", error.render(Style::Plain)))?;
        compiled.placed = Some(placed);
    }
    for position in 0..case.sections.len() {
        match case.sections[position].name.clone().as_str() {
            "run" => drop(run::check(&mut case.sections[position], &compiled, failures)),
            "sched" | "tree" | "options" => {}
            name => {
                let found = stages::text_of(&compiled.scheduled, name);
                stages::compare(case, position, &found, failures);
            }
        }
    }
    Ok(())
}

/// Any schedule can be saved, and is then accepted as a tree and is the same schedule.
fn load_again(case: &Case, module: &Module, options: &Options, failures: &mut Vec<Failure>) {
    let [_] = module.functions() else { return };
    // A tree is a schedule of the program's own statements.
    let script = case.section("sched").map_or("", |script| &script.expected);
    if script
        .split_whitespace()
        .any(|word| ["rfactor", "pack", "compute_at", "inline", "expand", "layout", "detach"].contains(&word))
    {
        return;
    }
    let saved = stages::text_of(module, "schedule");
    let tree = Some(Schedule::Tree(Source::new("case.yaml", saved.as_str())));
    // The domain is the same set, but may be written differently; and the parts of a union are in no order.
    let parts = |line: &str| {
        let mut parts: Vec<&str> = line.split(['{', ';', '}']).map(str::trim).collect();
        parts.sort_unstable();
        parts.join(" ")
    };
    let shape = |tree: &str| tree.lines().skip(1).map(|line| format!("{}\n", parts(line))).collect::<String>();
    match Engine::with_options(Options { schedule: tree, ..options.clone() }).compile_source(&case.source) {
        Ok(loaded) => {
            let (saved, loaded) = (shape(&saved), shape(&stages::text_of(&loaded, "schedule")));
            if saved != loaded {
                let diff = crate::pattern::diff(&saved, &loaded);
                failures.push(Failure::new(format!("the saved schedule is another one when it is loaded\n{diff}")));
            }
        }
        Err(error) => {
            let error = error.render(Style::Plain);
            failures.push(Failure::new(format!("the saved schedule is refused\n{error}\n{saved}")));
        }
    }
}
