//! Three-valued answers: a budget may run out, and then nothing is claimed.

use std::fmt;
use std::time::Duration;

use isl::{Dim, Point, Set};

use crate::error::Result;

/// A point at which something fails, at parameter values for which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// By name.
    pub params: Vec<(String, i64)>,
    /// One coordinate per axis.
    pub point: Vec<i64>,
}

/// Whether two transforms are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// They are, for all values of the parameters.
    Equal,
    /// They differ there, in an extent (the point is then empty) or in the index map.
    Different(Sample),
    /// isl ran out of its budget, or the maps are not quasi-affine.
    Unknown {
        /// How long it tried.
        spent: Duration,
        /// Comparing point by point found no difference for parameters up to this.
        same_up_to: Option<i64>,
    },
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does, for all values of the parameters.
    Yes,
    /// It fails there.
    No(Sample),
    /// isl ran out of its budget.
    Unknown {
        /// How long it tried.
        spent: Duration,
    },
}

impl Sample {
    /// A point of a set that is not empty.
    pub(crate) fn of(set: Set) -> Result<Sample> {
        let params = set.dim(Dim::Param)?;
        let names = (0..params)
            .map(|position| Ok(set.get_dim_name(Dim::Param, position)?.unwrap_or_default()))
            .collect::<Result<Vec<_>>>()?;
        let dimensions = set.dim(Dim::Set)?;
        let point = set.sample_point()?;
        let coordinate = |point: &Point, kind: Dim, position: usize| -> Result<i64> {
            Ok(point.coordinate(kind, position)?.to_i64()?.unwrap_or(i64::MAX))
        };
        Ok(Sample {
            params: names
                .into_iter()
                .enumerate()
                .map(|(position, name)| Ok((name, coordinate(&point, Dim::Param, position)?)))
                .collect::<Result<_>>()?,
            point: (0..dimensions).map(|position| coordinate(&point, Dim::Set, position)).collect::<Result<_>>()?,
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.params.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>();
        let point = self.point.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        match (self.point.is_empty(), params.is_empty()) {
            (true, _) => f.write_str(&params.join(", ")),
            (false, true) => write!(f, "[{point}]"),
            (false, false) => write!(f, "[{point}] for {}", params.join(", ")),
        }
    }
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Equivalence::Equal => f.write_str("equal"),
            Equivalence::Different(sample) if sample.point.is_empty() && sample.params.is_empty() => {
                f.write_str("different: the extents differ")
            }
            Equivalence::Different(sample) if sample.point.is_empty() => {
                write!(f, "different: the extents differ for {sample}")
            }
            Equivalence::Different(sample) => write!(f, "different at {sample}"),
            Equivalence::Unknown { spent, same_up_to: None } => write!(f, "unknown after {} ms", spent.as_millis()),
            Equivalence::Unknown { same_up_to: Some(largest), .. } => {
                write!(f, "unknown; the same for all values of the parameters up to {largest}")
            }
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Truth::Yes => f.write_str("yes"),
            Truth::No(sample) => write!(f, "no, see {sample}"),
            Truth::Unknown { spent } => write!(f, "unknown after {} ms", spent.as_millis()),
        }
    }
}
