//! One instruction of one warp.

use super::arithmetic;
use super::code::{Action, Code, Inst, Lanes, Source, mask as low_bits};
use super::convert::convert;
use super::count::Counts;
use super::fault::{FaultKind, Step, Trouble, trouble};
use super::memory::{Memory, SHARED_BASE};
use super::shadow::MAX_CLOCK;
use super::shared::Shared;
use super::warp::{Specials, State, Warp};
use crate::ir::{BinaryOp, ShuffleMode, VoteMode};

/// What an instruction sees besides its warp.
pub(super) struct Context<'a> {
    pub(super) code: &'a Code,
    pub(super) params: &'a [u8],
    pub(super) memory: &'a Memory,
    pub(super) shared: &'a mut Shared,
    pub(super) counts: &'a mut Counts,
    pub(super) specials: Specials,
    /// The number of the block, counted through.
    pub(super) block: u32,
    /// What the clocks were set to by the block's last barrier.
    pub(super) barrier: u32,
    /// A read of shared memory that nobody had written. It is a race if another thread writes before the next barrier,
    /// and a fault of its own if none does; which of the two must not depend on who came first.
    pub(super) unwritten: Option<(u32, Box<Trouble>)>,
}

impl<'a> Context<'a> {
    /// Runs the next instruction of a warp. `coin` decides which side of a branch goes first.
    pub(super) fn step(&mut self, warp: &mut Warp, coin: bool) -> Result<u32, (u32, Box<Trouble>)> {
        let Some((at, mask)) = warp.current() else {
            warp.state = State::Done;
            return Ok(0);
        };
        let code = self.code;
        let Some(inst) = code.instructions.get(at as usize) else {
            warp.state = State::Done;
            return Ok(0);
        };
        match self.run(warp, at, inst, mask, coin) {
            Ok(()) => Ok(mask.count_ones()),
            // What follows from a value that was never written is not the fault.
            Err(trouble) if trouble.kind != FaultKind::Race => Err(self.unwritten.take().unwrap_or((at, trouble))),
            Err(trouble) => Err((at, trouble)),
        }
    }

    #[inline]
    fn read<'w>(&self, warp: &'w Warp, source: Source, mask: u32) -> Step<&'w Lanes>
    where
        'a: 'w,
    {
        warp.read(self.code, source, mask)
    }

    fn run(&mut self, warp: &mut Warp, at: u32, inst: &Inst, all: u32, coin: bool) -> Step<()> {
        self.counts.instruction(inst.class, all.count_ones());
        let mut mask = all;
        if let Some(guard) = inst.guard {
            let values = warp.predicate(self.code, guard.predicate, all)?;
            mask &= if guard.negated { !values } else { values };
        }
        if let Action::Branch { target, meet } = inst.action {
            warp.branch(all, mask, target, meet, coin);
            return Ok(());
        }
        if mask == 0 {
            warp.advance();
            return Ok(());
        }
        self.act(warp, at, &inst.action, mask)?;
        warp.advance();
        Ok(())
    }

    fn act(&mut self, warp: &mut Warp, at: u32, action: &Action, mask: u32) -> Step<()> {
        match action {
            Action::Binary { op, ty, float, dst, a, b } => {
                let (a, b) = (self.read(warp, *a, mask)?, self.read(warp, *b, mask)?);
                warp.write(*dst, &arithmetic::binary(*op, *ty, *float, a, b), mask);
            }
            Action::Ternary { op, ty, float, dst, a, b, c } => {
                let (a, b) = (self.read(warp, *a, mask)?, self.read(warp, *b, mask)?);
                let c = self.read(warp, *c, mask)?;
                warp.write(*dst, &arithmetic::ternary(*op, *ty, *float, a, b, c), mask);
            }
            Action::Unary { op, ty, float, dst, a } => {
                let a = self.read(warp, *a, mask)?;
                warp.write(*dst, &arithmetic::unary(*op, *ty, *float, a), mask);
            }
            Action::Move { dst, src } => {
                let values = *self.read(warp, *src, mask)?;
                warp.write(*dst, &values, mask);
            }
            Action::Load { place, touch_nc, extend, dst } => {
                self.load(warp, at, *place, *touch_nc, *extend, dst, mask)?;
            }
            Action::Store { place, src } => self.store(warp, at, *place, src, mask)?,
            Action::LoadParam { offset, size, count, extend, dst } => {
                for (element, row) in (0..*count).zip(dst) {
                    let start = (*offset + u64::from(element * size)) as usize;
                    let bytes = self.params.get(start..start + *size as usize).unwrap_or(&[]);
                    let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                    warp.write(*row, &[sign_extended(value, *size, *extend); 32], mask);
                }
            }
            Action::Convert { to, from, float, bits, dst, src } => {
                let values = self.read(warp, *src, mask)?;
                warp.write(*dst, &convert(*to, *from, *float, *bits, values), mask);
            }
            Action::Window { add, dst, src } => {
                let values = self.read(warp, *src, mask)?;
                let shift = if *add { SHARED_BASE } else { SHARED_BASE.wrapping_neg() };
                warp.write(*dst, &values.map(|value| value.wrapping_add(shift)), mask);
            }
            Action::Unpack { bits, dst, src } => {
                let values = *self.read(warp, *src, mask)?;
                for (part, row) in (0..).zip(dst) {
                    warp.write(*row, &values.map(|value| low_bits(value >> (part * bits), *bits)), mask);
                }
            }
            Action::Pack { bits, dst, src } => {
                let mut packed = [0; 32];
                for (part, source) in (0..).zip(src) {
                    let values = self.read(warp, *source, mask)?;
                    for (packed, value) in packed.iter_mut().zip(values) {
                        *packed |= value << (part * bits);
                    }
                }
                warp.write(*dst, &packed, mask);
            }
            Action::Select { dst, a, b, condition } => {
                let chosen = warp.predicate(self.code, *condition, mask)?;
                // A lane reads only the operand that it takes, as far as assignment is concerned.
                let a = self.read(warp, *a, mask & chosen)?;
                let b = self.read(warp, *b, mask & !chosen)?;
                let values = std::array::from_fn(|lane| if chosen >> lane & 1 == 1 { a[lane] } else { b[lane] });
                warp.write(*dst, &values, mask);
            }
            Action::Compare { compare, ty, ftz, dst, inverse, a, b, combine } => {
                let (a, b) = (self.read(warp, *a, mask)?, self.read(warp, *b, mask)?);
                let mut result = arithmetic::compare(*compare, *ty, *ftz, a, b);
                let mut opposite = !result;
                if let Some((op, predicate, negated)) = combine {
                    let other = warp.predicate(self.code, *predicate, mask)?;
                    let other = if *negated { !other } else { other };
                    result = logic(*op, result, other);
                    opposite = logic(*op, opposite, other);
                }
                warp.set_predicate(*dst, result, mask);
                if let Some(inverse) = inverse {
                    warp.set_predicate(*inverse, opposite, mask);
                }
            }
            Action::MovePredicate { dst, src } => {
                let values = match src {
                    Ok(row) => warp.predicate(self.code, *row, mask)?,
                    Err(value) => u32::from(*value).wrapping_neg(),
                };
                warp.set_predicate(*dst, values, mask);
            }
            Action::NotPredicate { dst, a } => {
                let a = warp.predicate(self.code, *a, mask)?;
                warp.set_predicate(*dst, !a, mask);
            }
            Action::Logic { op, dst, a, b } => {
                let (a, b) = (warp.predicate(self.code, *a, mask)?, warp.predicate(self.code, *b, mask)?);
                warp.set_predicate(*dst, logic(*op, a, b), mask);
            }
            Action::Return => warp.leave(mask),
            Action::Barrier => {
                if mask != warp.live {
                    let missing = (warp.live & !mask).trailing_zeros() + warp.number * 32;
                    let message = format!("a barrier that thread {missing} of the block does not reach with its warp");
                    return trouble(FaultKind::Divergent, message);
                }
                warp.state = State::Waiting;
            }
            Action::WarpBarrier { mask: members } => {
                self.members(warp, *members, mask)?;
                warp.clock = self.next_clock(warp.clock)?;
            }
            Action::Atomic { place, op, ty, dst, b, c } => {
                self.atomic(warp, at, *place, *op, *ty, *dst, (*b, *c), mask)?;
            }
            Action::CopyAsync { to, from } => self.copy_async(warp, at, *to, *from, mask)?,
            Action::CommitGroup => warp.group += 1,
            Action::WaitGroup { pending } => self.arrive(warp, *pending, mask)?,
            Action::Nothing | Action::Branch { .. } => {}
            Action::Unsupported { text } => {
                return trouble(FaultKind::Unsupported, format!("`{text}` is not supported by the emulator"));
            }
            _ => self.between_lanes(warp, action, mask)?,
        }
        Ok(())
    }

    /// Shuffles and votes.
    fn between_lanes(&mut self, warp: &mut Warp, action: &Action, mask: u32) -> Step<()> {
        match action {
            Action::Shuffle { mode, dst, valid, src, lane, clamp, mask: members } => {
                self.members(warp, *members, mask)?;
                let values = self.read(warp, *src, mask)?;
                let (lane, clamp) = (self.read(warp, *lane, mask)?, self.read(warp, *clamp, mask)?);
                let (mut result, mut in_range, mut from_nobody) = (*values, 0u32, 0u32);
                for me in (0..32).filter(|me| mask >> me & 1 == 1) {
                    let (source, inside) = shuffle_source(*mode, me, lane[me as usize], clamp[me as usize]);
                    in_range |= u32::from(inside) << me;
                    result[me as usize] = values[source as usize];
                    from_nobody |= u32::from(mask >> source & 1 == 0) << me;
                }
                warp.write(*dst, &result, mask);
                // What a lane gives that does not take part is undefined.
                warp.forget(*dst, from_nobody);
                if let Some(valid) = valid {
                    warp.set_predicate(*valid, in_range, mask);
                }
            }
            Action::Ballot { dst, predicate, negated, mask: members } => {
                self.members(warp, *members, mask)?;
                let values = warp.predicate(self.code, *predicate, mask)?;
                let values = if *negated { !values } else { values } & mask;
                warp.write(*dst, &[u64::from(values); 32], mask);
            }
            Action::Vote { mode, dst, predicate, negated, mask: members } => {
                self.members(warp, *members, mask)?;
                let values = warp.predicate(self.code, *predicate, mask)?;
                let values = if *negated { !values } else { values } & mask;
                let holds = match mode {
                    VoteMode::All => values == mask,
                    VoteMode::Any => values != 0,
                    _ => values == mask || values == 0,
                };
                warp.set_predicate(*dst, u32::from(holds).wrapping_neg(), mask);
            }
            Action::ActiveMask { dst } => warp.write(*dst, &[u64::from(mask); 32], mask),
            _ => {}
        }
        Ok(())
    }

    /// All live threads that the instruction is for must run it, and no others.
    fn members(&self, warp: &Warp, members: Source, mask: u32) -> Step<()> {
        let members = self.read(warp, members, mask)?;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let named = members[lane] as u32;
            if named & warp.live != mask {
                let message = format!(
                    "the mask {named:#010x} names threads of the warp, of which {:#010x} are alive, but {mask:#010x} are here",
                    warp.live
                );
                return trouble(FaultKind::Divergent, message);
            }
        }
        Ok(())
    }

    fn next_clock(&self, clock: u32) -> Step<u32> {
        if clock >= MAX_CLOCK {
            return trouble(FaultKind::Budget, "a block that passes more than 16 million barriers");
        }
        Ok(clock + 1)
    }
}

pub(super) fn logic(op: BinaryOp, a: u32, b: u32) -> u32 {
    match op {
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        _ => a ^ b,
    }
}

/// `size` bytes of a signed value as `extend` bits; unchanged if the value is unsigned.
#[inline]
pub(super) fn sign_extended(value: u64, size: u32, extend: Option<u32>) -> u64 {
    let Some(bits) = extend else { return value };
    let shift = 64 - size * 8;
    low_bits((((value << shift) as i64) >> shift) as u64, bits)
}

/// The lane that `me` reads from, and whether that is in its segment.
fn shuffle_source(mode: ShuffleMode, me: u32, lane: u64, clamp: u64) -> (u32, bool) {
    let (lane, limit, segment) = (lane as u32 & 31, clamp as u32 & 31, clamp as u32 >> 8 & 31);
    let highest = me & segment | limit & !segment;
    let lowest = me & segment;
    let (source, inside) = match mode {
        ShuffleMode::Up => (me.wrapping_sub(lane), me as i32 - lane as i32 >= highest as i32),
        ShuffleMode::Down => (me + lane, me + lane <= highest),
        ShuffleMode::Butterfly => (me ^ lane, me ^ lane <= highest),
        ShuffleMode::Index => {
            let source = lowest | lane & !segment;
            (source, source <= highest)
        }
    };
    if inside { (source & 31, true) } else { (me, false) }
}
