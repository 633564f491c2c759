//! PolyBench: Farkas' automatic schedules against C compilers, taking turns in one run.
//!
//! In: which dataset, which kernels, and perhaps the original sources.  Out: a table, `target/bench/polybench-SIZE.json` and
//! a chart beside it.
//! The peers compile the C that Farkas itself prints of the program's own order, or the original programs of PolyBench/C where the
//! user has them: `--sources FOLDER`. Arguments are the same files for all who read files, and sums of the results must agree.

mod contenders;
mod data;
mod frame;
mod kernels;
pub(super) mod model;
mod options;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::report::{Limits, Ratio, Report, Row, Work};
use crate::process::{build_farkas, capture, command, complain, heading};
use crate::setup;
use contenders::Contender;
use data::Arguments;
pub(super) use data::npy_header;
use frame::Signature;
use kernels::Kernel;
pub(super) use options::Options;

/// Short kernels are run again and again until they have taken so many seconds, or so many times.
const ENOUGH: f64 = 0.3;
const MOST_REPEATS: u32 = 50;

/// Sums below this are rounding errors of what is 0.
const NOTHING: f64 = 1e-6;

const RATIOS: [Ratio; 5] = [
    Ratio { title: "C/strict", peers: &["gcc", "clang"], ours: "strict", is_charted: false },
    Ratio { title: "C/fast", peers: &["gcc", "clang"], ours: "fast", is_charted: false },
    Ratio { title: "polly/fast", peers: &["polly"], ours: "fast", is_charted: false },
    Ratio { title: "best/fast", peers: &["gcc", "clang", "polly"], ours: "fast", is_charted: true },
    Ratio { title: "fast/cores", peers: &["fast"], ours: "fast, all cores", is_charted: false },
];

/// Measures, prints and saves.
pub(super) fn measure(options: &Options) -> Result<(), String> {
    setup::set_up()?;
    let farkas = build_farkas()?;
    let folder = super::bench_folder(&farkas)?;
    let contenders = contenders::find(&farkas);
    let limits = measure_limits(&farkas)?;
    let chosen: Vec<&Kernel> = kernels::KERNELS.iter().filter(|kernel| options.wants(kernel.name)).collect();
    heading(format!(
        "PolyBench {}: best of {} alternating rounds; peak {:.1} GFLOP/s, memory {:.1} GB/s",
        kernels::SIZES[options.size],
        options.rounds,
        limits.flops / 1e9,
        limits.bytes / 1e9
    ));
    let mut report = Report {
        title: format!(
            "PolyBench {}, one thread: time of the best of gcc, clang and Polly over Farkas (--math=fast)",
            kernels::SIZES[options.size]
        ),
        limits: Some(limits),
        names: contenders.iter().map(|contender| contender.name).collect(),
        ratios: &RATIOS,
        rows: Vec::new(),
    };
    let mut failures = Vec::new();
    for (index, kernel) in chosen.iter().enumerate() {
        complain(format!("[{}/{}] {}", index + 1, chosen.len(), kernel.name));
        let mut bench = Bench { kernel, options, farkas: &farkas, folder: &folder };
        match bench.measure(&contenders) {
            Ok(row) => report.rows.push(row),
            Err(message) => failures.push(format!("{}: {message}", kernel.name)),
        }
    }
    report.publish(&folder, &format!("polybench-{}", kernels::SIZES[options.size]))?;
    for failure in &failures {
        complain(format!("error: {failure}"));
    }
    if failures.is_empty() { Ok(()) } else { Err(format!("{} kernels failed", failures.len())) }
}

/// What the machine can do, measured in the same run.
fn measure_limits(farkas: &Path) -> Result<Limits, String> {
    let number = |program: &Path, words: &[&str]| {
        let output = capture(&mut command(program, words))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.trim().parse::<f64>().map_err(|_| format!("`{}` printed {text:?}", program.display()))
    };
    let multiply_adds = super::compile_c(farkas, "multiply-adds.c")?;
    let stream = super::compile_c(farkas, "stream.c")?;
    let seconds = number(&multiply_adds, &["1024", "1024", "1024", "5"])?;
    let bytes = number(&stream, &["134217728", "5"])?;
    Ok(Limits { flops: 2.0 * 1024_f64.powi(3) / seconds, bytes })
}

struct Bench<'a> {
    kernel: &'a Kernel,
    options: &'a Options,
    farkas: &'a Path,
    folder: &'a Path,
}

impl Bench<'_> {
    /// Writes the arguments of the kernel to files, in a folder of its own; also gives the C source of the program's own order.
    fn lay_out(&self) -> Result<(String, PathBuf, Arguments), String> {
        let sizes = self.kernel.sizes[self.options.size];
        let program = format!("examples/polybench/{}.fks", self.kernel.name);
        let plain = ["build", &program, "--emit=c", "--order=original", "--recipes=none"];
        let printed = capture(&mut command(self.farkas, &plain))?;
        let source = String::from_utf8_lossy(&printed.stdout).into_owned();
        let signature = Signature::read(&source).ok_or("the C source does not say its signature")?;
        let place = self.folder.join("polybench").join(self.kernel.name);
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let arguments = data::write(&place, self.kernel, &signature, sizes)?;
        Ok((source, place, arguments))
    }

    fn setting<'a>(&'a self, place: &'a Path, arguments: &'a Arguments) -> contenders::Setting<'a> {
        contenders::Setting {
            farkas: self.farkas,
            program: format!("examples/polybench/{}.fks", self.kernel.name),
            place,
            kernel: self.kernel,
            dataset: kernels::SIZES[self.options.size],
            sources: self.options.sources.as_deref(),
            arguments,
        }
    }

    fn measure(&mut self, contenders: &[Contender]) -> Result<Row, String> {
        let sizes = self.kernel.sizes[self.options.size];
        let (source, place, arguments) = self.lay_out()?;
        let signature = Signature::read(&source).ok_or("the C source does not say its signature")?;
        fs::write(place.join("kernel.c"), &source).map_err(|error| error.to_string())?;
        let framed = frame::write_program(&signature, "kernel.c")?;
        fs::write(place.join("main.c"), framed).map_err(|error| error.to_string())?;

        let mut runs = Vec::new();
        for contender in contenders {
            let setting = self.setting(&place, &arguments);
            // A peer that cannot be built is a hole in the table, not the end.
            let run =
                contender.prepare(&setting).inspect_err(|error| complain(format!("  {}: {error}", contender.name)));
            runs.push(run.ok());
        }
        let mut best = vec![f64::INFINITY; contenders.len()];
        let mut repeats = vec![1_u32; contenders.len()];
        let mut sums: BTreeMap<String, (f64, &str)> = BTreeMap::new();
        for round in 0..self.options.rounds {
            for (index, run) in runs.iter().enumerate() {
                let Some(run) = run else { continue };
                let outcome = run.time(repeats[index])?;
                best[index] = best[index].min(outcome.seconds);
                if round == 0 {
                    let wished = (ENOUGH / outcome.seconds.max(1e-9)).ceil();
                    repeats[index] = (wished.min(f64::from(MOST_REPEATS)) as u32).max(1);
                    for (name, sum) in outcome.sums {
                        let (first, who) = *sums.entry(name.clone()).or_insert((sum, contenders[index].name));
                        let Some(tolerance) = self.kernel.tolerance else { continue };
                        // Not the other way round: a sum that is no number agrees with none.
                        let agree = (first - sum).abs() <= tolerance * first.abs().max(sum.abs()) + NOTHING;
                        if !agree {
                            return Err(format!(
                                "the sum of {name} is {first} for {who} and {sum} for {}",
                                contenders[index].name
                            ));
                        }
                    }
                }
            }
        }
        let floats: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
        let (operations, bytes) = (self.kernel.work)(&floats);
        let times = best.into_iter().map(|time| time.is_finite().then_some(time)).collect();
        Ok(Row { name: self.kernel.name.to_owned(), work: Some(Work { operations, bytes }), times })
    }
}
