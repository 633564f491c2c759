//! Ctrl-C ends a run, and leaves nothing behind.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::command;

#[test]
fn an_interrupted_run_leaves_no_file() {
    let place = tempfile::tempdir().expect("a directory");
    // It would take hours.
    let program = "fn long<N>(x: f64[1]) -> (y: f64[1]) where N >= 1 {
    y[i | i = 0] = sum[a : 0..N, b : 0..N, c : 0..N] x[0] * x[0]
}";
    std::fs::write(place.path().join("long.fks"), program).expect("a file");
    let child = command(place.path())
        .args(["run", "long.fks", "-D", "N=100000", "--in", "x=[1]", "--out", "y=@y.npy", "--repeat", "3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    std::thread::sleep(Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("`kill`");
    assert!(sent.success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let left: Vec<_> = std::fs::read_dir(place.path()).expect("the directory").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
