//! Nested tuples, the shape of everything in this crate.
//!
//! A tree whose leaves are numbers (shapes, strides, coordinates), modes of a layout, or optional coordinates.
//! Not here: reading them from text (`text`) or JSON (`calculator`).

use std::fmt;

use crate::error::{Error, Result};

/// Text and JSON nested deeper than this are refused, so that recursion over a tree is safe.
pub const MAX_DEPTH: usize = 64;

/// A nested tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Nested<T> {
    /// An entry without entries of its own.
    Leaf(T),
    /// Entries, from left to right; none is possible.
    Tuple(Vec<Nested<T>>),
}

impl<T> Nested<T> {
    /// The direct entries; a leaf has one, itself.
    pub fn modes(&self) -> &[Nested<T>] {
        match self {
            Nested::Leaf(_) => std::slice::from_ref(self),
            Nested::Tuple(modes) => modes,
        }
    }

    /// The number of direct entries.
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// 0 for a leaf, one more than the deepest entry for a tuple.
    pub fn depth(&self) -> usize {
        match self {
            Nested::Leaf(_) => 0,
            Nested::Tuple(modes) => 1 + modes.iter().map(Nested::depth).max().unwrap_or(0),
        }
    }

    /// The number of leaves.
    pub fn len(&self) -> usize {
        match self {
            Nested::Leaf(_) => 1,
            Nested::Tuple(modes) => modes.iter().map(Nested::len).sum(),
        }
    }

    /// Whether there are no leaves.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows every leaf to `visit`, from left to right.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a T)) {
        match self {
            Nested::Leaf(leaf) => visit(leaf),
            Nested::Tuple(modes) => modes.iter().for_each(|mode| mode.for_each(visit)),
        }
    }

    /// The leaves from left to right.
    pub fn leaves(&self) -> Vec<&T> {
        let mut leaves = Vec::with_capacity(8);
        self.for_each(&mut |leaf| leaves.push(leaf));
        leaves
    }

    /// The same tree with other leaves.
    pub fn map<U>(&self, change: &mut impl FnMut(&T) -> U) -> Nested<U> {
        match self {
            Nested::Leaf(leaf) => Nested::Leaf(change(leaf)),
            Nested::Tuple(modes) => Nested::Tuple(modes.iter().map(|mode| mode.map(change)).collect()),
        }
    }

    /// The same tree with other leaves, if all of them can be had.
    pub fn try_map<U>(&self, change: &mut impl FnMut(&T) -> Result<U>) -> Result<Nested<U>> {
        Ok(match self {
            Nested::Leaf(leaf) => Nested::Leaf(change(leaf)?),
            Nested::Tuple(modes) => {
                Nested::Tuple(modes.iter().map(|mode| mode.try_map(change)).collect::<Result<_>>()?)
            }
        })
    }

    /// Puts a tree in the place of every leaf.
    pub fn try_graft<U>(&self, change: &mut impl FnMut(&T) -> Result<Nested<U>>) -> Result<Nested<U>> {
        match self {
            Nested::Leaf(leaf) => change(leaf),
            Nested::Tuple(modes) => {
                Ok(Nested::Tuple(modes.iter().map(|mode| mode.try_graft(change)).collect::<Result<_>>()?))
            }
        }
    }

    /// The same nesting, whatever the leaves.
    pub fn is_congruent<U>(&self, other: &Nested<U>) -> bool {
        match (self, other) {
            (Nested::Leaf(_), Nested::Leaf(_)) => true,
            (Nested::Tuple(a), Nested::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_congruent(b))
            }
            _ => false,
        }
    }

    /// Pairs the leaves of two congruent trees.
    pub fn zip_with<U, V>(&self, other: &Nested<U>, pair: &mut impl FnMut(&T, &U) -> V) -> Option<Nested<V>> {
        match (self, other) {
            (Nested::Leaf(a), Nested::Leaf(b)) => Some(Nested::Leaf(pair(a, b))),
            (Nested::Tuple(a), Nested::Tuple(b)) if a.len() == b.len() => {
                Some(Nested::Tuple(a.iter().zip(b).map(|(a, b)| a.zip_with(b, pair)).collect::<Option<Vec<_>>>()?))
            }
            _ => None,
        }
    }

    /// This nesting with other leaves. `None` if there are too few or too many.
    pub fn with_leaves<U>(&self, leaves: impl IntoIterator<Item = U>) -> Option<Nested<U>> {
        let mut leaves = leaves.into_iter();
        let tree = self.fill(&mut leaves)?;
        leaves.next().is_none().then_some(tree)
    }

    fn fill<U>(&self, leaves: &mut impl Iterator<Item = U>) -> Option<Nested<U>> {
        Some(match self {
            Nested::Leaf(_) => Nested::Leaf(leaves.next()?),
            Nested::Tuple(modes) => Nested::Tuple(modes.iter().map(|mode| mode.fill(leaves)).collect::<Option<_>>()?),
        })
    }
}

impl<T: Clone> Nested<T> {
    /// A tuple of depth 1 with the same leaves.
    pub fn flatten(&self) -> Nested<T> {
        Nested::Tuple(self.leaves().into_iter().cloned().map(Nested::Leaf).collect())
    }

    /// A tuple of depth 1.
    pub fn flat(leaves: &[T]) -> Nested<T> {
        Nested::Tuple(leaves.iter().cloned().map(Nested::Leaf).collect())
    }
}

impl Nested<i64> {
    /// The product of the entries.
    pub fn product(&self, operation: &'static str) -> Result<i64> {
        match self {
            Nested::Leaf(entry) => Ok(*entry),
            Nested::Tuple(modes) => modes.iter().try_fold(1i64, |product, mode| {
                product.checked_mul(mode.product(operation)?).ok_or(Error::Overflow { operation })
            }),
        }
    }

    /// The entries from left to right.
    pub fn entries(&self) -> Vec<i64> {
        self.leaves().into_iter().copied().collect()
    }
}

impl<T: fmt::Display> fmt::Display for Nested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nested::Leaf(leaf) => write!(f, "{leaf}"),
            Nested::Tuple(modes) => {
                f.write_str("(")?;
                for (position, mode) in modes.iter().enumerate() {
                    if position > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{mode}")?;
                }
                f.write_str(")")
            }
        }
    }
}
