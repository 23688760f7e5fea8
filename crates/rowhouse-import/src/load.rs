//! Loads rows into a table as files in the table's regions, atomically.

use std::path::Path;

use rowhouse::Result;
use rowhouse::cell::Cell;
use rowhouse::schema::TableName;
use rowhouse_store::Store;

use crate::cells::Merged;
use crate::progress::{Reporter, Step};
use crate::sort::{Entry, Sorted, Sorter};

/// Writes sorted rows to store files in `dir`, which no process has open, and adds these to the
/// table.
pub(crate) fn load(
    dir: &Path,
    table: &TableName,
    sorter: &mut Sorter,
    reporter: &mut Reporter,
    bytes: u64,
) -> Result<()> {
    let store = Store::builder(dir).only_existing().open()?;
    let mut rows = MergedRows { sorted: sorter.sorted()?, next: None };
    let mut count = 0;
    store.load_rows(table, || {
        count += 1;
        reporter.report(Step::Loading, count, bytes);
        rows.next()
    })?;
    store.close()
}

/// Iterates over the table rows: merges consecutive entries with the same key.
struct MergedRows<'s> {
    sorted: Sorted<'s>,
    next: Option<Entry>,
}

impl MergedRows<'_> {
    fn next(&mut self) -> Result<Option<Vec<Cell>>> {
        let first = match self.next.take() {
            Some(entry) => entry,
            None => match self.sorted.next()? {
                Some(entry) => entry,
                None => return Ok(None),
            },
        };
        let mut merged = Merged::default();
        merged.add(first.payload);
        while let Some(entry) = self.sorted.next()? {
            if entry.key != first.key {
                self.next = Some(entry);
                break;
            }
            merged.add(entry.payload);
        }
        merged.into_cells(&first.key).map(Some)
    }
}
