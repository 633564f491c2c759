//! Products: copies of a layout, arranged by another, in the six groupings of the modes.
//!
//! The copies are placed by `B` in the room that `A` leaves. If `A` leaves holes that no copy fills, the product is
//! still given and [`Layout::gap`] of `A` tells of them. If the last copies fill no whole row of the room, they stand
//! past the size of the product, where its last mode runs on, and [`Layout::copies_past`] tells how many they are.

use super::complement::{Room, copies, not_sorted_out};
use super::compose::Partial;
use super::{Layout, Mode};
use crate::error::{Error, Result};
use crate::nested::Nested;

impl Layout {
    /// `(A, copies)`.
    pub fn logical_product(&self, copies: &Layout) -> Result<Layout> {
        Layout::tuple([self.clone(), self.place(copies, Partial::RunsOn)?])
    }

    /// The same as the logical product, for a layout as second factor.
    pub fn zipped_product(&self, copies: &Layout) -> Result<Layout> {
        self.logical_product(copies)
    }

    /// `(A, copy modes…)`.
    pub fn tiled_product(&self, copies: &Layout) -> Result<Layout> {
        let placed = self.place(copies, Partial::RunsOn)?;
        Layout::tuple(std::iter::once(self.clone()).chain(placed.top_modes()))
    }

    /// `(A modes…, copy modes…)`. A part of a mode must divide it, as in CuTe.
    pub fn flat_product(&self, copies: &Layout) -> Result<Layout> {
        let placed = self.place(copies, Partial::Divides)?;
        Layout::tuple(self.top_modes().chain(placed.top_modes()))
    }

    /// `((A₀, copy₀), (A₁, copy₁), …)`: blocks side by side.
    pub fn blocked_product(&self, copies: &Layout) -> Result<Layout> {
        let rank = self.rank().max(copies.rank());
        let (a, b) = (self.padded(rank), copies.padded(rank));
        let placed = a.place(&b, Partial::Divides)?;
        Layout::tuple(
            a.top_modes().zip(placed.top_modes()).map(|(a, b)| Layout::tuple([a, b])).collect::<Result<Vec<_>>>()?,
        )
    }

    /// `((copy₀, A₀), (copy₁, A₁), …)`, each pair coalesced: blocks interleaved.
    pub fn raked_product(&self, copies: &Layout) -> Result<Layout> {
        let rank = self.rank().max(copies.rank());
        // A factor of full rank keeps its own nesting, so that a leaf that is placed in parts is found out below.
        let widen = |layout: &Layout| if layout.rank() == rank { layout.clone() } else { layout.padded(rank) };
        let (a, b) = (widen(self), widen(copies));
        let placed = a.place(&b, Partial::Divides)?;
        if placed.rank() != a.rank() {
            return Err(Error::profile(
                "raked product",
                format!("the copies are placed as {placed}, which has not the rank {} of the block", a.rank()),
            ));
        }
        Layout::tuple(
            placed
                .top_modes()
                .zip(a.top_modes())
                .map(|(b, a)| Ok(Layout::tuple([b, a])?.coalesce()))
                .collect::<Result<Vec<_>>>()?,
        )
    }

    /// How many of the copies that `copies` asks for lie past the size of this product of `block`.
    pub fn copies_past(&self, block: &Layout, copies: &Layout) -> i64 {
        copies.size() - self.size() / block.size()
    }

    fn place(&self, arrangement: &Layout, partial: Partial) -> Result<Layout> {
        if arrangement.flat_modes().iter().all(|mode| mode.stride == 0) {
            return Ok(arrangement.clone());
        }
        match self.room_beside(copies(self.size(), arrangement.cosize())?)? {
            Room::Free(room) => room.compose_with(&arrangement.modes, partial),
            Room::Overlaps { stride, covered } => Err(not_sorted_out(stride, covered)),
        }
    }

    /// The modes as a tuple of this rank, with `1:0` for those missing.
    fn padded(&self, rank: usize) -> Layout {
        let mut modes = self.modes.modes().to_vec();
        modes.resize(rank, Nested::Leaf(Mode::UNIT));
        Layout { modes: Nested::Tuple(modes) }
    }
}
