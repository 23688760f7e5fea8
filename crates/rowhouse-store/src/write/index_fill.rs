//! Builds and mends indexes: adds the entries of rows, and removes entries that no row has.
//!
//! Both lock some rows, read them, and commit the changes of their entries, so that writers of the
//! same rows come before or after. The rows themselves do not change.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Durability, ErrorKind, Get, Result};

use super::apply::{admit_unlocked, lock};
use super::commit::{self, Committed};
use super::copy;
use super::index::{self, EntryChanges, Keeper, TooLong, timed_entries};
use super::observe::{RowToLock, admit_entries, hold_steady, out_of_service};
use super::record_builder::RecordBuilder;
use crate::engine::Engine;
use crate::indexed::KeptIndex;
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
    /// Removes those of these entries, by row, that the row does not have.
    Sweep(&'m BTreeMap<Bytes, Vec<Bytes>>),
}

/// Differences between rows and their entries in the table of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Entries of these rows that are not in the table, or there with other covered cells; rows
    /// whose copy shows other cells.
    pub(crate) missing: u64,
    /// Entries in the table that these rows do not have.
    pub(crate) stale: u64,
}

/// Compares rows of a table with the table of an index, without changing either. `entries` are
/// those found in the index, by row.
///
/// # Errors
/// Those of the reads.
pub(crate) fn compare(
    table: &Table,
    kept: &KeptIndex,
    rows: &[Bytes],
    entries: &BTreeMap<Bytes, Vec<Bytes>>,
) -> Result<Differences> {
    let mut found = Differences::default();
    each_region(table, rows, |region, rows| {
        let more = compare_in_region(region, kept, rows, entries)?;
        found.missing += more.missing;
        found.stale += more.stale;
        Ok(())
    })?;
    Ok(found)
}

fn compare_in_region(
    region: &Region,
    kept: &KeptIndex,
    rows: &[Bytes],
    entries: &BTreeMap<Bytes, Vec<Bytes>>,
) -> Result<Differences> {
    let engine: &Engine = region.engine();
    let ids = rows.iter().map(|row| (region.id(), &row[..]));
    let _locked = lock(engine, ids, &[], 0, WaitMode::Blocking).done();
    region.check_serving()?;
    if kept.index.is_copy() {
        return copy::compare(region, kept, rows, entries);
    }
    let mut found = Differences::default();
    for row in rows {
        let get = get(row, kept)?;
        let read = |millis| region.read_row_at_time(&get, RowVersion::Current, millis);
        let now = engine.timestamps.now_millis();
        let due =
            timed_entries(std::slice::from_ref(kept), row, now, TooLong::Absent, read(now)?, read)?;
        let due = &due.entries[0];
        for entry in due {
            let have = kept.table.get_uncounted(&Get::new(entry.key.clone())?)?;
            found.missing += u64::from(!entry.is_stored_as(kept, &have, now)?);
        }
        let have = entries.get(row).into_iter().flatten();
        found.stale += have.filter(|key| !due.iter().any(|due| due.key == **key)).count() as u64;
    }
    Ok(found)
}

/// Mends the entries of rows of a table. Returns the number of entries removed by a sweep.
///
/// # Errors
/// `InvalidRequest` for a second row with a unique value; `UnknownScanner` if the rows cannot be
/// read any more at the sequence number of [`Mending::Since`].
pub(crate) fn mend(
    table: &Table,
    kept: &KeptIndex,
    rows: &[Bytes],
    mending: Mending<'_>,
) -> Result<u64> {
    let mut removed = 0;
    each_region(table, rows, |region, rows| {
        removed += mend_in_region(region, kept, rows, mending)?;
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
    kept: &KeptIndex,
    rows: &[Bytes],
    mending: Mending<'_>,
) -> Result<u64> {
    if kept.index.is_copy() {
        debug_assert!(matches!(mending, Mending::Fill), "a copy is built anew, never mended");
        return copy::fill(region, kept, rows).map(|()| 0);
    }
    let engine: &Engine = region.engine();
    with_rows_locked(region, kept, rows, |keeper| {
        let mut removed = 0;
        for row in rows {
            let get = get(row, kept)?;
            let now = |millis| region.read_row_at_time(&get, RowVersion::Current, millis);
            let indexes = std::slice::from_ref(kept);
            let at = engine.timestamps.now_millis();
            match mending {
                Mending::Fill => {
                    let due =
                        timed_entries(indexes, row, at, TooLong::Refused, now(at)?, now)?.entries;
                    keeper.change(region, row, indexes, vec![Vec::new()], due)?;
                }
                Mending::Since(sequence) => {
                    let version = RowVersion::AsOf(sequence);
                    let before = |millis| region.read_row_at_time(&get, version, millis);
                    let before =
                        timed_entries(indexes, row, at, TooLong::Absent, before(at)?, before)?
                            .entries;
                    let due =
                        timed_entries(indexes, row, at, TooLong::Refused, now(at)?, now)?.entries;
                    keeper.change(region, row, indexes, before, due)?;
                }
                Mending::Sweep(keys) => {
                    let keys = keys.get(row).map_or(&[][..], Vec::as_slice);
                    removed += keeper.sweep(region, row, kept, keys, now)?;
                }
            }
        }
        Ok(removed)
    })
}

/// Locks rows of a region, and commits the changes of the table of an index that `change` makes.
/// It may be called again, with more locked.
///
/// # Errors
/// Those of `change`; `NotServingRegion` if the region was replaced; those of the log.
pub(super) fn with_rows_locked<T>(
    region: &Arc<Region>,
    kept: &KeptIndex,
    rows: &[Bytes],
    mut change: impl FnMut(&mut Keeper<'_, '_>) -> Result<T>,
) -> Result<T> {
    let engine: &Engine = region.engine();
    let mut more: Vec<RowToLock> = Vec::new();
    for attempt in 0.. {
        admit_entries(kept, Need::Room)?;
        admit_unlocked(&more)?;
        let ids = rows.iter().map(|row| (region.id(), &row[..]));
        let mut locked = lock(engine, ids, &more, attempt, WaitMode::Blocking).done();
        region.check_serving()?;
        let _steady = hold_steady(&[region]);
        let mut keeper = Keeper::new(&mut locked, engine.timestamps.issue());
        let changed = change(&mut keeper)?;
        match commit_changes(region, keeper)? {
            Attempt::Committed(committed) => {
                drop(locked);
                committed.wait(engine)?;
                return Ok(changed);
            }
            Attempt::Unlocked(rows) => more.extend(rows),
        }
    }
    unreachable!("the attempts do not end")
}

/// How far a change of index tables came with rows locked.
enum Attempt {
    Committed(Committed),
    /// These must be locked as well, or their regions must serve first.
    Unlocked(Vec<RowToLock>),
}

/// Commits the changes that a keeper has collected for rows of a region.
///
/// # Errors
/// `NotServingRegion` if the region was replaced; those of the log.
fn commit_changes(region: &Region, keeper: Keeper<'_, '_>) -> Result<Attempt> {
    let engine: &Engine = region.engine();
    let cells = match keeper.finish()? {
        EntryChanges::Cells(cells) => cells,
        EntryChanges::Unlocked(rows) => return Ok(Attempt::Unlocked(rows)),
    };
    let (record, regions) = index::extend(RecordBuilder::default(), Vec::new(), &cells)?;
    let _latch = engine.freeze_latch.read();
    region.check_serving()?;
    match regions.iter().try_for_each(|region| region.check_serving()) {
        Ok(()) => commit::commit(engine, record, Durability::AsyncWal).map(Attempt::Committed),
        Err(error) => {
            let rows = cells.iter().map(|(region, cell)| (region, cell.row_bytes()));
            let closed = out_of_service(rows);
            if closed.is_empty() { Err(error) } else { Ok(Attempt::Unlocked(closed)) }
        }
    }
}

fn get(row: &Bytes, kept: &KeptIndex) -> Result<Get> {
    let mut get = Get::new(row.clone())?;
    get.columns = Columns::clone(kept.index.columns());
    Ok(get)
}
