//! Work for the store's flush and log threads, which `store/workers.rs` runs. Compactions have
//! separate threads and a separate queue: a long one must not delay flushes.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Bytes, Error, Result};

/// A background work item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Flush a full memstore to a file.
    Flush { region: u64, family: Bytes },
    /// Compact the memstores of a BUFFERED family in memory.
    CompactMemory { region: u64, family: Bytes },
    /// Make the next log segment, and sync the full ones.
    TidyLog,
    /// Sync the log, after a delay.
    SyncLog,
    /// Log the counters that are due.
    LogCounters,
    /// Remove the files that are retained for the next log segments.
    GiveBackLogSpace,
    /// Flush the memstores that pin the oldest log segment.
    RelieveLog,
    /// Flush the largest memstore.
    RelieveMemory,
    /// Delete expired snapshots.
    ExpireSnapshots,
    /// Keep the tables' heat within bounds, and write it to disk from time to time.
    KeepHeat,
}

/// Pending work. Holds each item once, so the number of (region, family) pairs bounds the length.
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
                Work::CompactMemory { .. }
                | Work::RelieveLog
                | Work::TidyLog
                | Work::SyncLog
                | Work::LogCounters
                | Work::GiveBackLogSpace
                | Work::ExpireSnapshots
                | Work::KeepHeat => state.work.push_back(work),
            }
            self.changed.notify_all();
        }
    }

    /// Returns the next work item, waiting for one. `None` once the queue is closed.
    pub(crate) fn pop(&self) -> Option<Work> {
        loop {
            match self.pop_until(None) {
                Popped::Work(work) => return Some(work),
                Popped::Closed => return None,
                Popped::Nothing => {}
            }
        }
    }

    /// Returns the next work item, waiting for one until `deadline`.
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

    /// Returns the next work item, if there is one.
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

/// The reason why a work item failed.
#[derive(Debug)]
pub(crate) enum Failed {
    Error(Error),
    /// A panic with the message: a bug.
    Panic(String),
}

/// Runs work so that the thread survives errors and panics. A panic leaves the same state as an
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
