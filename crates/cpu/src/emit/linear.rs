//! Linear forms: constants times sizes, loop variables and opaque terms.
//!
//! All arithmetic wraps at 64 bits, as the generated code does, so that regrouping terms changes no result.

use std::cmp::Ordering;

use loops::{Index, ParamId, VarId};

/// What a linear form treats as a unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    Param(ParamId),
    Var(VarId),
    /// A division, minimum or choice.
    Opaque(Index),
}

/// `constant + Σ coefficient * atom`, each atom once and no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Linear {
    pub(super) constant: i64,
    pub(super) terms: Vec<(Atom, i64)>,
}

impl Linear {
    pub(super) fn constant(constant: i64) -> Linear {
        Linear { constant, terms: Vec::new() }
    }

    pub(super) fn atom(atom: Atom) -> Linear {
        Linear { constant: 0, terms: vec![(atom, 1)] }
    }

    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + factor * other`
    pub(super) fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (atom, coefficient) in &other.terms {
            let added = coefficient.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(present, _)| present == atom) {
                Some((_, present)) => *present = present.wrapping_add(added),
                None => self.terms.push((atom.clone(), added)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }

    /// How two forms compare, if they differ by a constant. Index arithmetic does not overflow.
    pub(super) fn order(&self, other: &Linear) -> Option<Ordering> {
        let same_terms = self.clone().plus(other, -1).terms.is_empty();
        same_terms.then(|| self.constant.cmp(&other.constant))
    }

    pub(super) fn scaled(&self, factor: i64) -> Linear {
        Linear::default().plus(self, factor)
    }
}
