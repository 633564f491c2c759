//! Index expressions: integer arithmetic over inputs and parameters.
//!
//! The constructors fold constants and the few identities that splits and merges produce, so that expressions stay
//! readable; they never change a value.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, Result};

/// Values of the parameters.
pub type Params = BTreeMap<String, i64>;

/// An integer expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// An input by position.
    Input(usize),
    /// A parameter by name.
    Param(String),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// A product.
    Mul(Box<Expr>, Box<Expr>),
    /// Floor division by something positive.
    Div(Box<Expr>, Box<Expr>),
    /// Remainder of that division.
    Mod(Box<Expr>, Box<Expr>),
    /// `a` with its lowest `bits` bits xored with those of `b`. An `a` past 2 to the `bits` stays past it.
    Xor {
        /// The number that is changed.
        a: Box<Expr>,
        /// The number it is xored with.
        b: Box<Expr>,
        /// How many bits of it change.
        bits: u32,
    },
    /// `then` where `condition` is not negative, `otherwise` elsewhere.
    Select {
        /// What decides.
        condition: Box<Expr>,
        /// The value where it is not negative.
        then: Box<Expr>,
        /// The value where it is.
        otherwise: Box<Expr>,
    },
}

/// Expressions with more nodes, or deeper, than this are refused, so that no script can make them explode.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 300;

impl Expr {
    /// A parameter by name.
    pub fn param(name: impl Into<String>) -> Expr {
        Expr::Param(name.into())
    }

    /// Its value, if it is a number.
    pub fn constant(&self) -> Option<i64> {
        if let Expr::Const(value) = self { Some(*value) } else { None }
    }

    /// The sum, simplified.
    #[expect(clippy::should_implement_trait, reason = "the result is simplified, and `+` would hide that")]
    pub fn add(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Const(0), other) | (other, Expr::Const(0)) => other,
            (Expr::Const(a), Expr::Const(b)) if a.checked_add(b).is_some() => Expr::Const(a + b),
            (Expr::Const(a), other) if other.constant().is_none() => other.add(Expr::Const(a)),
            (Expr::Add(x, a), Expr::Const(b)) if a.constant().and_then(|a| a.checked_add(b)).is_some() => {
                let sum = a.constant().map_or(0, |a| a + b);
                x.add(Expr::Const(sum))
            }
            (a, b) => match recombine(&a, &b).or_else(|| recombine(&b, &a)) {
                Some(whole) => whole,
                None => Expr::Add(Box::new(a), Box::new(b)),
            },
        }
    }

    /// The difference, simplified.
    #[expect(clippy::should_implement_trait, reason = "the result is simplified, and `-` would hide that")]
    pub fn sub(self, other: Expr) -> Expr {
        if self == other { Expr::Const(0) } else { self.add(other.times(-1)) }
    }

    /// The product, simplified.
    #[expect(clippy::should_implement_trait, reason = "the result is simplified, and `*` would hide that")]
    pub fn mul(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Const(0), _) | (_, Expr::Const(0)) => Expr::Const(0),
            (Expr::Const(1), other) | (other, Expr::Const(1)) => other,
            (Expr::Const(a), Expr::Const(b)) if a.checked_mul(b).is_some() => Expr::Const(a * b),
            (Expr::Const(a), other) if other.constant().is_none() => other.mul(Expr::Const(a)),
            (Expr::Mul(x, a), Expr::Const(b)) if a.constant().and_then(|a| a.checked_mul(b)).is_some() => {
                let product = a.constant().map_or(1, |a| a * b);
                x.mul(Expr::Const(product))
            }
            (a, b) => Expr::Mul(Box::new(a), Box::new(b)),
        }
    }

    /// A multiple, simplified.
    pub fn times(self, factor: i64) -> Expr {
        self.mul(Expr::Const(factor))
    }

    /// The quotient, rounded down, simplified.
    #[expect(clippy::should_implement_trait, reason = "the result is simplified, and `/` would hide that")]
    pub fn div(self, divisor: Expr) -> Expr {
        match (self, divisor) {
            (a, Expr::Const(1)) => a,
            (Expr::Const(a), Expr::Const(b)) if b > 0 => Expr::Const(a.div_euclid(b)),
            (Expr::Div(x, a), Expr::Const(b)) if b > 0 && positive_product(&a, b).is_some() => {
                let product = positive_product(&a, b).unwrap_or(1);
                x.div(Expr::Const(product))
            }
            (Expr::Mul(x, a), Expr::Const(b)) if b > 0 && a.constant().is_some_and(|a| a % b == 0) => {
                let quotient = a.constant().map_or(1, |a| a / b);
                x.mul(Expr::Const(quotient))
            }
            (a, b) => Expr::Div(Box::new(a), Box::new(b)),
        }
    }

    /// What is left by [`Expr::div`], simplified: never negative for a positive divisor.
    pub fn modulo(self, divisor: Expr) -> Expr {
        match (self, divisor) {
            (_, Expr::Const(1)) => Expr::Const(0),
            (Expr::Const(a), Expr::Const(b)) if b > 0 => Expr::Const(a.rem_euclid(b)),
            (Expr::Mod(x, a), Expr::Const(b)) if b > 0 && a.constant().is_some_and(|a| a % b == 0) => {
                x.modulo(Expr::Const(b))
            }
            (Expr::Mul(_, a), Expr::Const(b)) if b > 0 && a.constant().is_some_and(|a| a % b == 0) => Expr::Const(0),
            (a, b) => Expr::Mod(Box::new(a), Box::new(b)),
        }
    }

    /// Division that rounds up.
    pub fn ceil_div(self, divisor: i64) -> Expr {
        if self.multiple_of(divisor) {
            return self.div(Expr::Const(divisor));
        }
        match self.rounded_up() {
            // ⌈⌈x/a⌉/b⌉ = ⌈x/(ab)⌉.
            Some((whole, first)) if first.checked_mul(divisor).is_some() => whole.ceil_div(first * divisor),
            _ => self.add(Expr::Const(divisor - 1)).div(Expr::Const(divisor)),
        }
    }

    /// x and a if this is ⌈x/a⌉ as `ceil_div` writes it.
    fn rounded_up(&self) -> Option<(Expr, i64)> {
        let Expr::Div(sum, divisor) = self else { return None };
        let (Expr::Add(whole, round), divisor) = (&**sum, divisor.constant()?) else { return None };
        (round.constant()? == divisor - 1 && divisor > 1).then(|| ((**whole).clone(), divisor))
    }

    /// The lowest `bits` bits xored with those of `other`, simplified.
    pub fn xor(self, other: Expr, bits: u32) -> Expr {
        match (&self, &other) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(xor_low(*a, *b, bits)),
            _ => Expr::Xor { a: Box::new(self), b: Box::new(other), bits },
        }
    }

    /// `then` where `condition` is not negative, `otherwise` elsewhere, simplified.
    pub fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        match condition {
            Expr::Const(value) => {
                if value >= 0 {
                    then
                } else {
                    otherwise
                }
            }
            _ => Expr::Select { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) },
        }
    }

    /// Whether it is a multiple for certain, by its form.
    pub fn multiple_of(&self, divisor: i64) -> bool {
        match self {
            Expr::Const(value) => value.checked_rem(divisor) == Some(0),
            Expr::Mul(a, b) => divisor == 1 || a.multiple_of(divisor) || b.multiple_of(divisor),
            Expr::Add(a, b) => divisor == 1 || (a.multiple_of(divisor) && b.multiple_of(divisor)),
            _ => divisor == 1,
        }
    }

    fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Const(_) | Expr::Input(_) | Expr::Param(_) => Vec::new(),
            Expr::Add(a, b) | Expr::Mul(a, b) | Expr::Div(a, b) | Expr::Mod(a, b) | Expr::Xor { a, b, .. } => {
                vec![a, b]
            }
            Expr::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    /// Whether a condition chooses between two expressions anywhere in it.
    pub fn chooses(&self) -> bool {
        matches!(self, Expr::Select { .. }) || self.children().into_iter().any(Expr::chooses)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.measure().0
    }

    /// The number of nodes and the depth.
    fn measure(&self) -> (usize, usize) {
        let parts = self.children().into_iter().map(Expr::measure);
        let (nodes, depth) = parts.fold((0, 0), |(n, d), (nodes, depth)| (n + nodes, d.max(depth)));
        (1 + nodes, 1 + depth)
    }

    /// Refuses an expression that has grown past all use.
    pub(crate) fn checked(self) -> Result<Expr> {
        let (nodes, depth) = self.measure();
        if nodes <= MAX_NODES && depth <= MAX_DEPTH {
            Ok(self)
        } else {
            Err(Error::inadmissible("expression", format!("it has {nodes} parts, {depth} deep: too large")))
        }
    }

    /// The names of the parameters, in order and once each.
    pub(crate) fn collect_params(&self, names: &mut Vec<String>) {
        match self {
            Expr::Param(name) if !names.contains(name) => names.push(name.clone()),
            _ => self.children().into_iter().for_each(|child| child.collect_params(names)),
        }
    }

    /// The expression with other expressions for its inputs.
    pub fn substitute(&self, inputs: &[Expr]) -> Expr {
        let go = |expr: &Expr| expr.substitute(inputs);
        match self {
            Expr::Input(position) => inputs.get(*position).cloned().unwrap_or_else(|| self.clone()),
            Expr::Const(_) | Expr::Param(_) => self.clone(),
            Expr::Add(a, b) => go(a).add(go(b)),
            Expr::Mul(a, b) => go(a).mul(go(b)),
            Expr::Div(a, b) => go(a).div(go(b)),
            Expr::Mod(a, b) => go(a).modulo(go(b)),
            Expr::Xor { a, b, bits } => go(a).xor(go(b), *bits),
            Expr::Select { condition, then, otherwise } => Expr::select(go(condition), go(then), go(otherwise)),
        }
    }

    /// The value at a point.
    pub fn evaluate(&self, inputs: &[i64], params: &Params) -> Result<i64> {
        const EVALUATE: &str = "evaluate";
        let go = |expr: &Expr| expr.evaluate(inputs, params);
        let positive = |divisor: i64| {
            if divisor > 0 {
                Ok(divisor)
            } else {
                Err(Error::inadmissible(EVALUATE, format!("the divisor {divisor} is not positive")))
            }
        };
        let fits = |value: Option<i64>| value.ok_or(Error::Overflow { operation: EVALUATE });
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Input(position) => inputs
                .get(*position)
                .copied()
                .ok_or_else(|| Error::inadmissible(EVALUATE, format!("there is no input {position}"))),
            Expr::Param(name) => params
                .get(name)
                .copied()
                .ok_or_else(|| Error::inadmissible(EVALUATE, format!("the parameter {name} has no value"))),
            Expr::Add(a, b) => fits(go(a)?.checked_add(go(b)?)),
            Expr::Mul(a, b) => fits(go(a)?.checked_mul(go(b)?)),
            Expr::Div(a, b) => Ok(go(a)?.div_euclid(positive(go(b)?)?)),
            Expr::Mod(a, b) => Ok(go(a)?.rem_euclid(positive(go(b)?)?)),
            Expr::Xor { a, b, bits } => Ok(xor_low(go(a)?, go(b)?, *bits)),
            Expr::Select { condition, then, otherwise } => {
                if go(condition)? >= 0 {
                    go(then)
                } else {
                    go(otherwise)
                }
            }
        }
    }

    /// The expression as text, with names for the inputs.
    pub fn display<'a>(&'a self, inputs: &'a [String]) -> impl fmt::Display + 'a {
        Named { expr: self, inputs }
    }
}

fn xor_low(a: i64, b: i64, bits: u32) -> i64 {
    a ^ (b & ((1i64 << bits.min(62)) - 1))
}

/// `(x / f) * f + x mod f` is `x`.
fn recombine(quotient: &Expr, remainder: &Expr) -> Option<Expr> {
    let (Expr::Mul(division, factor), Expr::Mod(whole, modulus)) = (quotient, remainder) else { return None };
    let Expr::Div(divided, divisor) = &**division else { return None };
    (divided == whole && divisor == factor && modulus == factor).then(|| (**whole).clone())
}

fn positive_product(a: &Expr, b: i64) -> Option<i64> {
    a.constant().filter(|&a| a > 0).and_then(|a| a.checked_mul(b))
}

/// x if this is −x.
fn negated(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Mul(x, minus) if minus.constant() == Some(-1) => Some(x),
        _ => None,
    }
}

struct Named<'a> {
    expr: &'a Expr,
    inputs: &'a [String],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.expr, 0)
    }
}

impl Named<'_> {
    /// `level` is how tightly the surroundings bind: 0 not at all, 1 in a sum, 2 in a product.
    fn write(&self, f: &mut fmt::Formatter<'_>, expr: &Expr, level: u8) -> fmt::Result {
        let binary = |f: &mut fmt::Formatter<'_>, a: &Expr, sign: &str, b: &Expr, own: u8| {
            if level >= own {
                f.write_str("(")?;
            }
            self.write(f, a, own - 1)?;
            f.write_str(sign)?;
            self.write(f, b, own)?;
            if level >= own { f.write_str(")") } else { Ok(()) }
        };
        match expr {
            Expr::Const(value) => write!(f, "{value}"),
            Expr::Input(position) => match self.inputs.get(*position) {
                Some(name) => f.write_str(name),
                None => write!(f, "i{position}"),
            },
            Expr::Param(name) => f.write_str(name),
            Expr::Add(a, b) => match &**b {
                Expr::Const(value) if *value >= 0 && negated(a).is_some() => {
                    binary(f, b, " - ", negated(a).unwrap_or(a), 1)
                }
                Expr::Const(value) if *value < 0 && *value > i64::MIN => binary(f, a, " - ", &Expr::Const(-value), 1),
                _ if negated(b).is_some() => binary(f, a, " - ", negated(b).unwrap_or(b), 1),
                _ => binary(f, a, " + ", b, 1),
            },
            Expr::Mul(a, b) => binary(f, a, "*", b, 2),
            Expr::Div(a, b) => binary(f, a, "/", b, 2),
            Expr::Mod(a, b) => binary(f, a, " mod ", b, 2),
            Expr::Xor { a, b, .. } => binary(f, a, " xor ", b, 2),
            Expr::Select { condition, then, otherwise } => {
                f.write_str("(")?;
                self.write(f, condition, 0)?;
                f.write_str(" >= 0 ? ")?;
                self.write(f, then, 0)?;
                f.write_str(" : ")?;
                self.write(f, otherwise, 0)?;
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Named { expr: self, inputs: &[] }.fmt(f)
    }
}
