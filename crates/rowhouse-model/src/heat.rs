//! Table heat: where the requests are, by row key and time.

use bytes::Bytes;

/// The requests to a table by time and key, and the hottest rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatReport {
    /// By time. A time span without requests may have no column.
    pub columns: Vec<HeatColumn>,
    /// The rows with the most requests in the last minutes, those first that had the most for
    /// certain.
    pub hot_rows: Vec<HotRow>,
    /// The columns that reads in the last minutes requested together, the most frequent first.
    pub column_sets: Vec<HotColumns>,
    /// Whether some requests for the columns were not recorded and others count for them: the
    /// counts are then right on average. Otherwise they are exact.
    pub is_sampled: bool,
    /// Whether the ranges are the table's regions, because the servers measure nothing finer.
    pub is_by_region: bool,
}

/// The requests to a table in a time span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatColumn {
    /// When it began, in milliseconds since 1970.
    pub start_millis: i64,
    /// The length in milliseconds: a minute, or more for older columns. The current minute is not
    /// over.
    pub length_millis: i64,
    /// Row key ranges, by start key. Together they cover all keys.
    pub buckets: Vec<HeatBucket>,
    /// A random sample of the requests, in the order in which they came. Each read in it counts for
    /// as many of the column's reads as the others, and each write likewise. Empty if it was
    /// measured without a sample: by region, or by an earlier version.
    pub sample: Vec<HeatSample>,
}

/// A request in a column's sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatSample {
    /// The time, in milliseconds since 1970.
    pub at_millis: i64,
    /// The row key, or the first 128 bytes.
    pub row: Bytes,
    /// True for a mutation, false for a read.
    pub is_write: bool,
}

/// The requests to a row key range in a time span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatBucket {
    /// The first key; empty for the first range. The next range starts where this one ends.
    pub start: Bytes,
    /// Rows read.
    pub reads: u64,
    /// Mutations.
    pub writes: u64,
    /// Bytes in the cells returned.
    pub read_bytes: u64,
    /// Cell bytes in mutations.
    pub written_bytes: u64,
}

/// A row with many requests in the last minutes. Reports have only rows that are certain
/// ([`HotRow::is_certain`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotRow {
    /// The row key, or the first 256 bytes.
    pub row: Bytes,
    /// Gets for the row, conditions on it, and scans of only this row. Together with `writes` never
    /// too low.
    pub reads: u64,
    /// Mutations to the row.
    pub writes: u64,
    /// How much too high `reads` and `writes` together may be: at most a 64th of the table's
    /// requests in these minutes (a 16th if many tables are in use).
    pub overestimate: u64,
}

/// Columns in a family that reads in the last minutes requested together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotColumns {
    /// The family; empty for reads over all families.
    pub family: Bytes,
    /// The qualifiers; none for reads over the whole family, and for reads over very many columns.
    pub qualifiers: Vec<Bytes>,
    /// Rows read. Never too low.
    pub reads: u64,
    /// How much too high `reads` may be: at most a 64th of the table's reads in these minutes (a
    /// 16th if many tables are in use).
    pub overestimate: u64,
}

impl HotRow {
    /// Returns how many requests the row had at least.
    pub fn requests_min(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_sub(self.overestimate)
    }

    /// Returns true if the count is mostly certain. Rows under an even load have counts that are
    /// mostly error: 334 requests, among which 333 may belong to other rows.
    pub fn is_certain(&self) -> bool {
        self.requests_min() > self.overestimate
    }
}

/// Chooses from weighted items, in their order, at most `count_max` that count for equally much:
/// one from each of several equal parts of the whole weight, at random. No item is chosen twice, so
/// there are fewer if one item has much of the weight.
pub fn thinned<T>(weighted: Vec<(f64, T)>, count_max: usize) -> Vec<T> {
    let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
    let heaviest = weighted.iter().map(|(weight, _)| *weight).fold(0.0, f64::max);
    let part = (total / count_max.max(1) as f64).max(heaviest);
    let mut parts: u64 = 0;
    let mut point = unit_of(parts) * part;
    let mut sum = 0.0;
    let mut chosen = Vec::new();
    for (weight, item) in weighted {
        sum += weight;
        if point < sum {
            chosen.push(item);
        }
        while point < sum {
            parts += 1;
            point = (parts as f64 + unit_of(parts)) * part;
        }
    }
    chosen
}

/// Returns a number from 0 to 1 that looks random.
fn unit_of(number: u64) -> f64 {
    (mixed(number.wrapping_mul(GOLDEN)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a number that looks random: SplitMix64's next number after the state `number`. Different
/// numbers have different ones.
pub fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(GOLDEN);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The step between two states of SplitMix64: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
