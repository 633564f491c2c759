//! Functions of morphisms, by name. What is defined for flat tuples only takes the flattened morphism.

use diag::Span;

use super::Located;
use super::functions::number;
use super::script::{Argument, Value};
use crate::error::{Error, Result};
use crate::morphism::{NestMorphism, TupleMorphism};
use crate::nested::Nested;

fn flat(morphism: &TupleMorphism) -> Result<Value> {
    let (domain, codomain) = (Nested::flat(morphism.domain()), Nested::flat(morphism.codomain()));
    Ok(Value::Morphism(NestMorphism::new(domain, codomain, morphism.map().to_vec())?))
}

pub(super) fn of_one(name: &str, f: &NestMorphism) -> Result<Option<Value>> {
    Ok(Some(match name {
        "layout" => Value::Layout(f.layout()?),
        "coalesce" => Value::Morphism(f.coalesce()?),
        "complement" => Value::Morphism(f.complement()?),
        "flatten" => flat(&f.flatten())?,
        "sort" => flat(&f.flatten().sort())?,
        "squeeze" => flat(&f.flatten().squeeze())?,
        "strong_coalesce" => flat(&f.flatten().strong_coalesce()?)?,
        "sorted" => Value::Bool(f.flatten().is_sorted()),
        "coalesced" => Value::Bool(f.flatten().is_coalesced()),
        "complementable" => Value::Bool(f.is_complementable()),
        "isomorphism" => Value::Bool(f.flatten().is_isomorphism()),
        "non_degenerate" => Value::Bool(f.flatten().is_non_degenerate()),
        _ => return Ok(None),
    }))
}

pub(super) fn of_two(name: &str, span: Span, f: &NestMorphism, b: &Argument) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    let positions = || {
        let positions = b.tuple()?.entries().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
        positions.map_err(|_| at(Error::inadmissible("morphism", "a position is negative")))
    };
    Ok(Some(match name {
        "compose" => Value::Morphism(f.compose(&b.morphism()?).map_err(at)?),
        "concat" => Value::Morphism(f.concat(&b.morphism()?).map_err(at)?),
        "weak_composite" => Value::Morphism(f.weak_composite(&b.morphism()?).map_err(at)?),
        "logical_divide" => Value::Morphism(f.logical_divide(&b.morphism()?).map_err(at)?),
        "logical_product" => Value::Morphism(f.logical_product(&b.morphism()?).map_err(at)?),
        "sum" => flat(&f.flatten().sum(&b.morphism()?.flatten())).map_err(at)?,
        "flat_divide" => f.flatten().flat_divide(&b.morphism()?.flatten()).and_then(|f| flat(&f)).map_err(at)?,
        "flat_product" => f.flatten().flat_product(&b.morphism()?.flatten()).and_then(|f| flat(&f)).map_err(at)?,
        "restrict" => f.flatten().restrict(&positions()?).and_then(|f| flat(&f)).map_err(at)?,
        "factorise" => f.flatten().factorise(&positions()?).and_then(|f| flat(&f)).map_err(at)?,
        "pullback" => Value::Morphism(f.pullback(&b.tuple()?).map_err(at)?),
        "pushforward" => Value::Morphism(f.pushforward(&b.tuple()?).map_err(at)?),
        "at" => number(f.realise(b.integer()?).map_err(at)?),
        _ => return Ok(None),
    }))
}
