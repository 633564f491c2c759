//! One question per line: `{"op": …, "in": {…}}` in, `{"ok": …}` or `{"err": …}` out.
//!
//! The operations and their fields are those of the oracle files. A product whose first factor has holes that no
//! copy fills, and a product or composite with items past its size, carry a `"note"` next to the answer.

use serde_json::{Value, json};

use super::json::{
    Fields, from_layout, from_morphism, from_nest_morphism, from_nested, integer, layout, list, nested, object,
    optional, wrong,
};
use super::{past_note, product_notes};
use crate::cute::{ComposedLayout, Layout, Swizzle, coordinate_of, prefix_product, shape_div};
use crate::error::{Error, Result};
use crate::morphism;

/// Answers one line. The answer is one line without its end.
pub fn jsonl(line: &str) -> String {
    let (answer, note) = match answer(line) {
        Ok((answer, note)) => (json!({ "ok": answer }), note),
        Err(error) => (json!({ "err": error.to_string() }), None),
    };
    let mut answer = answer;
    if let (Some(note), Value::Object(fields)) = (note, &mut answer) {
        fields.insert("note".to_owned(), Value::String(note));
    }
    answer.to_string()
}

type Answer = (Value, Option<String>);

fn answer(line: &str) -> Result<Answer> {
    let question: Value = serde_json::from_str(line).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let question = object(&question)?;
    let operation = question.value("op")?.as_str().ok_or_else(|| wrong("`op` must be a string"))?;
    let fields = object(question.value("in")?)?;
    if let Some(answer) = cute(operation, fields)? {
        let note = note(operation, fields, &answer)?;
        return Ok((answer, note));
    }
    match tuple_morphisms(operation, fields)? {
        Some(answer) => Ok((answer, None)),
        None => match nest_morphisms(operation, fields)? {
            Some(answer) => Ok((answer, None)),
            None => Err(wrong(format!("there is no operation `{operation}`"))),
        },
    }
}

fn note(operation: &str, fields: Fields<'_>, answer: &Value) -> Result<Option<String>> {
    if operation == "composition" {
        return Ok(past_note("coordinates", layout(answer)?.size(), fields.layout("B")?.size()));
    }
    if !operation.ends_with("_product") || operation == "prefix_product" {
        return Ok(None);
    }
    let notes = product_notes(&fields.layout("A")?, &fields.layout("B")?, &layout(answer)?);
    Ok((!notes.is_empty()).then(|| notes.join("; ")))
}

fn cute(operation: &str, fields: Fields<'_>) -> Result<Option<Value>> {
    let one = |change: fn(&Layout) -> Layout| Ok::<_, Error>(from_layout(&change(&fields.layout("L")?)));
    let two = |change: fn(&Layout, &Layout) -> Result<Layout>| {
        Ok::<_, Error>(from_layout(&change(&fields.layout("A")?, &fields.layout("B")?)?))
    };
    let tiled = |change: fn(&Layout, &[Layout]) -> Result<Layout>| {
        Ok::<_, Error>(from_layout(&change(&fields.layout("A")?, &fields.layouts("T")?)?))
    };
    Ok(Some(match operation {
        "coalesce" => one(Layout::coalesce)?,
        "coalesce_profile" => from_layout(&fields.layout("L")?.coalesce_profile(&fields.nested("profile")?)?),
        "filter" => one(Layout::filter)?,
        "composition" => two(Layout::composition_running_on)?,
        "composition_by_mode" => tiled(Layout::composition_by_mode)?,
        "complement" => from_layout(&fields.layout("L")?.complement_in(&fields.nested("M")?)?),
        "right_inverse" => from_layout(&fields.layout("L")?.right_inverse()?),
        "left_inverse" => from_layout(&fields.layout("L")?.left_inverse()?),
        "logical_divide" => two(Layout::logical_divide)?,
        "logical_divide_by_mode" => tiled(Layout::logical_divide_by_mode)?,
        "zipped_divide" => tiled(Layout::zipped_divide)?,
        "tiled_divide" => tiled(Layout::tiled_divide)?,
        "flat_divide" => tiled(Layout::flat_divide)?,
        "logical_product" => two(Layout::logical_product)?,
        "zipped_product" => two(Layout::zipped_product)?,
        "tiled_product" => two(Layout::tiled_product)?,
        "flat_product" => two(Layout::flat_product)?,
        "blocked_product" => two(Layout::blocked_product)?,
        "raked_product" => two(Layout::raked_product)?,
        "eval_linear" => {
            let layout = fields.layout("L")?;
            each(fields.integers("idx")?, |index| layout.at(index))?
        }
        "eval_coord" => {
            let layout = fields.layout("L")?;
            let coordinates = list(fields.value("crd")?)?;
            each(coordinates, |coordinate| layout.at_coordinate(&nested(coordinate, &mut integer)?))?
        }
        "idx2crd" => {
            let shape = fields.nested("shape")?;
            each(fields.integers("idx")?, |index| Ok(from_nested(&coordinate_of(index, &shape)?)))?
        }
        "size_cosize" => {
            let layout = fields.layout("L")?;
            json!([layout.size(), layout.cosize()])
        }
        "shape_div" => from_nested(&shape_div(&fields.nested("a")?, &fields.nested("b")?)?),
        "prefix_product" => from_nested(&prefix_product(&fields.layout("L")?.shape())?),
        "swizzle" => {
            let swizzle = swizzle(fields)?;
            each(fields.integers("x")?, |x| Ok(swizzle.apply(x)))?
        }
        "swizzle_composed" => {
            let (swizzle, offset, layout) = (swizzle(fields)?, fields.integer("offset")?, fields.layout("L")?);
            let composed = ComposedLayout { swizzle, offset, layout };
            each(fields.integers("idx")?, |index| composed.at(index))?
        }
        "slice_and_offset" => {
            let coordinate = nested(fields.value("crd")?, &mut optional)?;
            let (layout, offset) = fields.layout("L")?.slice_and_offset(&coordinate)?;
            json!({ "layout": from_layout(&layout), "offset": offset })
        }
        _ => return Ok(None),
    }))
}

fn each<T, V: Into<Value>>(
    inputs: impl IntoIterator<Item = T>,
    mut answer: impl FnMut(T) -> Result<V>,
) -> Result<Value> {
    let answers = inputs.into_iter().map(|input| answer(input).map(Into::into));
    Ok(Value::Array(answers.collect::<Result<_>>()?))
}

fn swizzle(fields: Fields<'_>) -> Result<Swizzle> {
    Swizzle::new(fields.integer("b")?, fields.integer("m")?, fields.integer("s")?)
}

fn tuple_morphisms(operation: &str, fields: Fields<'_>) -> Result<Option<Value>> {
    let f = || fields.morphism("f");
    let g = || fields.morphism("g");
    let morphism = match operation {
        "tuple_compose" => f()?.compose(&g()?)?,
        "tuple_concat" => f()?.concat(&g()?)?,
        "tuple_sum" => f()?.sum(&g()?),
        "tuple_restrict" => f()?.restrict(&fields.positions("idx")?)?,
        "tuple_sort" => f()?.sort(),
        "tuple_squeeze" => f()?.squeeze(),
        "tuple_coalesce" => f()?.coalesce()?,
        "tuple_strong_coalesce" => f()?.strong_coalesce()?,
        "tuple_complement" => f()?.complement()?,
        "tuple_flat_divide" => f()?.flat_divide(&g()?)?,
        "tuple_flat_product" => f()?.flat_product(&g()?)?,
        "morphism_of_flat_layout" => morphism::standard_form(&flat_layout(fields)?)?,
        "tuple_predicates" => {
            let f = f()?;
            return Ok(Some(json!({
                "sorted": f.is_sorted(),
                "coalesced": f.is_coalesced(),
                "complementable": f.is_complementable(),
                "iso": f.is_isomorphism(),
            })));
        }
        "flat_layout_of_morphism" => return Ok(Some(from_layout(&f()?.layout()?))),
        "is_tractable" => return Ok(Some(Value::Bool(flat_layout(fields)?.is_tractable()))),
        "sort_flat_layout" => {
            return Ok(Some(from_layout(&flat_layout(fields)?.sort())));
        }
        _ => return Ok(None),
    };
    Ok(Some(from_morphism(&morphism)))
}

fn flat_layout(fields: Fields<'_>) -> Result<Layout> {
    Layout::new(&fields.nested("shape")?, &fields.nested("stride")?)
}

fn nest_morphisms(operation: &str, fields: Fields<'_>) -> Result<Option<Value>> {
    let f = || fields.nest_morphism("f");
    let g = || fields.nest_morphism("g");
    let morphism = match operation {
        "nest_compose" => f()?.compose(&g()?)?,
        "nest_concat" => f()?.concat(&g()?)?,
        "nest_coalesce" => f()?.coalesce()?,
        "nest_complement" => f()?.complement()?,
        "nest_logical_divide" => f()?.logical_divide(&g()?)?,
        "nest_logical_product" => f()?.logical_product(&g()?)?,
        "weak_composite" => f()?.weak_composite(&g()?)?,
        "pullback_along" => f()?.pullback(&fields.nested("refinement")?)?,
        "pushforward_along" => f()?.pushforward(&fields.nested("refinement")?)?,
        "layout_of_nest_morphism" => return Ok(Some(from_layout(&f()?.layout()?))),
        "mutual_refinement" => {
            let (t, u) = morphism::mutual_refinement(&fields.nested("T")?, &fields.nested("U")?)?;
            return Ok(Some(json!([from_nested(&t), from_nested(&u)])));
        }
        _ => return Ok(None),
    };
    Ok(Some(from_nest_morphism(&morphism)))
}
