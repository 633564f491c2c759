//! Random programs: every string of bytes is a legal one.
//!
//! In: bytes, taken as choices; when they run out, the simplest choice is made, so that fewer bytes make a smaller
//! program and proptest can shrink.  Out: source text, the sizes to run it with, and its element type.

use std::fmt::Write;

/// A generated program and how to run it.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    pub source: String,
    /// The file that it uses, `helpers.fks`.
    helpers: String,
    pub ty: &'static str,
    pub n: usize,
    pub m: usize,
    /// A sum or product of floats occurs, so that results depend on the order within rounding.
    pub rounds: bool,
}

impl Generated {
    /// The program together with the file that it uses.
    pub(crate) fn linked(&self) -> farkas::Source {
        let program = farkas::Source::new("random.fks", self.source.as_str());
        let linked =
            farkas::link(&program, "random.fks", &mut |path| Ok(farkas::Source::new(path, self.helpers.as_str())));
        linked.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An index in scope and the parameter that bounds it.
#[derive(Clone)]
struct Index {
    name: String,
    extent: char,
}

/// An array that can be read: its name and extents.
#[derive(Clone)]
struct Array {
    name: String,
    shape: Vec<char>,
}

/// What an expression may read of the array being written.
#[derive(Clone, Copy, PartialEq)]
enum Own {
    /// Its own cell only, as in a forall.
    Cell,
    /// Rows other than the one being written, given by the loop index `t`.
    OtherRows,
    /// Everything, as in fully ordered loops.
    All,
}

struct Target {
    array: Array,
    subscripts: Vec<String>,
    own: Own,
}

struct Generator<'a> {
    bytes: std::slice::Iter<'a, u8>,
    ty: &'static str,
    arrays: Vec<Array>,
    indices: Vec<Index>,
    fresh: usize,
    rounds: bool,
    body: String,
}

pub(crate) fn generate(bytes: &[u8]) -> Generated {
    let mut generator = Generator {
        bytes: bytes.iter(),
        ty: "i64",
        arrays: Vec::new(),
        indices: Vec::new(),
        fresh: 0,
        rounds: false,
        body: String::new(),
    };
    generator.ty =
        generator.choose(&["i64", "f64", "i32", "f32", "u32", "u64", "i16", "u16", "i8", "u8", "f16", "bf16"]);
    let n = generator.choose(&[3, 2, 1, 0, 5, 7]);
    let m = generator.choose(&[2, 3, 1, 0, 5, 7]);
    for (name, shape) in [("A", "NM"), ("v", "N"), ("w", "M"), ("U", "NM"), ("x", "N")] {
        generator.arrays.push(Array { name: name.into(), shape: shape.chars().collect() });
    }
    for _ in 0..1 + generator.pick(4) {
        generator.statement(1);
    }
    let ty = generator.ty;
    let helpers = helpers(generator.computed(), generator.is_int());
    let source = format!(
        "use \"helpers.fks\"\n\nfn f<N, M>(A: {ty}[N, M], v: {ty}[N], w: {ty}[M], F: {ty}[N * M], inout U: {ty}[N, M], inout x: {ty}[N]) {{\n{}}}\n",
        generator.body
    );
    Generated { source, helpers, ty, n, m, rounds: generator.rounds }
}

/// What programs call: over types where they are floats.
fn helpers(ty: &str, is_int: bool) -> String {
    let (parameter, ty) = if is_int { ("", ty) } else { ("T: float, ", "T") };
    let alone = parameter.trim_end_matches(", ");
    let list = if alone.is_empty() { String::new() } else { format!("<{alone}>") };
    format!(
        "fn mix{list}(a: {ty}, b: {ty}) -> (c: {ty}) {{ c = if a < b then a + b else a - 2 * b }}\n\
         fn total<{parameter}K>(x: {ty}[K]) -> (s: {ty}) {{ s = sum[k] x[k] }}\n\
         fn largest<{parameter}K, L>(X: {ty}[K, L]) -> (m: {ty}[K]) {{ m[k] = max(0, max[l] X[k, l]) }}\n"
    )
}

impl Generator<'_> {
    /// A choice among `n`; 0 when there are no bytes left.
    fn pick(&mut self, n: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % n)
    }

    fn choose<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.pick(options.len())]
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.body, "{}{text}", "    ".repeat(depth));
    }

    fn statement(&mut self, depth: usize) {
        match self.pick(11) {
            10 => self.chosen(depth),
            8 => self.permuted(depth),
            9 => self.called(depth),
            0 => self.forall(depth, 3, Own::Cell),
            1 => self.definition(depth),
            2 => self.rows(depth),
            3 => self.recurrence(depth),
            4 => self.repeated(depth),
            5 => self.scatter(depth),
            6 => self.ragged(depth),
            _ => self.forall(depth, 4, Own::Cell),
        }
    }

    /// `U[i, j | guard] = …`
    fn forall(&mut self, depth: usize, array: usize, own: Own) {
        let array = self.arrays[array].clone();
        let mark = self.indices.len();
        let (mut subscripts, mut bounds) = (Vec::new(), Vec::new());
        for extent in array.shape.clone() {
            let name = self.name("i");
            self.indices.push(Index { name: name.clone(), extent });
            bounds.push(format!("{name}: 0..{extent}"));
            subscripts.push(name);
        }
        let guard = self.guard();
        let target = Target { array: array.clone(), subscripts, own };
        let op = match self.is_int() {
            true => self.choose(&["=", "=", "+=", "max=", "^=", "&=", "|="]),
            false => self.choose(&["=", "=", "+=", "max="]),
        };
        let value = self.expr(3, Some(&target));
        let value = self.stored(value);
        self.line(depth, &format!("{}[{}{guard}] {op} {value}", array.name, bounds.join(", ")));
        self.indices.truncate(mark);
    }

    /// Cells of a permutation, which data makes up.
    fn permuted(&mut self, depth: usize) {
        let (p, i, j) = (self.name("p"), self.name("i"), self.name("j"));
        let order = self.choose(&["<", ">"]);
        self.line(
            depth,
            &format!("let {p}[{i}] = sum[{j}] i64(v[{j}] < v[{i}] or v[{j}] = v[{i}] and {j} {order} {i})"),
        );
        let i = self.name("i");
        // The statement may not read what it assigns.
        let stand_in = self.arrays[1].clone();
        let array = std::mem::replace(&mut self.arrays[4], stand_in);
        self.indices.push(Index { name: i.clone(), extent: 'N' });
        let value = self.expr(2, None);
        let value = self.stored(value);
        self.indices.pop();
        self.arrays[4] = array;
        self.line(depth, &format!("unique x[{p}[{i}] | 0 <= {i} < N] = {value}"));
    }

    /// Calls of functions of arrays, whose results later statements can read.
    fn called(&mut self, depth: usize) {
        // What is only stored is no type of theirs, and narrow integers are not what they take.
        let (v, u) = if self.computed() == self.ty {
            (self.choose(&["v", "w", "x"]).to_string(), self.choose(&["U", "A"]).to_string())
        } else {
            let (i, j, k) = (self.name("i"), self.name("i"), self.name("i"));
            let (v, u, ty) = (self.name("l"), self.name("l"), self.computed());
            self.line(depth, &format!("let {v}[{i}] = {ty}(x[{i}])"));
            self.line(depth, &format!("let {u}[{j}, {k}] = {ty}(U[{j}, {k}])"));
            (v, u)
        };
        let name = self.name("l");
        if self.pick(2) == 0 {
            self.rounds |= !self.is_int();
            self.line(depth, &format!("let {name} = total({v})"));
            self.arrays.push(Array { name, shape: Vec::new() });
        } else {
            self.line(depth, &format!("let {name} = largest({u})"));
            self.arrays.push(Array { name, shape: vec!['N'] });
        }
    }

    /// `let l[i, j] = …`, which later statements can read.
    fn definition(&mut self, depth: usize) {
        let shape = self.choose(&["NM", "N", "M", "MN"]);
        let name = self.name("l");
        let mark = self.indices.len();
        let mut subscripts = Vec::new();
        for extent in shape.chars() {
            let index = self.name("i");
            subscripts.push(format!("{index}: 0..{extent}"));
            self.indices.push(Index { name: index, extent });
        }
        let value = self.expr(3, None);
        let (ty, value) = (self.ty, self.stored(value));
        self.line(depth, &format!("let {name}[{}]: {ty} = {value}", subscripts.join(", ")));
        self.indices.truncate(mark);
        // Inside a loop a local is visible only there; the caller removes it.
        self.arrays.push(Array { name, shape: shape.chars().collect() });
    }

    /// An ordered loop over rows with a forall over columns inside.
    fn rows(&mut self, depth: usize) {
        let t = self.open_loop(depth, 'N');
        let j = self.name("i");
        self.indices.push(Index { name: j.clone(), extent: 'M' });
        let array = self.arrays[3].clone();
        let target = Target { array, subscripts: vec![t.clone(), j.clone()], own: Own::OtherRows };
        let guard = self.guard();
        let value = self.expr(3, Some(&target));
        let value = self.stored(value);
        self.line(depth + 1, &format!("U[{t}, {j}: 0..M{guard}] = {value}"));
        self.indices.truncate(self.indices.len() - 2);
        self.line(depth, "}");
    }

    /// Fully ordered loops: anything in place.
    fn recurrence(&mut self, depth: usize) {
        let t = self.open_loop(depth, 'N');
        let (array, subscripts) = if self.pick(2) == 0 {
            (self.arrays[4].clone(), vec![t])
        } else {
            let s = self.open_loop(depth + 1, 'M');
            (self.arrays[3].clone(), vec![t, s])
        };
        let loops = subscripts.len();
        let target = Target { array: array.clone(), subscripts: subscripts.clone(), own: Own::All };
        let value = self.expr(3, Some(&target));
        let value = self.stored(value);
        self.line(depth + loops, &format!("{}[{}] = {value}", array.name, subscripts.join(", ")));
        for level in (0..loops).rev() {
            self.indices.pop();
            self.line(depth + level, "}");
        }
    }

    /// Updates of cells that depend on data: in a forall, or in a loop with more in its value.
    fn scatter(&mut self, depth: usize) {
        let mut op = self.choose(&["+=", "max=", "-=", "min="]);
        self.rounds |= matches!(op, "+=" | "-=") && !self.is_int();
        if self.pick(3) == 0 && !self.is_half() {
            let i = self.name("i");
            let value = self.stored(format!("v[{i}] * 2"));
            return self.line(depth, &format!("x[i64(v[{i}]) % N] {op} {value}"));
        }
        // One cell, or one row, at a time may also be replaced.
        if self.pick(3) == 2 || self.is_half() {
            op = "=";
        }
        let position = self.choose(&[3, 4]);
        // The statement may not read what it updates.
        let stand_in = self.arrays[position - 3].clone();
        let array = std::mem::replace(&mut self.arrays[position], stand_in);
        let t = self.open_loop(depth, 'N');
        let cell = if position == 3 {
            let j = self.name("i");
            self.indices.push(Index { name: j.clone(), extent: 'M' });
            format!("U[i64(v[{t}]) % N, {j}: 0..M{}]", self.guard())
        } else {
            format!("x[i64(v[{t}]) % N]")
        };
        let value = self.expr(2, None);
        let value = self.stored(value);
        self.line(depth + 1, &format!("{cell} {op} {value}"));
        self.indices.truncate(self.indices.len() - array.shape.len());
        self.arrays[position] = array;
        self.line(depth, "}");
    }

    /// A loop over rows whose ends are data, with updates and a sum over such a row inside.
    fn ragged(&mut self, depth: usize) {
        let t = self.open_loop(depth, 'N');
        let k = self.name("k");
        let step = self.choose(&["", "", " by 2", " by 1 + i64(v[0]) % 3"]);
        let until = self.choose(&["", "", " while v[0] < 3"]);
        self.line(depth + 1, &format!("for {k} in i64(v[{t}]) % N..N{step}{until} {{"));
        // The statement may not read what it updates.
        let stand_in = self.arrays[1].clone();
        let array = std::mem::replace(&mut self.arrays[4], stand_in);
        let op = if self.is_half() { "=" } else { self.choose(&["=", "max=", "="]) };
        let value = self.expr(2, None);
        let value = self.stored(value);
        self.arrays[4] = array;
        self.line(depth + 2, &format!("x[{k}] {op} {value}"));
        if self.is_int() {
            let l = self.name("k");
            let ty = self.ty;
            let guard = match self.pick(3) {
                0 => String::new(),
                1 => format!(" | v[{l}] > 1"),
                _ => format!(" | {l} != {k}"),
            };
            let row = format!("{l}: i64(v[{k}]) % N..N{guard}");
            self.line(depth + 2, &format!("x[{t}] = {ty}(sum[{row}] (v[{l}] + x[{l}]))"));
        }
        self.line(depth + 1, "}");
        self.indices.pop();
        self.line(depth, "}");
    }

    /// Statements under a condition on sizes and indices, or on data, which decides about fewer kinds of them.
    fn chosen(&mut self, depth: usize) {
        if depth > 2 {
            return self.forall(depth, 4, Own::Cell);
        }
        let data = self.pick(2) == 1;
        let cond = if data {
            let k = self.name("k");
            format!("any[{k}: 0..N] (v[{k}] {} 2)", self.choose(&["<", "=", ">"]))
        } else {
            self.condition(1)
        };
        self.line(depth, &format!("if {cond} {{"));
        for arm in 0..1 + self.pick(2) {
            if arm > 0 {
                self.line(depth, "} else {");
            }
            let arrays = self.arrays.len();
            match (data, self.pick(4)) {
                (false, _) => self.statement(depth + 1),
                (true, 0) => self.forall(depth + 1, 3, Own::Cell),
                (true, 1) => self.recurrence(depth + 1),
                (true, 2) => self.scatter(depth + 1),
                (true, _) => self.forall(depth + 1, 4, Own::Cell),
            }
            self.arrays.truncate(arrays);
        }
        self.line(depth, "}");
    }

    /// A few statements, several times.
    fn repeated(&mut self, depth: usize) {
        if depth > 2 {
            return self.forall(depth, 3, Own::Cell);
        }
        let t = self.name("t");
        let steps = self.choose(&[2, 1, 0, 3]);
        // Where floats are rounded in another order, the loop might stop at another time.
        let until = match self.pick(3) {
            2 if self.is_int() => {
                format!(" while any[k{t}: 0..N] (x[k{t}] {} v[k{t}])", self.choose(&["<", "!=", ">="]))
            }
            _ => String::new(),
        };
        self.line(depth, &format!("for {t} in 0..{steps}{until} {{"));
        let arrays = self.arrays.len();
        for _ in 0..1 + self.pick(2) {
            self.statement(depth + 1);
        }
        self.arrays.truncate(arrays);
        self.line(depth, "}");
    }

    fn open_loop(&mut self, depth: usize, extent: char) -> String {
        let t = self.name("t");
        let (lo, hi) = (self.choose(&["0", "1", "0"]), self.choose(&["", "", " - 1"]));
        let order = self.choose(&["", " rev", " by 2", " by -1", " by -2", " by 3 rev"]);
        self.line(depth, &format!("for {t} in {lo}..{extent}{hi}{order} {{"));
        self.indices.push(Index { name: t.clone(), extent });
        t
    }

    /// ` | affine condition`, or nothing.
    fn guard(&mut self) -> String {
        if self.indices.is_empty() || self.pick(3) == 0 {
            return String::new();
        }
        format!(" | {}", self.condition(1))
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 {
            match self.pick(5) {
                1 => return format!("{} and {}", self.condition(depth - 1), self.condition(depth - 1)),
                2 => return format!("({} or {})", self.condition(depth - 1), self.condition(depth - 1)),
                3 => return format!("not ({})", self.condition(depth - 1)),
                _ => {}
            }
        }
        let (a, b) = (self.affine().0, self.affine().0);
        match self.pick(4) {
            0 => format!("{a} <= {b}"),
            1 => format!("{a} != {b}"),
            2 => format!("({a}) % {} = {}", self.choose(&[2, 3]), self.choose(&[0, 1])),
            _ => format!("{} <= {a} < {b}", self.choose(&[0, 1, -1])),
        }
    }

    /// An affine expression, and whether it is a bare index with its extent.
    fn affine(&mut self) -> (String, Option<char>) {
        if self.indices.is_empty() {
            return (self.choose(&["0", "1", "N - 1", "M"]).to_string(), None);
        }
        let position = self.pick(self.indices.len());
        let Index { name, extent } = self.indices[position].clone();
        match self.pick(8) {
            0..=2 => (name, Some(extent)),
            3 => (format!("{name} + 1"), None),
            4 => (format!("{name} - 1"), None),
            5 => (format!("{extent} - 1 - {name}"), None),
            6 => (format!("{name} / 2"), None),
            _ => {
                let other = self.pick(self.indices.len());
                (format!("{name} + {} - 1", self.indices[other].name), None)
            }
        }
    }

    fn is_int(&self) -> bool {
        !self.ty.starts_with('f') && !self.is_half()
    }

    fn is_half(&self) -> bool {
        self.ty.ends_with("f16")
    }

    /// The type that values of the element type are computed with.
    fn computed(&self) -> &'static str {
        match self.ty {
            "i8" | "u8" | "i16" | "u16" => "i32",
            "f16" | "bf16" => "f32",
            ty => ty,
        }
    }

    /// A value as it is stored.
    fn stored(&self, value: String) -> String {
        if self.computed() == self.ty { value } else { format!("{}({value})", self.ty) }
    }

    fn width(&self) -> usize {
        self.ty.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(64)
    }

    /// An operation on bits; of floats, a test.
    fn bits(&mut self, depth: usize, target: Option<&Target>) -> String {
        let one = self.expr(depth - 1, target);
        if !self.is_int() {
            return format!("(if is_nan({one}) or is_inf({one}) then 1 else {})", self.read(target));
        }
        match self.pick(6) {
            0 => format!("({one} & {})", self.expr(depth - 1, target)),
            1 => format!("({one} | {})", self.expr(depth - 1, target)),
            2 => format!("({one} ^ {})", self.expr(depth - 1, target)),
            3 => format!("(~{one})"),
            // The type is said because numbers that are written are computed with first, and must fit.
            4 => {
                let last = (self.width() - 1).min(31).to_string();
                let (ty, by) = (self.ty, self.choose(&["1", "7", &last]));
                format!("({ty}({one}) << {by})")
            }
            _ => {
                // A number that is written, and shifts all bits out, would be refused.
                let (ty, by) = (self.ty, self.read(target));
                format!("({ty}({one}) >> {})", if by.contains('[') { &by } else { "3" })
            }
        }
    }

    fn expr(&mut self, depth: usize, target: Option<&Target>) -> String {
        if depth == 0 {
            return self.read(target);
        }
        match self.pick(11) {
            9 => self.bits(depth, target),
            10 => {
                // Single values, because they are put wherever the function uses them.
                let (one, two, ty) = (self.read(target), self.read(target), self.computed());
                format!("mix({ty}({one}), {ty}({two}))")
            }
            0 | 1 => self.read(target),
            2 => format!("({} + {})", self.expr(depth - 1, target), self.expr(depth - 1, target)),
            3 => format!("({} - {})", self.expr(depth - 1, target), self.expr(depth - 1, target)),
            4 => format!("({} * {})", self.read(target), self.expr(depth - 1, target)),
            5 => {
                let function = self.choose(&["min", "max"]);
                format!("{function}({}, {})", self.expr(depth - 1, target), self.expr(depth - 1, target))
            }
            6 => {
                let condition = match self.pick(2) {
                    0 => format!("{} < {}", self.read(target), self.read(target)),
                    _ => self.condition(1),
                };
                format!("(if {condition} then {} else {})", self.expr(depth - 1, target), self.expr(depth - 1, target))
            }
            _ => self.reduction(depth, target),
        }
    }

    fn reduction(&mut self, depth: usize, target: Option<&Target>) -> String {
        let op = self.choose(&["sum", "max", "min", "sum"]);
        self.rounds |= op == "sum" && !self.is_int();
        let mark = self.indices.len();
        let mut bounds = Vec::new();
        for _ in 0..1 + self.pick(2) {
            let (name, extent) = (self.name("k"), self.choose(&['N', 'M']));
            bounds.push(format!("{name}: 0..{extent}"));
            self.indices.push(Index { name, extent });
        }
        let guard = self.guard();
        // The neutral elements of min and max are not values to compute with, so they are bounded.
        let body = self.expr(depth - 1, target);
        self.indices.truncate(mark);
        let reduction = format!("({op}[{}{guard}] {body})", bounds.join(", "));
        match op {
            "max" => format!("max(0, {reduction})"),
            "min" => format!("min(0, {reduction})"),
            _ => reduction,
        }
    }

    /// A cell that is certainly there, a literal, or an index value.
    fn read(&mut self, target: Option<&Target>) -> String {
        match self.pick(9) {
            6 => return self.leaf(),
            8 => {
                let over =
                    |extent| self.indices.iter().rev().find(|index| index.extent == extent).map(|index| &index.name);
                if let (Some(row), Some(column)) = (over('N'), over('M')) {
                    return format!("F[{row} * M + {column}]");
                }
            }
            7 => {
                if let Some(looked_up) = self.gather() {
                    return looked_up;
                }
            }
            _ => {}
        }
        let position = self.pick(self.arrays.len());
        let array = self.arrays[position].clone();
        if let Some(target) = target.filter(|target| target.array.name == array.name) {
            match target.own {
                Own::Cell => return format!("{}[{}]", array.name, target.subscripts.join(", ")),
                Own::OtherRows => {
                    let (row, shift) = (&target.subscripts[0], self.choose(&["- 1", "+ 1"]));
                    let column = self.subscript(array.shape[1]);
                    return self.guarded(&array, vec![(format!("{row} {shift}"), false), column]);
                }
                Own::All => {}
            }
        }
        let subscripts = array.shape.iter().map(|extent| self.subscript(*extent)).collect();
        self.guarded(&array, subscripts)
    }

    /// A cell of an input that data chooses; in range, because an index over the same extent is in scope.
    fn gather(&mut self) -> Option<String> {
        let position = self.pick(3);
        let array = self.arrays[position].clone();
        let mut subscripts = Vec::new();
        for extent in array.shape {
            let index = self.indices.iter().rev().find(|index| index.extent == extent)?;
            let chooser = if extent == 'N' { "v" } else { "w" };
            subscripts.push(format!("i64({chooser}[{}]) % {extent}", index.name));
        }
        Some(format!("{}[{}]", array.name, subscripts.join(", ")))
    }

    fn leaf(&mut self) -> String {
        if self.pick(5) == 4 {
            let (k, op) = (self.name("k"), self.choose(&["argmin", "argmax"]));
            let array = self.choose(&["v", "w"]);
            return format!("{}({op}[{k}] {array}[{k}])", self.ty);
        }
        if !self.indices.is_empty() && self.pick(2) == 1 {
            let position = self.pick(self.indices.len());
            return format!("{}({})", self.ty, self.indices[position].name);
        }
        let last = match self.ty {
            "u8" => "200",
            "u16" => "0x8000",
            "u32" | "u64" => "0x80000000",
            _ => "-3",
        };
        self.choose(&["1", "0", "2", last]).to_string()
    }

    /// A subscript, and whether it is certainly in range.
    fn subscript(&mut self, extent: char) -> (String, bool) {
        let (text, bare) = self.affine();
        let safe = bare == Some(extent);
        (text, safe)
    }

    fn guarded(&mut self, array: &Array, subscripts: Vec<(String, bool)>) -> String {
        let conditions: Vec<String> = subscripts
            .iter()
            .zip(&array.shape)
            .filter(|((_, safe), _)| !safe)
            .map(|((text, _), extent)| format!("0 <= {text} < {extent}"))
            .collect();
        let names: Vec<&str> = subscripts.iter().map(|(text, _)| text.as_str()).collect();
        let load = if names.is_empty() { array.name.clone() } else { format!("{}[{}]", array.name, names.join(", ")) };
        if conditions.is_empty() {
            return load;
        }
        format!("(if {} then {load} else {})", conditions.join(" and "), self.choose(&["0", "1"]))
    }
}
