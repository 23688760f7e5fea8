//! Keeps copies: tables that have every row of their base table under another key
//! (`docs/decisions/0071-copies-and-promotion.md`).
//!
//! Cells are copied as they are. Flushes and compactions in the two tables drop cells at different
//! times, which shows only when a single-version marker uncovers an older one: before that the rows
//! in all tables are made to have the same versions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowhouse_model::{
    Bytes, Cell, CellKind, CellRef, Columns, Durability, Error, Get, KeepDeletedCells, Key,
    Qualifiers, Result,
};

use super::commit::{self, Committed};
use super::index::{self, IndexUpdater};
use super::index_fill::{Differences, commit_entries, stored_at};
use super::lock::{LockId, RowToLock, admit_entries, admit_unlocked, lock, out_of_service};
use super::record::Attempted;
use super::record_builder::RecordBuilder;
use super::steady::hold_steady;
use crate::damage::is_damage;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::indexed::{IndexedTable, IndexedTables, MaintainedIndex};
use crate::read::{RowVersion, own_ttl, stored_cells};
use crate::region::Region;
use crate::space::Need;
use crate::wait_mode::WaitMode;

/// Adds the copies of a record's cells in a region.
///
/// # Errors
/// `InvalidRequest` for a row whose key a copy cannot hold.
pub(super) fn add(
    copies: &[MaintainedIndex],
    record: &RecordBuilder<'_>,
    region: &Region,
    updater: &mut IndexUpdater<'_, '_>,
) -> Result<()> {
    if copies.is_empty() {
        return Ok(());
    }
    for (row, cells) in record.cells_by_row(region.id(), |_| true) {
        for maintained in copies {
            let Some(key) = maintained.index.copy_key(row)? else {
                // A record for a region that was replaced is not committed.
                let has_put = || cells.iter().any(|(_, cell)| cell.kind() == CellKind::Put);
                if region.is_serving() && has_put() {
                    maintained.table.misfits_written.fetch_add(1, Ordering::AcqRel);
                }
                continue;
            };
            for (_, cell) in &cells {
                updater.push(maintained, under_key(cell, &key)?);
            }
        }
    }
    Ok(())
}

fn under_key(cell: &CellRef<'_>, row: &[u8]) -> Result<Cell> {
    Cell::from_parts(Key { row, ..cell.key }, cell.value, cell.tags)
}

/// A row whose copies are made equal to it.
struct Level<'r> {
    region: &'r Region,
    table: &'r IndexedTable,
    row: Bytes,
    /// The columns in which the record deletes single versions.
    columns: Columns,
}

/// Returns the rows in which a record deletes single versions, in families whose surplus versions
/// compactions drop.
fn levels<'r>(
    indexed: &'r IndexedTables,
    record: &RecordBuilder<'_>,
    regions: &[&'r Region],
) -> Result<Vec<Level<'r>>> {
    let mut levels = Vec::new();
    for (nth, &region) in regions.iter().enumerate() {
        let is_seen = regions[..nth].iter().any(|seen| seen.id() == region.id());
        let Some(table) = indexed.get(&region.info().table)? else { continue };
        if is_seen || table.copies.is_empty() {
            continue;
        }
        for (row, cells) in record.cells_by_row(region.id(), |_| true) {
            let is_version_marker = |(family, cell): &&(&FamilyStore, CellRef<'_>)| {
                let kind = cell.kind();
                matches!(kind, CellKind::DeleteVersion | CellKind::DeleteFamilyVersion)
                    && drops_versions(family)
            };
            let mut columns: Option<Columns> = None;
            for (family, cell) in cells.iter().filter(is_version_marker) {
                let mut of_cell = Columns::all();
                match cell.kind() {
                    CellKind::DeleteFamilyVersion => of_cell.add_family(family.name().clone()),
                    _ => of_cell.add_column(
                        family.name().clone(),
                        Bytes::copy_from_slice(cell.key.qualifier),
                    ),
                }
                columns.get_or_insert_with(|| of_cell.clone()).include(&of_cell);
            }
            if let Some(columns) = columns {
                let row = Bytes::copy_from_slice(row);
                levels.push(Level { region, table, row, columns });
            }
        }
    }
    Ok(levels)
}

/// Whether flushes or compactions of a steady family drop versions that have not expired.
fn drops_versions(family: &FamilyStore) -> bool {
    let descriptor = family.descriptor();
    descriptor.keep_deleted_cells() == KeepDeletedCells::False && !descriptor.new_version_behavior()
}

/// Returns the regions that hold copies of the rows in which a record deletes single versions.
///
/// # Errors
/// As [`add`].
pub(super) fn regions_to_level(
    indexed: &IndexedTables,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
) -> Result<Vec<Arc<Region>>> {
    let mut targets: Vec<Arc<Region>> = Vec::new();
    for Level { table, row, .. } in levels(indexed, record, regions)? {
        for maintained in table.copies.iter().filter(|maintained| !maintained.is_off()) {
            let Some(key) = maintained.index.copy_key(&row)? else { continue };
            let region = maintained.table.region_of(&key);
            if !targets.iter().any(|known| Arc::ptr_eq(known, region)) {
                targets.push(Arc::clone(region));
            }
        }
    }
    Ok(targets)
}

/// Makes the rows in which a record deletes single versions have the same versions as their copies:
/// what one row lacks is written to all. No read shows it until the record is committed. The
/// record's regions and `held`, the copies' regions, are steady until then.
///
/// Returns rows whose regions must serve first, if any.
///
/// # Errors
/// Errors from the reads and the log.
pub(super) fn level(
    indexed: &IndexedTables,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
    held: &[Arc<Region>],
) -> Result<Vec<RowToLock>> {
    let mut rounds = Rounds::default();
    for Level { region, table, row, columns } in levels(indexed, record, regions)? {
        let mut places: Vec<(&Region, Bytes)> = vec![(region, row.clone())];
        let mut copies = Vec::new();
        for maintained in table.copies.iter().filter(|maintained| !maintained.is_off()) {
            let Some(key) = maintained.index.copy_key(&row)? else { continue };
            let copy = maintained.table.region_of(&key);
            if !copy.is_serving() || !held.iter().any(|held| Arc::ptr_eq(held, copy)) {
                let region = Arc::clone(copy);
                let lock = LockId::Region(copy.id());
                return Ok(vec![RowToLock { region, lock, row: key }]);
            }
            places.push((copy, key));
            copies.push(maintained);
        }
        for (family, qualifiers) in columns.families() {
            let missing = match missing(&places, family, qualifiers) {
                Err((place, error)) if place > 0 && is_damage(&error) => {
                    return Ok(vec![index::damaged(copies[place - 1], &places[place].1, &error)]);
                }
                missing => missing.map_err(|(_, error)| error)?,
            };
            for (nth, cell) in missing {
                for (region, key) in &places {
                    rounds.add(nth, region, under_key(&cell.view(), key)?);
                }
            }
        }
    }
    rounds.commit(regions, held)
}

/// Returns the puts that not all these rows have, each with the round in which it is to be written
/// again.
///
/// # Errors
/// Errors from the reads, each with the place that was read.
fn missing(
    places: &[(&Region, Bytes)],
    family: &[u8],
    qualifiers: &Qualifiers,
) -> Result<Vec<(usize, Cell)>, (usize, Error)> {
    let mut stacks = Vec::with_capacity(places.len());
    for (place, (region, row)) in places.iter().enumerate() {
        let now = region.engine().timestamps.now_millis();
        let context = region.engine().read_context();
        let cells = region.family(family);
        let cells = cells.and_then(|store| stored_cells(&context, store, row, qualifiers));
        stacks.push(put_stacks(cells.map_err(|error| (place, error))?, now));
    }
    let mut longest: BTreeMap<(Bytes, i64), Vec<Cell>> = BTreeMap::new();
    for stack in &stacks {
        for (version, puts) in stack {
            let most = longest.entry(version.clone()).or_default();
            if most.len() < puts.len() {
                most.clone_from(puts);
            }
        }
    }
    longest.retain(|version, most| {
        let len = |stack: &Stacks| stack.get(version).map_or(0, Vec::len);
        stacks.iter().any(|stack| len(stack) < most.len())
    });
    Ok(longest.into_values().flat_map(|stack| stack.into_iter().rev().enumerate()).collect())
}

/// The puts for each version (qualifier and timestamp) that can be seen: the newest, and the older
/// ones that outlive all newer ones.
type Stacks = BTreeMap<(Bytes, i64), Vec<Cell>>;

fn put_stacks(cells: Vec<(u64, Cell)>, now: i64) -> Stacks {
    let mut stacks = Stacks::new();
    for (_, cell) in cells {
        let view = cell.view();
        if view.kind() != CellKind::Put || last_millis(&view) < now {
            continue;
        }
        let version = (Bytes::copy_from_slice(view.key.qualifier), view.key.timestamp);
        let puts = stacks.entry(version).or_default();
        if puts.last().is_none_or(|above| last_millis(&above.view()) < last_millis(&view)) {
            puts.push(cell);
        }
    }
    stacks
}

/// Returns the last millisecond of a cell's own time to live; `i64::MAX` without one.
fn last_millis(cell: &CellRef<'_>) -> i64 {
    own_ttl(cell).map_or(i64::MAX, |ttl| cell.key.timestamp.saturating_add(ttl))
}

/// Cells to write in several commits: a record holds only one cell per version.
#[derive(Default)]
struct Rounds<'r> {
    cells: Vec<Vec<(&'r Region, Cell)>>,
}

impl<'r> Rounds<'r> {
    fn add(&mut self, round: usize, region: &'r Region, cell: Cell) {
        if self.cells.len() <= round {
            self.cells.resize_with(round + 1, Vec::new);
        }
        self.cells[round].push((region, cell));
    }

    /// Commits the cells for these regions and for `copies`, whose rows are locked. Returns the
    /// copies that do not serve, if any.
    fn commit(mut self, regions: &[&Region], copies: &[Arc<Region>]) -> Result<Vec<RowToLock>> {
        let Some(engine) = regions.first().map(|region| region.engine()) else {
            return Ok(Vec::new());
        };
        for round in &mut self.cells {
            round.sort_by_key(|(region, _)| region.id());
            let mut record = RecordBuilder::default();
            for (region, cell) in &*round {
                record.push(region.family(cell.family())?, cell, None);
            }
            let _latch = engine.freeze_latch.read();
            regions.iter().try_for_each(|region| region.check_serving())?;
            let closed = out_of_service(copies.iter().map(|region| (region, Bytes::new())));
            if !closed.is_empty() {
                return Ok(closed);
            }
            record.check_families()?;
            // Synced with, or before, the record that needs them.
            let _ = commit::commit(engine, record, Durability::AsyncWal)?;
        }
        Ok(Vec::new())
    }
}

/// Writes the cells of rows to their copies. The rows are in one region.
///
/// # Errors
/// `InvalidRequest` for a row whose key the copy cannot hold; errors from reads and the log.
pub(super) fn fill(
    region: &Arc<Region>,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
) -> Result<()> {
    let engine: &Engine = region.engine();
    let mut more: Vec<RowToLock> = Vec::new();
    'again: for attempt in 0.. {
        admit_entries(maintained, Need::Room)?;
        admit_unlocked(&more, std::iter::once(&**region))?;
        let ids = rows.iter().map(|row| (region.id(), &row[..]));
        let mut locked = lock(engine, ids, &more, attempt, WaitMode::Blocking).done();
        region.check_serving()?;
        let _steady = hold_steady(&[region]);
        let mut rounds: Vec<Vec<Cell>> = Vec::new();
        for row in rows {
            let Some(key) = maintained.index.copy_key(row)? else { continue };
            for family in region.families() {
                let cells = stored_cells(&engine.read_context(), family, row, &Qualifiers::all())?;
                for (nth, cell) in in_rounds(family, cells) {
                    if rounds.len() <= nth {
                        rounds.resize_with(nth + 1, Vec::new);
                    }
                    rounds[nth].push(under_key(&cell.view(), &key)?);
                }
            }
        }
        let mut committed = Committed::nothing();
        for round in rounds {
            let mut updater = IndexUpdater::new(&mut locked, engine.timestamps.issue());
            round.into_iter().for_each(|cell| updater.push(maintained, cell));
            match commit_entries(region, updater)? {
                Attempted::Done(round) => committed.include(round?),
                Attempted::Again(rows) => {
                    more.extend(rows);
                    continue 'again;
                }
            }
        }
        drop(locked);
        return committed.wait(engine);
    }
    unreachable!("the attempts do not end")
}

/// Returns the cells of a row in a family, oldest first, each with the commit that writes it to the
/// copy: one for all, unless their order in the log decides.
fn in_rounds(family: &FamilyStore, cells: Vec<(u64, Cell)>) -> Vec<(usize, Cell)> {
    let mut sequences: Vec<u64> = cells.iter().map(|(sequence, _)| *sequence).collect();
    sequences.sort_unstable();
    sequences.dedup();
    let by_sequence = family.descriptor().new_version_behavior();
    let mut last: Option<(usize, Cell)> = None;
    let round = |(sequence, cell): (u64, Cell)| {
        let round = match &last {
            _ if by_sequence => sequences.partition_point(|other| *other < sequence),
            Some((round, last)) if last.key() == cell.key() => round + 1,
            _ => 0,
        };
        last = Some((round, cell.clone()));
        (round, cell)
    };
    cells.into_iter().rev().map(round).collect()
}

/// Compares rows with their copies, and finds which of these copies, by row, have no row. The rows
/// are locked. The copies were found without a lock, so each without a row is read again.
pub(super) fn compare(
    region: &Region,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    copies: &BTreeMap<Bytes, Vec<Bytes>>,
) -> Result<Differences> {
    let mut differences = Differences::default();
    for row in rows {
        let Some(key) = maintained.index.copy_key(row)? else { continue };
        let now = region.engine().timestamps.now_millis();
        let get = Get::new(row.clone())?.versions(u32::MAX);
        let shown = region.read_row_at_time(&get, RowVersion::Current, now)?.row;
        if let Some(copies) = copies.get(row) {
            for key in copies.iter().filter(|_| shown.is_empty()) {
                let copied = stored_at(maintained, &Get::new(key.clone())?, now)?;
                differences.stale += u64::from(!copied.is_empty());
            }
            continue;
        }
        let copied = stored_at(maintained, &Get::new(key)?.versions(u32::MAX), now)?;
        let same = shown.len() == copied.len()
            && shown.cells().zip(copied.cells()).all(|(one, other)| {
                (one.family(), one.qualifier(), one.timestamp(), one.value())
                    == (other.family(), other.qualifier(), other.timestamp(), other.value())
            });
        differences.missing += u64::from(!same);
    }
    Ok(differences)
}
