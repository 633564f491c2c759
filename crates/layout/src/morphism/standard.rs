//! Tractable layouts and the morphism that encodes each in standard form.

use super::{NestMorphism, TupleMorphism};
use crate::cute::{Layout, Mode};
use crate::error::{Error, Result, multiply};
use crate::nested::Nested;

const STANDARD_FORM: &str = "standard form";

impl Layout {
    /// Whether a tuple morphism encodes this layout: of any two non-zero strides, the smaller times its shape divides
    /// the larger.
    pub fn is_tractable(&self) -> bool {
        obstacle(&by_stride(self)).is_none()
    }

    /// Modes of size 1 have stride 0.
    pub fn is_non_degenerate(&self) -> bool {
        self.flat_modes().iter().all(|mode| mode.shape != 1 || mode.stride == 0)
    }
}

/// The flat modes with their positions, by stride and then by shape.
fn by_stride(layout: &Layout) -> Vec<(usize, Mode)> {
    let mut modes = layout.flat_modes().into_iter().enumerate().collect::<Vec<_>>();
    modes.sort_by_key(|(_, mode)| (mode.stride, mode.shape));
    modes
}

fn obstacle(sorted: &[(usize, Mode)]) -> Option<Error> {
    let mut strided = sorted.iter().map(|(_, mode)| mode).filter(|mode| mode.stride != 0).peekable();
    while let (Some(mode), Some(next)) = (strided.next(), strided.peek()) {
        let Some(reach) = mode.shape.checked_mul(mode.stride) else {
            return Some(Error::Overflow { operation: STANDARD_FORM });
        };
        if next.stride % reach != 0 {
            return Some(Error::NotDivisible {
                operation: STANDARD_FORM,
                dividend: next.stride,
                divisor: reach,
                why: "a stride and the shape times stride before it",
            });
        }
    }
    None
}

/// The morphism of the flattened layout: by stride, the codomain is `d₁, s₁, d₂/(s₁d₁), s₂, …` without gaps of 1.
pub fn standard_form(layout: &Layout) -> Result<TupleMorphism> {
    let sorted = by_stride(layout);
    if let Some(error) = obstacle(&sorted) {
        return Err(error);
    }
    let mut codomain = Vec::with_capacity(2 * sorted.len());
    let mut map = vec![0; sorted.len()];
    let mut covered = 1;
    for (position, mode) in sorted.iter().filter(|(_, mode)| mode.stride != 0) {
        let gap = mode.stride / covered;
        if gap != 1 {
            codomain.push(gap);
        }
        codomain.push(mode.shape);
        map[*position] = codomain.len();
        covered = multiply(STANDARD_FORM, mode.shape, mode.stride)?;
    }
    TupleMorphism::new(layout.shape().entries(), codomain, map)
}

/// The morphism of a layout, with the nesting of its shape.
pub fn nest_standard_form(layout: &Layout) -> Result<NestMorphism> {
    let flat = standard_form(layout)?;
    NestMorphism::new(layout.shape(), Nested::flat(flat.codomain()), flat.map().to_vec())
}
