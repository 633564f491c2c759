//! Who takes part: C compilers that are there, and Farkas by its rules of mathematics and its threads.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use super::data::Arguments;
use super::kernels::Kernel;
use crate::process::{capture, command, say, workspace_root};
use crate::setup;

/// What every C compiler is told.
const FLAGS: [&str; 3] = ["-O3", "-march=native", "-ffast-math"];

pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The words before [`FLAGS`].
    Compiler(Vec<String>),
    /// The words after the program.
    Farkas(Vec<String>),
}

/// What all contenders of one kernel share.
pub(super) struct Setting<'a> {
    pub(super) farkas: &'a Path,
    pub(super) program: String,
    /// The folder of the kernel's files.
    pub(super) place: &'a Path,
    pub(super) kernel: &'a Kernel,
    pub(super) dataset: &'a str,
    pub(super) sources: Option<&'a Path>,
    pub(super) arguments: &'a Arguments,
}

/// One time, and the sum of each result where the contender tells it.
pub(super) struct Outcome {
    pub(super) seconds: f64,
    pub(super) sums: Vec<(String, f64)>,
}

/// A contender that is ready to be timed.
pub(super) enum Run {
    /// The words before the number of repetitions.
    Framed(PathBuf, Vec<String>),
    /// An original program, which times itself once.
    Original(PathBuf),
    Farkas(PathBuf, Vec<String>),
}

/// Everyone who can take part on this machine. Installs clang, which brings Polly on Debian, where that is possible.
pub(super) fn find(farkas: &Path) -> Vec<Contender> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let mut found = Vec::new();
    if setup::is_installed("gcc") {
        found.push(Contender { name: "gcc", kind: Kind::Compiler(words("gcc")) });
    }
    match setup::clang() {
        Ok(clang) => {
            found.push(Contender { name: "clang", kind: Kind::Compiler(words(&clang)) });
            let polly = words(&format!("{clang} -mllvm -polly"));
            if knows_polly(farkas, &polly) {
                found.push(Contender { name: "polly", kind: Kind::Compiler(polly) });
            } else {
                say("bench: this clang has no Polly");
            }
        }
        Err(why) => say(format!("bench: no clang: {why}")),
    }
    found.push(Contender { name: "strict", kind: Kind::Farkas(words("--threads 1")) });
    found.push(Contender { name: "fast", kind: Kind::Farkas(words("--threads 1 --math fast")) });
    if thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        found.push(Contender { name: "fast, all cores", kind: Kind::Farkas(words("--math fast")) });
    }
    found
}

fn knows_polly(farkas: &Path, words: &[String]) -> bool {
    let program = farkas.with_file_name("xtask-bench-polly");
    let mut compile = compiler(words);
    compile.arg("-o").arg(&program).arg("crates/xtask/bench/stream.c");
    capture(&mut compile).is_ok()
}

fn compiler(words: &[String]) -> Command {
    let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).chain(FLAGS).collect();
    command(words.first().map_or("cc", String::as_str), &rest)
}

impl Contender {
    pub(super) fn prepare(&self, setting: &Setting<'_>) -> Result<Run, String> {
        match &self.kind {
            Kind::Farkas(options) => Ok(Run::Farkas(setting.farkas.to_owned(), farkas_words(setting, options))),
            Kind::Compiler(words) => {
                let program = setting.place.join(self.name);
                let mut compile = compiler(words);
                compile.arg("-o").arg(&program);
                match setting.sources {
                    Some(sources) => {
                        let folder = sources.join(setting.kernel.folder).join(setting.kernel.name);
                        let utilities = sources.join("utilities");
                        compile.arg("-I").arg(&utilities).arg("-I").arg(&folder);
                        compile
                            .arg(utilities.join("polybench.c"))
                            .arg(folder.join(format!("{}.c", setting.kernel.name)));
                        compile.arg(format!("-D{}_DATASET", setting.dataset.to_uppercase()));
                        compile.args(["-DPOLYBENCH_TIME", "-DPOLYBENCH_NO_FLUSH_CACHE", "-lm"]);
                    }
                    None => {
                        compile.arg("-I").arg(workspace_root().join("crates/xtask/bench"));
                        compile.arg(setting.place.join("main.c")).arg("-lm");
                    }
                }
                capture(&mut compile)?;
                Ok(match setting.sources {
                    Some(_) => Run::Original(program),
                    None => Run::Framed(program, framed_words(setting)),
                })
            }
        }
    }
}

fn framed_words(setting: &Setting<'_>) -> Vec<String> {
    let sizes = setting.arguments.sizes.iter().map(|(_, size)| size.to_string());
    let scalars = setting.arguments.scalars.iter().map(|(_, scalar)| scalar.clone());
    [setting.place.to_string_lossy().into_owned()].into_iter().chain(sizes).chain(scalars).collect()
}

pub(super) fn farkas_words(setting: &Setting<'_>, options: &[String]) -> Vec<String> {
    let mut words = vec!["run".to_owned(), setting.program.clone(), "--time".to_owned()];
    words.extend(options.iter().cloned());
    for (name, size) in &setting.arguments.sizes {
        words.extend(["-D".to_owned(), format!("{name}={size}")]);
    }
    for (name, scalar) in &setting.arguments.scalars {
        words.extend(["--in".to_owned(), format!("{name}={scalar}")]);
    }
    for name in &setting.arguments.arrays {
        let file = setting.place.join(format!("{name}.npy"));
        words.extend(["--in".to_owned(), format!("{name}=@{}", file.display())]);
    }
    words
}

/// A program that runs its kernel once is started so many times, at the most.
const MOST_PROCESSES: u32 = 10;

impl Run {
    /// The best of so many runs. Everybody's arrays are in the caches that they fit into, and on large pages where the system has such.
    pub(super) fn time(&self, repeat: u32) -> Result<Outcome, String> {
        let times = repeat.to_string();
        let peer = |program: &Path| {
            let mut peer = command(program, &[]);
            peer.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
            peer
        };
        match self {
            Run::Framed(program, words) => {
                let output = capture(peer(program).args(words).arg(&times))?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let mut lines = text.lines();
                let sums = |lines: std::str::Lines<'_>| lines.filter_map(read_sum).collect();
                let seconds = lines.next().and_then(|line| line.parse().ok());
                seconds.map(|seconds| Outcome { seconds, sums: sums(lines) }).ok_or(text)
            }
            Run::Original(program) => {
                let once = || {
                    let output = capture(&mut peer(program))?;
                    let text = String::from_utf8_lossy(&output.stdout).into_owned();
                    text.trim().parse::<f64>().map_err(|_| format!("`{}` printed {text:?}", program.display()))
                };
                // One run is one process, which makes its arrays first.
                let mut seconds = f64::INFINITY;
                for _ in 0..repeat.min(MOST_PROCESSES) {
                    seconds = seconds.min(once()?);
                }
                Ok(Outcome { seconds, sums: Vec::new() })
            }
            Run::Farkas(farkas, words) => {
                // The first run touches memory that the peers have touched before their clocks start.
                let times = repeat.max(2).to_string();
                let output = capture(command(farkas, &[]).args(words).args(["--repeat", &times]))?;
                let times = crate::bench::stage_times(&String::from_utf8_lossy(&output.stderr));
                let time = crate::bench::find_stage(&times, "run").ok_or("farkas did not report `time: run`")?;
                let sums =
                    String::from_utf8_lossy(&output.stdout).lines().filter_map(crate::bench::read_farkas_sum).collect();
                Ok(Outcome { seconds: time / 1e3, sums })
            }
        }
    }
}

/// A line `NAME SUM`.
fn read_sum(line: &str) -> Option<(String, f64)> {
    let (name, sum) = line.split_once(' ')?;
    Some((name.to_owned(), sum.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read() {
        assert_eq!(read_sum("C 37.5"), Some(("C".to_owned(), 37.5)));
        assert_eq!(read_sum("0.25"), None);
    }
}
