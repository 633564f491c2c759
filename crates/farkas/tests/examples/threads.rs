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
        let Some(alone) = compile(example, &script, Threads::Count(1))? else { continue };
        let pool = ThreadPoolBuilder::new().num_threads(3).build().map_err(|error| error.to_string())?;
        let mut others = vec![("a pool of the host".to_owned(), Threads::Pool(Arc::new(pool)))];
        others.extend([2, 3, 7].map(|count| (format!("{count} threads"), Threads::Count(count))));
        for (who, threads) in others {
            let shared = compile(example, &script, threads)?.ok_or("a legal schedule is refused")?;
            compare(example, &alone, &shared).map_err(|why| format!("`{script}`, {who}: {why}"))?;
        }
        tried += 1;
        if tried == SCHEDULES {
            break;
        }
    }
    Ok(())
}

/// `None` if the loop is not there or may not be parallel.
fn compile(example: &Example, script: &str, threads: Threads) -> Result<Option<Module>, String> {
    let schedule = Some(Schedule::Script(Source::new("parallel.sched", script)));
    let options = Options { schedule, threads, worth_sharing: Some(Duration::ZERO), ..Options::default() };
    match Engine::with_options(options).compile_source(&example.source) {
        Ok(module) => Ok(Some(module)),
        Err(Error::User { .. } | Error::Budget { .. }) => Ok(None),
        Err(error) => Err(error.render(Style::Plain)),
    }
}

/// Two ways to compile an example give the same bits at all sizes.
pub(crate) fn compare(example: &Example, alone: &Module, shared: &Module) -> Result<(), String> {
    let ([alone], [shared]) = (alone.functions(), shared.functions()) else { return Err("several functions".into()) };
    let params: Vec<&str> = alone.signature().params.iter().map(String::as_str).collect();
    for sizes in sizes::sizes_to_try(&params) {
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
