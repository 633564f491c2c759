//! Nested tuples, layouts and morphisms as JSON, in the schema of the oracle files.

use serde_json::{Map, Value, json};

use crate::cute::Layout;
use crate::error::{Error, Result};
use crate::morphism::{NestMorphism, TupleMorphism};
use crate::nested::{MAX_DEPTH, Nested};

const INPUT: &str = "input";

pub(super) fn wrong(message: impl Into<String>) -> Error {
    Error::inadmissible(INPUT, message)
}

/// The fields of one case.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) fn value(self, name: &str) -> Result<&'a Value> {
        self.0.get(name).ok_or_else(|| wrong(format!("`{name}` is missing")))
    }

    pub(super) fn integer(self, name: &str) -> Result<i64> {
        integer(self.value(name)?)
    }

    pub(super) fn integers(self, name: &str) -> Result<Vec<i64>> {
        list(self.value(name)?)?.iter().map(integer).collect()
    }

    pub(super) fn nested(self, name: &str) -> Result<Nested<i64>> {
        nested(self.value(name)?, &mut integer)
    }

    pub(super) fn layout(self, name: &str) -> Result<Layout> {
        layout(self.value(name)?)
    }

    pub(super) fn layouts(self, name: &str) -> Result<Vec<Layout>> {
        list(self.value(name)?)?.iter().map(layout).collect()
    }

    pub(super) fn morphism(self, name: &str) -> Result<TupleMorphism> {
        let fields = object(self.value(name)?)?;
        TupleMorphism::new(fields.integers("dom")?, fields.integers("cod")?, fields.positions("map")?)
    }

    pub(super) fn nest_morphism(self, name: &str) -> Result<NestMorphism> {
        let fields = object(self.value(name)?)?;
        NestMorphism::new(fields.nested("dom")?, fields.nested("cod")?, fields.positions("map")?)
    }

    pub(super) fn positions(self, name: &str) -> Result<Vec<usize>> {
        self.integers(name)?
            .into_iter()
            .map(|position| usize::try_from(position).map_err(|_| wrong(format!("position {position} is negative"))))
            .collect()
    }
}

pub(super) fn object(value: &Value) -> Result<Fields<'_>> {
    value.as_object().map(Fields).ok_or_else(|| wrong("expected an object"))
}

pub(super) fn list(value: &Value) -> Result<&[Value]> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong("expected a list"))
}

pub(super) fn integer(value: &Value) -> Result<i64> {
    value.as_i64().ok_or_else(|| wrong(format!("expected an integer of 64 bits, but there is {value}")))
}

pub(super) fn optional(value: &Value) -> Result<Option<i64>> {
    if value.is_null() { Ok(None) } else { integer(value).map(Some) }
}

pub(super) fn nested<T>(value: &Value, leaf: &mut impl FnMut(&Value) -> Result<T>) -> Result<Nested<T>> {
    nested_at(value, leaf, 0)
}

fn nested_at<T>(value: &Value, leaf: &mut impl FnMut(&Value) -> Result<T>, depth: usize) -> Result<Nested<T>> {
    let Value::Array(entries) = value else { return Ok(Nested::Leaf(leaf(value)?)) };
    if depth >= MAX_DEPTH {
        return Err(wrong(format!("nested deeper than {MAX_DEPTH}")));
    }
    Ok(Nested::Tuple(entries.iter().map(|entry| nested_at(entry, leaf, depth + 1)).collect::<Result<_>>()?))
}

pub(super) fn layout(value: &Value) -> Result<Layout> {
    let fields = object(value)?;
    Layout::new(&fields.nested("shape")?, &fields.nested("stride")?)
}

pub(super) fn from_nested(nested: &Nested<i64>) -> Value {
    match nested {
        Nested::Leaf(entry) => Value::from(*entry),
        Nested::Tuple(entries) => Value::Array(entries.iter().map(from_nested).collect()),
    }
}

pub(super) fn from_layout(layout: &Layout) -> Value {
    json!({ "shape": from_nested(&layout.shape()), "stride": from_nested(&layout.stride()) })
}

pub(super) fn from_morphism(morphism: &TupleMorphism) -> Value {
    json!({ "dom": morphism.domain(), "cod": morphism.codomain(), "map": morphism.map() })
}

pub(super) fn from_nest_morphism(morphism: &NestMorphism) -> Value {
    json!({
        "dom": from_nested(morphism.domain()),
        "cod": from_nested(morphism.codomain()),
        "map": morphism.map(),
    })
}
