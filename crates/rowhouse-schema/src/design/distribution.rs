//! How a field's or column's values are distributed.

use std::fmt;

use super::words::{Count, Size};

/// How one field's or column's values are distributed, as a workload declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// How values are chosen.
    pub draw: Draw,
    /// The least and the greatest length in bytes for texts and bytes; `None` for the default, 8.
    pub bytes: Option<(u32, u32)>,
}

/// How values are chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Draw {
    /// `N values`, `N values, zipf S`: each row has one of N values. Without a skew all are equally
    /// frequent; with one, the value with rank k has a frequency in proportion to k^-S. Ranks are
    /// in no relation to the value order.
    Values {
        /// How many different values there are, at least 1.
        count: u64,
        /// The skew, above 0 and at most 10.
        zipf: Option<f64>,
    },
    /// `sequence`, `sequence from N`: numbers that count up with each row.
    Sequence {
        /// The first row's number.
        from: u64,
    },
    /// `random`: each row has another value, in no order, as hashes and random UUIDs have.
    Random,
    /// `now`: the time at which the row is written.
    Now,
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.draw {
            Draw::Values { count, zipf: None } => write!(f, "{} values", Count(*count))?,
            Draw::Values { count, zipf: Some(skew) } => {
                write!(f, "{} values, zipf {skew}", Count(*count))?;
            }
            Draw::Sequence { from: 1 } => f.write_str("sequence")?,
            Draw::Sequence { from } => write!(f, "sequence from {}", Count(*from))?,
            Draw::Random => f.write_str("random")?,
            Draw::Now => f.write_str("now")?,
        }
        match self.bytes {
            None => Ok(()),
            Some((min, max)) if min == max => write!(f, ", {}", Size(min)),
            Some((min, max)) => write!(f, ", {min} to {max} bytes"),
        }
    }
}
