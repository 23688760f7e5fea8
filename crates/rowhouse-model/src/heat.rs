//! The heat of a table: where its requests are, by row key and time.

use bytes::Bytes;

/// The requests of a table by time and key, and its hottest rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatReport {
    /// By time. A span of time without requests may have no column.
    pub columns: Vec<HeatColumn>,
    /// The rows with the most requests in the last minutes, those first that had the most for
    /// certain.
    pub hot_rows: Vec<HotRow>,
    /// The columns that reads of the last minutes asked for together, the most frequent first.
    pub column_sets: Vec<HotColumns>,
    /// Whether some requests of the columns were not recorded and others count for them: the counts
    /// are then right on average. Otherwise they are exact.
    pub is_sampled: bool,
    /// Whether the ranges are the regions of the table, because the servers measure nothing finer.
    pub is_by_region: bool,
}

/// The requests of a table in a span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatColumn {
    /// When it began, in milliseconds since 1970.
    pub begun_millis: i64,
    /// Its length in milliseconds: a minute, or more for older columns. That of the current minute
    /// is not over.
    pub length_millis: i64,
    /// Ranges of row keys, by start key. Together they cover all keys.
    pub buckets: Vec<HeatBucket>,
}

/// The requests to a range of row keys in a span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeatBucket {
    /// The first key; empty for the first range. The next range starts where this one ends.
    pub start: Bytes,
    /// Rows read.
    pub reads: u64,
    /// Mutations.
    pub writes: u64,
    /// Bytes of the cells returned.
    pub read_bytes: u64,
    /// Bytes of the cells of mutations.
    pub written_bytes: u64,
}

/// A row with many requests in the last minutes. Reports have only rows that are certain
/// ([`HotRow::is_certain`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotRow {
    /// The row key, or its first 256 bytes.
    pub row: Bytes,
    /// Gets of the row, conditions on it, and scans of only this row. Together with `writes` never
    /// too low.
    pub reads: u64,
    /// Mutations of the row.
    pub writes: u64,
    /// How much too high `reads` and `writes` together may be: at most a 64th of the table's
    /// requests in these minutes (a 16th if many tables are in use).
    pub overestimate: u64,
}

/// Columns of a family that reads of the last minutes asked for together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotColumns {
    /// The family; empty for reads of all families.
    pub family: Bytes,
    /// The qualifiers; none for reads of the whole family, and for those of very many columns.
    pub qualifiers: Vec<Bytes>,
    /// Rows read. Never too low.
    pub reads: u64,
    /// How much too high `reads` may be: at most a 64th of the table's reads in these minutes (a
    /// 16th if many tables are in use).
    pub overestimate: u64,
}

impl HotRow {
    /// Returns the number of requests that the row had at least.
    pub fn requests_min(&self) -> u64 {
        (self.reads + self.writes).saturating_sub(self.overestimate)
    }

    /// Returns true if most of the count is certain. Rows of an even load have counts that are
    /// mostly error: 334 requests, of which 333 may be those of other rows.
    pub fn is_certain(&self) -> bool {
        self.requests_min() > self.overestimate
    }
}
