//! Quotients that a loop's range decides: inside `for c1 in 4 * c0..4 * c0 + 4`, `floor(c1 / 4)` is `c0`.
//!
//! In: an index expression and the ranges of the loops around it.  Out: an equal one, without the divisions that are
//! known. Subscripts of tiled arrays are full of them.

use crate::{Index, VarId};
use index::{Linear, extremum_operands, linear};

/// The values of a loop variable: at least each of the first, less than each of the second.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) var: VarId,
    pub(crate) at_least: Vec<Linear>,
    pub(crate) less_than: Vec<Linear>,
}

impl Range {
    /// Where it begins, and how far the last value is from there at most; none if that is not a number.
    pub(crate) fn first_and_width(&self) -> Option<(&Linear, i64)> {
        self.at_least.iter().find_map(|low| {
            let length = |high: &Linear| high.clone().add_scaled(low, -1)?.as_constant();
            let length = self.less_than.iter().filter_map(length).min()?;
            Some((low, length.checked_sub(1)?.max(0)))
        })
    }

    /// Of `for var in lo..hi`.
    pub(crate) fn of(var: VarId, lo: &Index, hi: &Index) -> Range {
        // `min(a, b) + 1` is what isl makes of an inclusive bound.
        let (hi, shift) = match hi {
            Index::Add(bound, by) => match (&**bound, &**by) {
                (Index::Min(..), Index::Const(by)) => (&**bound, *by),
                _ => (hi, 0),
            },
            hi => (hi, 0),
        };
        let bounds = |index: &Index, largest: bool, shift: i64| {
            let operands = extremum_operands(index, largest);
            operands.iter().filter_map(|operand| linear(operand)?.add_scaled(&Linear::constant(shift), 1)).collect()
        };
        Range { var, at_least: bounds(lo, true, 0), less_than: bounds(hi, false, shift) }
    }
}

/// Replaces the divisions that `ranges`, outermost first, decide.
pub(crate) fn decide_quotients(index: Index, ranges: &[Range]) -> Index {
    let go = |index: Box<Index>| Box::new(decide_quotients(*index, ranges));
    match index {
        Index::Const(_) | Index::Param(_) | Index::Var(_) | Index::Select(..) => index,
        Index::Add(a, b) => Index::Add(go(a), go(b)),
        Index::Sub(a, b) => Index::Sub(go(a), go(b)),
        Index::Xor(a, b) => Index::Xor(go(a), go(b)),
        Index::Min(a, b) => Index::Min(go(a), go(b)),
        Index::Max(a, b) => Index::Max(go(a), go(b)),
        Index::Mul(a, factor) => Index::Mul(go(a), factor),
        Index::FloorDiv(a, divisor) => quotient(&a, divisor, ranges).unwrap_or_else(|| Index::FloorDiv(go(a), divisor)),
        Index::Mod(a, divisor) => match quotient(&a, divisor, ranges) {
            Some(quotient) => Index::Sub(a, Box::new(Index::Mul(Box::new(quotient), divisor))),
            None => Index::Mod(go(a), divisor),
        },
    }
}

/// `floor(index / divisor)`, if both ends of the ranges of its variables give the same.
fn quotient(index: &Index, divisor: i64, ranges: &[Range]) -> Option<Index> {
    let value = linear(index)?;
    decided(&value, &value, divisor, ranges).map(|quotient| quotient.build())
}

/// The one quotient of everything from `least` to `most`. The variables are replaced by the ends of their ranges from the
/// innermost on, one at a time, until both ends have a quotient: in tiles of tiles that of the outer one takes two.
fn decided(least: &Linear, most: &Linear, divisor: i64, ranges: &[Range]) -> Option<Linear> {
    if let (Some(low), Some(high)) = (least.clone().exact_floor(divisor), most.clone().exact_floor(divisor))
        && low == high
    {
        return Some(low);
    }
    let moves = |range: &Range| [least, most].iter().any(|end| end.coefficient(range.var).is_some());
    let place = ranges.iter().rposition(moves)?;
    let (range, outer) = (&ranges[place], &ranges[..place]);
    let lows = ends(least, range, false);
    let highs = ends(most, range, true);
    lows.iter().find_map(|low| highs.iter().find_map(|high| decided(low, high, divisor, outer)))
}

/// What a value is at least, or at most, over a variable's range: one bound for each bound of the variable.
fn ends(value: &Linear, range: &Range, largest: bool) -> Vec<Linear> {
    let Some(coefficient) = value.coefficient(range.var) else { return vec![value.clone()] };
    let (bounds, last) = if (coefficient > 0) == largest { (&range.less_than, -1) } else { (&range.at_least, 0) };
    let at = |bound: &Linear| {
        let without = value.clone().add_scaled(&linear(&Index::Var(range.var))?, -coefficient)?;
        without.add_scaled(&bound.clone().add_scaled(&Linear::constant(last), 1)?, coefficient)
    };
    bounds.iter().filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamId;

    fn var(number: u32) -> Index {
        Index::Var(VarId(number))
    }

    /// `for c1 in 4 * c0..min(N - 1, 4 * c0 + last) + 1`
    fn inside(last: i64) -> Range {
        let tile = Index::Mul(Box::new(var(0)), 4);
        let end = Index::Add(Box::new(tile.clone()), Box::new(Index::Const(last)));
        let size = Index::Sub(Box::new(Index::Param(ParamId(0))), Box::new(Index::Const(1)));
        let hi = Index::Add(Box::new(Index::Min(Box::new(size), Box::new(end))), Box::new(Index::Const(1)));
        Range::of(VarId(1), &tile, &hi)
    }

    #[test]
    fn a_tile_decides_the_quotient_by_its_size() {
        let division = Index::FloorDiv(Box::new(var(1)), 4);
        assert_eq!(decide_quotients(division.clone(), &[inside(3)]), var(0));
        assert_eq!(decide_quotients(division.clone(), &[inside(4)]), division, "one value too many");
        assert_eq!(decide_quotients(division.clone(), &[]), division);
    }

    #[test]
    fn tiles_of_tiles_decide_the_quotient_of_the_outer_one() {
        let outer = Index::Mul(Box::new(var(0)), 8);
        let end = |index: &Index, by| Index::Add(Box::new(index.clone()), Box::new(Index::Const(by)));
        let inner = Index::Mul(Box::new(var(1)), 12);
        let ranges =
            |tiles| [Range::of(VarId(1), &outer, &end(&outer, tiles)), Range::of(VarId(2), &inner, &end(&inner, 12))];
        let division = Index::FloorDiv(Box::new(var(2)), 96);
        assert_eq!(decide_quotients(division.clone(), &ranges(8)), var(0));
        assert_eq!(decide_quotients(division.clone(), &ranges(9)), division, "one tile too many");
        let back = Index::FloorDiv(Box::new(Index::Sub(Box::new(Index::Const(95)), Box::new(var(2)))), 96);
        assert_eq!(decide_quotients(back, &ranges(8)), Index::Mul(Box::new(var(0)), -1));
    }

    #[test]
    fn a_remainder_becomes_a_difference() {
        let remainder = Index::Mod(Box::new(var(1)), 4);
        let offset = Index::Sub(Box::new(var(1)), Box::new(Index::Mul(Box::new(var(0)), 4)));
        assert_eq!(decide_quotients(remainder, &[inside(3)]), offset);
    }
}
