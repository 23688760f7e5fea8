//! Regions that have got files, and so may have grown too large.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex};

/// The regions to be looked at. Holds each once.
#[derive(Default)]
pub(crate) struct Due {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    regions: BTreeSet<u64>,
    closed: bool,
}

impl Due {
    /// Has a region looked at.
    pub(crate) fn request(&self, region_id: u64) {
        let mut state = self.state.lock();
        if !state.closed && state.regions.insert(region_id) {
            self.changed.notify_one();
        }
    }

    /// The next region to look at; waits for one. `None` once closed.
    pub(crate) fn next(&self) -> Option<u64> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            match state.regions.pop_first() {
                Some(region_id) => return Some(region_id),
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// The next region to look at, if there is one.
    #[cfg(test)]
    pub(crate) fn pop_waiting(&self) -> Option<u64> {
        self.state.lock().regions.pop_first()
    }

    /// No region is looked at any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.regions.clear();
        self.changed.notify_all();
    }
}
