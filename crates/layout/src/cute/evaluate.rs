//! Layouts as functions: of a linear index, of a (partly) nested coordinate; slices of them.

use super::{Layout, Mode};
use crate::error::{Error, Result, add, multiply};
use crate::nested::Nested;

const EVALUATE: &str = "evaluate";

impl Layout {
    /// The value at a linear index; past the size, the last mode runs on.
    pub fn at(&self, index: i64) -> Result<i64> {
        if index < 0 {
            return Err(Error::inadmissible(EVALUATE, format!("the index {index} is negative")));
        }
        linear(&self.modes, index)
    }

    /// The value at a coordinate; where the coordinate has a number for a tuple, it is a linear index into it.
    pub fn at_coordinate(&self, coordinate: &Nested<i64>) -> Result<i64> {
        at(&self.modes, &coordinate.map(&mut |&entry| Some(entry)))
    }

    /// The modes that the coordinate leaves open, and the value at the coordinates it fixes.
    pub fn slice_and_offset(&self, coordinate: &Nested<Option<i64>>) -> Result<(Layout, i64)> {
        let offset = at(&self.modes, coordinate)?;
        let mut open = Vec::new();
        collect_open(&self.modes, coordinate, &mut open)?;
        Ok((Layout { modes: Nested::Tuple(open) }, offset))
    }
}

fn linear(modes: &Nested<Mode>, index: i64) -> Result<i64> {
    match modes {
        Nested::Leaf(mode) => multiply(EVALUATE, index, mode.stride),
        Nested::Tuple(modes) => {
            let Some((last, bounded)) = modes.split_last() else { return Ok(0) };
            let (mut rest, mut value) = (index, 0);
            for mode in bounded {
                let size = size(mode);
                value = add(EVALUATE, value, linear(mode, rest % size)?)?;
                rest /= size;
            }
            add(EVALUATE, value, linear(last, rest)?)
        }
    }
}

fn size(modes: &Nested<Mode>) -> i64 {
    let mut size = 1;
    modes.for_each(&mut |mode| size *= mode.shape);
    size
}

fn at(modes: &Nested<Mode>, coordinate: &Nested<Option<i64>>) -> Result<i64> {
    match (modes, coordinate) {
        (_, Nested::Leaf(None)) => Ok(0),
        (modes, Nested::Leaf(Some(index))) if *index >= 0 => linear(modes, *index),
        (_, Nested::Leaf(Some(index))) => {
            Err(Error::inadmissible(EVALUATE, format!("the coordinate {index} is negative")))
        }
        (Nested::Tuple(modes), Nested::Tuple(coordinate)) if modes.len() == coordinate.len() => {
            modes.iter().zip(coordinate).try_fold(0, |value, (mode, entry)| add(EVALUATE, value, at(mode, entry)?))
        }
        _ => Err(does_not_fit()),
    }
}

fn collect_open(modes: &Nested<Mode>, coordinate: &Nested<Option<i64>>, open: &mut Vec<Nested<Mode>>) -> Result<()> {
    match (modes, coordinate) {
        (modes, Nested::Leaf(None)) => open.push(modes.clone()),
        (_, Nested::Leaf(Some(_))) => {}
        (Nested::Tuple(modes), Nested::Tuple(coordinate)) if modes.len() == coordinate.len() => {
            for (mode, entry) in modes.iter().zip(coordinate) {
                collect_open(mode, entry, open)?;
            }
        }
        _ => return Err(does_not_fit()),
    }
    Ok(())
}

fn does_not_fit() -> Error {
    Error::profile(EVALUATE, "the coordinate does not have the nesting of the shape")
}

/// The coordinate of a linear index in a shape; every entry, also the last, is taken modulo its shape.
pub fn coordinate_of(index: i64, shape: &Nested<i64>) -> Result<Nested<i64>> {
    const COORDINATE: &str = "coordinate";
    if index < 0 {
        return Err(Error::inadmissible(COORDINATE, format!("the index {index} is negative")));
    }
    let mut rest = index;
    shape.try_map(&mut |&entry| {
        if entry < 1 {
            return Err(Error::inadmissible(COORDINATE, format!("shape {entry} is not positive")));
        }
        let digit = rest % entry;
        rest /= entry;
        Ok(digit)
    })
}
