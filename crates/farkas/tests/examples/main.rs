//! The programs of `examples`: every engine agrees at small and odd sizes, and those outside `polybench` are right.
//!
//! What is right comes from elsewhere: plain Rust loops over `f64`, a closed form, or a property that the result must
//! have; or NumPy, in the `--expect` of the `# run:` line. Not here: what PolyBench computes (`polybench`), and the `# run:` lines (the
//! tests of the command).

mod arrays;
mod dp;
mod equations;
mod example;
mod imaging;
mod ml;
mod numbers;
mod science;
mod sizes;
mod source;
mod specialized;
mod threads;
mod tiers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use example::Example;
use libtest_mimic::{Arguments, Failed, Trial};

/// Compares what an example computes with what it should.
type Check = fn(&Example) -> Result<(), String>;

fn main() -> Result<(), Failed> {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut examples = Vec::new();
    for path in programs(&root)? {
        examples.push(Arc::new(Example::read(&root, &path)?));
    }
    let checks: Vec<(&str, Check)> =
        [ml::CHECKS, imaging::CHECKS, science::CHECKS, dp::CHECKS, arrays::CHECKS, equations::CHECKS].concat();
    let mut trials = Vec::new();
    for (name, _) in &checks {
        if !examples.iter().any(|example| example.name == *name) {
            trials.push(Trial::test(format!("is_right::{name}"), || Err("there is no such example".into())));
        }
    }
    for example in examples {
        let own = Arc::clone(&example);
        trials.push(Trial::test(format!("agrees::{}", example.name), move || Ok(sizes::agree(&own)?)));
        let own = Arc::clone(&example);
        trials.push(Trial::test(format!("as_c::{}", example.name), move || Ok(source::agree(&own)?)));
        let own = Arc::clone(&example);
        trials.push(Trial::test(format!("on_threads::{}", example.name), move || Ok(threads::agree(&own)?)));
        let own = Arc::clone(&example);
        trials.push(Trial::test(format!("on_tiers::{}", example.name), move || Ok(tiers::agree(&own)?)));
        let own = Arc::clone(&example);
        trials.push(Trial::test(format!("for_its_sizes::{}", example.name), move || Ok(specialized::agree(&own)?)));
        let check = checks.iter().find(|(name, _)| *name == example.name).map(|(_, check)| *check);
        // A folder of examples is checked as a whole.
        if check.is_some() || example.name.contains('/') && !example.name.starts_with("polybench/") {
            trials.push(Trial::test(format!("is_right::{}", example.name), move || {
                example.is_presentable()?;
                match check {
                    Some(check) => Ok(check(&example)?),
                    None if example.brings_its_data() => Ok(()),
                    None => Err("nothing says what it should compute".into()),
                }
            }));
        }
    }
    trials.push(Trial::test("as_c::with_threads", || Ok(source::agree_with_threads()?)));
    libtest_mimic::run(&arguments, trials).exit()
}

/// The programs in a folder and the folders in it, sorted.
fn programs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(programs(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "fks") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
