//! Division: a layout as tiles and what is left, in the four groupings of the modes.

use super::Layout;
use super::compose::{Partial, check_tiler};
use crate::error::Result;
use crate::nested::Nested;

const DIVIDE: &str = "divide";

impl Layout {
    /// `(tile, rest)`: this layout seen through `tile` and its complement.
    pub fn logical_divide(&self, tile: &Layout) -> Result<Layout> {
        self.divide(tile, Partial::Fits)
    }

    fn divide(&self, tile: &Layout, partial: Partial) -> Result<Layout> {
        // A tile larger than a mode of one item: there is nothing to divide, and the rest counts no further item.
        let rest = if self.size() == 1 { tile.gaps_around_one()? } else { tile.complement(self.size())? };
        self.compose_with(&Nested::Tuple(vec![tile.modes.clone(), rest.modes]), partial)
    }

    /// Divides the modes one by one; modes beyond the tiler are kept.
    pub fn logical_divide_by_mode(&self, tiler: &[Layout]) -> Result<Layout> {
        self.by_mode(tiler, DIVIDE, |mode, tile| mode.logical_divide(tile))
    }

    /// `((tiles…), (rests…))`.
    pub fn zipped_divide(&self, tiler: &[Layout]) -> Result<Layout> {
        let (tiles, rests) = self.tiles_and_rests(tiler, Partial::Fits)?;
        Layout::tuple([Layout::tuple(tiles)?, Layout::tuple(rests)?])
    }

    /// `((tiles…), rest…)`.
    pub fn tiled_divide(&self, tiler: &[Layout]) -> Result<Layout> {
        let (tiles, rests) = self.tiles_and_rests(tiler, Partial::Fits)?;
        Layout::tuple(std::iter::once(Layout::tuple(tiles)?).chain(rests))
    }

    /// `(tile…, rest…)`. A part of a mode must divide it, as in CuTe.
    pub fn flat_divide(&self, tiler: &[Layout]) -> Result<Layout> {
        let (tiles, rests) = self.tiles_and_rests(tiler, Partial::Divides)?;
        Layout::tuple(tiles.into_iter().chain(rests))
    }

    fn tiles_and_rests(&self, tiler: &[Layout], partial: Partial) -> Result<(Vec<Layout>, Vec<Layout>)> {
        check_tiler(self, tiler, DIVIDE)?;
        let (mut tiles, mut rests) = (Vec::with_capacity(tiler.len()), Vec::with_capacity(self.rank()));
        for (position, mode) in self.top_modes().enumerate() {
            match tiler.get(position) {
                Some(tile) => {
                    let mut parts = mode.divide(tile, partial)?.top_modes().collect::<Vec<_>>();
                    rests.extend(parts.pop());
                    tiles.extend(parts.pop());
                }
                None => rests.push(mode),
            }
        }
        Ok((tiles, rests))
    }
}
