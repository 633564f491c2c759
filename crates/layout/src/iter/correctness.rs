//! Weak and strong correctness: what holes may hold.
//!
//! Weakly correct: every item is right, holes hold anything. Strongly correct: holes also hold a given value. Leaving
//! out the predicate of a producer is right if its result is weakly correct, unless its consumer reads the holes.

use std::fmt;

/// A reduction by its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// `sum`.
    Sum,
    /// `product`.
    Product,
    /// `min`.
    Min,
    /// `max`.
    Max,
    /// `any`.
    Any,
    /// `all`.
    All,
    /// `argmin`.
    ArgMin,
    /// `argmax`.
    ArgMax,
}

/// Who reads the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Consumer {
    /// Element by element, in the same domain: holes become holes.
    Pointwise,
    /// Combines the items along some axes.
    Reduce(Reduction),
    /// Combines all items before each.
    Scan(Reduction),
    /// Writes whole cells to memory that others read, holes included, where this value is expected.
    Store(Fill),
}

/// What holes are filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// 0, which a sum does not see.
    Zero,
    /// 1, which a product does not see.
    One,
    /// ∞, which a minimum does not see.
    PositiveInfinity,
    /// −∞, which a maximum does not see.
    NegativeInfinity,
    /// `false`, which `any` does not see.
    False,
    /// `true`, which `all` does not see.
    True,
}

/// What the input must satisfy so that the consumer needs no predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// Right items are enough.
    Weak,
    /// Holes must hold this value.
    Strong(Fill),
}

impl Reduction {
    /// The value that changes no result. For `argmin` and `argmax` it loses against every item, or ties with one that
    /// stands before it if holes come last.
    pub fn neutral(self) -> Fill {
        match self {
            Reduction::Sum => Fill::Zero,
            Reduction::Product => Fill::One,
            Reduction::Min | Reduction::ArgMin => Fill::PositiveInfinity,
            Reduction::Max | Reduction::ArgMax => Fill::NegativeInfinity,
            Reduction::Any => Fill::False,
            Reduction::All => Fill::True,
        }
    }
}

/// `holes_on_axes`: whether the axes that the consumer combines have holes.
pub fn requirement(consumer: Consumer, holes_on_axes: bool) -> Requirement {
    match consumer {
        Consumer::Pointwise => Requirement::Weak,
        Consumer::Store(fill) => Requirement::Strong(fill),
        Consumer::Reduce(reduction) | Consumer::Scan(reduction) if holes_on_axes => {
            Requirement::Strong(reduction.neutral())
        }
        // Holes on other axes lead to results that are holes themselves.
        Consumer::Reduce(_) | Consumer::Scan(_) => Requirement::Weak,
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fill::Zero => "0",
            Fill::One => "1",
            Fill::PositiveInfinity => "+inf",
            Fill::NegativeInfinity => "-inf",
            Fill::False => "false",
            Fill::True => "true",
        })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Weak => f.write_str("weak correctness"),
            Requirement::Strong(fill) => write!(f, "strong correctness, holes filled with {fill}"),
        }
    }
}
