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

/// The time without a background sync after which the disk space that the log has ahead of need,
/// and the memory retained for memstores, are given back.
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
                do_work(engine, &Work::GiveBackLogSpace);
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
        Work::GiveBackLogSpace => engine.wal().give_back_space(),
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

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Put, TableDescriptor, TableName};

    use crate::disk::simulated::SimulatedDisk;
    use crate::layout::WAL_DIR;
    use crate::{Settings, Store};

    #[test]
    fn an_idle_log_has_no_more_than_its_records() {
        let disk = SimulatedDisk::seeded(1);
        let open = || {
            let settings = Settings { wal_segment_bytes: 4 << 10, ..Settings::default() };
            let builder = Store::builder("simulated").settings(settings);
            builder.with_disk(disk.clone()).by_hand(1).open().unwrap()
        };
        let store = open();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        let put = |row: &str| {
            let put = Put::new(row.to_owned()).unwrap().add("f", "q", vec![b'v'; 1000]).unwrap();
            table.mutate(&put.into()).unwrap();
        };
        for row in 0..100 {
            put(&format!("row{row:03}"));
            while store.work_by_hand() {}
        }
        table.flush().unwrap();
        while store.work_by_hand() {}
        put("after the flush");
        while store.work_by_hand() {}
        let log_len = || {
            let files = disk.paths().into_iter().filter(|path| path.starts_with(WAL_DIR));
            files.map(|path| disk.file_len(&path).unwrap()).sum::<usize>()
        };
        let before = log_len();
        store.idle_by_hand();
        let idle = log_len();
        assert!(before > 10_000 && idle < 6_000, "{before} bytes, idle {idle}");
        put("after the rest");
        drop((table, store));

        let store = open();
        let table = store.table(&name).unwrap();
        for row in ["row000", "after the flush", "after the rest"] {
            let row = table.get(&rowhouse_model::Get::new(row).unwrap()).unwrap();
            assert_eq!(row.cells().count(), 1);
        }
    }
}
