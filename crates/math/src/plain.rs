//! The operations on plain values: what the interpreter runs, and what all other implementations are held against.

use std::marker::PhantomData;

use crate::ops::Ops;

/// Computes with `f32` or `f64`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain<T>(PhantomData<T>);

impl<T> Plain<T> {
    pub fn new() -> Plain<T> {
        Plain(PhantomData)
    }
}

macro_rules! plain {
    ($float:ty, $bits:ty) => {
        impl Ops for Plain<$float> {
            type Format = $float;
            type F = $float;
            type I = $bits;
            type B = bool;

            #[inline]
            fn float(&mut self, value: $float) -> $float {
                value
            }
            #[inline]
            fn int(&mut self, value: $bits) -> $bits {
                value
            }
            #[inline]
            fn add(&mut self, a: $float, b: $float) -> $float {
                a + b
            }
            #[inline]
            fn sub(&mut self, a: $float, b: $float) -> $float {
                a - b
            }
            #[inline]
            fn mul(&mut self, a: $float, b: $float) -> $float {
                a * b
            }
            #[inline]
            fn div(&mut self, a: $float, b: $float) -> $float {
                a / b
            }
            #[inline]
            fn fma(&mut self, a: $float, b: $float, c: $float) -> $float {
                a.mul_add(b, c)
            }
            #[inline]
            fn sqrt(&mut self, a: $float) -> $float {
                a.sqrt()
            }
            #[inline]
            fn neg(&mut self, a: $float) -> $float {
                -a
            }
            #[inline]
            fn abs(&mut self, a: $float) -> $float {
                a.abs()
            }
            #[inline]
            fn floor(&mut self, a: $float) -> $float {
                a.floor()
            }
            #[inline]
            fn ceil(&mut self, a: $float) -> $float {
                a.ceil()
            }
            #[inline]
            fn trunc(&mut self, a: $float) -> $float {
                a.trunc()
            }
            #[inline]
            fn lt(&mut self, a: $float, b: $float) -> bool {
                a < b
            }
            #[inline]
            fn le(&mut self, a: $float, b: $float) -> bool {
                a <= b
            }
            #[inline]
            fn eq(&mut self, a: $float, b: $float) -> bool {
                a == b
            }
            #[inline]
            fn int_lt(&mut self, a: $bits, b: $bits) -> bool {
                a < b
            }
            #[inline]
            fn and(&mut self, a: bool, b: bool) -> bool {
                a & b
            }
            #[inline]
            fn or(&mut self, a: bool, b: bool) -> bool {
                a | b
            }
            #[inline]
            fn not(&mut self, a: bool) -> bool {
                !a
            }
            #[inline]
            fn select(&mut self, condition: bool, a: $float, b: $float) -> $float {
                if condition { a } else { b }
            }
            #[inline]
            fn bits(&mut self, a: $float) -> $bits {
                a.to_bits().cast_signed()
            }
            #[inline]
            fn of_bits(&mut self, a: $bits) -> $float {
                <$float>::from_bits(a.cast_unsigned())
            }
            #[inline]
            fn int_add(&mut self, a: $bits, b: $bits) -> $bits {
                a.wrapping_add(b)
            }
            #[inline]
            fn int_sub(&mut self, a: $bits, b: $bits) -> $bits {
                a.wrapping_sub(b)
            }
            #[inline]
            fn int_and(&mut self, a: $bits, b: $bits) -> $bits {
                a & b
            }
            #[inline]
            fn int_or(&mut self, a: $bits, b: $bits) -> $bits {
                a | b
            }
            #[inline]
            fn int_xor(&mut self, a: $bits, b: $bits) -> $bits {
                a ^ b
            }
            #[inline]
            fn shl(&mut self, a: $bits, bits: u32) -> $bits {
                a << bits
            }
            #[inline]
            fn shr(&mut self, a: $bits, bits: u32) -> $bits {
                (a.cast_unsigned() >> bits).cast_signed()
            }

            #[inline]
            fn rarely<const N: usize>(
                &mut self,
                needed: bool,
                usual: [$float; N],
                rare: impl FnOnce(&mut Self) -> [$float; N],
            ) -> [$float; N] {
                if needed { rare(self) } else { usual }
            }
        }
    };
}

plain!(f32, i32);
plain!(f64, i64);
