//! Farkas: array programs in, checked schedules and machine code out.
//!
//! ```
//! use ndarray::{array, Array2};
//!
//! let source = "fn matmul<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) {
//!     C[i, j] = sum[k] A[i, k] * B[k, j]
//! }";
//! let module = farkas::Engine::new().compile(source)?;
//! let matmul = module.function("matmul")?;
//!
//! let a = array![[1.0, 2.0], [3.0, 4.0]];
//! let mut c = Array2::<f64>::zeros((2, 2));
//! let mut args = farkas::Args::new();
//! args.array("A", a.view()).array("B", a.view()).array_mut("C", c.view_mut());
//! matmul.call(&mut args)?;
//! assert_eq!(c, array![[7.0, 10.0], [15.0, 22.0]]);
//! # Ok::<(), farkas::Error>(())
//! ```
//!
//! In: source text and host arrays.  Out: results, or errors of exactly one of three kinds.
//! Not here: algorithms. [`Engine::compile`] is one straight line through the other crates (`pipeline`).
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod args;
mod artifact;
mod cache;
mod call;
mod emit;
mod engine;
mod error;
pub mod explore;
pub mod machine;
mod pipeline;
mod prepared;
mod refused;
mod schedule;
mod signature;
mod sizes;
mod special;
mod storage;
mod stored;
mod target;
mod threads;
pub mod tune;
mod versions;
mod views;

pub use args::{Args, Element, ScalarArg};
pub use cache::{Cache, CacheDirectory, CacheSize};
pub use cpu::CallError as RunError;
pub use cpu::{Buffer, LargePages, Tier, Workspace};
/// Diagnostics, their rendering, and the pages that explain them.
pub use diag;
/// Coordinate transforms: IterDomain algebra, CuTe layouts, morphisms, coordinate graphs.
pub use layout;

pub use choice::Machine;
pub use diag::{Diagnostic, Severity, Source, Span, Style, to_json as diagnostic_json};
pub use emit::Emit;
pub use engine::{Checked, Engine, Function, Math, Module, Options, Program, Recipes};
pub use error::{Error, Result};
pub use pipeline::{Order, Timing};
pub use prepared::Prepared;
pub use program::{Data, Role, ScalarType, Slice, SliceMut, Value, bf16, f16};
pub use ptx::Failure as GpuFailure;
pub use rayon;
pub use refused::CallError;
pub use schedule::Schedule;
pub use signature::{Argument, Condition, Factor, Requirement, Signature, Size};
pub use special::Specialize;
pub use target::{Device, Target};
pub use threads::{Cancel, Threads};

/// Formats a source file; see `docs/language.md` for the rules.
pub fn format(source: &Source) -> Result<String> {
    syntax::format(source).map_err(|diagnostics| Error::user(source, diagnostics))
}

/// Reads a source file's bytes as text, or says why they cannot be one.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Source> {
    syntax::decode(name, bytes).map_err(|diagnostic| Error::user(&Source::new(name, ""), vec![diagnostic]))
}

/// A program together with the files that it uses, for [`Engine::compile_source`].
///
/// `at` is the program's own path below the root. The host reads the files, by paths from the root that have neither `.` nor `..` in them;
/// what it says in their place is shown where the program uses them. Each file is read once; a circle is an error.
///
/// ```
/// let program = farkas::Source::new("main.fks", "use \"lib/half.fks\"\nfn f(x: f64) -> (y: f64) { y = half(x) + 1 }");
/// let linked = farkas::link(&program, "main.fks", &mut |path| match path {
///     "lib/half.fks" => Ok(farkas::Source::new(path, "fn half(x: f64) -> (y: f64) { y = x / 2 }")),
///     _ => Err("there is no such file".to_string()),
/// })?;
/// assert_eq!(farkas::Engine::new().compile_source(&linked)?.functions().len(), 1);
/// # Ok::<(), farkas::Error>(())
/// ```
pub fn link(
    program: &Source,
    at: &str,
    read: &mut dyn FnMut(&str) -> std::result::Result<Source, String>,
) -> Result<Source> {
    syntax::link(program, at, read).map_err(|(source, diagnostics)| Error::user(&source, diagnostics))
}

/// The syntax tree of a source file as text.
pub fn syntax_tree(source: &Source) -> Result<String> {
    let file = syntax::parse(source).map_err(|diagnostics| Error::user(source, diagnostics))?;
    Ok(syntax::print_ast(&file))
}

/// The page on embedding, so that its examples are run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
pub struct Embedding;
