//! Work that nobody waits for: flushes and compactions, on a thread of the store's own.

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use rowhouse_model::Bytes;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Write a memstore to a file.
    Flush { region: u64, family: Bytes },
    /// Merge the files of a (region, family).
    Compact { region: u64, family: Bytes },
    /// Make the next log segment, and bring the ones that are full to the disk.
    TidyLog,
    /// Bring the log to the disk, after a while.
    SyncLog,
    /// Flush what keeps the oldest log segment alive.
    RelieveLog,
    /// Flush the largest memstore.
    RelieveMemory,
}

/// What waits to be done. Holds each piece of work once, so its length is bounded by the number of
/// (region, family)s.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

/// What came of waiting for work.
pub(crate) enum Popped {
    Work(Work),
    /// There was none in time.
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
            // Flushes give writers room: they come before anything else.
            match work {
                Work::Flush { .. } | Work::RelieveMemory => state.work.push_front(work),
                _ => state.work.push_back(work),
            }
            self.changed.notify_all();
        }
    }

    /// The next piece of work; waits for one. `None` once the queue is closed.
    pub(crate) fn pop(&self) -> Option<Work> {
        loop {
            match self.pop_until(None) {
                Popped::Work(work) => return Some(work),
                Popped::Closed => return None,
                Popped::Nothing => {}
            }
        }
    }

    /// The next piece of work; waits for one, but not longer than until `deadline`.
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

    /// The next piece of work, if there is one.
    #[cfg(test)]
    pub(crate) fn pop_waiting(&self) -> Option<Work> {
        self.state.lock().work.pop_front()
    }

    /// Whatever waits is not done any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.work.clear();
        self.changed.notify_all();
    }
}
