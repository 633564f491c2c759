//! Random programs agree bit by bit: evaluator, Cranelift, AVX2, AVX-512, as far as the host has them.
//!
//! `FARKAS_LANES_SEED` and `FARKAS_LANES_COUNT` choose other programs, and more of them.

use super::generate::{self, MEMORY, Random, SLOTS, START};
use crate::code::{Leaves, Line};
use crate::lanes::ir::Program;
use crate::lanes::verify::{Verified, verify};
use crate::lanes::x86::{self, Wide};
use crate::lanes::{Outcome, evaluate, parse};

pub(super) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One program with its arguments and what it should do.
pub(super) struct Case {
    seed: u64,
    pub(super) program: Verified,
    slots: Vec<u64>,
    memory: Vec<u8>,
    pub(super) expected: Vec<u8>,
    outcome: Outcome,
}

/// A program that stays inside its memory; most do.
fn case(seed: u64) -> Option<Case> {
    let mut random = Random::new(seed);
    let program: Program = generate::program(&mut random, seed as usize);
    let text = program.to_string();
    let again = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert_eq!(again, program, "seed {seed}: the text reads back as another program\n{text}");
    let program = verify(program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    let memory = generate::memory(&mut random);
    let trips = random.below(3 * program.lanes as usize + 1) as i64;
    let stride = random.below(64) as i64 - 32;
    let mut slots = vec![START.cast_unsigned(), trips.cast_unsigned(), stride.cast_unsigned()];
    slots.extend([random.next(), 1.5f64.to_bits() ^ random.next() >> 40, 0]);
    assert_eq!(slots.len(), SLOTS as usize);
    run(seed, program, slots, memory)
}

/// What a program should do, if it stays inside its memory.
pub(super) fn run(seed: u64, program: Verified, slots: Vec<u64>, memory: Vec<u8>) -> Option<Case> {
    let mut expected = memory.clone();
    let outcome = evaluate(&program, &slots, 0, &mut expected).ok()?;
    Some(Case { seed, program, slots, memory, expected, outcome })
}

/// The inner loop hands its values to the outer one crosswise: no two of them may share a register meanwhile.
const CROSSED: &str = "
lanes 8 \"crossed\" slots 6 {
    v0: word = arg 0
    v1: i32 = iota
    v2: i32 = splat 5
    v3: word = const 3
    loop v3 {
        carry v4: i32 = v1, v12 -> v13
        carry v5: i32 = v2, v11 -> v14
        v6: word = const 2
        loop v6 {
            carry v7: i32 = v4, v9 -> v11
            carry v8: i32 = v5, v10 -> v12
            v9: i32 = add v7, v7
            v10: i32 = sub v8, v7
        }
    }
    store v13, [v0 + 0]
    store v14, [v0 + 32]
}
";

/// The result of the first parameter of the inner loop has to be where the outer one keeps what the second starts with.
const PROMISED: &str = "
lanes 8 \"promised\" slots 6 {
    v0: word = arg 0
    v1: i32 = iota
    v2: i32 = splat 5
    v3: word = const 3
    loop v3 {
        carry v4: i32 = v1, v9 -> v10
        v5: word = const 2
        loop v5 {
            carry v6: i32 = v2, v8 -> v9
            carry v7: i32 = v4, v6 -> v11
            v8: i32 = add v6, v7
        }
    }
    store v10, [v0 + 0]
}
";

#[test]
fn values_that_cross_over_agree() {
    for text in [CROSSED, PROMISED] {
        crossing_over_agrees(text);
    }
}

fn crossing_over_agrees(text: &str) {
    let program = verify(parse(text).expect("it reads")).expect("it is right");
    let memory = generate::memory(&mut Random::new(1));
    let slots = vec![START.cast_unsigned(), 1, 1, 0, 0, 0];
    check(&[run(0, program, slots, memory).expect("it stays inside its memory")]);
}

/// The tiers of this host, by name.
fn tiers() -> Vec<(&'static str, Wide)> {
    let mut tiers = Vec::new();
    for (name, wide) in [("AVX2", Wide::Avx2), ("AVX-512", Wide::Avx512)] {
        if wide.is_available() {
            tiers.push((name, wide));
        } else {
            eprintln!("this host has no {name}: its code is not run");
        }
    }
    tiers
}

#[test]
fn random_programs_agree() {
    let first = setting("FARKAS_LANES_SEED", 1);
    let count = setting("FARKAS_LANES_COUNT", 2500);
    let cases: Vec<Case> = (first..first + count).filter_map(case).collect();
    assert!(
        cases.len() as u64 * 10 >= count * 8,
        "too many programs leave their memory: only {} of {count} do not",
        cases.len()
    );
    for batch in cases.chunks(250) {
        check(batch);
    }
}

pub(super) fn check(cases: &[Case]) {
    let mut leaves = Leaves::new().expect("a module");
    let mut runs = Vec::new();
    for (position, case) in cases.iter().enumerate() {
        for (name, wide) in tiers() {
            let leaf = x86::emit(&case.program, wide);
            let leaf = leaf.unwrap_or_else(|error| panic!("seed {}, {name}: {error}\n{}", case.seed, *case.program));
            let id = leaves.add_bytes(&format!("{position} {name}"), &leaf.code).expect("bytes are added");
            runs.push((position, name, id, leaf.code));
        }
        let name = "Cranelift";
        let id = leaves.add_program(&format!("{position} {name}"), &case.program);
        let id = id.unwrap_or_else(|error| panic!("seed {}, {name}: {error}\n{}", case.seed, *case.program));
        runs.push((position, name, id, Vec::new()));
    }
    let mut leaves = leaves.finish().expect("the module is complete");
    for (position, name, id, code) in runs {
        let case = &cases[position];
        let mut memory = vec![Line([0; 8]); MEMORY / size_of::<Line>()];
        let mut report = 0;
        let bytes = leaves.run_on(id, &case.slots, &case.memory, &mut memory, &mut report);
        let outcome = Outcome { status: bytes.0, report };
        let differs = bytes.1.iter().zip(&case.expected).position(|(a, b)| a != b);
        assert!(
            differs.is_none() && outcome == case.outcome,
            "seed {}, {name}: {outcome:?} instead of {:?}, first difference at byte {differs:?}\n{}\n{}",
            case.seed,
            case.outcome,
            *case.program,
            x86::disassemble(&code)
        );
    }
}
