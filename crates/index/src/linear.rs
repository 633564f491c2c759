//! Index arithmetic in normal form: sums of multiples of atoms, and what follows from it.
//!
//! In: an index expression or condition.  Out: an equal one, smaller or in canonical order, so that equal
//! expressions more often are the same expression.
//! Overflow is proven absent elsewhere; where the normal form itself would overflow, the expression stays as it is.

use std::collections::BTreeMap;

use crate::{CompareOp, Cond, Index, VarId};

/// `constant + Σ coefficient · atom`. The key orders loop variables before parameters before everything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linear {
    constant: i64,
    terms: BTreeMap<(u8, Index), i64>,
}

impl Linear {
    /// A number.
    pub fn constant(constant: i64) -> Linear {
        Linear { constant, terms: BTreeMap::new() }
    }

    fn atom(atom: Index) -> Linear {
        let rank = match atom {
            Index::Var(_) => 0,
            Index::Param(_) => 1,
            _ => 2,
        };
        Linear { constant: 0, terms: BTreeMap::from([((rank, atom), 1)]) }
    }

    /// `self + factor · other`; `None` on overflow.
    pub fn add_scaled(mut self, other: &Linear, factor: i64) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (atom, coefficient) in &other.terms {
            let entry = self.terms.entry(atom.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        Some(self)
    }

    /// With something else in the place of a variable; `None` on overflow, or if a quotient or choice uses it.
    pub fn replace(&self, var: VarId, with: &Linear) -> Option<Linear> {
        let hidden = |atom: &Index| !matches!(atom, Index::Var(_)) && atom.uses(var);
        if self.terms.keys().any(|(_, atom)| hidden(atom)) {
            return None;
        }
        match self.coefficient(var) {
            None => Some(self.clone()),
            Some(coefficient) => {
                let rest = self.clone().add_scaled(&Linear::atom(Index::Var(var)), coefficient.checked_neg()?)?;
                rest.add_scaled(with, coefficient)
            }
        }
    }

    /// The value, if it depends on nothing.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// A constant and a number, of which the value is the sum of the former and some multiple of the latter; zero if it depends on nothing.
    pub fn residue(&self) -> (i64, i64) {
        let divisor =
            |a: u64, b: u64| std::iter::successors(Some((a, b)), |(a, b)| (*b != 0).then(|| (*b, a % b))).last();
        let all = self.terms.values().fold(0u64, |all, by| divisor(all, by.unsigned_abs()).map_or(1, |(all, _)| all));
        (self.constant, i64::try_from(all).unwrap_or(1))
    }

    /// The multiple of a variable in the sum.
    pub fn coefficient(&self, var: VarId) -> Option<i64> {
        self.terms.get(&(0, Index::Var(var))).copied()
    }

    /// `floor(self / divisor)`, if everything but the constant is divisible.
    pub fn exact_floor(self, divisor: i64) -> Option<Linear> {
        if divisor < 1 {
            return None;
        }
        let (quotient, rest) = split(self, divisor);
        rest.terms.is_empty().then_some(quotient)
    }

    /// The parts of the sum that are not numbers, with what they are multiplied by.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = (&Index, i64)> {
        self.terms.iter().map(|((_, atom), coefficient)| (atom, *coefficient))
    }

    pub(crate) fn is_without_constant(&self) -> bool {
        self.constant == 0
    }

    /// Whether nothing in it can be negative: parameters and a constant, none of them subtracted.
    pub fn is_sum_of_params(&self) -> bool {
        let is_param =
            |((_, atom), coefficient): (&(u8, Index), &i64)| matches!(atom, Index::Param(_)) && *coefficient > 0;
        self.constant >= 0 && self.terms.iter().all(is_param)
    }

    /// Numerator and divisor, if this is the floor of a quotient and nothing else.
    pub fn as_quotient(&self) -> Option<(Linear, i64)> {
        match self.single().filter(|_| self.constant == 0)? {
            Index::FloorDiv(numerator, divisor) => Some((linear(numerator)?, *divisor)),
            _ => None,
        }
    }

    /// The atom, if this is one atom plus a constant.
    fn single(&self) -> Option<&Index> {
        match self.terms.first_key_value() {
            Some(((_, atom), 1)) if self.terms.len() == 1 => Some(atom),
            _ => None,
        }
    }

    /// Positive terms first, then negative ones, then the constant: `c0 + 2 * c1 - N - 1`.
    pub fn build(&self) -> Index {
        let positive = self.terms.iter().filter(|(_, coefficient)| **coefficient > 0);
        let negative = self.terms.iter().filter(|(_, coefficient)| **coefficient <= 0);
        let mut sum = None;
        let mut constant = self.constant;
        for ((_, atom), coefficient) in positive {
            let term = scaled(atom, *coefficient);
            sum = Some(match sum {
                None => term,
                Some(sum) => Index::Add(Box::new(sum), Box::new(term)),
            });
        }
        if sum.is_none() && (constant > 0 || self.terms.is_empty()) {
            sum = Some(Index::Const(constant));
            constant = 0;
        }
        for ((_, atom), coefficient) in negative {
            sum = Some(match (sum, coefficient.checked_neg()) {
                (None, _) => scaled(atom, *coefficient),
                (Some(sum), Some(factor)) => Index::Sub(Box::new(sum), Box::new(scaled(atom, factor))),
                (Some(sum), None) => Index::Add(Box::new(sum), Box::new(scaled(atom, *coefficient))),
            });
        }
        let sum = sum.unwrap_or(Index::Const(0));
        match (constant, constant.checked_neg()) {
            (0, _) => sum,
            (1.., _) | (_, None) => Index::Add(Box::new(sum), Box::new(Index::Const(constant))),
            (_, Some(less)) => Index::Sub(Box::new(sum), Box::new(Index::Const(less))),
        }
    }
}

fn scaled(atom: &Index, coefficient: i64) -> Index {
    if coefficient == 1 { atom.clone() } else { Index::Mul(Box::new(atom.clone()), coefficient) }
}

/// The normal form of an index expression.
pub fn simplify_index(index: &Index) -> Index {
    let Some(linear) = linear(index) else { return index.clone() };
    take_in_constant(&linear).unwrap_or_else(|| linear.build())
}

/// `min(N - 1, i + 31) + 1` as `min(N, i + 32)`: an extremum takes in the constant beside it if fewer constants remain.
fn take_in_constant(value: &Linear) -> Option<Index> {
    let extremum = value.single().filter(|_| value.constant != 0)?;
    let largest = match extremum {
        Index::Min(..) => false,
        Index::Max(..) => true,
        _ => return None,
    };
    let shift = Linear::constant(value.constant);
    let operands: Vec<Linear> = extremum_operands(extremum, largest).iter().map(linear).collect::<Option<_>>()?;
    let shifted: Vec<Linear> =
        operands.iter().map(|operand| operand.clone().add_scaled(&shift, 1)).collect::<Option<_>>()?;
    let constants = |operands: &[Linear]| operands.iter().filter(|operand| operand.constant != 0).count();
    if constants(&shifted) > constants(&operands) {
        return None;
    }
    let mut shifted = shifted.iter().map(Linear::build);
    let first = shifted.next()?;
    Some(shifted.fold(first, |chosen, operand| {
        let (a, b) = (Box::new(chosen), Box::new(operand));
        if largest { Index::Max(a, b) } else { Index::Min(a, b) }
    }))
}

/// `a - b`, if that is a constant.
pub fn constant_difference(a: &Index, b: &Index) -> Option<i64> {
    linear(a)?.add_scaled(&linear(b)?, -1)?.as_constant()
}

/// `x` where the expression is `var - x` plus a constant and `x` is made of variables and sizes; 0 for the variable itself.
pub fn offset_of(index: &Index, var: VarId) -> Option<Index> {
    let linear = linear(index)?;
    let mut rest = Linear::default();
    let mut found = false;
    for ((rank, atom), coefficient) in &linear.terms {
        match atom {
            Index::Var(used) if *used == var && *coefficient == 1 => found = true,
            Index::Var(used) if *used == var => return None,
            Index::Var(_) | Index::Param(_) => {
                rest.terms.insert((*rank, atom.clone()), coefficient.checked_neg()?);
            }
            _ => return None,
        }
    }
    found.then(|| rest.build())
}

/// An expression as a sum of multiples; `None` on overflow.
pub fn linear(index: &Index) -> Option<Linear> {
    Some(match index {
        Index::Const(value) => Linear::constant(*value),
        Index::Param(_) | Index::Var(_) => Linear::atom(index.clone()),
        Index::Add(a, b) => linear(a)?.add_scaled(&linear(b)?, 1)?,
        Index::Sub(a, b) => linear(a)?.add_scaled(&linear(b)?, -1)?,
        Index::Mul(a, factor) => Linear::default().add_scaled(&linear(a)?, *factor)?,
        Index::FloorDiv(a, divisor) => floor_div(linear(a)?, *divisor)?,
        Index::Mod(a, divisor) => modulo(linear(a)?, *divisor)?,
        Index::Xor(a, b) => exclusive(&linear(a)?, &linear(b)?),
        Index::Min(..) => extremum(index, false)?,
        Index::Max(..) => extremum(index, true)?,
        Index::Select(cond, a, b) => {
            let (cond, a, b) = (simplify_cond(cond), linear(a)?, linear(b)?);
            match cond {
                Cond::And(conds) if conds.is_empty() => a,
                Cond::Or(conds) if conds.is_empty() => b,
                _ if a == b => a,
                cond => Linear::atom(Index::Select(Box::new(cond), Box::new(a.build()), Box::new(b.build()))),
            }
        }
    })
}

/// The exclusive or of two sums, as one atom unless both are numbers.
fn exclusive(a: &Linear, b: &Linear) -> Linear {
    match (a.as_constant(), b.as_constant()) {
        (Some(a), Some(b)) => Linear::constant(a ^ b),
        (Some(0), None) => b.clone(),
        (None, Some(0)) => a.clone(),
        _ => Linear::atom(Index::Xor(Box::new(a.build()), Box::new(b.build()))),
    }
}

/// Splits into a multiple of `divisor` (returned divided) and a rest with `0 <= constant < divisor`.
fn split(value: Linear, divisor: i64) -> (Linear, Linear) {
    let mut quotient = Linear::constant(value.constant.div_euclid(divisor));
    let mut rest = Linear::constant(value.constant.rem_euclid(divisor));
    for (atom, coefficient) in value.terms {
        if coefficient % divisor == 0 {
            quotient.terms.insert(atom, coefficient / divisor);
        } else {
            rest.terms.insert(atom, coefficient);
        }
    }
    (quotient, rest)
}

fn floor_div(value: Linear, divisor: i64) -> Option<Linear> {
    if divisor < 1 {
        return None;
    }
    let (quotient, mut rest) = split(value, divisor);
    if rest.terms.is_empty() {
        return Some(quotient);
    }
    // floor((g·x + c) / (g·d)) = floor((x + floor(c / g)) / d)
    let common = rest.terms.values().fold(divisor, |common, coefficient| gcd(common, *coefficient));
    let divisor = divisor / common;
    rest.constant /= common;
    rest.terms.values_mut().for_each(|coefficient| *coefficient /= common);
    if divisor == 1 {
        return quotient.add_scaled(&rest, 1);
    }
    // floor((floor(x / a) + c) / d) = floor((x + c·a) / (a·d))
    if let Some(Index::FloorDiv(inner, first)) = rest.single()
        && let Some(both) = first.checked_mul(divisor)
    {
        let shifted = linear(inner)?.add_scaled(&Linear::constant(rest.constant), *first)?;
        return quotient.add_scaled(&floor_div(shifted, both)?, 1);
    }
    quotient.add_scaled(&Linear::atom(Index::FloorDiv(Box::new(rest.build()), divisor)), 1)
}

fn modulo(value: Linear, divisor: i64) -> Option<Linear> {
    if divisor < 1 {
        return None;
    }
    let (_, rest) = split(value, divisor);
    if rest.terms.is_empty() {
        return Some(Linear::constant(rest.constant));
    }
    if let Some(Index::Mod(inner, first)) = rest.single() {
        if first % divisor == 0 {
            return modulo(linear(inner)?.add_scaled(&Linear::constant(rest.constant), 1)?, divisor);
        }
        if *first <= divisor && rest.constant == 0 {
            return Some(rest);
        }
    }
    Some(Linear::atom(Index::Mod(Box::new(rest.build()), divisor)))
}

/// The absolute value of `b` may be `2^63`, so the remainders are taken unsigned.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// `min` or `max` of all operands, without those that another one decides.
fn extremum(index: &Index, largest: bool) -> Option<Linear> {
    let mut operands: Vec<Linear> = Vec::new();
    for operand in extremum_operands(index, largest) {
        let operand = linear(&operand)?;
        // An operand may itself have become an extremum of the same kind.
        for operand in extremum_operands(&operand.build(), largest) {
            let operand = linear(&operand)?;
            let difference = |other: &Linear| operand.clone().add_scaled(other, -1)?.as_constant();
            let decided = operands.iter().position(|other| difference(other).is_some());
            match decided {
                None => operands.push(operand),
                Some(position) => {
                    let difference = difference(&operands[position])?;
                    if largest && difference > 0 || !largest && difference < 0 {
                        operands[position] = operand;
                    }
                }
            }
        }
    }
    let mut operands = operands.into_iter();
    let first = operands.next()?;
    let Some(second) = operands.next() else { return Some(first) };
    let pair = |a: Index, b: &Linear| {
        let (a, b) = (Box::new(a), Box::new(b.build()));
        if largest { Index::Max(a, b) } else { Index::Min(a, b) }
    };
    let start = pair(first.build(), &second);
    Some(Linear::atom(operands.fold(start, |chosen, operand| pair(chosen, &operand))))
}

/// The operands of nested `min` (or nested `max`), also with a number added; the expression itself if it is neither.
pub fn extremum_operands(index: &Index, largest: bool) -> Vec<Index> {
    match index {
        Index::Add(sum, number) if matches!(**number, Index::Const(_)) => {
            let operands = extremum_operands(sum, largest);
            if operands.len() == 1 {
                return vec![index.clone()];
            }
            let shifted = |operand: Index| simplify_index(&Index::Add(Box::new(operand), number.clone()));
            operands.into_iter().map(shifted).collect()
        }
        Index::Min(a, b) if !largest => [extremum_operands(a, false), extremum_operands(b, false)].concat(),
        Index::Max(a, b) if largest => [extremum_operands(a, true), extremum_operands(b, true)].concat(),
        other => vec![other.clone()],
    }
}

/// The normal form of a condition: positive terms on the left, negative ones and the constant on the right, turned
/// so that the first term of all is on the left.
pub fn simplify_cond(cond: &Cond) -> Cond {
    match cond {
        Cond::Compare(op, a, b) => compare(*op, a, b).unwrap_or_else(|| cond.clone()),
        Cond::Not(cond) => match simplify_cond(cond) {
            Cond::Compare(op, a, b) => Cond::Compare(op.negated(), a, b),
            Cond::Not(cond) => *cond,
            Cond::And(conds) if conds.is_empty() => Cond::FALSE,
            Cond::Or(conds) if conds.is_empty() => Cond::TRUE,
            cond => Cond::Not(Box::new(cond)),
        },
        Cond::And(conds) => junction(conds, &Cond::FALSE, Cond::And),
        Cond::Or(conds) => junction(conds, &Cond::TRUE, Cond::Or),
    }
}

fn compare(op: CompareOp, a: &Index, b: &Index) -> Option<Cond> {
    let mut op = op;
    let mut difference = linear(a)?.add_scaled(&linear(b)?, -1)?;
    if let Some(constant) = difference.as_constant() {
        return Some(if op.holds(constant, 0) { Cond::TRUE } else { Cond::FALSE });
    }
    if difference.terms.first_key_value().is_some_and(|(_, coefficient)| *coefficient < 0) {
        difference = Linear::default().add_scaled(&difference, -1)?;
        op = op.swapped();
    }
    let (mut left, mut right) = (Linear::default(), Linear::constant(difference.constant.checked_neg()?));
    for (atom, coefficient) in difference.terms {
        if coefficient > 0 {
            left.terms.insert(atom, coefficient);
        } else {
            right.terms.insert(atom, coefficient.checked_neg()?);
        }
    }
    // Of the two ways to say the same, take the one without a constant.
    let without_constant = match (op, right.constant) {
        (CompareOp::Le, -1) => Some(CompareOp::Lt),
        (CompareOp::Gt, -1) => Some(CompareOp::Ge),
        (CompareOp::Lt, 1) => Some(CompareOp::Le),
        (CompareOp::Ge, 1) => Some(CompareOp::Gt),
        _ => None,
    };
    if let Some(other) = without_constant {
        op = other;
        right.constant = 0;
    }
    Some(Cond::Compare(op, left.build(), right.build()))
}

/// `and` or `or`, flattened, without repetitions and neutral parts; `decides` as soon as one part is that.
fn junction(conds: &[Cond], decides: &Cond, make: fn(Vec<Cond>) -> Cond) -> Cond {
    let mut kept: Vec<Cond> = Vec::new();
    for cond in conds {
        let cond = simplify_cond(cond);
        if cond == *decides {
            return cond;
        }
        let parts = match (cond, decides) {
            (Cond::And(parts), Cond::Or(_)) | (Cond::Or(parts), Cond::And(_)) => parts,
            (cond, _) => vec![cond],
        };
        for part in parts {
            if !kept.contains(&part) {
                kept.push(part);
            }
        }
    }
    match <[Cond; 1]>::try_from(kept) {
        Ok([only]) => only,
        Err(kept) => make(kept),
    }
}
