//! The demonstration: one program through every stage, each with the command line to repeat it.

use std::fs;

use crate::process::{build_farkas, command, heading, run_shown, say, workspace_root};
use crate::setup;

const PROGRAM: &str = "examples/matmul.fks";

pub(crate) fn show() -> Result<(), String> {
    heading("Set-up: the tools that isl is built with");
    setup::set_up()?;

    heading("Build the farkas command");
    let farkas = build_farkas()?;

    heading(format!("The source: {PROGRAM}"));
    let source = fs::read_to_string(workspace_root().join(PROGRAM))
        .map_err(|error| format!("cannot read {PROGRAM}: {error}"))?;
    say(source.trim_end());

    let farkas_step = |title: &str, args: &[&str]| {
        heading(title);
        run_shown(&mut command(&farkas, args))
    };
    farkas_step(
        "The statements: each a set of instances with the memory cells it reads and writes",
        &["build", PROGRAM, "--emit=statements"],
    )?;
    farkas_step("The loops, after scheduling and the legality check", &["build", PROGRAM, "--emit=loops"])?;
    farkas_step(
        "Compiled and run on random matrices: time by stage, and the result",
        &["run", PROGRAM, "-D", "N=512,M=512,K=512", "--in", "A=rand:1", "--in", "B=rand:2", "--time"],
    )
}
