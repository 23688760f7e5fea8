//! The commit path: reserve → log → memstores → publish → (sync) → acknowledge.

use rowhouse_model::{Cell, Durability, Error, ErrorKind, Nonce, Result, escape};

use crate::background::Work;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::region::Region;
use crate::space::Need;
use crate::wal::{Position, RecordBody};

/// Cells of one (region, family) in a commit.
pub(crate) struct Group<'a> {
    pub(crate) family: &'a FamilyStore,
    pub(crate) cells: Vec<Cell>,
}

/// A commit that readers see. It counts once [`Committed::wait`] has returned.
#[must_use]
pub(crate) struct Committed {
    position: Option<Position>,
}

impl Committed {
    /// A commit of nothing.
    pub(crate) fn nothing() -> Self {
        Self { position: None }
    }

    /// Whichever of the two needs more of the log.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { position: self.position.max(other.position) }
    }

    /// Waits for as much durability as the commit asked for. Rows need not be locked meanwhile.
    pub(crate) fn wait(self, engine: &Engine) -> Result<()> {
        match self.position {
            Some(position) => engine.wal().sync_to(position),
            None => Ok(()),
        }
    }
}

/// Writes `groups` as one record under one sequence. When this returns they are visible.
///
/// The caller holds the rows locked, and `engine.gate` for reading, so that no memstore is frozen
/// between here and there.
pub(crate) fn commit(
    engine: &Engine,
    groups: Vec<Group<'_>>,
    nonces: &[Nonce],
    durability: Durability,
) -> Result<Committed> {
    if groups.iter().all(|group| group.cells.is_empty()) {
        return Ok(Committed::nothing());
    }
    let (sequence, logged) = match durability {
        Durability::SkipWal => (engine.mvcc.reserve(), Ok(None)),
        _ => {
            let body = encode(&groups, nonces);
            engine.space.wrote(body.len() as u64);
            let (sequence, logged) = engine.wal().append(body, || engine.mvcc.reserve());
            (sequence, logged.map(Some))
        }
    };
    if logged.is_ok() {
        insert(engine, &groups, sequence);
    }
    if engine.wal().wants_tidying() {
        engine.log_work.push(Work::TidyLog);
    }
    if logged.as_ref().is_ok_and(Option::is_some) && engine.wal().wants_sync() {
        engine.log_work.push(Work::SyncLog);
    }
    // Also when the log refused: a sequence that is never published would stop all behind it.
    engine.mvcc.publish(sequence);
    let position = logged?;
    Ok(Committed { position: position.filter(|_| durability == Durability::FsyncWal) })
}

fn encode(groups: &[Group<'_>], nonces: &[Nonce]) -> RecordBody {
    let mut body = RecordBody::new(nonces);
    for group in groups {
        body.group(group.family.region_id(), group.family.name());
        group.cells.iter().for_each(|cell| body.cell(cell));
    }
    body
}

fn insert(engine: &Engine, groups: &[Group<'_>], sequence: u64) {
    for group in groups {
        let memstore = group.family.active();
        engine.memory.add(group.cells.iter().map(|cell| memstore.insert(cell, sequence)).sum());
        if memstore.bytes() >= engine.settings.memstore_flush_bytes {
            group.family.request_flush(engine);
        } else if engine.memory.bytes() > engine.settings.memstore_bytes_max / 4 * 3 {
            engine.queue.push(Work::RelieveMemory);
        }
    }
}

/// Waits until no full memstore of the region has to wait for files to be merged.
///
/// # Errors
/// `RegionTooBusy` when merges have not come far enough in time; `ServerNotRunning` once the store is
/// closing.
fn wait_for_files(region: &Region) -> Result<()> {
    let engine = region.engine();
    for family in region.families() {
        if !family.holds_writers(engine) {
            continue;
        }
        // In case the flush has been put off for long enough.
        family.request_flush(engine);
        let ready = || !family.holds_writers(engine) || engine.check_open().is_err();
        if !engine.memory.wait_until(ready, engine.settings.busy_wait) {
            return Err(Error::new(
                ErrorKind::RegionTooBusy,
                format!(
                    "too many files to write another before some are merged: region={}, \
                     family={}, files={}, max={}",
                    region.name(),
                    escape(family.name()),
                    family.parts().files.len(),
                    family.policy().files_blocking
                ),
            ));
        }
        engine.check_open()?;
    }
    Ok(())
}

/// Waits until there is room for a write.
///
/// # Errors
/// `RegionTooBusy` when flushes and merges have not made room in time, or the disk is full;
/// `ServerNotRunning` once the store is closing.
pub(crate) fn admit(region: &Region, need: Need) -> Result<()> {
    let engine = region.engine();
    engine.check_open()?;
    engine.space.check(&*engine.disk, need)?;
    wait_for_memory(engine)?;
    wait_for_files(region)
}

fn wait_for_memory(engine: &Engine) -> Result<()> {
    if engine.memory.bytes() < engine.settings.memstore_bytes_max {
        return Ok(());
    }
    // Also when an earlier flush failed: the disk may have room again.
    engine.queue.push(Work::RelieveMemory);
    if engine.memory.wait_below(engine.settings.memstore_bytes_max, engine.settings.busy_wait) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::RegionTooBusy,
        format!(
            "memstores are full: bytes={}, max={}",
            engine.memory.bytes(),
            engine.settings.memstore_bytes_max
        ),
    ))
}
