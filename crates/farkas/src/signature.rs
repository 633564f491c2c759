//! What a function takes and gives, as data.

use std::fmt;

use program::{Affine, ArgRef, Atom, Cond, DerivedOp, Function, Role, ScalarType};

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Of the function.
    pub name: String,
    /// The sizes that a call gives a value, or that follow from the shapes of its arrays.
    pub params: Vec<String>,
    /// What `where` says about them. That none is negative is understood.
    pub context: Vec<Requirement>,
    /// Arguments, then outputs.
    pub args: Vec<Argument>,
}

/// One argument or output. A scalar input has the shape `[]`, and so has a scalar output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// By which calls give it.
    pub name: String,
    /// Whether it is read, written, or both.
    pub role: Role,
    /// Of its elements.
    pub ty: ScalarType,
    /// One extent per dimension.
    pub shape: Vec<Size>,
}

/// A size that follows from the parameters: `constant + Σ coefficient · factor`. Prints as the program would write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// What is added to the terms.
    pub constant: i64,
    /// Each factor with its coefficient, which is not 0. No factor is there twice.
    pub terms: Vec<(i64, Factor)>,
    text: String,
}

/// What a [`Size`] is a multiple of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Factor {
    /// A parameter.
    Param(String),
    /// A size divided by a number of at least 2, rounded down.
    Floor(Box<Size>, i64),
    /// The product of two sizes.
    Product(Box<Size>, Box<Size>),
    /// The first divided by the second, which must leave no remainder.
    Quotient(Box<Size>, Box<Size>),
    /// The smaller one.
    Min(Box<Size>, Box<Size>),
    /// The larger one.
    Max(Box<Size>, Box<Size>),
}

/// One condition of `where`. Prints as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What it means.
    pub condition: Condition,
    text: String,
}

/// What must hold of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// It is 0 or more.
    NonNegative(Size),
    /// It is 0.
    Zero(Size),
    /// All of them hold; of none, always.
    All(Vec<Condition>),
    /// One of them holds; of none, never.
    Any(Vec<Condition>),
}

impl Size {
    fn of(function: &Function, affine: &Affine) -> Size {
        let boxed = |affine: &Affine| Box::new(Size::of(function, affine));
        let factor = |atom: &Atom| match atom {
            Atom::Param(id) => match &function.param(*id).derived {
                None => Factor::Param(function.param(*id).name.clone()),
                Some(derived) => {
                    let sides = (boxed(&derived.lhs), boxed(&derived.rhs));
                    match derived.op {
                        DerivedOp::Product => Factor::Product(sides.0, sides.1),
                        DerivedOp::Quotient => Factor::Quotient(sides.0, sides.1),
                        DerivedOp::Min => Factor::Min(sides.0, sides.1),
                        DerivedOp::Max => Factor::Max(sides.0, sides.1),
                    }
                }
            },
            Atom::Div(numerator, divisor) => Factor::Floor(boxed(numerator), *divisor),
            Atom::Iter(_) => unreachable!("shapes and `where` are over parameters, which the front end checks"),
        };
        let terms = affine.terms.iter().map(|(atom, coefficient)| (*coefficient, factor(atom))).collect();
        Size { constant: affine.constant, terms, text: function.show(affine) }
    }

    /// Its value for given parameters. None if one that it needs has no value, where a quotient leaves a remainder, and beyond 64 bits.
    pub fn value(&self, param: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (coefficient, factor)| {
            sum.checked_add(factor.value(param)?.checked_mul(*coefficient)?)
        })
    }
}

impl Factor {
    fn value(&self, param: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let both = |lhs: &Size, rhs: &Size| Some((lhs.value(param)?, rhs.value(param)?));
        match self {
            Factor::Param(name) => param(name),
            Factor::Floor(size, divisor) => size.value(param)?.checked_div_euclid(*divisor),
            Factor::Product(lhs, rhs) => both(lhs, rhs).and_then(|(lhs, rhs)| lhs.checked_mul(rhs)),
            Factor::Quotient(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs)?;
                if lhs.checked_rem(rhs)? == 0 { lhs.checked_div(rhs) } else { None }
            }
            Factor::Min(lhs, rhs) => both(lhs, rhs).map(|(lhs, rhs)| lhs.min(rhs)),
            Factor::Max(lhs, rhs) => both(lhs, rhs).map(|(lhs, rhs)| lhs.max(rhs)),
        }
    }
}

impl Condition {
    fn of(function: &Function, cond: &Cond) -> Condition {
        let all = |conds: &[Cond]| conds.iter().map(|cond| Condition::of(function, cond)).collect();
        match cond {
            Cond::NonNegative(affine) => Condition::NonNegative(Size::of(function, affine)),
            Cond::Zero(affine) => Condition::Zero(Size::of(function, affine)),
            Cond::And(conds) => Condition::All(all(conds)),
            Cond::Or(conds) => Condition::Any(all(conds)),
        }
    }

    /// Whether it holds for given parameters; none where a size that is needed to know has no value.
    pub fn holds(&self, param: &dyn Fn(&str) -> Option<i64>) -> Option<bool> {
        match self {
            Condition::NonNegative(size) => Some(size.value(param)? >= 0),
            Condition::Zero(size) => Some(size.value(param)? == 0),
            Condition::All(all) => all.iter().try_fold(true, |so_far, one| Some(so_far && one.holds(param)?)),
            Condition::Any(any) => any.iter().try_fold(false, |so_far, one| Some(so_far || one.holds(param)?)),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The parameters that a call gives a value.
pub(crate) fn written(function: &Function) -> impl Iterator<Item = &program::Param> {
    function.params.iter().filter(|param| param.derived.is_none())
}

impl Signature {
    pub(crate) fn of(function: &Function) -> Signature {
        let args = function.signature.iter().map(|arg| match arg {
            ArgRef::Scalar(id) => {
                let scalar = function.scalar(*id);
                Argument { name: scalar.name.clone(), role: Role::In, ty: scalar.ty, shape: Vec::new() }
            }
            ArgRef::Array(id) => {
                let array = function.array(*id);
                let shape = function.outside_shape(*id).iter().map(|extent| Size::of(function, extent)).collect();
                Argument { name: array.name.clone(), role: array.role, ty: array.ty, shape }
            }
        });
        let context = function.context.iter().map(|requirement| Requirement {
            condition: Condition::of(function, &requirement.cond),
            text: requirement.text.clone(),
        });
        Signature {
            name: function.name.clone(),
            params: written(function).map(|param| param.name.clone()).collect(),
            context: context.collect(),
            args: args.collect(),
        }
    }
}
