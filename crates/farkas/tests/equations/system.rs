//! Random systems of equations: every string of bytes is one, with or without an order.
//!
//! In: bytes, taken as choices; when they run out, the simplest choice is made.  Out: source text, and what it means,
//! computed here cell by cell.

use std::collections::HashMap;
use std::fmt::Write;

/// Cells so close to an edge are given; the others are defined by equations.
const BORDER: i64 = 2;
const NAMES: [&str; 3] = ["U", "V", "W"];
/// How often a system in a loop is solved.
const STEPS: i64 = 3;

/// What a term of an equation reads.
#[derive(Clone, Debug)]
enum Reads {
    /// The cell so far away.
    Cell(Vec<i64>),
    /// The same after the two indices change places.
    Transposed(Vec<i64>),
    /// The sum of the cells before, or behind, along the first dimension.
    Sum { behind: bool },
}

#[derive(Clone, Debug)]
struct Term {
    factor: i64,
    array: usize,
    reads: Reads,
}

/// Which of the inner cells a clause defines.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Border,
    Inside,
    Even,
    Odd,
    FirstHalf,
    SecondHalf,
}

#[derive(Clone, Debug)]
struct Clause {
    array: usize,
    part: Part,
    constant: i64,
    terms: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Steps {
    Up,
    Down,
}

/// A cell: the array, and its indices.
type Cell = (usize, Vec<i64>);

#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) dims: usize,
    arrays: usize,
    /// In textual order.
    clauses: Vec<Clause>,
    /// Built along one direction, so that an order exists.
    pub(crate) has_order: bool,
    /// Solved again and again in a `for`, which adds up the results; upwards or downwards.
    looped: Option<Steps>,
}

struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    /// A number below `count`; 0 if nothing is left.
    fn pick(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % count)
    }

    fn offset(&mut self) -> i64 {
        [0, -1, 1, -2, 2][self.pick(5)]
    }
}

pub(crate) fn generate(bytes: &[u8]) -> System {
    let mut bytes = Bytes(bytes.iter());
    let has_order = bytes.pick(3) != 2;
    let (dims, arrays) = (1 + bytes.pick(2), 1 + bytes.pick(3));
    let signs: Vec<i64> = (0..dims).map(|_| if bytes.pick(2) == 0 { 1 } else { -1 }).collect();
    let first = if dims == 2 { bytes.pick(2) } else { 0 };
    let mut clauses = Vec::new();
    for array in 0..arrays {
        clauses.push(Clause { array, part: Part::Border, constant: bytes.pick(7) as i64, terms: Vec::new() });
        let parts: &[Part] =
            [&[Part::Inside][..], &[Part::Even, Part::Odd], &[Part::FirstHalf, Part::SecondHalf]][bytes.pick(3)];
        for part in parts {
            let mut terms = Vec::new();
            for _ in 0..1 + bytes.pick(3) {
                let factor = [1, 2, -1][bytes.pick(3)];
                let from = bytes.pick(arrays);
                let mut offsets: Vec<i64> = (0..dims).map(|_| bytes.offset()).collect();
                let kind = bytes.pick(6);
                if has_order {
                    direct(&mut offsets, &signs, first, from < array);
                }
                let reads = match kind {
                    4 => Reads::Sum { behind: if has_order { signs[0] < 0 } else { bytes.pick(2) == 1 } },
                    5 if dims == 2 && !has_order => Reads::Transposed(offsets),
                    _ => Reads::Cell(offsets),
                };
                terms.push(Term { factor, array: from, reads });
            }
            clauses.push(Clause { array, part: *part, constant: bytes.pick(5) as i64, terms });
        }
    }
    // Textual order means nothing.
    for position in (1..clauses.len()).rev() {
        let other = bytes.pick(position + 1);
        clauses.swap(position, position - other);
    }
    let looped = [None, None, Some(Steps::Up), Some(Steps::Down)][bytes.pick(4)];
    System { dims, arrays, clauses, has_order, looped }
}

/// Turns a reference so that it points back along the signs, the dimension `first` counting most.
fn direct(offsets: &mut [i64], signs: &[i64], first: usize, same_cell_is_back: bool) {
    let order: Vec<usize> = if offsets.len() == 2 { vec![first, 1 - first] } else { vec![0] };
    match order.iter().find(|dim| offsets[**dim] != 0) {
        Some(leading) => {
            if offsets[*leading] * signs[*leading] > 0 {
                offsets.iter_mut().for_each(|offset| *offset = -*offset);
            }
        }
        None if same_cell_is_back => {}
        None => offsets[order[0]] = -signs[order[0]],
    }
}

impl Part {
    fn guard(self, dims: usize) -> String {
        let inside = |index: &str| format!("{BORDER} <= {index} < N - {BORDER}");
        let all = if dims == 2 { format!("{} and {}", inside("i"), inside("j")) } else { inside("i") };
        match self {
            Part::Border => format!("not ({all})"),
            Part::Inside => all,
            Part::Even => format!("{all} and i % 2 = 0"),
            Part::Odd => format!("{all} and i % 2 = 1"),
            Part::FirstHalf => format!("{all} and 2 * i < N"),
            Part::SecondHalf => format!("{all} and 2 * i >= N"),
        }
    }

    fn holds(self, index: &[i64], n: i64) -> bool {
        let inside = index.iter().all(|index| (BORDER..n - BORDER).contains(index));
        match self {
            Part::Border => !inside,
            Part::Inside => inside,
            Part::Even => inside && index[0] % 2 == 0,
            Part::Odd => inside && index[0] % 2 == 1,
            Part::FirstHalf => inside && 2 * index[0] < n,
            Part::SecondHalf => inside && 2 * index[0] >= n,
        }
    }
}

impl System {
    pub(crate) fn source(&self) -> String {
        let shape = if self.dims == 2 { "N, N" } else { "N" };
        let outputs: Vec<String> = NAMES[..self.arrays].iter().map(|name| format!("{name}: i64[{shape}]")).collect();
        let mut text = format!("fn f<N>() -> ({}) {{\n", outputs.join(", "));
        let name_of = |array: usize| {
            let name = NAMES[array];
            if self.looped.is_some() { name.to_lowercase() } else { name.to_string() }
        };
        let indices: &[&str] = if self.dims == 2 { &["i", "j"] } else { &["i"] };
        let ranges: Vec<String> = indices.iter().map(|index| format!("{index}: 0..N")).collect();
        if let Some(steps) = self.looped {
            for (array, name) in NAMES[..self.arrays].iter().enumerate() {
                let all = indices.join(", ");
                writeln!(text, "    let {}: i64[{shape}]\n    {name}[{all}] = 0", name_of(array)).unwrap();
            }
            writeln!(text, "    for t in 0..{STEPS} by {} {{", if steps == Steps::Up { 1 } else { -1 }).unwrap();
        }
        for clause in &self.clauses {
            let (name, ranges, guard) = (name_of(clause.array), ranges.join(", "), clause.part.guard(self.dims));
            let time = if self.looped.is_some() { " + 5 * t" } else { "" };
            write!(text, "    {name}[{ranges} | {guard}] = {} + 3 * i{time}", clause.constant).unwrap();
            for term in &clause.terms {
                let name = name_of(term.array);
                let at = |offsets: &[i64], indices: &[&str]| {
                    let shown = indices.iter().zip(offsets).map(|(index, offset)| format!("{index} + {offset}"));
                    format!("{name}[{}]", shown.collect::<Vec<_>>().join(", ")).replace("+ -", "- ")
                };
                let read = match &term.reads {
                    Reads::Cell(offsets) => at(offsets, indices),
                    Reads::Transposed(offsets) => at(offsets, &["j", "i"]),
                    Reads::Sum { behind } => {
                        let range =
                            if *behind { format!("i + 1..i + {}", BORDER + 1) } else { format!("i - {BORDER}..i") };
                        let rest = if self.dims == 2 { ", j" } else { "" };
                        format!("(sum[k: {range}] {name}[k{rest}])")
                    }
                };
                write!(text, " + {} * {read}", term.factor).unwrap();
            }
            text.push('\n');
        }
        if self.looped.is_some() {
            for (array, name) in NAMES[..self.arrays].iter().enumerate() {
                let all = indices.join(", ");
                // The order of the steps shows in the result.
                writeln!(text, "    {name}[{all}] = 7 * {name}[{all}] + {}[{all}]", name_of(array)).unwrap();
            }
            text.push_str("    }\n");
        }
        text + "}\n"
    }

    /// Whether a clause reads what is no recursion, and has no value: the very cell that it defines, or an array that
    /// does not refer back and all of whose clauses stand behind it.
    pub(crate) fn reads_without_value(&self) -> bool {
        let mut refers = [[false; 3]; 3];
        for clause in &self.clauses {
            clause.terms.iter().for_each(|term| refers[clause.array][term.array] = true);
        }
        for middle in 0..3 {
            for from in 0..3 {
                for to in 0..3 {
                    refers[from][to] |= refers[from][middle] && refers[middle][to];
                }
            }
        }
        let first = |array: usize| self.clauses.iter().position(|clause| clause.array == array);
        self.clauses.iter().enumerate().any(|(place, clause)| {
            let own = |term: &Term| {
                let same = matches!(&term.reads, Reads::Cell(offsets) if offsets.iter().all(|offset| *offset == 0));
                term.array == clause.array && same
            };
            clause
                .terms
                .iter()
                .any(|term| own(term) || Some(place) < first(term.array) && !refers[term.array][clause.array])
        })
    }

    /// The values of all arrays for one size, row by row; nothing if a cell needs itself.
    pub(crate) fn solve(&self, n: i64) -> Option<Vec<Vec<i64>>> {
        let Some(steps) = self.looped else { return self.solve_at(n, 0) };
        let times: Vec<i64> = match steps {
            Steps::Up => (0..STEPS).collect(),
            Steps::Down => (0..STEPS).rev().collect(),
        };
        let mut sums: Option<Vec<Vec<i64>>> = None;
        for t in times {
            let values = self.solve_at(n, t)?;
            sums = Some(match sums {
                None => values,
                Some(sums) => sums.iter().zip(&values).map(|(sums, values)| add(sums, values)).collect(),
            });
        }
        sums
    }

    fn solve_at(&self, n: i64, t: i64) -> Option<Vec<Vec<i64>>> {
        let indices: Vec<Vec<i64>> = match self.dims {
            1 => (0..n).map(|i| vec![i]).collect(),
            _ => (0..n).flat_map(|i| (0..n).map(move |j| vec![i, j])).collect(),
        };
        let mut values = HashMap::new();
        let mut arrays = Vec::new();
        for array in 0..self.arrays {
            let mut cells = Vec::new();
            for index in &indices {
                cells.push(self.value(&(array, index.clone()), (n, t), &mut values)?);
            }
            arrays.push(cells);
        }
        Some(arrays)
    }

    /// The value of a cell. While it is being computed it is there without one.
    fn value(&self, cell: &Cell, (n, t): (i64, i64), values: &mut HashMap<Cell, Option<i64>>) -> Option<i64> {
        if let Some(known) = values.get(cell) {
            return *known;
        }
        values.insert(cell.clone(), None);
        let clause = self.clauses.iter().find(|clause| clause.array == cell.0 && clause.part.holds(&cell.1, n))?;
        let mut sum = clause.constant.wrapping_add(cell.1[0] * 3 + 5 * t);
        for term in &clause.terms {
            let mut read = 0i64;
            for index in reads(&term.reads, &cell.1) {
                read = read.wrapping_add(self.value(&(term.array, index), (n, t), values)?);
            }
            sum = sum.wrapping_add(read.wrapping_mul(term.factor));
        }
        values.insert(cell.clone(), Some(sum));
        Some(sum)
    }
}

/// The indices that a term reads at an instance.
fn reads(reads: &Reads, index: &[i64]) -> Vec<Vec<i64>> {
    let shifted = |index: &mut dyn Iterator<Item = &i64>, offsets: &[i64]| {
        vec![index.zip(offsets).map(|(index, offset)| index + offset).collect()]
    };
    match reads {
        Reads::Cell(offsets) => shifted(&mut index.iter(), offsets),
        Reads::Transposed(offsets) => shifted(&mut index.iter().rev(), offsets),
        Reads::Sum { behind } => {
            let along = if *behind { index[0] + 1..index[0] + BORDER + 1 } else { index[0] - BORDER..index[0] };
            along.map(|along| [&[along], &index[1..]].concat()).collect()
        }
    }
}

/// What the loop makes of the sums so far and the values of one more step.
fn add(sums: &[i64], values: &[i64]) -> Vec<i64> {
    sums.iter().zip(values).map(|(sum, value)| sum.wrapping_mul(7).wrapping_add(*value)).collect()
}
