//! Every example runs as its `# run:` line says, and agrees with the interpreter.

use std::path::{Path, PathBuf};

use crate::support::{command, outcome, repository};

#[test]
fn examples_run_as_they_say() {
    let mut count = 0;
    for path in programs(&repository().join("examples")) {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let line = text.lines().find_map(|line| line.strip_prefix("# run: farkas "));
        let line = line.unwrap_or_else(|| unreachable!("{} has no `# run: farkas` line", path.display()));
        let words = line.split_whitespace().chain(["--verify"]);
        let output = command(&repository()).args(words).output().expect("the binary starts");
        let outcome = outcome(&output).succeeds();
        assert!(outcome.stderr.contains("the interpreter agrees"), "{outcome:#?}");
        assert!(outcome.stdout.contains("fnv1a"), "{outcome:#?}");
        count += 1;
    }
    assert!(count >= 70, "only {count} examples");
}

/// All `.fks` files below a folder.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|extension| extension == "fks") {
            found.push(path);
        }
    }
    found
}
