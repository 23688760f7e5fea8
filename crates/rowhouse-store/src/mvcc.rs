//! The one sequence: who may see what.
//!
//! The commit path reserves a number, puts the cells into the memstores under it, and publishes
//! it. Numbers become visible in order: a reader that holds number N sees every mutation up to N,
//! over all tables, and none above. Only the commit path advances the sequence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

pub(crate) struct Mvcc {
    /// The highest number handed out.
    reserved: AtomicU64,
    /// Every number up to this one is visible.
    visible: AtomicU64,
    /// Published before one of their predecessors was.
    early: Mutex<BTreeSet<u64>>,
    advanced: Condvar,
    /// Read points in use, each with how many readers hold it.
    readers: Mutex<BTreeMap<u64, usize>>,
}

impl Mvcc {
    /// A sequence that continues behind `last`.
    pub(crate) fn new(last: u64) -> Self {
        Self {
            reserved: AtomicU64::new(last),
            visible: AtomicU64::new(last),
            early: Mutex::default(),
            advanced: Condvar::new(),
            readers: Mutex::default(),
        }
    }

    /// Continues behind `sequence`, which was read back from the log.
    pub(crate) fn restore(&self, sequence: u64) {
        self.reserved.fetch_max(sequence, Ordering::AcqRel);
        self.visible.fetch_max(sequence, Ordering::AcqRel);
    }

    /// The next number. Whoever takes one must publish it, whatever happens, or nothing behind it
    /// ever becomes visible.
    pub(crate) fn reserve(&self) -> u64 {
        self.reserved.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The highest number handed out.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Acquire)
    }

    /// Makes `sequence` visible, and waits until it is: until every commit before it has been
    /// published too. Those are in memory and waiting for nothing, so the wait is short.
    pub(crate) fn publish(&self, sequence: u64) {
        let mut early = self.early.lock();
        early.insert(sequence);
        let mut visible = self.visible.load(Ordering::Relaxed);
        while early.remove(&(visible + 1)) {
            visible += 1;
        }
        if visible >= sequence {
            self.visible.store(visible, Ordering::Release);
            self.advanced.notify_all();
        }
        while self.visible.load(Ordering::Acquire) < sequence {
            self.advanced.wait(&mut early);
        }
    }

    /// A point to read at: everything published so far. Compaction keeps what it can see until it
    /// is dropped.
    pub(crate) fn read(self: &Arc<Self>) -> ReadPoint {
        let mut readers = self.readers.lock();
        // Inside the lock, so that `oldest_reader` cannot miss a point taken before it looked.
        let sequence = self.visible.load(Ordering::Acquire);
        *readers.entry(sequence).or_default() += 1;
        ReadPoint { mvcc: Arc::clone(self), sequence }
    }

    /// The lowest number that a reader holds or could still take.
    pub(crate) fn oldest_reader(&self) -> u64 {
        let readers = self.readers.lock();
        let visible = self.visible.load(Ordering::Acquire);
        readers.keys().next().map_or(visible, |&oldest| oldest.min(visible))
    }
}

/// A number to read at, held.
pub(crate) struct ReadPoint {
    mvcc: Arc<Mvcc>,
    sequence: u64,
}

impl ReadPoint {
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl Drop for ReadPoint {
    fn drop(&mut self) {
        let mut readers = self.mvcc.readers.lock();
        if let Some(held) = readers.get_mut(&self.sequence) {
            *held -= 1;
            if *held == 0 {
                readers.remove(&self.sequence);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_visible_before_its_predecessors() {
        let mvcc = Arc::new(Mvcc::new(10));
        let (first, second) = (mvcc.reserve(), mvcc.reserve());
        let late = {
            let mvcc = Arc::clone(&mvcc);
            std::thread::spawn(move || {
                mvcc.publish(second);
                mvcc.read().sequence()
            })
        };
        while mvcc.early.lock().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(mvcc.read().sequence(), 10);
        mvcc.publish(first);
        assert_eq!(late.join().unwrap(), 12);
    }

    #[test]
    fn oldest_reader_is_the_lowest_point_held() {
        let mvcc = Arc::new(Mvcc::new(1));
        let old = mvcc.read();
        let next = mvcc.reserve();
        mvcc.publish(next);
        let new = mvcc.read();
        assert_eq!(mvcc.oldest_reader(), 1);
        drop(old);
        assert_eq!(mvcc.oldest_reader(), 2);
        drop(new);
        assert_eq!(mvcc.oldest_reader(), 2);
    }
}
