//! `cvt`: between integers and floats of all widths.

use super::arithmetic::f32_of;
use super::code::{Lanes, mask};
use crate::ir::{Float, Rounding, Type};

/// Converts all lanes; the result fills `bits` bits of its register.
pub(super) fn convert(to: Type, from: Type, float: Float, bits: u32, a: &Lanes) -> Lanes {
    std::array::from_fn(|lane| one(to, from, float, bits, a[lane]))
}

fn one(to: Type, from: Type, float: Float, bits: u32, value: u64) -> u64 {
    if from.is_float() {
        let value =
            if from == Type::F32 { f64::from(flushed(f32_of(value), float.ftz)) } else { f64::from_bits(value) };
        let value = match float.rounding {
            Some(Rounding::IntNearest) => value.round_ties_even(),
            Some(Rounding::IntZero) => value.trunc(),
            Some(Rounding::IntDown) => value.floor(),
            Some(Rounding::IntUp) => value.ceil(),
            _ => value,
        };
        return if to.is_float() { from_f64(to, float, value) } else { mask(to_integer(to, value), bits) };
    }
    let value = extended(from, value);
    if to.is_float() {
        return match (to, from.is_signed()) {
            (Type::F32, true) => u64::from((value as i64 as f32).to_bits()),
            (Type::F32, false) => u64::from((value as f32).to_bits()),
            (_, true) => (value as i64 as f64).to_bits(),
            (_, false) => (value as f64).to_bits(),
        };
    }
    let value = if float.sat { clamped(to, from, value) } else { value };
    // A narrow result fills its register as its own sign says.
    mask(extended(to, mask(value, to.bits())), bits)
}

fn flushed(value: f32, ftz: bool) -> f32 {
    if ftz && value.is_subnormal() { 0f32.copysign(value) } else { value }
}

fn from_f64(to: Type, float: Float, value: f64) -> u64 {
    let value = if float.sat { if value > 0.0 { value.min(1.0) } else { 0.0 } } else { value };
    match to {
        Type::F32 => u64::from(flushed(value as f32, float.ftz).to_bits()),
        _ => value.to_bits(),
    }
}

/// The integer of type `ty` in the low bits, to 64 bits.
fn extended(ty: Type, value: u64) -> u64 {
    let shift = 64 - ty.bits();
    if ty.is_signed() { (((value << shift) as i64) >> shift) as u64 } else { mask(value, ty.bits()) }
}

/// Conversions from floats clamp to the range of the integer; NaN becomes zero, as Rust has it too.
fn to_integer(to: Type, value: f64) -> u64 {
    match to {
        Type::S8 => value as i8 as u64,
        Type::S16 => value as i16 as u64,
        Type::S32 => value as i32 as u64,
        Type::S64 => value as i64 as u64,
        Type::U8 => u64::from(value as u8),
        Type::U16 => u64::from(value as u16),
        Type::U32 => u64::from(value as u32),
        _ => value as u64,
    }
}

fn clamped(to: Type, from: Type, value: u64) -> u64 {
    let value = if from.is_signed() { i128::from(value as i64) } else { i128::from(value) };
    let (low, high) = if to.is_signed() {
        (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1)
    } else {
        (0, (1i128 << to.bits()) - 1)
    };
    value.clamp(low, high) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cvt(to: Type, from: Type, rounding: Option<Rounding>, bits: u32, value: u64) -> u64 {
        one(to, from, Float { rounding, ..Float::EXACT }, bits, value)
    }

    #[test]
    fn floats_become_integers_as_the_hardware_does_it() {
        let zero = Some(Rounding::IntZero);
        let of = |value: f32| u64::from(value.to_bits());
        assert_eq!(cvt(Type::S32, Type::F32, zero, 32, of(-1.5)), 0xffff_ffff);
        assert_eq!(cvt(Type::S32, Type::F32, Some(Rounding::IntDown), 32, of(-1.5)), 0xffff_fffe);
        assert_eq!(cvt(Type::S32, Type::F32, Some(Rounding::IntNearest), 32, of(2.5)), 2);
        assert_eq!(cvt(Type::U32, Type::F32, zero, 32, of(-7.0)), 0, "clamped");
        assert_eq!(cvt(Type::S32, Type::F32, zero, 32, of(1e20)), 0x7fff_ffff, "clamped");
        assert_eq!(cvt(Type::S32, Type::F32, zero, 32, of(f32::NAN)), 0);
        assert_eq!(cvt(Type::F32, Type::F32, Some(Rounding::IntNearest), 32, of(2.7)), of(3.0));
    }

    #[test]
    fn integers_are_extended_by_the_sign_of_their_type() {
        assert_eq!(cvt(Type::S64, Type::S32, None, 64, 0xffff_ffff), u64::MAX);
        assert_eq!(cvt(Type::U64, Type::U32, None, 64, 0xffff_ffff), 0xffff_ffff);
        assert_eq!(cvt(Type::S8, Type::S32, None, 32, 0x1ff), 0xffff_ffff, "a narrow result fills its register");
        assert_eq!(cvt(Type::U8, Type::S32, None, 32, 0x1ff), 0xff);
        assert_eq!(cvt(Type::F32, Type::S32, Some(Rounding::Nearest), 32, 0xffff_fffe), u64::from((-2f32).to_bits()));
    }
}
