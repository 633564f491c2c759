//! Random expressions on whole arrays, each with the indexed expression that it stands for.
//!
//! In: bytes, taken as choices; when they run out, the simplest choice is made.  Out: two programs.
//! The indexed form is written here, cell by cell, without the compiler's notion of shapes and ranks.

use std::fmt::Write;

/// One function, twice.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    pub(crate) whole: String,
    pub(crate) indexed: String,
}

/// An extent: `n * N + m * M + constant`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extent {
    n: i64,
    m: i64,
    constant: i64,
}

impl Extent {
    fn plus(self, constant: i64) -> Extent {
        Extent { constant: self.constant + constant, ..self }
    }

    fn times(self, factor: i64) -> Extent {
        Extent { n: self.n * factor, m: self.m * factor, constant: self.constant * factor }
    }

    fn text(self) -> String {
        format!("{} * N + {} * M + {}", self.n, self.m, self.constant)
    }
}

const N: Extent = Extent { n: 1, m: 0, constant: 0 };
const M: Extent = Extent { n: 0, m: 1, constant: 0 };
const FOUR: Extent = Extent { n: 0, m: 0, constant: 4 };

/// An expression without subscripts, and how to write one cell of it.
struct Whole {
    text: String,
    cell: Cell,
}

/// The value at subscripts, inside so many reductions.
type Cell = Box<dyn Fn(&[String], usize) -> String>;

struct Generator<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// The inputs, by shape; `x0` is the first.
    inputs: Vec<Vec<Extent>>,
}

pub(crate) fn generate(bytes: &[u8]) -> Generated {
    let mut generator = Generator { bytes: bytes.iter(), inputs: Vec::new() };
    let rank = generator.pick(4);
    let shape: Vec<Extent> = (0..rank).map(|_| generator.extent()).collect();
    let local = rank > 0 && generator.pick(3) == 1;
    let value = generator.expr(&shape, 4);
    let extents = |shape: &[Extent]| shape.iter().map(|extent| extent.text()).collect::<Vec<_>>().join(", ");
    let mut inputs = String::new();
    for (number, shape) in generator.inputs.iter().enumerate() {
        let brackets = if shape.is_empty() { String::new() } else { format!("[{}]", extents(shape)) };
        let _ = write!(inputs, "x{number}: f64{brackets}, ");
    }
    let index: Vec<String> = (0..rank).map(|axis| format!("i{axis}")).collect();
    let (result, op) =
        if rank == 0 { ("y: f64".to_string(), "=") } else { (format!("y: f64[{}]", extents(&shape)), "+=") };
    let program = |target: &str, value: &str| {
        let target = match local {
            true => format!("let t{target} = {value}"),
            false => format!("y{target} {op} {value}"),
        };
        format!("fn sq(a: f64) -> (b: f64) {{ b = a * a }}\nfn f<N, M>({inputs}inout {result}) {{ {target} }}")
    };
    let ranges: Vec<String> =
        index.iter().zip(&shape).map(|(i, extent)| format!("{i}: 0..{}", extent.text())).collect();
    let target = if rank == 0 { String::new() } else { format!("[{}]", ranges.join(", ")) };
    Generated { whole: program("", &value.text), indexed: program(&target, &(value.cell)(&index, 0)) }
}

impl Generator<'_> {
    fn pick(&mut self, below: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % below)
    }

    fn extent(&mut self) -> Extent {
        [N, M, FOUR, N.plus(1), M.times(2), N.times(4)][self.pick(6)]
    }

    fn leaf(&mut self, shape: &[Extent]) -> Whole {
        let number = self.inputs.len();
        self.inputs.push(shape.to_vec());
        let name = format!("x{number}");
        let cell = name.clone();
        let scalar = shape.is_empty();
        let cell = move |index: &[String], _: usize| {
            if scalar { cell.clone() } else { format!("{cell}[{}]", index.join(", ")) }
        };
        Whole { text: name, cell: Box::new(cell) }
    }

    /// An expression of this shape, or sometimes a scalar, which stands for any.
    fn any(&mut self, shape: &[Extent], depth: usize) -> Whole {
        if self.pick(5) != 4 {
            return self.expr(shape, depth);
        }
        let scalar = self.expr(&[], depth);
        Whole { text: scalar.text, cell: Box::new(move |_, inside| (scalar.cell)(&[], inside)) }
    }

    fn expr(&mut self, shape: &[Extent], depth: usize) -> Whole {
        if depth == 0 {
            return self.leaf(shape);
        }
        match self.pick(14) {
            0 | 1 => self.leaf(shape),
            2 => self.binary(shape, depth),
            3 => self.function(shape, depth),
            4 => self.conditional(shape, depth),
            5 => self.reduce(shape, depth),
            6 => self.dyad(shape, depth),
            7 => self.outer(shape, depth),
            8 if shape.len() == 1 => self.oblique(shape, depth),
            9 if !shape.is_empty() => self.transpose(shape, depth),
            10 if !shape.is_empty() => self.split(shape, depth),
            11 if !shape.is_empty() => self.merge(shape, depth),
            12 | 13 if !shape.is_empty() => self.first_axis(shape, depth),
            _ => self.reduce(shape, depth),
        }
    }

    fn binary(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let op = ["+", "-", "*", "/"][self.pick(4)];
        let (a, b) = (self.expr(shape, depth - 1), self.any(shape, depth - 1));
        let text = format!("({}) {op} ({})", a.text, b.text);
        Whole {
            text,
            cell: Box::new(move |index, inside| {
                format!("({}) {op} ({})", (a.cell)(index, inside), (b.cell)(index, inside))
            }),
        }
    }

    fn function(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let name = ["sq", "abs", "exp"][self.pick(3)];
        let a = self.expr(shape, depth - 1);
        let text = format!("{name}({})", a.text);
        Whole { text, cell: Box::new(move |index, inside| format!("{name}({})", (a.cell)(index, inside))) }
    }

    fn conditional(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let (a, b, c) = (self.any(shape, depth - 1), self.expr(shape, depth - 1), self.any(shape, depth - 1));
        let write = |a: &str, b: &str, c: &str| format!("if ({a}) < 1 then {b} else ({c})");
        let text = write(&a.text, &b.text, &c.text);
        Whole {
            text,
            cell: Box::new(move |index, inside| {
                write(&(a.cell)(index, inside), &(b.cell)(index, inside), &(c.cell)(index, inside))
            }),
        }
    }

    fn reduce(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let (symbol, word) = [("+", "sum"), ("*", "prod"), ("min", "min"), ("max", "max")][self.pick(4)];
        let more: Vec<Extent> = (0..1 + self.pick(2)).map(|_| self.extent()).collect();
        let a = self.expr(&[shape, more.as_slice()].concat(), depth - 1);
        let text = format!("(reduce {} {symbol}) ({})", more.len(), a.text);
        let cell = move |index: &[String], inside: usize| {
            let names: Vec<String> = (inside..inside + more.len()).map(|number| format!("k{number}")).collect();
            let ranges: Vec<String> =
                names.iter().zip(&more).map(|(name, extent)| format!("{name}: 0..{}", extent.text())).collect();
            let body = (a.cell)(&[index, names.as_slice()].concat(), inside + more.len());
            format!("({word}[{}] ({body}))", ranges.join(", "))
        };
        Whole { text: format!("({text})"), cell: Box::new(cell) }
    }

    /// Cells of the last axes, with frames of which one begins with the other.
    fn dyad(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let op = ["+", "*", "-", "max"][self.pick(4)];
        let frame = self.pick(shape.len() + 1);
        let shorter = self.pick(frame + 1);
        let (cells, swap, scalar) = (shape.len() - frame, self.pick(2) == 1, self.pick(3) == 2);
        let a = self.expr(shape, depth - 1);
        let b_cell = if scalar { &[] } else { &shape[frame..] };
        let b = self.expr(&[&shape[..shorter], b_cell].concat(), depth - 1);
        let (a_rank, b_rank) = (cells, b_cell.len());
        let text = match swap {
            false => format!("({}) ({op} rank {a_rank} {b_rank}) ({})", a.text, b.text),
            true => format!("({}) ({op} rank {b_rank} {a_rank}) ({})", b.text, a.text),
        };
        let cell = move |index: &[String], inside: usize| {
            let inner = if scalar { &[] } else { &index[frame..] };
            let a = (a.cell)(index, inside);
            let b = (b.cell)(&[&index[..shorter], inner].concat(), inside);
            let (one, two) = if swap { (b, a) } else { (a, b) };
            if op == "max" { format!("max({one}, {two})") } else { format!("(({one}) {op} ({two}))") }
        };
        Whole { text: format!("({text})"), cell: Box::new(cell) }
    }

    /// Every cell of the one with the whole of the other, through nested ranks.
    fn outer(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let Some((cell, rest)) = shape.split_last() else { return self.leaf(shape) };
        let cut = self.pick(rest.len() + 1);
        let (left, right) = rest.split_at(cut);
        let a = self.expr(&[left, &[*cell]].concat(), depth - 1);
        let b = self.expr(&[right, &[*cell]].concat(), depth - 1);
        let text = format!("({}) ((* rank 1 1) rank 1 {}) ({})", a.text, right.len() + 1, b.text);
        let cell = move |index: &[String], inside: usize| {
            let last = &index[index.len() - 1..];
            let a = (a.cell)(&[&index[..cut], last].concat(), inside);
            format!("(({a}) * ({}))", (b.cell)(&index[cut..], inside))
        };
        Whole { text: format!("({text})"), cell: Box::new(cell) }
    }

    fn oblique(&mut self, shape: &[Extent], depth: usize) -> Whole {
        // Rows and columns that make this many anti-diagonals.
        let (rows, columns) = (shape[0].plus(-2), Extent { n: 0, m: 0, constant: 3 });
        let a = self.expr(&[rows, columns], depth - 1);
        let text = format!("((oblique +) ({}))", a.text);
        let cell = move |index: &[String], inside: usize| {
            let (d, k) = (&index[0], format!("k{inside}"));
            let body = (a.cell)(&[k.clone(), format!("({d}) - {k}")], inside + 1);
            let last = format!("3 - (({d}) - {k}) - 1");
            format!("(sum[{k}: 0..{} | ({d}) - {k} >= 0 and {last} >= 0] ({body}))", rows.text())
        };
        Whole { text, cell: Box::new(cell) }
    }

    fn transpose(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let rank = shape.len();
        let shift = 1 + self.pick(rank);
        let axes: Vec<usize> = (0..rank).map(|axis| (axis + shift) % rank).collect();
        let mut operand = shape.to_vec();
        axes.iter().enumerate().for_each(|(to, from)| operand[*from] = shape[to]);
        let a = self.expr(&operand, depth - 1);
        let list: Vec<String> = axes.iter().map(|axis| axis.to_string()).collect();
        let text = match self.pick(2) {
            0 => format!("transpose({}, {})", list.join(", "), a.text),
            _ => format!("((transpose {}) ({}))", list.join(" "), a.text),
        };
        let cell = move |index: &[String], inside: usize| {
            let mut from = index.to_vec();
            axes.iter().enumerate().for_each(|(to, axis)| from[*axis] = index[to].clone());
            (a.cell)(&from, inside)
        };
        Whole { text, cell: Box::new(cell) }
    }

    fn split(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let Some(axis) = (1..shape.len()).find(|axis| shape[*axis] == FOUR) else { return self.leaf(shape) };
        let operand = [&shape[..axis - 1], &[shape[axis - 1].times(4)], &shape[axis + 1..]].concat();
        let a = self.expr(&operand, depth - 1);
        let text = format!("split({}, 4, {})", axis - 1, a.text);
        let cell = move |index: &[String], inside: usize| {
            let joined = format!("4 * ({}) + ({})", index[axis - 1], index[axis]);
            (a.cell)(&[&index[..axis - 1], &[joined], &index[axis + 1..]].concat(), inside)
        };
        Whole { text, cell: Box::new(cell) }
    }

    fn merge(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let Some(axis) = shape.iter().position(|extent| *extent == N.times(4)) else { return self.leaf(shape) };
        let a = self.expr(&[&shape[..axis], &[N, FOUR], &shape[axis + 1..]].concat(), depth - 1);
        let text = format!("merge({axis}, {})", a.text);
        let cell = move |index: &[String], inside: usize| {
            let cut = [format!("({}) / 4", index[axis]), format!("({}) % 4", index[axis])];
            (a.cell)(&[&index[..axis], &cut, &index[axis + 1..]].concat(), inside)
        };
        Whole { text, cell: Box::new(cell) }
    }

    /// `reverse`, `take`, `drop` and `stride` of the first axis of a cell.
    fn first_axis(&mut self, shape: &[Extent], depth: usize) -> Whole {
        let frame = self.pick(shape.len());
        let (extent, rank) = (shape[frame], shape.len() - frame);
        let kind = self.pick(6);
        // What is taken must be known to be there, so the operand is an array itself.
        let (from, name, params): (Extent, &str, Vec<String>) = match kind {
            0 => (extent, "reverse", vec![]),
            1 => (extent.plus(2), "drop", vec!["2".into()]),
            2 => (extent.plus(1), "drop", vec!["-1".into()]),
            3 => (extent.times(3), "stride", vec!["3".into()]),
            4 => (extent.plus(5), "take", vec![extent.text()]),
            _ => (FOUR.plus(1), "take", vec!["-4".into()]),
        };
        if kind == 5 && extent != FOUR {
            return self.leaf(shape);
        }
        let operand = [&shape[..frame], &[from], &shape[frame + 1..]].concat();
        let a = if kind >= 4 { self.leaf(&operand) } else { self.expr(&operand, depth - 1) };
        let spaced: String = params.iter().map(|param| format!(" {param}")).collect();
        let listed: String = params.iter().map(|param| format!("{param}, ")).collect();
        let text = match frame {
            0 => format!("{name}({listed}{})", a.text),
            _ => format!("(({name}{spaced} rank {rank}) ({}))", a.text),
        };
        let cell = move |index: &[String], inside: usize| {
            let i = &index[frame];
            let i = match kind {
                0 => format!("{} - ({i}) - 1", from.text()),
                1 => format!("({i}) + 2"),
                3 => format!("3 * ({i})"),
                5 => format!("({i}) + 1"),
                _ => i.clone(),
            };
            (a.cell)(&[&index[..frame], &[i], &index[frame + 1..]].concat(), inside)
        };
        Whole { text, cell: Box::new(cell) }
    }
}
