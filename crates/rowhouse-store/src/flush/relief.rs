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
        let now = engine.timestamps.now_millis();
        let released = wal.released_by(&forgettable);
        let retained = engine.followers.retain(&released, forgettable.first_sequence, now)?;
        // Record the new start in the manifest before deleting: a power failure can restore
        // deleted names without their contents, which must not be taken for a gap in the log.
        engine.name_first_segment(forgettable.log_from, forgettable.first_left)?;
        wal.forget(&forgettable, &retained)?;
    }
    trim_retained(engine)?;
    if wal.pressure(engine.settings.wal_bytes_max).is_some() {
        engine.queue.push(Work::RelieveLog);
    }
    Ok(())
}

/// Removes the log segments that were retained for followers and that none needs any more, or that
/// exceed the limits.
pub(crate) fn trim_retained(engine: &Engine) -> Result<()> {
    let Some(wal) = engine.log.get() else { return Ok(()) };
    let settings = &engine.settings;
    let age_max = i64::try_from(settings.followers_age_max.as_millis()).unwrap_or(i64::MAX);
    let since_min = engine.timestamps.now_millis().saturating_sub(age_max);
    let needed_from = engine.followers.needed_from();
    let removed = wal.trim_retained(needed_from, settings.followers_bytes_max, since_min)?;
    let Some(removed) = removed else { return Ok(()) };
    let first = wal.segment_after(removed).map_or(0, |segment| segment.first_sequence);
    engine.followers.trimmed(removed, first)
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
