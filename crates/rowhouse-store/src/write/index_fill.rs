//! Builds and mends indexes: adds the entries of rows, and removes entries that no row has.
//!
//! Both lock some rows, read them, and commit the changes to their entries, so that writers on the
//! same rows come before or after. The rows themselves do not change.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Durability, ErrorKind, Get, Result, Row, Timestamp};

use super::commit::Committed;
use super::copy;
use super::index::{EntryChanges, IndexUpdater};
use super::lock::{RowToLock, admit_entries, admit_unlocked, lock};
use super::record::{Attempted, Record};
use super::row_entries::{TooLong, entries_at, find};
use super::steady::hold_steady;
use crate::engine::Engine;
use crate::indexed::MaintainedIndex;
use crate::read::RowVersion;
use crate::region::Region;
use crate::space::Need;
use crate::table::Table;
use crate::wait_mode::WaitMode;

/// The number of rows whose entries are best mended at once.
pub(crate) const ROWS_AT_ONCE: usize = 256;

/// The way in which a row's entries in the index table are brought up to date.
#[derive(Clone, Copy)]
pub(crate) enum Mending<'m> {
    /// Adds the entries that the row has.
    Fill,
    /// As `Fill`, and removes those that it had at this sequence number and has no more.
    Since(u64),
    /// Removes the entries among these, by row, that the row does not have.
    Sweep(&'m BTreeMap<Bytes, Vec<Bytes>>),
}

/// Differences between rows and their entries in an index table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Entries for these rows that are not in the table, or are there with other covered cells;
    /// rows whose copy shows other cells.
    pub(crate) missing: u64,
    /// Entries in the table that these rows do not have.
    pub(crate) stale: u64,
}

/// Compares rows in a table with an index table, without changing either. `entries` are the entries
/// found in the index, by row. They were read without a lock, so each that the row does not have is
/// read again under the row's lock.
///
/// # Errors
/// Errors from the reads; `LayoutChanged` if an index was promoted meanwhile.
pub(crate) fn compare(
    table: &Table,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    entries: &BTreeMap<Bytes, Vec<Bytes>>,
) -> Result<Differences> {
    let mut differences = Differences::default();
    each_region(table, rows, |region, rows| {
        table.check_layout(region)?;
        let more = compare_in_region(region, maintained, rows, entries)?;
        differences.missing += more.missing;
        differences.stale += more.stale;
        Ok(())
    })?;
    Ok(differences)
}

fn compare_in_region(
    region: &Region,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    entries: &BTreeMap<Bytes, Vec<Bytes>>,
) -> Result<Differences> {
    let engine: &Engine = region.engine();
    let ids = rows.iter().map(|row| (region.id(), &row[..]));
    let _locked = lock(engine, ids, &[], 0, WaitMode::Blocking).done();
    region.check_serving()?;
    if maintained.index.is_copy() {
        return copy::compare(region, maintained, rows, entries);
    }
    let mut differences = Differences::default();
    for row in rows {
        let now = engine.timestamps.now_millis();
        let due = entries_at(region, row, maintained, RowVersion::Current, now, TooLong::ABSENT)?;
        for entry in &due {
            let have = stored_at(maintained, &Get::new(entry.key.clone())?, now)?;
            differences.missing += u64::from(!entry.is_stored_as(maintained, &have, now)?);
        }
        for key in entries.get(row).into_iter().flatten() {
            let is_due = find(&due, key).is_some();
            if !is_due && !stored_at(maintained, &Get::new(key.clone())?, now)?.is_empty() {
                differences.stale += 1;
            }
        }
    }
    Ok(differences)
}

/// Reads a row of an index table as it is at a time: when the row that it belongs to was read, so
/// that nothing expires in between.
///
/// # Errors
/// `TableNotEnabled`; errors from the read.
pub(super) fn stored_at(maintained: &MaintainedIndex, get: &Get, now_millis: i64) -> Result<Row> {
    maintained.table.check_enabled()?;
    let stored = maintained.table.at(get.row(), |region| {
        region.check_serving()?;
        region.read_row_at_time(get, RowVersion::Current, now_millis)
    })?;
    Ok(stored.row)
}

/// Mends the entries of rows in a table. Returns the number of entries removed by a sweep.
///
/// # Errors
/// `InvalidRequest` for a second row with a unique value; `UnknownScanner` if the rows cannot be
/// read any more at the sequence number in [`Mending::Since`].
pub(crate) fn mend(
    table: &Table,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    mending: Mending<'_>,
) -> Result<u64> {
    let mut removed = 0;
    each_region(table, rows, |region, rows| {
        removed += mend_in_region(region, maintained, rows, mending)?;
        Ok(())
    })?;
    Ok(removed)
}

/// Runs `act` with each region that holds some of these rows, which are in order, and these rows.
/// Tries again if a region is replaced meanwhile.
pub(super) fn each_region(
    table: &Table,
    rows: &[Bytes],
    mut act: impl FnMut(&Arc<Region>, &[Bytes]) -> Result<()>,
) -> Result<()> {
    let mut left = rows;
    while let Some(first) = left.first() {
        let region = table.region_of(first);
        let inside = left.iter().take_while(|row| region.info().range.contains(row)).count();
        match act(region, &left[..inside]) {
            Ok(()) => left = &left[inside..],
            Err(error)
                if error.kind() == ErrorKind::NotServingRegion && region.wait_for_replacement() => {
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn mend_in_region(
    region: &Arc<Region>,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    mending: Mending<'_>,
) -> Result<u64> {
    if maintained.index.is_copy() {
        debug_assert!(matches!(mending, Mending::Fill), "a copy is built anew, never mended");
        return copy::fill(region, maintained, rows).map(|()| 0);
    }
    with_rows_locked(region, maintained, rows, |updater| {
        let mut removed = 0;
        for row in rows {
            let now = region.engine().timestamps.now_millis();
            let entries =
                |version, too_long| entries_at(region, row, maintained, version, now, too_long);
            match mending {
                Mending::Fill => {
                    let due = entries(RowVersion::Current, TooLong::REFUSED)?;
                    updater.change(region, row, &[maintained], vec![Vec::new()], vec![due])?;
                }
                Mending::Since(sequence) => {
                    let before = entries(RowVersion::AsOf(sequence), TooLong::ABSENT)?;
                    let due = entries(RowVersion::Current, TooLong::REFUSED)?;
                    updater.change(region, row, &[maintained], vec![before], vec![due])?;
                }
                Mending::Sweep(keys) => {
                    let keys = keys.get(row).map_or(&[][..], Vec::as_slice);
                    removed += updater.sweep(region, row, maintained, keys)?;
                }
            }
        }
        Ok(removed)
    })
}

/// Locks rows of a region, and commits the index table changes that `change` makes. It may be
/// called again, with more locked.
///
/// # Errors
/// Errors from `change`; `NotServingRegion` if the region was replaced; errors from the log.
pub(super) fn with_rows_locked<T>(
    region: &Arc<Region>,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    mut change: impl FnMut(&mut IndexUpdater<'_, '_>) -> Result<T>,
) -> Result<T> {
    let engine: &Engine = region.engine();
    let mut more: Vec<RowToLock> = Vec::new();
    for attempt in 0.. {
        admit_entries(maintained, Need::Room)?;
        admit_unlocked(&more, std::iter::once(&**region))?;
        let ids = rows.iter().map(|row| (region.id(), &row[..]));
        let mut locked = lock(engine, ids, &more, attempt, WaitMode::Blocking).done();
        region.check_serving()?;
        let _steady = hold_steady(&[region]);
        let mut updater = IndexUpdater::of_build(&mut locked, engine.timestamps.issue());
        let changed = change(&mut updater)?;
        match commit_entries(region, updater)? {
            Attempted::Done(committed) => {
                let committed = committed?;
                drop(locked);
                committed.wait(engine)?;
                return Ok(changed);
            }
            Attempted::Again(rows) => more.extend(rows),
        }
    }
    unreachable!("the attempts do not end")
}

/// Commits the changes that an updater has collected for rows of a region, which are locked.
///
/// # Errors
/// `NotServingRegion` if the region was replaced; errors from the log.
pub(super) fn commit_entries(
    region: &Region,
    updater: IndexUpdater<'_, '_>,
) -> Result<Attempted<Result<Committed>>> {
    let engine: &Engine = region.engine();
    let entries = match updater.finish()? {
        EntryChanges::Cells(entries) => entries,
        EntryChanges::Unlocked(rows) => return Ok(Attempted::Again(rows)),
    };
    let record = Record::new(Durability::AsyncWal, Timestamp::MIN);
    record.with_entries(&entries, |record| {
        let _latch = engine.freeze_latch.read();
        region.check_serving()?;
        record.cells.check_families()?;
        let record = record.check()?;
        Ok(record.map(|record| record.log_uncounted(engine)))
    })
}
