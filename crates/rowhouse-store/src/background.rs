//! Background flushes and log maintenance, on threads of the store's own. Compactions have separate
//! threads (`compact/schedule.rs`): a long one must not delay flushes.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Bytes, Error, ErrorKind, Result};

use crate::engine::Engine;
use crate::flush;

/// A piece of background work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Flush a full memstore to a file.
    Flush { region: u64, family: Bytes },
    /// Make the next log segment, and sync the full ones.
    TidyLog,
    /// Sync the log, after a delay.
    SyncLog,
    /// Flush the memstores that pin the oldest log segment.
    RelieveLog,
    /// Flush the largest memstore.
    RelieveMemory,
    /// Delete expired snapshots.
    ExpireSnapshots,
}

/// Pending work. Holds each piece of work once, so its length is bounded by the number of (region,
/// family) pairs.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

/// The result of waiting for work.
pub(crate) enum Popped {
    Work(Work),
    /// There was no work before the deadline.
    Nothing,
    Closed,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    closed: bool,
}

impl Queue {
    pub(crate) fn push(&self, work: Work) {
        let mut state = self.state.lock();
        if !state.closed && !state.work.contains(&work) {
            // Flushes make room for writers, so they go before other work.
            match work {
                Work::Flush { .. } | Work::RelieveMemory => state.work.push_front(work),
                Work::RelieveLog | Work::TidyLog | Work::SyncLog | Work::ExpireSnapshots => {
                    state.work.push_back(work);
                }
            }
            self.changed.notify_all();
        }
    }

    /// Returns the next piece of work, waiting for one. `None` once the queue is closed.
    pub(crate) fn pop(&self) -> Option<Work> {
        loop {
            match self.pop_until(None) {
                Popped::Work(work) => return Some(work),
                Popped::Closed => return None,
                Popped::Nothing => {}
            }
        }
    }

    /// Returns the next piece of work, waiting for one until `deadline`.
    pub(crate) fn pop_until(&self, deadline: Option<Instant>) -> Popped {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return Popped::Closed;
            }
            if let Some(work) = state.work.pop_front() {
                return Popped::Work(work);
            }
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) => {
                    if self.changed.wait_until(&mut state, deadline).timed_out() {
                        return Popped::Nothing;
                    }
                }
            }
        }
    }

    /// Returns the next piece of work, if there is one.
    #[cfg(test)]
    pub(crate) fn pop_waiting(&self) -> Option<Work> {
        self.state.lock().work.pop_front()
    }

    /// Closes the queue. Pending work is discarded.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.work.clear();
        self.changed.notify_all();
    }
}

/// Flushes until the queue is closed.
pub(crate) fn flush(engine: &Arc<Engine>) {
    while let Some(work) = engine.queue.pop() {
        do_work(engine, &work);
    }
}

/// Runs log work until its queue is closed. A background sync runs some time after the first write
/// that it covers.
pub(crate) fn maintain_log(engine: &Arc<Engine>) {
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
pub(crate) fn do_work(engine: &Arc<Engine>, work: &Work) {
    let done = guard(|| match work {
        Work::Flush { region, family } => engine
            .find_family(*region, family)
            .map_or(Ok(()), |family| flush::flush_full_memstore(engine, &family))
            .and_then(|()| engine.release_flushed_segments()),
        Work::TidyLog => engine.wal().tidy(),
        Work::SyncLog => engine.wal().sync_in_background(),
        Work::RelieveLog => engine.shrink_log(),
        Work::RelieveMemory => engine.shrink_memory(),
        Work::ExpireSnapshots => engine.delete_expired_snapshots(),
    });
    match done {
        Ok(()) => {}
        Err(Failed::Error(error)) if error.kind() == ErrorKind::ServerNotRunning => {
            tracing::debug!(?work, "background work is left for the next open");
        }
        Err(error) => tracing::error!(%error, ?work, "background work failed"),
    }
}

/// The reason why a piece of work failed.
#[derive(Debug)]
pub(crate) enum Failed {
    Error(Error),
    /// A panic with its message: a bug.
    Panic(String),
}

/// Runs work so that its thread survives errors and panics. A panic leaves the same state as an
/// error: locks are released, unfinished files removed, and memstores and files change in one step.
pub(crate) fn guard(work: impl FnOnce() -> Result<()>) -> std::result::Result<(), Failed> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(Failed::Error),
        Err(panic) => Err(Failed::Panic(words(&*panic))),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words").to_owned()
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Panic(words) => write!(f, "panicked: {words}"),
        }
    }
}
