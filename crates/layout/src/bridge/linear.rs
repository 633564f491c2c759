//! Linear layouts over bits: matrices over F₂ between named groups of bits.
//!
//! GPU compilers place values by them: bits of register, lane and warp numbers choose bits of the element. A column
//! is the image of one input bit. Layouts of powers of two and swizzles are special cases.

use std::fmt;

use crate::cute::{ComposedLayout, Layout, Mode, Swizzle};
use crate::error::{Error, Result};
use crate::nested::Nested;
use crate::transform::{Axis, Expr, Transform};

/// A named group of bits; the first group of a side holds the lowest bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitAxis {
    /// What transforms call the axis.
    pub name: String,
    /// How many bits it has: its coordinates are below 2 to this power.
    pub bits: u32,
}

impl BitAxis {
    /// An axis of so many bits.
    pub fn new(name: impl Into<String>, bits: u32) -> BitAxis {
        BitAxis { name: name.into(), bits }
    }
}

/// A linear map of bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    inputs: Vec<BitAxis>,
    outputs: Vec<BitAxis>,
    columns: Vec<u64>,
}

const LINEAR: &str = "linear layout";

fn width(axes: &[BitAxis]) -> u64 {
    axes.iter().map(|axis| u64::from(axis.bits)).sum()
}

impl LinearLayout {
    /// One column for each input bit, lowest first.
    pub fn new(inputs: Vec<BitAxis>, outputs: Vec<BitAxis>, columns: Vec<u64>) -> Result<LinearLayout> {
        let (rows, wanted) = (width(&outputs), width(&inputs));
        if rows > 62 || wanted > 62 {
            return Err(Error::Overflow { operation: LINEAR });
        }
        if columns.len() as u64 != wanted {
            return Err(Error::profile(LINEAR, format!("{} columns for {wanted} input bits", columns.len())));
        }
        if let Some(column) = columns.iter().find(|&&column| column >> rows != 0) {
            return Err(Error::inadmissible(LINEAR, format!("the column {column} has more than {rows} bits")));
        }
        Ok(LinearLayout { inputs, outputs, columns })
    }

    /// The layout that leaves every bit where it is.
    pub fn identity(axes: Vec<BitAxis>) -> Result<LinearLayout> {
        let columns = (0..width(&axes).min(63)).map(|bit| 1 << bit).collect();
        LinearLayout::new(axes.clone(), axes, columns)
    }

    /// What each input bit adds, by exclusive or, to the output; lowest input bit first.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    fn output_bits(&self) -> u32 {
        u32::try_from(width(&self.outputs)).unwrap_or(u32::MAX)
    }

    /// The sum of the columns of the bits that are set.
    pub fn apply(&self, x: u64) -> u64 {
        let set = self.columns.iter().enumerate().filter(|(bit, _)| x >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    }

    /// One more than the largest input.
    pub fn input_size(&self) -> i64 {
        1 << self.columns.len()
    }

    /// The image of a number below [`LinearLayout::input_size`].
    pub fn at(&self, index: i64) -> Result<i64> {
        let inside = u64::try_from(index).ok().filter(|_| index < self.input_size());
        let index =
            inside.ok_or_else(|| Error::inadmissible(LINEAR, format!("{index} is not in 0..{}", self.input_size())))?;
        i64::try_from(self.apply(index)).map_err(|_| Error::Overflow { operation: LINEAR })
    }

    /// First this, then the other.
    pub fn then(&self, next: &LinearLayout) -> Result<LinearLayout> {
        if width(&self.outputs) != width(&next.inputs) {
            return Err(Error::profile(
                LINEAR,
                format!("{} output bits do not meet {} input bits", width(&self.outputs), width(&next.inputs)),
            ));
        }
        let columns = self.columns.iter().map(|&column| next.apply(column)).collect();
        LinearLayout::new(self.inputs.clone(), next.outputs.clone(), columns)
    }

    /// The dimension of the image.
    pub fn rank(&self) -> usize {
        let mut basis: Vec<u64> = Vec::new();
        for &column in &self.columns {
            let reduced = basis.iter().fold(column, |rest, &vector| rest.min(rest ^ vector));
            if reduced != 0 {
                basis.push(reduced);
                basis.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        basis.len()
    }

    /// Whether no two inputs have the same output.
    pub fn is_injective(&self) -> bool {
        self.rank() == self.columns.len()
    }

    /// Whether every output has an input.
    pub fn is_surjective(&self) -> bool {
        self.rank() as u64 == width(&self.outputs)
    }

    /// The inverse, by elimination; the matrix must be square and regular.
    pub fn inverse(&self) -> Result<LinearLayout> {
        let size = self.columns.len();
        if size as u64 != width(&self.outputs) {
            return Err(Error::inadmissible(LINEAR, "only a square matrix has an inverse"));
        }
        let mut matrix = self.columns.iter().enumerate().map(|(k, &column)| (column, 1u64 << k)).collect::<Vec<_>>();
        for bit in 0..size {
            let pivot = (bit..size).find(|&k| matrix[k].0 >> bit & 1 == 1);
            let pivot = pivot.ok_or_else(|| Error::inadmissible(LINEAR, "the matrix is singular: not injective"))?;
            matrix.swap(bit, pivot);
            let (column, origin) = matrix[bit];
            for (k, other) in matrix.iter_mut().enumerate() {
                if k != bit && other.0 >> bit & 1 == 1 {
                    other.0 ^= column;
                    other.1 ^= origin;
                }
            }
        }
        let columns = matrix.into_iter().map(|(_, origin)| origin).collect();
        LinearLayout::new(self.outputs.clone(), self.inputs.clone(), columns)
    }

    /// A layout whose shapes and strides are powers of two and whose images of bits are the bits of its strides.
    pub fn of_layout(layout: &Layout) -> Result<LinearLayout> {
        let mut columns = Vec::new();
        for mode in layout.flat_modes() {
            let power = |value: i64| value > 0 && value & (value - 1) == 0;
            if !power(mode.shape) || (mode.stride != 0 && !power(mode.stride)) {
                return Err(Error::inadmissible(
                    LINEAR,
                    format!("the mode {}:{} is not of powers of 2", mode.shape, mode.stride),
                ));
            }
            let stride = u64::try_from(mode.stride).unwrap_or(0);
            columns.extend((0..mode.shape.trailing_zeros()).map(|bit| stride << bit));
        }
        let mut seen = 0;
        for &column in columns.iter().filter(|&&column| column != 0) {
            if seen & column != 0 {
                return Err(Error::inadmissible(LINEAR, "two modes share a bit, so their sum carries"));
            }
            seen |= column;
        }
        let outputs = 64 - seen.leading_zeros();
        let inputs = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        LinearLayout::new(vec![BitAxis::new("i", inputs)], vec![BitAxis::new("x", outputs)], columns)
    }

    /// A swizzled layout without offset.
    pub fn of_swizzled(composed: &ComposedLayout) -> Result<LinearLayout> {
        if composed.offset != 0 {
            return Err(Error::inadmissible(LINEAR, "a layout with an offset is affine, not linear"));
        }
        let plain = LinearLayout::of_layout(&composed.layout)?;
        let bits = plain.output_bits().max(composed.swizzle.width());
        let swizzled = |column: u64| composed.swizzle.apply(i64::try_from(column).unwrap_or(0)).unsigned_abs();
        let columns = plain.columns.iter().map(|&column| swizzled(column)).collect();
        LinearLayout::new(plain.inputs, vec![BitAxis::new("x", bits)], columns)
    }

    /// The layout, if every column is a single bit or nothing.
    pub fn to_layout(&self) -> Result<Layout> {
        let single = |column: u64| column == 0 || column.is_power_of_two();
        if let Some(column) = self.columns.iter().find(|&&column| !single(column)) {
            return Err(Error::inadmissible(LINEAR, format!("the column {column:#b} is not a single bit")));
        }
        let modes = self.columns.iter().map(|&column| Mode { shape: 2, stride: i64::try_from(column).unwrap_or(0) });
        Ok(Layout::from_modes(Nested::Tuple(modes.map(Nested::Leaf).collect()))?.coalesce())
    }

    /// A swizzle and a layout whose composition this is, if there are any. A swizzle is its own inverse.
    pub fn to_swizzled(&self) -> Result<ComposedLayout> {
        let total = i64::from(self.output_bits());
        for bits in 0..=total / 2 {
            for shift in (bits.max(1)..=total - bits).flat_map(|shift| [shift, -shift]) {
                for base in 0..=total - bits - shift.abs() {
                    let swizzle = Swizzle::new(bits, base, shift)?;
                    let undone = |column: u64| swizzle.apply(i64::try_from(column).unwrap_or(0)).unsigned_abs();
                    let columns = self.columns.iter().map(|&column| undone(column)).collect::<Vec<_>>();
                    if let Ok(layout) = (LinearLayout { columns, ..self.clone() }).to_layout() {
                        return Ok(ComposedLayout { swizzle, offset: 0, layout });
                    }
                }
            }
        }
        Err(Error::inadmissible(LINEAR, "no single swizzle of a layout gives this matrix"))
    }

    /// The map of the numbers that the groups of bits hold.
    pub fn to_transform(&self) -> Result<Transform> {
        let axes = |groups: &[BitAxis]| {
            groups.iter().map(|axis| Axis::new(axis.name.clone(), Expr::Const(1 << axis.bits))).collect::<Vec<_>>()
        };
        let mut input_bits = Vec::with_capacity(self.columns.len());
        for (position, axis) in self.inputs.iter().enumerate() {
            input_bits.extend((0..axis.bits).map(|bit| Expr::Input(position).div(Expr::Const(1 << bit))));
        }
        let mut row = 0;
        let mut index = Vec::with_capacity(self.outputs.len());
        for axis in &self.outputs {
            let mut value = Expr::Const(0);
            for bit in 0..axis.bits {
                let sources = input_bits.iter().zip(&self.columns).filter(|(_, column)| **column >> row & 1 == 1);
                let sum = sources.fold(Expr::Const(0), |sum, (source, _)| sum.add(source.clone()));
                value = value.add(sum.modulo(Expr::Const(2)).times(1 << bit));
                row += 1;
            }
            index.push(value);
        }
        Transform::new(axes(&self.inputs), axes(&self.outputs), index)
    }
}

impl fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = |axes: &[BitAxis]| {
            axes.iter().map(|axis| format!("{}: {}", axis.name, axis.bits)).collect::<Vec<_>>().join(", ")
        };
        let columns = self.columns.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "[{}] -> [{}]: ({columns})", groups(&self.inputs), groups(&self.outputs))
    }
}
