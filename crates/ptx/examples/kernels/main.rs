//! Writes the PTX of all example kernels, one file for each, into a folder: what `cargo xtask ptx-check` assembles.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "a command of its own")]

mod elementwise;
mod exchange;
mod functions;
mod matmul;
mod reduce;
mod stencil;

use std::path::Path;
use std::process::ExitCode;

use farkas_ptx::ir::{Kernel, Module, Target};
use farkas_ptx::verify;

/// All kernels, with the oldest architecture that each is for.
fn all() -> Vec<(u32, Kernel)> {
    let mut found = Vec::new();
    found.extend(elementwise::all().into_iter().map(|kernel| (70, kernel)));
    found.extend(reduce::all().into_iter().map(|kernel| (70, kernel)));
    found.extend(stencil::all().into_iter().map(|kernel| (70, kernel)));
    found.extend(exchange::all().into_iter().map(|kernel| (70, kernel)));
    found.extend(functions::all().into_iter().map(|kernel| (70, kernel)));
    found.extend(matmul::all().into_iter().map(|kernel| (70, kernel)));
    found.push((80, exchange::copy_async(256)));
    found
}

fn write_all(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for (sm, kernel) in all() {
        let name = kernel.name.clone();
        let module = Module { target: Target::sm(sm), files: Vec::new(), kernels: vec![kernel] };
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
