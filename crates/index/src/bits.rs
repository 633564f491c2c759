//! Exclusive ors that are written with quotients: `c0 + c1 - 2 * floor((c0 + c1) / 2)` and its sisters for higher bits.
//!
//! In: an index expression in which places of an array are exclusive-or-ed, as affine expressions have to say it.  Out: an equal one with
//! `xor`, which is one instruction.
//! Bit `b` of `x xor y` is the parity of `X + Y` for `X = floor(x / 2^b)` and `Y = floor(y / 2^b)`, that is `X + Y - 2 * floor((X + Y) / 2)`.
//! So `-2^(b+1) * floor((X + Y) / 2)` is that bit in its place, less `2^b * (X + Y)`; what is taken away is usually there, and vanishes.

use std::collections::{BTreeMap, BTreeSet};

use crate::linear::{Linear, linear};
use crate::tree::Index;

/// Places have fewer bits than this.
const MOST_BITS: u32 = 40;

/// A place has few exclusive ors; what they leave behind is not looked at without end.
const MOST_PAIRS: usize = 8;

/// Two operands, and what the exclusive or of some of their bits is multiplied by.
type Pair = (Index, Index, i64);

/// The expression with `xor` where its sum has the quotients of one.
pub fn gather_bits(index: &Index) -> Index {
    let Some(mut sum) = linear(index) else { return index.clone() };
    let mut changed = false;
    for _ in 0..MOST_PAIRS {
        let Some(next) = gather_one(&sum) else { break };
        (sum, changed) = (next, true);
    }
    if changed { sum.build() } else { index.clone() }
}

/// The sum with the longest run of bits as one exclusive or.
fn gather_one(sum: &Linear) -> Option<Linear> {
    let mut found: BTreeMap<Pair, BTreeMap<u32, Index>> = BTreeMap::new();
    for (atom, coefficient) in sum.atoms() {
        for (pair, bit) in readings(atom, coefficient) {
            found.entry(pair).or_default().insert(bit, atom.clone());
        }
    }
    let run = |bits: &BTreeMap<u32, Index>| {
        let first = bits.keys().next().copied().unwrap_or(0);
        (first, (first..).take_while(|bit| bits.contains_key(bit)).count())
    };
    // Of equally long runs, that of whole operands: the lowest bits are among theirs.
    let ((x, y, by), bits) =
        found.into_iter().max_by_key(|(pair, bits)| (run(bits).1, std::cmp::Reverse(pair.clone())))?;
    let (mut low, width) = run(&bits);
    let high = low + u32::try_from(width).ok()?;
    let quotient = |of: &Index, bit: u32| linear(&Index::FloorDiv(Box::new(of.clone()), 1i64.checked_shl(bit)?));
    let carry = |bit: u32| {
        let both = quotient(&x, bit)?.add_scaled(&quotient(&y, bit)?, 1)?;
        linear(&Index::FloorDiv(Box::new(both.build()), 2))
    };
    // A lower bit of operands that are sums themselves does not tell them apart, but it is known what it has to be.
    while let Some(bit) = low.checked_sub(1) {
        let wanted = by.checked_mul(1i64.checked_shl(low)?)?.checked_neg()?;
        let carry = carry(bit)?;
        let halves = carry.atoms().find(|(atom, _)| matches!(atom, Index::FloorDiv(_, 2)));
        if !halves.is_some_and(|(half, _)| sum.atoms().any(|(atom, times)| atom == half && times == wanted)) {
            break;
        }
        low = bit;
    }
    let mut rest = sum.clone();
    for bit in low..high {
        let power = by.checked_mul(1i64.checked_shl(bit)?)?;
        rest = rest.add_scaled(&carry(bit)?, power.checked_mul(2)?)?;
        rest = rest.add_scaled(&quotient(&x, bit)?, -power)?.add_scaled(&quotient(&y, bit)?, -power)?;
    }
    // What stands above the bits of one operand goes through the exclusive or as it is.
    let weight = by.checked_mul(1i64.checked_shl(low)?)?;
    let above = weight.checked_mul(1i64.checked_shl(high - low)?)?;
    let cut = |of: &Index| Some(quotient(of, low)?.build());
    let below = |of: Index| Index::Mod(Box::new(of), 1i64 << (high - low));
    for (one, other) in [(&x, &y), (&y, &x)] {
        let top = quotient(one, high)?;
        let without = rest.clone().add_scaled(&top, above.checked_neg()?)?;
        if top.as_constant().is_none() && without.atoms().count() < rest.atoms().count() {
            let changed = Index::Xor(Box::new(cut(one)?), Box::new(below(cut(other)?)));
            return without.add_scaled(&linear(&changed)?, weight);
        }
    }
    let changed = below(Index::Xor(Box::new(cut(&x)?), Box::new(cut(&y)?)));
    rest.add_scaled(&linear(&changed)?, weight)
}

/// What a term of a sum can be: a bit of two operands, less both.
fn readings(atom: &Index, coefficient: i64) -> BTreeSet<(Pair, u32)> {
    let mut all = BTreeSet::new();
    let Index::FloorDiv(inner, 2) = atom else { return all };
    let Some(inner) = linear(inner) else { return all };
    let parts: Vec<(&Index, i64)> = inner.atoms().collect();
    let ([(x, 1), (y, 1)], true) = (parts.as_slice(), inner.is_without_constant()) else { return all };
    for bit in 0..MOST_BITS {
        let (Some(x), Some(y)) = (operand(x, bit), operand(y, bit)) else { break };
        let Some(negated) = coefficient.checked_neg() else { break };
        if negated % (1i64 << (bit + 1)) != 0 {
            break;
        }
        all.insert(((x, y, negated >> (bit + 1)), bit));
    }
    all
}

/// What `index` is the quotient of by two to the `bit`.
fn operand(index: &Index, bit: u32) -> Option<Index> {
    match index {
        _ if bit == 0 => Some(index.clone()),
        Index::FloorDiv(of, divisor) if divisor % (1i64 << bit) == 0 => match divisor >> bit {
            1 => Some((**of).clone()),
            divisor => Some(Index::FloorDiv(of.clone(), divisor)),
        },
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::VarId;

    fn var(number: u32) -> Index {
        Index::Var(VarId(number))
    }

    fn floor(of: Index, by: i64) -> Index {
        Index::FloorDiv(Box::new(of), by)
    }

    fn plus(a: Index, b: Index) -> Index {
        Index::Add(Box::new(a), Box::new(b))
    }

    /// `a` with some bits changed by those of `b`, as affine expressions say it.
    fn affine_xor(a: &Index, b: &Index, bits: std::ops::Range<u32>) -> Index {
        let parity = |of: Index| Index::Sub(Box::new(of.clone()), Box::new(Index::Mul(Box::new(floor(of, 2)), 2)));
        bits.fold(a.clone(), |sum, bit| {
            let (x, y) = (parity(floor(a.clone(), 1 << bit)), parity(floor(b.clone(), 1 << bit)));
            let differs = parity(plus(x.clone(), y));
            let sum = plus(sum, Index::Mul(Box::new(differs), 1 << bit));
            Index::Sub(Box::new(sum), Box::new(Index::Mul(Box::new(x), 1 << bit)))
        })
    }

    fn same_everywhere(before: &Index, after: &Index) {
        for a in -20..70 {
            for b in -20..70 {
                assert_eq!(before.value(&[], &[a, b]), after.value(&[], &[a, b]), "at {a}, {b}: {after:?}");
            }
        }
    }

    #[test]
    fn three_bits_are_one_exclusive_or() {
        let before = affine_xor(&var(0), &var(1), 0..3);
        let after = gather_bits(&before);
        assert_eq!(after, Index::Xor(Box::new(var(0)), Box::new(Index::Mod(Box::new(var(1)), 8))));
        same_everywhere(&before, &after);
    }

    #[test]
    fn values_stay_for_bits_in_the_middle_shifted_operands_and_multiples() {
        let shifted = plus(var(0), Index::Const(3));
        let sum = plus(var(1), floor(var(0), 8));
        let operands = [
            (var(0), var(1)),
            (var(0), floor(var(0), 8)),
            (shifted, var(1)),
            (floor(var(0), 2), var(1)),
            (var(0), sum.clone()),
        ];
        let whole = gather_bits(&affine_xor(&var(0), &sum, 0..3));
        assert_eq!(whole, Index::Xor(Box::new(var(0)), Box::new(Index::Mod(Box::new(sum), 8))));
        for (a, b) in operands {
            for bits in [0..1, 0..2, 1..3, 2..6, 0..5] {
                let before = affine_xor(&a, &b, bits);
                let scaled = plus(Index::Mul(Box::new(before.clone()), -12), var(1));
                same_everywhere(&before, &gather_bits(&before));
                same_everywhere(&scaled, &gather_bits(&scaled));
            }
        }
    }

    #[test]
    fn other_sums_stay_as_they_are() {
        for other in [floor(plus(var(0), var(1)), 2), plus(var(0), floor(var(1), 4)), floor(plus(var(0), var(1)), 4)] {
            assert_eq!(gather_bits(&other), other);
        }
        assert!(linear(&var(0)).unwrap().is_without_constant());
    }
}
