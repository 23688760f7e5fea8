//! Read analyses as JSON.

use rowhouse::key::escape;
use rowhouse::query::{
    Analysis, FamilyReads, FileReads, ReadTotals, RegionReads, StepTime, TableReads,
};
use serde_json::{Value, json};

/// Returns an analysis as one JSON object. Times are in microseconds.
pub(crate) fn json_of(analysis: &Analysis) -> Value {
    json!({
        "ranges": analysis.ranges(),
        "rows_returned": analysis.rows_returned(),
        "cells_returned": analysis.cells_returned(),
        "bytes_returned": analysis.bytes_returned(),
        "total": of_total(&analysis.total()),
        "planning": analysis.planning().map(of_time),
        "reading": of_time(analysis.reading()),
        "tables": analysis.reads().tables.iter().map(of_table).collect::<Vec<_>>(),
    })
}

fn of_time(time: StepTime) -> Value {
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
    json!({ "elapsed_micros": micros(time.elapsed), "cpu_micros": micros(time.cpu) })
}

fn of_total(total: &ReadTotals) -> Value {
    json!({
        "gets": total.gets,
        "scans": total.scans,
        "regions": total.regions,
        "rows_read": total.rows_read,
        "cells_read": total.cells_read,
        "files_read": total.files_read,
        "files_left_out": total.files_left_out,
        "blocks_cached": total.blocks_cached,
        "blocks_from_disk": total.blocks_from_disk,
        "bytes_cached": total.bytes_cached,
        "bytes_from_disk": total.bytes_from_disk,
    })
}

fn of_table(table: &TableReads) -> Value {
    let time = StepTime { elapsed: table.elapsed, cpu: table.cpu };
    json!({
        "table": table.table.to_string(),
        "gets": table.gets,
        "scans": table.scans,
        "time": of_time(time),
        "regions": table.regions.iter().map(of_region).collect::<Vec<_>>(),
    })
}

fn of_region(region: &RegionReads) -> Value {
    json!({
        "start": escape(&region.range.start),
        "stop": escape(&region.range.stop),
        "rows_read": region.rows_read,
        "rows_returned": region.rows_returned,
        "families": region.families.iter().map(of_family).collect::<Vec<_>>(),
    })
}

fn of_family(family: &FamilyReads) -> Value {
    json!({
        "family": escape(&family.family),
        "cells_read": family.cells_read(),
        "memory_cells": family.memory_cells,
        "cells_returned": family.cells_returned,
        "bytes_returned": family.bytes_returned,
        "files": family.files.iter().map(of_file).collect::<Vec<_>>(),
    })
}

fn of_file(file: &FileReads) -> Value {
    let parts = file.parts_read.iter().map(|read| if *read { '#' } else { '.' });
    json!({
        "path": file.path,
        "len": file.len,
        "first_row": escape(&file.first_row),
        "last_row": escape(&file.last_row),
        "reads": file.reads,
        "left_out_by_rows": file.left_out_by_rows,
        "left_out_by_bloom": file.left_out_by_bloom,
        "left_out_by_times": file.left_out_by_times,
        "left_out_by_newer": file.left_out_by_newer,
        "cells_read": file.cells_read,
        "blocks_cached": file.blocks_cached,
        "blocks_from_disk": file.blocks_from_disk,
        "bytes_cached": file.bytes_cached,
        "bytes_from_disk": file.bytes_from_disk,
        "parts_read": parts.collect::<String>(),
    })
}
