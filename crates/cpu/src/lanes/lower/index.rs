//! Index arithmetic as linear forms over the loops of the nest and what is around it.

use loops::{Cond, Index, VarId};

use super::{Argument, Lower, Nest};
use crate::lanes::ir::{Op, Type, ValueId, WordOp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// A loop of the nest.
    Inner(VarId),
    /// Something that is constant in the nest.
    Outer(Index),
}

/// `constant + Σ coefficient * atom`, each atom once and no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) constant: i64,
    pub(super) terms: Vec<(Atom, i64)>,
}

impl Linear {
    fn atom(atom: Atom) -> Linear {
        Linear { constant: 0, terms: vec![(atom, 1)] }
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

    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn of_inner(&self, var: VarId) -> i64 {
        let found = self.terms.iter().find(|(atom, _)| *atom == Atom::Inner(var));
        found.map_or(0, |(_, coefficient)| *coefficient)
    }

    pub(super) fn inner(&self) -> impl Iterator<Item = (VarId, i64)> {
        self.terms.iter().filter_map(|(atom, coefficient)| match atom {
            Atom::Inner(var) => Some((*var, *coefficient)),
            Atom::Outer(_) => None,
        })
    }

    /// What is constant in the nest, with `constant` added.
    pub(super) fn outer(&self, constant: i64) -> Index {
        let terms = self.terms.iter().filter_map(|(atom, coefficient)| match atom {
            Atom::Inner(_) => None,
            Atom::Outer(index) if *coefficient == 1 => Some(index.clone()),
            Atom::Outer(index) => Some(Index::Mul(Box::new(index.clone()), *coefficient)),
        });
        let sum = terms.reduce(|a, b| Index::Add(Box::new(a), Box::new(b)));
        match sum {
            None => Index::Const(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => Index::Add(Box::new(sum), Box::new(Index::Const(constant))),
        }
    }
}

impl Nest<'_> {
    /// Fails for divisions, minima and choices that a loop of the nest takes part in.
    pub(super) fn linear(&self, index: &Index) -> Lower<Linear> {
        Ok(match index {
            Index::Const(constant) => Linear { constant: *constant, terms: Vec::new() },
            Index::Param(_) => Linear::atom(Atom::Outer(index.clone())),
            Index::Var(var) if self.inner.contains(var) => Linear::atom(Atom::Inner(*var)),
            Index::Var(_) => Linear::atom(Atom::Outer(index.clone())),
            Index::Add(a, b) => self.linear(a)?.plus(&self.linear(b)?, 1),
            Index::Sub(a, b) => self.linear(a)?.plus(&self.linear(b)?, -1),
            Index::Mul(a, factor) => Linear::default().plus(&self.linear(a)?, *factor),
            Index::FloorDiv(..) | Index::Mod(..) | Index::Min(..) | Index::Max(..) | Index::Select(..) => {
                if self.mentions_nest(index) {
                    return Err("index arithmetic that is not linear in its loops".to_owned());
                }
                Linear::atom(Atom::Outer(index.clone()))
            }
        })
    }

    fn mentions_nest(&self, index: &Index) -> bool {
        match index {
            Index::Const(_) | Index::Param(_) => false,
            Index::Var(var) => self.inner.contains(var),
            Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.mentions_nest(a) || self.mentions_nest(b)
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => self.mentions_nest(a),
            Index::Select(cond, a, b) => self.cond_mentions(cond) || self.mentions_nest(a) || self.mentions_nest(b),
        }
    }

    fn cond_mentions(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Compare(_, a, b) => self.mentions_nest(a) || self.mentions_nest(b),
            Cond::Not(cond) => self.cond_mentions(cond),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().any(|cond| self.cond_mentions(cond)),
        }
    }

    /// An index as a word; with the vector variable, that of the first lane.
    pub(super) fn index_word(&mut self, index: &Index) -> Lower<ValueId> {
        if let Ok(linear) = self.linear(index) {
            return self.linear_word(&linear);
        }
        match index {
            Index::Add(a, b) => self.two(WordOp::Add, a, b),
            Index::Sub(a, b) => self.two(WordOp::Sub, a, b),
            Index::Min(a, b) => self.two(WordOp::Min, a, b),
            Index::Max(a, b) => self.two(WordOp::Max, a, b),
            Index::Mul(a, factor) => {
                let a = self.index_word(a)?;
                Ok(self.times(a, *factor))
            }
            Index::FloorDiv(a, divisor) if divisor.count_ones() == 1 && *divisor > 0 => {
                let a = self.index_word(a)?;
                let bits = self.word(i64::from(divisor.trailing_zeros()));
                Ok(self.make(Type::Word, Op::Word(WordOp::Shr, a, bits)))
            }
            Index::Mod(a, divisor) if divisor.count_ones() == 1 && *divisor > 0 => {
                let a = self.index_word(a)?;
                let rest = self.word(divisor - 1);
                Ok(self.make(Type::Word, Op::Word(WordOp::And, a, rest)))
            }
            _ => Err("a division or choice in a bound inside".to_owned()),
        }
    }

    fn two(&mut self, op: WordOp, a: &Index, b: &Index) -> Lower<ValueId> {
        let vector = self.vector;
        let moves = |nest: &Self, index: &Index| match nest.linear(index) {
            Ok(linear) => vector.is_some_and(|vector| linear.of_inner(vector) != 0),
            Err(_) => false,
        };
        if matches!(op, WordOp::Min | WordOp::Max) && (moves(self, a) || moves(self, b)) {
            return Err("a minimum over lanes".to_owned());
        }
        let (a, b) = (self.index_word(a)?, self.index_word(b)?);
        Ok(self.make(Type::Word, Op::Word(op, a, b)))
    }

    pub(super) fn linear_word(&mut self, linear: &Linear) -> Lower<ValueId> {
        let outer = linear.outer(linear.constant);
        let mut sum = match outer {
            Index::Const(constant) => self.word(constant),
            outer => self.argument(Argument::Index(outer)),
        };
        for (var, coefficient) in linear.inner().collect::<Vec<_>>() {
            let value = *self.state.vars.get(&var.0).ok_or("a loop variable without a value")?;
            let term = self.times(value, coefficient);
            sum = self.add(sum, term);
        }
        Ok(sum)
    }

    pub(super) fn times(&mut self, word: ValueId, factor: i64) -> ValueId {
        match (factor, self.constant_of(word)) {
            (1, _) => word,
            (0, _) => self.word(0),
            (_, Some(constant)) => self.word(constant.wrapping_mul(factor)),
            _ => {
                let factor = self.word(factor);
                self.make(Type::Word, Op::Word(WordOp::Mul, word, factor))
            }
        }
    }

    pub(super) fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.word(a.wrapping_add(b)),
            (Some(_), None) => self.make(Type::Word, Op::Word(WordOp::Add, b, a)),
            _ => self.make(Type::Word, Op::Word(WordOp::Add, a, b)),
        }
    }
}
