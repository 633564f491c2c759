//! The text form: one statement per line, types where values are defined.

use std::fmt::{self, Display, Formatter};

use program::{ScalarType, Value};

use super::ir::{Access, Address, Carried, Op, Program, Stmt, Type, ValueId, is_element};

impl Display for ValueId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Word => f.write_str("word"),
            Type::Mask => f.write_str("mask"),
            Type::Lanes(ty) => ty.fmt(f),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "lanes {} {:?} slots {} {{", self.lanes, self.name, self.slots)?;
        self.stmts(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

impl Program {
    fn stmts(&self, f: &mut Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
        body.iter().try_for_each(|stmt| self.stmt(f, stmt, depth))
    }

    fn stmt(&self, f: &mut Formatter<'_>, stmt: &Stmt, depth: usize) -> fmt::Result {
        write!(f, "{:1$}", "", 4 * depth)?;
        match stmt {
            Stmt::Let(value, op) => {
                write!(f, "{value}: {} = ", self.ty(*value))?;
                op_text(f, op)?;
            }
            Stmt::Store { value, at, access, mask } => {
                write!(f, "store {value}, {at}{access}")?;
                mask_text(f, *mask)?;
            }
            Stmt::Scatter { value, base, index, mask } => {
                write!(f, "scatter {value}, {base}, {index}")?;
                mask_text(f, *mask)?;
            }
            Stmt::Fetch(at) => write!(f, "fetch {at}")?,
            Stmt::Check { index, extent, mask, site } => {
                write!(f, "check {index}, {extent} site {site}")?;
                mask_text(f, *mask)?;
            }
            Stmt::Loop(r#loop) => {
                writeln!(f, "loop {} {{", r#loop.trips)?;
                for Carried { init, param, next, result } in &r#loop.carried {
                    write!(f, "{:1$}", "", 4 * (depth + 1))?;
                    writeln!(f, "carry {param}: {} = {init}, {next} -> {result}", self.ty(*param))?;
                }
                self.stmts(f, &r#loop.body, depth + 1)?;
                write!(f, "{:1$}}}", "", 4 * depth)?;
            }
        }
        writeln!(f)
    }
}

fn op_text(f: &mut Formatter<'_>, op: &Op) -> fmt::Result {
    match op {
        Op::Arg(slot) => write!(f, "arg {slot}"),
        Op::Const(value) => write!(f, "const {value}"),
        Op::Word(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
        Op::Splat(value) => write!(f, "splat {}", bits_text(*value)),
        Op::Scalar(slot) => write!(f, "scalar {slot}"),
        Op::FromWord(a) => write!(f, "word {a}"),
        Op::Iota => f.write_str("iota"),
        Op::Load { at, access, mask } => {
            write!(f, "load {at}{access}")?;
            mask_text(f, *mask)
        }
        Op::Gather { base, index, mask } => {
            write!(f, "gather {base}, {index}")?;
            mask_text(f, *mask)
        }
        Op::Unary(op, a) => write!(f, "{} {a}", op.name()),
        Op::Binary(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
        Op::Shift(op, a, bits) => write!(f, "{} {a}, {bits}", op.name()),
        Op::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
        Op::Convert(a) => write!(f, "convert {a}"),
        Op::Bitcast(a) => write!(f, "bitcast {a}"),
        Op::Select(mask, a, b) => write!(f, "select {mask}, {a}, {b}"),
        Op::Slide(a, b, by) => write!(f, "slide {a}, {b}, {by}"),
        Op::Reduce(op, a) => write!(f, "reduce.{} {a}", op.name()),
        Op::Prefix(count) => write!(f, "prefix {count}"),
        Op::Compare(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
    }
}

/// Floats that no decimal number stands for are written as bits.
fn bits_text(value: Value) -> String {
    match value {
        Value::F32(v) if !v.is_finite() => format!("bits {:#x}", v.to_bits()),
        Value::F64(v) if !v.is_finite() => format!("bits {:#x}", v.to_bits()),
        _ => value.to_string(),
    }
}

fn mask_text(f: &mut Formatter<'_>, mask: Option<ValueId>) -> fmt::Result {
    mask.map_or(Ok(()), |mask| write!(f, " if {mask}"))
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.base)?;
        if let Some((index, scale)) = self.index {
            write!(f, " + {index} * {scale}")?;
        }
        write!(f, " + {}]", self.offset)
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Access::Unit => Ok(()),
            Access::Streamed => f.write_str(" streamed"),
            Access::Same => f.write_str(" same"),
            Access::Reversed => f.write_str(" reversed"),
            Access::Strided(stride) => write!(f, " by {stride}"),
        }
    }
}

/// An element type by its name, if lanes can hold it.
pub(super) fn element(name: &str) -> Option<ScalarType> {
    ScalarType::from_name(name).filter(|ty| is_element(*ty))
}
