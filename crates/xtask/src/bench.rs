//! Benchmarks: run time against the same loops in C, in one run on one machine, and compile time by stage.
//!
//! The two sides take turns and each keeps its best time, so that a busy moment hurts neither side alone.
//! Not here: any way to measure; both commands time themselves.

mod compile_time;
mod layouts;
mod ml;
mod polybench;
mod report;
mod sparse;
mod table;
mod warm;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{build_farkas, capture, cargo, command, complain, heading, run_shown, say};
use crate::setup;
use table::Table;

/// Turns of each side; each turn reports the best of [`REPEAT`] runs in one process.
const ROUNDS: usize = 5;
const REPEAT: &str = "3";

struct Benchmark {
    name: &'static str,
    program: &'static str,
    /// What `farkas run` is told besides the program.
    farkas_args: &'static [&'static str],
    c_args: &'static [&'static str],
    /// C programs that compute the same, under `crates/xtask/bench`.
    peers: &'static [&'static str],
}

const BENCHMARKS: [Benchmark; 5] = [
    Benchmark {
        name: "matmul",
        program: "examples/matmul.fks",
        farkas_args: &["-D", "N=512,M=512,K=512", "--in", "A=rand:1", "--in", "B=rand:2"],
        c_args: &["512", "512", "512"],
        peers: &["matmul-ijk.c", "matmul-ikj.c"],
    },
    Benchmark {
        name: "matmul, scheduled",
        program: "examples/matmul.fks",
        farkas_args: &[
            "-D",
            "N=1024,M=1024,K=1024",
            "--in",
            "A=rand:1",
            "--in",
            "B=rand:2",
            "--schedule",
            "examples/schedules/matmul.sched",
        ],
        c_args: &["1024", "1024", "1024"],
        peers: &["multiply-adds.c", "matmul-ikj.c"],
    },
    Benchmark {
        name: "jacobi-1d",
        program: "examples/jacobi-1d.fks",
        farkas_args: &["-D", "N=4000,T=1000", "--in", "A=rand:1", "--in", "B=rand:2"],
        c_args: &["4000", "1000"],
        peers: &["jacobi-1d.c"],
    },
    Benchmark {
        name: "jacobi-2d",
        program: "crates/xtask/bench/jacobi-2d.fks",
        farkas_args: &["-D", "N=1000,T=20", "--in", "A=rand:1", "--in", "B=rand:2"],
        c_args: &["1000", "20"],
        peers: &["jacobi-2d.c"],
    },
    Benchmark {
        name: "elementwise",
        program: "crates/xtask/bench/elementwise.fks",
        // 100 MB for each array.
        farkas_args: &["-D", "N=12500000", "--in", "a=1.5", "--in", "b=0.5", "--in", "x=rand:1"],
        c_args: &["12500000"],
        peers: &["elementwise.c", "elementwise-fused.c"],
    },
];

/// Micro-kernels of every tier, against what the machine can do in the same run.
fn measure_code() -> Result<(), String> {
    heading("Generated code: register tiles against multiply-adds on registers, streams against a copy");
    let example = ["run", "--quiet", "--release", "--package", "farkas-cpu", "--example", "micro_kernels"];
    run_shown(&mut command(cargo(), &example))
}

/// How fast the emulator of PTX runs kernels.
fn measure_emulator() -> Result<(), String> {
    heading("Emulated PTX: thread-instructions per second, races checked");
    let example = ["run", "--quiet", "--release", "--package", "farkas-ptx", "--example", "emulator_speed"];
    run_shown(&mut command(cargo(), &example))
}

/// The space of schedules of gemm whose legality is decided for the throughput: 2,000 points of it.
const SPACE: &str =
    "tile(i,j,k; 8,16,32,64), permute(i,j,k), skew(i,j; 0..2), shift(S0[k]; -1..1), reverse(k), parallel(i)";
const POINTS: &str = "2000";

/// Measures the benchmarks and examples whose name contains one of `names`, or all of them.
pub(crate) fn measure(names: &[String]) -> Result<(), String> {
    if let [first, rest @ ..] = names
        && first == "polybench"
    {
        return polybench::measure(&polybench::Options::read(rest)?);
    }
    if let [first, rest @ ..] = names
        && first == "ml"
    {
        return ml::measure(rest);
    }
    if let [first, rest @ ..] = names
        && first == "model"
    {
        return polybench::model::measure(&polybench::Options::read_or("medium", rest)?);
    }
    if let [first, rest @ ..] = names
        && first == "warm"
    {
        return warm::measure(rest);
    }
    if let [only] = names
        && only == "layouts"
    {
        return layouts::measure();
    }
    if let [only] = names
        && only == "sparse"
    {
        return sparse::measure();
    }
    if let Some(flag) = names.iter().find(|name| name.starts_with('-')) {
        return Err(format!("only `bench polybench` takes flags, such as `{flag}`"));
    }
    // The code generator alone needs neither isl nor C.
    if let [only] = names
        && only == "code"
    {
        return measure_code();
    }
    if let [only] = names
        && only == "emulator"
    {
        return measure_emulator();
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part.as_str()));
    let benchmarks: Vec<_> = BENCHMARKS.iter().filter(|benchmark| wanted(benchmark.name)).collect();
    let mut examples = compile_time::find_examples()?;
    examples.retain(|example| wanted(example));
    let explores = wanted("explore");
    if benchmarks.is_empty() && examples.is_empty() && !explores {
        let known = BENCHMARKS.map(|benchmark| benchmark.name).join(", ") + ", explore, code, emulator";
        return Err(format!("no benchmark or example matches `{}`; the benchmarks are {known}", names.join(" ")));
    }

    setup::set_up()?;
    let farkas = build_farkas()?;
    let mut failures = Vec::new();

    if !benchmarks.is_empty() {
        heading(format!(
            "Run time: best of {ROUNDS} alternating rounds of {REPEAT} runs, against `{}`",
            compiler_line()
        ));
        let mut table = Table::new(&["program", "sizes", "farkas", "C", "C source", "farkas / C"]);
        for benchmark in benchmarks {
            say(format!("measuring {}", benchmark.name));
            match run_against_c(&farkas, benchmark) {
                Ok(rows) => rows.into_iter().for_each(|row| table.rows.push(row)),
                Err(message) => failures.push(message),
            }
        }
        say(table.render());
    }
    if !examples.is_empty() {
        compile_time::measure(&farkas, examples, &mut failures);
    }
    if explores {
        heading(format!("Exploring: the legality of {POINTS} schedules of gemm"));
        match explore(&farkas) {
            Ok(rate) => say(rate),
            Err(message) => failures.push(message),
        }
    }

    for failure in &failures {
        complain(format!("error: {failure}"));
    }
    if failures.is_empty() { Ok(()) } else { Err(format!("{} measurements failed", failures.len())) }
}

/// One row for each C program.
fn run_against_c(farkas: &Path, benchmark: &Benchmark) -> Result<Vec<Vec<String>>, String> {
    let peers: Vec<PathBuf> =
        benchmark.peers.iter().map(|source| compile_c(farkas, source)).collect::<Result<_, _>>()?;
    let mut farkas_best = f64::INFINITY;
    let mut c_best = vec![f64::INFINITY; peers.len()];
    for _ in 0..ROUNDS {
        farkas_best = farkas_best.min(run_farkas(farkas, benchmark)?);
        for (best, peer) in c_best.iter_mut().zip(&peers) {
            *best = best.min(run_c(peer, benchmark.c_args)?);
        }
    }
    let row = |(source, c): (&&str, f64)| {
        vec![
            benchmark.name.to_owned(),
            benchmark.farkas_args[1].to_owned(),
            format!("{farkas_best:.2} ms"),
            format!("{c:.2} ms"),
            (*source).to_owned(),
            format!("{:.2}", farkas_best / c),
        ]
    };
    Ok(benchmark.peers.iter().zip(c_best).map(row).collect())
}

/// The run time of the compiled function in milliseconds.
fn run_farkas(farkas: &Path, benchmark: &Benchmark) -> Result<f64, String> {
    let mut run = command(farkas, &["run", benchmark.program]);
    run.args(benchmark.farkas_args).args(["--repeat", REPEAT, "--time"]);
    let output = capture(&mut run)?;
    let times = stage_times(&String::from_utf8_lossy(&output.stderr));
    find_stage(&times, "run").ok_or_else(|| format!("{}: farkas did not report `time: run`", benchmark.name))
}

/// The time that the C program prints in seconds, in milliseconds.
fn run_c(program: &Path, sizes: &[&str]) -> Result<f64, String> {
    let output = capture(command(program, sizes).arg(REPEAT))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds: f64 = text.trim().parse().map_err(|_| format!("`{}` printed {text:?}", program.display()))?;
    Ok(seconds * 1e3)
}

fn compiler() -> String {
    env::var("CC").ok().filter(|cc| !cc.trim().is_empty()).unwrap_or_else(|| "cc".to_owned())
}

fn compiler_line() -> String {
    format!("{} -O3 -march=native", compiler())
}

/// `bench` in cargo's target folder.
fn bench_folder(farkas: &Path) -> Result<PathBuf, String> {
    let target = farkas.ancestors().nth(2).ok_or_else(|| format!("{} is in no target folder", farkas.display()))?;
    let folder = target.join("bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Compiles a peer next to the farkas command, where build output belongs.
fn compile_c(farkas: &Path, source: &str) -> Result<PathBuf, String> {
    let folder = farkas.with_file_name("xtask-bench");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let program = folder.join(source).with_extension(env::consts::EXE_EXTENSION);
    let line = compiler_line();
    let mut words = line.split_whitespace();
    let mut compile = command(words.next().unwrap_or("cc"), &[]);
    compile.args(words).arg("-o").arg(&program).arg(Path::new("crates/xtask/bench").join(source));
    capture(&mut compile)?;
    Ok(program)
}

/// What `farkas explore` says about its own speed, at its best.
fn explore(farkas: &Path) -> Result<String, String> {
    let mut best: Option<(f64, String)> = None;
    for _ in 0..ROUNDS {
        let words = ["explore", "examples/gemm.fks", "--sample", POINTS, "--seed", "1", "--space", SPACE];
        let output = capture(&mut command(farkas, &words))?;
        let told = String::from_utf8_lossy(&output.stderr);
        let line = told.lines().find_map(|line| line.strip_prefix("time: "));
        let rate = line.and_then(|line| line.split(", ").nth(1)?.strip_suffix(" points/s")?.parse::<f64>().ok());
        let (Some(line), Some(rate)) = (line, rate) else { return Err(format!("farkas explore told no rate: {told}")) };
        if best.as_ref().is_none_or(|(most, _)| rate > *most) {
            best = Some((rate, line.to_owned()));
        }
    }
    Ok(best.map(|(_, line)| line).unwrap_or_default())
}

/// The stages and milliseconds in lines of the form `time: parse 0.12 ms`.
fn stage_times(stderr: &str) -> Vec<(String, f64)> {
    let read = |line: &str| {
        let mut words = line.strip_prefix("time:")?.split_whitespace();
        let (stage, time, unit) = (words.next()?, words.next()?, words.next()?);
        (unit == "ms").then_some((stage.to_owned(), time.parse().ok()?))
    };
    stderr.lines().filter_map(read).collect()
}

fn find_stage(times: &[(String, f64)], stage: &str) -> Option<f64> {
    times.iter().find(|(name, _)| name == stage).map(|(_, time)| *time)
}

/// A line such as `C: f64[4, 3]  (sum 37.69, fnv1a d60ecb970160da3a)`.
fn read_farkas_sum(line: &str) -> Option<(String, f64)> {
    let (name, rest) = line.split_once(": ")?;
    let (_, rest) = rest.split_once("(sum ")?;
    let (sum, _) = rest.split_once(',')?;
    Some((name.to_owned(), sum.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::workspace_root;

    #[test]
    fn stage_times_are_read_among_other_lines() {
        let stderr = "warning: x\ntime: parse 0.25 ms\ntime: run 12 ms\ntime: odd\ntime: y 3 s\n";
        let times = stage_times(stderr);
        assert_eq!(times, [("parse".to_owned(), 0.25), ("run".to_owned(), 12.0)]);
        assert_eq!(find_stage(&times, "run"), Some(12.0));
        assert_eq!(find_stage(&times, "deps"), None);
    }

    #[test]
    fn sums_are_read_from_what_the_command_prints() {
        let line = "C: f64[4, 3]  (sum 37.5, fnv1a d60ecb970160da3a)";
        assert_eq!(read_farkas_sum(line), Some(("C".to_owned(), 37.5)));
        assert_eq!(read_farkas_sum("[[ 3.4, 3.3]]"), None);
    }

    #[test]
    fn benchmarks_name_files_that_exist() {
        let root = workspace_root();
        for benchmark in &BENCHMARKS {
            assert!(root.join(benchmark.program).is_file(), "{}", benchmark.program);
            for peer in benchmark.peers {
                assert!(root.join("crates/xtask/bench").join(peer).is_file(), "{peer}");
            }
        }
    }
}
