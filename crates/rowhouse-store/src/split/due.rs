//! Regions that received files and may have grown too large.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex};

/// A queue of the regions to check. Holds each region once.
#[derive(Default)]
pub(crate) struct SplitQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    regions: BTreeSet<u64>,
    closed: bool,
}

impl SplitQueue {
    /// Queues a region.
    pub(crate) fn request(&self, region_id: u64) {
        let mut state = self.state.lock();
        if !state.closed && state.regions.insert(region_id) {
            self.changed.notify_one();
        }
    }

    /// Returns the next region to check, waiting for one; `None` once closed.
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

    /// Returns the next region to check, if there is one.
    #[cfg(test)]
    pub(crate) fn pop_waiting(&self) -> Option<u64> {
        self.state.lock().regions.pop_first()
    }

    /// Closes the queue: no further region is checked.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.regions.clear();
        self.changed.notify_all();
    }
}
