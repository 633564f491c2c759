//! Complement and inverses: what a layout leaves out, and the way back.

use super::simplify::{LastMode, coalesce_modes};
use super::{Layout, Mode};
use crate::error::{Error, Result, multiply};
use crate::nested::Nested;

const COMPLEMENT: &str = "complement";

impl Layout {
    /// The modes that contribute to the image, by stride.
    pub(super) fn contributing(&self) -> Vec<Mode> {
        let mut modes = self.flat_modes();
        modes.retain(|mode| mode.shape != 1 && mode.stride != 0);
        modes.sort_unstable_by_key(|mode| (mode.stride, mode.shape));
        modes
    }

    /// The layout that, next to this one, covers `[0, target)` rounded up, each index once.
    pub fn complement(&self, target: i64) -> Result<Layout> {
        self.gaps(target, false)
    }

    /// What a tile leaves of a single item, which it covers whatever its strides are: gaps that are no multiple of what lies before them
    /// are rounded down, as long as there are any.
    pub(super) fn gaps_around_one(&self) -> Result<Layout> {
        self.gaps(1, true)
    }

    fn gaps(&self, target: i64, rounding: bool) -> Result<Layout> {
        if target < 1 {
            return Err(Error::inadmissible(COMPLEMENT, format!("the target {target} is not positive")));
        }
        let mut result = Vec::with_capacity(8);
        let mut covered = 1;
        for mode in self.contributing() {
            if mode.stride % covered != 0 && !(rounding && mode.stride > covered) {
                return Err(not_sorted_out(mode.stride, covered));
            }
            result.push(Mode::new(mode.stride / covered, covered));
            covered = mode.reach(COMPLEMENT)?;
        }
        result.push(Mode::new(ceil(target, covered), covered));
        Layout::from_flat(&coalesce_modes(result, LastMode::Drop))
    }

    /// The complement in the size of a shape.
    pub fn complement_in(&self, target: &Nested<i64>) -> Result<Layout> {
        self.complement(target.product(COMPLEMENT)?)
    }

    /// The largest layout R with `L(R(i)) = i`.
    pub fn right_inverse(&self) -> Result<Layout> {
        let mut modes = Vec::with_capacity(8);
        let mut before = 1;
        for mode in self.flat_modes() {
            if mode.shape != 1 && mode.stride != 0 {
                modes.push((mode, before));
            }
            before *= mode.shape;
        }
        modes.sort_unstable_by_key(|(mode, _)| (mode.stride, mode.shape));
        let mut result = Vec::with_capacity(modes.len());
        let mut covered = 1;
        for (mode, before) in modes {
            if mode.stride == covered {
                result.push(Mode::new(mode.shape, before));
                covered = mode.reach("right inverse")?;
            } else if mode.stride > covered {
                break;
            }
        }
        Layout::from_flat(&coalesce_modes(result, LastMode::Drop))
    }

    /// A layout R with `R(L(i)) = i` for all i in bounds. Between the images of L it may be anything.
    ///
    /// By stride, the modes of L are the digits of a mixed radix: R reads digit `k` by dividing by `stride k` modulo
    /// `stride k+1 / stride k`, so the strides must divide one another.
    pub fn left_inverse(&self) -> Result<Layout> {
        const LEFT_INVERSE: &str = "left inverse";
        let mut modes = Vec::with_capacity(8);
        let mut before = 1;
        for mode in self.flat_modes() {
            if mode.shape != 1 {
                modes.push((mode, before));
            }
            before *= mode.shape;
        }
        modes.sort_unstable_by_key(|(mode, _)| (mode.stride, mode.shape));
        let mut result = Vec::with_capacity(modes.len() + 1);
        if let Some((first, _)) = modes.first() {
            result.push(Mode::new(first.stride.max(1), 0));
        }
        for (position, (mode, before)) in modes.iter().enumerate() {
            if mode.stride == 0 {
                return Err(Error::inadmissible(
                    LEFT_INVERSE,
                    format!("the layout is not injective: mode {}:0 has one image", mode.shape),
                ));
            }
            let Some((next, _)) = modes.get(position + 1) else {
                result.push(Mode::new(mode.shape, *before));
                break;
            };
            if next.stride % mode.stride != 0 {
                return Err(Error::NotDivisible {
                    operation: LEFT_INVERSE,
                    dividend: next.stride,
                    divisor: mode.stride,
                    why: "a stride and the next larger one",
                });
            }
            let digit = next.stride / mode.stride;
            if digit < mode.shape {
                return Err(Error::inadmissible(
                    LEFT_INVERSE,
                    format!(
                        "mode {}:{} reaches past the next stride {}, so the layout may not be injective",
                        mode.shape, mode.stride, next.stride
                    ),
                ));
            }
            result.push(Mode::new(digit, *before));
        }
        Layout::from_flat(&coalesce_modes(result, LastMode::Drop))
    }

    /// The complement that products use: it need only be right as far as the other factor reaches into it.
    ///
    /// A stride that is not a multiple of what lies below leaves holes (the quotient is rounded down), which
    /// [`Layout::gap`] reports. Modes that overlap leave no room at all; then only what lies below them is usable.
    pub(super) fn room_beside(&self, target: i64) -> Result<Room> {
        let mut room = Vec::with_capacity(8);
        let mut covered = 1;
        let mut overlap = None;
        for mode in self.contributing() {
            let above = mode.stride / covered;
            if above == 0 {
                overlap.get_or_insert((room.len(), mode.stride, covered));
                room.push(Mode::new(1, covered));
            } else {
                room.push(Mode::new(above, covered));
            }
            covered = mode.reach(COMPLEMENT)?;
        }
        let copies = ceil(target, covered);
        Ok(match overlap {
            None => {
                room.push(Mode::new(copies, covered));
                Room::Free(Layout::from_flat(&coalesce_modes(room, LastMode::Drop))?)
            }
            // Nothing follows the overlapping mode, which is then the unbounded one.
            Some((position, _, _)) if position + 1 == room.len() && copies == 1 => {
                room[position].shape = 2;
                Room::Free(Layout::from_flat(&coalesce_modes(room, LastMode::Keep))?)
            }
            Some((_, stride, covered)) => Room::Overlaps { stride, covered },
        })
    }

    /// Where the layout leaves holes that its complement cannot fill, if it does: a stride and what lies below it.
    pub fn gap(&self) -> Option<(i64, i64)> {
        let mut covered = 1;
        for mode in self.contributing() {
            if mode.stride % covered != 0 {
                return Some((mode.stride, covered));
            }
            covered = mode.shape.checked_mul(mode.stride)?;
        }
        None
    }
}

/// What a layout leaves for copies of itself.
pub(super) enum Room {
    Free(Layout),
    Overlaps { stride: i64, covered: i64 },
}

pub(super) fn not_sorted_out(stride: i64, covered: i64) -> Error {
    Error::NotDivisible {
        operation: COMPLEMENT,
        dividend: stride,
        divisor: covered,
        why: "a stride must be a multiple of what the smaller strides cover",
    }
}

fn ceil(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

/// The target of the complement in a product: room for as many copies as the other factor reaches.
pub(super) fn copies(size: i64, cosize: i64) -> Result<i64> {
    multiply("product", size, cosize)
}
