//! Linear forms: constants times sizes, loop variables and opaque terms.
//!
//! In: index arithmetic.  Out: what it adds up to, for scalar code (`emit`) and lanes (`lanes::lower`) alike.
//! All arithmetic wraps at 64 bits, as the generated code does, so that regrouping terms changes no result; the normal form
//! of the `index` crate, which passes compare by, gives up there instead.

use std::cmp::Ordering;

use loops::{CompareOp, Cond, Index, ParamId, VarId};

/// What a linear form treats as a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    Param(ParamId),
    Var(VarId),
    /// A division, minimum or choice.
    Opaque(Index),
}

impl Atom {
    pub(crate) fn to_index(&self) -> Index {
        match self {
            Atom::Param(param) => Index::Param(*param),
            Atom::Var(var) => Index::Var(*var),
            Atom::Opaque(index) => index.clone(),
        }
    }
}

/// `constant + Σ coefficient * atom`, each atom once and no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) constant: i64,
    pub(crate) terms: Vec<(Atom, i64)>,
}

impl Linear {
    /// Multiplies out.
    pub(crate) fn of(index: &Index) -> Linear {
        let opaque = || Linear::atom(Atom::Opaque(index.clone()));
        match index {
            Index::Const(constant) => Linear::constant(*constant),
            Index::Param(param) => Linear::atom(Atom::Param(*param)),
            Index::Var(var) => Linear::atom(Atom::Var(*var)),
            Index::Add(a, b) => Linear::of(a).plus(&Linear::of(b), 1),
            Index::Sub(a, b) => Linear::of(a).plus(&Linear::of(b), -1),
            Index::Mul(a, factor) => Linear::of(a).scaled(*factor),
            Index::FloorDiv(a, divisor) => {
                let quotient = Linear::of(a).as_constant().and_then(|a| a.checked_div_euclid(*divisor));
                quotient.map_or_else(opaque, Linear::constant)
            }
            // In an address, the quotient is often there as well: together they are the dividend.
            Index::Mod(a, divisor) => {
                Linear::of(a).plus(&Linear::of(&Index::FloorDiv(a.clone(), *divisor)), divisor.wrapping_neg())
            }
            Index::Xor(a, b) => match (Linear::of(a).as_constant(), Linear::of(b).as_constant()) {
                (Some(a), Some(b)) => Linear::constant(a ^ b),
                _ => opaque(),
            },
            Index::Min(a, b) | Index::Max(a, b) => {
                let (left, right) = (Linear::of(a), Linear::of(b));
                match left.order(&right) {
                    Some(order) if order.is_le() == matches!(index, Index::Min(..)) => left,
                    Some(_) => right,
                    None => opaque(),
                }
            }
            Index::Select(cond, a, b) => match known(cond) {
                Some(true) => Linear::of(a),
                Some(false) => Linear::of(b),
                None => opaque(),
            },
        }
    }

    pub(crate) fn constant(constant: i64) -> Linear {
        Linear { constant, terms: Vec::new() }
    }

    fn atom(atom: Atom) -> Linear {
        Linear { constant: 0, terms: vec![(atom, 1)] }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The multiple of a variable in the sum.
    pub(crate) fn coefficient(&self, var: VarId) -> i64 {
        let found = self.terms.iter().find(|(atom, _)| *atom == Atom::Var(var));
        found.map_or(0, |(_, coefficient)| *coefficient)
    }

    /// `self + factor * other`
    pub(crate) fn plus(mut self, other: &Linear, factor: i64) -> Linear {
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
    pub(crate) fn order(&self, other: &Linear) -> Option<Ordering> {
        let same_terms = self.clone().plus(other, -1).terms.is_empty();
        same_terms.then(|| self.constant.cmp(&other.constant))
    }

    pub(crate) fn scaled(&self, factor: i64) -> Linear {
        Linear::default().plus(self, factor)
    }
}

/// The value of a condition that does not depend on anything, for instance inside an unrolled loop.
pub(crate) fn known(cond: &Cond) -> Option<bool> {
    match cond {
        Cond::Compare(op, a, b) => {
            let order = Linear::of(a).order(&Linear::of(b))?;
            Some(match op {
                CompareOp::Eq => order.is_eq(),
                CompareOp::Ne => order.is_ne(),
                CompareOp::Lt => order.is_lt(),
                CompareOp::Le => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::Ge => order.is_ge(),
            })
        }
        Cond::Not(cond) => known(cond).map(|known| !known),
        Cond::And(conds) | Cond::Or(conds) => {
            // What decides all of it alone.
            let decides = matches!(cond, Cond::Or(_));
            let parts: Vec<_> = conds.iter().map(known).collect();
            if parts.contains(&Some(decides)) {
                return Some(decides);
            }
            parts.iter().all(Option::is_some).then_some(!decides)
        }
    }
}
