//! The words after `cargo xtask bench polybench`.

use std::path::PathBuf;

use super::kernels::{KERNELS, SIZES};

#[derive(Debug, PartialEq, Eq)]
pub(in crate::bench) struct Options {
    /// A place in [`SIZES`].
    pub(super) size: usize,
    /// Parts of names; all kernels if there are none.
    pub(super) filters: Vec<String>,
    pub(super) rounds: usize,
    /// The folder of the original PolyBench/C.
    pub(super) sources: Option<PathBuf>,
}

impl Options {
    pub(in crate::bench) fn read(words: &[String]) -> Result<Options, String> {
        Options::read_or("large", words)
    }

    /// The same with another size where none is given.
    pub(in crate::bench) fn read_or(size: &str, words: &[String]) -> Result<Options, String> {
        let usual = SIZES.iter().position(|&known| known == size).unwrap_or_default();
        let mut options = Options { size: usual, filters: Vec::new(), rounds: 3, sources: None };
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                "--size" => {
                    let size = value()?;
                    let found = SIZES.iter().position(|known| known == size);
                    options.size = found.ok_or_else(|| format!("no size `{size}`; there are {}", SIZES.join(", ")))?;
                }
                "--filter" => options.filters.extend(value()?.split(',').map(str::to_owned)),
                "--rounds" => {
                    let rounds = value()?;
                    options.rounds = rounds
                        .parse()
                        .ok()
                        .filter(|&rounds| rounds > 0)
                        .ok_or_else(|| format!("`{rounds}` is no number of rounds"))?;
                }
                "--sources" => options.sources = Some(value()?.into()),
                other => {
                    return Err(format!(
                        "`bench polybench` takes --size, --filter, --rounds and --sources, not `{other}`"
                    ));
                }
            }
        }
        if !KERNELS.iter().any(|kernel| options.wants(kernel.name)) {
            return Err(format!("no kernel matches `{}`", options.filters.join(",")));
        }
        Ok(options)
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        // A whole name means this kernel alone: `lu` is part of `ludcmp`, too.
        let is_name = |filter: &String| KERNELS.iter().any(|kernel| kernel.name == filter);
        let fits = |filter: &String| if is_name(filter) { name == filter } else { name.contains(filter.as_str()) };
        self.filters.is_empty() || self.filters.iter().any(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read_and_checked() {
        let options = read("--size small --filter lu,2d --rounds 5").expect("the line is right");
        assert_eq!((SIZES[options.size], options.rounds), ("small", 5));
        assert!(
            options.wants("lu") && options.wants("jacobi-2d") && !options.wants("ludcmp") && !options.wants("gemm")
        );
        assert!(read("").expect("nothing is needed").wants("gemm"));
        for (line, message) in [
            ("--size huge", "no size `huge`"),
            ("--rounds 0", "no number of rounds"),
            ("--filter nothing", "no kernel matches"),
            ("--size", "needs a value"),
            ("fast", "not `fast`"),
        ] {
            let error = read(line).expect_err("the line is wrong");
            assert!(error.contains(message), "{error}");
        }
    }
}
