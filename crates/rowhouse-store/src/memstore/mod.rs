//! The cells of one (region, family) that are in the log but in no file yet.
//!
//! A skip list in an arena: a cell is copied once, beside its links, and everything is freed at
//! once. Many threads insert side by side; readers wait for nobody.
//!
//! The unsafe code is in `arena`, `node`, `skip_list`, `spans`, `cursor` and `passing`. Beside the usual tests, which hold
//! the list against a `BTreeMap` and under writers and readers side by side, two tools watch it:
//!
//! ```text
//! MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation" \
//!     cargo +nightly miri test -p rowhouse-store --target-dir target/miri --lib memstore::
//! LOOM_MAX_PREEMPTIONS=3 RUSTFLAGS="--cfg loom" \
//!     cargo test -p rowhouse-store --release --target-dir target/loom --lib memstore::loom_tests
//! ```
//!
//! Miri sees every access to memory of the tests; loom runs the very code in every order that three
//! threads can take with three interruptions. Each takes some minutes.

mod arena;
mod cursor;
mod link;
mod node;
mod passing;
mod readers;
mod skip_list;
mod spans;
mod sync;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use rowhouse_model::CellRef;

pub(crate) use cursor::MemstoreCursor;
pub(crate) use readers::Flushed;
use readers::Readers;
use skip_list::SkipList;
use sync::{AtomicBool, AtomicU64};

/// A sorted set of cells. Readers never wait for a writer, and see its cells at any time: those
/// above their read point are for them to skip.
pub(crate) struct Memstore {
    begun: Instant,
    cells: SkipList,
    /// The lowest sequence put in; 0 while empty.
    first_sequence: AtomicU64,
    /// The highest sequence put in.
    last_sequence: AtomicU64,
    has_tags: AtomicBool,
    /// Some of it is in no log.
    unlogged: AtomicBool,
    readers: Readers,
}

impl Default for Memstore {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            cells: SkipList::default(),
            first_sequence: AtomicU64::default(),
            last_sequence: AtomicU64::default(),
            has_tags: AtomicBool::default(),
            unlogged: AtomicBool::default(),
            readers: Readers::default(),
        }
    }
}

impl Memstore {
    /// Since when it can be filled.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// Adds a copy of a cell, given as a checked KeyValue, under `sequence`. It takes the place of one with the same key and
    /// sequence: a mutation may put a cell twice, and HBase keeps what came last (`CellSet.add`).
    /// Gives back how many bytes of memory it takes; mostly none, since memory comes in chunks.
    pub(crate) fn insert(&self, key_value: &[u8], sequence: u64) -> u64 {
        let added = self.cells.insert(key_value, sequence);
        self.note(sequence, CellRef::has_tags(key_value));
        added
    }

    /// The same for many cells, which is faster when they come in order.
    pub(crate) fn insert_sorted<'c>(&self, cells: impl Iterator<Item = (&'c [u8], u64)>) -> u64 {
        self.cells.insert_sorted(cells.inspect(|&(key_value, sequence)| {
            self.note(sequence, CellRef::has_tags(key_value));
        }))
    }

    /// Notes what is in it. Looks before it writes, since writers share the cache line and mostly
    /// have nothing new to say.
    fn note(&self, sequence: u64, has_tags: bool) {
        let first = self.first_sequence.load(Relaxed);
        if first == 0 || sequence < first {
            let _ = self.first_sequence.fetch_update(Relaxed, Relaxed, |first| {
                (first == 0 || sequence < first).then_some(sequence)
            });
        }
        if self.last_sequence.load(Relaxed) < sequence {
            self.last_sequence.fetch_max(sequence, Relaxed);
        }
        if has_tags && !self.has_tags.load(Relaxed) {
            self.has_tags.store(true, Relaxed);
        }
    }

    /// Bytes of memory that the allocator was asked for: exactly what [`Memstore::insert`] gave
    /// back, all together. Of the chunk that is being filled, at most half of them or two MiB, some
    /// are still to be used.
    pub(crate) fn bytes(&self) -> u64 {
        self.cells.bytes()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.first().is_none()
    }

    /// The lowest sequence in it, which its log segment must outlive.
    pub(crate) fn first_sequence(&self) -> Option<u64> {
        Some(self.first_sequence.load(Relaxed)).filter(|&first| first != 0)
    }

    /// The highest sequence in it.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last_sequence.load(Relaxed)
    }

    /// Notes that a cell was put in that is in no log.
    pub(crate) fn set_unlogged(&self) {
        self.unlogged.store(true, Relaxed);
    }

    /// Whether any cell is in no log.
    pub(crate) fn is_unlogged(&self) -> bool {
        self.unlogged.load(Relaxed)
    }

    /// Whether any cell carries tags.
    pub(crate) fn has_tags(&self) -> bool {
        self.has_tags.load(Relaxed)
    }
}

#[cfg(test)]
#[cfg(loom)]
mod loom_tests;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;
