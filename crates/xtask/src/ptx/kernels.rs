//! The PTX that is checked: kernels written by hand or from loops, and what the compiler makes of the examples.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{build_example, build_farkas_for_tests, capture, command, workspace_root};

/// Schedules for GPUs end so.
const FOR_GPUS: &str = "-gpu.sched";
/// What the compiler says of a program that has no translation.
const REFUSED: &str = "error[E0601]";

/// The folder of examples without a schedule.
const CHOSEN: &str = "chosen";

/// Writes them into a folder; sorted by name.
pub(super) fn write(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    capture(command(build_example("kernels")?, &[]).arg(folder))?;
    let chosen = folder.join(CHOSEN);
    fs::create_dir_all(&chosen).map_err(|error| format!("{}: {error}", chosen.display()))?;
    let farkas = build_farkas_for_tests()?;
    let root = workspace_root();
    for path in files(&root.join("examples"))? {
        let name =
            path.strip_prefix(&root).unwrap_or(&path).with_extension("").to_string_lossy().replace(['/', '\\'], "_");
        let name = name.trim_start_matches("examples_").to_owned();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("fks") => compile(&farkas, &path, None, &chosen.join(format!("{name}.ptx")))?,
            Some("sched") if path.to_string_lossy().ends_with(FOR_GPUS) => {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let program = program_of(&text).ok_or_else(|| format!("{} has no `# run:` line", path.display()))?;
                let name = name.trim_start_matches("schedules_");
                compile(&farkas, &root.join(program), Some(&path), &folder.join(format!("{name}.ptx")))?;
            }
            _ => {}
        }
    }
    let mut found = files(folder)?;
    found.sort();
    Ok(found)
}

/// Writes the PTX of a program; nothing if it has no translation.
fn compile(farkas: &Path, program: &Path, schedule: Option<&Path>, to: &Path) -> Result<(), String> {
    // The command is not optimised, and the machine may be busy.
    let mut build = command(farkas, &["build", "--target=ptx", "--emit=ptx", "--time-limit", "300"]);
    build.arg(program);
    if let Some(schedule) = schedule {
        build.arg("--schedule").arg(schedule);
    }
    match capture(&mut build) {
        Ok(output) => fs::write(to, output.stdout).map_err(|error| format!("{}: {error}", to.display())),
        Err(error) if error.contains(REFUSED) && schedule.is_none() => Ok(()),
        Err(error) => Err(error),
    }
}

/// The program that a schedule is for: that of its `# run: farkas run PROGRAM …` line.
fn program_of(schedule: &str) -> Option<&str> {
    let line = schedule.lines().find_map(|line| line.strip_prefix("# run: farkas run "))?;
    line.split_whitespace().next()
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_name_their_program() {
        let text = "# Tiles.\n# run: farkas run examples/a.fks --schedule examples/schedules/a-gpu.sched\n";
        assert_eq!(program_of(text), Some("examples/a.fks"));
        assert_eq!(program_of("schedule f { }"), None);
    }
}
