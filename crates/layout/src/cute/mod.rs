//! CuTe layouts: nested shape:stride pairs as functions from coordinates to integers.
//!
//! In: layouts from text, JSON or constructors.  Out: layouts, or an error that says which divisibility fails.
//! Indexing is colexicographic: the leftmost mode runs fastest, and the last mode is unbounded.
//! Not here: isl (`Layout::to_transform` leads there), morphisms (`morphism`), drawing (`calculator`).
//!
//! ```
//! # use farkas_layout as layout;
//! use layout::Layout;
//! let a: Layout = "(4,8):(8,1)".parse().unwrap();
//! let b: Layout = "2:4".parse().unwrap();
//! assert_eq!(a.composition(&b).unwrap().to_string(), "2:1");
//! ```

mod complement;
mod compose;
mod divide;
mod evaluate;
mod layout;
mod parametric;
mod polynomial;
mod product;
mod relation;
mod simplify;
mod swizzle;

pub use evaluate::coordinate_of;
pub use layout::{Layout, Mode};
pub use parametric::is_parametric;
pub(crate) use parametric::parametric;
pub use relation::{prefix_product, shape_div};
pub use swizzle::{ComposedLayout, Swizzle};
