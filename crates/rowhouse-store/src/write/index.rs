//! Keeps indexes: finds the entries that a record's row changes add and remove.
//!
//! What a row shows is a function of time, which changes where a cell expires. A row has an entry
//! in the index table if it shows that entry at any time from now on, so that no reader misses one;
//! the entry says until when it is certain (`docs/decisions/0067-indexes.md`).

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, Error, ErrorKind, Key, Mutation, Result, RowRange, Scan, Timestamp,
    tags_with_ttl,
};
use rowhouse_schema::{ENTRY_FAMILY, EntryHeader};

use super::observe::{LockId, RowToLock};
use super::record_builder::RecordBuilder;
use super::row_entries::{Reads, RowChange, TimedEntry, TooLong, differing, entries_at, find};
use super::{copy, queue};
use crate::commits::{LockedRow, RowsGuard};
use crate::damage::is_damage;
use crate::engine::Engine;
use crate::indexed::{IndexedTables, MaintainedIndex, not_an_entry};
use crate::read::RowVersion;
use crate::region::Region;

/// The index table changes that belong to a record.
pub(super) enum EntryChanges {
    /// The cells to add, each with the region it goes to.
    Cells(Vec<(Arc<Region>, Cell)>),
    /// Rows or unique values that must be locked first, or whose region does not serve.
    Unlocked(Vec<RowToLock>),
}

/// Returns the entry changes that a record causes. The record's rows are locked by `rows`.
///
/// # Errors
/// `InvalidRequest` for a second row with a unique value, and for an entry that is too long; errors
/// from the reads.
pub(super) fn changes(
    indexed: &IndexedTables,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
    rows: &mut RowsGuard<'_>,
    now: Timestamp,
) -> Result<EntryChanges> {
    let mut updater = IndexUpdater::new(rows, now);
    let pending = OnceCell::new();
    let is_of_record = |id, _: &[u8]| regions.iter().any(|region| region.id() == id);
    let pending_cells = || pending.get_or_init(|| record.pending(is_of_record)).as_ref();
    let mut seen = BTreeSet::new();
    for &region in regions.iter().filter(|region| seen.insert(region.id())) {
        let Some(table) = indexed.get(&region.info().table)? else { continue };
        copy::add(&table.copies, record, region, &mut updater)?;
        let queued = queue::add(&table.searches, record, region, &mut updater)?;
        let decides =
            |family: &[u8]| !table.indexes.is_empty() && table.columns.selects_family(family);
        for (row, cells) in &record.cells_by_row(region.id(), decides) {
            let Some(reads) = Reads::of_change(table, row, cells)? else { continue };
            let (old, new) =
                RowChange { region, row, cells }.entries(table, &reads, &pending_cells)?;
            updater.change(region, row, &reads.indexes, old, new)?;
        }
        updater.note_queued(&queued);
    }
    updater.finish()
}

/// Collects entry changes.
pub(super) struct IndexUpdater<'k, 'l> {
    pub(super) rows: &'k mut RowsGuard<'l>,
    now: Timestamp,
    cells: Vec<(Arc<Region>, Cell)>,
    to_lock: Vec<RowToLock>,
    /// The entries with unique values that the record adds, by table and value, each with the row.
    unique: HashMap<(u64, Bytes), UniqueEntry>,
    /// The entries that the record removes, by table.
    removed: BTreeSet<(u64, Bytes)>,
    /// The first index in memory that gets cells, and the bytes of all such cells.
    in_memory: Option<(MaintainedIndex, u64)>,
    /// Whether the rows are written to an index that is being built.
    is_build: bool,
}

/// An entry of a unique index, whose value no other row's entry may equal.
struct UniqueEntry {
    maintained: MaintainedIndex,
    row: Bytes,
}

impl<'k, 'l> IndexUpdater<'k, 'l> {
    pub(super) fn new(rows: &'k mut RowsGuard<'l>, now: Timestamp) -> Self {
        Self {
            rows,
            now,
            cells: Vec::new(),
            to_lock: Vec::new(),
            unique: HashMap::new(),
            removed: BTreeSet::new(),
            in_memory: None,
            is_build: false,
        }
    }

    /// As [`IndexUpdater::new`], for an index build.
    pub(super) fn of_build(rows: &'k mut RowsGuard<'l>, now: Timestamp) -> Self {
        Self { is_build: true, ..Self::new(rows, now) }
    }

    /// Adds the changes to a row's entries.
    pub(super) fn change(
        &mut self,
        region: &Region,
        row: &[u8],
        indexes: &[&MaintainedIndex],
        old: Vec<Vec<TimedEntry>>,
        new: Vec<Vec<TimedEntry>>,
    ) -> Result<()> {
        let engine = region.engine();
        if old == new {
            return Ok(());
        }
        // The row's lock protects its entries, whose timestamps are stored with the row's.
        let place = engine.row_locks.place(region.id(), row).of_entries();
        let after = self.rows.after_of(place);
        let removed_at = self.now.max(engine.timestamps.issue_delete(after));
        let mut added_at = self.now.max(engine.timestamps.issue_put(after));
        let expires = |new: &TimedEntry| new.last < i64::MAX;
        if old.iter().zip(&new).any(|(old, new)| differing(old, new).any(expires)) {
            added_at = added_at.max(removed_at.saturating_add(1));
        }
        for ((maintained, old), new) in indexes.iter().zip(old).zip(new) {
            for entry in old.iter().filter(|old| find(&new, &old.key).is_none()) {
                note_garbage(maintained, entry);
                self.remove(maintained, &entry.key, removed_at)?;
                self.rows.note_delete_of(place, removed_at);
            }
            for entry in differing(&old, &new) {
                let had = find(&old, &entry.key);
                if had.is_none() {
                    self.claim(engine, maintained, row, entry)?;
                }
                if entry.last < i64::MAX {
                    // Older versions must not reappear once this one expires, not even stale ones.
                    self.push(maintained, removal(&entry.key, removed_at)?);
                    self.rows.note_delete_of(place, removed_at);
                }
                if had.is_some() || entry.last < i64::MAX {
                    note_garbage(maintained, entry);
                }
                self.add(maintained, had, entry, added_at)?;
                engine.timestamps.note_ahead(added_at);
                self.rows.note_put_of(place, added_at);
                if had.is_some_and(|had| had.loses_covered(entry)) {
                    self.rows.note_delete_of(place, added_at);
                }
            }
        }
        Ok(())
    }

    /// Removes from the index table the entries among `keys` that the row does not have.
    pub(super) fn sweep(
        &mut self,
        region: &Region,
        row: &[u8],
        maintained: &MaintainedIndex,
        keys: &[Bytes],
    ) -> Result<u64> {
        let engine = region.engine();
        let now = engine.timestamps.now_millis();
        let had = entries_at(region, row, maintained, RowVersion::Current, now, TooLong::ABSENT)?;
        let place = engine.row_locks.place(region.id(), row).of_entries();
        let removed_at = engine.timestamps.issue_delete(self.rows.after_of(place)).max(self.now);
        let mut removed = 0;
        for key in keys.iter().filter(|key| find(&had, key).is_none()) {
            self.remove(maintained, key, removed_at)?;
            self.rows.note_delete_of(place, removed_at);
            removed += 1;
        }
        Ok(removed)
    }

    fn remove(&mut self, maintained: &MaintainedIndex, key: &Bytes, at: Timestamp) -> Result<()> {
        self.push(maintained, removal(key, at)?);
        self.removed.insert((maintained.table.id(), key.clone()));
        Ok(())
    }

    fn add(
        &mut self,
        maintained: &MaintainedIndex,
        had: Option<&TimedEntry>,
        entry: &TimedEntry,
        at: Timestamp,
    ) -> Result<()> {
        let expires = entry.last < i64::MAX;
        let tags = if expires {
            tags_with_ttl(&[], entry.last.saturating_sub(at.as_millis()))
        } else {
            Vec::new()
        };
        let header = EntryHeader {
            certain_until: if entry.certain_until == entry.last {
                i64::MAX
            } else {
                entry.certain_until
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
        self.push(maintained, cell(b"", CellKind::Put, &header.encode())?);
        let covered = maintained.index.covers().iter().zip(&entry.covered).enumerate();
        for (nth, (name, covered)) in covered {
            let name = name.as_bytes();
            match covered {
                Some(covered) => self.push(maintained, cell(name, CellKind::Put, &covered.value)?),
                None if had.is_some_and(|had| had.covered[nth].is_some()) => {
                    self.push(maintained, cell(name, CellKind::DeleteColumn, b"")?);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Claims the value of a unique index entry, whose lock must be held.
    fn claim(
        &mut self,
        engine: &Engine,
        maintained: &MaintainedIndex,
        row: &[u8],
        entry: &TimedEntry,
    ) -> Result<()> {
        let Some(value) =
            maintained.index.unique_prefix(&entry.key).filter(|_| maintained.index.is_unique())
        else {
            return Ok(());
        };
        if !self.is_build {
            maintained.check_takes_values()?;
        }
        let value = Bytes::copy_from_slice(value);
        let lock = LockId::UniqueValue(maintained.table.id());
        let place: LockedRow = engine.row_locks.place(lock.number(), &value);
        if !self.rows.holds(place) {
            let region = Arc::clone(maintained.table.region_of(&value));
            self.to_lock.push(RowToLock { region, lock, row: value.clone() });
        }
        let row = Bytes::copy_from_slice(row);
        let claimed = UniqueEntry { maintained: maintained.clone(), row: row.clone() };
        match self.unique.insert((maintained.table.id(), value.clone()), claimed) {
            Some(other) if other.row != row => {
                Err(maintained.index.taken(&value, &other.row, &row))
            }
            _ => Ok(()),
        }
    }

    /// Adds a cell in an index's table, unless the index is off.
    pub(super) fn push(&mut self, maintained: &MaintainedIndex, cell: Cell) {
        if maintained.is_off() {
            return;
        }
        let region = Arc::clone(maintained.table.region_of(cell.row()));
        if !region.is_serving() {
            let lock = LockId::Region(region.id());
            let row = cell.row_bytes();
            self.to_lock.push(RowToLock { region: Arc::clone(&region), lock, row });
        }
        if maintained.index.is_in_memory() {
            let (_, bytes) = self.in_memory.get_or_insert_with(|| (maintained.clone(), 0));
            *bytes += cell.as_bytes().len() as u64;
        }
        self.cells.push((region, cell));
    }

    pub(super) fn finish(mut self) -> Result<EntryChanges> {
        if !self.to_lock.is_empty() {
            return Ok(EntryChanges::Unlocked(self.to_lock));
        }
        if let Some(full) = self.find_full_memory()? {
            return Ok(EntryChanges::Unlocked(vec![full]));
        }
        for ((_, value), UniqueEntry { maintained, row }) in &self.unique {
            match self.check_value(maintained, value, row) {
                Ok(None) => {}
                Ok(Some(closed)) => return Ok(EntryChanges::Unlocked(vec![closed])),
                Err(error) if is_damage(&error) => {
                    let unlocked = vec![damaged(maintained, value, &error)];
                    return if self.is_build {
                        Err(error)
                    } else {
                        Ok(EntryChanges::Unlocked(unlocked))
                    };
                }
                Err(error) => return Err(error),
            }
        }
        // One region's cells follow each other.
        self.cells.sort_by_key(|(region, _)| region.id());
        Ok(EntryChanges::Cells(self.cells))
    }

    /// Reports an index in memory if the cells have no room: it must be off before the next
    /// attempt. Of several, the first one is.
    ///
    /// # Errors
    /// For a build, the error that says so.
    fn find_full_memory(&self) -> Result<Option<RowToLock>> {
        let Some((maintained, bytes)) = &self.in_memory else { return Ok(None) };
        let region = &maintained.table.regions()[0];
        let engine = region.engine();
        let Err(error) = engine.index_memory.check(*bytes) else { return Ok(None) };
        engine.files.damage.note_table(maintained.table.id(), &error);
        if self.is_build {
            return Err(error);
        }
        let lock = LockId::Region(region.id());
        Ok(Some(RowToLock { region: Arc::clone(region), lock, row: Bytes::new() }))
    }

    /// Checks that no other row than `row` has this value in a unique index. Returns a region that
    /// must serve first, if one does not.
    fn check_value(
        &self,
        maintained: &MaintainedIndex,
        value: &Bytes,
        row: &Bytes,
    ) -> Result<Option<RowToLock>> {
        let mut scan = Scan::new(RowRange::prefix(value));
        scan.columns.add_column(ENTRY_FAMILY, Bytes::new());
        let regions = maintained.table.regions_now().into_iter();
        for region in regions.filter(|region| region.info().range.overlaps(&scan.range)) {
            let mut entries = match region.scan_uncounted(&scan) {
                Ok(entries) => entries,
                // Who closes the region may wait for this write, which so must not wait.
                Err(error) if error.kind() == ErrorKind::NotServingRegion => {
                    let region = Arc::clone(region);
                    let row = value.clone();
                    let lock = LockId::Region(region.id());
                    return Ok(Some(RowToLock { region, lock, row }));
                }
                Err(error) => return Err(error),
            };
            while let Some(entry) = entries.next()? {
                let key = Bytes::copy_from_slice(entry.key());
                if self.removed.contains(&(maintained.table.id(), key.clone())) {
                    continue;
                }
                let owner = maintained.index.row_key(&key);
                let owner = owner.map_err(|why| not_an_entry(&maintained.table, &key, &why))?;
                if owner != row[..] {
                    return Err(maintained.index.taken(value, &owner, row));
                }
            }
        }
        Ok(None)
    }
}

/// Reports that an index's data is damaged, which a write needs: all locks are released, and the
/// index is off before the next attempt.
pub(super) fn damaged(maintained: &MaintainedIndex, row: &Bytes, error: &Error) -> RowToLock {
    let region = Arc::clone(maintained.table.region_of(row));
    region.engine().files.damage.note_table(maintained.table.id(), error);
    let lock = LockId::Region(region.id());
    RowToLock { region, lock, row: row.clone() }
}

/// The bytes that an entry takes in a memstore besides the key and the covered values, and as much
/// again for the marker that removes it.
const ENTRY_BYTES: usize = 200;

/// Notes that a row has an entry no more, or another one in its place.
fn note_garbage(maintained: &MaintainedIndex, entry: &TimedEntry) {
    if !maintained.index.is_in_memory() {
        return;
    }
    let covered = entry.covered.iter().flatten().map(|covered| covered.value.len());
    let bytes = 2 * entry.key.len() + covered.sum::<usize>() + ENTRY_BYTES;
    let families = maintained.table.region_of(&entry.key).families().iter();
    families.filter_map(|it| it.in_memory()).for_each(|it| it.note_garbage(bytes as u64));
}

fn removal(key: &Bytes, at: Timestamp) -> Result<Cell> {
    Cell::new(key.clone(), ENTRY_FAMILY.as_bytes(), b"", at, CellKind::DeleteFamily, b"")
}

/// Counts the writes that observers and indexes have added to a record, each index entry as one.
pub(super) fn count_added(additions: &[(Arc<Region>, Mutation)], entries: &[(Arc<Region>, Cell)]) {
    additions.iter().for_each(|(region, it)| region.count_writes(std::slice::from_ref(it)));
    entries.iter().for_each(|(region, cell)| region.count_written(std::slice::from_ref(cell)));
}
