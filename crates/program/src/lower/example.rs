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
        let mut involved = Vec::new();
        params(a, &mut involved);
        params(b, &mut involved);
        let (a, b) = (self.function.show(a), self.function.show(b));
        let diagnostic = diagnostic.note(format!("{a} and {b} differ, for example for {values}"));
        if involved.len() < 2 {
            return diagnostic;
        }
        diagnostic.help(format!("if they are always equal, say so: `where {a} = {b}`"))
    }

    /// `N = 1, M = 2`
    pub(super) fn differ_for(&self, a: &Affine, b: &Affine) -> Option<String> {
        let mut involved: Vec<ParamId> = Vec::new();
        params(a, &mut involved);
        params(b, &mut involved);
        let mut all = involved.clone();
        for position in 0..self.function.params.len() {
            let id = ParamId(position as u32);
            if !all.contains(&id) {
                all.push(id);
            }
        }
        // The odometer's fastest wheel is the last parameter that matters, then those that only the context uses.
        let mut wheels = vec![0usize; all.len()];
        for _ in 0..MAX_TRIED {
            let value = |id: ParamId| {
                let wheel = all.iter().position(|known| *known == id).map_or(0, |position| wheels[position]);
                VALUES[wheel]
            };
            let admitted = self.function.context.iter().all(|fact| fact.cond.eval(&value, &|_| 0).unwrap_or(false));
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
