//! What a solver hands out: sets of points and relations between them, without isl in sight.
//!
//! In: isl's sets and maps, inside of this crate.  Out: values to print, compare and combine.
//! Not here: how they are made, and how many points they have (`solver`).

use std::fmt;

use isl::{Dim, Map, Set, Val};

use super::Params;
use crate::error::Result;

/// A set of points, for all values of the parameters.
#[derive(Clone, Debug)]
pub struct Region(pub(crate) Set);

/// A relation between points, for all values of the parameters.
#[derive(Clone, Debug)]
pub struct Relation(pub(crate) Map);

impl Region {
    /// Whether it has no points, whatever the parameters are.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.0.is_empty()?)
    }

    /// Whether both have the same points.
    pub fn is_equal(&self, other: &Region) -> Result<bool> {
        Ok(self.0.is_equal(&other.0)?)
    }

    /// Whether `other` has all of its points.
    pub fn is_subset(&self, other: &Region) -> Result<bool> {
        Ok(self.0.is_subset(&other.0)?)
    }

    /// Whether no point is in both.
    pub fn is_disjoint(&self, other: &Region) -> Result<bool> {
        Ok(self.0.is_disjoint(&other.0)?)
    }

    /// The points that are in either.
    pub fn union(self, other: Region) -> Result<Region> {
        Ok(Region(self.0.union(other.0)?))
    }

    /// The points that are in both.
    pub fn intersect(self, other: Region) -> Result<Region> {
        Ok(Region(self.0.intersect(other.0)?))
    }

    /// The points that are not in `other`.
    pub fn subtract(self, other: Region) -> Result<Region> {
        Ok(Region(self.0.subtract(other.0)?))
    }
}

impl Relation {
    /// Whether both relate the same points.
    pub fn is_equal(&self, other: &Relation) -> Result<bool> {
        Ok(self.0.is_equal(&other.0)?)
    }

    /// Whether `other` relates all that it relates.
    pub fn is_subset(&self, other: &Relation) -> Result<bool> {
        Ok(self.0.is_subset(&other.0)?)
    }

    /// Whether each point is related to at most one.
    pub fn is_single_valued(&self) -> Result<bool> {
        Ok(self.0.is_single_valued()?)
    }

    /// Whether `from` is related to `to` for these parameters; those not given may have any value.
    pub fn relates(&self, from: &[i64], to: &[i64], params: &Params) -> Result<bool> {
        let mut map = self.0.clone();
        let space = map.get_space()?;
        for position in 0..space.dim(Dim::Param)? {
            let name = space.get_dim_name(Dim::Param, position)?.unwrap_or_default();
            if let Some(&value) = params.get(&name) {
                map = map.fix_val(Dim::Param, position, Val::from_i64(space.context(), value)?)?;
            }
        }
        for (kind, point) in [(Dim::In, from), (Dim::Out, to)] {
            for (position, &value) in point.iter().enumerate() {
                map = map.fix_val(kind, position, Val::from_i64(space.context(), value)?)?;
            }
        }
        Ok(!map.is_empty()?)
    }

    /// Whether each point is related to itself, and to nothing else.
    pub fn is_identity(&self) -> Result<bool> {
        Ok(self.0.is_identity()?)
    }

    /// Whether no two points are related to the same one.
    pub fn is_injective(&self) -> Result<bool> {
        Ok(self.0.is_injective()?)
    }

    /// This relation, then `next`.
    pub fn then(self, next: Relation) -> Result<Relation> {
        Ok(Relation(self.0.apply_range(next.0)?))
    }

    /// The same pairs the other way round.
    pub fn reverse(self) -> Result<Relation> {
        Ok(Relation(self.0.reverse()?))
    }

    /// The points that are related to others.
    pub fn domain(self) -> Result<Region> {
        Ok(Region(self.0.domain()?))
    }

    /// The points that others are related to.
    pub fn range(self) -> Result<Region> {
        Ok(Region(self.0.range()?))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
