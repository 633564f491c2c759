//! The layout type: a tree of modes that are sound by construction.

use std::fmt;

use super::relation::prefix_product;
use crate::error::{Error, Result};
use crate::nested::Nested;

/// A shape with its stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// How many coordinates it has.
    pub shape: i64,
    /// How far one step is in memory.
    pub stride: i64,
}

impl Mode {
    /// What a mode of size 1 is written as, since its stride means nothing.
    pub(crate) const UNIT: Mode = Mode { shape: 1, stride: 0 };

    pub(crate) fn new(shape: i64, stride: i64) -> Mode {
        Mode { shape, stride }
    }

    /// How far one step of the next contiguous mode would be.
    pub(crate) fn reach(self, operation: &'static str) -> Result<i64> {
        self.shape.checked_mul(self.stride).ok_or(Error::Overflow { operation })
    }
}

/// A layout. Shapes are positive, strides are not negative, and size and cosize fit 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(crate) modes: Nested<Mode>,
}

impl Layout {
    /// A layout from a shape and a congruent stride.
    pub fn new(shape: &Nested<i64>, stride: &Nested<i64>) -> Result<Layout> {
        let modes = shape
            .zip_with(stride, &mut |&shape, &stride| Mode { shape, stride })
            .ok_or_else(|| Error::profile("layout", format!("shape {shape} and stride {stride} are not congruent")))?;
        Layout::from_modes(modes)
    }

    /// The compact layout of a shape, the leftmost mode contiguous.
    pub fn compact(shape: &Nested<i64>) -> Result<Layout> {
        Layout::new(shape, &prefix_product(shape)?)
    }

    /// The layout with these modes, if they are sound.
    pub fn from_modes(modes: Nested<Mode>) -> Result<Layout> {
        check(&modes)?;
        Ok(Layout { modes })
    }

    /// A layout of one mode.
    pub fn leaf(shape: i64, stride: i64) -> Result<Layout> {
        Layout::from_modes(Nested::Leaf(Mode { shape, stride }))
    }

    /// A layout whose modes are the given ones.
    pub fn tuple(layouts: impl IntoIterator<Item = Layout>) -> Result<Layout> {
        Layout::from_modes(Nested::Tuple(layouts.into_iter().map(|layout| layout.modes).collect()))
    }

    /// A flat layout; one mode stays a leaf and none is `1:0`, as coalescing has it.
    pub(crate) fn from_flat(modes: &[Mode]) -> Result<Layout> {
        Layout::from_modes(flat_tree(modes))
    }

    /// The modes as they are nested.
    pub fn modes(&self) -> &Nested<Mode> {
        &self.modes
    }

    /// The modes from left to right, without nesting.
    pub fn flat_modes(&self) -> Vec<Mode> {
        let mut modes = Vec::with_capacity(8);
        self.modes.for_each(&mut |mode| modes.push(*mode));
        modes
    }

    /// The shapes of the modes, nested as they are.
    pub fn shape(&self) -> Nested<i64> {
        self.modes.map(&mut |mode| mode.shape)
    }

    /// The strides of the modes, nested as they are.
    pub fn stride(&self) -> Nested<i64> {
        self.modes.map(&mut |mode| mode.stride)
    }

    /// The number of direct modes.
    pub fn rank(&self) -> usize {
        self.modes.rank()
    }

    /// How deep modes are nested: 0 for a single mode.
    pub fn depth(&self) -> usize {
        self.modes.depth()
    }

    /// The direct modes as layouts of their own.
    pub fn top_modes(&self) -> impl Iterator<Item = Layout> {
        self.modes.modes().iter().map(|modes| Layout { modes: modes.clone() })
    }

    /// The number of coordinates.
    pub fn size(&self) -> i64 {
        let mut size = 1;
        self.modes.for_each(&mut |mode| size *= mode.shape);
        size
    }

    /// One more than the largest index of a coordinate in bounds.
    pub fn cosize(&self) -> i64 {
        let mut last = 0;
        self.modes.for_each(&mut |mode| last += (mode.shape - 1) * mode.stride);
        last + 1
    }
}

fn check(modes: &Nested<Mode>) -> Result<()> {
    let (mut size, mut last) = (Some(1i64), Some(0i64));
    let mut wrong = None;
    modes.for_each(&mut |mode| {
        if mode.shape <= 0 || mode.stride < 0 {
            wrong = Some(*mode);
            return;
        }
        size = size.and_then(|size| size.checked_mul(mode.shape));
        let step = (mode.shape - 1).checked_mul(mode.stride);
        last = last.and_then(|last| last.checked_add(step?));
    });
    if let Some(Mode { shape, stride }) = wrong {
        return Err(Error::inadmissible(
            "layout",
            if shape <= 0 { format!("shape {shape} is not positive") } else { format!("stride {stride} is negative") },
        ));
    }
    match (size, last) {
        (Some(_), Some(last)) if last < i64::MAX => Ok(()),
        _ => Err(Error::Overflow { operation: "layout" }),
    }
}

pub(super) fn flat_tree(modes: &[Mode]) -> Nested<Mode> {
    match modes {
        [] => Nested::Leaf(Mode::UNIT),
        [mode] => Nested::Leaf(*mode),
        _ => Nested::Tuple(modes.iter().copied().map(Nested::Leaf).collect()),
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape(), self.stride())
    }
}
