//! Keeps indexes: finds the entries that a record's changes of rows add and remove.
//!
//! What a row shows is a function of time, which changes where a cell expires. A row has an entry
//! in the index table if it shows that entry at any time from now on, so that no reader misses one;
//! the entry says until when it is certain (`docs/decisions/0067-indexes.md`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, CellRef, Columns, Error, ErrorKind, Get, Key, KeyValue, Mutation,
    Result, Row, RowRange, Scan, Timestamp, escape, tags_with_ttl,
};
use rowhouse_schema::{Covered, ENTRY_FAMILY, EntryHeader, Index};

use super::observe::{LockId, RowToLock};
use super::record_builder::RecordBuilder;
use super::{copy, queue};
use crate::commits::{LockedRow, RowsGuard};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::indexed::{IndexedTable, IndexedTables, KeptIndex};
use crate::read::{RowVersion, TimedRow, read_row_at_time};
use crate::region::Region;

/// The changes of index tables that belong to a record.
pub(super) enum EntryChanges {
    /// The cells to add, each with its region.
    Cells(Vec<(Arc<Region>, Cell)>),
    /// Rows or unique values that must be locked first, or whose region does not serve.
    Unlocked(Vec<RowToLock>),
}

/// Returns the changes of entries that a record causes. The rows of the record are locked by
/// `rows`.
///
/// # Errors
/// `InvalidRequest` for a second row with a unique value, and for an entry that is too long; those
/// of the reads.
pub(super) fn changes(
    indexed: &IndexedTables,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
    rows: &mut RowsGuard<'_>,
    now: Timestamp,
) -> Result<EntryChanges> {
    let mut keeper = Keeper::new(rows, now);
    let mut pending = None;
    let mut seen = BTreeSet::new();
    for &region in regions.iter().filter(|region| seen.insert(region.id())) {
        let Some(table) = indexed.get(&region.info().table)? else { continue };
        copy::add(&table.copies, record, region, &mut keeper)?;
        let queued = queue::add(&table.searches, record, region, &mut keeper)?;
        let decides =
            |family: &[u8]| !table.indexes.is_empty() && table.columns.selects_family(family);
        for (row, cells) in record.cells_by_row(region.id(), decides) {
            let get = get(row, table)?;
            let before = |now| region.read_row_at_time(&get, RowVersion::Current, now);
            let now = region.engine().timestamps.now_millis();
            let row_now = before(now)?;
            let new_row = row_with(&row_now, &cells, &table.columns);
            let old = timed_entries(&table.indexes, row, now, TooLong::Absent, row_now, before)?;
            // A row that was there before the index can be changed and deleted.
            let too_long = if old.has_too_long { TooLong::Absent } else { TooLong::Refused };
            let new = match new_row {
                Some(new_row) => {
                    timed_entries(&table.indexes, row, now, too_long, new_row, |_| {
                        unreachable!("it does not expire")
                    })?
                }
                None => {
                    let is_wanted = |id, _: &[u8]| regions.iter().any(|region| region.id() == id);
                    let pending = pending.get_or_insert_with(|| record.pending(is_wanted));
                    let version = pending.as_ref().map_or(RowVersion::Current, RowVersion::With);
                    let after = |now| region.read_row_at_time(&get, version, now);
                    timed_entries(&table.indexes, row, now, too_long, after(now)?, after)?
                }
            };
            keeper.change(region, row, &table.indexes, old.entries, new.entries)?;
        }
        keeper.note_queued(&queued);
    }
    keeper.finish()
}

fn get(row: &[u8], table: &IndexedTable) -> Result<Get> {
    let mut get = Get::new(Bytes::copy_from_slice(row))?;
    get.columns = Columns::clone(&table.columns);
    Ok(get)
}

/// An entry that a row has at some time from now on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedEntry {
    pub(super) key: Bytes,
    covered: Vec<Option<Covered>>,
    /// The last millisecond up to which the row is certain to have it with these covered cells; -1
    /// if it has it only later.
    certain_until: i64,
    /// The last millisecond at which the row has it; `i64::MAX` if it does not expire.
    last: i64,
    /// Whether the row has had it without interruption so far.
    is_unbroken: bool,
}

impl TimedEntry {
    /// Whether a covered column of this entry has no cell in the next one.
    fn loses_covered(&self, next: &Self) -> bool {
        self.covered.iter().zip(&next.covered).any(|(old, new)| old.is_some() && new.is_none())
    }

    /// Whether the row of an index table holds the entry, with its covered cells if it is certain.
    pub(super) fn is_stored_as(&self, kept: &KeptIndex, stored: &Row, now: i64) -> Result<bool> {
        let Some(header) = stored.value(ENTRY_FAMILY, b"") else { return Ok(false) };
        let header = EntryHeader::decode(&header)?;
        if !header.is_certain_at(now) {
            return Ok(true);
        }
        let mut covered = kept.index.covers().iter().zip(&header.timestamps).zip(&self.covered);
        Ok(covered.all(|((name, timestamp), covered)| match covered {
            None => timestamp.is_none(),
            Some(covered) => {
                *timestamp == Some(covered.timestamp)
                    && stored.value(ENTRY_FAMILY, name).as_ref() == Some(&covered.value)
            }
        }))
    }
}

/// Returns a row as it is once these cells are committed, if nothing in it expires or is covered by
/// a marker. It spares a second read of the row.
fn row_with(
    before: &TimedRow,
    cells: &[(&FamilyStore, CellRef<'_>)],
    columns: &Columns,
) -> Option<TimedRow> {
    let is_plain = |(family, cell): &(&FamilyStore, CellRef<'_>)| {
        cell.kind() == CellKind::Put
            && cell.tags.is_empty()
            && cell.key.timestamp > before.newest_marker_millis
            && family.retention().expires_after_millis().is_none()
    };
    if before.until_millis < i64::MAX || !cells.iter().all(is_plain) {
        return None;
    }
    // Of two cells at one timestamp the later one counts.
    let added = cells.iter().rev().map(|(_, cell)| *cell);
    let added = added.filter(|cell| columns.has_column(cell.key.family, cell.key.qualifier));
    let mut cells: Vec<_> = added.chain(before.row.cells().map(KeyValue::view)).collect();
    cells.sort_by(|a, b| a.key.cmp(&b.key));
    cells.dedup_by(|later, first| {
        (later.key.family, later.key.qualifier) == (first.key.family, first.key.qualifier)
    });
    let row = Row::new(cells.iter().map(CellRef::to_cell).collect());
    Some(TimedRow { row, ..*before })
}

/// The entries of a row from a time on, for each index.
pub(super) struct RowEntries {
    pub(super) entries: Vec<Vec<TimedEntry>>,
    /// Whether the row would have entries that are too long.
    has_too_long: bool,
}

/// What an entry that is too long for its index means.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TooLong {
    /// The change that makes the row have it is refused.
    Refused,
    /// The row has no such entry: it was there before the index was.
    Absent,
}

/// Returns the entries of a row from a time on, for each index. `row_now` is the row at that time,
/// and `read` reads it at later ones.
pub(super) fn timed_entries(
    indexes: &[KeptIndex],
    row: &[u8],
    mut now: i64,
    too_long: TooLong,
    mut row_now: TimedRow,
    read: impl Fn(i64) -> Result<TimedRow>,
) -> Result<RowEntries> {
    let mut entries: Vec<Vec<TimedEntry>> = vec![Vec::new(); indexes.len()];
    let (mut first, mut has_too_long) = (true, false);
    loop {
        let TimedRow { row: cells, until_millis, .. } = row_now;
        for (kept, entries) in indexes.iter().zip(&mut entries) {
            let found = match kept.index.entries(row, &cells) {
                Err(error)
                    if too_long == TooLong::Absent && error.kind() == ErrorKind::InvalidRequest =>
                {
                    has_too_long = true;
                    continue;
                }
                found => found?,
            };
            for entry in found {
                add_timed(entries, entry.key, entry.covered, (now, until_millis), first);
            }
        }
        if until_millis == i64::MAX {
            return Ok(RowEntries { entries, has_too_long });
        }
        first = false;
        now = until_millis + 1;
        row_now = read(now)?;
    }
}

/// Adds an entry that a row has from `from` until `until`.
fn add_timed(
    entries: &mut Vec<TimedEntry>,
    key: Bytes,
    covered: Vec<Option<Covered>>,
    (from, until): (i64, i64),
    first: bool,
) {
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == key) else {
        let certain_until = if first { until } else { -1 };
        entries.push(TimedEntry { key, covered, certain_until, last: until, is_unbroken: first });
        return;
    };
    entry.is_unbroken &= entry.last == from - 1 && entry.covered == covered;
    if entry.is_unbroken {
        entry.certain_until = until;
    }
    entry.last = until;
}

/// Collects the changes of entries.
pub(super) struct Keeper<'k, 'l> {
    pub(super) rows: &'k mut RowsGuard<'l>,
    now: Timestamp,
    cells: Vec<(Arc<Region>, Cell)>,
    to_lock: Vec<RowToLock>,
    /// The entries with unique values that the record adds, by table and value, each with its row.
    unique: HashMap<(u64, Bytes), UniqueEntry>,
    /// The entries that the record removes, by table.
    removed: BTreeSet<(u64, Bytes)>,
}

/// An entry of a unique index, which no entry of another row may equal in its value.
struct UniqueEntry {
    kept: KeptIndex,
    row: Bytes,
}

impl<'k, 'l> Keeper<'k, 'l> {
    pub(super) fn new(rows: &'k mut RowsGuard<'l>, now: Timestamp) -> Self {
        Self {
            rows,
            now,
            cells: Vec::new(),
            to_lock: Vec::new(),
            unique: HashMap::new(),
            removed: BTreeSet::new(),
        }
    }

    /// Adds the changes of a row's entries.
    pub(super) fn change(
        &mut self,
        region: &Region,
        row: &[u8],
        indexes: &[KeptIndex],
        old: Vec<Vec<TimedEntry>>,
        new: Vec<Vec<TimedEntry>>,
    ) -> Result<()> {
        let engine = region.engine();
        if old == new {
            return Ok(());
        }
        // The lock of the row protects its entries, whose timestamps are kept with the row's.
        let place = engine.row_locks.place(region.id(), row).of_entries();
        let after = self.rows.after_of(place);
        let removed_at = self.now.max(engine.timestamps.issue_delete(after));
        let mut added_at = self.now.max(engine.timestamps.issue_put(after));
        let expires = |(old, new): (&Vec<TimedEntry>, &Vec<TimedEntry>)| {
            new.iter().any(|new| new.last < i64::MAX && !old.contains(new))
        };
        if old.iter().zip(&new).any(expires) {
            added_at = added_at.max(removed_at.saturating_add(1));
        }
        for ((kept, old), new) in indexes.iter().zip(old).zip(new) {
            for entry in old.iter().filter(|old| !new.iter().any(|new| new.key == old.key)) {
                self.remove(kept, &entry.key, removed_at)?;
                self.rows.note_delete_of(place, removed_at);
            }
            for entry in new {
                let had = old.iter().find(|old| old.key == entry.key);
                if had == Some(&entry) {
                    continue;
                }
                if had.is_none() {
                    self.claim(engine, kept, row, &entry)?;
                }
                if entry.last < i64::MAX {
                    // Older versions must not reappear once this one expires, not even stale ones.
                    self.push(kept, removal(&entry.key, removed_at)?);
                    self.rows.note_delete_of(place, removed_at);
                }
                self.add(kept, had, &entry, added_at)?;
                engine.timestamps.note_ahead(added_at);
                self.rows.note_put_of(place, added_at);
                if had.is_some_and(|had| had.loses_covered(&entry)) {
                    self.rows.note_delete_of(place, added_at);
                }
            }
        }
        Ok(())
    }

    /// Removes those entries of a row in the index table, `keys`, that the row does not have.
    pub(super) fn sweep(
        &mut self,
        region: &Region,
        row: &[u8],
        kept: &KeptIndex,
        keys: &[Bytes],
        read: impl Fn(i64) -> Result<TimedRow>,
    ) -> Result<u64> {
        let engine = region.engine();
        let now = engine.timestamps.now_millis();
        let had =
            timed_entries(std::slice::from_ref(kept), row, now, TooLong::Absent, read(now)?, read)?;
        let place = engine.row_locks.place(region.id(), row).of_entries();
        let removed_at = engine.timestamps.issue_delete(self.rows.after_of(place)).max(self.now);
        let mut removed = 0;
        for key in keys.iter().filter(|key| !had.entries[0].iter().any(|had| had.key == **key)) {
            self.remove(kept, key, removed_at)?;
            self.rows.note_delete_of(place, removed_at);
            removed += 1;
        }
        Ok(removed)
    }

    fn remove(&mut self, kept: &KeptIndex, key: &Bytes, at: Timestamp) -> Result<()> {
        self.push(kept, removal(key, at)?);
        self.removed.insert((kept.table.id(), key.clone()));
        Ok(())
    }

    fn add(
        &mut self,
        kept: &KeptIndex,
        had: Option<&TimedEntry>,
        entry: &TimedEntry,
        at: Timestamp,
    ) -> Result<()> {
        let expires = entry.last < i64::MAX;
        let tags = match expires {
            true => tags_with_ttl(&[], entry.last.saturating_sub(at.as_millis())),
            false => Vec::new(),
        };
        let header = EntryHeader {
            certain_until: match entry.certain_until == entry.last {
                true => i64::MAX,
                false => entry.certain_until,
            },
            timestamps: entry.covered.iter().map(|it| it.as_ref().map(|it| it.timestamp)).collect(),
        };
        let cell = |qualifier: &[u8], kind: CellKind, value: &[u8]| {
            let key = Key {
                row: &entry.key,
                family: ENTRY_FAMILY.as_bytes(),
                qualifier,
                timestamp: at.as_millis(),
                kind: kind.code(),
            };
            Cell::from_parts(key, value, if kind == CellKind::Put { &tags } else { &[] })
        };
        self.push(kept, cell(b"", CellKind::Put, &header.encode())?);
        let covered = kept.index.covers().iter().zip(&entry.covered).enumerate();
        for (nth, (name, covered)) in covered {
            let name = name.as_bytes();
            match covered {
                Some(covered) => self.push(kept, cell(name, CellKind::Put, &covered.value)?),
                None if had.is_some_and(|had| had.covered[nth].is_some()) => {
                    self.push(kept, cell(name, CellKind::DeleteColumn, b"")?);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Claims the value of an entry of a unique index, whose lock must be held.
    fn claim(
        &mut self,
        engine: &Engine,
        kept: &KeptIndex,
        row: &[u8],
        entry: &TimedEntry,
    ) -> Result<()> {
        let Some(value) = kept.index.unique_prefix(&entry.key).filter(|_| kept.index.is_unique())
        else {
            return Ok(());
        };
        let value = Bytes::copy_from_slice(value);
        let lock = LockId::UniqueValue(kept.table.id());
        let place: LockedRow = engine.row_locks.place(lock.number(), &value);
        if !self.rows.holds(place) {
            let region = Arc::clone(kept.table.region_of(&value));
            self.to_lock.push(RowToLock { region, lock, row: value.clone() });
        }
        let row = Bytes::copy_from_slice(row);
        let claimed = UniqueEntry { kept: kept.clone(), row: row.clone() };
        match self.unique.insert((kept.table.id(), value.clone()), claimed) {
            Some(other) if other.row != row => Err(kept.index.taken(&value, &other.row, &row)),
            _ => Ok(()),
        }
    }

    /// Adds a cell of an index's table.
    pub(super) fn push(&mut self, kept: &KeptIndex, cell: Cell) {
        let region = Arc::clone(kept.table.region_of(cell.row()));
        if !region.is_serving() {
            let (lock, row) = (LockId::Region(region.id()), cell.row_bytes());
            self.to_lock.push(RowToLock { region: Arc::clone(&region), lock, row });
        }
        self.cells.push((region, cell));
    }

    pub(super) fn finish(mut self) -> Result<EntryChanges> {
        if !self.to_lock.is_empty() {
            return Ok(EntryChanges::Unlocked(self.to_lock));
        }
        for ((table, value), UniqueEntry { kept, row }) in &self.unique {
            let mut scan = Scan::new(RowRange::prefix(value));
            scan.columns.add_column(ENTRY_FAMILY, Bytes::new());
            let regions = kept.table.regions_now().into_iter();
            for region in regions.filter(|region| region.info().range.overlaps(&scan.range)) {
                let mut entries = match region.scan_uncounted(&scan) {
                    Ok(entries) => entries,
                    // Who closes the region may wait for this write, which so must not wait.
                    Err(error) if error.kind() == ErrorKind::NotServingRegion => {
                        let (region, row) = (Arc::clone(region), value.clone());
                        let lock = LockId::Region(region.id());
                        return Ok(EntryChanges::Unlocked(vec![RowToLock { region, lock, row }]));
                    }
                    Err(error) => return Err(error),
                };
                while let Some(entry) = entries.next()? {
                    let key = Bytes::copy_from_slice(entry.key());
                    if self.removed.contains(&(*table, key.clone())) {
                        continue;
                    }
                    let owner = kept.index.row_key(&key);
                    let owner = owner.map_err(|why| corrupt(&kept.index, &key, &why))?;
                    if owner != row[..] {
                        return Err(kept.index.taken(value, &owner, row));
                    }
                }
            }
        }
        // Cells of one region follow each other.
        self.cells.sort_by_key(|(region, _)| region.id());
        Ok(EntryChanges::Cells(self.cells))
    }
}

fn removal(key: &Bytes, at: Timestamp) -> Result<Cell> {
    Cell::new(key.clone(), ENTRY_FAMILY.as_bytes(), b"", at, CellKind::DeleteFamily, b"")
}

fn corrupt(index: &Index, key: &[u8], why: &rowhouse_schema::KeyMismatch) -> Error {
    let (name, key) = (index.name(), escape(key));
    Error::corruption(format!("an entry of index {name} does not fit its template: {why}: {key}"))
}

/// Adds cells to a record.
pub(super) fn extend<'a>(
    mut record: RecordBuilder<'a>,
    mut regions: Vec<&'a Region>,
    cells: &'a [(Arc<Region>, Cell)],
) -> Result<(RecordBuilder<'a>, Vec<&'a Region>)> {
    for (region, cell) in cells {
        record.push(region.family(cell.family())?, cell, None);
        if !regions.iter().any(|known| known.id() == region.id()) {
            regions.push(region);
        }
    }
    Ok((record, regions))
}

/// Counts the writes that observers and indexes have added to a record, each entry of an index as
/// one.
pub(super) fn count_added(additions: &[(Arc<Region>, Mutation)], entries: &[(Arc<Region>, Cell)]) {
    additions.iter().for_each(|(region, it)| region.count_writes(std::slice::from_ref(it)));
    entries.iter().for_each(|(region, cell)| region.count_written(std::slice::from_ref(cell)));
}

impl Region {
    /// Reads a version of a row as it is at a time.
    ///
    /// # Errors
    /// `UnknownScanner` if the version cannot be read any more.
    pub(crate) fn read_row_at_time(
        &self,
        get: &Get,
        version: RowVersion<'_>,
        now_millis: i64,
    ) -> Result<TimedRow> {
        let context = self.engine().read_context();
        let row = read_row_at_time(&context, self.families(), get, version, now_millis)?;
        row.ok_or_else(|| {
            let message = "the row cannot be read any more as it was before a load";
            Error::new(ErrorKind::UnknownScanner, message)
        })
    }
}
