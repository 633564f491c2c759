//! Relations between shapes: congruence, compatibility, division, prefix products.

use super::Layout;
use crate::error::{Error, Result, multiply};
use crate::nested::Nested;

impl Layout {
    /// The same nesting.
    pub fn is_congruent(&self, other: &Layout) -> bool {
        self.modes.is_congruent(&other.modes)
    }

    /// Every coordinate of this layout's shape is also one of the other's: the other only nests further.
    pub fn is_compatible(&self, other: &Layout) -> bool {
        is_compatible(&self.shape(), &other.shape())
    }
}

/// Whether coordinates of the shape `coarse` are coordinates of `fine`.
pub(crate) fn is_compatible(coarse: &Nested<i64>, fine: &Nested<i64>) -> bool {
    match (coarse, fine) {
        (Nested::Leaf(size), fine) => fine.product("compatibility").is_ok_and(|product| product == *size),
        (Nested::Tuple(coarse), Nested::Tuple(fine)) => {
            coarse.len() == fine.len() && coarse.iter().zip(fine).all(|(coarse, fine)| is_compatible(coarse, fine))
        }
        (Nested::Tuple(_), Nested::Leaf(_)) => false,
    }
}

/// Divides a shape from the left: what is left of `a` when its first `b` coordinates become one.
pub fn shape_div(a: &Nested<i64>, b: &Nested<i64>) -> Result<Nested<i64>> {
    match (a, b) {
        (Nested::Tuple(a), Nested::Tuple(b)) => {
            if a.len() != b.len() {
                return Err(Error::profile("shape_div", format!("ranks {} and {} differ", a.len(), b.len())));
            }
            Ok(Nested::Tuple(a.iter().zip(b).map(|(a, b)| shape_div(a, b)).collect::<Result<_>>()?))
        }
        (_, Nested::Leaf(b)) => divide_by(a, &mut b.clone()),
        (Nested::Leaf(_), b) => divide_by(a, &mut b.product("shape_div")?),
    }
}

/// Divides by `rest` and leaves in it what the next entry has to be divided by.
fn divide_by(a: &Nested<i64>, rest: &mut i64) -> Result<Nested<i64>> {
    match a {
        Nested::Leaf(a) => {
            let quotient = divide(*a, *rest)?;
            *rest = divide(*rest, *a)?;
            Ok(Nested::Leaf(quotient))
        }
        Nested::Tuple(modes) => {
            let whole = a.product("shape_div")?;
            let mut inner = *rest;
            let divided = modes.iter().map(|mode| divide_by(mode, &mut inner)).collect::<Result<_>>()?;
            *rest = divide(*rest, whole)?;
            Ok(Nested::Tuple(divided))
        }
    }
}

fn divide(a: i64, b: i64) -> Result<i64> {
    if a <= 0 || b <= 0 {
        return Err(Error::inadmissible("shape_div", format!("{} is not positive", a.min(b))));
    }
    if a % b != 0 && b % a != 0 {
        return Err(Error::NotDivisible {
            operation: "shape_div",
            dividend: a.max(b),
            divisor: a.min(b),
            why: "one of a shape and its divisor must divide the other",
        });
    }
    Ok(a.div_euclid(b) + i64::from(a % b != 0))
}

/// The strides of the compact layout: the products of all entries further left.
pub fn prefix_product(shape: &Nested<i64>) -> Result<Nested<i64>> {
    let mut product = 1i64;
    let mut overflow = false;
    shape.try_map(&mut |&entry| {
        if overflow {
            return Err(Error::Overflow { operation: "prefix product" });
        }
        let before = product;
        match multiply("prefix product", product, entry) {
            Ok(next) => product = next,
            // The product after the last entry is not needed.
            Err(_) => overflow = true,
        }
        Ok(before)
    })
}
