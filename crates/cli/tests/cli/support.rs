//! Running the binary in a directory of its own, and making `.npy` files byte by byte.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What came of one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn succeeds(self) -> Outcome {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// The exit code, and words of the message on stderr. Nothing may have gone wrong inside.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) -> Outcome {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked") && !self.stderr.contains("bug in farkas"), "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing in {self:#?}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, words: &[&str]) -> Outcome {
        for word in words {
            assert!(self.stdout.contains(word), "`{word}` is missing in {self:#?}");
        }
        self
    }
}

pub(crate) fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farkas"));
    command.current_dir(directory).env_remove("NO_COLOR").env_remove("FARKAS_LOG").env("FARKAS_CACHE_DIR", "");
    command
}

pub(crate) fn outcome(output: &Output) -> Outcome {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Outcome { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory with some programs in it.
#[derive(Debug)]
pub(crate) struct Place {
    directory: TempDir,
}

pub(crate) const COPY: &str = "fn copy<N>(A: f64[N]) -> (B: f64[N]) { B[i] = A[i] }\n";
pub(crate) const DOUBLE: &str = "fn double<N>(inout A: f64[N]) { A[i] = 2 * A[i] }\n";
pub(crate) const MATMUL: &str = "fn matmul<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) {
    C[i, j] = sum[k] A[i, k] * B[k, j]
}
";
pub(crate) const TWO: &str = "fn two<N>(A: f64[N]) -> (B: f64[N], C: f64[N]) { B[i] = A[i]; C[i] = A[i] + 1 }\n";

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place { directory: TempDir::new().expect("a temporary directory") };
        for (name, text) in [("copy.fks", COPY), ("double.fks", DOUBLE), ("matmul.fks", MATMUL), ("two.fks", TWO)] {
            place.write(name, text.as_bytes());
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("the file is there")
    }

    /// All names in the directory, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root()).expect("the directory is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs `farkas` with words that are separated by blanks.
    pub(crate) fn farkas(&self, line: &str) -> Outcome {
        self.farkas_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn farkas_words(&self, words: &[&str]) -> Outcome {
        outcome(&command(self.root()).args(words).output().expect("the binary starts"))
    }
}

/// Runs `farkas` with something to read on stdin.
pub(crate) fn with_stdin(place: &Place, words: &[&str], input: &[u8]) -> Outcome {
    let mut child = command(place.root())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // Answers can fill their pipe before all questions are written.
        scope.spawn(move || stdin.write_all(input).expect("the pipe takes it"));
        outcome(&child.wait_with_output().expect("it ends"))
    })
}

/// A version 1 file with this header and these bytes as elements.
pub(crate) fn npy(descr: &str, fortran_order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    npy_with_header(&format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n"), elements)
}

pub(crate) fn npy_with_header(header: &str, elements: &[u8]) -> Vec<u8> {
    let len = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &len, header.as_bytes(), elements].concat()
}

pub(crate) fn npy_f64(shape: &str, elements: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    npy("'<f8'", "False", shape, &bytes)
}

/// The last elements of a file as f64.
pub(crate) fn tail_f64(bytes: &[u8], count: usize) -> Vec<f64> {
    let elements = &bytes[bytes.len() - 8 * count..];
    elements.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().expect("eight bytes"))).collect()
}
