//! The store's flush and log threads, and the thread that logs counters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::ErrorKind;

use super::expired_snapshots::delete_expired_snapshots;
use crate::background::{Failed, Popped, Work, guard};
use crate::engine::Engine;
use crate::flush;
use crate::memstore::free_retained_chunks;

/// Flushes until the queue is closed.
pub(super) fn flush(engine: &Arc<Engine>) {
    while let Some(work) = engine.queue.pop() {
        do_work(engine, &work);
    }
}

/// The time without a background sync after which the files retained for log segments, and the
/// memory retained for memstores, are given back.
const IDLE_WAIT: Duration = Duration::from_secs(30);

/// Runs log work until the queue is closed. A background sync runs some time after the first write
/// that it covers.
pub(super) fn maintain_log(engine: &Arc<Engine>) {
    let mut sync_at = None;
    let mut idle_at = Some(Instant::now() + IDLE_WAIT);
    loop {
        match engine.log_work.pop_until(sync_at.or(idle_at)) {
            Popped::Work(Work::SyncLog) => {
                let next = Instant::now() + engine.settings.wal_sync_interval;
                sync_at.get_or_insert(next);
            }
            Popped::Work(work) => do_work(engine, &work),
            Popped::Nothing if sync_at.take().is_some() => {
                do_work(engine, &Work::SyncLog);
                idle_at = Some(Instant::now() + IDLE_WAIT);
            }
            Popped::Nothing => {
                do_work(engine, &Work::RemoveSpares);
                free_retained_chunks();
                idle_at = None;
            }
            Popped::Closed => return,
        }
    }
}

/// Logs counters when their period ends, until the queue is closed. Waits without a limit while
/// there are none.
pub(super) fn log_counters(engine: &Arc<Engine>) {
    loop {
        match engine.counter_work.pop_until(engine.counters.next_due()) {
            // Some are due earlier than at the last look.
            Popped::Work(_) => {}
            Popped::Nothing => do_work(engine, &Work::LogCounters),
            Popped::Closed => return,
        }
    }
}

/// Runs a work item. A failure is only logged.
pub(super) fn do_work(engine: &Arc<Engine>, work: &Work) {
    let done = guard(|| match work {
        Work::Flush { region, family } => engine
            .find_family(*region, family)
            .map_or(Ok(()), |family| flush::flush_full_memstore(engine, &family))
            .and_then(|()| flush::release_flushed_segments(engine)),
        Work::CompactMemory { region, family } => engine
            .find_family(*region, family)
            .map_or(Ok(()), |family| flush::compact_memory(engine, &family)),
        Work::TidyLog => engine.wal().tidy(),
        Work::SyncLog => engine.wal().sync_in_background(),
        Work::LogCounters => flush::log_due_counters(engine, Instant::now()),
        Work::RemoveSpares => engine.wal().remove_spares(),
        Work::RelieveLog => flush::shrink_log(engine),
        Work::RelieveMemory => flush::shrink_memory(engine),
        Work::ExpireSnapshots => {
            flush::trim_retained(engine).and_then(|()| delete_expired_snapshots(engine))
        }
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
