//! Swizzles: permutations of indices that xor some of their bits with others.

use std::fmt;

use super::Layout;
use crate::error::{Error, Result, add};

/// `x ^ ((x & mask) >> shift)`, where the mask is `bits` ones above `base` (and above `shift` if that is positive).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

const SWIZZLE: &str = "swizzle";

impl Swizzle {
    /// Source and target bits must not meet: `|shift| ≥ bits`, and a shift by 0 moves nothing anywhere.
    pub fn new(bits: i64, base: i64, shift: i64) -> Result<Swizzle> {
        let wrong = |message: String| Err(Error::inadmissible(SWIZZLE, message));
        let (Ok(bits), Ok(base), Ok(shift)) = (u32::try_from(bits), u32::try_from(base), i32::try_from(shift)) else {
            return wrong(format!("({bits},{base},{shift}) needs bits and base that are not negative"));
        };
        if shift == 0 {
            return wrong("a shift of 0 would xor bits with themselves".to_owned());
        }
        if shift.unsigned_abs() < bits {
            return wrong(format!("a shift of {shift} is less than the {bits} bits that are moved"));
        }
        if u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs()) > 62 {
            return Err(Error::Overflow { operation: SWIZZLE });
        }
        Ok(Swizzle { bits, base, shift })
    }

    /// How many bits are xored.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// How many of the lowest bits stay out of it.
    pub fn base(self) -> u32 {
        self.base
    }

    /// How far apart the bits that are read lie from those that change; they lie above them if it is positive.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// One more than the highest bit that is read or changed.
    pub fn width(self) -> u32 {
        self.base + self.bits + self.shift.unsigned_abs()
    }

    /// Where an index goes; applied twice, it is where it was.
    pub fn apply(self, x: i64) -> i64 {
        let lowest = self.base + u32::try_from(self.shift.max(0)).unwrap_or(0);
        let source = x & (((1i64 << self.bits) - 1) << lowest);
        if self.shift > 0 { x ^ (source >> self.shift) } else { x ^ (source << self.shift.unsigned_abs()) }
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

/// A swizzle after an offset after a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedLayout {
    /// What comes last.
    pub swizzle: Swizzle,
    /// What is added to the offset of the layout.
    pub offset: i64,
    /// What comes first.
    pub layout: Layout,
}

impl ComposedLayout {
    /// The offset of a linear index.
    pub fn at(&self, index: i64) -> Result<i64> {
        let value = add(SWIZZLE, self.offset, self.layout.at(index)?)?;
        if value < 0 {
            return Err(Error::inadmissible(SWIZZLE, format!("the index {value} is negative")));
        }
        Ok(self.swizzle.apply(value))
    }

    /// The same swizzle and offset after a part of the layout.
    pub fn composition(&self, inner: &Layout) -> Result<ComposedLayout> {
        Ok(ComposedLayout { layout: self.layout.composition(inner)?, ..self.clone() })
    }
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o {}", self.swizzle, self.offset, self.layout)
    }
}
