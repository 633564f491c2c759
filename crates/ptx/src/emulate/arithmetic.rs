//! What instructions compute, for all lanes of a warp at once. Lanes that are switched off are computed as well, so
//! nothing here may fail.

use super::code::Lanes;
use crate::ir::{BinaryOp, Compare, Float, TernaryOp, Type, UnaryOp};

#[inline(always)]
fn map1(a: &Lanes, f: impl Fn(u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane]))
}

#[inline(always)]
fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

#[inline(always)]
fn map3(a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u64, u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
}

#[inline(always)]
pub(super) fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[inline(always)]
fn bits32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// Subnormal numbers as zeros of their sign.
fn flush(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn saturate(bits: u64) -> u64 {
    let value = f32_of(bits);
    // NaN becomes zero.
    bits32(if value > 0.0 { value.min(1.0) } else { 0.0 })
}

/// Runs an operation of floats with what its modifiers say about operands and result.
#[inline(always)]
fn modified<const N: usize>(float: Float, operands: [&Lanes; N], run: impl Fn([&Lanes; N]) -> Lanes) -> Lanes {
    if !float.ftz && !float.sat {
        return run(operands);
    }
    let flushed = operands.map(|lanes| if float.ftz { map1(lanes, flush) } else { *lanes });
    let mut result = run(flushed.each_ref());
    if float.ftz {
        result = map1(&result, flush);
    }
    if float.sat { map1(&result, saturate) } else { result }
}

/// Integer arithmetic by width and sign, in the type `$t`.
macro_rules! integers {
    ($ty:expr, $map:ident($($lanes:expr),+), |$($x:ident),+| $body:expr) => {
        match $ty.bits() {
            16 if $ty.is_signed() => integers!(@run i16, u16, $map($($lanes),+), |$($x),+| $body),
            16 => integers!(@run u16, u16, $map($($lanes),+), |$($x),+| $body),
            32 if $ty.is_signed() => integers!(@run i32, u32, $map($($lanes),+), |$($x),+| $body),
            32 => integers!(@run u32, u32, $map($($lanes),+), |$($x),+| $body),
            _ if $ty.is_signed() => integers!(@run i64, u64, $map($($lanes),+), |$($x),+| $body),
            _ => integers!(@run u64, u64, $map($($lanes),+), |$($x),+| $body),
        }
    };
    (@run $t:ty, $u:ty, $map:ident($($lanes:expr),+), |$($x:ident),+| $body:expr) => {{
        #[allow(dead_code, non_camel_case_types, clippy::allow_attributes, reason = "not every operation names its type")]
        type T = $t;
        $map($($lanes),+, |$($x),+| {
            $(let $x = $x as T;)+
            u64::from(($body) as $u)
        })
    }};
}

pub(super) fn unary(op: UnaryOp, ty: Type, float: Float, a: &Lanes) -> Lanes {
    if ty == Type::F64 {
        let f = |f: fn(f64) -> f64| map1(a, |x| f(f64::from_bits(x)).to_bits());
        return match op {
            UnaryOp::Neg => map1(a, |x| x ^ 1 << 63),
            UnaryOp::Abs => map1(a, |x| x & !(1 << 63)),
            UnaryOp::Sqrt => f(f64::sqrt),
            UnaryOp::Rcp => f(|x| 1.0 / x),
            _ => f(|x| 1.0 / x.sqrt()),
        };
    }
    if ty == Type::F32 {
        return modified(float, [a], |[a]| unary_f32(op, a));
    }
    match op {
        UnaryOp::Neg => integers!(ty, map1(a), |x| (0 as T).wrapping_sub(x)),
        UnaryOp::Abs => integers!(ty, map1(a), |x| if (x as i64) < 0 { (0 as T).wrapping_sub(x) } else { x }),
        UnaryOp::Not => integers!(ty, map1(a), |x| !x),
        UnaryOp::Popc => map1(a, |x| u64::from(x.count_ones())),
        UnaryOp::Clz if ty.bits() == 32 => map1(a, |x| u64::from((x as u32).leading_zeros())),
        UnaryOp::Clz => map1(a, |x| u64::from(x.leading_zeros())),
        UnaryOp::Brev if ty.bits() == 32 => map1(a, |x| u64::from((x as u32).reverse_bits())),
        UnaryOp::Brev => map1(a, u64::reverse_bits),
        _ => *a,
    }
}

/// Approximate functions are computed more exactly than the hardware does.
fn unary_f32(op: UnaryOp, a: &Lanes) -> Lanes {
    let through = |f: fn(f64) -> f64| map1(a, |x| bits32(f(f64::from(f32_of(x))) as f32));
    match op {
        UnaryOp::Neg => map1(a, |x| x ^ 0x8000_0000),
        UnaryOp::Abs => map1(a, |x| x & 0x7fff_ffff),
        UnaryOp::Sqrt => map1(a, |x| bits32(f32_of(x).sqrt())),
        UnaryOp::Rcp => map1(a, |x| bits32(1.0 / f32_of(x))),
        UnaryOp::Rsqrt => through(|x| 1.0 / x.sqrt()),
        UnaryOp::Ex2 => through(f64::exp2),
        UnaryOp::Lg2 => through(f64::log2),
        UnaryOp::Sin => through(f64::sin),
        UnaryOp::Cos => through(f64::cos),
        UnaryOp::Tanh => through(f64::tanh),
        _ => *a,
    }
}

pub(super) fn binary(op: BinaryOp, ty: Type, float: Float, a: &Lanes, b: &Lanes) -> Lanes {
    match ty {
        Type::F32 => modified(float, [a, b], |[a, b]| binary_f32(op, a, b)),
        Type::F64 => binary_f64(op, a, b),
        _ => binary_integer(op, ty, a, b),
    }
}

/// The smaller operand; a NaN only if both are, and the negative of two zeros.
macro_rules! pick {
    ($x:expr, $y:expr, $better:tt, $zero:ident) => {{
        let (x, y) = ($x, $y);
        if x.is_nan() {
            y
        } else if y.is_nan() || x $better y {
            x
        } else if y $better x {
            y
        } else if x.$zero() {
            x
        } else {
            y
        }
    }};
}

fn binary_f32(op: BinaryOp, a: &Lanes, b: &Lanes) -> Lanes {
    #[inline(always)]
    fn run(a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
        map2(a, b, |x, y| bits32(f(f32_of(x), f32_of(y))))
    }
    match op {
        BinaryOp::Add => run(a, b, |x, y| x + y),
        BinaryOp::Sub => run(a, b, |x, y| x - y),
        BinaryOp::Mul => run(a, b, |x, y| x * y),
        BinaryOp::Div => run(a, b, |x, y| x / y),
        BinaryOp::Min => run(a, b, |x, y| pick!(x, y, <, is_sign_negative)),
        BinaryOp::Max => run(a, b, |x, y| pick!(x, y, >, is_sign_positive)),
        BinaryOp::MinNan => {
            run(a, b, |x, y| if x.is_nan() || y.is_nan() { f32::NAN } else { pick!(x, y, <, is_sign_negative) })
        }
        BinaryOp::MaxNan => {
            run(a, b, |x, y| if x.is_nan() || y.is_nan() { f32::NAN } else { pick!(x, y, >, is_sign_positive) })
        }
        // `a` gives the sign.
        BinaryOp::CopySign => run(a, b, |x, y| y.copysign(x)),
        _ => *a,
    }
}

fn binary_f64(op: BinaryOp, a: &Lanes, b: &Lanes) -> Lanes {
    #[inline(always)]
    fn run(a: &Lanes, b: &Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
        map2(a, b, |x, y| f(f64::from_bits(x), f64::from_bits(y)).to_bits())
    }
    match op {
        BinaryOp::Add => run(a, b, |x, y| x + y),
        BinaryOp::Sub => run(a, b, |x, y| x - y),
        BinaryOp::Mul => run(a, b, |x, y| x * y),
        BinaryOp::Div => run(a, b, |x, y| x / y),
        BinaryOp::Min => run(a, b, |x, y| pick!(x, y, <, is_sign_negative)),
        BinaryOp::Max => run(a, b, |x, y| pick!(x, y, >, is_sign_positive)),
        BinaryOp::CopySign => run(a, b, |x, y| y.copysign(x)),
        _ => *a,
    }
}

fn binary_integer(op: BinaryOp, ty: Type, a: &Lanes, b: &Lanes) -> Lanes {
    match op {
        BinaryOp::Add => integers!(ty, map2(a, b), |x, y| x.wrapping_add(y)),
        BinaryOp::Sub => integers!(ty, map2(a, b), |x, y| x.wrapping_sub(y)),
        BinaryOp::MulLo | BinaryOp::Mul => integers!(ty, map2(a, b), |x, y| x.wrapping_mul(y)),
        BinaryOp::MulHi => integers!(ty, map2(a, b), |x, y| (x as i128).wrapping_mul(y as i128) >> T::BITS),
        BinaryOp::MulWide => wide(ty, a, b, &[0; 32]),
        // A division by zero gives all ones on the hardware, and its remainder the dividend.
        BinaryOp::Div => integers!(ty, map2(a, b), |x, y| if y == 0 { !(0 as T) } else { x.wrapping_div(y) }),
        BinaryOp::Rem => integers!(ty, map2(a, b), |x, y| if y == 0 { x } else { x.wrapping_rem(y) }),
        BinaryOp::Min => integers!(ty, map2(a, b), |x, y| x.min(y)),
        BinaryOp::Max => integers!(ty, map2(a, b), |x, y| x.max(y)),
        BinaryOp::And => map2(a, b, |x, y| x & y),
        BinaryOp::Or => map2(a, b, |x, y| x | y),
        BinaryOp::Xor => map2(a, b, |x, y| x ^ y),
        BinaryOp::Shl => shift(ty, a, b, true),
        BinaryOp::Shr => shift(ty, a, b, false),
        BinaryOp::MinNan | BinaryOp::MaxNan | BinaryOp::CopySign => *a,
    }
}

/// Amounts past the width shift everything out.
fn shift(ty: Type, a: &Lanes, b: &Lanes, left: bool) -> Lanes {
    let bits = ty.bits();
    let keep = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    map2(a, b, |x, amount| {
        let amount = amount as u32;
        if left {
            return x.checked_shl(amount).unwrap_or(0) & keep;
        }
        if ty.is_signed() {
            let signed = ((x << (64 - bits)) as i64) >> (64 - bits);
            return (signed >> amount.min(63)) as u64 & keep;
        }
        x.checked_shr(amount).unwrap_or(0)
    })
}

/// `a * b + c` with the product and the sum in twice the width.
fn wide(ty: Type, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    match ty {
        Type::S32 => map3(a, b, c, |x, y, z| (i64::from(x as i32) * i64::from(y as i32)).wrapping_add(z as i64) as u64),
        Type::U32 => map3(a, b, c, |x, y, z| (x & 0xffff_ffff).wrapping_mul(y & 0xffff_ffff).wrapping_add(z)),
        Type::S16 => {
            map3(
                a,
                b,
                c,
                |x, y, z| u64::from((i32::from(x as i16) * i32::from(y as i16)).wrapping_add(z as i32) as u32),
            )
        }
        _ => map3(a, b, c, |x, y, z| u64::from((u32::from(x as u16) * u32::from(y as u16)).wrapping_add(z as u32))),
    }
}

pub(super) fn ternary(op: TernaryOp, ty: Type, float: Float, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    match op {
        TernaryOp::Fma if ty == Type::F32 => modified(float, [a, b, c], |[a, b, c]| fma_f32(a, b, c)),
        TernaryOp::Fma => {
            let f = f64::from_bits;
            map3(a, b, c, |x, y, z| f(x).mul_add(f(y), f(z)).to_bits())
        }
        TernaryOp::MadLo => integers!(ty, map3(a, b, c), |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
        TernaryOp::MadHi => {
            integers!(ty, map3(a, b, c), |x, y, z| (((x as i128).wrapping_mul(y as i128) >> T::BITS) as T)
                .wrapping_add(z))
        }
        TernaryOp::MadWide => wide(ty, a, b, c),
        TernaryOp::Bfe => map3(a, b, c, |x, start, length| bit_field(ty, x, start, length)),
        TernaryOp::Prmt => map3(a, b, c, permute_bytes),
        TernaryOp::ShfLeft => map3(a, b, c, |x, y, s| (y << 32 | x) << (s & 31) >> 32),
        TernaryOp::ShfRight => map3(a, b, c, |x, y, s| (y << 32 | x) >> (s & 31) & 0xffff_ffff),
    }
}

/// `a * b + c` rounded once.
///
/// A `mul_add` is a call for each lane on machines whose instructions are not known when this is compiled. In double precision the product is exact, and
/// the sum, rounded to double and then to single precision, is as good as rounded once, unless it lies in the middle of two singles after
/// the first rounding. Only warps with such a lane, or with one of the sums that single precision has fewer bits for, take the calls.
fn fma_f32(a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    const DROPPED: u32 = (1 << 29) - 1;
    const MIDDLE: u32 = 1 << 28;
    let mut result = [0; 32];
    let mut doubtful = false;
    for lane in 0..32 {
        let sum = f64::from(f32_of(a[lane])) * f64::from(f32_of(b[lane])) + f64::from(f32_of(c[lane]));
        result[lane] = bits32(sum as f32);
        let small = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
        doubtful |= (sum.to_bits() as u32 & DROPPED == MIDDLE) | small | sum.is_nan();
    }
    if doubtful {
        return map3(a, b, c, |x, y, z| bits32(f32_of(x).mul_add(f32_of(y), f32_of(z))));
    }
    result
}

/// Bits past the end are copies of the field's sign, if there is one.
fn bit_field(ty: Type, value: u64, start: u64, length: u64) -> u64 {
    let bits = u64::from(ty.bits());
    let (start, length) = (start & 0xff, length & 0xff);
    let bit = |at: u64| value >> at.min(bits - 1) & 1;
    let sign = if !ty.is_signed() || length == 0 { 0 } else { bit((start + length - 1).min(bits - 1)) };
    let taken = (0..bits).fold(0, |result, at| {
        let inside = at < length && start + at < bits;
        result | (if inside { bit(start + at) } else { sign }) << at
    });
    super::code::mask(taken, ty.bits())
}

fn permute_bytes(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = a & 0xffff_ffff | b << 32;
    (0..4).fold(0, |result, position| {
        let pick = selector >> (position * 4) & 0xf;
        let byte = bytes >> ((pick & 7) * 8) & 0xff;
        let byte = if pick & 8 == 0 { byte } else { (byte >> 7) * 0xff };
        result | byte << (position * 8)
    })
}

/// The lanes for which a comparison holds.
pub(super) fn compare(compare: Compare, ty: Type, ftz: bool, a: &Lanes, b: &Lanes) -> u32 {
    #[inline(always)]
    fn lanes(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> bool) -> u32 {
        (0..32).fold(0, |mask, lane| mask | u32::from(f(a[lane], b[lane])) << lane)
    }
    if ty == Type::F32 {
        let float = |x: u64| f32_of(if ftz { flush(x) } else { x });
        return lanes(a, b, |x, y| holds(compare, float(x).partial_cmp(&float(y))));
    }
    if ty == Type::F64 {
        return lanes(a, b, |x, y| holds(compare, f64::from_bits(x).partial_cmp(&f64::from_bits(y))));
    }
    if ty.is_signed() {
        let shift = 64 - ty.bits();
        let signed = |x: u64| ((x << shift) as i64) >> shift;
        return match compare {
            Compare::Lt => lanes(a, b, |x, y| signed(x) < signed(y)),
            Compare::Ge => lanes(a, b, |x, y| signed(x) >= signed(y)),
            _ => lanes(a, b, |x, y| holds(compare, Some(signed(x).cmp(&signed(y))))),
        };
    }
    lanes(a, b, |x, y| holds(compare, Some(x.cmp(&y))))
}

/// Whether a comparison holds for operands in this order; `None` if one is NaN.
#[inline(always)]
fn holds(compare: Compare, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let unordered = order.is_none();
    match compare {
        Compare::Eq => order == Some(Equal),
        Compare::Ne => matches!(order, Some(Less | Greater)),
        Compare::Lt | Compare::Lo => order == Some(Less),
        Compare::Le | Compare::Ls => matches!(order, Some(Less | Equal)),
        Compare::Gt | Compare::Hi => order == Some(Greater),
        Compare::Ge | Compare::Hs => matches!(order, Some(Greater | Equal)),
        Compare::Equ => unordered || order == Some(Equal),
        Compare::Neu => order != Some(Equal),
        Compare::Ltu => unordered || order == Some(Less),
        Compare::Leu => order != Some(Greater),
        Compare::Gtu => unordered || order == Some(Greater),
        Compare::Geu => order != Some(Less),
        Compare::Num => !unordered,
        Compare::Nan => unordered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums that cancel, lie in the middle of two numbers, or are subnormal, infinite or no numbers must have the bits of one rounding.
    #[test]
    fn products_are_added_with_one_rounding() {
        let mut random = super::super::block::Random(1);
        let special =
            [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY, f32::NAN, 1.0 + f32::EPSILON];
        for round in 0..20_000u64 {
            // Exponents near each other, so that many sums lie near the middle of two numbers.
            let mut value = || {
                let bits = random.next() as u32;
                match bits >> 28 {
                    0 => special[bits as usize % special.len()].to_bits(),
                    1 => bits,
                    2..8 => (bits & 0x8000_0fff) | (0x3f80_0000 - ((bits >> 12 & 31) << 23)),
                    _ => (bits & 0x807f_f000) | ((107 + round as u32 % 40) << 23),
                }
            };
            let lanes: [Lanes; 3] = std::array::from_fn(|_| std::array::from_fn(|_| u64::from(value())));
            let [a, b, c] = &lanes;
            let found = fma_f32(a, b, c);
            for lane in 0..32 {
                let (x, y, z) = (f32_of(a[lane]), f32_of(b[lane]), f32_of(c[lane]));
                assert_eq!(found[lane], bits32(x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
                // Alone in its warp, no other lane makes it take the long way.
                let alone = fma_f32(&[a[lane]; 32], &[b[lane]; 32], &[c[lane]; 32]);
                assert_eq!(alone[0], found[lane], "{x:e} * {y:e} + {z:e}");
            }
        }
        // Just above the middle of 1 and its successor, by less than a double has bits for.
        let (x, y, z) = (1.0 + f32::EPSILON, f32::EPSILON / 2.0, 1.0f32);
        let tie = |z: f32| fma_f32(&[bits32(x); 32], &[bits32(y); 32], &[bits32(z); 32])[0];
        assert_eq!(tie(z), bits32(x.mul_add(y, z)));
        let (x, y) = (f32::EPSILON / 2.0, 1.0 + 2f32.powi(-23));
        let lanes = [x, y * y, 1.0].map(|value| [bits32(value); 32]);
        assert_eq!(fma_f32(&lanes[0], &lanes[1], &lanes[2])[0], bits32(x.mul_add(y * y, 1.0)));
    }
}
