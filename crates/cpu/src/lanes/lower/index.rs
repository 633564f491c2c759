//! Index arithmetic as linear forms over the loops of the nest and what is around it.

use loops::{Cond, Index, VarId};

use super::{Argument, Lower, Nest};
use crate::lanes::ir::{Op, Type, ValueId, WordOp};
use crate::linear::{Atom, Linear};

impl Nest<'_> {
    /// Fails for divisions, minima and choices that a loop of the nest takes part in.
    pub(super) fn linear(&self, index: &Index) -> Lower<Linear> {
        let linear = Linear::of(index);
        let hidden = |(atom, _): &(Atom, i64)| matches!(atom, Atom::Opaque(index) if self.mentions_nest(index));
        if linear.terms.iter().any(hidden) {
            return Err("index arithmetic that is not linear in its loops".to_owned());
        }
        Ok(linear)
    }

    /// The variable, if an atom is a loop of the nest.
    fn inner_var(&self, atom: &Atom) -> Option<VarId> {
        match atom {
            Atom::Var(var) if self.inner.contains(var) => Some(*var),
            _ => None,
        }
    }

    /// What of a form is constant in the nest.
    pub(super) fn outer(&self, linear: &Linear) -> Index {
        let terms = linear.terms.iter().filter(|(atom, _)| self.inner_var(atom).is_none());
        let terms = terms.map(|(atom, coefficient)| match coefficient {
            1 => atom.to_index(),
            _ => Index::Mul(Box::new(atom.to_index()), *coefficient),
        });
        let sum = terms.reduce(|a, b| Index::Add(Box::new(a), Box::new(b)));
        match (sum, linear.constant) {
            (None, constant) => Index::Const(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => Index::Add(Box::new(sum), Box::new(Index::Const(constant))),
        }
    }

    fn mentions_nest(&self, index: &Index) -> bool {
        match index {
            Index::Const(_) | Index::Param(_) => false,
            Index::Var(var) => self.inner.contains(var),
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
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
            // Words have no exclusive or: it is the sum less twice the bits that both have.
            Index::Xor(a, b) => {
                let (a, b) = (self.index_word(a)?, self.index_word(b)?);
                let both = self.make(Type::Word, Op::Word(WordOp::And, a, b));
                let twice = self.times(both, 2);
                let sum = self.add(a, b);
                Ok(self.make(Type::Word, Op::Word(WordOp::Sub, sum, twice)))
            }
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
            Ok(linear) => vector.is_some_and(|vector| linear.coefficient(vector) != 0),
            Err(_) => false,
        };
        if matches!(op, WordOp::Min | WordOp::Max) && (moves(self, a) || moves(self, b)) {
            return Err("a minimum over lanes".to_owned());
        }
        let (a, b) = (self.index_word(a)?, self.index_word(b)?);
        Ok(self.make(Type::Word, Op::Word(op, a, b)))
    }

    pub(super) fn linear_word(&mut self, linear: &Linear) -> Lower<ValueId> {
        let mut sum = match self.outer(linear) {
            Index::Const(constant) => self.word(constant),
            outer => self.argument(Argument::Index(outer)),
        };
        for (atom, coefficient) in &linear.terms {
            let Some(var) = self.inner_var(atom) else { continue };
            let value = *self.state.vars.get(&var.0).ok_or("a loop variable without a value")?;
            let term = self.times(value, *coefficient);
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
