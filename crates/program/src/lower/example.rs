//! Parameter values for which two extents differ, found by trying small ones.
//!
//! In: two affine expressions over the parameters.  Out: the first values that the context admits and that tell them
//! apart, as text. Finding none proves nothing.

use diag::Diagnostic;

use super::Lowerer;
use crate::{Affine, Atom, ParamId};

/// The values that each parameter takes, in this order: plausible sizes first.
const VALUES: [i64; 7] = [1, 2, 3, 4, 0, 8, 16];

/// How many combinations are tried.
const MAX_TRIED: usize = 20_000;

impl Lowerer<'_> {
    /// Sizes for which two extents differ, and what to say if there are none in practice. Those of one parameter are
    /// equal for few sizes at most, and not by intention.
    pub(super) fn explain_extents(&self, diagnostic: Diagnostic, a: &Affine, b: &Affine) -> Diagnostic {
        let Some(values) = self.differ_for(a, b) else { return diagnostic };
        let involved = self.involved(a, b);
        let (a, b) = (self.function.show(a), self.function.show(b));
        let diagnostic = diagnostic.note(format!("{a} and {b} differ, for example for {values}"));
        if involved.len() < 2 {
            return diagnostic;
        }
        diagnostic.help(format!("if they are always equal, say so: `where {a} = {b}`"))
    }

    /// `N = 1, M = 2`
    pub(super) fn differ_for(&self, a: &Affine, b: &Affine) -> Option<String> {
        let involved = self.involved(a, b);
        let mut all = involved.clone();
        for (position, param) in self.function.params.iter().enumerate() {
            let id = ParamId(position as u32);
            if param.derived.is_none() && !all.contains(&id) {
                all.push(id);
            }
        }
        // The odometer's fastest wheel is the last parameter that matters, then those that only the context uses.
        let mut wheels = vec![0usize; all.len()];
        for _ in 0..MAX_TRIED {
            let sizes = self.sizes(|id| {
                let wheel = all.iter().position(|known| *known == id).map_or(0, |position| wheels[position]);
                VALUES[wheel]
            });
            let value = |id: ParamId| sizes.as_ref().map_or(0, |sizes| sizes[id.index()]);
            let admitted = sizes.is_some()
                && self.function.context.iter().all(|fact| fact.cond.eval(&value, &|_| 0).unwrap_or(false));
            let (left, right) = (a.eval(&value, &|_| 0), b.eval(&value, &|_| 0));
            if admitted && left != right && left.is_some_and(|left| left >= 0) && right.is_some_and(|right| right >= 0)
            {
                let shown: Vec<String> =
                    involved.iter().map(|id| format!("{} = {}", self.function.show_param(*id), value(*id))).collect();
                return (!shown.is_empty()).then(|| shown.join(", "));
            }
            let turning = (0..wheels.len()).rev().find(|wheel| wheels[*wheel] + 1 < VALUES.len())?;
            wheels[turning] += 1;
            wheels[turning + 1..].iter_mut().for_each(|wheel| *wheel = 0);
        }
        None
    }

    /// The values of all parameters, if those of the derived ones exist.
    fn sizes(&self, given: impl Fn(ParamId) -> i64) -> Option<Vec<i64>> {
        let mut sizes: Vec<i64> = Vec::new();
        for (position, param) in self.function.params.iter().enumerate() {
            sizes.push(match &param.derived {
                // It follows from those before it.
                Some(derived) => derived.eval(&|id| sizes[id.index()]).ok()?,
                None => given(ParamId(position as u32)),
            });
        }
        Some(sizes)
    }

    /// The parameters that decide the values of two extents: of derived ones, what they are made of.
    fn involved(&self, a: &Affine, b: &Affine) -> Vec<ParamId> {
        let mut open = Vec::new();
        params(a, &mut open);
        params(b, &mut open);
        let mut involved = Vec::new();
        let mut next = 0;
        while let Some(id) = open.get(next).copied() {
            next += 1;
            match &self.function.param(id).derived {
                Some(derived) => [&derived.lhs, &derived.rhs].into_iter().for_each(|side| params(side, &mut open)),
                None => involved.push(id),
            }
        }
        involved
    }
}

fn params(affine: &Affine, found: &mut Vec<ParamId>) {
    for atom in affine.terms.keys() {
        match atom {
            Atom::Param(id) if !found.contains(id) => found.push(*id),
            Atom::Div(numerator, _) => params(numerator, found),
            Atom::Param(_) | Atom::Iter(_) => {}
        }
    }
}
