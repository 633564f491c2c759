//! Arithmetic on lanes, and horizontal reductions.
//!
//! The register of a result may be that of an operand, so only the last instruction of a sequence writes it.

use iced_x86::Code;
use program::{ScalarType, Value};

use super::{Selector, Source, bug, view};
use crate::lanes::ir::{Access, BinaryOp, Op, ShiftOp, Type, UnaryOp, ValueId};
use crate::lanes::x86::family::{self, Family};
use crate::lanes::x86::machine::{Base, First, Mem, Operand, VReg, View};

use Source::{As, Imm, Reg};

impl Selector<'_> {
    pub(super) fn splat(&mut self, value: ValueId, constant: Value) -> diag::Result<()> {
        let ty = constant.ty();
        let to = self.result(value)[0];
        self.constant_into(to, ty, constant)
    }

    /// The same element in every lane of a register.
    pub(super) fn constant_into(&mut self, to: VReg, ty: ScalarType, constant: Value) -> diag::Result<()> {
        let bits = bytes_of(constant);
        let view = view(self.cut.bytes(ty));
        if bits.iter().all(|byte| *byte == 0) {
            self.clear(to);
            return Ok(());
        }
        let mem = self.stream.constant(&bits);
        self.op(broadcast(ty.bytes()), view, to, &[Source::Mem(mem)])
    }

    pub(super) fn constant(&mut self, ty: ScalarType, constant: Value) -> diag::Result<VReg> {
        let to = self.vector();
        self.constant_into(to, ty, constant)?;
        Ok(to)
    }

    pub(super) fn clear(&mut self, to: VReg) {
        // The smallest form clears the whole register.
        let code = family::PXOR.code(self.cut.wide512, View::X).unwrap_or_default();
        self.push(code, First::Cleared, vec![Operand::Reg(to, View::X); 3]);
    }

    /// A register of ones.
    pub(super) fn ones(&mut self) -> VReg {
        let to = self.vector();
        if self.cut.wide512 {
            let mut operands = vec![Operand::Reg(to, View::Z); 3];
            operands.push(Operand::Imm(0xff));
            self.push(Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, First::Cleared, operands);
        } else {
            self.push(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, First::Cleared, vec![Operand::Reg(to, View::Y); 3]);
        }
        to
    }

    pub(super) fn scalar(&mut self, value: ValueId, slot: u32) -> diag::Result<()> {
        let ty = self.element(value)?;
        let to = self.result(value)[0];
        let mem = Mem::new(Base::Arguments, super::words::argument_offset(slot)?);
        self.op(broadcast(ty.bytes()), view(self.cut.bytes(ty)), to, &[Source::Mem(mem)])
    }

    pub(super) fn splat_value(&mut self, value: ValueId, word: ValueId) -> diag::Result<()> {
        let ty = self.element(value)?;
        let word = self.word(word);
        let to = self.result(value)[0];
        self.splat_word(to, word, ty.bytes(), view(self.cut.bytes(ty)))
    }

    pub(super) fn splat_word(&mut self, to: VReg, word: VReg, bytes: usize, view: View) -> diag::Result<()> {
        let low = self.vector();
        let code = family::MOVQ_LOAD.code(self.cut.wide512);
        self.push(code, First::Written, vec![Operand::Reg(low, View::X), Operand::Reg(word, View::Q)]);
        self.op(broadcast(bytes), view, to, &[As(low, View::X)])
    }

    pub(super) fn iota(&mut self, value: ValueId) -> diag::Result<()> {
        let ty = self.element(value)?;
        let group = i64::from(self.cut.group);
        for (position, to) in self.result(value).into_iter().enumerate() {
            let start = position as i64 * group;
            let mem = self.counting(ty, start);
            self.op(family::LOAD, view(self.cut.bytes(ty)), to, &[Source::Mem(mem)])?;
        }
        Ok(())
    }

    /// A constant that counts up from `start`, one per lane.
    pub(super) fn counting(&mut self, ty: ScalarType, start: i64) -> Mem {
        let lanes = start..start + i64::from(self.cut.group);
        let mut bytes: Vec<u8> = lanes.flat_map(|lane| lane.to_le_bytes().into_iter().take(ty.bytes())).collect();
        bytes.resize(bytes.len().max(16), 0);
        self.stream.constant(&bytes)
    }

    pub(super) fn unary(&mut self, value: ValueId, op: UnaryOp, a: ValueId) -> diag::Result<()> {
        if self.program.ty(value) == Type::Mask {
            return self.mask_not(value, a);
        }
        let ty = self.element(value)?;
        let view = view(self.cut.bytes(ty));
        for (position, to) in self.result(value).into_iter().enumerate() {
            let x = self.piece(a, position);
            self.unary_piece(op, ty, view, to, x)?;
        }
        Ok(())
    }

    fn unary_piece(&mut self, op: UnaryOp, ty: ScalarType, view: View, to: VReg, x: VReg) -> diag::Result<()> {
        let double = ty == ScalarType::F64;
        let sign = if double { Value::F64(-0.0) } else { Value::F32(-0.0) };
        match op {
            UnaryOp::Neg if ty.is_float() => {
                let sign = self.constant(ty, sign)?;
                self.op(family::PXOR, view, to, &[Reg(x), Reg(sign)])
            }
            UnaryOp::Abs if ty.is_float() => {
                let sign = self.constant(ty, sign)?;
                self.op(family::PANDN, view, to, &[Reg(sign), Reg(x)])
            }
            UnaryOp::Sqrt => self.op(if double { family::SQRTPD } else { family::SQRTPS }, view, to, &[Reg(x)]),
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Round => {
                // Bit 3 keeps quiet about inexact results.
                let mode = match op {
                    UnaryOp::Floor => 9,
                    UnaryOp::Ceil => 10,
                    UnaryOp::Trunc => 11,
                    _ => 8,
                };
                self.op(if double { family::ROUNDPD } else { family::ROUNDPS }, view, to, &[Reg(x), Imm(mode)])
            }
            UnaryOp::Neg => {
                let zero = self.vector();
                self.clear(zero);
                self.op(sized(SUBS, ty), view, to, &[Reg(zero), Reg(x)])
            }
            UnaryOp::Abs => match ty {
                _ if ty.is_unsigned() => {
                    self.copy(to, x);
                    Ok(())
                }
                ScalarType::I64 if !self.cut.wide512 => {
                    let zero = self.vector();
                    self.clear(zero);
                    let negative = self.op_new(family::PCMPGTQ, view, &[Reg(zero), Reg(x)])?;
                    let flipped = self.op_new(family::PXOR, view, &[Reg(x), Reg(negative)])?;
                    self.op(family::PSUBQ, view, to, &[Reg(flipped), Reg(negative)])
                }
                _ => self.op(sized(ABSOLUTES, ty), view, to, &[Reg(x)]),
            },
            UnaryOp::Not => {
                let ones = self.ones();
                self.op(family::PXOR, view, to, &[Reg(x), Reg(ones)])
            }
        }
    }

    pub(super) fn binary(&mut self, value: ValueId, op: BinaryOp, a: ValueId, b: ValueId) -> diag::Result<()> {
        if self.program.ty(value) == Type::Mask {
            return self.mask_binary(value, op, a, b);
        }
        let ty = self.element(value)?;
        let view = view(self.cut.bytes(ty));
        // A folded load is the last operand; only commutative operations have it first.
        let (a, b) = if self.folded[a.index()].is_some() { (b, a) } else { (a, b) };
        for (position, to) in self.result(value).into_iter().enumerate() {
            if self.folded[b.index()].is_some() {
                let mem = self.folded(b, position)?;
                let x = self.piece(a, position);
                let family = float_family(op, ty).ok_or_else(|| bug("a folded load of integers"))?;
                self.op(family, view, to, &[Reg(x), Source::Mem(mem)])?;
            } else {
                let (x, y) = (self.piece(a, position), self.piece(b, position));
                self.binary_piece(op, ty, view, to, x, y)?;
            }
        }
        Ok(())
    }

    /// The memory operand of a load that was left to its use.
    fn folded(&mut self, value: ValueId, position: usize) -> diag::Result<Mem> {
        let Some(Op::Load { at, access, .. }) = self.folded[value.index()] else {
            return Err(bug("no load was left"));
        };
        let mem = self.memory(&at);
        if access == Access::Same {
            return Ok(Mem { broadcast: true, ..mem });
        }
        let bytes = self.cut.bytes(self.element(value)?);
        self.further(mem, i64::from(bytes) * position as i64)
    }

    pub(super) fn binary_piece(
        &mut self,
        op: BinaryOp,
        ty: ScalarType,
        view: View,
        to: VReg,
        x: VReg,
        y: VReg,
    ) -> diag::Result<()> {
        if let Some(family) = float_family(op, ty) {
            return self.op(family, view, to, &[Reg(x), Reg(y)]);
        }
        match op {
            BinaryOp::Min | BinaryOp::Max if ty.is_float() => self.extreme(op, ty, view, to, x, y),
            BinaryOp::Add => self.op(sized(ADDS, ty), view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Sub => self.op(sized(SUBS, ty), view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Mul => self.multiply(ty, view, to, x, y),
            BinaryOp::And => self.op(family::PAND, view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Or => self.op(family::POR, view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Xor => self.op(family::PXOR, view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Min | BinaryOp::Max if ty.bytes() == 8 && !self.cut.wide512 => {
                let greater = self.greater_words(ty, view, x, y)?;
                let (if_not, if_so) = if op == BinaryOp::Min { (x, y) } else { (y, x) };
                self.op(family::PBLENDVB, view, to, &[Reg(if_not), Reg(if_so), Reg(greater)])
            }
            BinaryOp::Min => self.op(sized(MINIMA, ty), view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Max => self.op(sized(MAXIMA, ty), view, to, &[Reg(x), Reg(y)]),
            BinaryOp::Div | BinaryOp::Least | BinaryOp::Most => Err(bug(format!("{} of {ty}", op.name()))),
        }
    }

    /// The machine's minimum of a NaN or of two zeros is its second operand, so both orders are taken: ORing keeps a NaN
    /// and -0. For the maximum, ANDing keeps +0, but not a NaN.
    fn extreme(&mut self, op: BinaryOp, ty: ScalarType, view: View, to: VReg, x: VReg, y: VReg) -> diag::Result<()> {
        let family = float_family(if op == BinaryOp::Min { BinaryOp::Least } else { BinaryOp::Most }, ty);
        let family = family.ok_or_else(|| bug("no float"))?;
        let one = self.op_new(family, view, &[Reg(x), Reg(y)])?;
        let other = self.op_new(family, view, &[Reg(y), Reg(x)])?;
        if op == BinaryOp::Min {
            return self.op(family::POR, view, to, &[Reg(one), Reg(other)]);
        }
        let both = self.op_new(family::PAND, view, &[Reg(one), Reg(other)])?;
        let unordered = self.compare_floats(ty, view, 3, x, y)?;
        if !self.cut.wide512 {
            return self.op(family::POR, view, to, &[Reg(both), Reg(unordered)]);
        }
        let nan = if ty == ScalarType::F32 { Value::F32(f32::NAN) } else { Value::F64(f64::NAN) };
        let nans = self.vector();
        let mem = self.stream.constant(&bytes_of(nan));
        self.op(broadcast(ty.bytes()), view, nans, &[Source::Mem(mem)])?;
        self.blend(ty.bytes(), view, to, unordered, nans, both)
    }

    /// Where `x` is the larger, with AVX2, which compares with signs only: without them, the top bits are flipped.
    pub(super) fn greater_words(&mut self, ty: ScalarType, view: View, x: VReg, y: VReg) -> diag::Result<VReg> {
        if !ty.is_unsigned() {
            return self.op_new(family::PCMPGTQ, view, &[Reg(x), Reg(y)]);
        }
        let top = self.constant(ScalarType::I64, Value::I64(i64::MIN))?;
        let x = self.op_new(family::PXOR, view, &[Reg(x), Reg(top)])?;
        let y = self.op_new(family::PXOR, view, &[Reg(y), Reg(top)])?;
        self.op_new(family::PCMPGTQ, view, &[Reg(x), Reg(y)])
    }

    fn multiply(&mut self, ty: ScalarType, view: View, to: VReg, x: VReg, y: VReg) -> diag::Result<()> {
        match ty {
            ScalarType::I16 | ScalarType::U16 => self.op(family::PMULLW, view, to, &[Reg(x), Reg(y)]),
            ScalarType::I32 | ScalarType::U32 => self.op(family::PMULLD, view, to, &[Reg(x), Reg(y)]),
            _ if ty.bytes() == 8 && self.cut.wide512 => self.op(family::PMULLQ, view, to, &[Reg(x), Reg(y)]),
            ScalarType::I64 | ScalarType::U64 => {
                // Halves: the product of the high ones is out of range.
                let low = self.op_new(family::PMULUDQ, view, &[Reg(x), Reg(y)])?;
                let x_high = self.op_new(family::PSRLQ, view, &[Reg(x), Imm(32)])?;
                let y_high = self.op_new(family::PSRLQ, view, &[Reg(y), Imm(32)])?;
                let one = self.op_new(family::PMULUDQ, view, &[Reg(x_high), Reg(y)])?;
                let other = self.op_new(family::PMULUDQ, view, &[Reg(x), Reg(y_high)])?;
                let cross = self.op_new(family::PADDQ, view, &[Reg(one), Reg(other)])?;
                let high = self.op_new(family::PSLLQ, view, &[Reg(cross), Imm(32)])?;
                self.op(family::PADDQ, view, to, &[Reg(low), Reg(high)])
            }
            _ => {
                // Bytes in pairs: the even ones in place, the odd ones moved down and up again.
                let even = self.op_new(family::PMULLW, view, &[Reg(x), Reg(y)])?;
                let even = self.op_new(family::PSLLW, view, &[Reg(even), Imm(8)])?;
                let even = self.op_new(family::PSRLW, view, &[Reg(even), Imm(8)])?;
                let x_odd = self.op_new(family::PSRLW, view, &[Reg(x), Imm(8)])?;
                let y_odd = self.op_new(family::PSRLW, view, &[Reg(y), Imm(8)])?;
                let odd = self.op_new(family::PMULLW, view, &[Reg(x_odd), Reg(y_odd)])?;
                let odd = self.op_new(family::PSLLW, view, &[Reg(odd), Imm(8)])?;
                self.op(family::POR, view, to, &[Reg(even), Reg(odd)])
            }
        }
    }

    pub(super) fn shift(&mut self, value: ValueId, op: ShiftOp, a: ValueId, bits: u8) -> diag::Result<()> {
        let ty = self.element(value)?;
        let view = view(self.cut.bytes(ty));
        let bits = i64::from(bits);
        for (position, to) in self.result(value).into_iter().enumerate() {
            let x = self.piece(a, position);
            let family = match (op, ty) {
                (ShiftOp::Left, ScalarType::I32) => family::PSLLD,
                (ShiftOp::Left, _) => family::PSLLQ,
                (ShiftOp::Right, ScalarType::I32) => family::PSRLD,
                (ShiftOp::Right, _) => family::PSRLQ,
                (ShiftOp::SignedRight, ScalarType::I32) => family::PSRAD,
                (ShiftOp::SignedRight, _) if self.cut.wide512 => family::PSRAQ,
                (ShiftOp::SignedRight, _) => {
                    let zero = self.vector();
                    self.clear(zero);
                    let sign = self.op_new(family::PCMPGTQ, view, &[Reg(zero), Reg(x)])?;
                    // A shift by 64 leaves nothing, which is right for a shift by 0.
                    let sign = self.op_new(family::PSLLQ, view, &[Reg(sign), Imm(64 - bits)])?;
                    let rest = self.op_new(family::PSRLQ, view, &[Reg(x), Imm(bits)])?;
                    self.op(family::POR, view, to, &[Reg(rest), Reg(sign)])?;
                    continue;
                }
            };
            self.op(family, view, to, &[Reg(x), Imm(bits)])?;
        }
        Ok(())
    }

    /// The form is chosen by which operand may be overwritten: the addend, or else a factor.
    pub(super) fn fma(&mut self, value: ValueId, a: ValueId, b: ValueId, c: ValueId) -> diag::Result<()> {
        let ty = self.element(value)?;
        let view = view(self.cut.bytes(ty));
        let (add, multiply) = match ty {
            ScalarType::F32 => (family::FMADD231PS, family::FMADD213PS),
            _ => (family::FMADD231PD, family::FMADD213PD),
        };
        let dies = |value: ValueId| self.facts.last_use[value.index()] == self.position;
        let is_folded = |value: ValueId| self.folded[value.index()].is_some();
        // Factors may be exchanged: a load becomes the second, one that may be overwritten the first.
        let exchange = is_folded(a) || !is_folded(b) && dies(b) && !dies(a);
        let (a, b) = if exchange { (b, a) } else { (a, b) };
        let overwrite_factor = is_folded(c) || !is_folded(b) && !dies(c) && dies(a);
        for (position, to) in self.result(value).into_iter().enumerate() {
            let source = |selector: &mut Self, value: ValueId| match is_folded_in(selector, value) {
                true => selector.folded(value, position).map(Source::Mem),
                false => Ok(Reg(selector.piece(value, position))),
            };
            let (x, y, z) = (source(self, a)?, source(self, b)?, source(self, c)?);
            let is = |source: Source| matches!(source, Reg(reg) if reg == to);
            let Reg(x_register) = x else { return Err(bug("both factors are in memory")) };
            if is(z) {
                self.fused(add, view, to, to, x, y)?;
            } else if is(x) {
                match y {
                    Source::Mem(mem) => {
                        let load = if mem.broadcast { broadcast(ty.bytes()) } else { family::LOAD };
                        let y = self.op_new(load, view, &[Source::Mem(Mem { broadcast: false, ..mem })])?;
                        self.fused(multiply, view, to, to, Reg(y), z)?;
                    }
                    _ => self.fused(multiply, view, to, to, y, z)?,
                }
            } else if is(y) {
                self.fused(multiply, view, to, to, x, z)?;
            } else if overwrite_factor {
                self.fused(multiply, view, to, x_register, y, z)?;
            } else {
                let Reg(z_register) = z else { return Err(bug("an addend in memory")) };
                self.fused(add, view, to, z_register, x, y)?;
            }
        }
        Ok(())
    }

    /// Moves the operand that is overwritten to its place, and computes there.
    fn fused(
        &mut self,
        family: Family,
        view: View,
        to: VReg,
        first: VReg,
        second: Source,
        third: Source,
    ) -> diag::Result<()> {
        self.copy(to, first);
        let code = self.code(family, view)?;
        let operands = vec![Operand::Reg(to, view), second.operand(view), third.operand(view)];
        self.push(code, First::ReadAndWritten, operands);
        Ok(())
    }

    pub(super) fn reduce(&mut self, value: ValueId, op: BinaryOp, a: ValueId) -> diag::Result<()> {
        if self.program.ty(value) == Type::Mask {
            return self.mask_reduce(value, op, a);
        }
        let ty = self.element(value)?;
        let mut bytes = self.cut.bytes(ty);
        let mut parts: Vec<VReg> = (0..self.cut.pieces as usize).map(|position| self.piece(a, position)).collect();
        while parts.len() > 1 {
            let upper = parts.split_off(parts.len() / 2);
            for (part, other) in parts.iter_mut().zip(upper) {
                let sum = self.vector();
                self.binary_piece(op, ty, view(bytes), sum, *part, other)?;
                *part = sum;
            }
        }
        let mut x = parts[0];
        while bytes > ty.bytes() as u32 {
            bytes /= 2;
            let upper = self.upper_half(x, bytes)?;
            let sum = self.vector();
            self.binary_piece(op, ty, view(bytes), sum, x, upper)?;
            x = sum;
        }
        let to = self.result(value)[0];
        self.op(broadcast(ty.bytes()), view(self.cut.bytes(ty)), to, &[As(x, View::X)])
    }

    /// The `bytes` that follow the first so many.
    fn upper_half(&mut self, x: VReg, bytes: u32) -> diag::Result<VReg> {
        let to = self.vector();
        match bytes {
            32 => {
                let operands = vec![Operand::Reg(to, View::Y), Operand::Reg(x, View::Z), Operand::Imm(1)];
                self.push(Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, First::Written, operands);
            }
            16 => {
                let code = family::EXTRACT_XY.code(self.cut.wide512);
                let operands = vec![Operand::Reg(to, View::X), Operand::Reg(x, View::Y), Operand::Imm(1)];
                self.push(code, First::Written, operands);
            }
            _ => self.op(family::PSRLDQ, View::X, to, &[Reg(x), Imm(i64::from(bytes))])?,
        }
        Ok(to)
    }

    pub(super) fn select(&mut self, value: ValueId, mask: ValueId, a: ValueId, b: ValueId) -> diag::Result<()> {
        let ty = self.element(value)?;
        let view = view(self.cut.bytes(ty));
        for (position, to) in self.result(value).into_iter().enumerate() {
            let mask = self.mask_for(mask, position, ty.bytes())?;
            let (x, y) = (self.piece(a, position), self.piece(b, position));
            self.blend(ty.bytes(), view, to, mask, x, y)?;
        }
        Ok(())
    }

    /// `x` where the mask, which is as wide as the elements, is set, else `y`.
    pub(super) fn blend(
        &mut self,
        bytes: usize,
        view: View,
        to: VReg,
        mask: VReg,
        x: VReg,
        y: VReg,
    ) -> diag::Result<()> {
        if !self.cut.wide512 {
            return self.op(family::PBLENDVB, view, to, &[Reg(y), Reg(x), Reg(mask)]);
        }
        let family = by_bytes(BLENDS, bytes);
        let code = self.code(family, view)?;
        let operands = vec![Operand::Reg(to, view), Operand::Reg(y, view), Operand::Reg(x, view)];
        self.push_masked(code, First::Written, operands, Some(mask), false);
        Ok(())
    }
}

fn is_folded_in(selector: &Selector<'_>, value: ValueId) -> bool {
    selector.folded[value.index()].is_some()
}

/// By size of the element: 1, 2, 4, 8 bytes.
type Sizes = [Family; 4];

const ADDS: Sizes = [family::PADDB, family::PADDW, family::PADDD, family::PADDQ];
const SUBS: Sizes = [family::PSUBB, family::PSUBW, family::PSUBD, family::PSUBQ];
const MINIMA: Sizes = [family::PMINSB, family::PMINSW, family::PMINSD, family::PMINSQ];
const MAXIMA: Sizes = [family::PMAXSB, family::PMAXSW, family::PMAXSD, family::PMAXSQ];
pub(super) const UNSIGNED_MINIMA: Sizes = [family::PMINUB, family::PMINUW, family::PMINUD, family::PMINUQ];
const UNSIGNED_MAXIMA: Sizes = [family::PMAXUB, family::PMAXUW, family::PMAXUD, family::PMAXUQ];
const ABSOLUTES: Sizes = [family::PABSB, family::PABSW, family::PABSD, family::PABSQ];
const BLENDS: Sizes = [family::PBLENDMB, family::PBLENDMW, family::PBLENDMD, family::PBLENDMQ];
const BROADCASTS: Sizes = [family::BROADCASTB, family::BROADCASTW, family::BROADCASTD, family::BROADCASTQ];

pub(super) fn by_bytes(sizes: Sizes, bytes: usize) -> Family {
    sizes[bytes.trailing_zeros().min(3) as usize]
}

/// The instruction for the size of a type; without a sign, the order is another.
fn sized(sizes: Sizes, ty: ScalarType) -> Family {
    match sizes {
        MINIMA if ty.is_unsigned() => by_bytes(UNSIGNED_MINIMA, ty.bytes()),
        MAXIMA if ty.is_unsigned() => by_bytes(UNSIGNED_MAXIMA, ty.bytes()),
        _ => by_bytes(sizes, ty.bytes()),
    }
}

pub(super) fn broadcast(bytes: usize) -> Family {
    by_bytes(BROADCASTS, bytes)
}

fn float_family(op: BinaryOp, ty: ScalarType) -> Option<Family> {
    let (single, double) = match op {
        BinaryOp::Add => (family::ADDPS, family::ADDPD),
        BinaryOp::Sub => (family::SUBPS, family::SUBPD),
        BinaryOp::Mul => (family::MULPS, family::MULPD),
        BinaryOp::Div => (family::DIVPS, family::DIVPD),
        BinaryOp::Least => (family::MINPS, family::MINPD),
        BinaryOp::Most => (family::MAXPS, family::MAXPD),
        _ => return None,
    };
    match ty {
        ScalarType::F32 => Some(single),
        ScalarType::F64 => Some(double),
        _ => None,
    }
}

pub(super) fn bytes_of(value: Value) -> Vec<u8> {
    match value {
        Value::F16(v) => v.to_le_bytes().to_vec(),
        Value::BF16(v) => v.to_le_bytes().to_vec(),
        Value::F32(v) => v.to_le_bytes().to_vec(),
        Value::F64(v) => v.to_le_bytes().to_vec(),
        Value::I8(v) => v.to_le_bytes().to_vec(),
        Value::I16(v) => v.to_le_bytes().to_vec(),
        Value::I32(v) => v.to_le_bytes().to_vec(),
        Value::I64(v) => v.to_le_bytes().to_vec(),
        Value::U8(v) => vec![v],
        Value::U16(v) => v.to_le_bytes().to_vec(),
        Value::U32(v) => v.to_le_bytes().to_vec(),
        Value::U64(v) => v.to_le_bytes().to_vec(),
        Value::Bool(v) => vec![u8::from(v)],
    }
}
