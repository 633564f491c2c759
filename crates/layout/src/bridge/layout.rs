//! Layouts, swizzles and morphisms as transforms.

use crate::cute::{ComposedLayout, Layout, Mode, Swizzle};
use crate::error::{Result, multiply};
use crate::morphism::NestMorphism;
use crate::nested::Nested;
use crate::transform::{Axis, Expr, Transform};

impl Layout {
    /// The function of a linear index in bounds.
    pub fn to_transform(&self) -> Result<Transform> {
        let index = value_at(&self.flat_modes(), Expr::Input(0));
        Transform::new(
            vec![Axis::new("i", Expr::Const(self.size()))],
            vec![Axis::new("x", Expr::Const(self.cosize()))],
            vec![index],
        )
    }

    /// The function of the flat coordinate, one input per mode.
    pub fn to_coordinate_transform(&self) -> Result<Transform> {
        let modes = self.flat_modes();
        let axes = modes.iter().enumerate().map(|(k, mode)| Axis::new(format!("c{k}"), Expr::Const(mode.shape)));
        let sum =
            modes.iter().enumerate().fold(Expr::Const(0), |sum, (k, mode)| sum.add(Expr::Input(k).times(mode.stride)));
        Transform::new(axes.collect(), vec![Axis::new("x", Expr::Const(self.cosize()))], vec![sum])
    }

    /// The function of one index per top-level mode.
    pub fn to_mode_transform(&self) -> Result<Transform> {
        self.to_mode_transform_from(0)
    }

    /// The same with the first cell at `offset`, where a slice of another layout begins.
    pub fn to_mode_transform_from(&self, offset: i64) -> Result<Transform> {
        let mut axes = Vec::with_capacity(self.rank());
        let mut sum = Expr::Const(offset);
        for (k, mode) in self.top_modes().enumerate() {
            axes.push(Axis::new(format!("c{k}"), Expr::Const(mode.size())));
            sum = sum.add(value_at(&mode.flat_modes(), Expr::Input(k)));
        }
        let cells = crate::error::add("slice", offset, self.cosize())?;
        Transform::new(axes, vec![Axis::new("x", Expr::Const(cells))], vec![sum])
    }
}

/// `Σ ((i / sizes before) mod shape) · stride`; the last mode needs no modulus for an index in bounds.
fn value_at(modes: &[Mode], index: Expr) -> Expr {
    let mut sum = Expr::Const(0);
    let mut before = 1;
    for (position, mode) in modes.iter().enumerate() {
        let quotient = index.clone().div(Expr::Const(before));
        let digit = if position + 1 == modes.len() { quotient } else { quotient.modulo(Expr::Const(mode.shape)) };
        sum = sum.add(digit.times(mode.stride));
        before *= mode.shape;
    }
    sum
}

impl Swizzle {
    /// The swizzle of an index below 2 to the `bits`.
    pub(crate) fn expr(self, index: Expr) -> Expr {
        let power = |bits: u32| Expr::Const(1i64 << bits.min(62));
        let distance = self.shift().unsigned_abs();
        let (source, target) = if self.shift() > 0 {
            (self.base() + distance, self.base())
        } else {
            (self.base(), self.base() + distance)
        };
        let moved = index.clone().div(power(source)).modulo(power(self.bits())).mul(power(target));
        index.xor(moved, 62)
    }

    /// The permutation of `0..2^bits`; `bits` must reach above all bits that are moved.
    pub fn to_transform(self, bits: u32) -> Result<Transform> {
        let bits = bits.max(self.width()).min(62);
        let axis = |name| Axis::new(name, Expr::Const(1i64 << bits));
        let index = narrow(self.expr(Expr::Input(0)), bits);
        Transform::new(vec![axis("i")], vec![axis("x")], vec![index])
    }
}

/// Tells an exclusive or how many bits it needs.
fn narrow(expr: Expr, bits: u32) -> Expr {
    match expr {
        Expr::Xor { a, b, .. } => Expr::Xor { a, b, bits },
        other => other,
    }
}

impl ComposedLayout {
    /// The function of a linear index in bounds.
    pub fn to_transform(&self) -> Result<Transform> {
        self.swizzled(&self.layout.to_transform()?)
    }

    /// The function of one index per top-level mode.
    pub fn to_mode_transform(&self) -> Result<Transform> {
        self.swizzled(&self.layout.to_mode_transform()?)
    }

    fn swizzled(&self, layout: &Transform) -> Result<Transform> {
        let value = layout.index().iter().cloned().fold(Expr::Const(self.offset), |sum, part| part.add(sum));
        let largest = crate::error::add("swizzle", self.offset, self.layout.cosize() - 1)?;
        let bits = (64 - largest.leading_zeros()).max(self.swizzle.width()).min(62);
        let output = Axis::new("x", Expr::Const(1i64 << bits));
        Transform::new(layout.inputs().to_vec(), vec![output], vec![narrow(self.swizzle.expr(value), bits)])
    }
}

impl NestMorphism {
    /// The realisation: from indices of the domain to indices of the codomain.
    pub fn to_transform(&self) -> Result<Transform> {
        let layout = self.layout()?;
        let codomain = self.codomain().product("realisation")?;
        Transform::new(
            vec![Axis::new("i", Expr::Const(layout.size()))],
            vec![Axis::new("x", Expr::Const(codomain))],
            vec![value_at(&layout.flat_modes(), Expr::Input(0))],
        )
    }
}

/// The row-major layout of some sizes: what Flatten computes.
pub fn row_major(sizes: &[i64]) -> Result<Layout> {
    let mut modes = Vec::with_capacity(sizes.len());
    let mut stride = 1;
    for &shape in sizes.iter().rev() {
        modes.push(Nested::Leaf(Mode { shape, stride }));
        stride = multiply("row-major layout", stride, shape)?;
    }
    modes.reverse();
    Layout::from_modes(Nested::Tuple(modes))
}
