//! Sets of one space.

use crate::runtime::{Error, Result};
use crate::{BasicSet, Dim, Id, Map, Point, PwAff, Space, UnionSet, Val};

object! {
    /// A union of basic sets of one space.
    Set, "isl_set_"
}

bind! { Set, "isl_set_";
    fn indicator_function(self) -> PwAff;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn get_tuple_name(&self) -> Option<String>;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Set;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn lower_bound_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn upper_bound_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn lexmin(self) -> Set;
    fn lexmax(self) -> Set;
    fn params(self) -> Set;
    fn empty(space: Space) -> Set;
    fn universe(space: Space) -> Set;
    fn sample(self) -> BasicSet;
    fn sample_point(self) -> Point;
    fn convex_hull(self) -> BasicSet;
    fn union(self, other: Set) -> Set;
    fn intersect(self, other: Set) -> Set;
    fn intersect_params(self, params: Set) -> Set;
    fn subtract(self, other: Set) -> Set;
    fn complement(self) -> Set;
    fn apply(self, map: Map) -> Set;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> Set;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> Set;
    fn add_dims(self, kind: Dim, n: usize) -> Set;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> Set;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn is_empty(&self) -> bool;
    fn is_bounded(&self) -> bool;
    fn is_subset(&self, other: &Set) -> bool;
    fn is_equal(&self, other: &Set) -> bool;
    fn is_disjoint(&self, other: &Set) -> bool;
    fn is_singleton(&self) -> bool;
    fn dim_is_bounded(&self, kind: Dim, pos: usize) -> bool;
    fn coalesce(self) -> Set;
    fn compute_divs(self) -> Set;
    fn get_basic_set_list(&self) -> Vec<BasicSet>;
    fn count_val(&self) -> Val;
    fn lex_lt_set(self, other: Set) -> Map;
    fn align_params(self, model: Space) -> Set;
    fn dim_max(self, pos: usize) -> PwAff;
    fn dim_min(self, pos: usize) -> PwAff;
    fn identity(self) -> Map;
    fn unwrap(self) -> Map;
    fn flatten(self) -> Set;
    fn to_union_set(self) -> UnionSet;
}

// isl trusts its caller with these: the methods of the same names below look first.
bind! { trusted Set;
    fn raw_reset_space = "isl_set_reset_space"(self, space: Space) -> Set;
    fn raw_gist = "isl_set_gist"(self, context: Set) -> Set;
    fn raw_move_dims = "isl_set_move_dims"(self, to: Dim, to_pos: usize, from: Dim, from_pos: usize, n: usize) -> Set;
}

bind_callbacks! { Set, "isl_set_";
    fn foreach_basic_set: each(BasicSet);
    fn foreach_point: each(Point);
}

impl Set {
    /// `isl_set_reset_space` of the isl manual: other names for the same dimensions.
    pub fn reset_space(self, space: Space) -> Result<Set> {
        let here = self.get_space()?;
        let same = |kind| Ok(here.dim(kind)? == space.dim(kind)?);
        if !space.is_set()? || here.is_params()? || !same(Dim::Set)? || !same(Dim::Param)? {
            return Err(Error::invalid("isl_set_reset_space", "the spaces have other dimensions"));
        }
        self.raw_reset_space(space)
    }

    /// `isl_set_gist` of the isl manual: a simpler set that is the same within `context`, which has the same space.
    pub fn gist(self, context: Set) -> Result<Set> {
        if !self.get_space()?.has_equal_tuples(&context.get_space()?)? {
            return Err(Error::invalid("isl_set_gist", "the spaces differ"));
        }
        self.raw_gist(context)
    }

    /// `isl_set_move_dims` of the isl manual: parameters become dimensions, or dimensions parameters.
    pub fn move_dims(self, to: Dim, to_pos: usize, from: Dim, from_pos: usize, n: usize) -> Result<Set> {
        let movable = |kind| matches!(kind, Dim::Param | Dim::Out | Dim::Set);
        let space = self.get_space()?;
        if space.is_params()? || !movable(to) || !movable(from) || (to == Dim::Param) == (from == Dim::Param) {
            return Err(Error::invalid("isl_set_move_dims", "not from parameters to dimensions, nor back"));
        }
        let (to_size, from_size) = (space.dim(to)?, space.dim(from)?);
        if to_pos > to_size || from_pos > from_size || n > from_size - from_pos {
            return Err(Error::invalid("isl_set_move_dims", "position or range out of bounds"));
        }
        self.raw_move_dims(to, to_pos, from, from_pos, n)
    }

    /// The disjuncts.
    pub fn basic_sets(&self) -> Result<Vec<BasicSet>> {
        self.get_basic_set_list()
    }

    /// The points of a bounded set without parameters.
    pub fn points(&self) -> Result<Vec<Point>> {
        let mut points = Vec::new();
        self.foreach_point(|point| {
            points.push(point);
            Ok(())
        })?;
        Ok(points)
    }
}

bind!(@probe Set, reset_space, self, space: Space);
bind!(@probe Set, gist, self, context: Set);
bind!(@probe Set, move_dims, self, to: Dim, to_pos: usize, from: Dim, from_pos: usize, n: usize);
