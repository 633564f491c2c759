//! Compile time by stage, of every example.

use std::fs;
use std::path::Path;

use super::table::Table;
use super::{ROUNDS, find_stage, stage_times};
use crate::process::{capture, command, heading, say, workspace_root};

/// Says a table of the examples' times; those that fail are told to the caller.
pub(super) fn measure(farkas: &Path, examples: Vec<String>, failures: &mut Vec<String>) {
    heading(format!("Compile time by stage, in ms: the best of {ROUNDS} cold runs of each example"));
    let mut compiled = Vec::new();
    for example in examples {
        match time_compilation(farkas, &example) {
            Ok(times) => compiled.push((example, times)),
            Err(message) => failures.push(message),
        }
    }
    say(stage_table(&compiled).render());
    say(spread("examples", compiled.iter().map(|(_, times)| times)));
    let polybench = compiled.iter().filter(|(name, _)| name.starts_with("polybench/"));
    say(spread("PolyBench kernels", polybench.map(|(_, times)| times)));
}

/// The paths in `examples/` without `.fks`, such as `polybench/gemm`, sorted; those in folders come last.
pub(super) fn find_examples() -> Result<Vec<String>, String> {
    let list = |folder: &Path| {
        let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        Ok::<_, String>(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>())
    };
    let root = workspace_root().join("examples");
    let mut names = Vec::new();
    for name in list(&root)? {
        if let Some(name) = name.strip_suffix(".fks") {
            names.push(name.to_owned());
        } else if root.join(&name).is_dir() {
            let inside = list(&root.join(&name))?;
            names.extend(inside.iter().filter_map(|file| Some(format!("{name}/{}", file.strip_suffix(".fks")?))));
        }
    }
    names.sort_by_key(|name| (name.contains('/'), name.clone()));
    Ok(names)
}

/// The median and the largest of the total times.
fn spread<'a>(what: &str, compiled: impl Iterator<Item = &'a Vec<(String, f64)>>) -> String {
    let mut totals: Vec<f64> = compiled.filter_map(|times| find_stage(times, "total")).collect();
    totals.sort_by(f64::total_cmp);
    match (totals.get(totals.len() / 2), totals.last()) {
        (Some(median), Some(most)) => format!("{} {what}: median {median:.1} ms, largest {most:.1} ms", totals.len()),
        _ => format!("no {what}"),
    }
}

/// The stages of the fastest of several runs of the example's own `# run:` line.
fn time_compilation(farkas: &Path, example: &str) -> Result<Vec<(String, f64)>, String> {
    let path = format!("examples/{example}.fks");
    let source = fs::read_to_string(workspace_root().join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let args = run_header(&source).ok_or_else(|| format!("{path}: no line `# run: farkas …`"))?;
    let mut best: Option<(f64, Vec<(String, f64)>)> = None;
    for _ in 0..ROUNDS {
        let output = capture(command(farkas, &args).args(["--time", "--no-cache"]))?;
        let times = stage_times(&String::from_utf8_lossy(&output.stderr));
        let total = find_stage(&times, "total").ok_or_else(|| format!("{path}: farkas reported no `time: total`"))?;
        if best.as_ref().is_none_or(|(least, _)| total < *least) {
            best = Some((total, times));
        }
    }
    Ok(best.map(|(_, times)| times).unwrap_or_default())
}

/// The arguments of the command in a `# run: farkas …` line.
pub(super) fn run_header(source: &str) -> Option<Vec<&str>> {
    let line = source.lines().find_map(|line| line.strip_prefix("# run:"))?;
    let mut words = line.split_whitespace();
    (words.next() == Some("farkas")).then(|| words.collect())
}

/// Examples down, stages across in the order in which they were first reported; running is no part of compiling.
pub(super) fn stage_table(compiled: &[(String, Vec<(String, f64)>)]) -> Table {
    let mut stages: Vec<&str> = Vec::new();
    for (stage, _) in compiled.iter().flat_map(|(_, times)| times) {
        if stage != "run" && !stages.contains(&stage.as_str()) {
            stages.push(stage);
        }
    }
    let header: Vec<&str> = ["example"].into_iter().chain(stages.iter().copied()).collect();
    let mut table = Table::new(&header);
    for (example, times) in compiled {
        let cell = |stage: &&str| find_stage(times, stage).map_or_else(|| "-".to_owned(), |time| format!("{time:.2}"));
        table.rows.push([example.clone()].into_iter().chain(stages.iter().map(cell)).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_header_is_found_and_split() {
        let source = "# What it is.\n# run: farkas run a.fks -D N=4\nfn f() {}\n";
        assert_eq!(run_header(source), Some(vec!["run", "a.fks", "-D", "N=4"]));
        assert_eq!(run_header("fn f() {}"), None);
        assert_eq!(run_header("# run: rm x"), None);
    }

    #[test]
    fn every_example_says_how_to_run_it() {
        let examples = find_examples().expect("the examples can be listed");
        assert!(!examples.is_empty());
        for example in examples {
            let path = format!("examples/{example}.fks");
            let source = fs::read_to_string(workspace_root().join(&path)).expect("the example can be read");
            let args = run_header(&source).unwrap_or_default();
            assert_eq!(args.get(..2), Some(&["run", path.as_str()][..]), "{path}");
        }
    }

    #[test]
    fn stages_stand_in_columns() {
        let compiled = [
            ("a".to_owned(), vec![("parse".to_owned(), 0.5), ("total".to_owned(), 10.25), ("run".to_owned(), 1.0)]),
            ("long".to_owned(), vec![("total".to_owned(), 2.0)]),
        ];
        let text = stage_table(&compiled).render();
        assert_eq!(text, "example  parse  total\na         0.50  10.25\nlong         -   2.00");
    }
}
