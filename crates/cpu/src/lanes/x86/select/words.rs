//! Words: integers and addresses in general registers.

use iced_x86::Code;

use super::{Selector, bug};
use crate::lanes::ir::{Address, Op, ValueId, WordOp};
use crate::lanes::x86::machine::{Base, First, Mem, Operand, VReg, View};

impl Selector<'_> {
    pub(super) fn set_word(&mut self, to: VReg, value: i64) {
        // The short form clears the upper half.
        let (code, view) = if u32::try_from(value).is_ok() {
            (Code::Mov_r32_imm32, View::D)
        } else if i32::try_from(value).is_ok() {
            (Code::Mov_rm64_imm32, View::Q)
        } else {
            (Code::Mov_r64_imm64, View::Q)
        };
        self.push(code, First::Written, vec![Operand::Reg(to, view), Operand::Imm(value)]);
    }

    /// A word in a register. Constants are written down where they are used.
    pub(super) fn word(&mut self, value: ValueId) -> VReg {
        match (self.places[value.index()].first(), self.constants[value.index()]) {
            (Some(register), _) => *register,
            (None, constant) => {
                let register = self.general();
                self.set_word(register, constant.unwrap_or(0));
                register
            }
        }
    }

    fn constant32(&self, value: ValueId) -> Option<i64> {
        self.constants[value.index()].filter(|constant| i32::try_from(*constant).is_ok())
    }

    pub(super) fn argument(&mut self, value: ValueId, slot: u32) -> diag::Result<()> {
        let to = self.result(value)[0];
        let from = Mem::new(Base::Arguments, argument_offset(slot)?);
        self.push(Code::Mov_r64_rm64, First::Written, vec![Operand::Reg(to, View::Q), Operand::Mem(from)]);
        Ok(())
    }

    /// `to = a op b`, in one register.
    pub(super) fn general_op(&mut self, code: Code, to: VReg, source: Operand) {
        self.push(code, First::ReadAndWritten, vec![Operand::Reg(to, View::Q), source]);
    }

    pub(super) fn lea(&mut self, to: VReg, mem: Mem) {
        self.push(Code::Lea_r64_m, First::Written, vec![Operand::Reg(to, View::Q), Operand::Mem(mem)]);
    }

    pub(super) fn word_op(&mut self, value: ValueId, op: WordOp, a: ValueId, b: ValueId) -> diag::Result<()> {
        if op.is_comparison() {
            return self.truth(value, op, a, b);
        }
        if op == WordOp::And {
            let most =
                |part: ValueId| self.constants[part.index()].filter(|bits| *bits >= 0).or(self.most[part.index()]);
            self.most[value.index()] = most(b).or(most(a));
        }
        // Sums are made by `lea`, which leaves both operands alone and can work in place.
        let offset = match (op, self.constant32(b)) {
            (WordOp::Add, Some(offset)) => Some(offset),
            (WordOp::Sub, Some(offset)) => Some(-offset).filter(|offset| i32::try_from(*offset).is_ok()),
            _ => None,
        };
        if let Some(offset) = offset {
            let a = self.word(a);
            let to = self.result(value)[0];
            self.lea(to, Mem::new(Base::Reg(a), offset as i32));
            return Ok(());
        }
        if op == WordOp::Add {
            let (a, b) = (self.word(a), self.word(b));
            let to = self.result(value)[0];
            self.lea(to, Mem { base: Base::Reg(a), index: Some((b, 1)), offset: 0, broadcast: false });
            return Ok(());
        }
        let constant = self.constant32(b);
        let (a, b_register) = (self.word(a), if constant.is_some() { None } else { Some(self.word(b)) });
        let b_operand = || b_register.map(|b| Operand::Reg(b, View::Q)).or(constant.map(Operand::Imm));
        let b_operand = b_operand().ok_or_else(|| bug("a word without a place"))?;
        // In a register of its own, because the place of the result may be that of an operand.
        let work = self.general();
        match op {
            WordOp::Mul => match constant {
                Some(_) => {
                    let operands = vec![Operand::Reg(work, View::Q), Operand::Reg(a, View::Q), b_operand];
                    self.push(Code::Imul_r64_rm64_imm32, First::Written, operands);
                }
                None => {
                    self.copy(work, a);
                    self.general_op(Code::Imul_r64_rm64, work, b_operand);
                }
            },
            WordOp::Add | WordOp::Sub => {
                let b = self.word(b);
                self.copy(work, a);
                self.general_op(Code::Sub_r64_rm64, work, Operand::Reg(b, View::Q));
            }
            WordOp::And | WordOp::Shl | WordOp::Shr => {
                self.copy(work, a);
                let code = match (op, constant.is_some()) {
                    (WordOp::Shl, _) => Code::Shl_rm64_imm8,
                    (WordOp::Shr, _) => Code::Sar_rm64_imm8,
                    (_, true) => Code::And_rm64_imm32,
                    (_, false) => Code::And_r64_rm64,
                };
                self.general_op(code, work, b_operand);
            }
            WordOp::Min | WordOp::Max => {
                let b = self.word(b);
                self.copy(work, a);
                self.compare_words(a, Operand::Reg(b, View::Q));
                let code = if op == WordOp::Min { Code::Cmovg_r64_rm64 } else { Code::Cmovl_r64_rm64 };
                self.general_op(code, work, Operand::Reg(b, View::Q));
            }
            WordOp::Lt | WordOp::Le | WordOp::Eq | WordOp::Ne => return Err(bug("a comparison is no arithmetic")),
        }
        let to = self.result(value)[0];
        self.copy(to, work);
        Ok(())
    }

    /// Sets the flags for a comparison; returns whether it stands the other way round, with a number that is known on the right.
    fn ask(&mut self, a: ValueId, b: ValueId) -> bool {
        let turned = self.constant32(a).is_some() && self.constant32(b).is_none();
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let b_operand = match self.constant32(b) {
            Some(constant) => Operand::Imm(constant),
            None => Operand::Reg(self.word(b), View::Q),
        };
        let a = self.word(a);
        self.compare_words(a, b_operand);
        turned
    }

    /// Sets the flags for a word that is 0 or 1; returns the jump that is taken if it is 0. None if it could be anything else.
    pub(super) fn jump_unless(&mut self, truth: ValueId) -> Option<Code> {
        let Some(Op::Word(op, a, b)) = self.folded[truth.index()] else {
            let at_most_once =
                self.constants[truth.index()].is_none() && self.most[truth.index()].is_some_and(|most| most <= 1);
            let register = self.places[truth.index()].first().copied().filter(|_| at_most_once)?;
            let operands = vec![Operand::Reg(register, View::Q), Operand::Reg(register, View::Q)];
            self.push(Code::Test_rm64_r64, First::Read, operands);
            return Some(Code::Je_rel32_64);
        };
        Some(match (op, self.ask(a, b)) {
            (WordOp::Lt, false) => Code::Jge_rel32_64,
            (WordOp::Lt, true) => Code::Jle_rel32_64,
            (WordOp::Le, false) => Code::Jg_rel32_64,
            (WordOp::Le, true) => Code::Jl_rel32_64,
            (WordOp::Eq, _) => Code::Jne_rel32_64,
            _ => Code::Je_rel32_64,
        })
    }

    /// 1 if a comparison holds, else 0.
    fn truth(&mut self, value: ValueId, op: WordOp, a: ValueId, b: ValueId) -> diag::Result<()> {
        self.most[value.index()] = Some(1);
        let (work, one) = (self.general(), self.general());
        self.set_word(one, 1);
        self.set_word(work, 0);
        let turned = self.ask(a, b);
        let code = match (op, turned) {
            (WordOp::Lt, false) => Code::Cmovl_r64_rm64,
            (WordOp::Lt, true) => Code::Cmovg_r64_rm64,
            (WordOp::Le, false) => Code::Cmovle_r64_rm64,
            (WordOp::Le, true) => Code::Cmovge_r64_rm64,
            (WordOp::Eq, _) => Code::Cmove_r64_rm64,
            _ => Code::Cmovne_r64_rm64,
        };
        self.general_op(code, work, Operand::Reg(one, View::Q));
        let to = self.result(value)[0];
        self.copy(to, work);
        Ok(())
    }

    pub(super) fn compare_words(&mut self, a: VReg, b: Operand) {
        let code = if matches!(b, Operand::Imm(_)) { Code::Cmp_rm64_imm32 } else { Code::Cmp_r64_rm64 };
        self.push(code, First::Read, vec![Operand::Reg(a, View::Q), b]);
    }

    /// A memory operand at an address.
    pub(super) fn memory(&mut self, at: &Address) -> Mem {
        let base = Base::Reg(self.word(at.base));
        let index = at.index.map(|(index, scale)| (self.word(index), scale));
        Mem { base, index, offset: at.offset, broadcast: false }
    }

    /// The same, some bytes further. Far offsets are added into a register.
    pub(super) fn further(&mut self, mem: Mem, bytes: i64) -> diag::Result<Mem> {
        let offset = i64::from(mem.offset).wrapping_add(bytes);
        if let Ok(offset) = i32::try_from(offset) {
            return Ok(Mem { offset, ..mem });
        }
        let (far, sum) = (self.general(), self.general());
        self.set_word(far, bytes);
        self.lea(sum, mem);
        self.general_op(Code::Add_r64_rm64, sum, Operand::Reg(far, View::Q));
        Ok(Mem::new(Base::Reg(sum), 0))
    }
}

pub(super) fn argument_offset(slot: u32) -> diag::Result<i32> {
    let offset = slot.checked_mul(8).and_then(|offset| i32::try_from(offset).ok());
    offset.ok_or_else(|| bug("too many arguments"))
}
