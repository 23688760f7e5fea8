//! A queue of work on regions or tables, by id.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex};

/// A queue of ids. Holds each id once.
#[derive(Default)]
pub(crate) struct IdQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ids: BTreeSet<u64>,
    closed: bool,
}

impl IdQueue {
    /// Queues an id.
    pub(crate) fn request(&self, id: u64) {
        let mut state = self.state.lock();
        if !state.closed && state.ids.insert(id) {
            self.changed.notify_one();
        }
    }

    /// Returns the next id, waiting for one; `None` once closed.
    pub(crate) fn next(&self) -> Option<u64> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            match state.ids.pop_first() {
                Some(id) => return Some(id),
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Returns the next id, if there is one.
    #[cfg(test)]
    pub(crate) fn pop_waiting(&self) -> Option<u64> {
        self.state.lock().ids.pop_first()
    }

    /// Closes the queue and discards the ids.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.ids.clear();
        self.changed.notify_all();
    }
}
