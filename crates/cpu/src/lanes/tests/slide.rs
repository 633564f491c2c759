//! Loads that slide: random loops over rows mean the same before and after, in the evaluator and on every tier, and no byte is touched
//! that was not before.
//!
//! `FARKAS_LANES_SEED` and `FARKAS_LANES_COUNT` choose other programs, and more of them.

use std::fmt::Write;

use super::generate::{self, MEMORY, Random};
use super::random::{Case, check, run, setting};
use crate::lanes::ir::{Op, Program, Stmt};
use crate::lanes::verify::{Verified, verify};
use crate::lanes::{parse, slide};

/// Slots: the memory, where the rows are that are read, where those that are written, the number of turns, the place of the report.
const SLOTS: usize = 5;
/// Which slots are addresses into which array.
const REGIONS: [Option<u32>; SLOTS] = [None, Some(1), Some(2), None, None];
const ELEMENTS: [(&str, usize); 6] = [("f32", 4), ("f64", 8), ("i32", 4), ("u64", 8), ("i64", 8), ("i16", 2)];

/// A loop over rows around one over groups of lanes.
struct Rows {
    lanes: usize,
    ty: &'static str,
    size: usize,
    /// By how many lanes a turn moves along.
    step: usize,
    /// Where a turn loads, in elements from its pointer.
    offsets: Vec<i64>,
    rows: usize,
    turns: usize,
    /// Whether a store goes to the rows that are read.
    in_place: bool,
}

impl Rows {
    fn random(random: &mut Random) -> Rows {
        let lanes = 1 << random.below(6);
        let (ty, size) = ELEMENTS[random.below(ELEMENTS.len())];
        let reach = [2, lanes, 2 * lanes + 1][random.below(3)];
        let offsets = (0..1 + random.below(6)).map(|_| random.below(2 * reach + 1) as i64 - reach as i64).collect();
        let step = if random.chance(85) { lanes } else { lanes + 1 };
        let (rows, turns) = (1 + random.below(3), random.below(4));
        Rows { lanes, ty, size, step, offsets, rows, turns, in_place: random.chance(15) }
    }

    fn text(&self) -> String {
        let Rows { lanes, ty, size, step, offsets, rows, in_place, .. } = self;
        let (along, down) = (step * size, 40 * size);
        let mut text = format!(
            "lanes {lanes} \"rows\" slots {SLOTS} {{
            v0: word = arg 0\nv1: word = arg 1\nv2: word = arg 2\nv3: word = arg 3
            v4: word = word.add v0, v1\nv5: word = word.add v2, v0
            v6: word = const {along}\nv7: word = const {down}\nv8: word = const {rows}
            loop v8 {{
            carry v9: word = v4, v11 -> v13
            carry v10: word = v5, v12 -> v14
            v11: word = word.add v9, v7
            v12: word = word.add v10, v7
            loop v3 {{
            carry v15: word = v9, v17 -> v19
            carry v16: word = v10, v18 -> v20
            v21: {ty} = splat 1\n"
        );
        let mut last = 21;
        for offset in offsets {
            let (loaded, sum) = (last + 1, last + 2);
            let _ = writeln!(text, "v{loaded}: {ty} = load [v15 + {}]", offset * *size as i64);
            let _ = writeln!(text, "v{sum}: {ty} = sub v{loaded}, v{last}");
            last = sum;
        }
        let to = if *in_place { "v15" } else { "v16" };
        let _ = write!(
            text,
            "store v{last}, [{to} + 0]
            v17: word = word.add v15, v6
            v18: word = word.add v16, v6\n}}\n}}\n}}\n"
        );
        text
    }

    fn program(&self) -> Verified {
        let text = self.text();
        verify(parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The first element that is read is the first of the memory, so that nothing before it can be; where there are no turns, nothing is there at all.
    fn slots(&self) -> Vec<u64> {
        let first = self.offsets.iter().min().copied().unwrap_or(0).min(if self.in_place { 0 } else { i64::MAX });
        let start = if self.turns == 0 { 2 * MEMORY as i64 } else { -first * self.size as i64 };
        vec![0, start.cast_unsigned(), MEMORY as u64 / 2, self.turns as u64, 0]
    }

    /// Whether two loads lie within the lanes of one, and their sum of turns can be made of one.
    fn can_slide(&self) -> bool {
        let near = |a: &i64| self.offsets.iter().any(|b| (1..self.lanes as i64).contains(&(b - a)));
        self.size >= 4 && !self.in_place && self.step == self.lanes && self.offsets.iter().any(near)
    }
}

fn slides(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Slide(..)) => 1,
        Stmt::Loop(r#loop) => slides(&r#loop.body),
        _ => 0,
    };
    body.iter().map(of).sum()
}

fn loads(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Load { mask: None, .. }) => 1,
        Stmt::Loop(r#loop) => loads(&r#loop.body),
        _ => 0,
    };
    body.iter().map(of).sum()
}

#[test]
fn random_rows_mean_the_same_when_their_loads_slide() {
    let (first, count) = (setting("FARKAS_LANES_SEED", 1), setting("FARKAS_LANES_COUNT", 2500));
    let (mut cases, mut slid): (Vec<Case>, u64) = (Vec::new(), 0);
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let rows = Rows::random(&mut random);
        let (program, mut memory) = (rows.program(), generate::memory(&mut random));
        // Finite as a float of any size: which of two NaNs survives is nobody's business.
        memory.chunks_exact_mut(4).for_each(|word| word[3] &= !0x40);
        let changed = slide(&program, &REGIONS).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", *program));
        let number = slides(&changed.body);
        assert_eq!(number > 0, rows.can_slide(), "seed {seed}\n{}\n{}", *program, *changed);
        assert_eq!(loads(&program.body), loads(&changed.body) + number, "seed {seed}\n{}", *changed);
        slid += u64::from(number > 0);
        let text = changed.to_string();
        assert_eq!(parse(&text).as_ref(), Ok::<&Program, _>(&changed), "seed {seed}\n{text}");
        let before =
            run(seed, program, rows.slots(), memory.clone()).unwrap_or_else(|| panic!("seed {seed} leaves its memory"));
        let after = run(seed, changed, rows.slots(), memory);
        let after = after.unwrap_or_else(|| panic!("seed {seed} leaves its memory when loads slide\n{text}"));
        assert!(before.expected == after.expected, "seed {seed}: other results\n{}\n{text}", *before.program);
        cases.push(after);
    }
    assert!(3 * slid > count, "only {slid} of {count} programs have loads that slide");
    for batch in cases.chunks(250) {
        check(batch);
    }
}

const APART: &str = "
lanes 8 \"apart\" slots 5 {
    v0: word = arg 0
    v1: word = arg 1
    v2: word = arg 2
    v3: word = word.add v0, v1
    v4: word = word.add v0, v2
    v5: word = const 2
    v6: word = const 64
    loop v5 {
        carry v7: word = v3, v11 -> v12
        v8: f64 = load [v7 + 8]
        v9: f64 = load [v7 + 0]
        v10: f64 = sub v8, v9
        store v10, [v4 + 0]
        v11: word = word.add v7, v6
    }
}
";

#[test]
fn arrays_that_may_be_the_same_keep_their_loads() {
    let slid = |regions: &[Option<u32>]| {
        let program = verify(parse(APART).expect("it reads")).expect("it is right");
        slide(&program, regions).expect("it is still right")
    };
    let apart = slid(&REGIONS);
    assert_eq!(slides(&apart.body), 1);
    // It is known that there is a first turn: nothing asks.
    assert!(!apart.to_string().contains("word.lt"), "{}", *apart);
    for regions in
        [[None, Some(1), Some(1), None, None], [None, Some(1), None, None, None], [None, None, Some(2), None, None]]
    {
        assert_eq!(slides(&slid(&regions).body), 0, "{regions:?}");
    }
}
