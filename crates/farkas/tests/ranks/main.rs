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

fn runner() -> TestRunner {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let cases = number("FARKAS_CASES").unwrap_or(2000);
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&number("FARKAS_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng)
}

#[test]
fn whole_arrays_lower_as_their_indexed_forms() {
    let result = runner().run(&proptest::collection::vec(any::<u8>(), 0..60), |choices| {
        let case = generate(&choices);
        check(&case).map_err(|what| TestCaseError::fail(format!("{}\n{what}", case.whole)))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Words and symbols of a text, each with the blank behind it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_word(character) && word.ends_with(is_word) => word.push(character),
            Some(word) if character.is_whitespace() => word.push(character),
            _ => words.push(character.to_string()),
        }
    }
    words
}

/// Words that change places, double or vanish make errors of all kinds. A program with one is refused with a message; it
/// neither stops the compiler nor loses its statement.
#[test]
fn damaged_programs_are_refused_or_keep_their_statement() {
    let choices =
        (proptest::collection::vec(any::<u8>(), 0..60), proptest::collection::vec(any::<(u8, u16, u16)>(), 1..4));
    let result = runner().run(&choices, |(choices, damages)| {
        let mut damaged = words(&generate(&choices).whole);
        for (kind, one, two) in damages {
            let (one, two) = (usize::from(one) % damaged.len(), usize::from(two) % damaged.len());
            match kind % 3 {
                0 => damaged.swap(one, two),
                1 => damaged[one] = damaged[two].clone(),
                _ => drop(damaged.remove(one)),
            }
        }
        let text = damaged.concat();
        match lowered(&text) {
            Ok(program) => {
                let statements = program.rsplit("fn ").next().unwrap_or("");
                prop_assert!(statements.contains("S0"), "{text}\n{program}");
            }
            Err(message) => prop_assert!(!message.is_empty() && message != "[]", "{text}"),
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
