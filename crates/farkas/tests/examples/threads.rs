//! Threads: every parallel loop that an example can have gives the same bits with any number of them.

use std::sync::Arc;
use std::time::Duration;

use farkas::rayon::ThreadPoolBuilder;
use farkas::{Engine, Error, Function, Module, Options, Schedule, Source, Style, Threads};

use crate::example::{self, Example, Refusal};
use crate::sizes;

/// Schedules that are tried per example.
const SCHEDULES: usize = 2;

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let name = example.function()?.name().to_string();
    let mut tried = 0;
    for iterator in iterators(example.source.text()) {
        let script = format!("schedule {name} {{ parallel {iterator} }}");
        let Some(alone) = compile(example, options(&script, Threads::Count(1)))? else { continue };
        let pool = ThreadPoolBuilder::new().num_threads(3).build().map_err(|error| error.to_string())?;
        let mut others = vec![("a pool of the host".to_owned(), Threads::Pool(Arc::new(pool)))];
        others.extend([2, 3, 7].map(|count| (format!("{count} threads"), Threads::Count(count))));
        for (who, threads) in others {
            let shared = loaded(&alone, options(&script, threads), |options| {
                compile(example, options)?.ok_or_else(|| "a legal schedule is refused".into())
            })?;
            compare(example, &alone, &shared).map_err(|why| format!("`{script}`, {who}: {why}"))?;
        }
        tried += 1;
        if tried == SCHEDULES {
            break;
        }
    }
    Ok(())
}

/// Code with other options for the loops of a module, without finding them again where they can be proven from themselves.
pub(crate) fn loaded(
    module: &Module,
    options: Options,
    compile: impl FnOnce(Options) -> Result<Module, String>,
) -> Result<Module, String> {
    match Module::deserialize(&module.serialize(), &Engine::with_options(options.clone())) {
        Ok(module) => Ok(module),
        Err(Error::Unusable { .. }) => compile(options),
        Err(error) => Err(error.render(Style::Plain)),
    }
}

fn options(script: &str, threads: Threads) -> Options {
    let schedule = Some(Schedule::Script(Source::new("parallel.sched", script)));
    Options { schedule, threads, worth_sharing: Some(Duration::ZERO), ..Options::default() }
}

/// `None` if the loop is not there or may not be parallel.
fn compile(example: &Example, options: Options) -> Result<Option<Module>, String> {
    match Engine::with_options(options).compile_source(&example.source) {
        Ok(module) => Ok(Some(module)),
        Err(Error::User { .. } | Error::Budget { .. }) => Ok(None),
        Err(error) => Err(error.render(Style::Plain)),
    }
}

/// Two ways to compile an example give the same bits at all sizes.
pub(crate) fn compare(example: &Example, alone: &Module, shared: &Module) -> Result<(), String> {
    let ([alone], [shared]) = (alone.functions(), shared.functions()) else { return Err("several functions".into()) };
    for sizes in sizes::sizes_to_try(example)? {
        let Ok(inputs) = sizes::inputs(example, &sizes) else { continue };
        let [expected, found] =
            [alone, shared].map(|function| example::call(function, Function::call, &sizes, &inputs));
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                for (name, expected) in &expected {
                    let same = expected.iter().zip(&found[name]).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan());
                    if !same {
                        return Err(format!("{sizes:?}: `{name}` has other bits"));
                    }
                }
            }
            (Err(Refusal::Sizes), Err(Refusal::Sizes)) | (Err(Refusal::Data(_)), Err(Refusal::Data(_))) => {}
            (Err(Refusal::Failed(why)), _) | (_, Err(Refusal::Failed(why))) => return Err(format!("{sizes:?}: {why}")),
            _ => return Err(format!("{sizes:?}: only one of the two is refused")),
        }
    }
    Ok(())
}

/// Short names in the text, which iterators have.
fn iterators(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    for word in code.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')) {
        let short = word.len() <= 2 && word.starts_with(|first: char| first.is_ascii_lowercase()) && word != "fn";
        if short && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}
