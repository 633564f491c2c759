//! Options of the scheduler and of loop generation, as plain data.
//!
//! In: a struct whose defaults are isl's.  Out: a context that uses it from then on.

use crate::runtime::{Context, Result};

/// Which algorithm computes schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScheduleAlgorithm {
    /// A variant of Pluto's.
    #[default]
    Isl,
    /// Feautrier's.
    Feautrier,
}

/// How conditions on the bounds of separated loops are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeparationBounds {
    /// By guards that appear in the input.
    #[default]
    Explicit,
    /// Also by what they imply.
    Implicit,
}

/// `isl_options_set_schedule_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleOptions {
    /// The largest coefficient of a variable or parameter; `None` for no limit.
    pub max_coefficient: Option<u32>,
    /// The largest constant term; `None` for no limit.
    pub max_constant_term: Option<u32>,
    /// Prefer deeper bands over coincidence.
    pub maximize_band_depth: bool,
    /// Prefer coincident members over band depth.
    pub maximize_coincidence: bool,
    /// Ask for a coincident outermost member in every band.
    pub outer_coincidence: bool,
    /// Split bands whose members have a common factor.
    pub split_scaled: bool,
    /// Avoid schedules that merge loops by multiplying.
    pub treat_coalescing: bool,
    /// Schedule unconnected statements separately.
    pub separate_components: bool,
    /// Do not fuse strongly connected components.
    pub serialize_sccs: bool,
    /// Try to schedule a whole component before merging clusters of it.
    pub whole_component: bool,
    /// When carrying dependences, begin with those within a statement.
    pub carry_self_first: bool,
    /// The algorithm.
    pub algorithm: ScheduleAlgorithm,
}

impl Default for ScheduleOptions {
    fn default() -> ScheduleOptions {
        ScheduleOptions {
            max_coefficient: None,
            max_constant_term: None,
            maximize_band_depth: false,
            maximize_coincidence: false,
            outer_coincidence: false,
            split_scaled: true,
            treat_coalescing: true,
            separate_components: true,
            serialize_sccs: false,
            whole_component: false,
            carry_self_first: true,
            algorithm: ScheduleAlgorithm::Isl,
        }
    }
}

/// `isl_options_set_ast_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AstOptions {
    /// Bound each loop by one expression.
    pub atomic_upper_bound: bool,
    /// Prefer divisions with a non-negative dividend.
    pub prefer_pdiv: bool,
    /// Use minimum and maximum in expressions.
    pub detect_min_max: bool,
    /// Simplify conditions by the bounds of loops inside.
    pub exploit_nested_bounds: bool,
    /// Keep instances scheduled at one time together.
    pub group_coscheduled: bool,
    /// Bounds used when separating.
    pub separation_bounds: SeparationBounds,
    /// Scale strided iterators down.
    pub scale_strides: bool,
    /// Generate `else`.
    pub allow_else: bool,
    /// Generate disjunctions in conditions.
    pub allow_or: bool,
    /// The C type of iterators in printed programs.
    pub iterator_type: String,
}

impl Default for AstOptions {
    fn default() -> AstOptions {
        AstOptions {
            atomic_upper_bound: true,
            prefer_pdiv: true,
            detect_min_max: false,
            exploit_nested_bounds: true,
            group_coscheduled: false,
            separation_bounds: SeparationBounds::Explicit,
            scale_strides: true,
            allow_else: true,
            allow_or: true,
            iterator_type: "int".to_owned(),
        }
    }
}

impl Context {
    /// Uses these options for all schedules computed from now on.
    pub fn set_schedule_options(&self, options: &ScheduleOptions) -> Result<()> {
        let limit = |limit: Option<u32>| limit.map_or(-1, |limit| i32::try_from(limit).unwrap_or(i32::MAX));
        self.set_schedule_max_coefficient(limit(options.max_coefficient))?;
        self.set_schedule_max_constant_term(limit(options.max_constant_term))?;
        self.set_schedule_maximize_band_depth(options.maximize_band_depth)?;
        self.set_schedule_maximize_coincidence(options.maximize_coincidence)?;
        self.set_schedule_outer_coincidence(options.outer_coincidence)?;
        self.set_schedule_split_scaled(options.split_scaled)?;
        self.set_schedule_treat_coalescing(options.treat_coalescing)?;
        self.set_schedule_separate_components(options.separate_components)?;
        self.set_schedule_serialize_sccs(options.serialize_sccs)?;
        self.set_schedule_whole_component(options.whole_component)?;
        self.set_schedule_carry_self_first(options.carry_self_first)?;
        self.set_schedule_algorithm(options.algorithm == ScheduleAlgorithm::Feautrier)
    }

    /// The options in force.
    pub fn schedule_options(&self) -> Result<ScheduleOptions> {
        let algorithm =
            if self.get_schedule_algorithm()? { ScheduleAlgorithm::Feautrier } else { ScheduleAlgorithm::Isl };
        Ok(ScheduleOptions {
            max_coefficient: u32::try_from(self.get_schedule_max_coefficient()?).ok(),
            max_constant_term: u32::try_from(self.get_schedule_max_constant_term()?).ok(),
            maximize_band_depth: self.get_schedule_maximize_band_depth()?,
            maximize_coincidence: self.get_schedule_maximize_coincidence()?,
            outer_coincidence: self.get_schedule_outer_coincidence()?,
            split_scaled: self.get_schedule_split_scaled()?,
            treat_coalescing: self.get_schedule_treat_coalescing()?,
            separate_components: self.get_schedule_separate_components()?,
            serialize_sccs: self.get_schedule_serialize_sccs()?,
            whole_component: self.get_schedule_whole_component()?,
            carry_self_first: self.get_schedule_carry_self_first()?,
            algorithm,
        })
    }

    /// Uses these options for all loop programs generated from now on.
    pub fn set_ast_options(&self, options: &AstOptions) -> Result<()> {
        self.set_ast_build_atomic_upper_bound(options.atomic_upper_bound)?;
        self.set_ast_build_prefer_pdiv(options.prefer_pdiv)?;
        self.set_ast_build_detect_min_max(options.detect_min_max)?;
        self.set_ast_build_exploit_nested_bounds(options.exploit_nested_bounds)?;
        self.set_ast_build_group_coscheduled(options.group_coscheduled)?;
        self.set_ast_build_separation_bounds(options.separation_bounds == SeparationBounds::Implicit)?;
        self.set_ast_build_scale_strides(options.scale_strides)?;
        self.set_ast_build_allow_else(options.allow_else)?;
        self.set_ast_build_allow_or(options.allow_or)?;
        self.set_ast_iterator_type(&options.iterator_type)
    }

    /// The options in force.
    pub fn ast_options(&self) -> Result<AstOptions> {
        let separation_bounds = if self.get_ast_build_separation_bounds()? {
            SeparationBounds::Implicit
        } else {
            SeparationBounds::Explicit
        };
        Ok(AstOptions {
            atomic_upper_bound: self.get_ast_build_atomic_upper_bound()?,
            prefer_pdiv: self.get_ast_build_prefer_pdiv()?,
            detect_min_max: self.get_ast_build_detect_min_max()?,
            exploit_nested_bounds: self.get_ast_build_exploit_nested_bounds()?,
            group_coscheduled: self.get_ast_build_group_coscheduled()?,
            separation_bounds,
            scale_strides: self.get_ast_build_scale_strides()?,
            allow_else: self.get_ast_build_allow_else()?,
            allow_or: self.get_ast_build_allow_or()?,
            iterator_type: self.get_ast_iterator_type()?.unwrap_or_default(),
        })
    }
}

/// A setter and a getter of one option.
macro_rules! option {
    ($($set:ident = $c_set:literal, $get:ident = $c_get:literal: $arg:ty, $ret:ty;)*) => {
        bind! { Context;
            $(fn $set = $c_set(&self, value: $arg) -> ();
              fn $get = $c_get(&self) -> $ret;)*
        }
    };
}

option! {
    set_schedule_max_coefficient = "isl_options_set_schedule_max_coefficient",
        get_schedule_max_coefficient = "isl_options_get_schedule_max_coefficient": i32, i32;
    set_schedule_max_constant_term = "isl_options_set_schedule_max_constant_term",
        get_schedule_max_constant_term = "isl_options_get_schedule_max_constant_term": i32, i32;
    set_schedule_maximize_band_depth = "isl_options_set_schedule_maximize_band_depth",
        get_schedule_maximize_band_depth = "isl_options_get_schedule_maximize_band_depth": bool, bool;
    set_schedule_maximize_coincidence = "isl_options_set_schedule_maximize_coincidence",
        get_schedule_maximize_coincidence = "isl_options_get_schedule_maximize_coincidence": bool, bool;
    set_schedule_outer_coincidence = "isl_options_set_schedule_outer_coincidence",
        get_schedule_outer_coincidence = "isl_options_get_schedule_outer_coincidence": bool, bool;
    set_schedule_split_scaled = "isl_options_set_schedule_split_scaled",
        get_schedule_split_scaled = "isl_options_get_schedule_split_scaled": bool, bool;
    set_schedule_treat_coalescing = "isl_options_set_schedule_treat_coalescing",
        get_schedule_treat_coalescing = "isl_options_get_schedule_treat_coalescing": bool, bool;
    set_schedule_separate_components = "isl_options_set_schedule_separate_components",
        get_schedule_separate_components = "isl_options_get_schedule_separate_components": bool, bool;
    set_schedule_serialize_sccs = "isl_options_set_schedule_serialize_sccs",
        get_schedule_serialize_sccs = "isl_options_get_schedule_serialize_sccs": bool, bool;
    set_schedule_whole_component = "isl_options_set_schedule_whole_component",
        get_schedule_whole_component = "isl_options_get_schedule_whole_component": bool, bool;
    set_schedule_carry_self_first = "isl_options_set_schedule_carry_self_first",
        get_schedule_carry_self_first = "isl_options_get_schedule_carry_self_first": bool, bool;
    set_schedule_algorithm = "isl_options_set_schedule_algorithm",
        get_schedule_algorithm = "isl_options_get_schedule_algorithm": bool, bool;
    set_ast_build_atomic_upper_bound = "isl_options_set_ast_build_atomic_upper_bound",
        get_ast_build_atomic_upper_bound = "isl_options_get_ast_build_atomic_upper_bound": bool, bool;
    set_ast_build_prefer_pdiv = "isl_options_set_ast_build_prefer_pdiv",
        get_ast_build_prefer_pdiv = "isl_options_get_ast_build_prefer_pdiv": bool, bool;
    set_ast_build_detect_min_max = "isl_options_set_ast_build_detect_min_max",
        get_ast_build_detect_min_max = "isl_options_get_ast_build_detect_min_max": bool, bool;
    set_ast_build_exploit_nested_bounds = "isl_options_set_ast_build_exploit_nested_bounds",
        get_ast_build_exploit_nested_bounds = "isl_options_get_ast_build_exploit_nested_bounds": bool, bool;
    set_ast_build_group_coscheduled = "isl_options_set_ast_build_group_coscheduled",
        get_ast_build_group_coscheduled = "isl_options_get_ast_build_group_coscheduled": bool, bool;
    set_ast_build_separation_bounds = "isl_options_set_ast_build_separation_bounds",
        get_ast_build_separation_bounds = "isl_options_get_ast_build_separation_bounds": bool, bool;
    set_ast_build_scale_strides = "isl_options_set_ast_build_scale_strides",
        get_ast_build_scale_strides = "isl_options_get_ast_build_scale_strides": bool, bool;
    set_ast_build_allow_else = "isl_options_set_ast_build_allow_else",
        get_ast_build_allow_else = "isl_options_get_ast_build_allow_else": bool, bool;
    set_ast_build_allow_or = "isl_options_set_ast_build_allow_or",
        get_ast_build_allow_or = "isl_options_get_ast_build_allow_or": bool, bool;
    set_ast_iterator_type = "isl_options_set_ast_iterator_type",
        get_ast_iterator_type = "isl_options_get_ast_iterator_type": &str, Option<String>;
}
