//! The category of tuples: morphisms, composition, sums, restriction, complement, division and product.

use std::fmt;

use crate::cute::{Layout, Mode};
use crate::error::{Error, Result, multiply};
use crate::nested::Nested;

/// A tuple morphism.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleMorphism {
    pub(super) domain: Vec<i64>,
    pub(super) codomain: Vec<i64>,
    pub(super) map: Vec<usize>,
}

const MORPHISM: &str = "morphism";

impl TupleMorphism {
    /// For every entry of the domain its target in the codomain from 1, or 0 for none. Targets are entries of the same size, each of one entry at most.
    pub fn new(domain: Vec<i64>, codomain: Vec<i64>, map: Vec<usize>) -> Result<TupleMorphism> {
        check(&domain, &codomain, &map)?;
        Ok(TupleMorphism { domain, codomain, map })
    }

    /// The morphism from a tuple to itself that moves nothing.
    pub fn identity(tuple: &[i64]) -> Result<TupleMorphism> {
        TupleMorphism::new(tuple.to_vec(), tuple.to_vec(), (1..=tuple.len()).collect())
    }

    /// Where it starts.
    pub fn domain(&self) -> &[i64] {
        &self.domain
    }

    /// Where it ends.
    pub fn codomain(&self) -> &[i64] {
        &self.codomain
    }

    /// For every entry of the domain its target from 1, or 0.
    pub fn map(&self) -> &[usize] {
        &self.map
    }

    /// Which entries of the codomain are hit.
    pub(super) fn hit(&self) -> Vec<bool> {
        hit(&self.map, self.codomain.len())
    }

    /// `then ∘ self`.
    pub fn compose(&self, then: &TupleMorphism) -> Result<TupleMorphism> {
        if self.codomain != then.domain {
            return Err(not_composable(&Nested::flat(&self.codomain), &Nested::flat(&then.domain)));
        }
        Ok(TupleMorphism {
            domain: self.domain.clone(),
            codomain: then.codomain.clone(),
            map: compose_maps(&self.map, &then.map),
        })
    }

    /// Side by side: domains and codomains are concatenated.
    pub fn sum(&self, other: &TupleMorphism) -> TupleMorphism {
        let offset = self.codomain.len();
        let shifted = other.map.iter().map(|&target| if target == 0 { 0 } else { target + offset });
        TupleMorphism {
            domain: [&self.domain[..], &other.domain].concat(),
            codomain: [&self.codomain[..], &other.codomain].concat(),
            map: self.map.iter().copied().chain(shifted).collect(),
        }
    }

    /// Both into the codomain of the first; their images must be disjoint.
    ///
    /// The codomains need only have equal length and agree where the second morphism hits its own.
    pub fn concat(&self, other: &TupleMorphism) -> Result<TupleMorphism> {
        let agrees = |&target: &usize| target == 0 || self.codomain[target - 1] == other.codomain[target - 1];
        if self.codomain.len() != other.codomain.len() || !other.map.iter().all(agrees) {
            return Err(other_codomain(&Nested::flat(&self.codomain), &Nested::flat(&other.codomain)));
        }
        Ok(TupleMorphism {
            domain: [&self.domain[..], &other.domain].concat(),
            codomain: self.codomain.clone(),
            map: concat_maps(&self.map, &other.map, self.codomain.len())?,
        })
    }

    /// The morphism on the entries at the given increasing positions of the domain.
    pub fn restrict(&self, positions: &[usize]) -> Result<TupleMorphism> {
        check_positions("restriction", positions, self.domain.len())?;
        Ok(TupleMorphism {
            domain: positions.iter().map(|&position| self.domain[position - 1]).collect(),
            codomain: self.codomain.clone(),
            map: positions.iter().map(|&position| self.map[position - 1]).collect(),
        })
    }

    /// The morphism into the entries at the given increasing positions of the codomain, which must contain the image.
    pub fn factorise(&self, positions: &[usize]) -> Result<TupleMorphism> {
        const FACTORISATION: &str = "factorisation";
        check_positions(FACTORISATION, positions, self.codomain.len())?;
        let map = self.map.iter().map(|&target| {
            if target == 0 {
                return Ok(0);
            }
            positions.binary_search(&target).map(|found| found + 1).map_err(|_| {
                Error::inadmissible(FACTORISATION, format!("entry {target} of the codomain is in the image"))
            })
        });
        Ok(TupleMorphism {
            domain: self.domain.clone(),
            codomain: positions.iter().map(|&position| self.codomain[position - 1]).collect(),
            map: map.collect::<Result<_>>()?,
        })
    }

    /// The domain reordered: what goes to the basepoint first, by size; then the rest, by target.
    pub fn sort(&self) -> TupleMorphism {
        let mut order = (0..self.domain.len()).collect::<Vec<_>>();
        order.sort_by_key(|&i| (self.map[i], if self.map[i] == 0 { self.domain[i] } else { 0 }));
        TupleMorphism {
            domain: order.iter().map(|&i| self.domain[i]).collect(),
            codomain: self.codomain.clone(),
            map: order.iter().map(|&i| self.map[i]).collect(),
        }
    }

    /// The inclusion of the entries of the codomain that are not hit. None of the domain may go to the basepoint.
    pub fn complement(&self) -> Result<TupleMorphism> {
        check_complementable(&self.map)?;
        let missed = missed(&self.map, self.codomain.len());
        Ok(TupleMorphism {
            domain: missed.iter().map(|&position| self.codomain[position - 1]).collect(),
            codomain: self.codomain.clone(),
            map: missed,
        })
    }

    /// This morphism seen through `tile` and its complement: domains are concatenated.
    pub fn flat_divide(&self, tile: &TupleMorphism) -> Result<TupleMorphism> {
        tile.concat(&tile.complement()?)?.compose(self)
    }

    /// This morphism, and `copies` placed in its complement: domains are concatenated.
    pub fn flat_product(&self, copies: &TupleMorphism) -> Result<TupleMorphism> {
        self.concat(&copies.compose(&self.complement()?)?)
    }

    /// By target, and what goes to the basepoint first and by size. Targets of size 1 may stand anywhere.
    pub fn is_sorted(&self) -> bool {
        (1..self.domain.len()).all(|i| match (self.map[i - 1], self.map[i]) {
            (0, 0) => self.domain[i - 1] <= self.domain[i],
            (_, 0) => false,
            (previous, next) if previous > next => self.codomain[next - 1..previous].iter().all(|&entry| entry == 1),
            _ => true,
        })
    }

    /// No entry of size 1, and no entry that runs on in the next.
    pub fn is_coalesced(&self) -> bool {
        !self.domain.contains(&1)
            && self.map.windows(2).all(|pair| {
                let (here, next) = (pair[0], pair[1]);
                here == 0 || next <= here || self.codomain[here..next - 1].iter().any(|&entry| entry > 1)
            })
    }

    /// Whether every entry has a target, so that there is a complement.
    pub fn is_complementable(&self) -> bool {
        !self.map.contains(&0)
    }

    /// Whether it only permutes entries.
    pub fn is_isomorphism(&self) -> bool {
        self.domain.len() == self.codomain.len() && self.is_complementable()
    }

    /// Entries of size 1 go to the basepoint, so that no stride is said that means nothing.
    pub fn is_non_degenerate(&self) -> bool {
        self.domain.iter().zip(&self.map).all(|(&entry, &target)| entry != 1 || target == 0)
    }

    /// Together with the other it is an isomorphism.
    pub fn is_complementary_to(&self, other: &TupleMorphism) -> bool {
        self.concat(other).is_ok_and(|both| both.is_isomorphism())
    }

    /// The flat layout that encodes this morphism.
    pub fn layout(&self) -> Result<Layout> {
        let modes = self.domain.iter().zip(strides(&self.codomain, &self.map)?);
        Layout::from_modes(Nested::Tuple(modes.map(|(&shape, stride)| Nested::Leaf(Mode { shape, stride })).collect()))
    }

    /// The morphism as a function from `[0, size of domain)` to `[0, size of codomain)`: coordinates move along α.
    pub fn realise(&self, index: i64) -> Result<i64> {
        realise(&self.domain, &self.codomain, &self.map, index)
    }
}

impl fmt::Display for TupleMorphism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_morphism(f, &Nested::flat(&self.domain), &self.map, &Nested::flat(&self.codomain))
    }
}

pub(super) fn write_morphism(
    f: &mut fmt::Formatter<'_>,
    domain: &Nested<i64>,
    map: &[usize],
    codomain: &Nested<i64>,
) -> fmt::Result {
    let targets = map.iter().map(|&target| if target == 0 { "*".to_owned() } else { target.to_string() });
    write!(f, "{domain} --({})--> {codomain}", targets.collect::<Vec<_>>().join(","))
}

/// Checks entries, positions, and that α is a pointed injection along which entries agree.
pub(super) fn check(domain: &[i64], codomain: &[i64], map: &[usize]) -> Result<()> {
    let wrong = |message: String| Err(Error::inadmissible(MORPHISM, message));
    if map.len() != domain.len() {
        return wrong(format!("the map has {} entries, the domain {}", map.len(), domain.len()));
    }
    if let Some(entry) = domain.iter().chain(codomain).find(|&&entry| entry < 1) {
        return wrong(format!("the entry {entry} is not positive"));
    }
    let mut seen = vec![false; codomain.len()];
    for (i, &target) in map.iter().enumerate().filter(|&(_, &target)| target != 0) {
        let Some(&entry) = codomain.get(target - 1) else {
            return wrong(format!("entry {} goes to {target}, but the codomain has {} entries", i + 1, codomain.len()));
        };
        if entry != domain[i] {
            return wrong(format!("entry {} is {}, but its target {target} is {entry}", i + 1, domain[i]));
        }
        if std::mem::replace(&mut seen[target - 1], true) {
            return wrong(format!("two entries go to {target}"));
        }
    }
    let fits = |tuple: &[i64]| tuple.iter().try_fold(1i64, |product, &entry| product.checked_mul(entry)).is_some();
    if fits(domain) && fits(codomain) { Ok(()) } else { Err(Error::Overflow { operation: MORPHISM }) }
}

fn hit(map: &[usize], length: usize) -> Vec<bool> {
    let mut hit = vec![false; length];
    map.iter().filter(|&&target| target != 0).for_each(|&target| hit[target - 1] = true);
    hit
}

/// The positions of a codomain that are not hit.
pub(super) fn missed(map: &[usize], length: usize) -> Vec<usize> {
    hit(map, length).iter().enumerate().filter(|&(_, &hit)| !hit).map(|(j, _)| j + 1).collect()
}

pub(super) fn compose_maps(first: &[usize], then: &[usize]) -> Vec<usize> {
    first.iter().map(|&target| if target == 0 { 0 } else { then[target - 1] }).collect()
}

pub(super) fn concat_maps(first: &[usize], second: &[usize], codomain: usize) -> Result<Vec<usize>> {
    let taken = hit(first, codomain);
    match second.iter().find(|&&target| target != 0 && taken[target - 1]) {
        Some(target) => {
            Err(Error::inadmissible("concatenation", format!("both images contain entry {target} of the codomain")))
        }
        None => Ok([first, second].concat()),
    }
}

pub(super) fn check_complementable(map: &[usize]) -> Result<()> {
    match map.iter().position(|&target| target == 0) {
        Some(i) => Err(Error::inadmissible("complement", format!("entry {} goes to the basepoint (stride 0)", i + 1))),
        None => Ok(()),
    }
}

pub(super) fn not_composable(codomain: &Nested<i64>, domain: &Nested<i64>) -> Error {
    Error::profile("composition", format!("the codomain {codomain} is not the domain {domain}"))
}

pub(super) fn other_codomain(a: &Nested<i64>, b: &Nested<i64>) -> Error {
    Error::profile("concatenation", format!("the codomains {a} and {b} differ"))
}

fn check_positions(operation: &'static str, positions: &[usize], length: usize) -> Result<()> {
    let increasing = positions.windows(2).all(|pair| pair[0] < pair[1]);
    if increasing && positions.first().is_none_or(|&first| first > 0) && positions.last().is_none_or(|&p| p <= length) {
        Ok(())
    } else {
        Err(Error::inadmissible(operation, format!("positions must increase and lie between 1 and {length}")))
    }
}

pub(super) fn strides(codomain: &[i64], map: &[usize]) -> Result<Vec<i64>> {
    let mut before = Vec::with_capacity(codomain.len());
    let mut product = 1;
    for &entry in codomain {
        before.push(product);
        product = multiply("stride", product, entry)?;
    }
    Ok(map.iter().map(|&target| if target == 0 { 0 } else { before[target - 1] }).collect())
}

pub(super) fn realise(domain: &[i64], codomain: &[i64], map: &[usize], index: i64) -> Result<i64> {
    let strides = strides(codomain, map)?;
    let (mut rest, mut value) = (index, 0);
    for (&entry, stride) in domain.iter().zip(strides) {
        value += rest.rem_euclid(entry) * stride;
        rest = rest.div_euclid(entry);
    }
    if rest == 0 {
        Ok(value)
    } else {
        Err(Error::inadmissible("realisation", format!("the index {index} is not in the domain")))
    }
}
