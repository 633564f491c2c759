//! Quasi-affine index expressions and the conditions made of them.
//!
//! An [`Affine`] is kept in one normal form, so that equal expressions compare equal.
//! Not here: deciding anything about sets of them; that is isl's work, in `poly`.

use std::collections::BTreeMap;

use crate::{IterId, ParamId};

/// What an affine expression is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A size.
    Param(ParamId),
    /// An iterator.
    Iter(IterId),
    /// `floor(numerator / divisor)` with a divisor of at least 2.
    Div(Box<Affine>, i64),
}

/// Expressions with more atoms are divided no further: each remainder has its operand twice.
const MOST_ATOMS: usize = 200;

/// `constant + Σ coefficient · atom`, without zero coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    /// What is added to the terms.
    pub constant: i64,
    /// The coefficient of each atom.
    pub terms: BTreeMap<Atom, i64>,
}

impl Affine {
    /// A number.
    pub fn constant(constant: i64) -> Affine {
        Affine { constant, terms: BTreeMap::new() }
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Affine {
        Affine { constant: 0, terms: BTreeMap::from([(atom, 1)]) }
    }

    /// A parameter.
    pub fn param(param: ParamId) -> Affine {
        Affine::atom(Atom::Param(param))
    }

    /// An iterator.
    pub fn iter(iter: IterId) -> Affine {
        Affine::atom(Atom::Iter(iter))
    }

    /// The value, if it depends on nothing.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The iterator, if the expression is just that.
    pub fn as_iter(&self) -> Option<IterId> {
        match (self.constant, self.terms.len(), self.terms.first_key_value()) {
            (0, 1, Some((Atom::Iter(iter), 1))) => Some(*iter),
            _ => None,
        }
    }

    /// Whether it is the same for all iterations.
    pub fn is_invariant(&self) -> bool {
        let mut invariant = true;
        self.visit_iters(&mut |_| invariant = false);
        invariant
    }

    /// `self + factor · other`; `None` on overflow.
    pub fn add_scaled(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (atom, coefficient) in &other.terms {
            let entry = sum.terms.entry(atom.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        sum.terms.retain(|_, coefficient| *coefficient != 0);
        Some(sum)
    }

    /// The sum; `None` on overflow.
    pub fn add(&self, other: &Affine) -> Option<Affine> {
        self.add_scaled(other, 1)
    }

    /// The difference; `None` on overflow.
    pub fn sub(&self, other: &Affine) -> Option<Affine> {
        self.add_scaled(other, -1)
    }

    /// A multiple; `None` on overflow.
    pub fn scale(&self, factor: i64) -> Option<Affine> {
        Affine::default().add_scaled(self, factor)
    }

    /// How many atoms it has, also inside divisions.
    fn atoms(&self) -> usize {
        let inside = |atom: &Atom| match atom {
            Atom::Param(_) | Atom::Iter(_) => 1,
            Atom::Div(numerator, _) => 1 + numerator.atoms(),
        };
        self.terms.keys().map(inside).sum()
    }

    /// `self / divisor`, rounded as Euclidean division does; `None` on overflow, division by zero, or if it grows too large.
    pub fn div(&self, divisor: i64) -> Option<Affine> {
        if divisor < 0 {
            return self.div(divisor.checked_neg()?)?.scale(-1);
        }
        if divisor == 0 {
            return None;
        }
        if let Some(constant) = self.as_constant() {
            return Some(Affine::constant(constant.div_euclid(divisor)));
        }
        let divides = |value: i64| value % divisor == 0;
        if divisor == 1 || divides(self.constant) && self.terms.values().all(|c| divides(*c)) {
            let mut quotient = self.clone();
            quotient.constant /= divisor;
            quotient.terms.values_mut().for_each(|coefficient| *coefficient /= divisor);
            return Some(quotient);
        }
        (self.atoms() <= MOST_ATOMS).then(|| Affine::atom(Atom::Div(Box::new(self.clone()), divisor)))
    }

    /// The Euclidean remainder, between 0 and `|divisor| - 1`.
    pub fn rem(&self, divisor: i64) -> Option<Affine> {
        let divisor = divisor.checked_abs()?;
        self.add_scaled(&self.div(divisor)?, -divisor)
    }

    /// The value for given atoms; `None` on overflow.
    pub fn eval(&self, param: &impl Fn(ParamId) -> i64, iter: &impl Fn(IterId) -> i64) -> Option<i64> {
        let mut sum = self.constant;
        for (atom, coefficient) in &self.terms {
            let value = match atom {
                Atom::Param(id) => param(*id),
                Atom::Iter(id) => iter(*id),
                Atom::Div(numerator, divisor) => numerator.eval(param, iter)?.div_euclid(*divisor),
            };
            sum = sum.checked_add(value.checked_mul(*coefficient)?)?;
        }
        Some(sum)
    }

    /// The expression with iterators replaced, where `value` has something for them; `None` on overflow.
    pub fn substitute(&self, value: &dyn Fn(IterId) -> Option<Affine>) -> Option<Affine> {
        let mut result = Affine::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            let replaced = match atom {
                Atom::Iter(id) => value(*id).unwrap_or_else(|| Affine::iter(*id)),
                Atom::Param(id) => Affine::param(*id),
                Atom::Div(numerator, divisor) => numerator.substitute(value)?.div(*divisor)?,
            };
            result = result.add_scaled(&replaced, *coefficient)?;
        }
        Some(result)
    }

    /// Whether its value depends on the parameter.
    pub fn mentions(&self, param: ParamId) -> bool {
        self.terms.keys().any(|atom| match atom {
            Atom::Param(found) => *found == param,
            Atom::Iter(_) => false,
            Atom::Div(numerator, _) => numerator.mentions(param),
        })
    }

    /// Calls `visit` with every iterator in the expression, also inside divisions.
    pub fn visit_iters(&self, visit: &mut impl FnMut(IterId)) {
        for atom in self.terms.keys() {
            match atom {
                Atom::Param(_) => {}
                Atom::Iter(id) => visit(*id),
                Atom::Div(numerator, _) => numerator.visit_iters(visit),
            }
        }
    }
}

/// An affine condition, without negation (it is pushed into the leaves).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cond {
    /// `affine >= 0`
    NonNegative(Affine),
    /// `affine = 0`
    Zero(Affine),
    /// All hold; `And(vec![])` is true.
    And(Vec<Cond>),
    /// One holds; `Or(vec![])` is false.
    Or(Vec<Cond>),
}

impl Cond {
    /// Always holds.
    pub const TRUE: Cond = Cond::And(Vec::new());
    /// Never holds.
    pub const FALSE: Cond = Cond::Or(Vec::new());

    /// Whether it is the condition that always holds.
    pub fn is_true(&self) -> bool {
        *self == Cond::TRUE
    }

    /// The opposite condition; `None` on overflow.
    pub fn negate(&self) -> Option<Cond> {
        // Over the integers, not (a >= 0) is -a - 1 >= 0.
        let below_zero = |affine: &Affine| Some(Cond::NonNegative(Affine::constant(-1).add_scaled(affine, -1)?));
        Some(match self {
            Cond::NonNegative(affine) => below_zero(affine)?,
            Cond::Zero(affine) => Cond::Or(vec![below_zero(affine)?, below_zero(&affine.scale(-1)?)?]),
            Cond::And(conds) => Cond::Or(conds.iter().map(Cond::negate).collect::<Option<_>>()?),
            Cond::Or(conds) => Cond::And(conds.iter().map(Cond::negate).collect::<Option<_>>()?),
        })
    }

    /// The condition with iterators replaced, where `value` has something for them; `None` on overflow.
    pub fn substitute(&self, value: &dyn Fn(IterId) -> Option<Affine>) -> Option<Cond> {
        let all = |conds: &[Cond]| conds.iter().map(|part| part.substitute(value)).collect::<Option<Vec<_>>>();
        Some(match self {
            Cond::NonNegative(affine) => Cond::NonNegative(affine.substitute(value)?),
            Cond::Zero(affine) => Cond::Zero(affine.substitute(value)?),
            Cond::And(conds) => Cond::And(all(conds)?),
            Cond::Or(conds) => Cond::Or(all(conds)?),
        })
    }

    /// Conjunction, flattened.
    pub fn and(self, other: Cond) -> Cond {
        let mut conds = match self {
            Cond::And(conds) => conds,
            cond => vec![cond],
        };
        match other {
            Cond::And(others) => conds.extend(others),
            cond => conds.push(cond),
        }
        if conds.len() == 1 { conds.remove(0) } else { Cond::And(conds) }
    }

    /// Whether it holds for given atoms; `None` on overflow.
    pub fn eval(&self, param: &impl Fn(ParamId) -> i64, iter: &impl Fn(IterId) -> i64) -> Option<bool> {
        Some(match self {
            Cond::NonNegative(affine) => affine.eval(param, iter)? >= 0,
            Cond::Zero(affine) => affine.eval(param, iter)? == 0,
            Cond::And(conds) => {
                for cond in conds {
                    if !cond.eval(param, iter)? {
                        return Some(false);
                    }
                }
                true
            }
            Cond::Or(conds) => {
                for cond in conds {
                    if cond.eval(param, iter)? {
                        return Some(true);
                    }
                }
                false
            }
        })
    }

    /// Calls `visit` with every iterator in the condition.
    pub fn visit_iters(&self, visit: &mut impl FnMut(IterId)) {
        match self {
            Cond::NonNegative(affine) | Cond::Zero(affine) => affine.visit_iters(visit),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().for_each(|cond| cond.visit_iters(visit)),
        }
    }
}
