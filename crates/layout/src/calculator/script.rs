//! Reading expressions: nested function calls over layouts, tuples, tilers, swizzles and morphisms.

use diag::Span;

use super::Located;
use crate::bridge::LinearLayout;
use crate::cute::{ComposedLayout, Layout, Swizzle};
use crate::error::Error;
use crate::iter::Schedule;
use crate::morphism::NestMorphism;
use crate::nested::{MAX_DEPTH, Nested};
use crate::text::Cursor;
use crate::transform::Transform;

/// A value of the calculator.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Layout(Layout),
    Composed(ComposedLayout),
    Swizzle(Swizzle),
    Morphism(NestMorphism),
    /// A linear layout over bits.
    Linear(LinearLayout),
    Schedule(Box<Schedule>),
    Transform(Transform),
    /// A number, a shape, a coordinate; `_` is an open place.
    Tuple(Nested<Option<i64>>),
    /// `[2:1, 4:1]` or `<2:1, 4:1>`.
    Tiler(Vec<Layout>),
    Bool(bool),
    Text(String),
    Pair(Box<Value>, Box<Value>),
}

/// A value and where it stands in the script.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) value: Value,
    pub(super) span: Span,
}

fn here(cursor: &mut Cursor<'_>) -> Span {
    let position = cursor.position();
    Span::new(position, position)
}

fn located<T>(cursor: &mut Cursor<'_>, result: Result<T, Error>) -> Located<T> {
    result.map_err(|error| (here(cursor), error))
}

/// Reads and evaluates an expression; `call` applies a function.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    depth: usize,
    call: &impl Fn(&str, Span, Vec<Argument>) -> Located<Value>,
) -> Located<Argument> {
    if depth > MAX_DEPTH {
        let error = cursor.error_here(format!("calls are nested deeper than {MAX_DEPTH}"));
        return Err((here(cursor), error));
    }
    let start = cursor.position();
    let value = match cursor.peek() {
        Some(open @ ('[' | '<')) => {
            cursor.eat(open);
            Value::Tiler(tiler(cursor, if open == '[' { ']' } else { '>' }, depth, call)?)
        }
        Some(letter) if letter.is_ascii_alphabetic() => {
            let name = cursor.name().unwrap_or_default();
            let named = Span::new(start, start + name.len());
            let open = cursor.expect('(');
            located(cursor, open)?;
            let mut arguments = Vec::new();
            while !cursor.eat(')') {
                if !arguments.is_empty() {
                    let comma = cursor.expect(',');
                    located(cursor, comma)?;
                }
                arguments.push(read(cursor, depth + 1, call)?);
            }
            call(name, named, arguments)?
        }
        _ => {
            let literal = literal(cursor);
            located(cursor, literal)?
        }
    };
    Ok(Argument { value, span: Span::new(start, cursor.position()) })
}

fn tiler(
    cursor: &mut Cursor<'_>,
    close: char,
    depth: usize,
    call: &impl Fn(&str, Span, Vec<Argument>) -> Located<Value>,
) -> Located<Vec<Layout>> {
    let mut layouts = Vec::new();
    while !cursor.eat(close) {
        if !layouts.is_empty() {
            let comma = cursor.expect(',');
            located(cursor, comma)?;
        }
        let argument = read(cursor, depth + 1, call)?;
        layouts.push(argument.layout()?);
    }
    Ok(layouts)
}

/// A tuple, or a layout if a stride follows.
fn literal(cursor: &mut Cursor<'_>) -> Result<Value, Error> {
    let start = cursor.position();
    let shape = cursor.nested(&mut |cursor| if cursor.eat('_') { Ok(None) } else { cursor.integer().map(Some) })?;
    if !cursor.eat(':') {
        return Ok(Value::Tuple(shape));
    }
    let stride = cursor.nested(&mut Cursor::integer)?;
    let end = cursor.position();
    let wrong = |error: Error| Error::Syntax { at: Span::new(start, end), message: error.to_string() };
    let shape = closed(&shape).ok_or_else(|| wrong(Error::inadmissible("layout", "`_` is not a shape")))?;
    Layout::new(&shape, &stride).map(Value::Layout).map_err(wrong)
}

/// The tuple without open places.
fn closed(tuple: &Nested<Option<i64>>) -> Option<Nested<i64>> {
    tuple.try_map(&mut |entry| entry.ok_or(Error::Overflow { operation: "tuple" })).ok()
}

impl Argument {
    pub(super) fn wrong<T>(&self, wanted: &str) -> Located<T> {
        Err((self.span, Error::Syntax { at: self.span, message: format!("expected {wanted}") }))
    }

    /// A layout; a shape stands for its compact layout.
    pub(super) fn layout(&self) -> Located<Layout> {
        match &self.value {
            Value::Layout(layout) => Ok(layout.clone()),
            Value::Tuple(_) => {
                let shape = self.tuple()?;
                Layout::compact(&shape).map_err(|error| (self.span, error))
            }
            _ => self.wrong("a layout"),
        }
    }

    pub(super) fn layouts(&self) -> Located<Vec<Layout>> {
        match &self.value {
            Value::Tiler(layouts) => Ok(layouts.clone()),
            _ => Ok(vec![self.layout()?]),
        }
    }

    pub(super) fn tuple(&self) -> Located<Nested<i64>> {
        match &self.value {
            Value::Tuple(tuple) => closed(tuple).map_or_else(|| self.wrong("a tuple without `_`"), Ok),
            _ => self.wrong("a number or a tuple"),
        }
    }

    pub(super) fn coordinate(&self) -> Located<Nested<Option<i64>>> {
        match &self.value {
            Value::Tuple(tuple) => Ok(tuple.clone()),
            _ => self.wrong("a coordinate"),
        }
    }

    pub(super) fn integer(&self) -> Located<i64> {
        match &self.value {
            Value::Tuple(Nested::Leaf(Some(value))) => Ok(*value),
            _ => self.wrong("a number"),
        }
    }

    pub(super) fn swizzle(&self) -> Located<Swizzle> {
        match &self.value {
            Value::Swizzle(swizzle) => Ok(*swizzle),
            _ => self.wrong("a swizzle"),
        }
    }

    pub(super) fn matrix(&self) -> Located<LinearLayout> {
        match &self.value {
            Value::Linear(matrix) => Ok(matrix.clone()),
            _ => self.wrong("a matrix over bits, as `linear` gives"),
        }
    }

    pub(super) fn morphism(&self) -> Located<NestMorphism> {
        match &self.value {
            Value::Morphism(morphism) => Ok(morphism.clone()),
            _ => self.wrong("a morphism"),
        }
    }
}
