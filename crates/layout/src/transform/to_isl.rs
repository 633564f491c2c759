//! Expressions and transforms as isl objects, built from affine expressions.

use isl::{Aff, Context, Dim, Id, LocalSpace, Map, PwAff, Set, Space, Val};

use super::{Axis, Expr, Transform};
use crate::error::{Error, Result};

/// A space of coordinates with named parameters, in which expressions are built.
pub(crate) struct Frame {
    space: Space,
    params: Vec<String>,
    /// For messages.
    names: Vec<String>,
    /// Where the expressions are asked for. Elsewhere they may be undefined.
    pub(super) base: Set,
}

type Pieces<'a> = &'a dyn Fn() -> Result<Option<PwAff>>;

impl Frame {
    pub(crate) fn new(context: &Context, params: &[String], dimensions: usize) -> Result<Frame> {
        let mut space = Space::set_alloc(context, 0, dimensions)?;
        for name in params {
            space = space.add_param_id(Id::new(context, name)?)?;
        }
        let base = Set::universe(space.clone())?;
        Ok(Frame { space, params: params.to_vec(), names: Vec::new(), base })
    }

    /// The frame for expressions that are asked for on this set only.
    pub(crate) fn on(self, base: &Set) -> Frame {
        Frame { base: base.clone(), ..self }
    }

    pub(crate) fn with_names(mut self, axes: &[Axis]) -> Result<Frame> {
        let context = self.space.context().clone();
        for (position, axis) in axes.iter().enumerate() {
            self.space = self.space.set_dim_id(Dim::Set, position, Id::new(&context, &axis.name)?)?;
        }
        self.names = axes.iter().map(|axis| axis.name.clone()).collect();
        self.base = Set::universe(self.space.clone())?;
        Ok(self)
    }

    pub(crate) fn universe(&self) -> Result<Set> {
        Ok(Set::universe(self.space.clone())?)
    }

    /// Parameters are sizes: not negative.
    pub(crate) fn sizes(&self) -> Result<Set> {
        let mut set = self.universe()?;
        for position in 0..self.params.len() {
            set = set.lower_bound_si(Dim::Param, position, 0)?;
        }
        Ok(set)
    }

    pub(super) fn value(&self, value: i64) -> Result<Val> {
        Ok(Val::from_i64(self.space.context(), value)?)
    }

    fn variable(&self, kind: Dim, position: usize) -> Result<PwAff> {
        Ok(PwAff::var_on_domain(LocalSpace::from_space(self.space.clone())?, kind, position)?)
    }

    /// The expression as a piecewise quasi-affine one.
    pub(crate) fn build(&self, expr: &Expr) -> Result<PwAff> {
        let divided = |divisor: &Expr, by_literal: &dyn Fn(Val) -> Result<PwAff>, by_pieces: Pieces| {
            if let Some(divisor) = divisor.constant().filter(|&divisor| divisor > 0) {
                return by_literal(self.value(divisor)?);
            }
            by_pieces()?.ok_or_else(|| Error::NotAffine {
                what: format!(
                    "{} divides by what is not a number, and the quotient may take many values",
                    expr.display(&self.names)
                ),
            })
        };
        Ok(match expr {
            Expr::Const(value) => PwAff::from_aff(Aff::val_on_domain_space(self.space.clone(), self.value(*value)?)?)?,
            Expr::Input(position) => self.variable(Dim::Set, *position)?,
            Expr::Param(name) => {
                let position = self.params.iter().position(|param| param == name);
                let position =
                    position.ok_or_else(|| Error::NotAffine { what: format!("the unknown parameter {name}") })?;
                self.variable(Dim::Param, position)?
            }
            Expr::Add(a, b) => self.build(a)?.add(self.build(b)?)?,
            Expr::Mul(a, b) => match (a.constant(), b.constant()) {
                (_, Some(factor)) => self.build(a)?.scale_val(self.value(factor)?)?,
                (Some(factor), _) => self.build(b)?.scale_val(self.value(factor)?)?,
                _ => self.product(&self.build(a)?, &self.build(b)?)?.ok_or_else(|| Error::NotAffine {
                    what: format!("both factors of {} may take many values", expr.display(&self.names)),
                })?,
            },
            Expr::Div(a, b) => divided(b, &|divisor| Ok(self.build(a)?.scale_down_val(divisor)?.floor()?), &|| {
                self.quotient(&self.build(a)?, &self.build(b)?)
            })?,
            Expr::Mod(a, b) => divided(b, &|divisor| Ok(self.build(a)?.mod_val(divisor)?), &|| {
                self.remainder(&self.build(a)?, &self.build(b)?)
            })?,
            Expr::Xor { a, b, bits } => self.xor(&self.build(a)?, &self.build(b)?, *bits)?,
            Expr::Select { condition, then, otherwise } => {
                let chosen = self.build(condition)?.nonneg_set()?;
                let then = self.build(then)?.intersect_domain(chosen.clone())?;
                then.union_add(self.build(otherwise)?.subtract_domain(chosen)?)?
            }
        })
    }

    /// Bit k of the result is the sum modulo 2 of both quotients by 2 to the k; above `bits`, it is as in `a`.
    fn xor(&self, a: &PwAff, b: &PwAff, bits: u32) -> Result<PwAff> {
        let bits = bits.min(62);
        let whole = self.value(1i64 << bits)?;
        let mut result = a.clone().scale_down_val(whole.clone())?.floor()?.scale_val(whole)?;
        for bit in 0..bits {
            let weight = 1i64 << bit;
            let quotient = |x: &PwAff| -> Result<PwAff> { Ok(x.clone().scale_down_val(self.value(weight)?)?.floor()?) };
            let sum = quotient(a)?.add(quotient(b)?)?.mod_val(self.value(2)?)?;
            result = result.add(sum.scale_val(self.value(weight)?)?)?;
        }
        Ok(result)
    }

    /// The points whose coordinates lie below the extents.
    pub(crate) fn bounds(&self, axes: &[Axis]) -> Result<Set> {
        let mut set = self.universe()?;
        for (position, axis) in axes.iter().enumerate() {
            let inside = self.variable(Dim::Set, position)?.lt_set(self.build(&axis.extent)?)?;
            set = set.lower_bound_si(Dim::Set, position, 0)?.intersect(inside)?;
        }
        Ok(set)
    }

    /// The points at which an expression lies in `0..extent`.
    pub(crate) fn within(&self, expr: &Expr, extent: &Expr) -> Result<Set> {
        let value = self.build(expr)?;
        Ok(value.clone().nonneg_set()?.intersect(value.lt_set(self.build(extent)?)?)?)
    }
}

impl Transform {
    /// The isl map from the inputs at which it is defined to the outputs.
    pub(crate) fn to_map(&self, context: &Context) -> Result<Map> {
        self.to_map_with(context, &self.params())
    }

    /// The same with the given parameters, so that maps of several transforms share a space.
    pub(crate) fn to_map_with(&self, context: &Context, params: &[String]) -> Result<Map> {
        let frame = Frame::new(context, params, self.inputs().len())?.with_names(self.inputs())?;
        let mut domain = frame.bounds(self.inputs())?;
        let mut frame = frame.on(&domain);
        for bound in self.bounds() {
            domain = domain.intersect(frame.within(&bound.index, &bound.extent)?)?;
            frame = frame.on(&domain);
        }
        let mut map = Map::from_domain(domain)?;
        for expr in self.index() {
            map = map.flat_range_product(Map::from_pw_aff(frame.build(expr)?)?)?;
        }
        Ok(map)
    }
}
