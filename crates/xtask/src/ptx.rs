//! PTX before NVIDIA's own assembler: does every kernel assemble, without spills, and what does its hot loop look like?
//!
//! In: the kernels that `crates/ptx/examples/kernels` writes, and what the compiler makes of the examples, without a schedule and with
//! those for GPUs (`kernels`).  Out: a table, or the kernels that fail.
//! The assembler and the disassembler come from Python's package index into a private environment under `target`; where
//! that cannot be had the check is skipped, and says so.

mod assembler;
mod kernels;
mod machine_code;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::process::{capture, command, say, workspace_root};
use assembler::{Usage, assemble};
use machine_code::{HotLoop, global_accesses, hot_loop};

/// The architectures that every kernel must assemble for, from its own on.
const TARGETS: [u32; 5] = [70, 80, 90, 100, 120];
/// The architecture whose machine code is looked at.
const SHOWN: u32 = 80;

/// What is installed; the versions know all of [`TARGETS`].
const PACKAGES: [&str; 2] = ["nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-cuda-nvdisasm==13.4.92"];

/// What must hold of matrix multiplications in the machine code for [`SHOWN`]: the one that is written by hand, the one that a schedule makes, and the
/// one that is made of the same program without a schedule.
const MATMULS: [&str; 3] = ["matmul_128x128x8", "matmul-gpu", "matmul-tiles"];
/// So many files at least are assembled.
const MIN_FILES: usize = 100;
const MAX_REGISTERS: u32 = 128;
const MIN_FFMA_SHARE: f64 = 0.85;
const FFMA_PER_WIDE_LOAD: usize = 16;
const MAX_BARRIERS: usize = 2;

/// Checked, or not and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Checked,
    Skipped(String),
}

/// `cargo xtask ptx-check`.
pub(crate) fn check() -> Result<(), String> {
    if let Outcome::Skipped(reason) = check_if_possible()? {
        say(format!("ptx-check: skipped: {reason}"));
    }
    Ok(())
}

pub(crate) fn check_if_possible() -> Result<Outcome, String> {
    let tools = match install() {
        Ok(tools) => tools,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let folder = workspace_root().join("target").join("ptx-check");
    let kernels = kernels::write(&folder.join("ptx"))?;
    let mut problems = Vec::new();
    let mut assembled = 0;
    let mut held = 0;
    let targets: Vec<_> = TARGETS.iter().map(|target| format!("sm_{target:<4}")).collect();
    say(format!("{:<30}  registers: {} shared  hot loop in sm_{SHOWN}", "kernel", targets.join(" ")));
    for kernel in check_all(&tools, &kernels, &folder) {
        let kernel = kernel?;
        assembled += kernel.usage.iter().flatten().count();
        held += usize::from(MATMULS.contains(&kernel.name.as_str()));
        say(kernel.row());
        problems.extend(kernel.problems);
    }
    if kernels.len() < MIN_FILES {
        problems.push(format!("only {} files", kernels.len()));
    }
    if held != MATMULS.len() {
        problems.push(format!("{held} matrix multiplications instead of {MATMULS:?}"));
    }
    if problems.is_empty() {
        say(format!("ptx-check: {} files, assembled {assembled} times without a warning", kernels.len()));
        return Ok(Outcome::Checked);
    }
    Err(problems.join("\n"))
}

/// The kernels in their order, on all cores.
fn check_all(tools: &Tools, kernels: &[PathBuf], folder: &Path) -> Vec<Result<Checked, String>> {
    let next = AtomicUsize::new(0);
    let work = |worker: usize| {
        let cubin = folder.join(format!("kernel{worker}.cubin"));
        let mut found = Vec::new();
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(path) = kernels.get(number)
        {
            found.push((number, check_kernel(tools, path, &cubin)));
        }
        found
    };
    let work = &work;
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let lost = || vec![(usize::MAX, Err("a thread of the check is lost".to_owned()))];
        started.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|_| lost())).collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, checked)| checked).collect()
}

struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

/// Finds the tools in the private environment, or makes it.
fn install() -> Result<Tools, String> {
    let environment = workspace_root().join("target").join("ptx-tools");
    if let Ok(tools) = find_tools(&environment) {
        return Ok(tools);
    }
    say("installing NVIDIA's assembler into target/ptx-tools");
    let short = |error: String| error.lines().take(3).collect::<Vec<_>>().join("; ");
    let place = environment.to_string_lossy().into_owned();
    capture(&mut command("python3", &["-m", "venv", &place])).map_err(short)?;
    let python = environment.join("bin").join("python");
    let mut pip = command(python, &["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]);
    capture(pip.args(PACKAGES)).map_err(short)?;
    find_tools(&environment)
}

fn find_tools(environment: &Path) -> Result<Tools, String> {
    let find = |name: &str| {
        let path = find_file(environment, name).ok_or_else(|| format!("the packages hold no `{name}`"))?;
        make_executable(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    Ok(Tools { ptxas: find("ptxas")?, nvdisasm: find("nvdisasm")? })
}

fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            if let Some(found) = find_file(&entry.path(), name) {
                return Some(found);
            }
        } else if kind.is_file() && entry.file_name() == name {
            return Some(entry.path());
        }
    }
    None
}

/// Archives may lose the mark.
#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & 0o100 == 0 {
        permissions.set_mode(permissions.mode() | 0o755);
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// What the tools say about one kernel.
struct Checked {
    name: String,
    /// For each of [`TARGETS`]; `None` where the kernel is for younger ones.
    usage: Vec<Option<Usage>>,
    hot: Option<HotLoop>,
    /// Accesses of global memory, and how many of them move 128 bits.
    global: (usize, usize),
    problems: Vec<String>,
}

impl Checked {
    fn row(&self) -> String {
        let registers = self.usage.iter().map(|usage| match usage {
            Some(usage) => format!("{:<7}", usage.registers),
            None => format!("{:<7}", "–"),
        });
        let shared = self.usage.iter().flatten().map(|usage| usage.shared).max().unwrap_or(0);
        let hot = self.hot.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        format!("{:<30}             {} {shared:<6}  {hot}", self.name, registers.collect::<Vec<_>>().join(" "))
    }
}

fn check_kernel(tools: &Tools, path: &Path, cubin: &Path) -> Result<Checked, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let oldest = oldest_target(&text).ok_or_else(|| format!("{name} names no target"))?;
    let mut checked = Checked { name, usage: Vec::new(), hot: None, global: (0, 0), problems: Vec::new() };
    for target in TARGETS {
        if target < oldest {
            checked.usage.push(None);
            continue;
        }
        match assemble(&tools.ptxas, path, target, cubin) {
            Ok(usage) => checked.usage.push(Some(usage)),
            Err(error) => {
                checked.usage.push(None);
                checked.problems.push(format!("{} for sm_{target}: {error}", checked.name));
                continue;
            }
        }
        if target == SHOWN {
            let output = capture(command(&tools.nvdisasm, &["-c"]).arg(cubin))?;
            let code = String::from_utf8_lossy(&output.stdout);
            checked.hot = hot_loop(&code);
            checked.global = global_accesses(&code);
        }
    }
    if MATMULS.contains(&checked.name.as_str()) {
        let position = TARGETS.iter().position(|target| *target == SHOWN).unwrap_or(0);
        let usage = checked.usage.get(position).and_then(Option::as_ref);
        let problems = check_matmul(&checked.name, usage, checked.hot.as_ref(), checked.global);
        checked.problems.extend(problems);
    }
    Ok(checked)
}

/// `80` of `.target sm_80`.
fn oldest_target(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.trim().strip_prefix(".target sm_")?.trim().parse().ok())
}

fn check_matmul(name: &str, usage: Option<&Usage>, hot: Option<&HotLoop>, global: (usize, usize)) -> Vec<String> {
    let (Some(usage), Some(hot)) = (usage, hot) else {
        return vec![format!("{name}: no machine code with a loop to look at")];
    };
    let mut problems = Vec::new();
    let mut require = |holds: bool, what: String| {
        if !holds {
            problems.push(format!("{name}: {what}"));
        }
    };
    require(usage.registers <= MAX_REGISTERS, format!("{} registers, not {MAX_REGISTERS}", usage.registers));
    require(hot.ffma_share() >= MIN_FFMA_SHARE, format!("{:.0} % FFMA", hot.ffma_share() * 100.0));
    let wide = hot.count("LDS.128");
    require(wide * FFMA_PER_WIDE_LOAD <= hot.count("FFMA"), format!("{wide} LDS.128 in the hot loop"));
    require(wide == hot.count("LDS"), "narrow loads of shared memory".to_owned());
    require(hot.count("BAR") <= MAX_BARRIERS, format!("{} barriers in the hot loop", hot.count("BAR")));
    let (accesses, wide) = global;
    require(accesses > 0 && wide == accesses, format!("{wide} of {accesses} accesses of global memory are 128 bits"));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        assert_eq!(oldest_target(".version 7.0\n.target sm_80\n"), Some(80));
        assert_eq!(oldest_target(".version 7.0\n"), None);
    }

    #[test]
    fn matmul_is_held_to_its_figures() {
        let usage = Usage { registers: 129, shared: 0 };
        let code = ".L_x_1:\n /*0*/ FFMA R1, R2, R3, R1 ;\n /*10*/ LDS R1, [R2] ;\n /*20*/ BRA `(.L_x_1) ;\n";
        let problems = check_matmul("m", Some(&usage), hot_loop(code).as_ref(), (3, 2));
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].contains("129 registers"));
        assert!(problems[3].contains("2 of 3 accesses"));
        assert_eq!(check_matmul("m", None, None, (0, 0)).len(), 1);
    }
}
