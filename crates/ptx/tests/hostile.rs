//! Text that is no PTX, or not quite: an error with a place, never a crash or a hang.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

#[path = "../examples/kernels/emitted.rs"]
#[expect(dead_code, reason = "only some trees are translated")]
mod emitted;

use farkas_ptx::emulate::{Argument, Emulator, Launch, Memory, Options};
use farkas_ptx::ir::Target;
use farkas_ptx::{emit, parse};
use proptest::prelude::*;

const GOOD: &str = include_str!("foreign/kernels.ptx");

fn error(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("nothing was wrong"),
        Err(error) => error.to_string(),
    }
}

fn in_kernel(body: &str) -> String {
    format!(".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u32 n) {{\n{body}\n}}\n")
}

#[test]
fn messages_say_where_and_what() {
    assert!(error("hello").starts_with("line 1, column 1: expected "));
    assert_eq!(error(&in_kernel("add.u32 %r1, %r2, 3;")), "line 5, column 1: no register `%r1` is declared");
    assert_eq!(error(&in_kernel("bra NOWHERE;")), "line 5, column 1: no label `NOWHERE`");
    assert_eq!(error(&in_kernel("L:\nL: ret;")), "line 6, column 1: the label `L` exists already");
    assert_eq!(
        error(&in_kernel(".reg .b32 %r<3>;\nadd.u32 %r1, %r2;")),
        "line 6, column 1: `add.u32` takes 3 operands, not 2"
    );
    assert_eq!(error(&in_kernel(".reg .q7 %r<3>;")), "line 5, column 6: the type `.q7` is not supported");
    assert_eq!(error(&in_kernel(".reg .b32 %r<999999999>;")), "line 5, column 11: more than 65536 registers");
    assert!(error(&in_kernel(".shared .align 3 .b8 x[4];")).contains("a power of two"));
    assert!(error(&in_kernel(".shared .b64 x[4000000000];")).contains("larger than any shared memory"));
    assert!(error(&in_kernel("mov.u32 %r1, 99999999999999999999999;")).contains("is no number"));
    assert!(error(".version 7.0\n.target sm_70\n.address_size 32\n").contains("only 64-bit addresses"));
    let twice = format!("{}{}", in_kernel(""), in_kernel(""));
    assert_eq!(error(&twice), "line 10, column 8: the kernel `k` exists already");
}

#[test]
fn deep_nesting_is_refused() {
    assert!(error(&in_kernel(&"{".repeat(100_000))).contains("nested more than"));
    assert!(parse(&in_kernel(&format!("{}ret;{}", "{".repeat(20), "}".repeat(20)))).is_ok());
}

#[test]
fn inner_blocks_have_names_of_their_own() {
    let body =
        ".reg .b32 %r;\nmov.u32 %r, 1;\n{ .reg .f32 %r; mov.f32 %r, 0f00000000; bra L; L: }\nadd.u32 %r, %r, 1;\nret;";
    let module = parse(&in_kernel(body)).expect("the text is PTX");
    assert_eq!(module.kernels[0].registers.len(), 2);
}

#[test]
fn registers_that_nobody_uses_cost_nothing() {
    let text = in_kernel(
        ".reg .b32 %r<60000>; .reg .pred %p<5000>;\nmov.u32 %r59999, 1;\nsetp.eq.u32 %p4999, %r59999, 1;\nret;",
    );
    let emulator = Emulator::load(&text).expect("the text is PTX");
    let arguments = [Argument::U32(1)];
    let launch =
        Launch { kernel: "k", grid: [64, 1, 1], block: [1024, 1, 1], dynamic_shared: 0, arguments: &arguments };
    let counts = emulator.launch(&launch, &mut Memory::new(), &Options::default()).expect("the kernel is right");
    assert_eq!(counts.all_instructions(), 3 * 64 * 1024);
}

/// Loads and runs every kernel of a text on one thread with arguments of the right sizes.
fn run_all(text: &str) {
    let Ok(emulator) = Emulator::load(text) else { return };
    for kernel in &emulator.module().kernels {
        let mut memory = Memory::new();
        let buffer = memory.allocate("a", &[1; 4096]);
        let arguments: Vec<Argument> = kernel
            .params
            .iter()
            .map(|param| match param.bytes() {
                8 => Argument::Pointer(buffer, 0),
                bytes => Argument::Bytes(vec![1; bytes as usize]),
            })
            .collect();
        let launch = Launch {
            kernel: &kernel.name,
            grid: [2, 1, 1],
            block: [32, 2, 1],
            dynamic_shared: 64,
            arguments: &arguments,
        };
        // Whether it is a fault or not: it comes back.
        let options = Options { seed: 1, host_threads: 1, budget: 50_000 };
        let outcome = emulator.launch(&launch, &mut memory, &options);
        assert!(outcome.is_err() || memory.read(buffer).len() == 4096);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn damaged_kernels_come_back(at in 0..GOOD.len(), length in 0usize..60, insert in "[a-z0-9%.;,{}\\[\\]@! -]{0,8}") {
        prop_assume!(GOOD.is_ascii());
        let end = (at + length).min(GOOD.len());
        run_all(&format!("{}{insert}{}", &GOOD[..at], &GOOD[end..]));
    }

    #[test]
    fn swapped_lines_come_back(first in 0usize..560, second in 0usize..560) {
        let mut lines: Vec<&str> = GOOD.lines().collect();
        let count = lines.len();
        lines.swap(first % count, second % count);
        run_all(&lines.join("\n"));
    }

    #[test]
    fn any_text_comes_back(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }
}

/// Random numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// One to four mistakes: words of the text in other places, numbers that are too large, lines that are missing, doubled or swapped.
fn damaged(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + dice.below(4) {
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            kind => {
                let words =
                    |line: &str| line.split_inclusive(&[' ', ',', '.', '[', ']'][..]).map(str::to_owned).collect();
                let (mut here, there): (Vec<String>, Vec<String>) = (words(&lines[at]), words(&lines[other]));
                let (Some(from), false) = (there.get(dice.below(there.len())), here.is_empty()) else { continue };
                let position = dice.below(here.len());
                const ODD: [&str; 8] = ["0", "-1", "2147483648", "18446744073709551615", "0f7fc00000", "%r0", ";", "{"];
                here[position] = if kind == 3 { ODD[dice.below(ODD.len())].to_owned() } else { from.clone() };
                lines[at] = here.concat();
            }
        }
    }
    lines.join("\n")
}

/// What the compiler emits, with mistakes in it, is refused, is a fault, or runs: `FARKAS_PTX_TEXTS` says how many texts, `FARKAS_SEED` which.
#[test]
fn damaged_kernels_of_our_own_come_back() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (texts, seed) = (number("FARKAS_PTX_TEXTS", 300), number("FARKAS_SEED", 1));
    let trees = [emitted::STAGED, emitted::TILED, emitted::JACOBI, emitted::SUM, emitted::FUNCTIONS, emitted::NARROW];
    let good = trees.map(|tree| {
        let loops = loops::parse(tree).unwrap_or_else(|error| panic!("{error}"));
        let loops = loops::verify(loops).unwrap_or_else(|error| panic!("{error}"));
        emit(&loops, Target::sm(80)).unwrap_or_else(|error| panic!("{error}")).module.text()
    });
    good.iter().for_each(|text| run_all(text));
    let mut loaded = 0;
    for text in 0..texts {
        let mut dice = Dice(seed.wrapping_add(text).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let whole = &good[dice.below(good.len())];
        let damaged = damaged(whole, &mut dice);
        loaded += usize::from(parse(&damaged).is_ok());
        let came_back = std::panic::catch_unwind(|| run_all(&damaged));
        assert!(came_back.is_ok(), "FARKAS_SEED={} FARKAS_PTX_TEXTS=1\n{damaged}", seed.wrapping_add(text));
    }
    // Most mistakes are found by the reader; those that are not must meet the emulator.
    assert!(texts < 100 || (texts / 20..texts).contains(&(loaded as u64)), "{loaded} of {texts} were read");
}
