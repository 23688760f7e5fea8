//! Design simulations and comparisons as JSON.

use rowhouse::advise::{Advice, QuestionCost, Simulation, TableSpread, Way, Workload};
use serde_json::{Value, json};

/// Returns a simulation result.
pub(crate) fn simulation_json(workload: &Workload, simulation: &Simulation) -> Value {
    let tables = simulation.spread.tables.iter().map(table);
    let questions = simulation.questions.iter().map(question);
    let warnings = simulation.warnings.iter();
    let warnings = warnings.map(|it| json!({ "refusal": it.is_refusal, "message": it.message }));
    json!({
        "key": simulation.key,
        "indexes": simulation.indexes,
        "rows": simulation.rows,
        "rows_stored": simulation.rows_stored,
        "scale": simulation.scale,
        "seed": workload.seed(),
        "bytes_per_row": simulation.bytes_per_row,
        "entries_per_row": simulation.spread.entries_per_row(),
        "entry_bytes_per_row": simulation.entry_bytes_per_row,
        "writes": tables.collect::<Vec<_>>(),
        "questions": questions.collect::<Vec<_>>(),
        "reads": simulation.reads(),
        "write_load": simulation.load(workload),
        "cost": simulation.cost(workload),
        "score": simulation.score(workload),
        "busiest_region": simulation.share(),
        "warnings": warnings.collect::<Vec<_>>(),
    })
}

/// Returns a design comparison.
pub(crate) fn advice_json(workload: &Workload, advice: &Advice) -> Value {
    let designs = advice.designs.iter().map(|design| {
        let simulation = design.simulation.as_ref().map(|it| simulation_json(workload, it));
        json!({
            "key": design.key,
            "indexes": design.indexes,
            "kind": design.kind.name(),
            "present": design.is_present,
            "reads": design.reads,
            "write_load": design.load,
            "cost": design.cost,
            "busiest_region": design.share,
            "score": design.score,
            "refusals": design.refusals,
            "simulation": simulation,
        })
    });
    let wide = advice.wide.as_ref().map(|wide| {
        json!({
            "key": wide.key.to_string(),
            "columns": wide.columns.to_string(),
            "rows": wide.rows,
            "largest": wide.largest,
            "region": wide.region,
            "busiest_region": wide.share,
        })
    });
    json!({
        "change": advice.is_change,
        "present": advice.present,
        "reasons": advice.reasons,
        "trade": advice.trade,
        "alternative": advice.alternative,
        "gives_up": advice.gives_up,
        "tall_or_wide": advice.tall_or_wide,
        "wide": wide,
        "declaration": advice.declaration,
        "steps": advice.steps,
        "designs": designs.collect::<Vec<_>>(),
    })
}

fn table(table: &TableSpread) -> Value {
    let intervals = table.intervals.iter().map(|shares| {
        json!({
            "writes": shares.writes,
            "busiest_region": shares.busiest_region,
            "busiest_server": shares.busiest_server,
        })
    });
    json!({
        "index": table.index,
        "regions": table.regions(),
        "busiest_region": table.median(),
        "busiest_region_worst": table.worst(),
        "busiest_server": table.median_of_servers(),
        "writes": table.writes,
        "intervals": intervals.collect::<Vec<_>>(),
    })
}

fn question(cost: &QuestionCost) -> Value {
    json!({
        "question": cost.question,
        "per_second": cost.per_second,
        "asked": cost.asked,
        "by": name(&cost.way),
        "sorts": cost.sorts,
        "ranges": cost.ranges,
        "rows_read": cost.rows,
        "rows_read_max": cost.rows_max,
        "by_at_full_size": name(&cost.way_real),
        "rows_read_at_full_size": cost.rows_real,
        "ranges_at_full_size": cost.ranges_real,
        "cells_read": cost.cells,
        "bytes_read": cost.bytes,
        "rows_returned": cost.rows_returned,
        "bytes_returned": cost.bytes_returned,
        "files": cost.files,
        "blocks": cost.blocks,
        "cpu_micros": cost.cpu.as_secs_f64() * 1e6,
    })
}

/// Returns `key`, or the index name.
fn name(way: &Way) -> &str {
    match way {
        Way::Key => "key",
        Way::Index(name) => name,
    }
}
