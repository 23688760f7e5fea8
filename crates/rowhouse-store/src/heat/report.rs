//! The columns of a heat, as callers see them.

use rowhouse_model::{HeatBucket, HeatColumn};

use super::column::Column;

/// Returns a column with its ranges.
pub(super) fn shown(column: &Column) -> HeatColumn {
    let buckets = column.ranges().into_iter().map(|(start, load)| HeatBucket {
        start,
        reads: load.reads,
        writes: load.writes,
        read_bytes: load.read_bytes,
        written_bytes: load.written_bytes,
    });
    HeatColumn {
        start_millis: column.start_millis,
        length_millis: column.length_millis,
        buckets: buckets.collect(),
    }
}
