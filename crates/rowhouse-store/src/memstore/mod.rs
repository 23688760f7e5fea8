//! The cells in one family and region that are in the log but not yet in a file.
//!
//! A memstore is a skip list in an arena: a cell is copied once, next to the links, and all memory
//! is freed together; large chunks are retained for the next memstore. Many threads insert
//! concurrently; readers never wait. A Bloom filter spares most reads of one row a search.
//!
//! The unsafe code is in `arena`, `large_chunks`, `node`, `skip_list`, `spans`, `cursor` and
//! `passing`. The usual tests compare the list with a `BTreeMap` and run concurrent writers and
//! readers. Two tools check it further:
//!
//! ```text
//! MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation" \
//!     cargo +nightly miri test -p rowhouse-store --target-dir target/miri --lib memstore::
//! LOOM_MAX_PREEMPTIONS=3 RUSTFLAGS="--cfg loom" \
//!     cargo test -p rowhouse-store --release --target-dir target/loom --lib memstore::loom_tests
//! ```
//!
//! Miri checks every memory access in the tests; loom runs the production code in every
//! interleaving of three threads with up to three preemptions. Each takes some minutes.

mod arena;
mod cursor;
mod filter;
mod large_chunks;
mod link;
mod node;
mod passing;
mod readers;
mod skip_list;
mod spans;
mod sync;

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rowhouse_model::{CellKind, CellRef, Key, RowRange};

use crate::index_memory::{IndexBytes, IndexMemory};
pub(crate) use cursor::MemstoreCursor;
use cursor::place;
use filter::{Filter, Place};
pub(crate) use large_chunks::{RetainedChunks, free_retained_chunks};
pub(crate) use readers::FlushResult;
use readers::Readers;
use skip_list::SkipList;
use sync::{AtomicBool, AtomicU64};

/// A sorted cell set. Readers never wait for a writer and may meet any cell in the set at any time;
/// they skip cells newer than their read point.
pub(crate) struct Memstore {
    started: Instant,
    cells: SkipList,
    /// `None` while empty.
    filter: OnceLock<Box<Filter>>,
    /// The lowest sequence inserted; 0 while empty.
    first_sequence: AtomicU64,
    /// The highest sequence inserted.
    last_sequence: AtomicU64,
    /// The lowest timestamp of a put, in the order that [`ordered`] gives.
    earliest_put: AtomicU64,
    has_tags: AtomicBool,
    has_version_markers: AtomicBool,
    has_family_markers: AtomicBool,
    /// Some cells are not in the log.
    unlogged: AtomicBool,
    readers: Readers,
    /// Counts the bytes of a memstore that is never flushed.
    index_bytes: Option<IndexBytes>,
}

impl Default for Memstore {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            cells: SkipList::default(),
            filter: OnceLock::new(),
            first_sequence: AtomicU64::default(),
            last_sequence: AtomicU64::default(),
            earliest_put: AtomicU64::new(u64::MAX),
            has_tags: AtomicBool::default(),
            has_version_markers: AtomicBool::default(),
            has_family_markers: AtomicBool::default(),
            unlogged: AtomicBool::default(),
            readers: Readers::default(),
            index_bytes: None,
        }
    }
}

impl Memstore {
    /// Returns an empty memstore for the cells of others, which were written under these sequences.
    pub(crate) fn of_sequences(sequences: RangeInclusive<u64>) -> Self {
        Self {
            first_sequence: AtomicU64::new(*sequences.start()),
            last_sequence: AtomicU64::new(*sequences.end()),
            ..Self::default()
        }
    }

    /// Returns an empty memstore for an index in memory. The bytes count in `memory` until the
    /// memstore is dropped.
    pub(crate) fn of_index(memory: &Arc<IndexMemory>) -> Self {
        Self { index_bytes: Some(IndexBytes::new(memory)), ..Self::default() }
    }

    /// Counts bytes that an insert returned, if it belongs to an index in memory.
    pub(crate) fn count(&self, added: u64) {
        self.index_bytes.iter().for_each(|bytes| bytes.add(added));
    }

    /// Returns the time since which it can be filled.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Inserts a copy of a cell, given as a checked KeyValue, under `sequence`. It replaces a cell
    /// with the same key and sequence: a mutation may put a cell twice, and HBase keeps the last
    /// (`CellSet.add`). Returns how many bytes were allocated; usually none, since memory is
    /// allocated in chunks.
    pub(crate) fn insert(&self, key_value: &[u8], sequence: u64) -> u64 {
        let (place, added) = self.filter_place(key_value);
        let added = added + self.cells.insert(key_value, sequence);
        place.add();
        self.note(sequence, key_value);
        added
    }

    /// As [`Memstore::insert`] for many cells; faster if they are sorted.
    pub(crate) fn insert_sorted<'c>(&self, cells: impl Iterator<Item = (&'c [u8], u64)>) -> u64 {
        let mut filter_bytes = 0;
        let added = self.cells.insert_sorted(cells.inspect(|&(key_value, sequence)| {
            let (place, added) = self.filter_place(key_value);
            place.add();
            filter_bytes += added;
            self.note(sequence, key_value);
        }));
        added + filter_bytes
    }

    /// Returns the cells, as KeyValues with their sequence numbers, in order.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut next = self.cells.first();
        std::iter::from_fn(move || {
            loop {
                let node = next?;
                next = node.next();
                node.prefetch_ahead();
                if !node.is_overwritten() {
                    return Some((node.key_value(), node.sequence()));
                }
            }
        })
    }

    /// As [`Filter::place`].
    #[inline]
    fn filter_place(&self, key_value: &[u8]) -> (Place<'_>, u64) {
        let key = CellRef::from_checked(key_value, 0).key;
        let filter = self.filter.get_or_init(Box::default);
        filter.place(key.row, key.qualifier, self.cells.bytes())
    }

    /// Updates the summary fields. Reads before it writes, since writers share the cache line and
    /// usually have nothing to change.
    fn note(&self, sequence: u64, key_value: &[u8]) {
        let first = self.first_sequence.load(Relaxed);
        if first == 0 || sequence < first {
            let _ = self.first_sequence.fetch_update(Relaxed, Relaxed, |first| {
                (first == 0 || sequence < first).then_some(sequence)
            });
        }
        if self.last_sequence.load(Relaxed) < sequence {
            self.last_sequence.fetch_max(sequence, Relaxed);
        }
        if CellRef::has_tags(key_value) && !self.has_tags.load(Relaxed) {
            self.has_tags.store(true, Relaxed);
        }
        let cell = CellRef::from_checked(key_value, sequence);
        if cell.kind() == CellKind::Put {
            let timestamp = ordered(cell.key.timestamp);
            if timestamp < self.earliest_put.load(Relaxed) {
                self.earliest_put.fetch_min(timestamp, Relaxed);
            }
            return;
        }
        if cell.kind().is_version_delete() && !self.has_version_markers.load(Relaxed) {
            self.has_version_markers.store(true, Relaxed);
        }
        if cell.kind().is_family_delete() && !self.has_family_markers.load(Relaxed) {
            self.has_family_markers.store(true, Relaxed);
        }
    }

    /// Returns the bytes requested from the allocator: exactly the sum of the values returned by
    /// [`Memstore::insert`]. This includes the unused rest of the current chunk, at most half of
    /// the total or 2 MiB.
    pub(crate) fn bytes(&self) -> u64 {
        self.cells.bytes() + self.filter.get().map_or(0, |filter| filter.bytes())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.first().is_none()
    }

    /// Returns true if it may have visible cells in `row`; `false` is certain.
    #[inline]
    pub(crate) fn may_hold_row(&self, row: &[u8]) -> bool {
        self.filter.get().is_some_and(|filter| filter.may_hold(row, None))
    }

    /// As [`Memstore::may_hold_row`], for cells and markers that matter to one column.
    #[inline]
    pub(crate) fn may_hold_column(&self, row: &[u8], qualifier: &[u8]) -> bool {
        let qualifier = Some(qualifier).filter(|_| !self.has_family_markers());
        self.filter.get().is_some_and(|filter| filter.may_hold(row, qualifier))
    }

    /// Returns about how many cells lie in `range`, and their bytes; exact up to `cells_min` cells.
    /// The time it takes grows with `cells_min`, the error shrinks.
    pub(crate) fn estimate(&self, range: &RowRange, cells_min: u64) -> (u64, u64) {
        let [start, stop] = [&range.start, &range.stop].map(|row| place(&Key::row_start(row)));
        let stop = Some(stop).filter(|_| !range.stop.is_empty());
        self.cells.estimate(&start, stop.as_ref(), cells_min)
    }

    /// Returns the lowest sequence in it, which the log segment must outlive.
    pub(crate) fn first_sequence(&self) -> Option<u64> {
        Some(self.first_sequence.load(Relaxed)).filter(|&first| first != 0)
    }

    /// Returns the highest sequence in it.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last_sequence.load(Relaxed)
    }

    /// Marks that it holds a cell that is not in the log.
    pub(crate) fn set_unlogged(&self) {
        self.unlogged.store(true, Relaxed);
    }

    /// Whether any cell is not in the log.
    pub(crate) fn is_unlogged(&self) -> bool {
        self.unlogged.load(Relaxed)
    }

    /// Whether any cell carries tags.
    pub(crate) fn has_tags(&self) -> bool {
        self.has_tags.load(Relaxed)
    }

    /// Returns the lowest timestamp of a put; `i64::MAX` if there is none.
    pub(crate) fn earliest_put(&self) -> i64 {
        (self.earliest_put.load(Relaxed) ^ SIGN).cast_signed()
    }

    /// Whether any cell is a delete marker for single versions.
    pub(crate) fn has_version_markers(&self) -> bool {
        self.has_version_markers.load(Relaxed)
    }

    /// Whether any cell is a delete marker over a family.
    pub(crate) fn has_family_markers(&self) -> bool {
        self.has_family_markers.load(Relaxed)
    }
}

const SIGN: u64 = 1 << 63;

/// Returns a number that orders as the timestamp does: loom has no signed atomics.
fn ordered(timestamp: i64) -> u64 {
    timestamp.cast_unsigned() ^ SIGN
}

#[cfg(test)]
#[cfg(loom)]
mod loom_tests;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;
