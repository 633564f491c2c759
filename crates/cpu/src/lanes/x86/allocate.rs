//! Registers by linear scan.
//!
//! In: items over virtual registers.  Out: the same items, with a register for each.
//!
//! A virtual register is busy from its first to its last mention, and if that lies in a loop that it is live into, up to
//! the end of the loop. When registers run out, the cheapest of those that are busy moves to the frame, or is computed again where that
//! takes no other register; then everything is done anew with what that leaves. Cheap is what no inner loop mentions, and among those what
//! is busy for long and seldom mentioned: one that is needed at once leaves its register soon, to be missed by the next.

use super::family;
use super::machine::{Base, Class, First, Inst, Item, Mem, Operand, Stream, VReg, View};
use crate::compile::STAGE;
use diag::deadline;
use iced_x86::{Code, Register};

/// The registers of a function, and what became of those that did not fit.
#[derive(Debug, Default)]
pub(super) struct Allocation {
    /// By virtual register.
    pub(super) registers: Vec<u8>,
    /// Values that were moved to the frame.
    pub(super) spills: usize,
    /// Values that are computed again at each use.
    pub(super) repeated: usize,
}

/// General registers in the order of preference: those that a function may change come first. The argument block stays
/// in `rdi`.
pub(super) const GENERAL: [Register; 14] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// Registers of a class; masks begin at `k1`, because `k0` cannot mask.
fn count(class: Class, wide512: bool) -> u8 {
    match class {
        Class::General => GENERAL.len() as u8,
        Class::Vector if wide512 => 32,
        Class::Vector => 16,
        Class::Mask => 7,
    }
}

#[derive(Clone, Debug)]
struct Interval {
    reg: VReg,
    start: usize,
    end: usize,
    /// Mentions, counted by loop depth.
    weight: f64,
    /// The deepest loop that mentions it.
    depth: usize,
    /// A register that ends where this one starts, and whose place saves a copy.
    hint: Option<VReg>,
}

impl Interval {
    /// Mentions for the time that it is busy.
    fn density(&self) -> f64 {
        self.weight / (self.end - self.start + 1) as f64
    }
}

/// Assigns registers, changing the stream where values have to live elsewhere.
pub(super) fn allocate(stream: &mut Stream, wide512: bool) -> diag::Result<Allocation> {
    let mut allocation = Allocation::default();
    // Registers from here on were made for one instruction and must stay.
    let first_short = stream.classes.len();
    // Every round moves at least one register away, and those made for it are never moved.
    for _ in 0..=first_short {
        let intervals = intervals(stream)?;
        match scan(stream, &intervals, wide512, first_short)? {
            Ok(registers) => {
                allocation.registers = registers;
                return Ok(allocation);
            }
            Err(victims) if victims.is_empty() => break,
            Err(victims) => {
                let mut homes = find_homes(stream, &victims)?;
                for home in homes.iter_mut().flatten() {
                    if matches!(home, Home::Slot(_)) {
                        *home = Home::Slot(stream.frame_slot());
                        allocation.spills += 1;
                    } else {
                        allocation.repeated += 1;
                    }
                }
                move_away(stream, &homes, wide512)?;
            }
        }
    }
    Err(diag::Error::bug("lanes", "an instruction needs more registers than there are"))
}

/// In the order in which they start.
fn intervals(stream: &Stream) -> diag::Result<Vec<Interval>> {
    let mut found: Vec<Interval> = Vec::with_capacity(stream.classes.len());
    // Where the interval of a register is.
    let mut places = vec![usize::MAX; stream.classes.len()];
    let mut loops = Vec::new();
    let mut open = Vec::new();
    for (position, item) in stream.items.iter().enumerate() {
        deadline::check_often(STAGE)?;
        match item {
            Item::LoopStart => open.push(position),
            Item::LoopEnd => loops.extend(open.pop().map(|start| (2 * start, 2 * position + 1))),
            _ => {}
        }
        let weight = 8f64.powi(open.len() as i32);
        let known = found.len();
        item.registers(|reg, read, written| {
            let (start, end) = (2 * position + usize::from(!read), 2 * position + usize::from(written));
            let place = &mut places[reg.index()];
            if *place == usize::MAX {
                *place = found.len();
                found.push(Interval { reg, start, end, weight: 0.0, depth: 0, hint: None });
            }
            let interval = &mut found[*place];
            interval.end = interval.end.max(end);
            interval.weight += weight;
            interval.depth = interval.depth.max(open.len());
        });
        // An item may write one register and read others after it.
        found[known..].sort_by_key(|interval| (interval.start, interval.reg));
        for (place, interval) in found.iter().enumerate().skip(known) {
            places[interval.reg.index()] = place;
        }
        if let Item::Copy { to, from } = item {
            let interval = &mut found[places[to.index()]];
            if interval.start == 2 * position + 1 {
                interval.hint = Some(*from);
            }
        }
    }
    for interval in &mut found {
        deadline::check_often(STAGE)?;
        // Inner loops end first, so an outer loop sees what an inner one has extended.
        for (start, end) in &loops {
            if interval.start < *start && (*start..*end).contains(&interval.end) {
                interval.end = *end;
            }
        }
    }
    Ok(found)
}

/// The registers, or which virtual registers to move away.
type Scanned = Result<Vec<u8>, Vec<VReg>>;

fn scan(stream: &Stream, intervals: &[Interval], wide512: bool, first_short: usize) -> diag::Result<Scanned> {
    let mut registers = vec![u8::MAX; stream.classes.len()];
    let mut active: Vec<&Interval> = Vec::new();
    let mut victims = Vec::new();
    for interval in intervals {
        deadline::check_often(STAGE)?;
        active.retain(|other| other.end >= interval.start);
        let class = stream.classes[interval.reg.index()];
        let same = |other: &&&Interval| stream.classes[other.reg.index()] == class;
        let busy: Vec<u8> = active.iter().filter(same).map(|other| registers[other.reg.index()]).collect();
        let hint = interval.hint.map(|hint| registers[hint.index()]).filter(|hint| *hint != u8::MAX);
        let mut free = hint.into_iter().chain(0..count(class, wide512)).filter(|reg| !busy.contains(reg));
        if let Some(register) = free.next() {
            registers[interval.reg.index()] = register;
            active.push(interval);
            continue;
        }
        let candidates = active.iter().filter(same).copied().chain([interval]);
        let cheap = candidates.filter(|other| other.reg.index() < first_short);
        let victim = cheap
            .min_by(|a, b| a.depth.cmp(&b.depth).then(a.density().total_cmp(&b.density())).then(b.end.cmp(&a.end)));
        let Some(victim) = victim else { return Ok(Err(victims)) };
        victims.push(victim.reg);
        if victim.reg != interval.reg {
            registers[interval.reg.index()] = registers[victim.reg.index()];
            active.retain(|other| other.reg != victim.reg);
            active.push(interval);
        }
    }
    Ok(if victims.is_empty() { Ok(registers) } else { Err(victims) })
}

/// Where a value lives that has no register.
#[derive(Clone, Debug)]
enum Home {
    Slot(Mem),
    /// It is computed again at each use.
    Again(Inst),
}

/// The homes of registers that have none of their own, by register.
type Homes = Vec<Option<Home>>;

/// A value whose one definition needs no other register, and no memory that changes, is computed again; all others go to
/// the frame, at a place that is still to be chosen.
fn find_homes(stream: &Stream, victims: &[VReg]) -> diag::Result<Homes> {
    let mut homes: Homes = vec![None; stream.classes.len()];
    let in_frame = || Home::Slot(Mem::new(Base::Frame, 0));
    for victim in victims {
        homes[victim.index()] = Some(in_frame());
    }
    let mut defined = vec![false; homes.len()];
    for item in &stream.items {
        deadline::check_often(STAGE)?;
        item.registers(|reg, _, written| {
            if let Some(home) = homes[reg.index()].as_mut().filter(|_| written) {
                *home = match item {
                    Item::Inst(inst) if !defined[reg.index()] && is_repeatable(inst) => Home::Again(inst.clone()),
                    _ => in_frame(),
                };
                defined[reg.index()] = true;
            }
        });
    }
    Ok(homes)
}

fn is_repeatable(inst: &Inst) -> bool {
    let constant = |operand: &Operand| match operand {
        Operand::Reg(..) => false,
        Operand::Imm(_) => true,
        Operand::Mem(mem) => mem.index.is_none() && matches!(mem.base, Base::Pool | Base::Arguments),
    };
    let plain = match inst.first {
        First::Cleared => true,
        First::Written => inst.operands[1..].iter().all(constant),
        First::ReadAndWritten | First::Read => false,
    };
    plain && inst.mask.is_none()
}

/// Takes values out of registers: before each use they come into a short-lived one, after each change they go back.
fn move_away(stream: &mut Stream, homes: &Homes, wide512: bool) -> diag::Result<()> {
    let home = |reg: VReg| homes.get(reg.index()).and_then(Option::as_ref);
    let items = std::mem::take(&mut stream.items);
    for mut item in items {
        deadline::check_often(STAGE)?;
        let mut touched: Vec<(VReg, bool, bool)> = Vec::new();
        item.registers(|reg, read, written| {
            if home(reg).is_some() {
                match touched.iter_mut().find(|(known, ..)| *known == reg) {
                    Some((_, reads, writes)) => (*reads, *writes) = (*reads | read, *writes | written),
                    None => touched.push((reg, read, written)),
                }
            }
        });
        if touched.is_empty() {
            stream.items.push(item);
            continue;
        }
        let mut after = Vec::new();
        let mut vanishes = false;
        for (reg, reads, writes) in touched {
            let class = stream.classes[reg.index()];
            let short = stream.fresh(class);
            match home(reg) {
                None => {}
                Some(Home::Again(_)) if writes => vanishes = true,
                Some(Home::Again(definition)) => {
                    let mut again = Item::Inst(definition.clone());
                    again.map_registers(|_| short);
                    stream.items.push(again);
                }
                Some(Home::Slot(slot)) => {
                    if reads {
                        stream.items.push(Item::Inst(transfer(class, short, *slot, true, wide512)));
                    }
                    if writes {
                        after.push(Item::Inst(transfer(class, short, *slot, false, wide512)));
                    }
                }
            }
            item.map_registers(|other| if other == reg { short } else { other });
        }
        if !vanishes {
            stream.items.push(item);
        }
        stream.items.append(&mut after);
    }
    Ok(())
}

fn transfer(class: Class, reg: VReg, slot: Mem, load: bool, wide512: bool) -> Inst {
    let (load_code, store_code, view) = match class {
        Class::General => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, View::Q),
        Class::Mask => (Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_m64_kr, View::K),
        Class::Vector => {
            let view = if wide512 { View::Z } else { View::Y };
            let code = |family: family::Family| family.code(wide512, view).unwrap_or_default();
            (code(family::LOAD), code(family::STORE), view)
        }
    };
    let (register, memory) = (Operand::Reg(reg, view), Operand::Mem(slot));
    let (code, first, operands) = match load {
        true => (load_code, First::Written, vec![register, memory]),
        false => (store_code, First::Read, vec![memory, register]),
    };
    Inst { code, first, operands, mask: None, zeroing: false }
}
