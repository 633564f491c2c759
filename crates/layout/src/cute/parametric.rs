//! Layouts whose shapes and strides are sizes: `(N, M):(M, 1)`, `((4, (N + 3)/4), M):((1, 4*M), 4)`.
//!
//! In: the text.  Out: a map from one index per mode to the digits of the offset. `i*M + j` is not affine, but its digits are: where each
//! stride is a multiple of the next smaller one, the offset is a number in a mixed radix, and a mode is counted in the digit of its stride.
//! The offset is the place in an array whose extents are the quotients of the strides.
//! Not here: whether a digit stays below the next stride for all sizes, which is a question about the array that is laid out.

use diag::Span;

use super::polynomial::Polynomial;
use crate::error::{Error, Result};
use crate::nested::{MAX_DEPTH, Nested};
use crate::text::Cursor;
use crate::transform::{Axis, Expr, Transform};

/// Whether a text is a layout that speaks of sizes by name; steps, graphs and calls of functions are not.
pub fn is_parametric(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    let is_call = cursor.name().is_some() && matches!(cursor.peek(), Some('(' | ';'));
    !is_call && text.contains(|letter: char| letter.is_ascii_alphabetic())
}

/// The map of a layout from one index per mode, or, where there is one subscript only, of one index.
pub(crate) fn parametric(text: &str, rank: usize) -> Result<Transform> {
    let mut cursor = Cursor::new(text);
    let shape = nested(&mut cursor, 0)?;
    let stride = if cursor.eat(':') { nested(&mut cursor, 0)? } else { compact(&shape)? };
    cursor.end()?;
    if !shape.is_congruent(&stride) {
        let message = format!("the shape {shape} and the stride {stride} are not nested alike");
        return Err(Error::Syntax { at: Span::new(0, text.len()), message });
    }
    let modes = match rank {
        1 => vec![(&shape, &stride)],
        _ => shape.modes().iter().zip(stride.modes()).collect(),
    };
    transform(&modes)
}

/// The strides of a shape alone: the leftmost runs fastest.
fn compact(shape: &Nested<Expr>) -> Result<Nested<Expr>> {
    let mut product = Polynomial::number(1);
    shape.try_map(&mut |extent| {
        let before = product.expr();
        product = product.times(&Polynomial::of(extent)?)?;
        Ok(before)
    })
}

/// A leaf: where in the index of its mode it is counted, how far, and in which stride.
struct Counted {
    digit: Expr,
    extent: Expr,
    stride: Polynomial,
}

const LAYOUT: &str = "layout";

fn transform(modes: &[(&Nested<Expr>, &Nested<Expr>)]) -> Result<Transform> {
    let (mut inputs, mut leaves) = (Vec::new(), Vec::new());
    for (position, (shape, stride)) in modes.iter().enumerate() {
        let extents: Vec<(&Expr, &Expr)> = shape.leaves().into_iter().zip(stride.leaves()).collect();
        // One item has the index 0, whatever its stride is.
        let counted: Vec<_> = extents.into_iter().filter(|(extent, _)| extent.constant() != Some(1)).collect();
        let mut size = Expr::Const(1);
        for (at, (extent, stride)) in counted.iter().enumerate() {
            if extent.constant().is_some_and(|extent| extent < 1) {
                return Err(Error::inadmissible(LAYOUT, format!("the shape {extent} is not positive")));
            }
            let rest = Expr::Input(position).div(size.clone());
            let digit = if at + 1 == counted.len() { rest } else { rest.modulo((*extent).clone()) };
            leaves.push(Counted { digit, extent: (*extent).clone(), stride: Polynomial::of(stride)? });
            size = size.mul((*extent).clone());
        }
        inputs.push(Axis::new(format!("i{position}"), Polynomial::of(&size)?.expr()));
    }
    // A stride of 0 does not move.
    leaves.retain(|leaf| leaf.stride.constant() != Some(0));
    let (mut outputs, mut index) = (Vec::new(), Vec::new());
    let strides = chain(leaves.iter().map(|leaf| &leaf.stride))?;
    for (position, stride) in strides.iter().enumerate().rev() {
        let here: Vec<&Counted> = leaves.iter().filter(|leaf| leaf.stride == *stride).collect();
        let extent = match strides.get(position + 1) {
            Some(next) => next.divided_by(stride)?.ok_or_else(|| incomparable(stride, next))?,
            None => reached(&here)?,
        };
        outputs.push(Axis::new(format!("x{position}"), extent.expr()));
        index.push(here.iter().map(|leaf| leaf.digit.clone()).reduce(Expr::add).unwrap_or(Expr::Const(0)));
    }
    Transform::new(inputs, outputs, index)
}

/// How many values the sum of some digits has.
fn reached(leaves: &[&Counted]) -> Result<Polynomial> {
    let [one] = leaves else {
        let mut most = Expr::Const(1);
        for leaf in leaves {
            most = most.add(leaf.extent.clone()).sub(Expr::Const(1));
        }
        return Polynomial::of(&most);
    };
    Polynomial::of(&one.extent)
}

/// 1 and all strides, each a divisor of the next.
fn chain<'a>(strides: impl Iterator<Item = &'a Polynomial>) -> Result<Vec<Polynomial>> {
    let mut left: Vec<&Polynomial> = Vec::new();
    for stride in strides {
        if stride.constant().is_some_and(|stride| stride < 0) {
            let message = format!("the stride {} puts cells in front of the first place", stride.expr());
            return Err(Error::inadmissible(LAYOUT, message));
        }
        if stride.constant() != Some(1) && !left.contains(&stride) {
            left.push(stride);
        }
    }
    let mut chain = vec![Polynomial::number(1)];
    while !left.is_empty() {
        let mut least = None;
        for (position, stride) in left.iter().enumerate() {
            let mut divides = true;
            for other in &left {
                divides &= other.divided_by(stride)?.is_some();
            }
            if divides {
                least = Some(position);
                break;
            }
        }
        let Some(position) = least else { return Err(incomparable(left[0], left[1])) };
        chain.push(left.swap_remove(position).clone());
    }
    Ok(chain)
}

fn incomparable(a: &Polynomial, b: &Polynomial) -> Error {
    let message = format!(
        "neither of the strides {} and {} is a multiple of the other for all sizes, so offsets have no digits",
        a.expr(),
        b.expr()
    );
    Error::inadmissible(LAYOUT, message)
}

/// A tuple, or a size. What begins with a parenthesis is a size if it is one expression with arithmetic around it: `(N + 3)/4`.
fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Nested<Expr>> {
    if depth >= MAX_DEPTH {
        return Err(cursor.error_here(format!("nested deeper than {MAX_DEPTH}")));
    }
    if cursor.peek() != Some('(') {
        return Ok(Nested::Leaf(sum(cursor, None, depth)?));
    }
    cursor.expect('(')?;
    let mut modes = Vec::new();
    while !cursor.eat(')') {
        if !modes.is_empty() {
            cursor.expect(',')?;
            if cursor.eat(')') {
                break;
            }
        }
        modes.push(nested(cursor, depth + 1)?);
    }
    match (modes.as_slice(), cursor.peek()) {
        ([Nested::Leaf(expr)], Some('+' | '-' | '*' | '/')) => {
            Ok(Nested::Leaf(sum(cursor, Some(expr.clone()), depth)?))
        }
        _ => Ok(Nested::Tuple(modes)),
    }
}

/// Sums and products of sizes; `begun` is a first factor that has been read.
fn sum(cursor: &mut Cursor<'_>, begun: Option<Expr>, depth: usize) -> Result<Expr> {
    let mut value = product(cursor, begun, depth)?;
    loop {
        if cursor.eat('+') {
            value = value.add(product(cursor, None, depth)?);
        } else if cursor.eat('-') {
            value = value.sub(product(cursor, None, depth)?);
        } else {
            return Ok(value);
        }
    }
}

fn product(cursor: &mut Cursor<'_>, begun: Option<Expr>, depth: usize) -> Result<Expr> {
    let mut value = match begun {
        Some(value) => value,
        None => factor(cursor, depth)?,
    };
    loop {
        if cursor.eat('*') {
            value = value.mul(factor(cursor, depth)?);
        } else if cursor.eat('/') {
            let divisor = factor(cursor, depth)?;
            if divisor.constant().is_none_or(|divisor| divisor < 1) {
                return Err(cursor.error_here("sizes are divided by positive numbers only"));
            }
            value = value.div(divisor);
        } else {
            return Ok(value);
        }
    }
}

fn factor(cursor: &mut Cursor<'_>, depth: usize) -> Result<Expr> {
    if depth >= MAX_DEPTH {
        return Err(cursor.error_here(format!("nested deeper than {MAX_DEPTH}")));
    }
    if cursor.eat('(') {
        let value = sum(cursor, None, depth + 1)?;
        cursor.expect(')')?;
        return Ok(value);
    }
    match cursor.name() {
        Some(name) => Ok(Expr::param(name)),
        None if cursor.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') => cursor.integer().map(Expr::Const),
        None => Err(cursor.unexpected("a number or a size")),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::parametric;
    use crate::transform::Params;

    fn shown(text: &str, rank: usize) -> String {
        parametric(text, rank).map_or_else(|error| error.to_string(), |transform| transform.to_string())
    }

    #[test]
    fn strides_become_digits() {
        let columns = "[i0: N, i1: M] -> [x1: M, x0: N] = [i1, i0]";
        assert_eq!(shown("(N, M):(1, N)", 2), columns);
        assert_eq!(shown("(N, M)", 2), columns);
        assert_eq!(shown("(N, M):(M + 3, 1)", 2), "[i0: N, i1: M] -> [x1: N, x0: M + 3] = [i0, i1]");
        assert_eq!(shown("N:3", 1), "[i0: N] -> [x1: N, x0: 3] = [i0, 0]");
        assert_eq!(
            shown("((4, (N + 3)/4), M):((1, 4*M), 4)", 2),
            "[i0: (N + 3)/4*4, i1: M] -> [x2: (N + 3)/4, x1: M, x0: 4] = [i0/4, i1, i0 mod 4]"
        );
    }

    #[test]
    fn strides_that_are_no_multiples_are_named() {
        let text = "layout: neither of the strides N and M is a multiple of the other for all sizes, so offsets have no digits";
        assert_eq!(shown("(2, 2):(N, M)", 2), text);
        assert_eq!(shown("(2, N):(-1, 2)", 2), "layout: the stride -1 puts cells in front of the first place");
    }

    /// The digits, put together, are the offset that the strides say.
    #[test]
    fn digits_put_together_are_the_offset() {
        let transform = parametric("(N, M, K):(K*M, K, 1)", 3).unwrap();
        let params: Params = [("N", 2), ("M", 3), ("K", 5)].map(|(name, value)| (name.to_owned(), value)).into();
        for cell in [[0, 0, 0], [1, 2, 4], [0, 2, 3]] {
            let place = transform.evaluate(&cell, &params).unwrap();
            let mut offset = 0;
            for (axis, digit) in transform.outputs().iter().zip(place) {
                offset = offset * axis.extent.evaluate(&[], &params).unwrap() + digit;
            }
            assert_eq!(offset, cell[0] * 15 + cell[1] * 5 + cell[2]);
        }
    }
}
