//! Multiply-adds are rounded once on every tier, those without an instruction for it included: the bits of `mul_add`, on numbers
//! that are chosen to be hard.
//!
//! `FARKAS_FMA_COUNT` tries more of them.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_cpu::{Options, Tier};
use program::Data;

mod run;
use run::{buffers, compiled_with, verified};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Bits of which long runs are equal, so that sums come close to the middle of two floats.
    fn runs(&mut self, bits: u32) -> u64 {
        let all = (1_u64 << bits) - 1;
        let (one, other) = (self.below(u64::from(bits)), self.below(u64::from(bits)));
        let pattern = match self.below(6) {
            0 => self.next(),
            1 => 1 << one,
            2 => (1 << one) | (1 << other),
            3 => all << one,
            4 => all >> other,
            _ => (all << one) ^ (1 << other),
        };
        pattern & all
    }
}

/// What the test has to know of a format.
trait Float: Copy {
    fn made(random: &mut Random) -> Self;
    fn special(random: &mut Random) -> Self;
    fn fused(self, y: Self, z: Self) -> Self;
    /// Near what cancels the product.
    fn against(self, y: Self, random: &mut Random) -> Self;
    /// The bits; all NaN are one.
    fn word(self) -> u64;
}

macro_rules! float {
    ($float:ty, $bits:ty, $mantissa:expr, $exponent:expr) => {
        impl Float for $float {
            fn made(random: &mut Random) -> $float {
                let bias = (1_u64 << ($exponent - 1)) - 1;
                let exponent = match random.below(8) {
                    0 => random.below(1 << $exponent),
                    1 => random.below(4),
                    2 => bias / 2 + random.below(8),
                    _ => bias + random.below(64) - 32,
                };
                let sign = random.below(2) << ($exponent + $mantissa);
                let bits = sign | (exponent << $mantissa) | random.runs($mantissa);
                <$float>::from_bits(bits as $bits)
            }

            fn special(random: &mut Random) -> $float {
                let all =
                    [0.0, -0.0, 1.0, <$float>::INFINITY, <$float>::NEG_INFINITY, <$float>::NAN, <$float>::MAX, 1e-30];
                all[random.below(all.len() as u64) as usize]
            }

            fn fused(self, y: $float, z: $float) -> $float {
                self.mul_add(y, z)
            }

            fn against(self, y: $float, random: &mut Random) -> $float {
                let product = -(self * y);
                let off = match random.below(4) {
                    0 => 0,
                    1 => random.below(5) as i64 - 2,
                    // As much smaller or larger as a mantissa is long, and a bit more.
                    _ => (random.below(2 * $mantissa + 6) as i64 - $mantissa - 3) << $mantissa,
                };
                let near = product.to_bits().wrapping_add(off as $bits);
                let flipped = (random.below(2) as $bits) << ($exponent + $mantissa);
                <$float>::from_bits(near ^ flipped)
            }

            fn word(self) -> u64 {
                if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) }
            }
        }
    };
}

float!(f32, u32, 23, 8);
float!(f64, u64, 52, 11);

fn operands<T: Float>(random: &mut Random) -> [T; 3] {
    let number = |random: &mut Random| if random.below(40) == 0 { T::special(random) } else { T::made(random) };
    let (x, y) = (number(random), number(random));
    let z = if random.below(4) == 0 { number(random) } else { x.against(y, random) };
    [x, y, z]
}

fn check<T: Float>(ty: &str, data: fn(Vec<T>) -> Data, back: fn(&Data) -> Vec<T>) {
    let count = std::env::var("FARKAS_FMA_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000_000);
    let mut random = Random(count as u64);
    let cases: Vec<[T; 3]> = (0..count).map(|_| operands(&mut random)).collect();
    let column = |at: usize| cases.iter().map(|case| case[at]).collect::<Vec<T>>();
    let expected: Vec<T> = cases.iter().map(|[x, y, z]| x.fused(*y, *z)).collect();
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        for kind in ["", "vector(8) "] {
            let text = format!(
                "kernel t(N; X: in {ty}[N], Y: in {ty}[N], Z: inout {ty}[N]) {{ {kind}for i in 0..N {{ Z[i] += X[i] * Y[i] }} }}"
            );
            let compiled = compiled_with(&text, &Options { tier: Some(tier), ..Options::default() });
            let mut arrays = [data(column(0)), data(column(1)), data(column(2))];
            let called = compiled.call(&[count as i64], &[], &mut buffers(&verified(&text), &mut arrays));
            called.unwrap_or_else(|error| panic!("{error}"));
            for ((found, expected), [x, y, z]) in back(&arrays[2]).iter().zip(&expected).zip(&cases) {
                let words = [x.word(), y.word(), z.word()];
                assert_eq!(found.word(), expected.word(), "{tier}, {kind}: {ty} with bits {words:x?}");
            }
        }
    }
}

#[test]
fn singles_are_rounded_once() {
    check::<f32>("f32", Data::from, |data| match data {
        Data::F32(values) => values.clone(),
        other => panic!("{other:?}"),
    });
}

#[test]
fn doubles_are_rounded_once() {
    check::<f64>("f64", Data::from, |data| match data {
        Data::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    });
}
