//! Multi-version concurrency control: the one sequence that decides which mutations a reader sees.
//!
//! The commit path reserves a number, puts the cells into the memstores under it, and publishes it.
//! Numbers become visible in order: a reader that holds number N sees every mutation up to N, over
//! all tables, and none above. Only the commit path advances the sequence.
//!
//! Readers are not registered: taking a number is one load. A reader holds the memstores and files
//! it reads, and `SuperVersion::readable_from` limits how old a reader may be. Only read points and
//! scanners that hold memstores register their sequence with the store, so that flushes keep the
//! cells they see (`reader_memory.rs`).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

pub(crate) struct Mvcc {
    /// The highest number handed out.
    reserved: AtomicU64,
    /// Every number up to this one is visible.
    visible: AtomicU64,
    /// Numbers published before a predecessor.
    early: Mutex<BTreeSet<u64>>,
    advanced: Condvar,
}

/// How often a commit looks for its predecessors before it sleeps: at first with pauses that
/// double, then with its core given to another thread.
const TURNS_MAX: u32 = 16;
const SPINS: u32 = 6;

impl Mvcc {
    /// Starts a sequence after `last`.
    pub(crate) fn new(last: u64) -> Self {
        Self {
            reserved: AtomicU64::new(last),
            visible: AtomicU64::new(last),
            early: Mutex::default(),
            advanced: Condvar::new(),
        }
    }

    /// Continues after `sequence`, which was read from the log.
    pub(crate) fn restore(&self, sequence: u64) {
        self.reserved.fetch_max(sequence, Ordering::AcqRel);
        self.visible.fetch_max(sequence, Ordering::AcqRel);
    }

    /// Reserves the next number. The caller must publish it in all cases, or no later number
    /// ever becomes visible.
    pub(crate) fn reserve(&self) -> u64 {
        *self.reserve_several(1).start()
    }

    /// Reserves the next `count` numbers without a gap; `count` is at least 1.
    pub(crate) fn reserve_several(&self, count: u64) -> RangeInclusive<u64> {
        let first = self.reserved.fetch_add(count, Ordering::Relaxed) + 1;
        first..=first + (count - 1)
    }

    /// Returns the highest number handed out.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Acquire)
    }

    /// Publishes `sequence` and waits until it is visible, that is, until every earlier commit is
    /// published too. Those are already in memory and wait for nothing, so the wait is short.
    pub(crate) fn publish(&self, sequence: u64) {
        self.publish_several(sequence..=sequence);
    }

    /// Publishes several numbers atomically: no reader sees one without the others.
    pub(crate) fn publish_several(&self, sequences: RangeInclusive<u64>) {
        let sequence = *sequences.end();
        {
            let mut early = self.early.lock();
            early.extend(sequences);
            let mut visible = self.visible.load(Ordering::Relaxed);
            while early.remove(&(visible + 1)) {
                visible += 1;
            }
            if visible >= sequence {
                self.visible.store(visible, Ordering::Release);
                self.advanced.notify_all();
                return;
            }
        }
        // A predecessor is about to publish, or waits for a core: to sleep and be woken would take
        // longer.
        for turn in 0..TURNS_MAX {
            if self.visible() >= sequence {
                return;
            }
            if turn < SPINS {
                (0..1 << turn).for_each(|_| std::hint::spin_loop());
            } else {
                std::thread::yield_now();
            }
        }
        let mut early = self.early.lock();
        while self.visible() < sequence {
            self.advanced.wait(&mut early);
        }
    }

    /// Returns the read point: every number up to it is published. It never decreases.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nothing_is_visible_before_its_predecessors() {
        let mvcc = Arc::new(Mvcc::new(10));
        let first = mvcc.reserve();
        let second = mvcc.reserve();
        let late = {
            let mvcc = Arc::clone(&mvcc);
            std::thread::spawn(move || {
                mvcc.publish(second);
                mvcc.visible()
            })
        };
        while mvcc.early.lock().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(mvcc.visible(), 10);
        mvcc.publish(first);
        assert_eq!(late.join().unwrap(), 12);
    }

    #[test]
    fn several_numbers_are_visible_at_once_and_none_comes_between() {
        let mvcc = Mvcc::new(10);
        let several = mvcc.reserve_several(3);
        let next = mvcc.reserve();
        assert_eq!((several.clone(), next), (11..=13, 14));
        mvcc.publish_several(several);
        assert_eq!(mvcc.visible(), 13);
        mvcc.publish(next);
        assert_eq!(mvcc.visible(), 14);
    }
}
