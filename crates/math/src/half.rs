//! Floats of 16 bits, which are stored but not computed with: to `f32` and back.
//!
//! The bits stand in the lower half of an integer; the upper half of a result is zero, and that of an operand may be anything. Widening is exact, narrowing rounds to the nearest, to
//! the even one of two; NaN stays NaN.

use crate::ops::Ops;

/// A format of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Half {
    /// IEEE's binary16: 5 bits of exponent, 10 of fraction.
    Binary16,
    /// The upper half of an `f32`: 8 bits of exponent, 7 of fraction.
    Brain,
}

impl Half {
    /// The number that the bits stand for.
    pub fn widen<O: Ops<Format = f32>>(self, o: &mut O, bits: O::I) -> O::F {
        match self {
            Half::Binary16 => widen_binary16(o, bits),
            Half::Brain => {
                let bits = o.shl(bits, 16);
                o.of_bits(bits)
            }
        }
    }

    /// The bits of the nearest number.
    pub fn narrow<O: Ops<Format = f32>>(self, o: &mut O, x: O::F) -> O::I {
        match self {
            Half::Binary16 => narrow_binary16(o, x),
            Half::Brain => narrow_brain(o, x),
        }
    }
}

fn widen_binary16<O: Ops<Format = f32>>(o: &mut O, bits: O::I) -> O::F {
    let magnitude = o.int(0x7fff);
    let magnitude = o.int_and(bits, magnitude);
    // Exponent and fraction in the places of an f32 are the number, but for the difference of the biases: 2^112. That is exact for
    // subnormal numbers, too.
    let aligned = o.shl(magnitude, 13);
    let number = o.of_bits(aligned);
    let scale = o.float(f32::from_bits((127 + 112) << 23));
    let number = o.mul(number, scale);
    // Infinity and NaN have the largest exponent in both formats.
    let largest = o.int(0x7f80_0000);
    let special = o.int_or(aligned, largest);
    let special = o.of_bits(special);
    let last_finite = o.int(0x7bff);
    let is_special = o.int_lt(last_finite, magnitude);
    let number = o.select(is_special, special, number);
    let sign = o.int(0x8000);
    let sign = o.int_and(bits, sign);
    let sign = o.shl(sign, 16);
    let number = o.bits(number);
    let number = o.int_or(number, sign);
    o.of_bits(number)
}

fn narrow_binary16<O: Ops<Format = f32>>(o: &mut O, x: O::F) -> O::I {
    let magnitude = o.abs(x);
    // Everything from 2^16 on is infinite, and the rounding below makes 2^16 just that.
    let limit = o.float(65536.0);
    let limited = o.lesser(magnitude, limit);
    let bits = o.bits(limited);
    // The new bias, and half a unit in the last place less one bit; that bit is added where the last place is odd.
    let last = o.shr(bits, 13);
    let one = o.int(1);
    let odd = o.int_and(last, one);
    let rebased = o.int(((15 - 127) << 23) + 0xfff);
    let rounded = o.int_add(bits, rebased);
    let rounded = o.int_add(rounded, odd);
    let normal = o.shr(rounded, 13);
    // Beside 1/2, the last place of an f32 is that of subnormal numbers here, so the sum rounds to it.
    let half = o.float(0.5);
    let sum = o.add(limited, half);
    let sum = o.bits(sum);
    let half = o.bits(half);
    let subnormal = o.int_sub(sum, half);
    let smallest_normal = o.float(f32::from_bits((127 - 14) << 23));
    let is_small = o.lt(limited, smallest_normal);
    let result = select_bits(o, is_small, subnormal, normal);
    with_sign_or_nan(o, x, result, 0x7e00)
}

fn narrow_brain<O: Ops<Format = f32>>(o: &mut O, x: O::F) -> O::I {
    let magnitude = o.abs(x);
    let bits = o.bits(magnitude);
    let last = o.shr(bits, 16);
    let one = o.int(1);
    let odd = o.int_and(last, one);
    let nearly_half = o.int(0x7fff);
    let rounded = o.int_add(bits, nearly_half);
    let rounded = o.int_add(rounded, odd);
    let result = o.shr(rounded, 16);
    with_sign_or_nan(o, x, result, 0x7fc0)
}

/// The bits with the sign of `x`, or those of NaN if it is one.
fn with_sign_or_nan<O: Ops<Format = f32>>(o: &mut O, x: O::F, magnitude: O::I, nan: i32) -> O::I {
    let is_number = o.eq(x, x);
    let nan = o.int(nan);
    let magnitude = select_bits(o, is_number, magnitude, nan);
    let bits = o.bits(x);
    let sign = o.shr(bits, 16);
    let mask = o.int(0x8000);
    let sign = o.int_and(sign, mask);
    o.int_or(magnitude, sign)
}

/// Selection of integers; what is selected passes through floats as bits, which does not change them.
fn select_bits<O: Ops<Format = f32>>(o: &mut O, condition: O::B, a: O::I, b: O::I) -> O::I {
    let (a, b) = (o.of_bits(a), o.of_bits(b));
    let selected = o.select(condition, a, b);
    o.bits(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plain;

    fn widen(half: Half, bits: u16) -> f32 {
        half.widen(&mut Plain::<f32>::new(), i32::from(bits))
    }

    fn narrow(half: Half, x: f32) -> u16 {
        u16::try_from(half.narrow(&mut Plain::<f32>::new(), x)).expect("16 bits")
    }

    /// The value from its definition.
    fn by_definition(half: Half, bits: u16) -> f64 {
        let (width, bias) = if half == Half::Binary16 { (10, 15) } else { (7, 127) };
        let (exponent, fraction) = (i32::from((bits & 0x7fff) >> width), f64::from(bits & ((1 << width) - 1)));
        let top = if half == Half::Binary16 { 31 } else { 255 };
        let unit = 2.0_f64.powi(-width);
        let magnitude = match exponent {
            0 => fraction * unit * 2.0_f64.powi(1 - bias),
            exponent if exponent == top && fraction == 0.0 => f64::INFINITY,
            exponent if exponent == top => f64::NAN,
            exponent => (1.0 + fraction * unit) * 2.0_f64.powi(exponent - bias),
        };
        if bits & 0x8000 == 0 { magnitude } else { -magnitude }
    }

    #[test]
    fn every_number_widens_exactly_and_comes_back() {
        for half in [Half::Binary16, Half::Brain] {
            for bits in 0..=u16::MAX {
                let (wide, right) = (widen(half, bits), by_definition(half, bits));
                if right.is_nan() {
                    assert!(wide.is_nan() && widen(half, narrow(half, wide)).is_nan(), "{half:?} {bits:#x}");
                } else {
                    assert_eq!(f64::from(wide).to_bits(), right.to_bits(), "{half:?} {bits:#x}");
                    assert_eq!(narrow(half, wide), bits, "{half:?}");
                }
            }
        }
    }

    /// Between two neighbours lies their middle: it goes to the even one, what is beside it to the nearer one.
    #[test]
    fn narrowing_rounds_to_the_nearest_and_to_even() {
        for (half, last) in [(Half::Binary16, 0x7bff), (Half::Brain, 0x7f7f)] {
            for bits in 0..=last {
                let low = f64::from(widen(half, bits));
                // What infinity would be if there were one more exponent.
                let high = if bits == last {
                    2.0 * low - f64::from(widen(half, bits - 1))
                } else {
                    f64::from(widen(half, bits + 1))
                };
                let middle = ((low + high) / 2.0) as f32;
                assert_eq!(f64::from(middle), (low + high) / 2.0, "the middle is an f32");
                for (sign, turned) in [(1.0, 0), (-1.0, 0x8000)] {
                    let even = bits + (bits & 1);
                    assert_eq!(narrow(half, sign * middle), even | turned, "{half:?} {bits:#x}");
                    assert_eq!(narrow(half, sign * middle.next_down()), bits | turned, "{half:?} {bits:#x}");
                    assert_eq!(narrow(half, sign * middle.next_up()), (bits + 1) | turned, "{half:?} {bits:#x}");
                }
            }
            for huge in [1e9, 1e38, f32::MAX, f32::INFINITY] {
                let expected = if half == Half::Brain && huge < 2e38 { huge } else { f32::INFINITY };
                assert!(
                    (widen(half, narrow(half, huge)) - expected).abs() <= expected / 256.0
                        || expected.is_infinite() && widen(half, narrow(half, huge)).is_infinite()
                );
            }
        }
    }
}
