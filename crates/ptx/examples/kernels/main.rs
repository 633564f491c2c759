//! Writes the PTX of all example kernels, one file for each, into a folder: what `cargo xtask ptx-check` assembles.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "a command of its own")]

mod elementwise;
mod emitted;
mod exchange;
mod functions;
mod matmul;
mod reduce;
mod stencil;

use std::path::Path;
use std::process::ExitCode;

use farkas_ptx::ir::{Kernel, Module, Target};
use farkas_ptx::verify;

/// All modules, each with a name for its file.
fn all() -> Result<Vec<(String, Module)>, String> {
    let by_hand = [
        elementwise::all(),
        reduce::all(),
        stencil::all(),
        exchange::all(),
        functions::all(),
        matmul::all(),
        vec![exchange::copy_async(256)],
    ];
    let mut found: Vec<(String, Module)> = by_hand.into_iter().flatten().map(alone).collect();
    for sm in [70, 80] {
        found.extend(emitted::all(sm)?);
    }
    Ok(found)
}

fn alone(kernel: Kernel) -> (String, Module) {
    let sm = if kernel.name == "copy_async" { 80 } else { 70 };
    (kernel.name.clone(), Module { target: Target::sm(sm), files: Vec::new(), kernels: vec![kernel] })
}

fn write_all(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for (name, module) in all()? {
        let verified = verify(module)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        let path = folder.join(format!("{name}.ptx"));
        std::fs::write(&path, verified.text()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: kernels FOLDER");
        return ExitCode::from(2);
    };
    match write_all(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
