//! From the program's affine expressions to isl's: every set and map is built here, from expressions, never from text.

use isl::{Aff, Context, Dim, LocalSpace, Map, MultiAff, Set, Space, Val};
use program::{Affine, Atom, Bound, Cond, Function, IterId};

use crate::fault::{Attempt, Fault};

/// The parameters of a function, in one fixed order in every space.
#[derive(Clone, Debug)]
pub struct Params {
    ctx: Context,
    space: Space,
}

impl Params {
    /// The parameters of a function.
    pub fn new(ctx: &Context, function: &Function) -> Attempt<Params> {
        let mut space = Space::params_alloc(ctx, 0)?;
        for param in &function.params {
            space = space.add_param_id(isl::Id::new(ctx, &param.name)?)?;
        }
        Ok(Params { ctx: ctx.clone(), space })
    }

    /// Where all of its objects live.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// The space with nothing but the parameters.
    pub fn space(&self) -> Space {
        self.space.clone()
    }

    /// A tuple, with the names of its dimensions where they have one.
    pub fn tuple(&self, name: Option<&str>, dims: &[&str]) -> Attempt<Space> {
        let mut space = self.space().set_from_params()?.add_dims(Dim::Set, dims.len())?;
        if let Some(name) = name {
            space = space.set_tuple_name(Dim::Set, name)?;
        }
        for (position, dim) in dims.iter().enumerate().filter(|(_, dim)| !dim.is_empty()) {
            space = space.set_dim_name(Dim::Set, position, dim)?;
        }
        Ok(space)
    }
}

/// A set space whose dimensions are iterators; affine expressions are read relative to it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What expressions are read relative to.
    pub space: Space,
    /// The iterator of each dimension.
    pub iters: Vec<IterId>,
}

impl Frame {
    /// The frame of some iterators, with the tuple name given.
    pub fn new(params: &Params, function: &Function, name: Option<&str>, iters: &[IterId]) -> Attempt<Frame> {
        let names: Vec<&str> = iters.iter().map(|iter| function.iter(*iter).name.as_str()).collect();
        Ok(Frame { space: params.tuple(name, &names)?, iters: iters.to_vec() })
    }

    fn position(&self, iter: IterId) -> Option<usize> {
        self.iters.iter().position(|known| *known == iter)
    }

    /// An affine expression.
    pub fn aff(&self, affine: &Affine) -> Attempt<Aff> {
        aff(&self.space, affine, &|iter| self.position(iter))
    }

    /// The points at which a condition holds.
    pub fn cond(&self, cond: &Cond) -> Attempt<Set> {
        cond_set(&self.space, cond, &|iter| self.position(iter))
    }

    /// The map from this space into `range`, one expression per output dimension.
    pub fn map(&self, range: Space, outputs: &[Affine]) -> Attempt<Map> {
        let affs: Vec<Aff> = outputs.iter().map(|output| self.aff(output)).collect::<Attempt<_>>()?;
        let space = self.space.clone().map_from_domain_and_range(range)?;
        Ok(Map::from_multi_aff(MultiAff::from_aff_list(space, &affs)?)?)
    }

    /// The same where an output that is not known may have any value.
    pub fn may_map(&self, params: &Params, range: Space, outputs: &[Option<&Affine>]) -> Attempt<Map> {
        let known: Vec<Affine> = outputs.iter().flatten().map(|output| (*output).clone()).collect();
        let tuple = params.tuple(None, &vec![""; known.len()])?;
        let positions = outputs.iter().enumerate().filter(|(_, output)| output.is_some());
        let local = LocalSpace::from_space(range.clone())?;
        let coordinates = positions
            .map(|(position, _)| Aff::var_on_domain(local.clone(), Dim::Set, position))
            .collect::<isl::Result<Vec<_>>>()?;
        let space = range.map_from_domain_and_range(tuple.clone())?;
        let projection = Map::from_multi_aff(MultiAff::from_aff_list(space, &coordinates)?)?;
        Ok(self.map(tuple, &known)?.apply_range(projection.reverse()?)?)
    }
}

/// The points of `space` whose coordinate is in `0..extent`.
pub fn below(space: &Space, position: usize, extent: &Affine) -> Attempt<Set> {
    let extent = aff(space, extent, &|_| None)?;
    let coordinate = Aff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, position)?;
    let zero = Aff::zero_on_domain_space(space.clone())?;
    Ok(coordinate.clone().ge_set(zero)?.intersect(coordinate.lt_set(extent)?)?)
}

/// `affine` as an isl expression on `space`; `position` finds the dimension of an iterator.
pub fn aff(space: &Space, affine: &Affine, position: &dyn Fn(IterId) -> Option<usize>) -> Attempt<Aff> {
    let ctx = space.context();
    let mut sum = Aff::zero_on_domain_space(space.clone())?;
    sum = sum.add_constant_val(Val::from_i64(ctx, affine.constant)?)?;
    for (atom, coefficient) in &affine.terms {
        let coefficient = Val::from_i64(ctx, *coefficient)?;
        sum = match atom {
            Atom::Param(id) => sum.add_coefficient_val(Dim::Param, id.index(), coefficient)?,
            Atom::Iter(id) => {
                let position = position(*id).ok_or_else(|| Fault::bug(format!("{id:?} has no dimension here")))?;
                sum.add_coefficient_val(Dim::In, position, coefficient)?
            }
            Atom::Div(numerator, divisor) => {
                let numerator = aff(space, numerator, position)?;
                let quotient = numerator.scale_down_val(Val::from_i64(ctx, *divisor)?)?.floor()?;
                sum.add(quotient.scale_val(coefficient)?)?
            }
        };
    }
    Ok(sum)
}

/// An isl expression as one of the program's; `iters` are the dimensions of its domain. `None` if it does not fit.
pub fn affine(params: &Params, aff: &Aff, iters: &[IterId]) -> Attempt<Option<Affine>> {
    let aff = aff.clone().align_params(params.space())?;
    if aff.is_nan()? {
        return Ok(None);
    }
    let Some(denominator) = aff.get_denominator_val()?.to_i64()? else { return Ok(None) };
    let whole = aff.scale_val(Val::from_i64(params.ctx(), denominator)?)?;
    let Some(constant) = whole.get_constant_val()?.to_i64()? else { return Ok(None) };
    let mut sum = Some(Affine::constant(constant));
    for kind in [Dim::Param, Dim::In, Dim::Div] {
        for position in 0..whole.dim(kind)? {
            let Some(coefficient) = whole.get_coefficient_val(kind, position)?.to_i64()? else { return Ok(None) };
            if coefficient == 0 {
                continue;
            }
            let term = match kind {
                Dim::Param => Some(Affine::param(program::ParamId(position as u32))),
                Dim::In => iters.get(position).map(|iter| Affine::iter(*iter)),
                _ => affine(params, &whole.get_div(position)?, iters)?,
            };
            sum = sum.zip(term).and_then(|(sum, term)| sum.add_scaled(&term, coefficient));
        }
    }
    // Where the denominator is not 1 the expression is a floor, or exact on its domain.
    Ok(sum.and_then(|sum| sum.div(denominator)))
}

/// A function, `{ [iters] -> [values] }`, as one expression per value; `None` if it is not one expression everywhere.
pub fn affines(params: &Params, map: &Map, iters: &[IterId]) -> Attempt<Option<Vec<Affine>>> {
    for (_, piece) in map.clone().coalesce()?.as_pw_multi_aff()?.pieces()? {
        if !map.is_subset(&Map::from_multi_aff(piece.clone())?)? {
            continue;
        }
        let values = piece.get_list()?.iter().map(|value| affine(params, value, iters)).collect::<Attempt<Vec<_>>>()?;
        if let Some(values) = values.into_iter().collect() {
            return Ok(Some(values));
        }
    }
    Ok(None)
}

/// The points of `space` at which `cond` holds.
pub fn cond_set(space: &Space, cond: &Cond, position: &dyn Fn(IterId) -> Option<usize>) -> Attempt<Set> {
    let zero = || Aff::zero_on_domain_space(space.clone());
    Ok(match cond {
        Cond::NonNegative(affine) => aff(space, affine, position)?.ge_set(zero()?)?,
        Cond::Zero(affine) => aff(space, affine, position)?.eq_set(zero()?)?,
        Cond::And(conds) => {
            let mut set = Set::universe(space.clone())?;
            for cond in conds {
                set = set.intersect(cond_set(space, cond, position)?)?;
            }
            set
        }
        Cond::Or(conds) => {
            let mut set = Set::empty(space.clone())?;
            for cond in conds {
                set = set.union(cond_set(space, cond, position)?)?;
            }
            set
        }
    })
}

/// `lo <= iter < hi`
pub fn in_range(bound: &Bound) -> Attempt<Cond> {
    let iter = Affine::iter(bound.iter);
    let from = iter.sub(&bound.lo);
    let to = bound.hi.sub(&iter).and_then(|gap| gap.sub(&Affine::constant(1)));
    match (from, to) {
        (Some(from), Some(to)) => Ok(Cond::And(vec![Cond::NonNegative(from), Cond::NonNegative(to)])),
        _ => Err(Fault::Overflow("a bound")),
    }
}

/// A set of instances as a condition over its dimensions; `None` if a number of it does not fit.
pub fn condition(params: &Params, set: &Set, iters: &[IterId]) -> Attempt<Option<Cond>> {
    let set = set.clone().compute_divs()?.align_params(params.space())?;
    let mut pieces = Vec::new();
    for piece in set.basic_sets()? {
        let mut conds = Vec::new();
        for constraint in piece.get_constraint_list()? {
            let Some(value) = affine(params, &constraint.get_aff()?, iters)? else { return Ok(None) };
            conds.push(if constraint.is_equality()? { Cond::Zero(value) } else { Cond::NonNegative(value) });
        }
        pieces.push(if conds.len() == 1 { conds.remove(0) } else { Cond::And(conds) });
    }
    Ok(Some(if pieces.len() == 1 { pieces.remove(0) } else { Cond::Or(pieces) }))
}
