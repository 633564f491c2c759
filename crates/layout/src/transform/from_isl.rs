//! Transforms from isl maps: the way back from an inverse that isl found.
//!
//! Only single-valued maps whose pieces have explicit quotients can be written as expressions.

use isl::{Aff, Dim, Map, PwMultiAff, Set};

use super::{Axis, Expr, Transform};
use crate::error::{Error, Result};

pub(super) fn transform_of(map: &Map, inputs: Vec<Axis>, outputs: Vec<Axis>) -> Result<Transform> {
    let function = PwMultiAff::from_map(map.clone().coalesce()?)?.coalesce()?;
    let mut pieces = function.pieces()?;
    let mut index: Vec<Option<Expr>> = vec![None; outputs.len()];
    // The last piece needs no condition: outside the domain nothing is claimed.
    let last = pieces.pop();
    for (position, expr) in index.iter_mut().enumerate() {
        if let Some((domain, exprs)) = &last {
            *expr = Some(expr_of(&exprs.get_at(position)?.gist(domain.clone())?)?);
        }
    }
    for (domain, exprs) in pieces.into_iter().rev() {
        for (position, expr) in index.iter_mut().enumerate() {
            let here = expr_of(&exprs.get_at(position)?.gist(domain.clone())?)?;
            let otherwise = expr.take().unwrap_or(Expr::Const(0));
            *expr = Some(if here == otherwise { here } else { choose(&domain, here, otherwise)? });
        }
    }
    Transform::new(inputs, outputs, index.into_iter().map(|expr| expr.unwrap_or(Expr::Const(0))).collect())
}

/// `then` where the point is in the set.
fn choose(set: &Set, then: Expr, otherwise: Expr) -> Result<Expr> {
    let mut result = otherwise;
    for basic in set.basic_sets()? {
        let mut inside = then.clone();
        for constraint in basic.get_constraint_list()? {
            let value = expr_of(&constraint.get_aff()?)?;
            if constraint.is_equality()? {
                inside = Expr::select(value.clone().times(-1), inside, result.clone());
            }
            inside = Expr::select(value, inside, result.clone());
        }
        result = inside.checked()?;
    }
    Ok(result)
}

fn expr_of(aff: &Aff) -> Result<Expr> {
    let denominator = aff.get_denominator_val()?.to_i64()?;
    let denominator = denominator.ok_or_else(|| too_large("a denominator"))?;
    let scaled = aff.clone().scale_val(isl::Val::from_i64(aff.context(), denominator)?)?;
    let coefficient = |value: isl::Val| value.to_i64()?.ok_or_else(|| too_large("a coefficient"));
    let mut sum = Expr::Const(coefficient(scaled.get_constant_val()?)?);
    for kind in [Dim::In, Dim::Param, Dim::Div] {
        for position in 0..scaled.dim(kind)? {
            let factor = coefficient(scaled.get_coefficient_val(kind, position)?)?;
            if factor == 0 {
                continue;
            }
            let term = match kind {
                Dim::In => Expr::Input(position),
                Dim::Param => Expr::param(scaled.get_dim_name(Dim::Param, position)?.unwrap_or_default()),
                // A local variable is the floor of an affine expression.
                _ => expr_of(&scaled.get_div(position)?)?,
            };
            sum = term.times(factor).add(sum);
        }
    }
    Ok(if denominator == 1 { sum } else { sum.div(Expr::Const(denominator)) })
}

fn too_large(what: &str) -> Error {
    Error::NotAffine { what: format!("{what} of isl's answer does not fit 64 bits") }
}
