//! Full-text index queues: a record that changes a row puts the row's key into the queue of each
//! index that may have to show the change (`docs/decisions/0073-search.md`).

use std::sync::atomic::Ordering;

use rowhouse_model::{Bytes, Cell, CellKind, CellRef, Columns, Result, Timestamp};
use rowhouse_schema::QUEUE_FAMILY;

use super::index::IndexUpdater;
use super::index_fill::{each_region, with_rows_locked};
use super::record_builder::RecordBuilder;
use crate::commits::LockedRow;
use crate::family::FamilyStore;
use crate::indexed::MaintainedIndex;
use crate::region::Region;
use crate::table::Table;

/// The rows that were queued, each with the timestamp on the entries.
pub(super) type Queued = Vec<(LockedRow, Timestamp)>;

/// Queues the rows in a record's region whose columns an index reads.
pub(super) fn add(
    searches: &[MaintainedIndex],
    record: &RecordBuilder<'_>,
    region: &Region,
    updater: &mut IndexUpdater<'_, '_>,
) -> Result<Queued> {
    let mut queued = Queued::new();
    if searches.is_empty() {
        return Ok(queued);
    }
    let is_read = |family: &[u8]| {
        searches.iter().any(|maintained| maintained.index.columns().selects_family(family))
    };
    for (row, cells) in record.cells_by_row(region.id(), is_read) {
        let mut concerned = searches
            .iter()
            .filter(|maintained| concern(&cells, maintained.index.columns()))
            .peekable();
        if concerned.peek().is_some() {
            queued.push(updater.queue(region, row, concerned)?);
        }
    }
    Ok(queued)
}

/// True if any of these cells in a row may change what the row shows in some columns.
fn concern(cells: &[(&FamilyStore, CellRef<'_>)], columns: &Columns) -> bool {
    cells.iter().any(|(family, cell)| match cell.kind() {
        CellKind::DeleteFamily | CellKind::DeleteFamilyVersion => {
            columns.selects_family(family.name())
        }
        CellKind::Put | CellKind::DeleteVersion | CellKind::DeleteColumn => {
            columns.has_column(cell.key.family, cell.key.qualifier)
        }
    })
}

impl IndexUpdater<'_, '_> {
    /// Puts a row into index queues.
    fn queue<'i>(
        &mut self,
        region: &Region,
        row: &[u8],
        searches: impl Iterator<Item = &'i MaintainedIndex>,
    ) -> Result<(LockedRow, Timestamp)> {
        let engine = region.engine();
        let place = engine.row_locks.place(region.id(), row).of_entries();
        let at = engine.timestamps.issue_queued(self.rows.after_of(place));
        engine.rows_queued.fetch_add(1, Ordering::Relaxed);
        let row = Bytes::copy_from_slice(row);
        let family = QUEUE_FAMILY.as_bytes();
        for maintained in searches {
            self.push(maintained, Cell::new(row.clone(), family, b"", at, CellKind::Put, b"")?);
        }
        Ok((place, at))
    }

    /// Makes later entries for queued rows later than these. They count as deletes: two entries for
    /// a row at one timestamp would be removed together, although a row may change in between.
    ///
    /// To be called when all rows in a record have their timestamps, so that rows in one stripe do
    /// not push each other ahead of the clock.
    pub(super) fn note_queued(&mut self, queued: &Queued) {
        queued.iter().for_each(|&(place, at)| self.rows.note_delete_of(place, at));
    }
}

/// Puts rows from a table into an index's queue.
///
/// # Errors
/// The errors that any write returns.
pub(crate) fn queue_rows(
    table: &Table,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
) -> Result<()> {
    each_region(table, rows, |region, rows| {
        with_rows_locked(region, maintained, rows, |updater| {
            let queued =
                rows.iter().map(|row| updater.queue(region, row, std::iter::once(maintained)));
            let queued = queued.collect::<Result<Queued>>()?;
            updater.note_queued(&queued);
            Ok(())
        })
    })
}
