//! The commit path: reserve → log → memstores → publish → (sync) → acknowledge.

use rowhouse_model::{Durability, Error, ErrorKind, Result, escape};

use crate::background::Work;
use crate::engine::Engine;
use crate::region::Region;
use crate::space::Need;
use crate::wal::Position;
use crate::write::draft::Draft;

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

/// Writes a draft as one record under one sequence. When this returns its cells are visible.
///
/// The caller holds the rows locked, and `engine.gate`, so that no memstore is frozen between here and
/// there.
pub(crate) fn commit(
    engine: &Engine,
    draft: Draft<'_>,
    durability: Durability,
) -> Result<Committed> {
    if draft.is_empty() {
        return Ok(Committed::nothing());
    }
    draft.check_families()?;
    let mut draft = draft.seal();
    let (sequence, logged) = match durability {
        Durability::SkipWal => (engine.mvcc.reserve(), Ok(None)),
        _ => {
            engine.space.wrote(draft.record.body_len() as u64);
            let (sequence, logged) =
                engine.wal().append(&mut draft.record, || engine.mvcc.reserve());
            (sequence, logged.map(Some))
        }
    };
    engine.recent_writes.note(&draft, sequence);
    if let Ok(logged) = &logged {
        draft.insert(engine, sequence, logged.is_some());
    }
    // Also when the log refused: a sequence that is never published would stop all behind it.
    engine.mvcc.publish(sequence);
    if engine.wal().wants_tidying() {
        engine.log_work.push(Work::TidyLog);
    }
    let position = logged?;
    if position.is_some() && engine.wal().wants_sync() {
        engine.log_work.push(Work::SyncLog);
    }
    draft.nonces.iter().for_each(|nonce| engine.nonces.take(*nonce, sequence));
    Ok(Committed { position: position.filter(|_| durability == Durability::FsyncWal) })
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
                    region.shown(),
                    escape(family.name()),
                    family.crowding(),
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
