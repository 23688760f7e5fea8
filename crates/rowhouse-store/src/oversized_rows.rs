//! Logs rows that are larger than a region should be, once each, when files are written. Splitting
//! the region does not help them.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use rowhouse_model::{Bytes, CellRef, TableDescriptor, TableName, escape};

use crate::key_formatter::KeyFormatter;

/// HBase's `hbase.hregion.max.filesize`, for tables without MAX_FILESIZE.
const REGION_BYTES_MAX: u64 = 10 << 30;
/// The maximum number of rows per store that are logged and remembered. Further rows are not
/// logged.
const LOGGED_MAX: usize = 1024;

/// The size above which a table's row is logged.
pub(crate) struct RowLimit {
    table: TableName,
    pub(crate) keys: KeyFormatter,
    bytes_max: u64,
}

impl RowLimit {
    /// Returns a table's limit: its MAX_FILESIZE, or HBase's default if it declares none.
    pub(crate) fn of(table: &TableDescriptor) -> Self {
        Self {
            table: table.name().clone(),
            keys: KeyFormatter::of(table),
            bytes_max: table.region_bytes_max().unwrap_or(REGION_BYTES_MAX),
        }
    }
}

/// The rows in a store that were logged since it was opened.
#[derive(Default)]
pub(crate) struct OversizedRowLog(Mutex<BTreeSet<Bytes>>);

impl OversizedRowLog {
    /// Logs a row for which a file in this store has `len` bytes, unless it was logged before.
    pub(crate) fn log(&self, limit: &RowLimit, region: u64, family: &[u8], row: &[u8], len: u64) {
        {
            let mut logged = self.0.lock();
            if logged.len() >= LOGGED_MAX || !logged.insert(Bytes::copy_from_slice(row)) {
                return;
            }
        }
        tracing::warn!(
            table = %limit.table,
            region,
            family = %escape(family),
            row = %limit.keys.row(row),
            bytes = len,
            max = limit.bytes_max,
            "a row is larger than the size limit of a region"
        );
    }
}

/// Sums the cells of each row that is written to a file.
#[derive(Default)]
pub(crate) struct RowMeter {
    row: Vec<u8>,
    bytes: u64,
}

impl RowMeter {
    /// Counts the next cell. Returns the row before it, with the row's bytes, if that row ends here
    /// and is too large.
    pub(crate) fn count(&mut self, cell: &CellRef<'_>, limit: &RowLimit) -> Option<(Vec<u8>, u64)> {
        let len = key_value_len(cell);
        if self.row == cell.key.row {
            self.bytes += len;
            return None;
        }
        let large = (self.bytes > limit.bytes_max).then(|| (self.row.clone(), self.bytes));
        self.row.clear();
        self.row.extend_from_slice(cell.key.row);
        self.bytes = len;
        large
    }

    /// Returns the last row, if it is too large.
    pub(crate) fn end(self, limit: &RowLimit) -> Option<(Vec<u8>, u64)> {
        (self.bytes > limit.bytes_max).then_some((self.row, self.bytes))
    }
}

/// Returns a cell's bytes as a KeyValue, as in a file without encoding and compression.
fn key_value_len(cell: &CellRef<'_>) -> u64 {
    // The key, value, row and family lengths, the timestamp and the kind.
    let fixed = 8 + 2 + 1 + 8 + 1;
    let tags = if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() };
    let key = cell.key.row.len() + cell.key.family.len() + cell.key.qualifier.len();
    (fixed + key + cell.value.len() + tags) as u64
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write};
    use std::sync::Arc;

    use rowhouse_model::{
        Cell, CellKind, FamilyDescriptor, Put, TableDescriptor, Timestamp, tags_with_ttl,
    };
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;
    use crate::{CompactionKind, Store};

    /// Collects this thread's warnings as lines.
    #[derive(Clone, Default)]
    struct Warnings(Arc<Mutex<Vec<String>>>);

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, "{}={value:?} ", field.name()).unwrap();
        }
    }

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            self.0.lock().push(line.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_row_that_outgrows_a_region_is_reported_once_with_its_fields() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = TableName::parse("t").unwrap();
        let descriptor = TableDescriptor::new(name.clone())
            .family(FamilyDescriptor::new("f").unwrap())
            .attribute("MAX_FILESIZE", "1000")
            .attribute("hbase.table.sanity.checks", "false")
            .attribute("rowhouse.key", "1 [user text]");
        store.create_table(descriptor, &[]).unwrap();
        let table = store.table(&name).unwrap();
        let put = |row: &str, qualifier: &str, len: usize| {
            let put = Put::new(row.to_owned()).unwrap().add("f", qualifier, vec![b'v'; len]);
            table.mutate(&put.unwrap().into()).unwrap();
        };
        let warnings = Warnings::default();
        tracing::subscriber::with_default(warnings.clone(), || {
            // 20 bytes plus row, family, qualifier and value: 1000 and 1001 in total.
            put("a", "1", 977);
            put("b", "1", 978);
            put("c", "1", 500);
            table.flush().unwrap();
            put("c", "2", 500);
            table.flush().unwrap();
            assert_eq!(warnings.0.lock().len(), 1);
            table.compact(CompactionKind::Major).unwrap();
            assert_eq!(warnings.0.lock().len(), 2);
            put("c", "3", 2000);
            table.flush().unwrap();
            table.compact(CompactionKind::Major).unwrap();
        });
        let region = table.regions()[0].id();
        let line = |row, bytes| {
            format!(
                "message=a row is larger than the size limit of a region table=t region={region} family=f \
                 row={row} (user='{row}') bytes={bytes} max=1000 "
            )
        };
        assert_eq!(*warnings.0.lock(), [line("b", 1001), line("c", 1046)]);
    }

    #[test]
    fn a_cell_counts_as_many_bytes_as_its_key_value_has() {
        let at = Timestamp::from_millis(7).unwrap();
        let cell = Cell::new("row", "f", "qualifier", at, CellKind::Put, "value").unwrap();
        let tagged = Cell::from_parts(cell.key(), b"value", &tags_with_ttl(b"", 5)).unwrap();
        for cell in [cell, tagged] {
            let parsed = CellRef::parse(cell.as_bytes(), 0).unwrap();
            assert_eq!(key_value_len(&parsed), cell.as_bytes().len() as u64);
        }
    }
}
