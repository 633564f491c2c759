//! Index arithmetic as loops compute it: a tree of sums, quotients, extremes and choices.

use crate::{Affine, Atom, IterId, ParamId, VarId};

/// Integer arithmetic on sizes and loop variables, 64-bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// A number.
    Const(i64),
    /// A size.
    Param(ParamId),
    /// A loop variable.
    Var(VarId),
    /// The sum.
    Add(Box<Index>, Box<Index>),
    /// The difference.
    Sub(Box<Index>, Box<Index>),
    /// A multiple.
    Mul(Box<Index>, i64),
    /// Rounds towards minus infinity; the divisor is positive.
    FloorDiv(Box<Index>, i64),
    /// Remainder of `FloorDiv`, never negative.
    Mod(Box<Index>, i64),
    /// The bits in which two numbers differ.
    Xor(Box<Index>, Box<Index>),
    /// The smaller one.
    Min(Box<Index>, Box<Index>),
    /// The larger one.
    Max(Box<Index>, Box<Index>),
    /// Only the chosen branch need be valid.
    Select(Box<Cond>, Box<Index>, Box<Index>),
}

/// A condition on indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cond {
    /// A comparison.
    Compare(CompareOp, Index, Index),
    /// The opposite.
    Not(Box<Cond>),
    /// All hold; empty is true.
    And(Vec<Cond>),
    /// One holds; empty is false.
    Or(Vec<Cond>),
}

/// How two indices compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Cond {
    /// Always holds.
    pub const TRUE: Cond = Cond::And(Vec::new());
    /// Never holds.
    pub const FALSE: Cond = Cond::Or(Vec::new());
}

impl CompareOp {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }

    /// The operator that holds exactly when this one does not.
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// The operator that says the same with the sides exchanged.
    pub fn swapped(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            op => op,
        }
    }

    /// Whether it holds of two numbers.
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            CompareOp::Eq => left == right,
            CompareOp::Ne => left != right,
            CompareOp::Lt => left < right,
            CompareOp::Le => left <= right,
            CompareOp::Gt => left > right,
            CompareOp::Ge => left >= right,
        }
    }
}

impl Index {
    /// An affine expression as a tree; `param` and `iter` say what stands for parameters and iterators. `None` if they say
    /// nothing about one.
    pub fn of_affine(
        affine: &Affine,
        param: &dyn Fn(ParamId) -> Option<Index>,
        iter: &dyn Fn(IterId) -> Option<Index>,
    ) -> Option<Index> {
        let mut constant = affine.constant;
        let mut sum: Option<Index> = None;
        for (atom, coefficient) in &affine.terms {
            let value = match atom {
                Atom::Param(id) => param(*id)?,
                Atom::Iter(id) => iter(*id)?,
                Atom::Div(numerator, divisor) => match Index::of_affine(numerator, param, iter)? {
                    Index::Const(value) => Index::Const(value.div_euclid(*divisor)),
                    numerator => Index::FloorDiv(Box::new(numerator), *divisor),
                },
            };
            // What is known goes into the constant, unless it overflows, which it then does where it is computed.
            if let Index::Const(value) = value
                && let Some(known) = value.checked_mul(*coefficient).and_then(|term| constant.checked_add(term))
            {
                constant = known;
                continue;
            }
            let term = if *coefficient == 1 { value } else { Index::Mul(Box::new(value), *coefficient) };
            sum = Some(match sum {
                None => term,
                Some(sum) => Index::Add(Box::new(sum), Box::new(term)),
            });
        }
        Some(match (sum, constant) {
            (None, constant) => Index::Const(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => Index::Add(Box::new(sum), Box::new(Index::Const(constant))),
        })
    }

    /// The value; `None` on overflow, or if a parameter or variable has none.
    pub fn value(&self, params: &[i64], vars: &[i64]) -> Option<i64> {
        let of = |index: &Index| index.value(params, vars);
        match self {
            Index::Const(value) => Some(*value),
            Index::Param(param) => params.get(param.index()).copied(),
            Index::Var(var) => vars.get(var.index()).copied(),
            Index::Add(a, b) => of(a)?.checked_add(of(b)?),
            Index::Sub(a, b) => of(a)?.checked_sub(of(b)?),
            Index::Mul(a, factor) => of(a)?.checked_mul(*factor),
            // Divisors are positive, for which Euclidean division rounds down.
            Index::FloorDiv(a, divisor) => of(a)?.checked_div_euclid(*divisor),
            Index::Mod(a, divisor) => of(a)?.checked_rem_euclid(*divisor),
            Index::Xor(a, b) => Some(of(a)? ^ of(b)?),
            Index::Min(a, b) => Some(of(a)?.min(of(b)?)),
            Index::Max(a, b) => Some(of(a)?.max(of(b)?)),
            Index::Select(cond, a, b) => of(if cond.holds(params, vars)? { a } else { b }),
        }
    }

    /// Calls `visit` with every loop variable in the expression.
    pub fn visit_vars(&self, visit: &mut dyn FnMut(VarId)) {
        match self {
            Index::Const(_) | Index::Param(_) => {}
            Index::Var(var) => visit(*var),
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                a.visit_vars(visit);
                b.visit_vars(visit);
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => a.visit_vars(visit),
            Index::Select(cond, a, b) => {
                cond.visit_vars(visit);
                a.visit_vars(visit);
                b.visit_vars(visit);
            }
        }
    }

    /// Whether a loop variable occurs in the expression.
    pub fn uses(&self, var: VarId) -> bool {
        let mut found = false;
        self.visit_vars(&mut |used| found |= used == var);
        found
    }
}

impl Cond {
    /// An affine condition as a tree, like [`Index::of_affine`].
    pub fn of_affine(
        cond: &crate::AffineCond,
        param: &dyn Fn(ParamId) -> Option<Index>,
        iter: &dyn Fn(IterId) -> Option<Index>,
    ) -> Option<Cond> {
        let compare = |op, affine| Some(Cond::Compare(op, Index::of_affine(affine, param, iter)?, Index::Const(0)));
        let all = |conds: &[crate::AffineCond]| {
            conds.iter().map(|cond| Cond::of_affine(cond, param, iter)).collect::<Option<Vec<_>>>()
        };
        match cond {
            crate::AffineCond::NonNegative(affine) => compare(CompareOp::Ge, affine),
            crate::AffineCond::Zero(affine) => compare(CompareOp::Eq, affine),
            crate::AffineCond::And(conds) => Some(Cond::And(all(conds)?)),
            crate::AffineCond::Or(conds) => Some(Cond::Or(all(conds)?)),
        }
    }

    /// Whether it holds; `None` on overflow, or if a parameter or variable has no value. What is decided is not looked at.
    pub fn holds(&self, params: &[i64], vars: &[i64]) -> Option<bool> {
        match self {
            Cond::Compare(op, a, b) => Some(op.holds(a.value(params, vars)?, b.value(params, vars)?)),
            Cond::Not(cond) => cond.holds(params, vars).map(|holds| !holds),
            Cond::And(conds) => {
                for cond in conds {
                    if !cond.holds(params, vars)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Cond::Or(conds) => {
                for cond in conds {
                    if cond.holds(params, vars)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
        }
    }

    /// Calls `visit` with every loop variable in the condition.
    pub fn visit_vars(&self, visit: &mut dyn FnMut(VarId)) {
        match self {
            Cond::Compare(_, a, b) => {
                a.visit_vars(visit);
                b.visit_vars(visit);
            }
            Cond::Not(cond) => cond.visit_vars(visit),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().for_each(|cond| cond.visit_vars(visit)),
        }
    }
}
