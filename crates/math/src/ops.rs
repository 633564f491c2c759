//! What a definition may use: IEEE arithmetic, comparisons, selection and the bits of floats.
//!
//! An implementation either computes ([`crate::Plain`]) or appends instructions, to scalars or to vectors; therefore
//! `&mut self`. Every operation is exact or correctly rounded to nearest, so all implementations agree bit by bit (a NaN
//! agrees with every NaN). Nothing here converts between integers and floats, shifts by a variable amount, multiplies
//! integers or reads a table: some vector unit lacks each of these.

use crate::format::Format;

/// Operations on floats of one format.
///
/// An emitter for both formats implements this on two types. Constants come again and again: [`Ops::float`] and
/// [`Ops::int`] should return the same register for the same bits.
pub trait Ops {
    /// `f32` or `f64`: which constants the definitions use.
    type Format: Format;
    /// A float, or a vector of them.
    type F: Copy;
    /// An integer as wide as the float, or a vector of them.
    type I: Copy;
    /// A condition, or a mask.
    type B: Copy;

    /// A constant; its bits must be kept, the sign of zero included.
    fn float(&mut self, value: Self::Format) -> Self::F;
    fn int(&mut self, value: <Self::Format as Format>::Bits) -> Self::I;

    fn add(&mut self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(&mut self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(&mut self, a: Self::F, b: Self::F) -> Self::F;
    fn div(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn fma(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `c - a * b`, rounded once.
    fn fnma(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        let minus_a = self.neg(a);
        self.fma(minus_a, b, c)
    }
    /// `a * b - c`, rounded once.
    fn fms(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        let minus_c = self.neg(c);
        self.fma(a, b, minus_c)
    }
    fn sqrt(&mut self, a: Self::F) -> Self::F;
    /// The sign bit turned.
    fn neg(&mut self, a: Self::F) -> Self::F;
    /// The sign bit cleared.
    fn abs(&mut self, a: Self::F) -> Self::F;
    fn floor(&mut self, a: Self::F) -> Self::F;
    fn ceil(&mut self, a: Self::F) -> Self::F;
    fn trunc(&mut self, a: Self::F) -> Self::F;

    /// Comparisons are false if an operand is NaN.
    fn lt(&mut self, a: Self::F, b: Self::F) -> Self::B;
    fn le(&mut self, a: Self::F, b: Self::F) -> Self::B;
    fn eq(&mut self, a: Self::F, b: Self::F) -> Self::B;
    /// Signed.
    fn int_lt(&mut self, a: Self::I, b: Self::I) -> Self::B;
    fn and(&mut self, a: Self::B, b: Self::B) -> Self::B;
    fn or(&mut self, a: Self::B, b: Self::B) -> Self::B;
    fn not(&mut self, a: Self::B) -> Self::B;
    /// `a` where `condition` holds, else `b`.
    fn select(&mut self, condition: Self::B, a: Self::F, b: Self::F) -> Self::F;

    /// The bits of a float, and back.
    fn bits(&mut self, a: Self::F) -> Self::I;
    fn of_bits(&mut self, a: Self::I) -> Self::F;
    /// Wrapping.
    fn int_add(&mut self, a: Self::I, b: Self::I) -> Self::I;
    fn int_sub(&mut self, a: Self::I, b: Self::I) -> Self::I;
    fn int_and(&mut self, a: Self::I, b: Self::I) -> Self::I;
    fn int_or(&mut self, a: Self::I, b: Self::I) -> Self::I;
    fn int_xor(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// By the same constant number of bits in all lanes; zeros enter.
    fn shl(&mut self, a: Self::I, bits: u32) -> Self::I;
    fn shr(&mut self, a: Self::I, bits: u32) -> Self::I;

    /// `a` if `a < b`, else `b`, also if either is NaN: what x86's `min` does.
    fn lesser(&mut self, a: Self::F, b: Self::F) -> Self::F {
        let less = self.lt(a, b);
        self.select(less, a, b)
    }
    /// `a` if `b < a`, else `b`, also if either is NaN: what x86's `max` does.
    fn greater(&mut self, a: Self::F, b: Self::F) -> Self::F {
        let less = self.lt(b, a);
        self.select(less, a, b)
    }

    /// `x * 2^n`, rounded once, for an integral `n` of at most 1.5 times the largest exponent, and `x` between 1/4 and 4
    /// (or NaN). AVX-512's `scalef` does the same in one instruction.
    fn scale(&mut self, x: Self::F, n: Self::F) -> Self::F {
        // Two steps, because one power of two does not reach from 1 to the smallest number. The first step is exact.
        let integer = self.float(Self::Format::INTEGER);
        let half = self.float(Self::Format::of(0.5));
        let first = self.fma(n, half, integer);
        let done = self.sub(first, integer);
        let rest = self.sub(n, done);
        let second = self.add(rest, integer);
        let mut result = x;
        for step in [first, second] {
            let bits = self.bits(step);
            let bias = self.int(Self::Format::small(Self::Format::BIAS));
            let exponent = self.int_add(bits, bias);
            let power = self.shl(exponent, Self::Format::FRACTION_BITS);
            let power = self.of_bits(power);
            result = self.mul(result, power);
        }
        result
    }

    /// `select(needed, rare(), usual)`, value by value. The hint is that `needed` is nearly never true: an implementation
    /// may skip `rare` where no lane needs it.
    fn rarely<const N: usize>(
        &mut self,
        needed: Self::B,
        usual: [Self::F; N],
        rare: impl FnOnce(&mut Self) -> [Self::F; N],
    ) -> [Self::F; N] {
        let mut values = rare(self);
        for (value, usual) in values.iter_mut().zip(usual) {
            *value = self.select(needed, *value, usual);
        }
        values
    }

    /// A constant that is exact in every format.
    fn number(&mut self, value: f32) -> Self::F {
        self.float(Self::Format::of(value))
    }
}
