//! The reference evaluator: slow, safe, and the meaning of a lane program.
//!
//! In: a program, its argument slots, and one stretch of memory in which addresses count bytes from `origin`.
//! Out: the changed memory, and the status that machine code would return.
//! A memory access outside the stretch is an error, so what runs here is safe to run as machine code.

mod element;

use program::ScalarType;

use super::ir::{Access, Address, Loop, Op, Stmt, Type, ValueId, WordOp};
use super::verify::Verified;

/// How a program ended: 0, or the site of a failed check and the index that it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 0, or the number of the site.
    pub status: i32,
    /// The index that failed; 0 if none did.
    pub report: i64,
}

/// Runs a program. The slot for reports is not read.
pub fn evaluate(program: &Verified, slots: &[u64], origin: u64, memory: &mut [u8]) -> Result<Outcome, String> {
    let values = vec![Slot::Word(0); program.types.len()];
    let mut run = Run { program, slots, origin, memory, values };
    match run.stmts(&program.body) {
        Ok(()) => Ok(Outcome { status: 0, report: 0 }),
        Err(Stop::Check(outcome)) => Ok(outcome),
        Err(Stop::Wrong(what)) => Err(what),
    }
}

/// What a value is at present. Elements are their bits in the low bytes, the others zero.
#[derive(Clone, Debug)]
enum Slot {
    Word(i64),
    Lanes(Vec<u64>),
    Mask(Vec<bool>),
}

enum Stop {
    Check(Outcome),
    Wrong(String),
}

struct Run<'a> {
    program: &'a Verified,
    slots: &'a [u64],
    origin: u64,
    memory: &'a mut [u8],
    values: Vec<Slot>,
}

impl Run<'_> {
    fn word(&self, id: ValueId) -> i64 {
        match &self.values[id.index()] {
            Slot::Word(word) => *word,
            _ => 0,
        }
    }

    fn lanes(&self, id: ValueId) -> &[u64] {
        match &self.values[id.index()] {
            Slot::Lanes(lanes) => lanes,
            _ => &[],
        }
    }

    fn active(&self, mask: Option<ValueId>) -> Vec<bool> {
        match mask.map(|mask| &self.values[mask.index()]) {
            Some(Slot::Mask(mask)) => mask.clone(),
            _ => vec![true; self.program.lanes as usize],
        }
    }

    fn element(&self, id: ValueId) -> ScalarType {
        match self.program.ty(id) {
            Type::Lanes(ty) => ty,
            // Masks follow `bool` where an operator takes both.
            _ => ScalarType::Bool,
        }
    }

    fn slot(&self, slot: u32) -> Result<u64, Stop> {
        self.slots.get(slot as usize).copied().ok_or_else(|| Stop::Wrong(format!("no argument for slot {slot}")))
    }

    fn stmts(&mut self, body: &[Stmt]) -> Result<(), Stop> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Stop> {
        match stmt {
            Stmt::Let(id, op) => {
                self.values[id.index()] = self.op(*id, op)?;
                Ok(())
            }
            Stmt::Store { value, at, access, mask } => {
                let active = self.active(*mask);
                let lanes = if *access == Access::Same { 1 } else { active.len() };
                let (ty, elements) = (self.element(*value), self.lanes(*value).to_vec());
                let line = Access::LINE.min(lanes * ty.bytes()) as u64;
                if *access == Access::Streamed && !self.lane_address(at, *access, ty, 0).is_multiple_of(line) {
                    return Err(Stop::Wrong("a store past the caches within a line".to_owned()));
                }
                for lane in 0..lanes {
                    if active[lane] {
                        let address = self.lane_address(at, *access, ty, lane);
                        self.write(address, ty, elements[lane])?;
                    }
                }
                Ok(())
            }
            Stmt::Scatter { value, base, index, mask } => {
                let (ty, elements) = (self.element(*value), self.lanes(*value).to_vec());
                for (lane, active) in self.active(*mask).into_iter().enumerate() {
                    if active {
                        let address = self.cell(*base, *index, ty, lane);
                        self.write(address, ty, elements[lane])?;
                    }
                }
                Ok(())
            }
            Stmt::Fetch(_) => Ok(()),
            Stmt::Check { index, extent, mask, site } => {
                let extent = self.word(*extent).cast_unsigned();
                for (lane, active) in self.active(*mask).into_iter().enumerate() {
                    let index = self.lanes(*index)[lane];
                    if active && index >= extent {
                        let status = i32::try_from(*site).unwrap_or(i32::MAX);
                        return Err(Stop::Check(Outcome { status, report: index.cast_signed() }));
                    }
                }
                Ok(())
            }
            Stmt::Loop(r#loop) => self.r#loop(r#loop),
        }
    }

    fn r#loop(&mut self, r#loop: &Loop) -> Result<(), Stop> {
        let read = |run: &Self, id: ValueId| run.values[id.index()].clone();
        let mut state: Vec<Slot> = r#loop.carried.iter().map(|carried| read(self, carried.init)).collect();
        for _ in 0..self.word(r#loop.trips) {
            for (carried, value) in r#loop.carried.iter().zip(state) {
                self.values[carried.param.index()] = value;
            }
            self.stmts(&r#loop.body)?;
            state = r#loop.carried.iter().map(|carried| read(self, carried.next)).collect();
        }
        for (carried, value) in r#loop.carried.iter().zip(state) {
            self.values[carried.result.index()] = value;
        }
        Ok(())
    }

    fn op(&self, id: ValueId, op: &Op) -> Result<Slot, Stop> {
        let ty = self.element(id);
        let lanes = self.program.lanes as usize;
        let each = |f: &dyn Fn(usize) -> u64| match self.program.ty(id) {
            Type::Mask => Slot::Mask((0..lanes).map(|lane| f(lane) != 0).collect()),
            _ => Slot::Lanes((0..lanes).map(f).collect()),
        };
        Ok(match *op {
            Op::Arg(slot) => Slot::Word(self.slot(slot)?.cast_signed()),
            Op::Const(value) => Slot::Word(value),
            Op::Word(op, a, b) => Slot::Word(word_op(op, self.word(a), self.word(b))),
            Op::Splat(value) => each(&|_| element::bits(value)),
            Op::Scalar(slot) => {
                let bits = element::wrap(ty, self.slot(slot)?);
                each(&|_| bits)
            }
            Op::FromWord(word) => each(&|_| element::wrap(ty, self.word(word).cast_unsigned())),
            Op::Iota => each(&|lane| element::wrap(ty, lane as u64)),
            Op::Load { at, access, mask } => self.loaded(ty, mask, &|lane| self.lane_address(&at, access, ty, lane))?,
            Op::Gather { base, index, mask } => self.loaded(ty, mask, &|lane| self.cell(base, index, ty, lane))?,
            Op::Unary(op, a) => each(&|lane| element::unary(op, ty, self.lane(a, lane))),
            Op::Binary(op, a, b) => each(&|lane| element::binary(op, ty, self.lane(a, lane), self.lane(b, lane))),
            Op::Shift(op, a, bits) => each(&|lane| element::shift(op, ty, self.lane(a, lane), bits)),
            Op::Fma(a, b, c) => {
                each(&|lane| element::fma(ty, self.lane(a, lane), self.lane(b, lane), self.lane(c, lane)))
            }
            Op::Convert(a) => each(&|lane| element::convert(self.element(a), ty, self.lane(a, lane))),
            Op::Bitcast(a) => each(&|lane| self.lane(a, lane)),
            Op::Select(mask, a, b) => {
                each(&|lane| if self.lane(mask, lane) != 0 { self.lane(a, lane) } else { self.lane(b, lane) })
            }
            Op::Slide(a, b, by) => each(&|lane| match lane + by as usize {
                from if from < lanes => self.lane(a, from),
                from => self.lane(b, from - lanes),
            }),
            Op::Reduce(op, a) => {
                let mut parts: Vec<u64> = (0..lanes).map(|lane| self.lane(a, lane)).collect();
                while parts.len() > 1 {
                    let upper = parts.split_off(parts.len() / 2);
                    for (part, other) in parts.iter_mut().zip(upper) {
                        *part = element::binary(op, ty, *part, other);
                    }
                }
                each(&|_| parts[0])
            }
            Op::Prefix(count) => {
                let count = self.word(count);
                each(&|lane| u64::from((lane as i64) < count))
            }
            Op::Compare(op, a, b) => {
                each(&|lane| u64::from(element::compare(op, self.element(a), self.lane(a, lane), self.lane(b, lane))))
            }
        })
    }

    /// An element, or a truth value as 0 or 1.
    fn lane(&self, id: ValueId, lane: usize) -> u64 {
        match &self.values[id.index()] {
            Slot::Lanes(lanes) => lanes[lane],
            Slot::Mask(mask) => u64::from(mask[lane]),
            Slot::Word(_) => 0,
        }
    }

    fn loaded(&self, ty: ScalarType, mask: Option<ValueId>, address: &dyn Fn(usize) -> u64) -> Result<Slot, Stop> {
        let active = self.active(mask).into_iter().enumerate();
        let lanes = active.map(|(lane, active)| if active { self.read(address(lane), ty) } else { Ok(0) });
        Ok(Slot::Lanes(lanes.collect::<Result<_, _>>()?))
    }

    fn lane_address(&self, at: &Address, access: Access, ty: ScalarType, lane: usize) -> u64 {
        let index = at.index.map_or(0, |(index, scale)| self.word(index).wrapping_mul(i64::from(scale)));
        let start = self.word(at.base).wrapping_add(index).wrapping_add(i64::from(at.offset));
        let bytes = ty.bytes() as i64;
        let stride = match access {
            Access::Unit | Access::Streamed => bytes,
            Access::Same => 0,
            Access::Reversed => -bytes,
            Access::Strided(stride) => self.word(stride),
        };
        start.wrapping_add(stride.wrapping_mul(lane as i64)).cast_unsigned()
    }

    fn cell(&self, base: ValueId, index: ValueId, ty: ScalarType, lane: usize) -> u64 {
        let offset = self.lanes(index)[lane].wrapping_mul(ty.bytes() as u64);
        self.word(base).cast_unsigned().wrapping_add(offset)
    }

    fn place(&self, address: u64, ty: ScalarType) -> Result<std::ops::Range<usize>, Stop> {
        let start = address.wrapping_sub(self.origin);
        let place = usize::try_from(start).ok().and_then(|start| Some(start..start.checked_add(ty.bytes())?));
        let inside = place.filter(|place| place.end <= self.memory.len());
        inside.ok_or_else(|| Stop::Wrong(format!("an access of {ty} at byte {} of the memory", start.cast_signed())))
    }

    fn read(&self, address: u64, ty: ScalarType) -> Result<u64, Stop> {
        let mut bits = [0; 8];
        bits[..ty.bytes()].copy_from_slice(&self.memory[self.place(address, ty)?]);
        Ok(u64::from_le_bytes(bits))
    }

    fn write(&mut self, address: u64, ty: ScalarType, bits: u64) -> Result<(), Stop> {
        let place = self.place(address, ty)?;
        self.memory[place].copy_from_slice(&bits.to_le_bytes()[..ty.bytes()]);
        Ok(())
    }
}

fn word_op(op: WordOp, a: i64, b: i64) -> i64 {
    match op {
        WordOp::Add => a.wrapping_add(b),
        WordOp::Sub => a.wrapping_sub(b),
        WordOp::Mul => a.wrapping_mul(b),
        WordOp::Min => a.min(b),
        WordOp::Max => a.max(b),
        WordOp::And => a & b,
        WordOp::Shl => a << (b & 63),
        WordOp::Shr => a >> (b & 63),
        WordOp::Lt => i64::from(a < b),
        WordOp::Le => i64::from(a <= b),
        WordOp::Eq => i64::from(a == b),
        WordOp::Ne => i64::from(a != b),
    }
}
