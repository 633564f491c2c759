//! What follows from `where`, and from what derived sizes are: simple affine reasoning about parameters, without isl.
//!
//! In: the context of a function and a condition on its parameters.  Out: whether a few facts added up show it.
//! A condition that is not shown may still hold; the caller reports it in either case.

use super::Lowerer;
use crate::{Affine, Atom, Cond};

/// How many facts a proof may add up.
const MAX_FACTS: usize = 3;

impl Lowerer<'_> {
    /// Whether the condition follows from the context, from parameters and extents not being negative, and from
    /// sums of up to three of these.
    pub(super) fn implied(&self, cond: &Cond) -> bool {
        match cond {
            Cond::And(conds) => conds.iter().all(|cond| self.implied(cond)),
            Cond::Or(conds) => self.stated(cond) || conds.iter().any(|cond| self.implied(cond)),
            Cond::NonNegative(affine) => {
                let facts = self.facts();
                self.stated(cond) || follows(&self.eliminate(affine), &facts, MAX_FACTS)
            }
            Cond::Zero(affine) => {
                let affine = self.eliminate(affine);
                let stated = |stated: &Affine| {
                    let stated = self.eliminate(stated);
                    stated == affine || stated.scale(-1).as_ref() == Some(&affine)
                };
                let mut equal = affine == Affine::default();
                self.each_fact(&mut |cond| equal |= matches!(cond, Cond::Zero(known) if stated(known)));
                let both_ways = || {
                    let facts = self.facts();
                    follows(&affine, &facts, MAX_FACTS)
                        && affine.scale(-1).is_some_and(|affine| follows(&affine, &facts, MAX_FACTS))
                };
                equal || both_ways()
            }
        }
    }

    fn stated(&self, cond: &Cond) -> bool {
        self.function.context.iter().any(|requirement| requirement.cond == *cond)
    }

    /// The conditions of the context that hold on their own, and what is known of derived sizes.
    fn each_fact(&self, found: &mut dyn FnMut(&Cond)) {
        fn each(cond: &Cond, found: &mut dyn FnMut(&Cond)) {
            match cond {
                Cond::And(conds) => conds.iter().for_each(|cond| each(cond, found)),
                cond => found(cond),
            }
        }
        self.function.context.iter().for_each(|requirement| each(&requirement.cond, found));
        self.function.derived_facts().iter().for_each(|fact| each(fact, found));
    }

    /// What is known not to be negative, besides the parameters.
    fn facts(&self) -> Vec<Affine> {
        let mut facts = Vec::new();
        self.each_fact(&mut |cond| match cond {
            Cond::NonNegative(affine) => facts.push(affine.clone()),
            Cond::Zero(affine) => facts.extend([Some(affine.clone()), affine.scale(-1)].into_iter().flatten()),
            Cond::And(_) | Cond::Or(_) => {}
        });
        facts.extend(self.function.arrays.iter().flat_map(|array| array.shape.iter().cloned()));
        let mut facts: Vec<Affine> = facts.iter().map(|fact| self.eliminate(fact)).collect();
        facts.retain(|fact| !obvious(fact));
        facts.sort();
        facts.dedup();
        facts
    }
}

/// Parameters (or quotients of such) with positive factors and a constant that is not negative.
fn obvious(affine: &Affine) -> bool {
    let atom = |atom: &Atom| match atom {
        Atom::Param(_) => true,
        Atom::Iter(_) => false,
        Atom::Div(numerator, _) => obvious(numerator),
    };
    affine.constant >= 0 && affine.terms.iter().all(|(each, coefficient)| *coefficient > 0 && atom(each))
}

/// Whether `affine` is at least a sum of up to `left` facts.
fn follows(affine: &Affine, facts: &[Affine], left: usize) -> bool {
    obvious(affine)
        || left > 0 && facts.iter().any(|fact| affine.sub(fact).is_some_and(|rest| follows(&rest, facts, left - 1)))
}
