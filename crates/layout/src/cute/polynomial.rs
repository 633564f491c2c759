//! Polynomials over sizes: what strides such as `M*K` are, so that one can be divided by another.
//!
//! In: expressions over parameters.  Out: sums of products with whole coefficients, and exact quotients. A quotient that is not exact is a
//! size of its own, known by its text.

use std::collections::BTreeMap;

use crate::error::{Error, Result, add, multiply};
use crate::transform::Expr;

/// A product of sizes, in order, each as often as it occurs.
type Product = Vec<Size>;

/// A parameter, or a quotient; ordered by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    text: String,
    expr: Box<Opaque>,
}

/// An expression that is not looked into. Its order is that of its text, which is compared first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Opaque(Expr);

impl PartialOrd for Opaque {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Opaque {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.to_string().cmp(&other.0.to_string())
    }
}

/// A sum of products with coefficients that are not 0, the products with more factors last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Polynomial(BTreeMap<(usize, Product), i64>);

const STRIDE: &str = "stride";

impl Polynomial {
    pub(super) fn number(value: i64) -> Polynomial {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert((0, Vec::new()), value);
        }
        Polynomial(terms)
    }

    /// The polynomial of an expression without inputs.
    pub(super) fn of(expr: &Expr) -> Result<Polynomial> {
        match expr {
            Expr::Const(value) => Ok(Polynomial::number(*value)),
            Expr::Add(a, b) => Polynomial::of(a)?.plus(&Polynomial::of(b)?, 1, &Vec::new()),
            Expr::Mul(a, b) => Polynomial::of(a)?.times(&Polynomial::of(b)?),
            Expr::Div(a, b) => {
                let (whole, by) = (Polynomial::of(a)?, Polynomial::of(b)?);
                match whole.divided_by(&by)? {
                    Some(quotient) => Ok(quotient),
                    None => Ok(Polynomial::size(expr)),
                }
            }
            Expr::Param(_) => Ok(Polynomial::size(expr)),
            other => Err(Error::inadmissible(STRIDE, format!("`{other}` is not made of sizes"))),
        }
    }

    fn size(expr: &Expr) -> Polynomial {
        let size = Size { text: expr.to_string(), expr: Box::new(Opaque(expr.clone())) };
        Polynomial(BTreeMap::from([((1, vec![size]), 1)]))
    }

    pub(super) fn constant(&self) -> Option<i64> {
        match self.0.first_key_value() {
            None => Some(0),
            Some(((0, _), value)) if self.0.len() == 1 => Some(*value),
            Some(_) => None,
        }
    }

    pub(super) fn times(&self, other: &Polynomial) -> Result<Polynomial> {
        let mut product = Polynomial::number(0);
        for ((_, factors), coefficient) in &self.0 {
            product = product.plus(other, *coefficient, factors)?;
        }
        Ok(product)
    }

    /// With the other one added, times a coefficient and a product.
    fn plus(mut self, other: &Polynomial, coefficient: i64, factors: &Product) -> Result<Polynomial> {
        for ((_, product), value) in &other.0 {
            let mut product: Product = product.iter().chain(factors).cloned().collect();
            product.sort();
            let key = (product.len(), product);
            let before = self.0.get(&key).copied().unwrap_or(0);
            match add(STRIDE, before, multiply(STRIDE, *value, coefficient)?)? {
                0 => self.0.remove(&key),
                sum => self.0.insert(key, sum),
            };
        }
        Ok(self)
    }

    /// The exact quotient, if there is one.
    pub(super) fn divided_by(&self, divisor: &Polynomial) -> Result<Option<Polynomial>> {
        let Some(((_, lead), by)) = divisor.0.last_key_value() else { return Ok(None) };
        let (mut rest, mut quotient) = (self.clone(), Polynomial::number(0));
        while let Some(((_, product), value)) = rest.0.last_key_value() {
            let Some(factors) = without(product, lead).filter(|_| value % by == 0) else { return Ok(None) };
            let value = value.checked_div(*by).ok_or(Error::Overflow { operation: STRIDE })?;
            let negated = value.checked_neg().ok_or(Error::Overflow { operation: STRIDE })?;
            quotient = quotient.plus(&Polynomial::number(1), value, &factors)?;
            rest = rest.plus(divisor, negated, &factors)?;
        }
        Ok(Some(quotient))
    }

    /// As an expression again, the products with most factors first.
    pub(super) fn expr(&self) -> Expr {
        let term = |((_, product), value): (&(usize, Product), &i64)| {
            let factors = product.iter().map(|size| size.expr.0.clone()).reduce(Expr::mul);
            factors.map_or(Expr::Const(*value), |factors| factors.times(*value))
        };
        self.0.iter().rev().map(term).reduce(Expr::add).unwrap_or(Expr::Const(0))
    }
}

/// The factors of a product that are left when others are taken away, if all of these are there.
fn without(product: &Product, taken: &Product) -> Option<Product> {
    let mut left = product.clone();
    for size in taken {
        left.remove(left.iter().position(|one| one == size)?);
    }
    Some(left)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Polynomial;
    use crate::transform::Expr;

    fn of(expr: Expr) -> Polynomial {
        Polynomial::of(&expr).unwrap()
    }

    fn n() -> Expr {
        Expr::param("N")
    }

    fn m() -> Expr {
        Expr::param("M")
    }

    #[test]
    fn quotients_are_exact_or_none() {
        let whole = of(n().mul(m()).add(n().times(3)));
        assert_eq!(whole.divided_by(&of(n())).unwrap(), Some(of(m().add(Expr::Const(3)))));
        assert_eq!(whole.divided_by(&of(m())).unwrap(), None);
        assert_eq!(of(n().times(6)).divided_by(&Polynomial::number(4)).unwrap(), None);
        assert_eq!(of(n()).divided_by(&Polynomial::number(0)).unwrap(), None);
    }

    #[test]
    fn a_sum_divides_what_is_a_multiple_of_it() {
        // (N + 1)·(M + 2) by N + 1, though no single product of it divides all.
        let sum = n().add(Expr::Const(1));
        let whole = of(sum.clone()).times(&of(m().add(Expr::Const(2)))).unwrap();
        assert_eq!(whole.divided_by(&of(sum)).unwrap(), Some(of(m().add(Expr::Const(2)))));
    }

    #[test]
    fn quotients_with_a_rest_are_sizes() {
        let tiles = Expr::Div(Box::new(n().add(Expr::Const(3))), Box::new(Expr::Const(4)));
        let stride = of(tiles.clone()).times(&Polynomial::number(32)).unwrap();
        assert_eq!(stride.divided_by(&Polynomial::number(32)).unwrap(), Some(of(tiles)));
    }
}
