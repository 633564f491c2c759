//! The category of nested tuples: morphisms between their flattenings that remember the nesting.

use std::fmt;

use super::TupleMorphism;
use super::refine::{mutual_refinement, relative_modes};
use super::tuple::{
    check, check_complementable, compose_maps, concat_maps, missed, not_composable, other_codomain, realise, strides,
    write_morphism,
};
use crate::cute::{Layout, Mode};
use crate::error::{Error, Result};
use crate::nested::Nested;

/// A nested tuple morphism.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestMorphism {
    domain: Nested<i64>,
    codomain: Nested<i64>,
    map: Vec<usize>,
}

impl NestMorphism {
    /// For every entry of the domain, from left to right, its target in the codomain from 1, or 0 for none. Targets are entries of the same size, each of one entry at most.
    pub fn new(domain: Nested<i64>, codomain: Nested<i64>, map: Vec<usize>) -> Result<NestMorphism> {
        check(&domain.entries(), &codomain.entries(), &map)?;
        Ok(NestMorphism { domain, codomain, map })
    }

    /// The morphism from a tuple to itself that moves nothing.
    pub fn identity(tuple: &Nested<i64>) -> Result<NestMorphism> {
        NestMorphism::new(tuple.clone(), tuple.clone(), (1..=tuple.len()).collect())
    }

    /// Where it starts.
    pub fn domain(&self) -> &Nested<i64> {
        &self.domain
    }

    /// Where it ends.
    pub fn codomain(&self) -> &Nested<i64> {
        &self.codomain
    }

    /// For every entry of the domain its target from 1, or 0.
    pub fn map(&self) -> &[usize] {
        &self.map
    }

    /// The morphism between the flattenings.
    pub fn flatten(&self) -> TupleMorphism {
        TupleMorphism { domain: self.domain.entries(), codomain: self.codomain.entries(), map: self.map.clone() }
    }

    /// `then ∘ self`; the nested tuples between them must be equal, nesting included.
    pub fn compose(&self, then: &NestMorphism) -> Result<NestMorphism> {
        if self.codomain != then.domain {
            return Err(not_composable(&self.codomain, &then.domain));
        }
        Ok(NestMorphism {
            domain: self.domain.clone(),
            codomain: then.codomain.clone(),
            map: compose_maps(&self.map, &then.map),
        })
    }

    /// Both into the same codomain, as the two modes of the domain.
    pub fn concat(&self, other: &NestMorphism) -> Result<NestMorphism> {
        if self.codomain != other.codomain {
            return Err(other_codomain(&self.codomain, &other.codomain));
        }
        Ok(NestMorphism {
            domain: Nested::Tuple(vec![self.domain.clone(), other.domain.clone()]),
            codomain: self.codomain.clone(),
            map: concat_maps(&self.map, &other.map, self.codomain.len())?,
        })
    }

    /// The coalesced flattening; a single entry is a leaf, and none is the leaf 1.
    pub fn coalesce(&self) -> Result<NestMorphism> {
        let flat = self.flatten().coalesce()?;
        let codomain = Nested::flat(&flat.codomain);
        Ok(match flat.domain[..] {
            [] => NestMorphism { domain: Nested::Leaf(1), codomain, map: vec![0] },
            [entry] => NestMorphism { domain: Nested::Leaf(entry), codomain, map: flat.map },
            _ => NestMorphism { domain: Nested::flat(&flat.domain), codomain, map: flat.map },
        })
    }

    /// The inclusion of the entries of the codomain that are not hit, as a flat tuple.
    pub fn complement(&self) -> Result<NestMorphism> {
        check_complementable(&self.map)?;
        let map = missed(&self.map, self.codomain.len());
        let entries = self.codomain.entries();
        let domain = map.iter().map(|&position| Nested::Leaf(entries[position - 1])).collect();
        Ok(NestMorphism { domain: Nested::Tuple(domain), codomain: self.codomain.clone(), map })
    }

    /// Whether every entry has a target, so that there is a complement.
    pub fn is_complementable(&self) -> bool {
        !self.map.contains(&0)
    }

    /// `(tile, rest)`: this morphism seen through `tile` and its complement.
    pub fn logical_divide(&self, tile: &NestMorphism) -> Result<NestMorphism> {
        tile.concat(&tile.complement()?)?.compose(self)
    }

    /// `(self, copies)`, the copies placed in the complement.
    pub fn logical_product(&self, copies: &NestMorphism) -> Result<NestMorphism> {
        self.concat(&copies.compose(&self.complement()?)?)
    }

    /// The same morphism with a refined codomain, and the domain refined where it is sent there.
    pub fn pullback(&self, refinement: &Nested<i64>) -> Result<NestMorphism> {
        let modes = relative_modes(refinement, &self.codomain)?;
        let offsets = offsets(&modes);
        let mut map = Vec::new();
        let mut targets = self.map.iter();
        let domain = self.domain.try_graft(&mut |&entry| {
            let target = next(&mut targets)?;
            Ok(if target == 0 {
                map.push(0);
                Nested::Leaf(entry)
            } else {
                let mode = modes[target - 1];
                map.extend((1..=mode.len()).map(|k| offsets[target - 1] + k));
                mode.clone()
            })
        })?;
        NestMorphism::new(domain, refinement.clone(), map)
    }

    /// The same morphism with a refined domain, and the codomain refined where it is hit.
    pub fn pushforward(&self, refinement: &Nested<i64>) -> Result<NestMorphism> {
        let modes = relative_modes(refinement, &self.domain)?;
        let mut source = vec![None; self.codomain.len()];
        for (i, &target) in self.map.iter().enumerate().filter(|&(_, &target)| target != 0) {
            source[target - 1] = Some(i);
        }
        let mut sources = source.iter();
        let mut lengths = Vec::with_capacity(source.len());
        let codomain = self.codomain.try_graft(&mut |&entry| {
            let tree = sources.next().copied().flatten().map_or(Nested::Leaf(entry), |i| modes[i].clone());
            lengths.push(tree.len());
            Ok(tree)
        })?;
        let mut map = Vec::with_capacity(refinement.len());
        for (mode, &target) in modes.iter().zip(&self.map) {
            let offset = lengths.iter().take(target.saturating_sub(1)).sum::<usize>();
            map.extend((1..=mode.len()).map(|k| if target == 0 { 0 } else { offset + k }));
        }
        NestMorphism::new(refinement.clone(), codomain, map)
    }

    /// Composition up to refinement: pull back along a mutual refinement, include, push forward.
    pub fn weak_composite(&self, then: &NestMorphism) -> Result<NestMorphism> {
        let (coarse, fine) = mutual_refinement(&self.codomain, &then.domain)?;
        let inclusion = NestMorphism::new(coarse.clone(), fine.clone(), (1..=coarse.len()).collect())?;
        self.pullback(&coarse)?.compose(&inclusion)?.compose(&then.pushforward(&fine)?)
    }

    /// The layout that encodes this morphism, with the nesting of the domain.
    pub fn layout(&self) -> Result<Layout> {
        let strides = strides(&self.codomain.entries(), &self.map)?;
        let mut strides = strides.into_iter();
        Layout::from_modes(self.domain.map(&mut |&shape| Mode { shape, stride: strides.next().unwrap_or(0) }))
    }

    /// The morphism as a function between the index ranges of domain and codomain.
    pub fn realise(&self, index: i64) -> Result<i64> {
        realise(&self.domain.entries(), &self.codomain.entries(), &self.map, index)
    }
}

fn next<'a>(targets: &mut impl Iterator<Item = &'a usize>) -> Result<usize> {
    targets.next().copied().ok_or_else(|| Error::inadmissible("pullback", "the map is shorter than the domain"))
}

/// How many leaves lie before each of the trees.
fn offsets(modes: &[&Nested<i64>]) -> Vec<usize> {
    let mut before = 0;
    modes
        .iter()
        .map(|mode| {
            let offset = before;
            before += mode.len();
            offset
        })
        .collect()
}

impl fmt::Display for NestMorphism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_morphism(f, &self.domain, &self.map, &self.codomain)
    }
}
