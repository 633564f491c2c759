//! Squeezing and coalescing tuple morphisms: fewer entries for the same layout function.

use super::TupleMorphism;
use crate::error::{Error, Result};

/// What happens to neighbours in the codomain that are not hit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missed {
    Keep,
    Join,
}

impl TupleMorphism {
    /// Without entries of size 1.
    pub fn squeeze(&self) -> TupleMorphism {
        let mut position = 0;
        let renumbered = self.codomain.iter().map(|&entry| {
            position += usize::from(entry != 1);
            position
        });
        let renumbered = renumbered.collect::<Vec<_>>();
        let kept = self.domain.iter().zip(&self.map).filter(|&(&entry, _)| entry != 1);
        let (domain, map) =
            kept.map(|(&entry, &target)| (entry, if target == 0 { 0 } else { renumbered[target - 1] })).unzip();
        TupleMorphism { domain, codomain: self.codomain.iter().copied().filter(|&entry| entry != 1).collect(), map }
    }

    /// Squeezes, and joins neighbours of the domain that stay neighbours, with their targets.
    pub fn coalesce(&self) -> Result<TupleMorphism> {
        self.coalesce_with(Missed::Keep)
    }

    /// Coalesces, and also joins neighbours of the codomain that are not hit.
    pub fn strong_coalesce(&self) -> Result<TupleMorphism> {
        self.coalesce_with(Missed::Join)
    }

    fn coalesce_with(&self, missed: Missed) -> Result<TupleMorphism> {
        let squeezed = self.squeeze();
        let map = &squeezed.map;
        let hit = squeezed.hit();
        // Entry j of the codomain (from 0) continues entry j-1 if their sources are neighbours in the domain.
        let mut runs_on = vec![false; squeezed.codomain.len()];
        for pair in map.windows(2).filter(|pair| pair[0] != 0 && pair[1] == pair[0] + 1) {
            runs_on[pair[0]] = true;
        }
        let joins = |j: usize| runs_on[j] || (missed == Missed::Join && !hit[j] && !hit[j - 1]);

        let mut codomain: Vec<i64> = Vec::with_capacity(squeezed.codomain.len());
        let mut class = Vec::with_capacity(squeezed.codomain.len());
        for (j, &entry) in squeezed.codomain.iter().enumerate() {
            append(&mut codomain, entry, j > 0 && joins(j))?;
            class.push(codomain.len());
        }
        let (mut domain, mut targets) = (Vec::with_capacity(map.len()), Vec::with_capacity(map.len()));
        for (i, &entry) in squeezed.domain.iter().enumerate() {
            let joined = i > 0
                && match (map[i - 1], map[i]) {
                    (0, 0) => true,
                    (previous, target) => previous != 0 && target == previous + 1,
                };
            append(&mut domain, entry, joined)?;
            if !joined {
                targets.push(if map[i] == 0 { 0 } else { class[map[i] - 1] });
            }
        }
        Ok(TupleMorphism { domain, codomain, map: targets })
    }
}

/// Multiplies the last entry or appends a new one.
fn append(tuple: &mut Vec<i64>, entry: i64, join: bool) -> Result<()> {
    match tuple.last_mut() {
        Some(last) if join => {
            *last = last.checked_mul(entry).ok_or(Error::Overflow { operation: "coalesce" })?;
        }
        _ => tuple.push(entry),
    }
    Ok(())
}
