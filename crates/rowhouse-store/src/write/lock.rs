//! The row locks of a call, with the rows that observers and indexes write.

use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, Error, ErrorKind, Mutation, Result};

use super::admit::admit;
use crate::commits::RowsGuard;
use crate::engine::Engine;
use crate::indexed::MaintainedIndex;
use crate::region::Region;
use crate::space::Need;
use crate::wait_mode::{NonBlocking, WaitMode};

/// Attempts with more and more rows locked, before all rows are locked: the rows that observers
/// write may depend on rows that change in between.
const ATTEMPTS_MAX: usize = 3;

/// A row that a record writes and that must be locked before the row's cells are known for certain.
pub(super) struct RowToLock {
    /// The region that must serve and have room.
    pub(super) region: Arc<Region>,
    pub(super) lock: LockId,
    pub(super) row: Bytes,
}

/// The rows among which a lock names one.
#[derive(Clone, Copy)]
pub(super) enum LockId {
    /// The rows of the region with this id.
    Region(u64),
    /// The values of the unique index whose table has this id.
    UniqueValue(u64),
}

impl LockId {
    /// Returns the number by which row locks know it.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Region(id) => id,
            // Ids are assigned from 1 upwards.
            Self::UniqueValue(table) => table | 1 << 63,
        }
    }
}

impl RowToLock {
    pub(super) fn new(region: &Arc<Region>, row: Bytes) -> Self {
        Self { region: Arc::clone(region), lock: LockId::Region(region.id()), row }
    }
}

/// Locks a call's rows, and from the second attempt on the rows that observers write. Part of the
/// call may be committed then, so it waits.
pub(super) fn lock<'e, 'r>(
    engine: &'e Engine,
    rows: impl Iterator<Item = (u64, &'r [u8])>,
    more: &[RowToLock],
    attempt: usize,
    wait_mode: WaitMode,
) -> NonBlocking<RowsGuard<'e>> {
    let more = more.iter().map(|more| (more.lock.number(), &more.row[..]));
    match attempt {
        0 => engine.row_locks.lock(rows, wait_mode),
        1..ATTEMPTS_MAX => NonBlocking::Done(engine.row_locks.lock_with(rows, more)),
        ATTEMPTS_MAX.. => NonBlocking::Done(engine.row_locks.lock_all(rows)),
    }
}

/// Waits for the regions of rows that observers and indexes write: until none is being replaced,
/// and for room. No row may be locked.
///
/// # Errors
/// `RegionTooBusy` for a region that is out of service while the caller's `own` regions serve: the
/// caller must not look for these elsewhere. Otherwise `NotServingRegion` for one of those own
/// regions: the table may have been disabled with its index tables.
pub(super) fn admit_unlocked<'r>(
    rows: &[RowToLock],
    own: impl Iterator<Item = &'r Region> + Clone,
) -> Result<()> {
    if let Some(RowToLock { region, .. }) = rows.first() {
        // A damaged index is off for the next attempt.
        region.engine().files.damage.settle()?;
    }
    for RowToLock { region, .. } in rows {
        match region.check_serving() {
            Ok(()) => admit(region, Need::Room, WaitMode::Blocking)?.done(),
            Err(error) if error.kind() != ErrorKind::NotServingRegion => return Err(error),
            // The next attempt finds the regions that replaced it, or another table.
            Err(_) if region.wait_for_replacement() || region.is_of_dropped_table() => {}
            Err(error) => {
                // Atomically: tables are disabled and enabled with their index tables.
                let _latch = region.engine().freeze_latch.read();
                own.clone().try_for_each(Region::check_serving)?;
                if !region.is_serving() {
                    let message = format!(
                        "an observer or an index writes to a region out of service: {error}"
                    );
                    return Err(Error::new(ErrorKind::RegionTooBusy, message).with_source(error));
                }
            }
        }
    }
    Ok(())
}

/// Waits for room in an index table. No row may be locked.
///
/// # Errors
/// As [`admit`].
pub(super) fn admit_entries(maintained: &MaintainedIndex, need: Need) -> Result<()> {
    let mut regions = maintained.table.regions_now().into_iter();
    let admitted = regions
        .try_for_each(|region| admit(region, need, WaitMode::Blocking).map(NonBlocking::done));
    admitted.map_err(|error| error.with_context(format_args!("index {}", maintained.index.name())))
}

/// Returns the rows in additions and entries whose region does not serve.
pub(super) fn closed(
    additions: &[(Arc<Region>, Mutation)],
    entries: &[(Arc<Region>, Cell)],
) -> Vec<RowToLock> {
    let additions = additions.iter().map(|(region, it)| (region, it.row().clone()));
    let entries = entries.iter().map(|(region, cell)| (region, cell.row_bytes()));
    out_of_service(additions.chain(entries))
}

/// Returns the rows in additions whose region does not serve.
pub(super) fn out_of_service<'r>(
    additions: impl Iterator<Item = (&'r Arc<Region>, Bytes)>,
) -> Vec<RowToLock> {
    let closed = additions.filter(|(region, _)| !region.is_serving());
    closed.map(|(region, row)| RowToLock::new(region, row)).collect()
}
