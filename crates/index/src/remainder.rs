//! Remainders that are written with quotients: `c0 - 4 * floor(c0 / 4)` is `c0 mod 4`.
//!
//! In: an index expression, as affine expressions have to say it.  Out: an equal one with `mod`, wherever it is shorter so.
//! Not here: `linear`, which keeps the remainders that it is given; sums and quotients are what can be added up and decided.

use crate::linear::{Linear, linear};
use crate::tree::Index;

/// The expression with `mod` where its sum has what remains of a quotient.
pub fn gather_remainders(index: &Index) -> Index {
    let Some(mut sum) = linear(index) else { return index.clone() };
    let mut changed = false;
    // Each step leaves fewer terms.
    while let Some(next) = gather_one(&sum) {
        (sum, changed) = (next, true);
    }
    if changed { sum.build() } else { index.clone() }
}

fn gather_one(sum: &Linear) -> Option<Linear> {
    sum.atoms().find_map(|(atom, coefficient)| {
        let Index::FloorDiv(inner, divisor) = atom else { return None };
        // `floor(c0 / 12)` is the quotient of `c0` by 12, and that of `floor(c0 / 3)` by 4 if this is there.
        let coarser = sum.atoms().filter_map(|(other, _)| match other {
            Index::FloorDiv(same, first) if same == inner && divisor % first == 0 && first < divisor => {
                Some((other.clone(), divisor / first))
            }
            _ => None,
        });
        let whole = std::iter::once(((**inner).clone(), *divisor));
        whole.chain(coarser).find_map(|(of, divisor)| remainder(sum, atom, coefficient, &of, divisor))
    })
}

/// The sum with the remainder of `of`, whose quotient it has `coefficient` times; none if that makes it no shorter.
fn remainder(sum: &Linear, quotient: &Index, coefficient: i64, of: &Index, divisor: i64) -> Option<Linear> {
    if coefficient % divisor != 0 {
        return None;
    }
    let times = (coefficient / divisor).checked_neg()?;
    let rest = sum.clone().add_scaled(&linear(quotient)?, coefficient.checked_neg()?)?;
    let rest = rest.add_scaled(&linear(of)?, times.checked_neg()?)?;
    let shorter = rest.add_scaled(&linear(&Index::Mod(Box::new(of.clone()), divisor))?, times)?;
    let length = |sum: &Linear| sum.atoms().count() + usize::from(!sum.is_without_constant());
    (length(&shorter) < length(sum)).then_some(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VarId, simplify_index};

    fn var(number: u32) -> Index {
        Index::Var(VarId(number))
    }

    fn plus(a: Index, b: Index, times: i64) -> Index {
        Index::Add(Box::new(a), Box::new(Index::Mul(Box::new(b), times)))
    }

    fn floor(of: &Index, by: i64) -> Index {
        Index::FloorDiv(Box::new(of.clone()), by)
    }

    fn modulo(of: Index, by: i64) -> Index {
        Index::Mod(Box::new(of), by)
    }

    fn gathers(before: &Index, after: &Index) {
        assert_eq!(simplify_index(&gather_remainders(before)), simplify_index(after));
        for a in -30..60 {
            for b in -30..60 {
                assert_eq!(before.value(&[], &[a, b]), after.value(&[], &[a, b]), "at {a}, {b}");
            }
        }
    }

    #[test]
    fn what_a_quotient_leaves_is_a_remainder() {
        let (a, sum) = (var(0), plus(var(0), var(1), 1));
        gathers(&plus(a.clone(), floor(&a, 3), -3), &modulo(a.clone(), 3));
        gathers(&plus(sum.clone(), floor(&sum, 4), -4), &modulo(sum, 4));
        let next = plus(a.clone(), Index::Const(1), 1);
        gathers(
            &plus(next.clone(), floor(&next, 2), -2),
            &modulo(Index::Add(Box::new(a), Box::new(Index::Const(1))), 2),
        );
    }

    #[test]
    fn a_digit_in_the_middle_is_the_remainder_of_a_quotient() {
        let digit = plus(floor(&var(0), 3), floor(&var(0), 12), -4);
        gathers(&digit, &modulo(floor(&var(0), 3), 4));
    }

    #[test]
    fn sums_that_would_get_no_shorter_stay() {
        for stays in [plus(var(1), floor(&var(0), 4), -4), plus(var(0), floor(&var(0), 2), 2), floor(&var(0), 5)] {
            gathers(&stays, &stays);
        }
    }
}
