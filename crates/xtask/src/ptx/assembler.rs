//! One run of `ptxas`, and what it says.

use std::path::Path;

use crate::process::{capture, command};

/// What a kernel takes of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) registers: u32,
    /// Bytes of shared memory of a block.
    pub(super) shared: u32,
}

/// Assembles a file; warnings are errors, and so are spills.
pub(super) fn assemble(ptxas: &Path, path: &Path, target: u32, cubin: &Path) -> Result<Usage, String> {
    let arch = format!("-arch=sm_{target}");
    let mut run = command(ptxas, &["-v", "-Werror", "-warn-spills", &arch, "-o"]);
    let output = capture(run.arg(cubin).arg(path))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    read_usage(&said).ok_or_else(|| format!("ptxas did not say what the kernel takes:\n{said}"))?
}

/// The figures of `-v`, the largest if the file has several kernels. Spills are an error whatever the flags make of them.
fn read_usage(said: &str) -> Option<Result<Usage, String>> {
    let spilled: u32 = ["bytes spill stores", "bytes spill loads"].iter().flat_map(|what| all_before(said, what)).sum();
    if spilled > 0 {
        return Some(Err(format!("{spilled} bytes are spilled")));
    }
    let registers = all_before(said, "registers").into_iter().max()?;
    let shared = all_before(said, "bytes smem").into_iter().max().unwrap_or(0);
    Some(Ok(Usage { registers, shared }))
}

/// The numbers in front of some words.
fn all_before(text: &str, words: &str) -> Vec<u32> {
    let fronts = text.match_indices(words).map(|(at, _)| &text[..at]);
    fronts.filter_map(|front| front.split_whitespace().next_back()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 113 registers, used 1 barriers, 8320 bytes smem, 384 bytes cmem[0]
";

    #[test]
    fn figures_are_read() {
        assert_eq!(read_usage(SAID), Some(Ok(Usage { registers: 113, shared: 8320 })));
        let without = SAID.replace(" 8320 bytes smem,", "");
        assert_eq!(read_usage(&without), Some(Ok(Usage { registers: 113, shared: 0 })));
        assert_eq!(read_usage("nothing"), None);
        let two = format!("{SAID}{}", SAID.replace("113", "120").replace("8320", "64"));
        assert_eq!(read_usage(&two), Some(Ok(Usage { registers: 120, shared: 8320 })));
    }

    #[test]
    fn spills_are_errors() {
        let spilled = SAID.replace("0 bytes spill loads", "16 bytes spill loads");
        assert_eq!(read_usage(&spilled), Some(Err("16 bytes are spilled".to_owned())));
    }
}
