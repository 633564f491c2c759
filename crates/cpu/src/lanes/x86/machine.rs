//! Machine instructions over virtual registers: what selection makes and allocation reads.

use iced_x86::Code;

/// A register before allocation. It may be written more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VReg(pub(super) u32);

impl VReg {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    General,
    Vector,
    Mask,
}

/// As how large a register an operand is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    X,
    Y,
    Z,
    K,
    D,
    Q,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Reg(VReg, View),
    Mem(Mem),
    Imm(i64),
}

/// `base + index * scale + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mem {
    pub(super) base: Base,
    pub(super) index: Option<(VReg, u8)>,
    pub(super) offset: i32,
    /// One element, repeated for the whole register.
    pub(super) broadcast: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Reg(VReg),
    /// The block of arguments.
    Arguments,
    /// The stack frame: slots of 64 bytes for spilled registers and short-lived copies.
    Frame,
    /// The constants behind the code.
    Pool,
}

impl Mem {
    pub(super) fn new(base: Base, offset: i32) -> Mem {
        Mem { base, index: None, offset, broadcast: false }
    }

    pub(super) fn registers(&self) -> impl Iterator<Item = VReg> {
        let base = match self.base {
            Base::Reg(base) => Some(base),
            _ => None,
        };
        base.into_iter().chain(self.index.map(|(index, _)| index))
    }
}

/// What becomes of the first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Written,
    /// Written, whatever it was before, although the instruction names it as a source: the idiom for zero and for ones.
    Cleared,
    ReadAndWritten,
    Read,
}

#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub(super) code: Code,
    pub(super) first: First,
    pub(super) operands: Vec<Operand>,
    pub(super) mask: Option<VReg>,
    /// Masked-out elements become zero instead of staying.
    pub(super) zeroing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Label(pub(super) u32);

#[derive(Clone, Debug)]
pub(super) enum Item {
    Inst(Inst),
    /// Whole register to whole register; nothing if allocation gives both the same.
    Copy {
        to: VReg,
        from: VReg,
    },
    Label(Label),
    Jump(Code, Label),
    /// From here to the matching end is run repeatedly.
    LoopStart,
    LoopEnd,
    /// Ends the function with this status.
    Return(i32),
}

impl Item {
    /// Calls `f` for every register that it touches, with whether it is read and whether it is written.
    pub(super) fn registers(&self, mut f: impl FnMut(VReg, bool, bool)) {
        match self {
            Item::Inst(inst) => {
                let sources = if inst.first == First::Cleared { 1 } else { inst.operands.len() };
                for (position, operand) in inst.operands[..sources].iter().enumerate() {
                    match operand {
                        Operand::Reg(reg, _) if position == 0 && inst.first == First::Cleared => f(*reg, false, true),
                        Operand::Reg(reg, _) if position == 0 => {
                            f(*reg, inst.first != First::Written, inst.first != First::Read);
                        }
                        Operand::Reg(reg, _) => f(*reg, true, false),
                        Operand::Mem(mem) => mem.registers().for_each(|reg| f(reg, true, false)),
                        Operand::Imm(_) => {}
                    }
                }
                if let Some(mask) = inst.mask {
                    f(mask, true, false);
                }
            }
            Item::Copy { to, from } => {
                f(*from, true, false);
                f(*to, false, true);
            }
            Item::Label(_) | Item::Jump(..) | Item::LoopStart | Item::LoopEnd | Item::Return(_) => {}
        }
    }

    pub(super) fn map_registers(&mut self, mut f: impl FnMut(VReg) -> VReg) {
        match self {
            Item::Inst(inst) => {
                for operand in &mut inst.operands {
                    match operand {
                        Operand::Reg(reg, _) => *reg = f(*reg),
                        Operand::Mem(mem) => {
                            if let Base::Reg(base) = &mut mem.base {
                                *base = f(*base);
                            }
                            if let Some((index, _)) = &mut mem.index {
                                *index = f(*index);
                            }
                        }
                        Operand::Imm(_) => {}
                    }
                }
                inst.mask = inst.mask.map(&mut f);
            }
            Item::Copy { to, from } => {
                *from = f(*from);
                *to = f(*to);
            }
            Item::Label(_) | Item::Jump(..) | Item::LoopStart | Item::LoopEnd | Item::Return(_) => {}
        }
    }
}

/// A function before allocation.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) items: Vec<Item>,
    pub(super) classes: Vec<Class>,
    pub(super) labels: u32,
    /// The number of frame slots.
    pub(super) frame: u32,
    pub(super) pool: Vec<u8>,
}

impl Stream {
    pub(super) fn fresh(&mut self, class: Class) -> VReg {
        let id = VReg(self.classes.len() as u32);
        self.classes.push(class);
        id
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// A place of 64 bytes in the frame.
    pub(super) fn frame_slot(&mut self) -> Mem {
        self.frame += 1;
        Mem::new(Base::Frame, 64 * (self.frame as i32 - 1))
    }

    /// Where in the pool these bytes are, aligned to their size.
    pub(super) fn constant(&mut self, bytes: &[u8]) -> Mem {
        let align = bytes.len().next_power_of_two();
        let known = (0..self.pool.len()).step_by(align).find(|at| self.pool[*at..].starts_with(bytes));
        let at = known.unwrap_or_else(|| {
            self.pool.resize(self.pool.len().next_multiple_of(align), 0);
            self.pool.extend_from_slice(bytes);
            self.pool.len() - bytes.len()
        });
        Mem::new(Base::Pool, i32::try_from(at).unwrap_or(i32::MAX))
    }
}
