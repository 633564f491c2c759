//! Sizes that follow from others by more than affine arithmetic: `H * D`, `N / B`, `min(N, M)`.
//!
//! Each is a parameter of its own. For everything that is proven it is as free as any other; its value is computed, and held
//! against what it is made of, when the function is called.

use std::fmt;

use crate::{Affine, Cond, Function, ParamId};

/// How a derived parameter follows from those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// How.
    pub op: DerivedOp,
    /// From what.
    pub lhs: Affine,
    /// And from what.
    pub rhs: Affine,
}

/// What makes a size of two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivedOp {
    /// The one times the other.
    Product,
    /// The divisor divides.
    Quotient,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl DerivedOp {
    /// The operation as a program writes it.
    fn between(self, lhs: &str, rhs: &str) -> String {
        match self {
            DerivedOp::Product => format!("{lhs} * {rhs}"),
            DerivedOp::Quotient => format!("{lhs} / {rhs}"),
            DerivedOp::Min => format!("min({lhs}, {rhs})"),
            DerivedOp::Max => format!("max({lhs}, {rhs})"),
        }
    }
}

/// Why a derived parameter has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSize {
    /// 64 bits do not hold it.
    Overflow,
    /// The divisor is zero, or leaves a remainder.
    DoesNotDivide,
    /// It is less than zero.
    Negative,
}

impl fmt::Display for NoSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoSize::Overflow => "does not fit 64 bits",
            NoSize::DoesNotDivide => "does not divide",
            NoSize::Negative => "is negative",
        })
    }
}

impl Derived {
    /// The value for given parameters.
    pub fn eval(&self, param: &impl Fn(ParamId) -> i64) -> Result<i64, NoSize> {
        let side = |side: &Affine| side.eval(param, &|_| 0).ok_or(NoSize::Overflow);
        let (lhs, rhs) = (side(&self.lhs)?, side(&self.rhs)?);
        let value = match self.op {
            DerivedOp::Product => lhs.checked_mul(rhs).ok_or(NoSize::Overflow)?,
            DerivedOp::Quotient if rhs == 0 || lhs % rhs != 0 => return Err(NoSize::DoesNotDivide),
            DerivedOp::Quotient => lhs.checked_div(rhs).ok_or(NoSize::Overflow)?,
            DerivedOp::Min => lhs.min(rhs),
            DerivedOp::Max => lhs.max(rhs),
        };
        if value < 0 { Err(NoSize::Negative) } else { Ok(value) }
    }

    /// What is computed for given parameters, in numbers: `4 / 3`. A side that does not fit 64 bits is a `?`.
    pub fn show_computed(&self, param: &impl Fn(ParamId) -> i64) -> String {
        let side = |side: &Affine| side.eval(param, &|_| 0).map_or("?".to_owned(), |value| value.to_string());
        self.op.between(&side(&self.lhs), &side(&self.rhs))
    }
}

impl Function {
    /// What is known of the derived parameters by affine means: a minimum is one of its two and no larger than either.
    pub fn derived_facts(&self) -> Vec<Cond> {
        let mut facts = Vec::new();
        for (position, param) in self.params.iter().enumerate() {
            let Some(Derived { op, lhs, rhs }) = &param.derived else { continue };
            let sign = match op {
                DerivedOp::Min => 1,
                DerivedOp::Max => -1,
                DerivedOp::Product | DerivedOp::Quotient => continue,
            };
            let own = Affine::param(ParamId(position as u32));
            let gaps = (lhs.sub(&own), rhs.sub(&own));
            if let (Some(first), Some(second)) = gaps {
                facts.push(Cond::Or(vec![Cond::Zero(first.clone()), Cond::Zero(second.clone())]));
                let beyond = [first.scale(sign), second.scale(sign)];
                facts.extend(beyond.into_iter().flatten().map(Cond::NonNegative));
            }
        }
        facts
    }

    /// A parameter as the program writes it: its name, or what it is derived from.
    pub fn show_param(&self, id: ParamId) -> String {
        let param = self.param(id);
        let Some(Derived { op, lhs, rhs }) = &param.derived else { return param.name.clone() };
        let factor = |side: &Affine| {
            let simple = side.terms.len() + usize::from(side.constant != 0) <= 1;
            if simple { self.show(side) } else { format!("({})", self.show(side)) }
        };
        match op {
            DerivedOp::Product | DerivedOp::Quotient => op.between(&factor(lhs), &factor(rhs)),
            DerivedOp::Min | DerivedOp::Max => op.between(&self.show(lhs), &self.show(rhs)),
        }
    }
}
