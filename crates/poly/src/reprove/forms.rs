//! Linear forms that are not negative, and what follows from them by substitution.
//!
//! In: facts about sizes, loop variables and quotients, each a linear form that is not negative.  Out: whether another form is not
//! negative either. It is shown by taking facts away from it, times positive numbers, so that one variable after the other vanishes,
//! until a number is left. All variables are integers: `m * form + m - 1` is not negative just where `form` is not.
//! What is not found this way may hold all the same: it takes the right facts in the right order, of which there are too many to try all
//! where forms share several variables. Then `weights` is asked.

use loops::{CompareOp, Cond, Index, ParamId, VarId};

use super::weights::{self, Proofs};

/// So many facts are taken away for one answer at most.
const MOST_STEPS: u32 = 1000;
/// The same where there are several ways.
const SOME_STEPS: u32 = 250;
/// The same for what would only be of help.
const FEW_STEPS: u32 = 40;
/// An index may be one of so many forms at most.
const MOST_FORMS: usize = 16;

/// `constant + Σ coefficient * variable`, variables in ascending order and no coefficient zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub(super) constant: i64,
    pub(super) terms: Vec<(usize, i64)>,
}

impl Form {
    fn constant(constant: i64) -> Form {
        Form { constant, terms: Vec::new() }
    }

    fn variable(variable: usize) -> Form {
        Form { constant: 0, terms: vec![(variable, 1)] }
    }

    /// `factor * self + by * other`; `None` on overflow.
    fn sum(&self, factor: i64, other: &Form, by: i64) -> Option<Form> {
        let scale =
            |(variable, coefficient): &(usize, i64), factor: i64| Some((*variable, coefficient.checked_mul(factor)?));
        let constant = self.constant.checked_mul(factor)?.checked_add(other.constant.checked_mul(by)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let term = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) if a.0 == b.0 => {
                    let (a, b) = (scale(a, factor)?, scale(b, by)?);
                    left.next();
                    right.next();
                    (a.0, a.1.checked_add(b.1)?)
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    let term = scale(a, factor)?;
                    left.next();
                    term
                }
                (_, Some(b)) => {
                    let term = scale(b, by)?;
                    right.next();
                    term
                }
                (Some(_), None) => break,
            };
            if term.1 != 0 {
                terms.push(term);
            }
        }
        Some(Form { constant, terms })
    }
}

/// What an index is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    /// The only form.
    One,
    Least,
    Greatest,
    /// One of them.
    Any,
}

/// The value of an index, in forms.
#[derive(Clone, Debug)]
pub(super) struct Value {
    forms: Vec<Form>,
    of: Of,
}

impl Value {
    fn one(form: Form) -> Value {
        Value { forms: vec![form], of: Of::One }
    }

    /// `self + by * other`
    fn plus(&self, other: &Value, by: i64) -> Option<Value> {
        let other_of = if by < 0 { other.of.turned() } else { other.of };
        let mut forms = Vec::new();
        for a in &self.forms {
            for b in &other.forms {
                forms.push(a.sum(1, b, by)?);
            }
        }
        let of = match (self.of, other_of) {
            (Of::One, of) | (of, Of::One) => of,
            (a, b) if a == b => a,
            _ => Of::Any,
        };
        (forms.len() <= MOST_FORMS).then_some(Value { forms, of })
    }

    fn chosen(a: Value, b: Value, of: Of) -> Option<Value> {
        let fits = |part: Of| part == Of::One || part == of;
        let of = if fits(a.of) && fits(b.of) { of } else { Of::Any };
        let forms = [a.forms, b.forms].concat();
        (forms.len() <= MOST_FORMS).then_some(Value { forms, of })
    }
}

impl Of {
    fn turned(self) -> Of {
        match self {
            Of::Least => Of::Greatest,
            Of::Greatest => Of::Least,
            of => of,
        }
    }
}

/// Variables and facts at one place of a kernel.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Of each variable, the last one that decides it: itself, or for a quotient the last in what is divided.
    variables: Vec<usize>,
    /// The loops around.
    loops: Vec<(VarId, usize)>,
    facts: Vec<Fact>,
    /// Quotients that are variables: what is divided, by what, and which.
    quotients: Vec<(Form, i64, usize)>,
}

/// A form that is not negative, and the variable that it is of use for.
#[derive(Debug)]
struct Fact {
    form: Form,
    last: (usize, i64),
}

/// How much was known at some place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    variables: usize,
    loops: usize,
    facts: usize,
    quotients: usize,
}

impl Facts {
    /// So many sizes, none of them negative.
    pub(super) fn of_sizes(sizes: usize) -> Facts {
        let facts = (0..sizes).map(|size| Fact { form: Form::variable(size), last: (size, 1) }).collect();
        Facts { variables: (0..sizes).collect(), loops: Vec::new(), facts, quotients: Vec::new() }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            variables: self.variables.len(),
            loops: self.loops.len(),
            facts: self.facts.len(),
            quotients: self.quotients.len(),
        }
    }

    /// Forgets what was learnt since.
    pub(super) fn forget(&mut self, since: Mark) {
        self.variables.truncate(since.variables);
        self.loops.truncate(since.loops);
        self.facts.truncate(since.facts);
        self.quotients.truncate(since.quotients);
    }

    fn new_variable(&mut self) -> usize {
        let variable = self.variables.len();
        self.variables.push(variable);
        variable
    }

    /// The variable that vanishes first: a quotient right before what decides it, wherever it was met.
    fn last(&self, form: &Form) -> Option<(usize, i64)> {
        form.terms.iter().copied().max_by_key(|(variable, _)| (self.decided_by(*variable), *variable))
    }

    fn decided_by(&self, variable: usize) -> usize {
        self.variables.get(variable).copied().unwrap_or(variable)
    }

    fn keep(&mut self, form: Form) {
        if let Some(last) = self.last(&form)
            && !self.facts.iter().any(|known| known.form == form)
        {
            self.facts.push(Fact { form, last });
        }
    }

    /// A form that is not negative. What all its variables have in common is divided out.
    fn learn(&mut self, mut form: Form) {
        let common = form.terms.iter().fold(0, |common, (_, coefficient)| gcd(common, coefficient.unsigned_abs()));
        if let Ok(common @ 2..) = i64::try_from(common) {
            form.constant = form.constant.div_euclid(common);
            form.terms.iter_mut().for_each(|(_, coefficient)| *coefficient /= common);
        }
        self.keep(form);
    }

    /// A value that is not negative: all its forms are not, where it is the least of them; where it is the greatest, or any of them, the
    /// only one that may be so is not.
    fn learn_value(&mut self, value: Value) {
        let mut forms = value.forms;
        if matches!(value.of, Of::Greatest | Of::Any) {
            forms.retain(|form| !form.terms.is_empty() || form.constant >= 0);
            if forms.len() != 1 {
                return;
            }
        }
        forms.into_iter().for_each(|form| self.learn(form));
    }

    /// Enters `for var in lo..hi by step`, in an iteration of it, and says which variable that is. What cannot be said as a fact is
    /// left out.
    pub(super) fn enter(&mut self, var: VarId, lo: &Index, hi: &Index, step: i64) -> usize {
        let (first, end) = (self.value(lo), self.value(hi));
        let last = end.and_then(|end| end.plus(&Value::one(Form::constant(1)), -1));
        // There is an iteration.
        if let (Some(first), Some(last)) = (&first, &last) {
            self.learn_order(first, last);
        }
        // `var` is `lo + step * number`.
        let number = (step != 1).then(|| self.new_variable());
        let variable = self.new_variable();
        self.loops.push((var, variable));
        let own = Value::one(Form::variable(variable));
        if let (Some(first), Some(number)) = (first.as_ref().filter(|first| first.of == Of::One), number) {
            self.learn(Form::variable(number));
            let steps = Value::one(Form::variable(number));
            if let Some(at) = first.plus(&steps, step) {
                self.learn_order(&at, &own);
                self.learn_order(&own, &at);
                last.iter().for_each(|last| self.learn_order(&at, last));
            }
        }
        first.iter().for_each(|first| self.learn_order(first, &own));
        last.iter().for_each(|last| self.learn_order(&own, last));
        variable
    }

    /// Learns that one variable is before another, by so much at least.
    pub(super) fn learn_distance(&mut self, before: usize, after: usize, least: i64) {
        let gap = Form::variable(after).sum(1, &Form::variable(before), -1);
        if let Some(gap) = gap.and_then(|gap| gap.sum(1, &Form::constant(least), -1)) {
            self.learn(gap);
        }
    }

    /// Learns that `a <= b`.
    fn learn_order(&mut self, a: &Value, b: &Value) {
        if let Some(gap) = b.plus(a, -1) {
            self.learn_value(gap);
        }
    }

    /// Learns that a condition holds, or that it does not.
    pub(super) fn assume(&mut self, cond: &Cond, holds: bool) {
        match cond {
            Cond::Not(cond) => self.assume(cond, !holds),
            Cond::And(conds) if holds => conds.iter().for_each(|cond| self.assume(cond, true)),
            Cond::Or(conds) if !holds => conds.iter().for_each(|cond| self.assume(cond, false)),
            Cond::And(conds) | Cond::Or(conds) => {
                if let [cond] = conds.as_slice() {
                    self.assume(cond, holds);
                }
            }
            Cond::Compare(op, a, b) => {
                let (Some(a), Some(b)) = (self.value(a), self.value(b)) else { return };
                let op = if holds { *op } else { op.negated() };
                let (up, down, least) = match op {
                    CompareOp::Lt => (true, false, 1),
                    CompareOp::Le => (true, false, 0),
                    CompareOp::Gt => (false, true, 1),
                    CompareOp::Ge => (false, true, 0),
                    CompareOp::Eq => (true, true, 0),
                    CompareOp::Ne => return,
                };
                let least = Value::one(Form::constant(least));
                for (wanted, smaller, larger) in [(up, &a, &b), (down, &b, &a)] {
                    if wanted && let Some(smaller) = smaller.plus(&least, 1) {
                        self.learn_order(&smaller, larger);
                    }
                }
            }
        }
    }

    /// Whether `0 <= index < extent` is found to hold.
    pub(super) fn is_inside(&mut self, index: &Index, extent: &Index) -> bool {
        let (Some(value), Some(extent)) = (self.value(index), self.value(extent)) else { return false };
        let before = Value::one(Form::constant(-1));
        [(&before, &value), (&value, &extent)]
            .into_iter()
            .all(|(a, b)| self.is_less(a, b, MOST_STEPS) || self.is_below(a, b, |gap| self.is_weighed(gap)))
    }

    /// Whether `a < b` is found to hold by substitution, in so many steps.
    fn is_less(&self, a: &Value, b: &Value, steps: u32) -> bool {
        self.is_below(a, b, |gap| self.is_shown(gap, &mut steps.clone()))
    }

    /// Whether `a < b`: one form of the least on the left is enough, and one of the greatest on the right. A gap that is not negative is shown
    /// not to be.
    fn is_below(&self, a: &Value, b: &Value, is_shown: impl Fn(&Form) -> bool) -> bool {
        let is_less = |a: &Form, b: &Form| {
            let gap = b.sum(1, a, -1).and_then(|gap| gap.sum(1, &Form::constant(1), -1));
            gap.is_some_and(|gap| is_shown(&gap))
        };
        let is_below = |a: &Form| match b.of {
            Of::Greatest => b.forms.iter().any(|b| is_less(a, b)),
            Of::One | Of::Least | Of::Any => b.forms.iter().all(|b| is_less(a, b)),
        };
        match a.of {
            Of::Least => a.forms.iter().any(is_below),
            Of::One | Of::Greatest | Of::Any => a.forms.iter().all(is_below),
        }
    }

    /// Whether two values are soon found never to be equal.
    pub(super) fn are_soon_apart(&self, a: &Value, b: &Value) -> bool {
        self.is_less(a, b, SOME_STEPS) || self.is_less(b, a, SOME_STEPS)
    }

    /// What `look` finds in the facts while the values of `pairs` are said to be equal, two by two.
    pub(super) fn while_equal(&mut self, pairs: &[(&Value, &Value)], look: impl FnOnce(&[&Form]) -> bool) -> bool {
        let mark = self.mark();
        for (a, b) in pairs {
            self.learn_order(a, b);
            self.learn_order(b, a);
        }
        // What is about the pair comes first, with the distance that was learnt last: then like facts of other pairs have like numbers.
        let (around, pair) = self.facts.split_at(mark.facts.saturating_sub(1));
        let found = look(&pair.iter().chain(around).map(|fact| &fact.form).collect::<Vec<_>>());
        self.forget(mark);
        found
    }

    /// Whether a form that is negative would contradict the facts.
    fn is_weighed(&self, form: &Form) -> bool {
        let Some(negative) = Form::constant(-1).sum(1, form, -1) else { return false };
        let mut forms = self.forms();
        forms.push(&negative);
        weights::contradict(&forms, &mut Proofs::default())
    }

    fn forms(&self) -> Vec<&Form> {
        self.facts.iter().map(|fact| &fact.form).collect()
    }

    /// Facts that leave the fewest variables are taken away first: most proofs are short.
    fn is_shown(&self, form: &Form, steps: &mut u32) -> bool {
        let Some((variable, coefficient)) = self.last(form) else { return form.constant >= 0 };
        let mut rests: Vec<Form> = Vec::new();
        for Fact { form: fact, last: (last, of_fact) } in self.facts.iter().rev() {
            if *last == variable && of_fact.signum() == coefficient.signum() {
                rests.extend(without(form, coefficient, fact, *of_fact));
            }
        }
        rests.sort_by_key(|rest| rest.terms.len());
        for rest in rests {
            let Some(left) = steps.checked_sub(1) else { return false };
            *steps = left;
            if self.is_shown(&rest, steps) {
                return true;
            }
        }
        false
    }

    /// An index in forms, if it has few enough.
    pub(super) fn value(&mut self, index: &Index) -> Option<Value> {
        Some(match index {
            Index::Const(value) => Value::one(Form::constant(*value)),
            Index::Param(ParamId(size)) => Value::one(Form::variable(*size as usize)),
            Index::Var(var) => {
                let (_, variable) = self.loops.iter().rev().find(|(known, _)| known == var)?;
                Value::one(Form::variable(*variable))
            }
            Index::Add(a, b) => self.value(a)?.plus(&self.value(b)?, 1)?,
            Index::Sub(a, b) => self.value(a)?.plus(&self.value(b)?, -1)?,
            Index::Mul(a, factor) => Value::one(Form::constant(0)).plus(&self.value(a)?, *factor)?,
            Index::FloorDiv(a, divisor) => {
                let Value { forms, of } = self.value(a)?;
                let forms = forms.into_iter().map(|form| self.quotient(form, *divisor)).collect::<Option<Vec<_>>>()?;
                Value { forms, of }
            }
            Index::Mod(a, divisor) => {
                let Value { forms, of } = self.value(a)?;
                let mut rests = Vec::new();
                for form in forms {
                    let quotient = self.quotient(form.clone(), *divisor)?;
                    rests.push(form.sum(1, &quotient, divisor.checked_neg()?)?);
                }
                Value { forms: rests, of: if of == Of::One { Of::One } else { Of::Any } }
            }
            Index::Xor(..) => return None,
            Index::Min(a, b) => Value::chosen(self.value(a)?, self.value(b)?, Of::Least)?,
            Index::Max(a, b) => Value::chosen(self.value(a)?, self.value(b)?, Of::Greatest)?,
            Index::Select(_, a, b) => Value::chosen(self.value(a)?, self.value(b)?, Of::Any)?,
        })
    }

    /// The floor of a quotient. What is divisible is taken out; of the rest it is a variable of which it is known that
    /// `0 <= rest - divisor * variable < divisor`, and that it is not negative if that is shown of the rest.
    fn quotient(&mut self, form: Form, divisor: i64) -> Option<Form> {
        if divisor < 1 {
            return None;
        }
        let mut whole = Form::constant(form.constant.div_euclid(divisor));
        let mut rest = Form::constant(form.constant.rem_euclid(divisor));
        for (variable, coefficient) in form.terms {
            if coefficient % divisor == 0 {
                whole.terms.push((variable, coefficient / divisor));
            } else {
                rest.terms.push((variable, coefficient));
            }
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        let same = |(known, by, _): &&(Form, i64, usize)| *by == divisor && *known == rest;
        if let Some((.., variable)) = self.quotients.iter().find(same) {
            return whole.sum(1, &Form::variable(*variable), 1);
        }
        let is_positive = self.is_shown(&rest, &mut FEW_STEPS.clone());
        let decided_by = rest.terms.iter().map(|(variable, _)| self.decided_by(*variable)).max();
        let variable = self.new_variable();
        if let (Some(decided_by), Some(own)) = (decided_by, self.variables.last_mut()) {
            *own = decided_by;
        }
        let quotient = Form::variable(variable);
        let left = rest.sum(1, &quotient, divisor.checked_neg()?)?;
        let room = Form::constant(divisor - 1).sum(1, &left, -1)?;
        [left, room].into_iter().chain(is_positive.then(|| quotient.clone())).for_each(|fact| self.keep(fact));
        self.quotients.push((rest, divisor, variable));
        whole.sum(1, &quotient, 1)
    }
}

/// What is left to show of a form when a fact is taken away, times what it takes for their last variable to vanish.
fn without(form: &Form, coefficient: i64, fact: &Form, of_fact: i64) -> Option<Form> {
    let common = gcd(coefficient.unsigned_abs(), of_fact.unsigned_abs());
    let times = i64::try_from(of_fact.unsigned_abs() / common).ok()?;
    let taken = i64::try_from(coefficient.unsigned_abs() / common).ok()?;
    let mut rest = form.sum(times, fact, taken.checked_neg()?)?;
    rest.constant = rest.constant.checked_add(times - 1)?;
    Some(rest)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
