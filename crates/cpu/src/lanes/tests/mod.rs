//! Tests of lane programs: text form, verifier, and that all emitters agree with the evaluator.

mod generate;
mod random;
