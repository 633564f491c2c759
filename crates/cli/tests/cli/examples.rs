//! Every example runs as its `# run:` line says, and agrees with the interpreter.

use crate::support::{command, outcome, repository};

#[test]
fn examples_run_as_they_say() {
    let examples = repository().join("examples");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).expect("the examples are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "fks") {
            continue;
        }
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
    assert!(count >= 7, "only {count} examples");
}
