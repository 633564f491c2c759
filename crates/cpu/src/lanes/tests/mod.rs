//! Tests of lane programs: text form, verifier, and that all emitters agree with the evaluator.
#![expect(clippy::panic, clippy::print_stderr, reason = "a test fails by panicking, and says what it cannot run")]

mod generate;
mod random;
mod slide;
mod text;
