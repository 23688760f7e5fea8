//! Flushes that make room: in the log, and in the memory of all memstores together.

use std::sync::Arc;

use rowhouse_model::Result;

use super::flush;
use crate::background::Work;
use crate::engine::Engine;
use crate::family::FamilyStore;

/// Deletes the log segments whose contents are all in files.
pub(crate) fn release_flushed_segments(engine: &Engine) -> Result<()> {
    let keep_from = {
        // Exclude commits that are in the log but not yet in a memstore.
        let _latch = engine.freeze_latch.write();
        let families = engine.families.read();
        let oldest = families.values().filter_map(|family| family.first_unflushed()).min();
        oldest.unwrap_or_else(|| engine.mvcc.reserved() + 1)
    };
    let wal = engine.wal();
    if let Some(forgettable) = wal.releasable_below(keep_from) {
        // The remaining log must record where it begins.
        wal.sync()?;
        // Record the new start in the manifest before deleting: a power failure can restore
        // deleted names without their contents, which must not be taken for a gap in the log.
        engine.name_first_segment(forgettable.log_from, forgettable.first_left)?;
        wal.forget(&forgettable)?;
    }
    if wal.pressure(engine.settings.wal_bytes_max).is_some() {
        engine.queue.push(Work::RelieveLog);
    }
    Ok(())
}

/// Starts a new log segment, and deletes those whose contents are all in files.
pub(crate) fn roll_log(engine: &Engine) -> Result<()> {
    engine.wal().roll_now(|| engine.mvcc.reserved())?;
    engine.log_work.push(Work::TidyLog);
    release_flushed_segments(engine)
}

/// Flushes the families that keep the oldest log segment alive.
pub(crate) fn shrink_log(engine: &Engine) -> Result<()> {
    let Some(up_to) = engine.wal().pressure(engine.settings.wal_bytes_max) else { return Ok(()) };
    let families: Vec<_> = engine.families.read().values().cloned().collect();
    for family in families {
        if family.first_unflushed().is_some_and(|first| first <= up_to) {
            flush(engine, &family)?;
        }
    }
    release_flushed_segments(engine)
}

/// Flushes the largest memstores until memory is below three quarters of the limit: many small
/// memstores can fill it together.
pub(crate) fn shrink_memory(engine: &Engine) -> Result<()> {
    let families: Vec<_> = engine.families.read().values().cloned().collect();
    let families: Vec<_> = families.into_iter().filter(|it| it.in_memory().is_none()).collect();
    while engine.memory.bytes() > engine.settings.memstore_bytes_max / 4 * 3 {
        // A family that already has too many files gets another only for twice the memory.
        let worth = |family: &Arc<FamilyStore>| {
            family.memstore_bytes() / if family.is_blocked() { 2 } else { 1 }
        };
        match families.iter().max_by_key(|family| worth(family)) {
            Some(largest) if largest.memstore_bytes() > 0 => flush(engine, largest)?,
            _ => break,
        }
    }
    if engine.log.get().is_some() { release_flushed_segments(engine) } else { Ok(()) }
}
