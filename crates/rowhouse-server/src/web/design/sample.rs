//! Rows of a table, from which designs get values.

use std::time::Instant;

use rowhouse_model::{Error, ErrorKind, Result, Row, Scan};
use rowhouse_schema::{RowSample, Workload};
use rowhouse_store::{ScanLimits, Scanned, Table};

use crate::limits::{WEB_DESIGN_BYTES_MAX, WEB_DESIGN_ROWS_MAX, WEB_QUERY_WAIT};

/// Returns the workload with rows of a table, from the beginning of each region.
pub(super) fn sampled(table: &Table, workload: Workload) -> Result<Workload> {
    let until = Instant::now() + WEB_QUERY_WAIT;
    let mut sample = RowSample::new(table.descriptor(), &workload)?;
    let regions = table.regions();
    let of_region = WEB_DESIGN_ROWS_MAX.div_ceil(regions.len().max(1) as u64);
    let mut left = WEB_DESIGN_BYTES_MAX;
    let mut total = 0;
    let mut is_cut = false;
    for region in regions {
        let has_room =
            |total, left| total < WEB_DESIGN_ROWS_MAX && left > 0 && Instant::now() < until;
        if !has_room(total, left) {
            break;
        }
        let mut scanner = region.scan(&Scan::all())?;
        let mut rows = 0;
        while rows < of_region && has_room(total, left) {
            let limits = ScanLimits { bytes: left, until: Some(until) };
            match scanner.next_part(&limits)? {
                Scanned::End => break,
                Scanned::Paused(_) => {}
                Scanned::Row { row, is_partial } => {
                    left = left.saturating_sub(bytes_of(&row));
                    rows += 1;
                    total += 1;
                    // The rest of a row is as large as the room that is left.
                    if is_partial {
                        is_cut = true;
                        break;
                    }
                    sample.add(&row);
                }
            }
        }
    }
    if sample.is_empty() {
        let name = table.name();
        if total == 0 && Instant::now() >= until {
            let message = format!("no row of the table was read in time: table={name}");
            return Err(Error::new(ErrorKind::Timeout, message));
        }
        return Err(Error::invalid(match (total, is_cut) {
            (0, _) => format!("the table has no rows: table={name}"),
            (_, true) => {
                format!("there is no row of at most {WEB_DESIGN_BYTES_MAX} bytes: table={name}")
            }
            _ => format!("no row that was read fits the template: rows={total}, table={name}"),
        }));
    }
    sample.sampled(workload)
}

fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
}
