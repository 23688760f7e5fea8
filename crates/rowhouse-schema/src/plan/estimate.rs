//! A plan's cost: regions and rows, estimated from table statistics.

use std::fmt;

use rowhouse_model::{Error, Result, RowRange};

use super::query_plan::Plan;

/// Table statistics, for [`Plan::estimate`].
///
/// ```
/// use rowhouse_schema::{KeySchema, Predicate, Statistics};
///
/// let schema = KeySchema::parse("[user string][day date]")?;
/// let key = |user: &str, day: &str| schema.encode(&[("user", user.into()), ("day", day.into())]);
/// // One key in a thousand, as a scan that skips most rows would return them.
/// let sample = [key("ann", "2022-11-03")?, key("bob", "2022-11-30")?, key("bob", "2022-12-01")?];
/// let known = Statistics::regions([b"".to_vec(), b"b".to_vec()])?.sample(sample, 3000);
///
/// let plan = schema.plan(&Predicate::parse("user = 'bob' and day >= 2022-12-01")?)?;
/// assert_eq!(plan.estimate(&known).to_string(), "\
/// regions: 1 of 2
/// rows: about 1000 of 3000 read, 1000 given
/// ");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    regions: Vec<RowRange>,
    sample: Option<Sample>,
}

#[derive(Clone, Debug)]
struct Sample {
    /// In key order.
    keys: Vec<Vec<u8>>,
    rows: u64,
}

impl Statistics {
    /// Creates statistics for a table whose regions start at these keys; the first is the empty
    /// key.
    ///
    /// # Errors
    /// Returns an error for keys that are not in order, or do not begin with the empty key.
    pub fn regions<K: Into<Vec<u8>>>(starts: impl IntoIterator<Item = K>) -> Result<Self> {
        let starts: Vec<Vec<u8>> = starts.into_iter().map(Into::into).collect();
        let first = starts.first().is_some_and(Vec::is_empty);
        if !first || !starts.is_sorted_by(|a, b| a < b) {
            return Err(Error::invalid(
                "regions begin at the empty key, and each after the one before it",
            ));
        }
        let stops = starts[1..].iter().cloned().chain([Vec::new()]);
        let range = |(start, stop): (&Vec<u8>, Vec<u8>)| RowRange::new(start.clone(), stop);
        Ok(Self { regions: starts.iter().zip(stops).map(range).collect(), sample: None })
    }

    /// Adds keys sampled evenly from the table, which has about `rows` rows.
    #[must_use]
    pub fn sample<K: Into<Vec<u8>>>(
        mut self,
        keys: impl IntoIterator<Item = K>,
        rows: u64,
    ) -> Self {
        let mut keys: Vec<Vec<u8>> = keys.into_iter().map(Into::into).collect();
        keys.sort_unstable();
        self.sample = (!keys.is_empty()).then_some(Sample { keys, rows });
        self
    }
}

/// A plan's approximate cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// How many regions the ranges overlap, and how many there are; `None` if the regions are
    /// unknown.
    pub regions: Option<(usize, usize)>,
    /// How many rows; `None` without a key sample.
    pub rows: Option<EstimatedRows>,
}

/// Approximate row counts, extrapolated from a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EstimatedRows {
    /// Rows in the plan's ranges.
    pub read: u64,
    /// The rows in the ranges that fit the template and pass the residual; conditions on columns
    /// are not estimated.
    pub given: u64,
    /// Rows in the table.
    pub all: u64,
}

impl Plan {
    /// Estimates the plan's cost in a table with these statistics. The plan itself does not depend
    /// on them.
    pub fn estimate(&self, known: &Statistics) -> Estimate {
        let touched = |region: &&RowRange| {
            let before =
                |range: &RowRange| !range.stop.is_empty() && range.stop[..] <= region.start[..];
            let first = self.ranges.partition_point(before);
            self.ranges.get(first).is_some_and(|range| range.overlaps(region))
        };
        let regions = known.regions.iter().filter(touched).count();
        Estimate {
            regions: (!known.regions.is_empty()).then_some((regions, known.regions.len())),
            rows: known.sample.as_ref().map(|sample| self.estimate_rows(sample)),
        }
    }

    fn estimate_rows(&self, sample: &Sample) -> EstimatedRows {
        let mut read = 0;
        let mut given = 0;
        for range in &self.ranges {
            let first = sample.keys.partition_point(|key| key[..] < range.start[..]);
            let keys = sample.keys[first..].iter().take_while(|key| range.contains(key));
            for key in keys {
                read += 1;
                given +=
                    u64::from(self.schema.decode(key).is_ok_and(|values| self.matches(&values)));
            }
        }
        // Fits: at most 2^64 times 2^64.
        let share = |count: u64| {
            (u128::from(count) * u128::from(sample.rows) / sample.keys.len() as u128) as u64
        };
        EstimatedRows { read: share(read), given: share(given), all: sample.rows }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((touched, all)) = self.regions {
            writeln!(f, "regions: {touched} of {all}")?;
        }
        if let Some(EstimatedRows { read, given, all }) = self.rows {
            writeln!(f, "rows: about {read} of {all} read, {given} given")?;
        }
        Ok(())
    }
}
