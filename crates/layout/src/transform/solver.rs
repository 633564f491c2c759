//! Questions to isl, each under a budget.

use std::time::{Duration, Instant};

use isl::{Budget, Context, Dim, Id, Resource, Set};

use super::enumerate::{self, Comparison, compare};
use super::from_isl::transform_of;
use super::to_isl::Frame;
use super::{Axis, Equivalence, Expr, Region, Relation, Sample, Transform, Truth};
use crate::error::{Error, Result};

/// What isl may hold for one question, in bytes.
const MEMORY: u64 = 2 << 30;

/// Asks isl, and gives up when the budget for one question is spent.
#[derive(Debug)]
pub struct Solver {
    context: Context,
    budget: Budget,
}

impl Solver {
    /// A solver that spends at most two seconds on a question.
    pub fn new() -> Result<Solver> {
        Solver::with_time(Duration::from_secs(2))
    }

    /// A solver that spends at most this time on a question. Operations and memory are limited too, far above what fits
    /// the time.
    pub fn with_time(time: Duration) -> Result<Solver> {
        let operations = 25_000_000u64.saturating_mul(time.as_secs().max(1));
        let budget = Budget { time: Some(time), operations: Some(operations), memory: Some(MEMORY) };
        Ok(Solver { context: Context::new()?, budget })
    }

    /// Runs isl work under the budget. Errors that are not isl's pass through.
    pub(crate) fn ask<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut ours = None;
        let outcome = self.context.with_budget(self.budget, || match work() {
            Ok(value) => Ok(value),
            Err(Error::Isl(error)) => Err(error),
            Err(error) => {
                ours = Some(error);
                Err(isl::Error::callback("not isl's fault"))
            }
        });
        match (outcome, ours) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(error.into()),
        }
    }

    fn truth(&self, counterexamples: impl FnOnce() -> Result<Set>) -> Result<Truth> {
        let started = Instant::now();
        let answer = self.ask(|| {
            let set = counterexamples()?;
            Ok(if set.is_empty()? { Truth::Yes } else { Truth::No(Sample::of(set)?) })
        });
        match answer {
            Err(Error::Isl(error)) if error.is_budget() => Ok(Truth::Unknown { spent: started.elapsed() }),
            answer => answer,
        }
    }

    /// A transform as a relation from inputs to outputs.
    pub fn map(&self, transform: &Transform) -> Result<Relation> {
        self.ask(|| Ok(Relation(transform.to_map(&self.context)?)))
    }

    /// Whether extents and index maps agree for all values of the parameters (which are not negative).
    ///
    /// Where isl does not know, because the maps are not quasi-affine or its budget is spent, they are compared point by
    /// point for small parameters. That finds differences, and proves that there is none if there are no parameters.
    pub fn equivalent(&self, a: &Transform, b: &Transform) -> Result<Equivalence> {
        if a.inputs().len() != b.inputs().len() || a.outputs().len() != b.outputs().len() {
            return Err(Error::profile("equivalence", "the transforms have different numbers of inputs or outputs"));
        }
        let params = both_params(a, b);
        let started = Instant::now();
        let truth = self.truth(|| {
            let extents = |axes: &mut dyn Iterator<Item = (&Axis, &Axis)>| {
                let frame = Frame::new(&self.context, &params, 0)?;
                let mut different = Set::empty(frame.universe()?.get_space()?)?;
                for (a, b) in axes {
                    let differ = frame.build(&a.extent)?.ne_set(frame.build(&b.extent)?)?;
                    different = different.union(differ)?;
                }
                Ok::<_, Error>(different.intersect(frame.sizes()?)?)
            };
            let mut pairs = a.inputs().iter().zip(b.inputs()).chain(a.outputs().iter().zip(b.outputs()));
            let different = extents(&mut pairs)?;
            if !different.is_empty()? {
                return Ok(different);
            }
            let (a, b) = (a.to_map_with(&self.context, &params)?, b.to_map_with(&self.context, &params)?);
            Ok(a.clone().subtract(b.clone())?.union(b.subtract(a)?)?.domain()?)
        });
        let unproven = |same_up_to| Equivalence::Unknown { spent: started.elapsed(), same_up_to };
        Ok(match truth {
            Ok(Truth::Yes) => Equivalence::Equal,
            Ok(Truth::No(sample)) => Equivalence::Different(sample),
            Ok(Truth::Unknown { .. }) | Err(Error::NotAffine { .. }) => match compare(a, b, &params)? {
                Comparison::Different(sample) => Equivalence::Different(sample),
                Comparison::SameUpTo(_) if params.is_empty() => Equivalence::Equal,
                Comparison::SameUpTo(largest) => unproven(Some(largest)),
                Comparison::TooMany => unproven(None),
            },
            Err(error) => return Err(error),
        })
    }

    /// The answer of isl, or that of an enumeration if isl does not know.
    fn truth_or(
        &self,
        counterexamples: impl FnOnce() -> Result<Set>,
        enumerate: impl FnOnce() -> Result<Option<Truth>>,
    ) -> Result<Truth> {
        match self.truth(counterexamples) {
            Ok(unknown @ Truth::Unknown { .. }) => Ok(enumerate()?.unwrap_or(unknown)),
            Err(error @ Error::NotAffine { .. }) => enumerate()?.ok_or(error),
            answer => answer,
        }
    }

    /// Whether no two inputs have the same output. The sample is an input that shares its output.
    pub fn injective(&self, transform: &Transform) -> Result<Truth> {
        let counterexamples = || {
            let map = transform.to_map(&self.context)?;
            if map.is_injective()? {
                return Ok(Set::empty(map.domain()?.get_space()?)?);
            }
            let colliding = map.clone().apply_range(map.clone().reverse()?)?;
            let identity = map.domain()?.identity()?;
            Ok(colliding.subtract(identity)?.domain()?)
        };
        self.truth_or(counterexamples, || enumerate::injective(transform))
    }

    /// Whether every output in bounds is reached. The sample is an output that is not.
    pub fn surjective(&self, transform: &Transform) -> Result<Truth> {
        self.truth_or(|| self.unreached(transform), || enumerate::surjective(transform))
    }

    /// Whether outputs in bounds and inputs correspond one to one.
    pub fn bijective(&self, transform: &Transform) -> Result<Truth> {
        match self.injective(transform)? {
            Truth::Yes => match self.in_bounds(transform)? {
                // As many inputs as outputs, each output at most once: then each once.
                Truth::Yes if transform.is_square() => Ok(Truth::Yes),
                Truth::Yes => self.surjective(transform),
                outside => Ok(outside),
            },
            other => Ok(other),
        }
    }

    /// Whether all outputs are in bounds. The sample is an input whose output is not.
    fn in_bounds(&self, transform: &Transform) -> Result<Truth> {
        let counterexamples = || {
            let map = transform.to_map(&self.context)?;
            let outputs = Frame::new(&self.context, &transform.params(), transform.outputs().len())?
                .bounds(transform.outputs())?;
            Ok(map.subtract_range(outputs)?.domain()?)
        };
        self.truth_or(counterexamples, || enumerate::in_bounds(transform))
    }

    fn unreached(&self, transform: &Transform) -> Result<Set> {
        let frame = Frame::new(&self.context, &transform.params(), transform.outputs().len())?;
        let outputs = frame.with_names(transform.outputs())?.bounds(transform.outputs())?;
        Ok(outputs.subtract(transform.to_map(&self.context)?.range()?)?)
    }

    /// The outputs that are reached.
    pub fn image(&self, transform: &Transform) -> Result<Region> {
        self.ask(|| {
            let mut image = transform.to_map(&self.context)?.range()?.coalesce()?;
            for (position, axis) in transform.outputs().iter().enumerate() {
                image = image.set_dim_id(Dim::Set, position, Id::new(&self.context, &axis.name)?)?;
            }
            Ok(Region(image))
        })
    }

    /// The outputs in bounds that no input reaches.
    pub fn holes(&self, transform: &Transform) -> Result<Region> {
        self.ask(|| Ok(Region(self.unreached(transform)?.coalesce()?)))
    }

    /// The number of points of a set without parameters; `None` if there are parameters.
    pub fn count(&self, Region(set): &Region) -> Result<Option<i64>> {
        self.ask(|| {
            if set.dim(Dim::Param)? > 0 {
                return Ok(None);
            }
            Ok(set.count_val()?.to_i64()?)
        })
    }

    /// The way back, from the outputs. It is an error if the transform is not injective.
    pub fn invert(&self, transform: &Transform) -> Result<Transform> {
        match self.injective(transform)? {
            Truth::Yes => {}
            Truth::No(sample) => {
                return Err(Error::inadmissible("inverse", format!("not injective: {sample} shares its output")));
            }
            Truth::Unknown { spent } => return Err(Error::Isl(isl::Error::Budget { resource: Resource::Time, spent })),
        }
        self.ask(|| {
            let reverse = transform.to_map(&self.context)?.reverse()?;
            transform_of(&reverse, transform.outputs().to_vec(), transform.inputs().to_vec())
        })
    }

    /// The points below the extents at which no expression is negative.
    pub fn region(&self, axes: &[Axis], not_negative: &[Expr]) -> Result<Region> {
        let mut params = Vec::new();
        axes.iter().for_each(|axis| axis.extent.collect_params(&mut params));
        not_negative.iter().for_each(|expr| expr.collect_params(&mut params));
        self.ask(|| {
            let frame = Frame::new(&self.context, &params, axes.len())?.with_names(axes)?;
            let mut set = frame.bounds(axes)?;
            let frame = frame.on(&set);
            for expr in not_negative {
                set = set.intersect(frame.build(expr)?.nonneg_set()?)?;
            }
            Ok(Region(set.coalesce()?))
        })
    }

    /// Whether all of `premises` together with the bounds of the axes imply that `conclusion` is in bounds.
    ///
    /// Each is an expression over the axes with the extent it must lie below.
    pub fn implies(&self, axes: &[Axis], premises: &[(Expr, Expr)], conclusion: &(Expr, Expr)) -> Result<Truth> {
        let mut params = Vec::new();
        axes.iter().for_each(|axis| axis.extent.collect_params(&mut params));
        for (expr, extent) in premises.iter().chain([conclusion]) {
            expr.collect_params(&mut params);
            extent.collect_params(&mut params);
        }
        self.truth(|| {
            let frame = Frame::new(&self.context, &params, axes.len())?;
            let mut set = frame.bounds(axes)?;
            let frame = frame.on(&set);
            for (expr, extent) in premises {
                set = set.intersect(frame.within(expr, extent)?)?;
            }
            Ok(set.subtract(frame.within(&conclusion.0, &conclusion.1)?)?)
        })
    }
}

fn both_params(a: &Transform, b: &Transform) -> Vec<String> {
    let mut params = a.params();
    for name in b.params() {
        if !params.contains(&name) {
            params.push(name);
        }
    }
    params
}
