//! Says in plain words what an application must set, before a linker says it in its own.
//!
//! In: `CONFIG_SITE`, by which isl is told how to build itself.  Out: nothing, or an error that cargo shows.
//! Not here: the proof that isl was built that way; the linker has it, since `runtime::context` calls a function that only
//! the repaired isl has.

use std::env;
use std::fs;

/// What only our site file contains.
const MARK: &str = "farkas_isl_is_repaired";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CONFIG_SITE");
    let value = env::var("CONFIG_SITE").unwrap_or_default();
    for file in value.split_whitespace() {
        println!("cargo::rerun-if-changed={file}");
    }
    let ours = |file: &str| fs::read_to_string(file).is_ok_and(|text| text.contains(MARK));
    if value.split_whitespace().any(ours) {
        return;
    }
    let found = match value.as_str() {
        "" => "CONFIG_SITE is not set.".to_owned(),
        value => format!("CONFIG_SITE is `{value}`, which does not name that file (a path must not contain spaces)."),
    };
    for line in [
        "Farkas needs isl to be built with the file `.cargo/isl.site` of the Farkas repository: it repairs isl where isl",
        "corrupts memory, and makes it faster. Copy that file to `.cargo/isl.site` of your workspace, add",
        "",
        "    [env]",
        "    CONFIG_SITE = { value = \".cargo/isl.site\", relative = true }",
        "",
        "to `.cargo/config.toml` beside it, and run `cargo clean -p isl-rs` once (and with `--release`).",
        "Start cargo inside of the workspace, where it finds that file.",
        &found,
    ] {
        println!("cargo::error={line}");
    }
}
