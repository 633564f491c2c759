//! Random whole-array expressions lower to what their indexed forms lower to, letter by letter.
//!
//! The same 2,000 expressions each time; `FARKAS_SEED` gives others, and `FARKAS_CASES` another number of them.
#![expect(clippy::panic, reason = "tests")]

mod expression;

use diag::Source;
use expression::{Generated, generate};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn lowered(text: &str) -> Result<String, String> {
    let source = Source::new("ranks.fks", text);
    let show = |errors: Vec<diag::Diagnostic>| diag::Error::User(errors).to_string();
    let file = syntax::parse(&source).map_err(show)?;
    program::lower(&file, &source).map(|program| program.to_string()).map_err(|errors| format!("{errors:#?}"))
}

fn check(case: &Generated) -> Result<(), String> {
    let (whole, indexed) = (lowered(&case.whole)?, lowered(&case.indexed)?);
    if whole == indexed { Ok(()) } else { Err(format!("gives\n{whole}\nbut\n{}\ngives\n{indexed}", case.indexed)) }
}

#[test]
fn whole_arrays_lower_as_their_indexed_forms() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let cases = number("FARKAS_CASES").unwrap_or(2000);
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&number("FARKAS_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng);
    let result = runner.run(&proptest::collection::vec(any::<u8>(), 0..60), |choices| {
        let case = generate(&choices);
        check(&case).map_err(|what| TestCaseError::fail(format!("{}\n{what}", case.whole)))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
