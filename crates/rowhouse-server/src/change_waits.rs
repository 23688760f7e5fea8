//! Limits the calls that hold a worker thread while they wait for changes.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The calls that wait for changes.
#[derive(Default)]
pub(crate) struct ChangeWaits {
    waiting: AtomicUsize,
}

/// A call that may wait.
pub(crate) struct Waiting<'w>(&'w AtomicUsize);

impl ChangeWaits {
    /// Admits a call that waits; `None` if `max` others wait.
    pub(crate) fn enter(&self, max: usize) -> Option<Waiting<'_>> {
        let waiting = Waiting(&self.waiting);
        let others = self.waiting.fetch_add(1, Ordering::AcqRel);
        (others < max).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_admitted_once_another_has_ended() {
        let waits = ChangeWaits::default();
        let first = waits.enter(1);
        assert!(first.is_some());
        assert!(waits.enter(1).is_none());
        drop(first);
        assert!(waits.enter(1).is_some());
    }
}
