//! Composition: the layout of `i ↦ A(B(i))`.
//!
//! Each mode `s:d` of B walks along the modes of A: a stride skips whole modes of A, then the shape fills them.
//! Both steps must divide; otherwise the composed function is no layout and the error says what does not divide.
//! Nor may the modes of B together overrun a mode of A: `A(x + y) = A(x) + A(y)` holds only while no digit carries.

use super::layout::flat_tree;
use super::simplify::{LastMode, coalesce_modes};
use super::{Layout, Mode};
use crate::error::{Error, Result, multiply};
use crate::nested::Nested;

/// What holds when a mode of B ends within a mode of A.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    /// Nothing: the function is a layout in any case.
    Fits,
    /// The part must divide the mode, as the operations that are defined by tiling want it.
    Divides,
    /// As `Fits`; and where the very last mode of B does not fill whole rows, its rest runs on past the size of the
    /// result, along the unbounded last mode. The result is then too small for B, but right for every index below
    /// B's size.
    RunsOn,
}

const COMPOSITION: &str = "composition";

impl Layout {
    /// `self ∘ inner`, with the shape of `inner` (whose leaves may become tuples).
    pub fn composition(&self, inner: &Layout) -> Result<Layout> {
        self.compose_with(&inner.modes, Partial::Fits)
    }

    /// The same, if it is right for every index below the size of `inner`; its own size may be less.
    ///
    /// Where the last mode of `inner` fills no whole row of a mode of `self`, `composition` has no answer. But a layout
    /// is defined past its size, along its last mode: `(2,4):(2,8) ∘ 5:1` is `(2,2):(2,8)`, which gives 16 at 4.
    pub fn composition_running_on(&self, inner: &Layout) -> Result<Layout> {
        self.compose_with(&inner.modes, Partial::RunsOn)
    }

    pub(super) fn compose_with(&self, inner: &Nested<Mode>, partial: Partial) -> Result<Layout> {
        let mut outer = Walk::new(self);
        let mut left = inner.len();
        Layout::from_modes(inner.try_graft(&mut |mode| {
            left -= 1;
            let partial = if partial == Partial::RunsOn && left > 0 { Partial::Fits } else { partial };
            outer.mode(*mode, partial)
        })?)
    }

    /// Composes the modes one by one; modes beyond the tiler are kept.
    pub fn composition_by_mode(&self, tiler: &[Layout]) -> Result<Layout> {
        self.by_mode(tiler, COMPOSITION, |mode, tile| mode.composition(tile))
    }

    pub(super) fn by_mode(
        &self,
        tiler: &[Layout],
        operation: &'static str,
        change: impl Fn(&Layout, &Layout) -> Result<Layout>,
    ) -> Result<Layout> {
        check_tiler(self, tiler, operation)?;
        let modes = self.top_modes().enumerate();
        Layout::tuple(
            modes
                .map(|(position, mode)| match tiler.get(position) {
                    Some(tile) => change(&mode, tile),
                    None => Ok(mode),
                })
                .collect::<Result<Vec<_>>>()?,
        )
    }
}

pub(super) fn check_tiler(layout: &Layout, tiler: &[Layout], operation: &'static str) -> Result<()> {
    if tiler.len() > layout.rank() {
        return Err(Error::profile(
            operation,
            format!("the tiler has {} modes, the layout {}", tiler.len(), layout.rank()),
        ));
    }
    Ok(())
}

/// The outer layout as the walk sees it: flat, coalesced, its last mode kept because it is unbounded.
struct Walk {
    /// Each mode with the largest coordinate in it that the inner modes so far reach together.
    bounded: Vec<(Mode, i64)>,
    last: Mode,
}

impl Walk {
    fn new(layout: &Layout) -> Walk {
        let mut modes = coalesce_modes(layout.flat_modes(), LastMode::Keep);
        let last = modes.pop().unwrap_or(Mode::UNIT);
        Walk { bounded: modes.into_iter().map(|mode| (mode, 0)).collect(), last }
    }

    fn mode(&mut self, inner: Mode, partial: Partial) -> Result<Nested<Mode>> {
        if inner.stride == 0 {
            return Ok(Nested::Leaf(Mode::new(inner.shape, 0)));
        }
        let (mut shape, mut stride) = (inner.shape, inner.stride);
        let mut result = Vec::with_capacity(self.bounded.len() + 1);
        let bounded = self.bounded.len();
        for position in 0..bounded {
            let (outer, reached) = &mut self.bounded[position];
            if stride % outer.shape == 0 {
                stride /= outer.shape;
                continue;
            }
            if outer.shape % stride != 0 {
                // Only modes of size 1 follow: within the layout this mode is the last, which any stride may walk.
                let within = (shape - 1).saturating_mul(stride).saturating_add(*reached) < outer.shape;
                if within && partial != Partial::Divides && position + 1 == bounded && self.last.shape == 1 {
                    reach(outer, reached, (shape - 1) * stride)?;
                    return Ok(Nested::Leaf(Mode::new(shape, multiply(COMPOSITION, stride, outer.stride)?)));
                }
                return Err(Error::NotDivisible {
                    operation: COMPOSITION,
                    dividend: stride.max(outer.shape),
                    divisor: stride.min(outer.shape),
                    why: "a stride of the inner layout and a shape of the outer layout",
                });
            }
            let room = outer.shape / stride;
            let step = multiply(COMPOSITION, stride, outer.stride)?;
            if shape <= room {
                if partial == Partial::Divides && room % shape != 0 {
                    return Err(indivisible(room, shape));
                }
                reach(outer, reached, (shape - 1) * stride)?;
                result.push(Mode::new(shape, step));
                return Ok(flat_tree(&coalesce_modes(result, LastMode::Drop)));
            }
            reach(outer, reached, (room - 1) * stride)?;
            result.push(Mode::new(room, step));
            if shape % room != 0 {
                let rows = shape / room;
                // A single row would drop the last mode, and with it what runs on.
                if partial != Partial::RunsOn || rows == 1 {
                    return Err(indivisible(shape, room));
                }
                let next = match self.bounded.get_mut(position + 1) {
                    Some((next, _)) if rows >= next.shape => return Err(indivisible(shape, room)),
                    Some((next, reached)) => {
                        reach(next, reached, rows)?;
                        *next
                    }
                    None => self.last,
                };
                result.push(Mode::new(rows, next.stride));
                return Ok(flat_tree(&coalesce_modes(result, LastMode::Drop)));
            }
            shape /= room;
            stride = 1;
        }
        result.push(Mode::new(shape, multiply(COMPOSITION, stride, self.last.stride)?));
        Ok(flat_tree(&coalesce_modes(result, LastMode::Drop)))
    }
}

fn reach(outer: &Mode, reached: &mut i64, further: i64) -> Result<()> {
    *reached = reached.saturating_add(further);
    if *reached < outer.shape {
        return Ok(());
    }
    Err(Error::inadmissible(
        COMPOSITION,
        format!(
            "the modes of the inner layout together reach coordinate {reached} of the mode {}:{} of the outer layout, \
             so their sum carries and no layout is the composite",
            outer.shape, outer.stride
        ),
    ))
}

fn indivisible(dividend: i64, divisor: i64) -> Error {
    Error::NotDivisible {
        operation: COMPOSITION,
        dividend,
        divisor,
        why: "a shape of the inner layout and what is left of a mode of the outer layout",
    }
}
