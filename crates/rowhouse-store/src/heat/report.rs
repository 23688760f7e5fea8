//! The heat of a table, as callers see it.

use rowhouse_model::Bytes;

use super::column::Column;
use super::hot_rows::HotRow;

/// The heat of a table: its requests by time and key, and its hottest rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableHeatReport {
    /// By time. A minute without requests has no column.
    pub columns: Vec<HeatColumn>,
    /// The rows with the most requests in the last 5 to 10 minutes, at most 64 (16 if more than 128
    /// tables are in use), those first that had the most for certain.
    pub hot_rows: Vec<HotRow>,
    /// Whether some requests of the columns were not recorded and others count for them: the counts
    /// are then right on average. Otherwise they are exact.
    pub sampled: bool,
}

/// The requests to a table in a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeatBucket {
    /// The first key, at most 64 bytes; empty for the first range. The next range starts where this
    /// one ends.
    pub start: Bytes,
    /// Rows read. The rows of a scan count in stretches of up to 64, at the first row of each.
    pub reads: u64,
    /// Mutations.
    pub writes: u64,
    /// Bytes of the cells returned.
    pub read_bytes: u64,
    /// Bytes of the cells of mutations.
    pub written_bytes: u64,
}

impl From<&Column> for HeatColumn {
    fn from(column: &Column) -> Self {
        let buckets = column.ranges().into_iter().map(|(start, load)| HeatBucket {
            start,
            reads: load.reads,
            writes: load.writes,
            read_bytes: load.read_bytes,
            written_bytes: load.written_bytes,
        });
        Self {
            begun_millis: column.begun_millis,
            length_millis: column.length_millis,
            buckets: buckets.collect(),
        }
    }
}
