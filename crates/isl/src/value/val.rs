//! Rational numbers of any size.

use std::cmp::Ordering;

use crate::runtime::{Error, Result};

use crate::Context;

object! {
    /// A rational number, ±infinity or NaN, of any size.
    Val, "isl_val_"
}

bind! { Val, "isl_val_";
    fn nan(ctx: &Context) -> Val;
    fn infty(ctx: &Context) -> Val;
    fn neginfty(ctx: &Context) -> Val;
    fn get_num_si(&self) -> i64;
    fn get_den_val(&self) -> Val;
    fn abs(self) -> Val;
    fn neg(self) -> Val;
    fn inv(self) -> Val;
    fn floor(self) -> Val;
    fn ceil(self) -> Val;
    fn trunc(self) -> Val;
    fn min(self, other: Val) -> Val;
    fn max(self, other: Val) -> Val;
    fn add(self, other: Val) -> Val;
    fn sub(self, other: Val) -> Val;
    fn mul(self, other: Val) -> Val;
    fn div(self, other: Val) -> Val;
    fn gcd(self, other: Val) -> Val;
    fn sgn(&self) -> i32;
    fn is_zero(&self) -> bool;
    fn is_one(&self) -> bool;
    fn is_pos(&self) -> bool;
    fn is_neg(&self) -> bool;
    fn is_int(&self) -> bool;
    fn is_rat(&self) -> bool;
    fn is_nan(&self) -> bool;
    fn is_infty(&self) -> bool;
    fn is_neginfty(&self) -> bool;
    fn cmp_si(&self, i: i64) -> i32;
    fn lt(&self, other: &Val) -> bool;
    fn gt(&self, other: &Val) -> bool;
    fn eq(&self, other: &Val) -> bool;
    fn eq_si(&self, i: i64) -> bool;
}

bind! { Val;
    fn int_from_si = "isl_val_int_from_si"(context: &Context, value: i64) -> Val;
}

bind! { trusted Val;
    fn raw_mod = "isl_val_mod"(self, modulus: Val) -> Val;
}

impl Val {
    /// An integer.
    pub fn from_i64(context: &Context, value: i64) -> Result<Val> {
        Val::int_from_si(context, value)
    }

    /// The number as an `i64`, unless it is not an integer or too large.
    pub fn to_i64(&self) -> Result<Option<i64>> {
        if !self.is_int()? {
            return Ok(None);
        }
        match self.get_num_si() {
            Ok(value) => Ok(Some(value)),
            Err(error @ Error::Budget { .. }) => Err(error),
            // isl's only other complaint is that the number does not fit.
            Err(_) => Ok(None),
        }
    }

    /// `isl_val_mod` of the isl manual: the remainder of a division that rounds down. An error for a modulus of zero.
    pub fn modulo(self, modulus: Val) -> Result<Val> {
        if modulus.is_zero()? {
            return Err(Error::invalid("isl_val_mod", "the modulus is zero"));
        }
        self.raw_mod(modulus)
    }

    /// The numerator.
    pub fn get_num_val(&self) -> Result<Val> {
        self.clone().mul(self.get_den_val()?)
    }

    /// The order of two numbers; `None` if one is NaN.
    pub fn compare(&self, other: &Val) -> Result<Option<Ordering>> {
        Ok(if self.lt(other)? {
            Some(Ordering::Less)
        } else if self.gt(other)? {
            Some(Ordering::Greater)
        } else if self.eq(other)? {
            Some(Ordering::Equal)
        } else {
            None
        })
    }
}

bind!(@probe Val, modulo, self, modulus: Val);
