//! Affine expressions: single, in tuples, in pieces, and over several spaces.

mod aff;
mod multi_aff;
mod multi_union_pw_aff;
mod pw_aff;
mod pw_multi_aff;
mod union_pw_aff;
mod union_pw_multi_aff;

pub use aff::Aff;
pub use multi_aff::MultiAff;
pub use multi_union_pw_aff::MultiUnionPwAff;
pub use pw_aff::PwAff;
pub use pw_multi_aff::PwMultiAff;
pub use union_pw_aff::UnionPwAff;
pub use union_pw_multi_aff::UnionPwMultiAff;
