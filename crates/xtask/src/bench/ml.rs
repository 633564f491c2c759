//! Kernels of machine learning against NumPy, Numba and JAX, one thread each, taking turns in one run.
//!
//! In: parts of names of workloads.  Out: a table, `target/bench/ml.json` and a chart beside it.
//! What the workloads are, and what the peers do, is in `crates/xtask/bench/ml.py`.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::{Ratio, Report, Row};
use super::{bench_folder, find_stage, stage_times};
use crate::process::{build_farkas, capture, command, complain, heading, say};
use crate::setup;

const SCRIPT: &str = "crates/xtask/bench/ml.py";
const PEERS: [&str; 3] = ["numpy", "numba", "jax"];
const ROUNDS: usize = 3;
const REPEAT: &str = "5";

/// Our contenders, and what they tell the command.
const OURS: [(&str, &[&str]); 2] = [("strict", &["--threads", "1"]), ("fast", &["--threads", "1", "--math", "fast"])];

const RATIOS: [Ratio; 2] = [
    Ratio { title: "best/strict", peers: &PEERS, ours: "strict", is_charted: false },
    Ratio { title: "best/fast", peers: &PEERS, ours: "fast", is_charted: true },
];

/// How far sums of results may be apart, in parts of the sum: all is single precision.
const TOLERANCE: f64 = 1e-3;

struct Workload {
    name: String,
    /// What `farkas run` is told, `{}` for the folder of arrays.
    words: Vec<String>,
}

/// Measures the workloads whose name contains one of `filters`, or all of them.
pub(super) fn measure(filters: &[String]) -> Result<(), String> {
    setup::set_up()?;
    let farkas = build_farkas()?;
    let folder = bench_folder(&farkas)?;
    let python = install(&folder)?;
    let listed = capture(&mut command(&python, &[SCRIPT, "list"]))?;
    let workloads = read_list(&String::from_utf8_lossy(&listed.stdout));
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let chosen: Vec<&Workload> = workloads.iter().filter(|workload| wanted(&workload.name)).collect();
    if chosen.is_empty() {
        let known: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
        return Err(format!("no workload matches `{}`; there are {}", filters.join(" "), known.join(", ")));
    }
    heading(format!("Machine learning: best of {ROUNDS} alternating rounds of {REPEAT} runs, one thread"));
    let mut report = Report {
        title: "One thread: time of the best of NumPy, Numba and JAX over Farkas (--math=fast)".to_owned(),
        limits: None,
        names: PEERS.into_iter().chain(OURS.iter().map(|(name, _)| *name)).collect(),
        ratios: &RATIOS,
        rows: Vec::new(),
    };
    let mut failures = 0;
    for (index, workload) in chosen.iter().enumerate() {
        complain(format!("[{}/{}] {}", index + 1, chosen.len(), workload.name));
        match race(&farkas, &python, &folder, workload) {
            Ok(times) => report.rows.push(Row { name: workload.name.clone(), work: None, times }),
            Err(message) => {
                complain(format!("error: {}: {message}", workload.name));
                failures += 1;
            }
        }
    }
    report.publish(&folder, "ml")?;
    if failures == 0 { Ok(()) } else { Err(format!("{failures} workloads failed")) }
}

/// A Python with the peers in a private environment. A peer that cannot be installed does not take part.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("python");
    let python = environment.join("bin").join("python");
    if !python.exists() {
        say(format!("installing {} into {}", PEERS.join(", "), environment.display()));
        capture(command("python3", &["-m", "venv"]).arg(&environment))?;
    }
    for peer in PEERS {
        let there = capture(&mut command(&python, &["-c", &format!("import {peer}")])).is_ok();
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer];
        if !there && let Err(message) = capture(&mut command(&python, &pip)) {
            if peer == "numpy" {
                return Err(message);
            }
            say(format!("bench: no {peer}: {}", message.lines().last().unwrap_or_default()));
        }
    }
    Ok(python)
}

/// Lines of a name and words, with tabs between.
fn read_list(text: &str) -> Vec<Workload> {
    let read = |line: &str| {
        let mut words = line.split('\t').map(str::to_owned);
        Some(Workload { name: words.next()?, words: words.collect() })
    };
    text.lines().filter_map(read).collect()
}

/// The best times, peers first.
fn race(farkas: &Path, python: &Path, folder: &Path, workload: &Workload) -> Result<Vec<Option<f64>>, String> {
    let place = folder.join("ml").join(workload.name.replace(' ', "-"));
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let place_text = place.to_string_lossy().into_owned();
    capture(&mut command(python, &[SCRIPT, "prepare", &workload.name, &place_text]))?;
    let mut best = vec![f64::INFINITY; PEERS.len() + OURS.len()];
    let mut expected = None;
    for _ in 0..ROUNDS {
        for (index, peer) in PEERS.iter().enumerate() {
            let output = capture(&mut command(python, &[SCRIPT, peer, &workload.name, &place_text, REPEAT]));
            let Ok(output) = output else { continue };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let mut numbers = text.lines().map_while(|line| line.parse::<f64>().ok());
            let (Some(time), Some(sum)) = (numbers.next(), numbers.next()) else { continue };
            best[index] = best[index].min(time);
            agree(*expected.get_or_insert(sum), sum, peer)?;
        }
        for (index, (name, options)) in OURS.iter().enumerate() {
            let words = workload.words.iter().map(|word| word.replace("{}", &place_text));
            let mut run = command(farkas, &["run"]);
            run.args(words).args(*options).args(["--time", "--repeat", REPEAT]);
            let output = capture(&mut run)?;
            let times = stage_times(&String::from_utf8_lossy(&output.stderr));
            let time = find_stage(&times, "run").ok_or("farkas did not report `time: run`")?;
            let place = PEERS.len() + index;
            best[place] = best[place].min(time / 1e3);
            let sum = String::from_utf8_lossy(&output.stdout).lines().find_map(super::read_farkas_sum);
            if let (Some(expected), Some((_, sum))) = (expected, sum) {
                agree(expected, sum, name)?;
            }
        }
    }
    Ok(best.into_iter().map(|time| time.is_finite().then_some(time)).collect())
}

fn agree(expected: f64, sum: f64, who: &str) -> Result<(), String> {
    if (expected - sum).abs() <= TOLERANCE * expected.abs().max(1.0) {
        return Ok(());
    }
    Err(format!("the sum of the result should be about {expected}, and is {sum} for {who}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_lines_with_tabs() {
        let list = read_list("row sums\ta.fks\t-D\tN=4\t--in\tX=@{}/X.npy\n");
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].name, "row sums");
        assert_eq!(list[0].words, ["a.fks", "-D", "N=4", "--in", "X=@{}/X.npy"]);
    }

    #[test]
    fn sums_that_are_no_numbers_agree_with_none() {
        assert!(agree(1.0, 1.0001, "us").is_ok());
        assert!(agree(1.0, 1.1, "us").is_err());
        assert!(agree(1.0, f64::NAN, "us").is_err());
    }
}
