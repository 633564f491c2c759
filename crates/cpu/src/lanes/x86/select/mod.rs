//! Instruction selection: one piece after the other for every operation of a lane program.
//!
//! In: a verified program.  Out: items over virtual registers.
//!
//! Every value is cut into pieces of the same number of lanes (see `Cut`), a uniform one has a single piece. A mask is a
//! mask register with AVX-512, whose bits past the group are zero; with AVX2 it is a vector of elements as wide as the
//! widest of the program, all ones or all zeros. The register of a loop parameter is also that of its result, and where
//! lives allow it that of the initial and the next value, so that accumulators and pointers are changed in place.

mod arithmetic;
mod convert;
mod loops;
mod masks;
mod memory;
mod scattered;
mod slide;
mod unsigned;
mod words;

use diag::deadline;
use iced_x86::Code;
use program::ScalarType;

use super::family::Family;
use super::machine::{Class, First, Inst, Item, Label, Mem, Operand, Stream, VReg, View};
use crate::compile::STAGE;
use crate::lanes::facts::{Cut, Facts};
use crate::lanes::ir::{Op, Program, Stmt, Type, ValueId};
use crate::lanes::verify::Verified;

pub(super) fn select(program: &Verified, wide512: bool) -> diag::Result<Stream> {
    let cut = Cut::of(program, if wide512 { 64 } else { 32 });
    let facts = Facts::of(program, cut);
    let count = program.types.len();
    let mut selector = Selector {
        program,
        cut,
        facts,
        stream: Stream::default(),
        places: vec![Vec::new(); count],
        wanted: vec![None; count],
        folded: vec![None; count],
        constants: vec![None; count],
        most: vec![None; count],
        prologue: Vec::new(),
        orders: Vec::new(),
        position: 0,
    };
    selector.stmts(&program.body)?;
    selector.stream.items.push(Item::Return(0));
    let items = std::mem::take(&mut selector.stream.items);
    selector.stream.items = selector.prologue.into_iter().chain(items).collect();
    Ok(selector.stream)
}

struct Selector<'a> {
    program: &'a Program,
    cut: Cut,
    facts: Facts,
    stream: Stream,
    /// The registers of every value so far.
    places: Vec<Vec<VReg>>,
    /// Registers that a value has to be made in.
    wanted: Vec<Option<Vec<VReg>>>,
    /// Loads and comparisons of words that wait for their use.
    folded: Vec<Option<Op>>,
    constants: Vec<Option<i64>>,
    /// What words are at most that are not below zero.
    most: Vec<Option<i64>>,
    /// What comes in front of everything.
    prologue: Vec<Item>,
    /// Registers that hold the opposite order of elements, by their size and that of a piece.
    orders: Vec<((u32, usize), VReg)>,
    position: usize,
}

pub(super) fn bug(what: impl Into<String>) -> diag::Error {
    diag::Error::bug("lanes", what.into())
}

impl Selector<'_> {
    fn stmts(&mut self, body: &[Stmt]) -> diag::Result<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> diag::Result<()> {
        deadline::check_often(STAGE)?;
        self.position += 1;
        match stmt {
            Stmt::Let(value, op) => self.r#let(*value, op),
            Stmt::Store { value, at, access, mask } => self.store(*value, at, *access, *mask),
            Stmt::Scatter { value, base, index, mask } => self.scatter(*value, *base, *index, *mask),
            Stmt::Fetch(at) => {
                let mem = self.memory(at);
                self.push(Code::Prefetcht1_m8, First::Read, vec![Operand::Mem(mem)]);
                Ok(())
            }
            Stmt::Check { index, extent, mask, site } => self.check(*index, *extent, *mask, *site),
            Stmt::Loop(r#loop) => self.r#loop(r#loop),
        }
    }

    fn r#let(&mut self, value: ValueId, op: &Op) -> diag::Result<()> {
        if self.facts.folded[value.index()] {
            self.folded[value.index()] = Some(*op);
            return Ok(());
        }
        match *op {
            Op::Const(constant) => {
                self.constants[value.index()] = Some(constant);
                // A loop may want it in the register of a parameter.
                if self.wanted[value.index()].is_some() {
                    let to = self.result(value)[0];
                    self.set_word(to, constant);
                }
                Ok(())
            }
            Op::Arg(slot) => self.argument(value, slot),
            Op::Word(op, a, b) => self.word_op(value, op, a, b),
            Op::Splat(constant) => self.splat(value, constant),
            Op::Scalar(slot) => self.scalar(value, slot),
            Op::FromWord(word) => self.splat_value(value, word),
            Op::Iota => self.iota(value),
            Op::Load { at, access, mask } => self.load(value, &at, access, mask),
            Op::Gather { base, index, mask } => self.gather(value, base, index, mask),
            Op::Unary(op, a) => self.unary(value, op, a),
            Op::Binary(op, a, b) => self.binary(value, op, a, b),
            Op::Shift(op, a, bits) => self.shift(value, op, a, bits),
            Op::Fma(a, b, c) => self.fma(value, a, b, c),
            Op::Convert(a) => self.convert(value, a),
            Op::Bitcast(a) => {
                let to = self.result(value);
                for (position, to) in to.into_iter().enumerate() {
                    let from = self.piece(a, position);
                    self.copy(to, from);
                }
                Ok(())
            }
            Op::Select(mask, a, b) => self.select(value, mask, a, b),
            Op::Slide(a, b, by) => self.slide(value, a, b, by),
            Op::Reduce(op, a) => self.reduce(value, op, a),
            Op::Prefix(count) => self.prefix(value, count),
            Op::Compare(op, a, b) => self.compare(value, op, a, b),
        }
    }

    /// Registers for a value that is about to be made.
    fn result(&mut self, value: ValueId) -> Vec<VReg> {
        let registers = self.wanted[value.index()].take().unwrap_or_else(|| self.fresh_for(value));
        self.places[value.index()] = registers.clone();
        registers
    }

    fn fresh_for(&mut self, value: ValueId) -> Vec<VReg> {
        let class = match self.program.ty(value) {
            Type::Word => return vec![self.stream.fresh(Class::General)],
            Type::Mask if self.cut.wide512 => Class::Mask,
            Type::Mask | Type::Lanes(_) => Class::Vector,
        };
        let pieces = if self.facts.uniform[value.index()] { 1 } else { self.cut.pieces };
        (0..pieces).map(|_| self.stream.fresh(class)).collect()
    }

    /// The register that holds a piece of a value.
    fn piece(&self, value: ValueId, position: usize) -> VReg {
        let place = &self.places[value.index()];
        if place.len() == 1 { place[0] } else { place[position] }
    }

    fn element(&self, value: ValueId) -> diag::Result<ScalarType> {
        match self.program.ty(value) {
            Type::Lanes(ty) => Ok(ty),
            ty => Err(bug(format!("{value} is {ty}, not lanes"))),
        }
    }

    fn vector(&mut self) -> VReg {
        self.stream.fresh(Class::Vector)
    }

    fn general(&mut self) -> VReg {
        self.stream.fresh(Class::General)
    }

    fn mask_register(&mut self) -> VReg {
        self.stream.fresh(if self.cut.wide512 { Class::Mask } else { Class::Vector })
    }

    fn copy(&mut self, to: VReg, from: VReg) {
        if to != from {
            self.stream.items.push(Item::Copy { to, from });
        }
    }

    fn push(&mut self, code: Code, first: First, operands: Vec<Operand>) {
        self.push_masked(code, first, operands, None, false);
    }

    fn push_masked(&mut self, code: Code, first: First, operands: Vec<Operand>, mask: Option<VReg>, zeroing: bool) {
        self.stream.items.push(Item::Inst(Inst { code, first, operands, mask, zeroing }));
    }

    fn jump(&mut self, code: Code, label: Label) {
        self.stream.items.push(Item::Jump(code, label));
    }

    fn place_label(&mut self, label: Label) {
        self.stream.items.push(Item::Label(label));
    }

    fn code(&self, family: Family, view: View) -> diag::Result<Code> {
        family.code(self.cut.wide512, view).ok_or_else(|| bug(format!("{family:?} has no form for this tier")))
    }

    /// An instruction that writes its first operand; all registers are used in the same size.
    fn op(&mut self, family: Family, view: View, to: VReg, sources: &[Source]) -> diag::Result<()> {
        let code = self.code(family, view)?;
        let mut operands = vec![Operand::Reg(to, view)];
        operands.extend(sources.iter().map(|source| source.operand(view)));
        self.push(code, First::Written, operands);
        Ok(())
    }

    /// The same into a new register.
    fn op_new(&mut self, family: Family, view: View, sources: &[Source]) -> diag::Result<VReg> {
        let to = self.vector();
        self.op(family, view, to, sources)?;
        Ok(to)
    }
}

/// An operand whose register size follows from the instruction.
#[derive(Clone, Copy, Debug)]
enum Source {
    Reg(VReg),
    /// In another size than the rest.
    As(VReg, View),
    Mem(Mem),
    Imm(i64),
}

impl Source {
    fn operand(self, view: View) -> Operand {
        match self {
            Source::Reg(reg) => Operand::Reg(reg, view),
            Source::As(reg, view) => Operand::Reg(reg, view),
            Source::Mem(mem) => Operand::Mem(mem),
            Source::Imm(value) => Operand::Imm(value),
        }
    }
}

/// The smallest register that holds so many bytes.
fn view(bytes: u32) -> View {
    match bytes {
        64.. => View::Z,
        32.. => View::Y,
        _ => View::X,
    }
}
