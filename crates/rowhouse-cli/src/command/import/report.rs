//! The report when an import ends.

use std::fmt::Write;

use rowhouse_import::{Counts, Summary};
use serde_json::{Value as Json, json};

use crate::counted::counted;

/// Returns the report as text.
pub(super) fn text(summary: &Summary) -> String {
    let Counts { rows, rejected, same_key, in_table } = summary.counts;
    let mut text = format!(
        "{} of {}: {rejected} rejected, {same_key} with the key of one before, {in_table} in the table already\n",
        counted(rows, "row"),
        counted(summary.files as u64, "file"),
    );
    // Writing to a string does not fail.
    for example in &summary.examples {
        let _ = writeln!(text, "  {example}");
    }
    for times in &summary.times {
        let _ = writeln!(text, "{times}");
    }
    if let Some(first) = &summary.first_rejected {
        let _ = writeln!(text, "first rejected row: {first}");
    }
    for path in &summary.rejects {
        let _ = writeln!(text, "rejected rows are in {}", path.display());
    }
    let written = counted(summary.written, "row");
    let table = &summary.table;
    let _ = match (summary.is_dry_run, summary.is_resumed) {
        (true, _) if summary.is_refused => {
            writeln!(text, "nothing was written, and nothing would be without --duplicates merge")
        }
        (true, true) => writeln!(
            text,
            "nothing was written; the import would resume an incomplete one: {written} of it \
             written"
        ),
        (true, false) => writeln!(text, "nothing was written"),
        (false, true) => {
            writeln!(text, "{written} written to {table}, resuming an incomplete import")
        }
        (false, false) => writeln!(text, "{written} written to {table}"),
    };
    text
}

/// Returns the report as JSON.
pub(super) fn json(summary: &Summary) -> Json {
    let rejects: Vec<_> = summary.rejects.iter().map(|path| path.to_string_lossy()).collect();
    json!({
        "table": summary.table.to_string(),
        "files": summary.files,
        "bytes": summary.bytes,
        "rows": summary.counts.rows,
        "rejected": summary.counts.rejected,
        "same_key": summary.counts.same_key,
        "in_table": summary.counts.in_table,
        "written": summary.written,
        "resumed": summary.is_resumed,
        "dry_run": summary.is_dry_run,
        "refused": summary.is_refused,
        "times": summary.times,
        "first_rejected": summary.first_rejected,
        "rejects": rejects,
        "seconds": summary.elapsed.as_secs_f64(),
    })
}
