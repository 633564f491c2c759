//! The functions of the calculator, by name.

use diag::Span;

use super::draw::Table;
use super::loops::table;
use super::script::{Argument, Value, read};
use super::{Answer, Located, map_text, morphisms, past_note, product_notes, properties};
use crate::bridge::{BitAxis, LinearLayout, schedule_of_layout};
use crate::cute::{ComposedLayout, Layout, Swizzle, coordinate_of, prefix_product, shape_div};
use crate::error::{Error, Result};
use crate::iter::{Strided, vector_access};
use crate::morphism::{NestMorphism, mutual_refinement, nest_standard_form, refines};
use crate::nested::Nested;
use crate::text::Cursor;
use crate::transform::{Solver, Transform};

/// Every function with its arguments, for messages and documentation. `f` and `g` are morphisms, `m` is a matrix, `x` is
/// anything that is a map.
pub(super) const FUNCTIONS: &[(&str, &str)] = &[
    ("at", "L, index or coordinate | f, index | m, index"),
    ("bijective", "x"),
    ("blocked_product", "A, B"),
    ("coalesce", "L or f [, profile]"),
    ("coalesced", "f"),
    ("compatible", "A, B"),
    ("complement", "L, target | f"),
    ("complementable", "f"),
    ("compose", "f, g | m, m"),
    ("composed", "swizzle, offset, L"),
    ("composition", "A, B or [tiler]"),
    ("concat", "f, g"),
    ("congruent", "A, B"),
    ("coordinate", "index, shape"),
    ("cosize", "L"),
    ("depth", "L"),
    ("equivalent", "x, x"),
    ("factorise", "f, positions"),
    ("filter", "L [, profile]"),
    ("flat_divide", "A, [tiler] | f, g"),
    ("flat_product", "A, B | f, g"),
    ("flatten", "L or f"),
    ("holes", "x"),
    ("identity", "tuple"),
    ("image", "x"),
    ("injective", "x"),
    ("inverse", "x"),
    ("isomorphism", "f"),
    ("layout", "f or shape or m"),
    ("left_inverse", "L"),
    ("linear", "L or composed | columns, input bits, output bits"),
    ("logical_divide", "A, B or [tiler] | f, g"),
    ("logical_product", "A, B | f, g"),
    ("morphism", "L | domain, codomain, map"),
    ("mutual_refinement", "T, U"),
    ("non_degenerate", "L or f"),
    ("prefix_product", "shape"),
    ("pullback", "f, refinement"),
    ("pushforward", "f, refinement"),
    ("raked_product", "A, B"),
    ("rank", "L or m"),
    ("refines", "T, U"),
    ("restrict", "f, positions"),
    ("right_inverse", "L"),
    ("schedule", "L"),
    ("shape_div", "a, b"),
    ("size", "L"),
    ("slice", "L, coordinate with _"),
    ("sort", "L or f"),
    ("sorted", "f"),
    ("squeeze", "f"),
    ("strong_coalesce", "f"),
    ("sum", "f, g"),
    ("surjective", "x"),
    ("swizzle", "bits, base, shift"),
    ("swizzled", "m"),
    ("tiled_divide", "A, [tiler]"),
    ("tiled_product", "A, B"),
    ("tractable", "L"),
    ("vector_access", "outer extent:stride, inner extent:stride, factor"),
    ("weak_composite", "f, g"),
    ("zipped_divide", "A, [tiler]"),
    ("zipped_product", "A, B"),
];

pub(super) fn run(script: &str, solver: &Solver) -> Located<Answer> {
    let (argument, notes) = value_of(script, solver)?;
    Ok(answer(argument.value, notes, solver))
}

/// The map that an expression stands for, a function of one linear index where there is a choice.
pub(super) fn transform(script: &str, solver: &Solver) -> Located<Transform> {
    let (argument, _) = value_of(script, solver)?;
    properties::linear_transform(&argument)
}

/// The map of one index per mode, if there are so many; else of one linear index.
pub(super) fn storage(script: &str, rank: usize, solver: &Solver) -> Located<Transform> {
    let (argument, _) = value_of(script, solver)?;
    let at = |error: Error| (argument.span, error);
    match &argument.value {
        Value::Layout(layout) if rank != 1 || layout.rank() == 1 => layout.to_mode_transform().map_err(at),
        Value::Tuple(_) => argument.layout()?.to_mode_transform().map_err(at),
        Value::Composed(composed) if rank != 1 => composed.to_mode_transform().map_err(at),
        Value::Pair(layout, offset) => match (layout.as_ref(), offset.as_ref()) {
            (Value::Layout(slice), Value::Tuple(Nested::Leaf(Some(offset)))) => {
                slice.to_mode_transform_from(*offset).map_err(at)
            }
            _ => properties::linear_transform(&argument),
        },
        _ => properties::linear_transform(&argument),
    }
}

fn value_of(script: &str, solver: &Solver) -> Located<(Argument, Vec<String>)> {
    let mut cursor = Cursor::new(script);
    let notes = std::cell::RefCell::new(Vec::new());
    let argument = read(&mut cursor, 0, &|name, span, arguments| call(name, span, &arguments, &notes, solver))?;
    cursor.end().map_err(|error| (argument.span, error))?;
    Ok((argument, notes.into_inner()))
}

fn answer(value: Value, mut notes: Vec<String>, solver: &Solver) -> Answer {
    let table = match &value {
        Value::Layout(layout) => Table::of_layout(layout).ok(),
        Value::Composed(composed) => Table::of_function(&composed.layout, |index| {
            Ok(composed.swizzle.apply(crate::error::add("draw", index, composed.offset)?))
        })
        .ok(),
        Value::Morphism(morphism) => morphism.layout().and_then(|layout| Table::of_layout(&layout)).ok(),
        Value::Linear(matrix) => Table::of_numbers(matrix.input_size(), |index| matrix.at(index)).ok(),
        Value::Schedule(schedule) => table(schedule).ok().flatten(),
        _ => None,
    };
    let transform = properties::coordinate_transform(&value);
    let map = transform.and_then(|transform| map_text(solver, &transform, &mut notes));
    Answer { result: text(&value), map, notes, table }
}

fn text(value: &Value) -> String {
    match value {
        Value::Layout(layout) => layout.to_string(),
        Value::Composed(composed) => composed.to_string(),
        Value::Swizzle(swizzle) => swizzle.to_string(),
        Value::Morphism(morphism) => morphism.to_string(),
        Value::Linear(matrix) => matrix.to_string(),
        Value::Schedule(schedule) => schedule.to_string(),
        Value::Transform(transform) => transform.to_string(),
        Value::Tuple(tuple) => tuple.map(&mut |entry| entry.map_or("_".to_owned(), |n| n.to_string())).to_string(),
        Value::Tiler(layouts) => {
            format!("[{}]", layouts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        Value::Pair(a, b) => format!("{}, {}", text(a), text(b)),
    }
}

pub(super) fn number(value: i64) -> Value {
    Value::Tuple(Nested::Leaf(Some(value)))
}

fn tuple(nested: &Nested<i64>) -> Value {
    Value::Tuple(nested.map(&mut |&entry| Some(entry)))
}

fn call(
    name: &str,
    span: Span,
    arguments: &[Argument],
    notes: &std::cell::RefCell<Vec<String>>,
    solver: &Solver,
) -> Located<Value> {
    let at = |error: Error| (span, error);
    let value = match arguments {
        _ if properties::NAMES.contains(&name) => properties::ask(name, span, arguments, solver)?,
        [a] if matches!(a.value, Value::Morphism(_)) => morphisms::of_one(name, &a.morphism()?).map_err(at)?,
        [a, b] if matches!(a.value, Value::Morphism(_)) => morphisms::of_two(name, span, &a.morphism()?, b)?,
        [a, rest @ ..] if matches!(a.value, Value::Linear(_)) => of_matrix(name, span, &a.matrix()?, rest)?,
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
        "linear" => Value::Linear(
            match &a.value {
                Value::Composed(composed) => LinearLayout::of_swizzled(composed),
                _ => LinearLayout::of_layout(&a.layout()?),
            }
            .map_err(at)?,
        ),
        "identity" => Value::Morphism(NestMorphism::identity(&a.tuple()?).map_err(at)?),
        "non_degenerate" => Value::Bool(a.layout()?.is_non_degenerate()),
        "schedule" => Value::Schedule(Box::new(schedule_of_layout(&a.layout()?).map_err(at)?)),
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
        "refines" => Value::Bool(refines(&a.tuple()?, &b.tuple()?)),
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
        "composed" if b.integer()? < 0 => return b.wrong("an offset that is not negative"),
        "composed" => {
            Value::Composed(ComposedLayout { swizzle: a.swizzle()?, offset: b.integer()?, layout: c.layout()? })
        }
        "morphism" => {
            let map = c.tuple()?.entries().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
            let map = map.map_err(|_| at(Error::inadmissible("morphism", "a position is negative")))?;
            Value::Morphism(NestMorphism::new(a.tuple()?, b.tuple()?, map).map_err(at)?)
        }
        "linear" => {
            let (inputs, outputs) = (bit_axes("i", &b.tuple()?).map_err(at)?, bit_axes("x", &c.tuple()?).map_err(at)?);
            let columns = a.tuple()?.entries().into_iter().map(u64::try_from).collect::<Result<Vec<_>, _>>();
            let columns = columns.map_err(|_| at(Error::inadmissible("linear layout", "a column is negative")))?;
            Value::Linear(LinearLayout::new(inputs, outputs, columns).map_err(at)?)
        }
        "vector_access" => {
            let strided = |argument: &Argument| match argument.layout()?.flat_modes()[..] {
                [mode] => Ok(Strided { extent: mode.shape, stride: mode.stride }),
                _ => argument.wrong("one dimension, as extent:stride"),
            };
            Value::Text(vector_access(strided(a)?, strided(b)?, c.integer()?).to_string())
        }
        _ => return Ok(None),
    }))
}

/// A matrix over bits, alone or with another argument.
fn of_matrix(name: &str, span: Span, matrix: &LinearLayout, rest: &[Argument]) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    Ok(Some(match (name, rest) {
        ("layout", []) => Value::Layout(matrix.to_layout().map_err(at)?),
        ("swizzled", []) => Value::Composed(matrix.to_swizzled().map_err(at)?),
        ("inverse", []) => Value::Linear(matrix.inverse().map_err(at)?),
        ("rank", []) => number(i64::try_from(matrix.rank()).unwrap_or(i64::MAX)),
        ("compose", [next]) => Value::Linear(matrix.then(&next.matrix()?).map_err(at)?),
        ("at", [index]) => number(matrix.at(index.integer()?).map_err(at)?),
        _ => return Ok(None),
    }))
}

/// Groups of bits: `5` is one, `(2,3)` are two.
fn bit_axes(name: &str, bits: &Nested<i64>) -> Result<Vec<BitAxis>> {
    let groups = bits.entries();
    let axis = |(position, &bits): (usize, &i64)| {
        let name = if groups.len() == 1 { name.to_owned() } else { format!("{name}{position}") };
        let bits = u32::try_from(bits).ok().filter(|&bits| bits <= 62);
        bits.map(|bits| BitAxis::new(name, bits)).ok_or(Error::Overflow { operation: "linear layout" })
    };
    groups.iter().enumerate().map(axis).collect()
}
