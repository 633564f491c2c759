//! Lanes that begin in one value and end in another.

use iced_x86::Code;

use super::{Selector, Source, view};
use crate::lanes::ir::ValueId;
use crate::lanes::x86::family;
use crate::lanes::x86::machine::{First, Operand, VReg, View};

use Source::{Imm, Reg};

impl Selector<'_> {
    pub(super) fn slide(&mut self, value: ValueId, a: ValueId, b: ValueId, by: u32) -> diag::Result<()> {
        let size = self.element(value)?.bytes() as u32;
        let (group, pieces) = (self.cut.group, self.cut.pieces as usize);
        let first = (by / group) as usize;
        let made: Vec<VReg> = (0..pieces)
            .map(|position| {
                let [low, high] =
                    [first + position, first + position + 1].map(|piece| match piece.checked_sub(pieces) {
                        None => self.piece(a, piece),
                        Some(piece) => self.piece(b, piece.min(pieces - 1)),
                    });
                self.slid(low, high, by % group, size)
            })
            .collect::<diag::Result<_>>()?;
        // Only now, as the place of the result may be that of an operand.
        for (to, made) in self.result(value).into_iter().zip(made) {
            self.copy(to, made);
        }
        Ok(())
    }

    /// The lanes from `by` on of two pieces, one after the other.
    fn slid(&mut self, low: VReg, high: VReg, by: u32, size: u32) -> diag::Result<VReg> {
        let bytes = self.cut.group * size;
        let start = i64::from(by * size);
        match bytes {
            _ if by == 0 => Ok(low),
            // Both fit into one register.
            ..16 => {
                let both = self.op_new(family::PUNPCKLQDQ, View::X, &[Reg(low), Reg(high)])?;
                self.op_new(family::PSRLDQ, View::X, &[Reg(both), Imm(start)])
            }
            _ if self.cut.wide512 => {
                let family = if size == 4 { family::VALIGND } else { family::VALIGNQ };
                self.op_new(family, view(bytes), &[Reg(high), Reg(low), Imm(i64::from(by))])
            }
            16 => self.op_new(family::PALIGNR, View::X, &[Reg(high), Reg(low), Imm(start)]),
            _ => {
                // The upper half of the first, the lower one of the second: what lies in the middle.
                let middle = self.vector();
                let operands = [middle, low, high].map(|reg| Operand::Reg(reg, View::Y)).into_iter();
                let operands = operands.chain([Operand::Imm(0x21)]).collect();
                self.push(Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8, First::Written, operands);
                match start {
                    16 => Ok(middle),
                    ..16 => self.op_new(family::PALIGNR, View::Y, &[Reg(middle), Reg(low), Imm(start)]),
                    _ => self.op_new(family::PALIGNR, View::Y, &[Reg(high), Reg(middle), Imm(start - 16)]),
                }
            }
        }
    }
}
