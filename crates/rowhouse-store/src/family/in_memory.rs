//! The family of an index that is in memory alone: the memstore is never flushed. Once much of it
//! is entries that rows have no more, it is rewritten without them (`flush/in_memory.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::index_memory::IndexMemory;
use crate::memstore::Memstore;

use super::FamilyStore;

/// The least bytes of removed entries for which a memstore is rewritten. Few in debug builds, so
/// that tests with few entries rewrite them.
const GARBAGE_MIN: u64 = if cfg!(debug_assertions) { 512 } else { 4 << 20 };

/// The share of the memstore that removed entries may take, as a divisor: a smaller share takes
/// less memory and more rewrites.
const GARBAGE_SHARE: u64 = 2;

/// The additional state of a family that is in memory alone.
pub(crate) struct InMemory {
    memory: Arc<IndexMemory>,
    /// About how many bytes of the memstore a rewrite would free.
    garbage: AtomicU64,
    /// All entries are in. Until then delete markers may cover entries that are added later.
    is_built: AtomicBool,
    /// A build has begun to add entries.
    is_begun: AtomicBool,
}

impl InMemory {
    /// Returns an empty memstore whose bytes count as index memory.
    pub(crate) fn memstore(&self) -> Arc<Memstore> {
        Arc::new(Memstore::of_index(&self.memory))
    }

    /// Notes that a commit is about to remove or replace an entry with so many bytes.
    pub(crate) fn note_garbage(&self, bytes: u64) {
        self.garbage.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts garbage from the beginning.
    pub(crate) fn reset_garbage(&self) {
        self.garbage.store(0, Ordering::Relaxed);
    }

    /// Returns true if a memstore with so many bytes is worth a rewrite.
    pub(crate) fn is_rewrite_due(&self, bytes: u64) -> bool {
        let garbage = self.garbage.load(Ordering::Relaxed);
        garbage > GARBAGE_MIN.max(bytes / GARBAGE_SHARE) && self.is_built.load(Ordering::Acquire)
    }

    /// Returns about how many of a memstore's bytes a rewrite would copy.
    pub(crate) fn live_bytes(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.garbage.load(Ordering::Relaxed))
    }

    /// Notes that all rows have their entries.
    pub(crate) fn set_built(&self) {
        self.is_built.store(true, Ordering::Release);
    }

    /// Notes that a build begins; returns `false` if another one has begun before.
    pub(crate) fn begin_build(&self) -> bool {
        !self.is_begun.swap(true, Ordering::AcqRel)
    }
}

impl FamilyStore {
    /// Declares that the family is in memory alone, before it has cells. `is_built` states that no
    /// build will add entries.
    pub(crate) fn set_in_memory(&self, memory: &Arc<IndexMemory>, is_built: bool) {
        self.in_memory.get_or_init(|| {
            let in_memory = InMemory {
                memory: Arc::clone(memory),
                garbage: AtomicU64::new(0),
                is_built: AtomicBool::new(is_built),
                is_begun: AtomicBool::new(false),
            };
            self.change(|super_version| super_version.active = in_memory.memstore());
            in_memory
        });
    }

    /// Returns the additional state of a family that is in memory alone; `None` for every other.
    #[inline]
    pub(crate) fn in_memory(&self) -> Option<&InMemory> {
        self.in_memory.get()
    }

    /// Freezes the active memstore and returns it. The caller must exclude writers.
    pub(crate) fn begin_rewrite(&self, in_memory: &InMemory) -> Arc<Memstore> {
        let old = self.active();
        self.change(|super_version| {
            super_version
                .frozen
                .push(std::mem::replace(&mut super_version.active, in_memory.memstore()));
        });
        old
    }

    /// Replaces all memstores by one with all their cells except those that no reader at
    /// `readable_from` or later can see. The caller must exclude writers.
    pub(crate) fn end_rewrite(&self, memstore: Arc<Memstore>, readable_from: u64) {
        self.change(|super_version| {
            super_version.frozen.clear();
            super_version.active = memstore;
            super_version.readable_from = super_version.readable_from.max(readable_from);
        });
    }
}
