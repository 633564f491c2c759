//! Refinement of nested tuples: a leaf may become a tuple with the same product.

use crate::error::{Error, Result};
use crate::nested::Nested;

const REFINEMENT: &str = "refinement";

/// For every leaf of `coarse` the subtree of `fine` in its place.
pub fn relative_modes<'a>(fine: &'a Nested<i64>, coarse: &Nested<i64>) -> Result<Vec<&'a Nested<i64>>> {
    let mut modes = Vec::with_capacity(coarse.len());
    collect(fine, coarse, &mut modes)?;
    Ok(modes)
}

fn collect<'a>(fine: &'a Nested<i64>, coarse: &Nested<i64>, modes: &mut Vec<&'a Nested<i64>>) -> Result<()> {
    match (fine, coarse) {
        (fine, Nested::Leaf(size)) if fine.product(REFINEMENT)? == *size => modes.push(fine),
        (Nested::Tuple(fine), Nested::Tuple(coarse)) if fine.len() == coarse.len() => {
            for (fine, coarse) in fine.iter().zip(coarse) {
                collect(fine, coarse, modes)?;
            }
        }
        _ => return Err(Error::profile(REFINEMENT, format!("{fine} does not refine {coarse}"))),
    }
    Ok(())
}

/// Whether `fine` is `coarse` with some leaves taken apart.
pub fn refines(fine: &Nested<i64>, coarse: &Nested<i64>) -> bool {
    relative_modes(fine, coarse).is_ok()
}

/// Refinements of both tuples such that the first, flattened, begins the second.
///
/// Walks both flattenings and splits the larger of two entries by the smaller.
pub fn mutual_refinement(first: &Nested<i64>, second: &Nested<i64>) -> Result<(Nested<i64>, Nested<i64>)> {
    const MUTUAL: &str = "mutual refinement";
    if let Some(entry) = first.leaves().into_iter().chain(second.leaves()).find(|&&entry| entry < 1) {
        return Err(Error::inadmissible(MUTUAL, format!("the entry {entry} is not positive")));
    }
    let (mut left, mut right) = (Parts::new(first), Parts::new(second));
    while let (Some(a), Some(b)) = (left.rest(), right.rest()) {
        let (larger, part) = (a.max(b), a.min(b));
        if larger % part != 0 {
            return Err(Error::NotDivisible {
                operation: MUTUAL,
                dividend: larger,
                divisor: part,
                why: "what is left of two entries that stand opposite each other",
            });
        }
        left.take(part, a == part);
        right.take(part, b == part);
    }
    if left.rest().is_some() {
        return Err(Error::inadmissible(MUTUAL, format!("{first} is longer than {second}")));
    }
    while let Some(rest) = right.rest() {
        right.take(rest, true);
    }
    match (first.regraft(left.done), second.regraft(right.done)) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => Err(Error::inadmissible(MUTUAL, "the parts do not fit the tuples")),
    }
}

/// The entries of a tuple as they are split into parts.
struct Parts {
    entries: std::vec::IntoIter<i64>,
    rest: Option<i64>,
    parts: Vec<i64>,
    done: Vec<Nested<i64>>,
}

impl Parts {
    fn new(tuple: &Nested<i64>) -> Parts {
        let mut entries = tuple.entries().into_iter();
        let rest = entries.next();
        Parts { entries, rest, parts: Vec::new(), done: Vec::new() }
    }

    /// What is left of the entry at hand.
    fn rest(&self) -> Option<i64> {
        self.rest
    }

    fn take(&mut self, part: i64, whole: bool) {
        self.parts.push(part);
        if whole {
            let parts = std::mem::take(&mut self.parts);
            self.done.push(match parts[..] {
                [part] => Nested::Leaf(part),
                _ => Nested::flat(&parts),
            });
            self.rest = self.entries.next();
        } else {
            self.rest = self.rest.map(|rest| rest / part);
        }
    }
}

impl Nested<i64> {
    /// This nesting with trees for its leaves.
    fn regraft(&self, trees: Vec<Nested<i64>>) -> Option<Nested<i64>> {
        let mut trees = trees.into_iter();
        self.try_graft(&mut |_| trees.next().ok_or(Error::Overflow { operation: REFINEMENT })).ok()
    }
}
