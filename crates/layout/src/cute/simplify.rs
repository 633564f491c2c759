//! Simpler layouts for the same function: coalesce, filter, flatten, sort.

use super::layout::flat_tree;
use super::{Layout, Mode};
use crate::error::{Error, Result};
use crate::nested::Nested;

/// What becomes of a last mode of size 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastMode {
    /// It goes like any other: the function is wanted in bounds.
    Drop,
    /// It stays unless it continues the mode before it: indices past the end run along it.
    Keep,
}

/// Joins neighbours that run on and drops modes of size 1. Nothing is ever reordered.
pub(super) fn coalesce_modes(modes: impl IntoIterator<Item = Mode>, last: LastMode) -> Vec<Mode> {
    let mut result: Vec<Mode> = Vec::with_capacity(8);
    let mut modes = modes.into_iter().peekable();
    while let Some(mode) = modes.next() {
        let kept = mode.shape != 1 || (last == LastMode::Keep && modes.peek().is_none());
        if !kept {
            continue;
        }
        match result.last_mut() {
            Some(previous)
                if previous.shape.checked_mul(previous.stride) == Some(mode.stride)
                    && previous.shape.checked_mul(mode.shape).is_some() =>
            {
                previous.shape *= mode.shape;
            }
            _ => result.push(mode),
        }
    }
    result
}

impl Layout {
    /// As few modes as possible for the same function of a linear index.
    pub fn coalesce(&self) -> Layout {
        let mut modes = Vec::with_capacity(8);
        self.modes.for_each(&mut |mode| modes.push(*mode));
        Layout { modes: flat_tree(&coalesce_modes(modes, LastMode::Drop)) }
    }

    /// Coalesces where the profile has a leaf; modes beyond the profile are kept.
    pub fn coalesce_profile(&self, profile: &Nested<i64>) -> Result<Layout> {
        self.by_profile(profile, "coalesce", &|layout| layout.coalesce())
    }

    /// Drops what does not contribute: modes of size 1 and of stride 0.
    pub fn filter(&self) -> Layout {
        let modes = self.flat_modes().into_iter().filter(|mode| mode.stride != 0);
        Layout { modes: flat_tree(&coalesce_modes(modes, LastMode::Drop)) }
    }

    /// Filters where the profile has a leaf.
    pub fn filter_profile(&self, profile: &Nested<i64>) -> Result<Layout> {
        self.by_profile(profile, "filter", &|layout| layout.filter())
    }

    fn by_profile(
        &self,
        profile: &Nested<i64>,
        operation: &'static str,
        change: &impl Fn(&Layout) -> Layout,
    ) -> Result<Layout> {
        let Nested::Tuple(profile) = profile else { return Ok(change(self)) };
        let modes = self.modes.modes();
        if profile.len() > modes.len() {
            return Err(Error::profile(
                operation,
                format!("the profile has rank {}, the layout {}", profile.len(), modes.len()),
            ));
        }
        let mut result = Vec::with_capacity(modes.len());
        for (position, mode) in modes.iter().enumerate() {
            result.push(match profile.get(position) {
                Some(profile) => Layout { modes: mode.clone() }.by_profile(profile, operation, change)?.modes,
                None => mode.clone(),
            });
        }
        Ok(Layout { modes: Nested::Tuple(result) })
    }

    /// The same modes without nesting.
    pub fn flatten(&self) -> Layout {
        Layout { modes: self.modes.flatten() }
    }

    /// The flat layout with its modes ordered by stride, then by shape. This is another function.
    pub fn sort(&self) -> Layout {
        let mut modes = self.flat_modes();
        modes.sort_by_key(|mode| (mode.stride, mode.shape));
        Layout { modes: Nested::flat(&modes) }
    }

    /// Modes of size 1 get stride 0, so that equal functions of equal shape are equal layouts.
    pub fn normalise(&self) -> Layout {
        Layout { modes: self.modes.map(&mut |mode| if mode.shape == 1 { Mode::UNIT } else { *mode }) }
    }
}
