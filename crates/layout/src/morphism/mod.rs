//! Tuple morphisms and nested tuple morphisms: the categories behind tractable layouts.
//!
//! A morphism `(s₁,…,s_m) → (t₁,…,t_n)` is a pointed map α with `t_α(i) = s_i` wherever α(i) is not the basepoint, and
//! at most one i for each target. Its layout has the shape of the domain, and the stride of entry i is the product of
//! the codomain before α(i). In: morphisms, layouts.  Out: the same, or an error that says what does not fit.
//! Positions are 1-based and 0 is the basepoint, as in the literature and in the oracle files.
//! Not here: layouts as such (`cute`), isl (`transform`).

mod coalesce;
mod nest;
mod refine;
mod standard;
mod tuple;

pub use nest::NestMorphism;
pub use refine::{mutual_refinement, refines, relative_modes};
pub use standard::{nest_standard_form, standard_form};
pub use tuple::TupleMorphism;
