//! The columns of a heat, as callers see them.

use rowhouse_model::{HeatBucket, HeatColumn, HeatSample};

use super::column::Column;

/// Returns a column with the ranges and the sample.
pub(super) fn shown(column: &Column) -> HeatColumn {
    let buckets = column.ranges().into_iter().map(|(start, load)| HeatBucket {
        start,
        reads: load.reads,
        writes: load.writes,
        read_bytes: load.read_bytes,
        written_bytes: load.written_bytes,
    });
    let sample = column.sample().requests(column.start_millis).into_iter();
    let sample = sample.map(|request| HeatSample {
        at_millis: request.at_millis,
        row: request.row,
        is_write: request.is_write,
    });
    HeatColumn {
        start_millis: column.start_millis,
        length_millis: column.length_millis,
        buckets: buckets.collect(),
        sample: sample.collect(),
    }
}
