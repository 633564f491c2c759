//! What a second process takes whose loops are in the cache: from the source to the first result, by stage.
//!
//! Each kernel has a cache of its own, empty at first; the run that fills it is the cold one. Times are those of the command itself,
//! and all inputs are tiny, so that what is seen is compiling.

use std::fs;
use std::path::Path;

use super::compile_time::{find_examples, run_header, stage_table};
use super::table::Table;
use super::{ROUNDS, bench_folder, find_stage, stage_times};
use crate::process::{build_farkas, capture, command, complain, heading, say, workspace_root};
use crate::setup;

type Times = Vec<(String, f64)>;

/// What a second process is to take at most, in milliseconds.
fn goal(example: &str) -> f64 {
    if example == "matmul" { 3.0 } else { 10.0 }
}

/// Measures matmul and PolyBench, or those of them whose name contains one of `names`.
pub(super) fn measure(names: &[String]) -> Result<(), String> {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part.as_str()));
    let mut examples = find_examples()?;
    examples.retain(|name| (name == "matmul" || name.starts_with("polybench/")) && wanted(name));
    if examples.is_empty() {
        return Err(format!("no example matches `{}`", names.join(" ")));
    }
    setup::set_up()?;
    let farkas = build_farkas()?;
    heading(format!("A second process with a warm cache, in ms: the best of {ROUNDS} runs, by stage"));
    let cache = bench_folder(&farkas)?.join("warm-cache");
    let (mut warm, mut summary) = (Vec::new(), Table::new(&["example", "cold", "warm", "goal", "met"]));
    let mut failures = Vec::new();
    for example in examples {
        match time_kernel(&farkas, &example, &cache) {
            Ok((cold, best)) => {
                let (cold, total, goal) = (to_result(&cold), to_result(&best), goal(&example));
                let met = if total <= goal { "yes" } else { "no" };
                let row = [example.clone(), format!("{cold:.2}"), format!("{total:.2}"), format!("{goal:.0}")];
                summary.rows.push(row.into_iter().chain([met.to_owned()]).collect());
                warm.push((example, best));
            }
            Err(message) => failures.push(message),
        }
    }
    say(stage_table(&warm).render());
    heading("From the source to the first result, in ms");
    say(summary.render());
    failures.iter().for_each(|failure| complain(format!("error: {failure}")));
    if failures.is_empty() { Ok(()) } else { Err(format!("{} measurements failed", failures.len())) }
}

/// The stages of a first process, and of the fastest of several others.
fn time_kernel(farkas: &Path, example: &str, cache: &Path) -> Result<(Times, Times), String> {
    let path = format!("examples/{example}.fks");
    let source = fs::read_to_string(workspace_root().join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let args = run_header(&source).ok_or_else(|| format!("{path}: no line `# run: farkas …`"))?;
    if cache.exists() {
        fs::remove_dir_all(cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    }
    let run = || -> Result<Times, String> {
        let output = capture(command(farkas, &args).arg("--time").env("FARKAS_CACHE_DIR", cache))?;
        Ok(stage_times(&String::from_utf8_lossy(&output.stderr)))
    };
    let cold = run()?;
    let mut best: Option<Times> = None;
    for _ in 0..ROUNDS {
        let times = run()?;
        if find_stage(&times, "schedule").is_some() {
            return Err(format!("{path}: its loops did not come from the cache"));
        }
        if best.as_ref().is_none_or(|best| to_result(&times) < to_result(best)) {
            best = Some(times);
        }
    }
    Ok((cold, best.unwrap_or_default()))
}

/// From the source to the first result.
fn to_result(times: &Times) -> f64 {
    ["total", "run"].iter().filter_map(|stage| find_stage(times, stage)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_first_result_is_compiling_and_running() {
        let times = [("parse", 0.5), ("total", 2.0), ("run", 0.25)].map(|(stage, time)| (stage.to_owned(), time));
        assert!((to_result(&times.to_vec()) - 2.25).abs() < 1e-9);
    }
}
