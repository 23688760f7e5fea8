//! The store's flush and log threads.

use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::ErrorKind;

use super::snapshots::delete_expired_snapshots;
use crate::background::{Failed, Popped, Work, guard};
use crate::engine::Engine;
use crate::flush;

/// Flushes until the queue is closed.
pub(super) fn flush(engine: &Arc<Engine>) {
    while let Some(work) = engine.queue.pop() {
        do_work(engine, &work);
    }
}

/// Runs log work until its queue is closed. A background sync runs some time after the first write
/// that it covers.
pub(super) fn maintain_log(engine: &Arc<Engine>) {
    let mut sync_at = None;
    loop {
        match engine.log_work.pop_until(sync_at) {
            Popped::Work(Work::SyncLog) => {
                let next = Instant::now() + engine.settings.wal_sync_interval;
                sync_at.get_or_insert(next);
            }
            Popped::Work(work) => do_work(engine, &work),
            Popped::Nothing => {
                sync_at = None;
                do_work(engine, &Work::SyncLog);
            }
            Popped::Closed => return,
        }
    }
}

/// Runs a piece of work. A failure is only logged.
pub(super) fn do_work(engine: &Arc<Engine>, work: &Work) {
    let done = guard(|| match work {
        Work::Flush { region, family } => engine
            .find_family(*region, family)
            .map_or(Ok(()), |family| flush::flush_full_memstore(engine, &family))
            .and_then(|()| flush::release_flushed_segments(engine)),
        Work::TidyLog => engine.wal().tidy(),
        Work::SyncLog => engine.wal().sync_in_background(),
        Work::RelieveLog => flush::shrink_log(engine),
        Work::RelieveMemory => flush::shrink_memory(engine),
        Work::ExpireSnapshots => delete_expired_snapshots(engine),
        Work::KeepHeat => {
            engine.keep_heat();
            Ok(())
        }
    });
    match done {
        Ok(()) => {}
        Err(Failed::Error(error)) if error.kind() == ErrorKind::ServerNotRunning => {
            tracing::debug!(?work, "background work is left for the next open");
        }
        Err(error) => tracing::error!(%error, ?work, "background work failed"),
    }
}
