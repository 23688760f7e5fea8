//! Builds an index in memory from scans, without locks on rows.
//!
//! The entries of a row as a scan shows it are older than all that writers add or remove: they get
//! the timestamp 0 and a sequence number before the scan. Every writer since the index was declared
//! has put markers and entries with later timestamps over the entries that it changed, whether it
//! commits before or after the scan, so only those show that the row still has.
//!
//! An entry that ends by time needs more than the current row (`row_entries.rs`), so rows whose
//! cells can end are left to [`mend`](super::index_fill::mend).

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, Columns, ErrorKind, Key, Result, RowRange, Scan, Timestamp,
};
use rowhouse_schema::{ENTRY_FAMILY, Entry, EntryHeader};

use crate::engine::Engine;
use crate::indexed::MaintainedIndex;
use crate::region::not_serving;
use crate::table::Table;

/// The most rows of one scan, so that a scan is short.
const ROWS_AT_ONCE: u64 = 16 * 1024;

/// Entry bytes that are sorted and inserted together.
const BYTES_AT_ONCE: usize = 1 << 20;

/// The outcome of one scan.
pub(crate) enum Scanned {
    /// The range has rows whose cells can end by time. Nothing was added.
    Timed,
    Added(Added),
}

/// The rows whose entries were added.
#[derive(Default)]
pub(crate) struct Added {
    pub(crate) rows: u64,
    /// Rows that have an entry which is too long. They have none.
    pub(crate) refused: Vec<Bytes>,
    /// The first row after them; `None` at the end of the range.
    pub(crate) next_row: Option<Bytes>,
}

/// Adds the entries of the first rows in a range of a table to an index in memory.
///
/// # Errors
/// `RegionTooBusy` if the memory for indexes is full; `NotServingRegion` if the index was dropped;
/// errors from the reads.
pub(crate) fn add_scanned(
    table: &Arc<Table>,
    maintained: &MaintainedIndex,
    range: &RowRange,
) -> Result<Scanned> {
    let index = &maintained.index;
    if can_end(table, index.columns(), range)? {
        return Ok(Scanned::Timed);
    }
    let entries_of = &maintained.table.regions()[0];
    let engine: &Engine = entries_of.engine();
    // Before the scan, which sees at least this.
    let sequence = engine.mvcc.visible();
    let mut scan = Scan::new(range.clone());
    scan.columns = index.columns().clone();
    scan.limit = Some(ROWS_AT_ONCE);
    scan.cache_blocks = false;
    let mut rows = table.scan_uncounted(scan)?;
    let mut added = Added::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        added.rows += 1;
        match index.entries(row.key(), &row) {
            Ok(of_row) => {
                bytes += of_row.iter().map(bytes_of).sum::<usize>();
                entries.extend(of_row);
            }
            Err(error) if error.kind() == ErrorKind::InvalidRequest => {
                added.refused.push(Bytes::copy_from_slice(row.key()));
            }
            Err(error) => return Err(error),
        }
        if bytes >= BYTES_AT_ONCE {
            insert(engine, maintained, &mut entries, std::mem::take(&mut bytes), sequence)?;
        }
        if added.rows == ROWS_AT_ONCE {
            added.next_row = Some(RowRange::row(row.key()).stop);
        }
    }
    insert(engine, maintained, &mut entries, bytes, sequence)?;
    Ok(Scanned::Added(added))
}

/// Returns true if a cell in these columns and rows may end by time.
fn can_end(table: &Table, columns: &Columns, range: &RowRange) -> Result<bool> {
    for region in table.regions_now().into_iter().filter(|it| it.info().range.overlaps(range)) {
        for family in region.families().iter().filter(|it| columns.selects_family(it.name())) {
            let super_version = family.super_version();
            let mut memstores = super_version.frozen.iter().chain([&super_version.active]);
            if family.retention().expires_after_millis().is_some()
                || memstores.any(|memstore| memstore.has_tags())
            {
                return Ok(true);
            }
            for file in super_version.files.iter().filter(|file| file.may_hold_rows(range)) {
                if file.has_tags()? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The bytes of a cell in a memstore besides the row and the value: about as many as the links and
/// the rest of the KeyValue have.
const CELL_BYTES: usize = 70;

/// Returns about how many bytes an entry takes in a memstore.
fn bytes_of(entry: &Entry) -> usize {
    let covered = entry.covered.iter().flatten();
    let covered = covered.map(|covered| covered.value.len() + entry.key.len() + CELL_BYTES);
    entry.key.len() + CELL_BYTES + covered.sum::<usize>()
}

fn insert(
    engine: &Engine,
    maintained: &MaintainedIndex,
    entries: &mut Vec<Entry>,
    bytes: usize,
    sequence: u64,
) -> Result<()> {
    check_memory(engine, maintained, bytes as u64)?;
    entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let mut cells = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        push_cells(maintained, &entry, &mut cells)?;
    }
    let region = &maintained.table.regions()[0];
    // Excludes a rewrite and a drop of the family.
    let _latch = engine.freeze_latch.read();
    let family = region.family(ENTRY_FAMILY.as_bytes())?;
    if family.is_dropped() {
        return Err(not_serving(region.name()));
    }
    let memstore = family.active();
    let sorted = cells.iter().map(|cell: &Cell| (&cell.as_bytes()[..], sequence));
    memstore.count(memstore.insert_sorted(sorted));
    check_memory(engine, maintained, 0)
}

/// Checks that more bytes have room; otherwise the index is going to be off.
fn check_memory(engine: &Engine, maintained: &MaintainedIndex, more: u64) -> Result<()> {
    engine
        .index_memory
        .check(more)
        .inspect_err(|error| engine.files.damage.note_table(maintained.table.id(), error))
}

/// Adds the cells of an entry that is certain until a write replaces it.
fn push_cells(maintained: &MaintainedIndex, entry: &Entry, cells: &mut Vec<Cell>) -> Result<()> {
    let timestamps = entry.covered.iter().map(|it| it.as_ref().map(|it| it.timestamp)).collect();
    let header = EntryHeader { certain_until: i64::MAX, timestamps }.encode();
    let names = maintained.index.covers().iter().zip(&entry.covered);
    let covered = names.filter_map(|(name, it)| Some((name.as_bytes(), &it.as_ref()?.value[..])));
    for (qualifier, value) in std::iter::once((&b""[..], &header[..])).chain(covered) {
        let key = Key {
            row: &entry.key,
            family: ENTRY_FAMILY.as_bytes(),
            qualifier,
            timestamp: Timestamp::MIN.as_millis(),
            kind: CellKind::Put.code(),
        };
        cells.push(Cell::from_parts(key, value, &[])?);
    }
    Ok(())
}
