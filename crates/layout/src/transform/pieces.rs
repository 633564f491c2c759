//! Products and quotients of two expressions, piece by piece.
//!
//! isl knows no product of two variables and no division by one. But an outer split of N by a literal f has only f
//! values of its outer index, and so has a merge of f rows of any length: where a factor or a quotient is known to take
//! few values, one affine piece for each of them will do.

use isl::{PwAff, Set};

use super::Expr;
use super::to_isl::Frame;
use crate::error::Result;

/// No more pieces than this; isl takes its time with many.
const MAX_PIECES: i64 = 256;

impl Frame {
    /// A number r of at most [`MAX_PIECES`] with `0 <= value < r * unit` on the base, if there is one.
    fn pieces(&self, value: &PwAff, unit: &PwAff) -> Result<Option<i64>> {
        if !self.base.is_subset(&value.clone().nonneg_set()?)? {
            return Ok(None);
        }
        let mut count = 1;
        while count <= MAX_PIECES {
            if self.base.is_subset(&value.clone().lt_set(self.scaled(unit, count)?)?)? {
                return Ok(Some(count));
            }
            count *= 2;
        }
        Ok(None)
    }

    /// The product, if one of the factors takes few values on the base.
    pub(super) fn product(&self, a: &PwAff, b: &PwAff) -> Result<Option<PwAff>> {
        let one = self.build(&Expr::Const(1))?;
        for (few, other) in [(a, b), (b, a)] {
            if let Some(count) = self.pieces(few, &one)? {
                let piece = |k: i64| {
                    let here = few.clone().eq_set(self.build(&Expr::Const(k))?)?;
                    Ok((here, self.scaled(other, k)?))
                };
                return self.join(count, piece).map(Some);
            }
        }
        Ok(None)
    }

    /// The floor of the quotient, if it takes few values on the base.
    pub(super) fn quotient(&self, a: &PwAff, b: &PwAff) -> Result<Option<PwAff>> {
        let Some(count) = self.pieces(a, b)? else { return Ok(None) };
        self.join(count, |k| Ok((self.row(a, b, k)?, self.build(&Expr::Const(k))?))).map(Some)
    }

    /// The remainder of that quotient.
    pub(super) fn remainder(&self, a: &PwAff, b: &PwAff) -> Result<Option<PwAff>> {
        let Some(count) = self.pieces(a, b)? else { return Ok(None) };
        self.join(count, |k| Ok((self.row(a, b, k)?, a.clone().add(self.scaled(b, -k)?)?))).map(Some)
    }

    /// Where `k * b <= a < (k + 1) * b`.
    fn row(&self, a: &PwAff, b: &PwAff, k: i64) -> Result<Set> {
        let from = self.scaled(b, k)?.le_set(a.clone())?;
        Ok(from.intersect(a.clone().lt_set(self.scaled(b, k + 1)?)?)?)
    }

    fn join(&self, count: i64, piece: impl Fn(i64) -> Result<(Set, PwAff)>) -> Result<PwAff> {
        let cut = |k: i64| -> Result<PwAff> {
            let (here, value) = piece(k)?;
            Ok(value.intersect_domain(here.intersect(self.base.clone())?)?)
        };
        let mut whole = cut(0)?;
        for k in 1..count {
            whole = whole.union_add(cut(k)?)?;
        }
        Ok(whole)
    }

    fn scaled(&self, value: &PwAff, factor: i64) -> Result<PwAff> {
        Ok(value.clone().scale_val(self.value(factor)?)?)
    }
}
