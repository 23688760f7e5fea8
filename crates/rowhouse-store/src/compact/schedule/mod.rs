//! Runs compactions on a few threads, as the queue orders them. While one thread compacts old files
//! in a family, another may compact newer ones: files arrive faster than a large compaction ends.

use super::{Pacing, compact};
use crate::background::{Work, guard};
use crate::engine::Engine;

/// Runs the most urgent compaction, if there is one, and returns true if it succeeded.
#[cfg(test)]
pub(crate) fn work_by_hand(engine: &Engine) -> bool {
    let Some(job) = engine.compactions.take_waiting(&engine.candidates()) else { return false };
    let _compacting = job.family.compacting.write();
    // The test requests it again if it fails.
    let done = compact(engine, &job.family, job.requested, Pacing::Waited);
    done.is_ok()
}

/// The compactions that a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// The most urgent one, however large.
    All,
    /// Only small compactions, so that they need not wait for large ones.
    Small,
}

/// Runs compactions until the store is closed.
pub(crate) fn work(engine: &Engine, share: Share) {
    let candidates = engine.candidates();
    let bytes_max = if share == Share::Small { candidates.large_bytes() } else { u64::MAX };
    let each_period = || {
        // A failure refuses writes, and is logged.
        let _ = engine.wal().check_in_place();
        if !engine.expired_snapshots().is_empty() {
            engine.queue.push(Work::ExpireSnapshots);
        }
        if engine.heat.needs_upkeep() {
            engine.queue.push(Work::KeepHeat);
        }
    };
    while let Some(job) = engine.compactions.next(&candidates, bytes_max, each_period) {
        let done = guard(|| {
            let Some(_compacting) = job.family.compacting.try_read() else {
                // Another thread locked it in between and will request another check.
                engine.compactions.request(&job.family, job.requested);
                return Ok(());
            };
            compact(engine, &job.family, job.requested, Pacing::Paced)
        });
        if job.family.memstore_bytes() >= engine.settings.memstore_flush_bytes {
            // The flush may have been postponed.
            job.family.request_flush(&engine.queue);
        }
        // A compaction that was stopped because it is no longer required has not failed.
        let still_required = engine.check_working().is_ok()
            && engine.compactions.is_enabled()
            && !job.family.is_closing();
        engine
            .compactions
            .done(job, done.err().filter(|_| still_required).map(|error| error.to_string()));
    }
}

#[cfg(test)]
mod tests;
