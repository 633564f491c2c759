//! Hostile command lines: programs, scripts, trees, layouts, `.npy` files, spaces and flags that nobody would write.
//!
//! Each input is one of the repository's own, changed, or one made from scratch. Whatever it is, the command must end with one
//! of its exit codes other than 101, without a signal, within its time limit and a tenth, and within its memory limit.
//! A few seconds of it are part of the tests; `cargo xtask fuzz --minutes 60` goes on, with the release build. What
//! fails is made smaller and left in `target/fuzz`.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "the long form says how much it did")]

mod child;
mod corpus;
#[path = "../../../../tests/dice.rs"]
mod dice;
mod grammar;
mod mutate;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use child::{Outcome, run};
use corpus::Corpus;
use dice::Dice;

/// One command line and the files that it reads.
#[derive(Clone, Debug)]
struct Input {
    words: Vec<String>,
    files: Vec<(&'static str, Vec<u8>)>,
}

fn input(dice: &mut Dice, corpus: &Corpus) -> Input {
    let case = dice.among(&corpus.cases);
    let mut program = match dice.roll(3) {
        0 => grammar::program(dice).into_bytes(),
        _ => case.program.clone().into_bytes(),
    };
    let plain = dice.roll(2) == 0;
    if !plain {
        mutate::text(dice, &mut program, corpus);
    }
    let mut files = vec![("p.fks", program)];
    let word = |word: &str| word.to_owned();
    let mut words = match dice.roll(13) {
        0..=2 => vec![word("check"), word("p.fks")],
        3..=5 => {
            let emits =
                ["loops", "schedule", "deps", "statements", "script", "clif", "program", "lanes", "asm", "c", "ptx"];
            vec![word("build"), word("p.fks"), format!("--emit={}", emits[dice.roll(emits.len())])]
        }
        6 | 7 => {
            let mut words = vec![word("run"), word("p.fks")];
            for name in ["N", "M", "K", "T"] {
                if dice.roll(3) > 0 {
                    words.extend([word("-D"), format!("{name}={}", dice.among(&[0, 1, 2, 5, 7]))]);
                }
            }
            for name in ["A", "B", "x", "U"] {
                let origins = ["rand:1", "iota", "zeros", "@a.npy", "[1,2,3]", "[[1,2],[3]]", "@/dev/null"];
                words.extend([word("--in"), format!("{name}={}", dice.among(&origins))]);
            }
            let mut npy = corpus::npy(dice);
            mutate::bytes(dice, &mut npy);
            files.push(("a.npy", npy));
            words
        }
        8 => vec![word("fmt"), word("--check"), word("p.fks")],
        9 => vec![word("info"), word("p.fks")],
        10 => {
            let mut space = dice.among(&corpus.spaces).clone().into_bytes();
            mutate::text(dice, &mut space, corpus);
            let space = String::from_utf8_lossy(&space).replace('\0', " ");
            vec![word("explore"), word("p.fks"), word("--sample"), word("20"), format!("--space={space}")]
        }
        11 => {
            let mut layout = dice.among(&corpus.layouts).clone().into_bytes();
            mutate::text(dice, &mut layout, corpus);
            files = vec![("l.txt", layout)];
            vec![word("layout"), word("-")]
        }
        _ => {
            let mut expression = dice.among(&corpus.expressions).clone().into_bytes();
            mutate::text(dice, &mut expression, corpus);
            let expression = String::from_utf8_lossy(&expression).replace('\0', " ");
            vec![word("eval"), format!(" {expression}")]
        }
    };
    let compiles = matches!(words[0].as_str(), "check" | "build" | "run");
    if compiles && dice.roll(2) == 0 {
        let of_case = dice.roll(3) > 0;
        let other = dice.among(&corpus.cases);
        let from = if of_case { case } else { other };
        if let Some(tree) = from.tree.as_ref().or(other.tree.as_ref()).filter(|_| dice.roll(2) == 0) {
            let mut tree = tree.clone().into_bytes();
            mutate::text(dice, &mut tree, corpus);
            files.push(("s.yaml", tree));
            words.extend([word("--schedule"), word("s.yaml")]);
        } else {
            let mut script = from.script.clone().unwrap_or_else(|| grammar::script(dice)).into_bytes();
            mutate::text(dice, &mut script, corpus);
            files.push(("s.sched", script));
            words.extend([word("--schedule"), word("s.sched")]);
        }
    }
    if compiles {
        words.extend(FLAGS.iter().filter(|_| dice.roll(6) == 0).map(|flag| word(flag)));
        if dice.roll(3) == 0 {
            words.push(word(TARGETS[dice.roll(TARGETS.len())]));
        }
    }
    Input { words, files }
}

const FLAGS: [&str; 9] = [
    "--strict-order",
    "--verify-dynamic",
    "--order=original",
    "--message-format=json",
    "--color=always",
    "--recipes=none",
    "--recipes=always",
    "--math=fast",
    "--threads=2",
];

/// What to make code for, if not for the machine itself and all sizes.
const TARGETS: [&str; 6] =
    ["--target=ptx", "--target=ptx:sm_90", "--target=ptx:sm_1", "--cpu=baseline", "--cpu=x86-64-v3", "--specialize"];

/// Where failing inputs are left.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../fuzz")
}

/// Removes lines, then words, as long as the input fails in the same way.
fn smaller(mut input: Input, outcome: &Outcome) -> Input {
    let end = Instant::now() + Duration::from_secs(60);
    for file in 0..input.files.len() {
        for separator in [b'\n', b' '] {
            let mut at = 0;
            while Instant::now() < end {
                let parts: Vec<&[u8]> = input.files[file].1.split(|byte| *byte == separator).collect();
                if at >= parts.len() {
                    break;
                }
                let mut kept = parts.clone();
                kept.remove(at);
                let mut tried = input.clone();
                tried.files[file].1 = kept.join(&separator);
                if run(&tried).same_as(outcome) {
                    input = tried;
                } else {
                    at += 1;
                }
            }
        }
    }
    input
}

fn save(input: &Input, outcome: &Outcome, number: u64) -> String {
    let place = folder().join(number.to_string());
    std::fs::create_dir_all(&place).expect("a folder for failing inputs");
    for (name, bytes) in &input.files {
        std::fs::write(place.join(name), bytes).expect("a file of a failing input");
    }
    std::fs::write(place.join("command"), format!("{:?}\n{outcome:?}\n", input.words)).expect("the command line");
    let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).into_owned();
    let files: Vec<String> = input.files.iter().map(|(name, bytes)| format!("--- {name}\n{}", text(bytes))).collect();
    format!("{}: {outcome:?}\nfarkas {}\n{}", place.display(), input.words.join(" "), files.join("\n"))
}

#[test]
fn no_command_line_crashes_hangs_or_fills_memory() {
    let seconds = std::env::var("FARKAS_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let seed = std::env::var("FARKAS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let corpus = Corpus::read();
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut failures = Vec::new();
    let (mut count, mut codes) = (0_u64, std::collections::BTreeMap::<String, u64>::new());
    while Instant::now() < end && failures.len() < 20 {
        count += 1;
        let number = seed * 1_000_000_007 + count;
        let input = input(&mut Dice::new(number), &corpus);
        let outcome = run(&input);
        *codes.entry(outcome.name()).or_default() += 1;
        if outcome.is_bad() {
            let input = smaller(input, &outcome);
            let again = run(&input);
            // What does not happen every time is told as it happened.
            let shown = if again.is_bad() { &again } else { &outcome };
            failures.push(save(&input, shown, number));
        }
    }
    eprintln!("{count} command lines: {codes:?}");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n\n"));
    assert!(codes.contains_key("exit 0") && codes.contains_key("exit 1"), "{codes:?}");
}
