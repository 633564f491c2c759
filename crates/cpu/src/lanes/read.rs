//! The reader of the text form that `print` writes.
//!
//! In: text.  Out: a program with exactly the ids of the text; `verify` says whether it makes sense.

use program::{ScalarType, Value};

use super::ir::{
    Access, Address, BinaryOp, Carried, CompareOp, Loop, Op, Program, ShiftOp, Stmt, Type, UnaryOp, ValueId, WordOp,
};
use super::print::element;

/// What is wrong, and on which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ReadError {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

type Read<T> = Result<T, String>;

/// Reads one program.
pub fn parse(text: &str) -> Result<Program, ReadError> {
    let mut reader = Reader { types: Vec::new(), lines: Vec::new(), next: 0 };
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            reader.lines.push((number + 1, line));
        }
    }
    reader.program().map_err(|what| ReadError { line: reader.line(), what })
}

struct Reader<'a> {
    types: Vec<Option<Type>>,
    lines: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> usize {
        self.lines.get(self.next.saturating_sub(1)).or(self.lines.last()).map_or(1, |(number, _)| *number)
    }

    fn take(&mut self) -> Read<&'a str> {
        let line = self.lines.get(self.next).ok_or("the text ends too early")?;
        self.next += 1;
        Ok(line.1)
    }

    fn program(&mut self) -> Read<Program> {
        let header = "`lanes <number> \"<name>\" slots <number> {`";
        let line = self.take()?.strip_prefix("lanes ").ok_or_else(|| format!("expected {header}"))?;
        let (lanes, rest) = line.split_once(" \"").ok_or_else(|| format!("expected {header}"))?;
        let (name, rest) = rest.rsplit_once("\" slots ").ok_or_else(|| format!("expected {header}"))?;
        let slots = rest.strip_suffix(" {").ok_or_else(|| format!("expected {header}"))?;
        let (lanes, slots) = (number(lanes)?, number(slots)?);
        let (body, _) = self.block()?;
        if self.next != self.lines.len() {
            self.next += 1;
            return Err("nothing may follow the program".to_owned());
        }
        let defined = |(id, ty): (usize, &Option<Type>)| ty.ok_or_else(|| format!("v{id} is never defined"));
        let types = self.types.iter().enumerate().map(defined).collect::<Read<_>>()?;
        Ok(Program { name: name.to_owned(), lanes, slots, types, body })
    }

    /// Statements up to the closing brace, and the carried values at their head.
    fn block(&mut self) -> Read<(Vec<Stmt>, Vec<Carried>)> {
        let (mut body, mut carried) = (Vec::new(), Vec::new());
        loop {
            let line = self.take()?;
            if line == "}" {
                return Ok((body, carried));
            }
            if let Some(rest) = line.strip_prefix("carry ") {
                carried.push(self.carry(rest)?);
            } else if let Some(rest) = line.strip_prefix("loop ") {
                let trips = value(rest.strip_suffix('{').ok_or("expected `{`")?)?;
                let (inner, carried) = self.block()?;
                body.push(Stmt::Loop(Loop { trips, carried, body: inner }));
            } else {
                body.push(self.stmt(line)?);
            }
        }
    }

    fn carry(&mut self, text: &str) -> Read<Carried> {
        let shape = "expected `carry <param>: <type> = <init>, <next> -> <result>`";
        let (param, rest) = text.split_once(':').ok_or(shape)?;
        let (ty, rest) = rest.split_once('=').ok_or(shape)?;
        let (init, rest) = rest.split_once(',').ok_or(shape)?;
        let (next, result) = rest.split_once("->").ok_or(shape)?;
        let ty = type_named(ty)?;
        let carried = Carried { init: value(init)?, param: value(param)?, next: value(next)?, result: value(result)? };
        self.define(carried.param, ty)?;
        self.define(carried.result, ty)?;
        Ok(carried)
    }

    fn define(&mut self, id: ValueId, ty: Type) -> Read<()> {
        // Ids are dense, so one far away is a mistake and not worth the memory.
        if id.index() > 1 << 20 {
            return Err(format!("{id} is too large a number"));
        }
        if self.types.len() <= id.index() {
            self.types.resize(id.index() + 1, None);
        }
        match self.types[id.index()].replace(ty) {
            None => Ok(()),
            Some(_) => Err(format!("{id} is defined twice")),
        }
    }

    fn stmt(&mut self, line: &str) -> Read<Stmt> {
        let (line, mask) = split_mask(line)?;
        if let Some(rest) = line.strip_prefix("store ") {
            let (stored, place) = rest.split_once(',').ok_or("expected an address")?;
            let (at, access) = place_of(place)?;
            return Ok(Stmt::Store { value: value(stored)?, at, access, mask });
        }
        if let Some(rest) = line.strip_prefix("scatter ") {
            let [value, base, index] = values(rest)?;
            return Ok(Stmt::Scatter { value, base, index, mask });
        }
        if let Some(place) = line.strip_prefix("fetch ") {
            return match place_of(place)? {
                (at, Access::Unit) if mask.is_none() => Ok(Stmt::Fetch(at)),
                _ => Err("an address is all that is fetched".to_owned()),
            };
        }
        if let Some(rest) = line.strip_prefix("check ") {
            let (operands, site) = rest.split_once(" site ").ok_or("expected `site`")?;
            let [index, extent] = values(operands)?;
            return Ok(Stmt::Check { index, extent, mask, site: number(site)? });
        }
        let (id, rest) = line.split_once(':').ok_or_else(|| format!("`{line}` is no statement"))?;
        let (ty, op) = rest.split_once('=').ok_or("expected `=`")?;
        let (id, ty) = (value(id)?, type_named(ty)?);
        self.define(id, ty)?;
        Ok(Stmt::Let(id, op_of(op.trim(), ty, mask)?))
    }
}

fn op_of(text: &str, ty: Type, mask: Option<ValueId>) -> Read<Op> {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    match name {
        "load" => {
            let (at, access) = place_of(rest)?;
            return Ok(Op::Load { at, access, mask });
        }
        "gather" => {
            let [base, index] = values(rest)?;
            return Ok(Op::Gather { base, index, mask });
        }
        _ if mask.is_some() => return Err(format!("`{name}` takes no mask")),
        "arg" => return Ok(Op::Arg(number(rest)?)),
        "const" => return Ok(Op::Const(number(rest)?)),
        "splat" => return Ok(Op::Splat(element_value(rest, ty)?)),
        "scalar" => return Ok(Op::Scalar(number(rest)?)),
        "word" => return Ok(Op::FromWord(value(rest)?)),
        "iota" => return Ok(Op::Iota),
        "fma" => return values(rest).map(|[a, b, c]| Op::Fma(a, b, c)),
        "select" => return values(rest).map(|[a, b, c]| Op::Select(a, b, c)),
        "slide" => {
            let (operands, by) = rest.rsplit_once(',').ok_or("expected a number of lanes")?;
            let [a, b] = values(operands)?;
            return Ok(Op::Slide(a, b, number(by)?));
        }
        "convert" => return Ok(Op::Convert(value(rest)?)),
        "bitcast" => return Ok(Op::Bitcast(value(rest)?)),
        "prefix" => return Ok(Op::Prefix(value(rest)?)),
        _ => {}
    }
    if let Some(op) = WordOp::ALL.iter().find(|op| op.name() == name) {
        return values(rest).map(|[a, b]| Op::Word(*op, a, b));
    }
    if let Some(op) = UnaryOp::ALL.iter().find(|op| op.name() == name) {
        return Ok(Op::Unary(*op, value(rest)?));
    }
    if let Some(op) = BinaryOp::ALL.iter().find(|op| op.name() == name) {
        return values(rest).map(|[a, b]| Op::Binary(*op, a, b));
    }
    if let Some(op) = CompareOp::ALL.iter().find(|op| op.name() == name) {
        return values(rest).map(|[a, b]| Op::Compare(*op, a, b));
    }
    if let Some(op) = ShiftOp::ALL.iter().find(|op| op.name() == name) {
        let (a, bits) = rest.split_once(',').ok_or("expected a number of bits")?;
        return Ok(Op::Shift(*op, value(a)?, number(bits)?));
    }
    let reduced = name.strip_prefix("reduce.").and_then(|name| BinaryOp::ALL.iter().find(|op| op.name() == name));
    match reduced {
        Some(op) => Ok(Op::Reduce(*op, value(rest)?)),
        None => Err(format!("`{name}` is no operation")),
    }
}

fn split_mask(line: &str) -> Read<(&str, Option<ValueId>)> {
    match line.split_once(" if ") {
        Some((rest, mask)) => Ok((rest, Some(value(mask)?))),
        None => Ok((line, None)),
    }
}

/// `[base + index * scale + offset]` and what follows.
fn place_of(text: &str) -> Read<(Address, Access)> {
    let inside = text.trim().strip_prefix('[').ok_or("expected `[`")?;
    let (inside, access) = inside.split_once(']').ok_or("expected `]`")?;
    let parts: Vec<&str> = inside.split('+').collect();
    let (base, index, offset) = match parts[..] {
        [base, offset] => (base, None, offset),
        [base, index, offset] => (base, Some(index), offset),
        _ => return Err("expected `[base + index * scale + offset]`".to_owned()),
    };
    let index = index
        .map(|index| {
            let (index, scale) = index.split_once('*').ok_or("expected a scale")?;
            Ok::<_, String>((value(index)?, number(scale)?))
        })
        .transpose()?;
    let access = match access.trim() {
        "" => Access::Unit,
        "streamed" => Access::Streamed,
        "same" => Access::Same,
        "reversed" => Access::Reversed,
        other => Access::Strided(value(other.strip_prefix("by ").ok_or("expected `by`")?)?),
    };
    Ok((Address { base: value(base)?, index, offset: number(offset)? }, access))
}

fn values<const N: usize>(text: &str) -> Read<[ValueId; N]> {
    let found = text.split(',').map(value).collect::<Read<Vec<_>>>()?;
    found.try_into().map_err(|found: Vec<_>| format!("expected {N} operands, not {}", found.len()))
}

fn value(text: &str) -> Read<ValueId> {
    let text = text.trim();
    let id = text.strip_prefix('v').and_then(|digits| digits.parse().ok());
    id.map(ValueId).ok_or_else(|| format!("expected a value, not `{text}`"))
}

fn number<T: std::str::FromStr>(text: &str) -> Read<T> {
    text.trim().parse().map_err(|_| format!("expected a number, not `{}`", text.trim()))
}

fn type_named(text: &str) -> Read<Type> {
    match text.trim() {
        "word" => Ok(Type::Word),
        "mask" => Ok(Type::Mask),
        name => element(name).map(Type::Lanes).ok_or_else(|| format!("`{name}` is no type of lanes")),
    }
}

fn element_value(text: &str, ty: Type) -> Read<Value> {
    let Type::Lanes(ty) = ty else { return Err("only lanes hold elements".to_owned()) };
    let bits = text.strip_prefix("bits 0x").map(|digits| u64::from_str_radix(digits, 16));
    match (ty, bits) {
        (ScalarType::F32, Some(Ok(bits))) => {
            u32::try_from(bits).map(|bits| Value::F32(f32::from_bits(bits))).map_err(|_| "too many bits".to_owned())
        }
        (ScalarType::F64, Some(Ok(bits))) => Ok(Value::F64(f64::from_bits(bits))),
        (_, Some(_)) => Err("expected bits of a float".to_owned()),
        (ScalarType::F32, None) => number(text).map(Value::F32),
        (ScalarType::F64, None) => number(text).map(Value::F64),
        (ScalarType::I8, None) => number(text).map(Value::I8),
        (ScalarType::I16, None) => number(text).map(Value::I16),
        (ScalarType::I32, None) => number(text).map(Value::I32),
        (ScalarType::I64, None) => number(text).map(Value::I64),
        (ScalarType::U8, None) => number(text).map(Value::U8),
        (ScalarType::U16, None) => number(text).map(Value::U16),
        (ScalarType::U32, None) => number(text).map(Value::U32),
        (ScalarType::U64, None) => number(text).map(Value::U64),
        (ty, None) => Err(format!("no lane holds {ty}")),
    }
}
