//! What the parameters of a callee are in terms of the caller's, and whether its `where` holds for them.
//!
//! In: the extents that the callee declares and those it is given.  Out: a value for each parameter, or an error.
//! Extents must agree for all values of the caller's parameters; equalities in its `where` count.

use diag::{Diagnostic, Span};

use super::Lowerer;
use super::calls::CallStmt;
use crate::{Affine, ArrayId, Atom, Cond, DerivedOp, Function, ParamId};

/// An extent of the callee, and what it must be in the caller.
pub(super) struct Equation {
    declared: Affine,
    given: Affine,
    /// Such as ``dimension 2 of `B` ``, of the callee.
    place: String,
    span: Span,
}

impl Lowerer<'_> {
    pub(super) fn equations(
        &self,
        callee: &Function,
        id: ArrayId,
        given: ArrayId,
        span: Span,
        found: &mut Vec<Equation>,
    ) {
        let (declared, given) = (callee.array(id), self.function.array(given));
        for (position, (declared_extent, extent)) in declared.shape.iter().zip(&given.shape).enumerate() {
            found.push(Equation {
                declared: declared_extent.clone(),
                given: extent.clone(),
                place: format!("dimension {} of `{}`", position + 1, declared.name),
                span,
            });
        }
    }

    /// The callee's parameters in terms of the caller's, from the extents of the arrays.
    pub(super) fn solve(
        &mut self,
        call: &CallStmt<'_>,
        callee: &Function,
        equations: &[Equation],
    ) -> Option<Vec<Affine>> {
        let mut values: Vec<Option<Affine>> = vec![None; callee.params.len()];
        // `where N = 8` in the callee says as much as an extent.
        let stated: Vec<(Affine, Affine)> = callee
            .context
            .iter()
            .filter_map(|requirement| match &requirement.cond {
                Cond::Zero(affine) => Some((affine.clone(), Affine::default())),
                _ => None,
            })
            .collect();
        let sides = equations.iter().map(|equation| (&equation.declared, &equation.given));
        let sides: Vec<(&Affine, &Affine)> = sides.chain(stated.iter().map(|(a, b)| (a, b))).collect();
        for _ in 0..values.len() {
            for (declared, given) in &sides {
                if let Some((param, value)) = solve_one(declared, given, &values)
                    && callee.param(param).derived.is_none()
                {
                    values[param.index()] = Some(value);
                }
            }
        }
        // What is derived there is derived here, of those that are known by now.
        for (position, param) in callee.params.iter().enumerate() {
            let Some(derived) = &param.derived else { continue };
            let known: Vec<Affine> = values.iter().map(|value| value.clone().unwrap_or_default()).collect();
            let complete = values[..position].iter().all(Option::is_some);
            let side = |side: &Affine| substitute(side, &known).filter(|_| complete);
            if let (Some(lhs), Some(rhs)) = (side(&derived.lhs), side(&derived.rhs)) {
                values[position] = Some(self.derived_here(derived.op, lhs, rhs, call.span));
            }
        }
        if let Some(unknown) = values.iter().position(Option::is_none) {
            let param = &callee.params[unknown];
            self.report(
                Diagnostic::error(
                    "E0112",
                    call.span,
                    format!("`{}` of `{}` is not known here", param.name, callee.name),
                )
                .here("follows from the extent of no argument")
                .label(param.span, "a parameter takes its value from the arrays of a call"),
            );
            return None;
        }
        let values: Vec<Affine> = values.into_iter().collect::<Option<_>>()?;
        for equation in equations {
            let wanted = substitute(&equation.declared, &values);
            let agrees =
                wanted.as_ref().is_some_and(|wanted| self.eliminate(wanted) == self.eliminate(&equation.given));
            if agrees {
                continue;
            }
            let shown = callee.show(&equation.declared);
            let difference = wanted.as_ref().and_then(|wanted| wanted.sub(&equation.given));
            let never = difference.is_none_or(|difference| self.eliminate(&difference).as_constant().is_some());
            let extent = wanted.clone();
            let wanted = wanted.map_or("too large".to_string(), |wanted| self.function.show(&wanted));
            let given = self.function.show(&equation.given);
            let meaning = if shown == wanted { String::new() } else { format!(", which is {wanted} here") };
            let message = format!("{} of `{}` has extent {shown}{meaning}", equation.place, callee.name);
            let mut diagnostic = Diagnostic::error("E0112", equation.span, message)
                .here(format!("this has extent {given}"))
                .label(call.callee.span, self.show_values(callee, &values));
            if !never {
                let values = extent.and_then(|extent| self.differ_for(&equation.given, &extent));
                diagnostic = match values {
                    Some(values) => diagnostic.note(format!("they differ, for example for {values}")),
                    None => diagnostic,
                };
                diagnostic = diagnostic.help(format!("if they are always equal, say so: `where {given} = {wanted}`"));
            }
            self.report(diagnostic);
            return None;
        }
        Some(values)
    }

    /// A product, quotient, minimum or maximum of sizes: affine if it can be.
    fn derived_here(&mut self, op: DerivedOp, lhs: Affine, rhs: Affine, span: Span) -> Affine {
        let affine = match (op, lhs.as_constant(), rhs.as_constant()) {
            (DerivedOp::Product, _, Some(factor)) => lhs.scale(factor),
            (DerivedOp::Product, Some(factor), _) => rhs.scale(factor),
            (DerivedOp::Min, Some(a), Some(b)) => Some(Affine::constant(a.min(b))),
            (DerivedOp::Max, Some(a), Some(b)) => Some(Affine::constant(a.max(b))),
            _ => None,
        };
        affine.unwrap_or_else(|| self.derived_param(op, lhs, rhs, span))
    }

    /// `N = 4, M = K + 1`
    fn show_values(&self, callee: &Function, values: &[Affine]) -> String {
        let shown = callee.params.iter().zip(values);
        let shown: Vec<String> =
            shown.map(|(param, value)| format!("{} = {}", param.name, self.function.show(value))).collect();
        format!("called with {}", shown.join(", "))
    }

    /// What the callee relies on must follow from what the caller knows.
    pub(super) fn check_context(
        &mut self,
        call: &CallStmt<'_>,
        callee: &Function,
        params: &[Affine],
        context: &[Cond],
    ) -> Option<()> {
        let negative = params.iter().zip(&callee.params).find_map(|(value, param)| {
            let cond = Cond::NonNegative(value.clone());
            (!self.implied(&cond)).then(|| (cond, format!("{} >= 0", param.name), param.span))
        });
        let unmet = negative.or_else(|| {
            let mut conds = context.iter().zip(&callee.context);
            let unmet = conds.find(|(cond, _)| !self.implied(cond));
            unmet.map(|(cond, requirement)| (cond.clone(), requirement.text.clone(), requirement.span))
        });
        let Some((cond, text, span)) = unmet else { return Some(()) };
        let here = self.function.show_cond(&cond);
        let mut diagnostic = Diagnostic::error(
            "E0111",
            call.span,
            format!("`{}` requires {text}, which is not known here", callee.name),
        )
        .here(format!("{here} does not follow from `where`"))
        .label(span, "required here");
        if !params.is_empty() {
            diagnostic = diagnostic.note(self.show_values(callee, params));
        }
        diagnostic = if cond == Cond::FALSE || is_false(&cond) {
            diagnostic.note("it never holds here")
        } else {
            diagnostic.help(format!("add it to `{}`: `where {here}`", self.function.name))
        };
        self.report(diagnostic);
        None
    }
}

fn is_false(cond: &Cond) -> bool {
    match cond {
        Cond::NonNegative(affine) => affine.as_constant().is_some_and(|constant| constant < 0),
        Cond::Zero(affine) => affine.as_constant().is_some_and(|constant| constant != 0),
        Cond::And(conds) => conds.iter().any(is_false),
        Cond::Or(conds) => conds.iter().all(is_false),
    }
}

/// The one parameter in `declared = given` that is not known, and its value.
fn solve_one(declared: &Affine, given: &Affine, values: &[Option<Affine>]) -> Option<(ParamId, Affine)> {
    let mut rest = given.sub(&Affine::constant(declared.constant))?;
    let mut unknown = None;
    for (atom, coefficient) in &declared.terms {
        let value = match atom {
            Atom::Param(id) => match &values[id.index()] {
                Some(value) => value.clone(),
                None if unknown.is_none() => {
                    unknown = Some((*id, *coefficient));
                    continue;
                }
                None => return None,
            },
            Atom::Iter(_) => return None,
            Atom::Div(numerator, divisor) => {
                let known: Option<Vec<Affine>> = values.iter().cloned().collect();
                let known = known.unwrap_or_default();
                substitute(numerator, &known)?.div(*divisor)?
            }
        };
        rest = rest.add_scaled(&value, coefficient.checked_neg()?)?;
    }
    let (param, coefficient) = unknown?;
    let divides = rest.constant % coefficient == 0 && rest.terms.values().all(|factor| factor % coefficient == 0);
    if !divides {
        return None;
    }
    Some((param, rest.div(coefficient)?))
}

/// An affine expression over the callee's parameters, in terms of the caller's.
fn substitute(affine: &Affine, values: &[Affine]) -> Option<Affine> {
    let mut sum = Affine::constant(affine.constant);
    for (atom, coefficient) in &affine.terms {
        let value = match atom {
            Atom::Param(id) => values.get(id.index())?.clone(),
            Atom::Iter(_) => return None,
            Atom::Div(numerator, divisor) => substitute(numerator, values)?.div(*divisor)?,
        };
        sum = sum.add_scaled(&value, *coefficient)?;
    }
    Some(sum)
}
