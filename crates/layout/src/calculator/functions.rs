//! The functions of the calculator, by name.

use diag::Span;

use super::draw::Table;
use super::script::{Argument, Value, read};
use super::{Answer, Located, map_text, past_note, product_notes};
use crate::bridge::LinearLayout;
use crate::cute::{ComposedLayout, Layout, Swizzle, coordinate_of, prefix_product, shape_div};
use crate::error::{Error, Result};
use crate::morphism::{NestMorphism, mutual_refinement, nest_standard_form};
use crate::nested::Nested;
use crate::text::Cursor;
use crate::transform::Solver;

/// Every function with its arguments, for messages and documentation.
pub(super) const FUNCTIONS: &[(&str, &str)] = &[
    ("at", "L, index or coordinate"),
    ("blocked_product", "A, B"),
    ("coalesce", "L or f [, profile]"),
    ("compatible", "A, B"),
    ("complement", "L, target | f"),
    ("compose", "f, g"),
    ("composed", "swizzle, offset, L"),
    ("composition", "A, B or [tiler]"),
    ("congruent", "A, B"),
    ("coordinate", "index, shape"),
    ("cosize", "L"),
    ("depth", "L"),
    ("filter", "L [, profile]"),
    ("flat_divide", "A, [tiler]"),
    ("flat_product", "A, B"),
    ("flatten", "L"),
    ("layout", "f or shape"),
    ("left_inverse", "L"),
    ("linear", "L or composed"),
    ("logical_divide", "A, B or [tiler] | f, g"),
    ("logical_product", "A, B | f, g"),
    ("morphism", "L | domain, codomain, map"),
    ("mutual_refinement", "T, U"),
    ("prefix_product", "shape"),
    ("pullback", "f, refinement"),
    ("pushforward", "f, refinement"),
    ("raked_product", "A, B"),
    ("rank", "L"),
    ("right_inverse", "L"),
    ("shape_div", "a, b"),
    ("size", "L"),
    ("slice", "L, coordinate with _"),
    ("sort", "L"),
    ("swizzle", "bits, base, shift"),
    ("tiled_divide", "A, [tiler]"),
    ("tiled_product", "A, B"),
    ("tractable", "L"),
    ("weak_composite", "f, g"),
    ("zipped_divide", "A, [tiler]"),
    ("zipped_product", "A, B"),
];

pub(super) fn run(script: &str) -> Located<Answer> {
    let mut cursor = Cursor::new(script);
    let notes = std::cell::RefCell::new(Vec::new());
    let argument = read(&mut cursor, 0, &|name, span, arguments| call(name, span, &arguments, &notes))?;
    cursor.end().map_err(|error| (argument.span, error))?;
    answer(argument.value, notes.into_inner()).map_err(|error| (argument.span, error))
}

fn answer(value: Value, mut notes: Vec<String>) -> Result<Answer> {
    let solver = Solver::new()?;
    let (transform, table) = match &value {
        Value::Layout(layout) => (Some(layout.to_coordinate_transform()), Table::of_layout(layout).ok()),
        Value::Composed(composed) => {
            let table = Table::of_function(&composed.layout, |index| {
                Ok(composed.swizzle.apply(crate::error::add("draw", index, composed.offset)?))
            });
            (Some(composed.to_transform()), table.ok())
        }
        Value::Swizzle(swizzle) => (Some(swizzle.to_transform(0)), None),
        Value::Morphism(morphism) => {
            (Some(morphism.to_transform()), morphism.layout().and_then(|layout| Table::of_layout(&layout)).ok())
        }
        _ => (None, None),
    };
    let map = transform.and_then(|transform| map_text(&solver, &transform, &mut notes));
    Ok(Answer { result: text(&value), map, notes, table })
}

fn text(value: &Value) -> String {
    match value {
        Value::Layout(layout) => layout.to_string(),
        Value::Composed(composed) => composed.to_string(),
        Value::Swizzle(swizzle) => swizzle.to_string(),
        Value::Morphism(morphism) => morphism.to_string(),
        Value::Tuple(tuple) => tuple.map(&mut |entry| entry.map_or("_".to_owned(), |n| n.to_string())).to_string(),
        Value::Tiler(layouts) => {
            format!("[{}]", layouts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(value) => value.to_string(),
        Value::Pair(a, b) => format!("{}, {}", text(a), text(b)),
    }
}

fn number(value: i64) -> Value {
    Value::Tuple(Nested::Leaf(Some(value)))
}

fn tuple(nested: &Nested<i64>) -> Value {
    Value::Tuple(nested.map(&mut |&entry| Some(entry)))
}

fn call(name: &str, span: Span, arguments: &[Argument], notes: &std::cell::RefCell<Vec<String>>) -> Located<Value> {
    let at = |error: Error| (span, error);
    let value = match arguments {
        [a] if matches!(a.value, Value::Morphism(_)) => of_morphism(name, &a.morphism()?).map_err(at)?,
        [a, b] if matches!(a.value, Value::Morphism(_)) => of_morphisms(name, span, &a.morphism()?, b)?,
        [a] => of_one(name, span, a)?,
        [a, b] => of_two(name, span, a, b)?,
        [a, b, c] => of_three(name, span, a, b, c)?,
        _ => None,
    }
    .ok_or_else(|| (span, unknown(name, span, arguments.len())))?;
    if let (Value::Layout(result), [a, b]) = (&value, arguments) {
        if name.ends_with("_product") {
            notes.borrow_mut().extend(product_notes(&a.layout()?, &b.layout()?, result));
        } else if name == "composition" && !matches!(b.value, Value::Tiler(_)) {
            notes.borrow_mut().extend(past_note("coordinates", result.size(), b.layout()?.size()));
        }
    }
    Ok(value)
}

fn unknown(name: &str, span: Span, count: usize) -> Error {
    let message = match FUNCTIONS.iter().find(|(known, _)| *known == name) {
        Some((_, arguments)) => format!("`{name}` takes ({arguments}), not {count} arguments of these kinds"),
        None => {
            let common = |known: &str| known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            let closest = FUNCTIONS.iter().map(|(known, _)| *known).max_by_key(|known| common(known));
            match closest.filter(|known| common(known) >= 3) {
                Some(closest) => format!("there is no function `{name}`; did you mean {closest}?"),
                None => {
                    let all = FUNCTIONS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
                    format!("there is no function `{name}`; there are {all}")
                }
            }
        }
    };
    Error::Syntax { at: span, message }
}

fn of_one(name: &str, span: Span, a: &Argument) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    Ok(Some(match name {
        "coalesce" => Value::Layout(a.layout()?.coalesce()),
        "filter" => Value::Layout(a.layout()?.filter()),
        "flatten" => Value::Layout(a.layout()?.flatten()),
        "sort" => Value::Layout(a.layout()?.sort()),
        "layout" => Value::Layout(a.layout()?),
        "right_inverse" => Value::Layout(a.layout()?.right_inverse().map_err(at)?),
        "left_inverse" => Value::Layout(a.layout()?.left_inverse().map_err(at)?),
        "size" => number(a.layout()?.size()),
        "cosize" => number(a.layout()?.cosize()),
        "rank" => number(i64::try_from(a.layout()?.rank()).unwrap_or(i64::MAX)),
        "depth" => number(i64::try_from(a.layout()?.depth()).unwrap_or(i64::MAX)),
        "prefix_product" => tuple(&prefix_product(&a.tuple()?).map_err(at)?),
        "tractable" => Value::Bool(a.layout()?.is_tractable()),
        "morphism" => Value::Morphism(nest_standard_form(&a.layout()?).map_err(at)?),
        "linear" => {
            let linear = match &a.value {
                Value::Composed(composed) => LinearLayout::of_swizzled(composed),
                _ => LinearLayout::of_layout(&a.layout()?),
            };
            let columns = linear
                .map_err(at)?
                .columns()
                .iter()
                .map(|&column| i64::try_from(column).unwrap_or(0))
                .collect::<Vec<_>>();
            tuple(&Nested::flat(&columns))
        }
        _ => return Ok(None),
    }))
}

fn of_two(name: &str, span: Span, a: &Argument, b: &Argument) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    let layouts = |change: fn(&Layout, &Layout) -> Result<Layout>| -> Located<Option<Value>> {
        Ok(Some(Value::Layout(change(&a.layout()?, &b.layout()?).map_err(at)?)))
    };
    let tiled = |change: fn(&Layout, &[Layout]) -> Result<Layout>| -> Located<Option<Value>> {
        Ok(Some(Value::Layout(change(&a.layout()?, &b.layouts()?).map_err(at)?)))
    };
    let by_mode = matches!(b.value, Value::Tiler(_));
    Ok(Some(match name {
        "composition" if by_mode => return tiled(Layout::composition_by_mode),
        "composition" => match &a.value {
            Value::Composed(composed) => Value::Composed(composed.composition(&b.layout()?).map_err(at)?),
            _ => return layouts(Layout::composition_running_on),
        },
        "logical_divide" if by_mode => return tiled(Layout::logical_divide_by_mode),
        "logical_divide" => return layouts(Layout::logical_divide),
        "zipped_divide" => return tiled(Layout::zipped_divide),
        "tiled_divide" => return tiled(Layout::tiled_divide),
        "flat_divide" => return tiled(Layout::flat_divide),
        "logical_product" => return layouts(Layout::logical_product),
        "zipped_product" => return layouts(Layout::zipped_product),
        "tiled_product" => return layouts(Layout::tiled_product),
        "flat_product" => return layouts(Layout::flat_product),
        "blocked_product" => return layouts(Layout::blocked_product),
        "raked_product" => return layouts(Layout::raked_product),
        "complement" => Value::Layout(a.layout()?.complement_in(&b.tuple()?).map_err(at)?),
        "coalesce" => Value::Layout(a.layout()?.coalesce_profile(&b.tuple()?).map_err(at)?),
        "filter" => Value::Layout(a.layout()?.filter_profile(&b.tuple()?).map_err(at)?),
        "congruent" => Value::Bool(a.layout()?.is_congruent(&b.layout()?)),
        "compatible" => Value::Bool(a.layout()?.is_compatible(&b.layout()?)),
        "shape_div" => tuple(&shape_div(&a.tuple()?, &b.tuple()?).map_err(at)?),
        "coordinate" => tuple(&coordinate_of(a.integer()?, &b.tuple()?).map_err(at)?),
        "at" => number(match &a.value {
            Value::Composed(composed) => composed.at(b.integer()?).map_err(at)?,
            Value::Swizzle(swizzle) => swizzle.apply(b.integer()?),
            _ => a.layout()?.at_coordinate(&b.tuple()?).map_err(at)?,
        }),
        "slice" => {
            let (layout, offset) = a.layout()?.slice_and_offset(&b.coordinate()?).map_err(at)?;
            Value::Pair(Box::new(Value::Layout(layout)), Box::new(number(offset)))
        }
        "mutual_refinement" => {
            let (t, u) = mutual_refinement(&a.tuple()?, &b.tuple()?).map_err(at)?;
            Value::Pair(Box::new(tuple(&t)), Box::new(tuple(&u)))
        }
        _ => return Ok(None),
    }))
}

fn of_three(name: &str, span: Span, a: &Argument, b: &Argument, c: &Argument) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    Ok(Some(match name {
        "swizzle" => Value::Swizzle(Swizzle::new(a.integer()?, b.integer()?, c.integer()?).map_err(at)?),
        "composed" => {
            Value::Composed(ComposedLayout { swizzle: a.swizzle()?, offset: b.integer()?, layout: c.layout()? })
        }
        "morphism" => {
            let map = c.tuple()?.entries().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
            let map = map.map_err(|_| at(Error::inadmissible("morphism", "a position is negative")))?;
            Value::Morphism(NestMorphism::new(a.tuple()?, b.tuple()?, map).map_err(at)?)
        }
        _ => return Ok(None),
    }))
}

fn of_morphism(name: &str, f: &NestMorphism) -> Result<Option<Value>> {
    Ok(Some(match name {
        "layout" => Value::Layout(f.layout()?),
        "coalesce" => Value::Morphism(f.coalesce()?),
        "complement" => Value::Morphism(f.complement()?),
        _ => return Ok(None),
    }))
}

fn of_morphisms(name: &str, span: Span, f: &NestMorphism, b: &Argument) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    Ok(Some(match name {
        "compose" => Value::Morphism(f.compose(&b.morphism()?).map_err(at)?),
        "weak_composite" => Value::Morphism(f.weak_composite(&b.morphism()?).map_err(at)?),
        "logical_divide" => Value::Morphism(f.logical_divide(&b.morphism()?).map_err(at)?),
        "logical_product" => Value::Morphism(f.logical_product(&b.morphism()?).map_err(at)?),
        "pullback" => Value::Morphism(f.pullback(&b.tuple()?).map_err(at)?),
        "pushforward" => Value::Morphism(f.pushforward(&b.tuple()?).map_err(at)?),
        _ => return Ok(None),
    }))
}
