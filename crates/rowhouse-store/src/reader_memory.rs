//! Counts and bounds the memory in flushed memstores that readers still hold.
//!
//! A flush frees memory for writers, but a memstore that a reader holds stays in memory. The flush
//! moves the memstore's bytes from [`Memory`] to [`ReaderMemory`]; they are subtracted there when
//! the memstore is dropped. Above the bound, readers release memstores, the oldest reader first:
//! they continue in the files if these show the same cells, else they end with an error (decision
//! 0062).
//!
//! [`Memory`]: crate::engine::Memory

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind};

/// How many reader lists there are. Several keep short scans on many cores from waiting for each
/// other.
const SHARDS: usize = 16;

/// A reader that may hold memstores between two calls.
pub(crate) trait MemoryHolder: Send + Sync {
    /// Continues in the files that replace flushed memstores and drops these memstores. With
    /// `over`, a reader that cannot continue ends and drops them too. A reader inside a call does
    /// this at the next clock check.
    fn release_memory(&self, over: Option<Over>);
}

/// The reason why a reader ends: the bytes that all readers held, and the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) bytes: u64,
    pub(crate) bytes_max: u64,
}

impl Over {
    /// Returns the error for every later use of `reader`.
    pub(crate) fn error(self, kind: ErrorKind, reader: &str) -> Error {
        let Self { bytes, bytes_max } = self;
        Error::new(
            kind,
            format!(
                "{reader} was closed to free memory; open another: flushed memstores held by \
                 readers: bytes={bytes}, max={bytes_max}"
            ),
        )
    }
}

/// The bytes in flushed memstores that readers hold, and the registered readers.
pub(crate) struct ReaderMemory {
    bytes: AtomicU64,
    bytes_max: u64,
    next_age: AtomicU64,
    /// By age; the smallest number is the oldest reader.
    readers: [Mutex<BTreeMap<u64, Reader>>; SHARDS],
    /// Serializes releases.
    freeing: Mutex<()>,
}

struct Reader {
    /// The sequence it reads at.
    sequence: u64,
    holder: Weak<dyn MemoryHolder>,
}

impl ReaderMemory {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            bytes: AtomicU64::new(0),
            bytes_max,
            next_age: AtomicU64::new(0),
            readers: Default::default(),
            freeing: Mutex::default(),
        }
    }

    /// Returns the bytes in flushed memstores that are still in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// Returns their bound.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Counts `bytes` until the returned guard is dropped.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> CountedBytes {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        CountedBytes { memory: Arc::clone(self), bytes }
    }

    /// Registers a reader at `sequence` until the returned guard is dropped. Flushes that begin
    /// later keep the cells it sees, and it is called to release memstores when memory is short.
    pub(crate) fn register<H: MemoryHolder + 'static>(
        self: &Arc<Self>,
        sequence: u64,
        holder: H,
    ) -> Registered<H> {
        let holder = Arc::new(holder);
        let age = self.next_age.fetch_add(1, Ordering::Relaxed);
        let weak: Weak<H> = Arc::downgrade(&holder);
        self.shard(age).lock().insert(age, Reader { sequence, holder: weak });
        Registered { holder, memory: Arc::clone(self), age }
    }

    /// Returns the lowest sequence, not below `first`, at which a registered reader reads.
    pub(crate) fn lowest_sequence(&self, first: u64) -> Option<u64> {
        let lowest_of = |shard: &Mutex<BTreeMap<u64, Reader>>| {
            let readers = shard.lock();
            readers.values().map(|reader| reader.sequence).filter(|&at| at >= first).min()
        };
        self.readers.iter().filter_map(lowest_of).min()
    }

    /// Makes readers release memstores, the oldest reader first, until they hold no more than the
    /// bound. A reader ends only if too much is still held after all of them continue in files.
    pub(crate) fn free(&self) {
        self.free_to(self.bytes_max);
    }

    /// As [`ReaderMemory::free`], with another bound.
    pub(crate) fn free_to(&self, bytes_max: u64) {
        if self.bytes() <= bytes_max {
            return;
        }
        let _freeing = self.freeing.lock();
        for ends in [false, true] {
            for reader in self.oldest_first() {
                let bytes = self.bytes();
                if bytes <= bytes_max {
                    return;
                }
                if let Some(reader) = reader.upgrade() {
                    reader.release_memory(ends.then_some(Over { bytes, bytes_max }));
                }
            }
        }
        let bytes = self.bytes();
        if bytes > bytes_max {
            tracing::debug!(bytes, bytes_max, "readers in a call hold flushed memstores");
        }
    }

    fn oldest_first(&self) -> Vec<Weak<dyn MemoryHolder>> {
        let mut readers = BTreeMap::new();
        for shard in &self.readers {
            readers.extend(
                shard.lock().iter().map(|(&age, reader)| (age, Weak::clone(&reader.holder))),
            );
        }
        readers.into_values().collect()
    }

    fn shard(&self, age: u64) -> &Mutex<BTreeMap<u64, Reader>> {
        &self.readers[age as usize % SHARDS]
    }
}

/// Bytes that count as held by readers until this is dropped.
pub(crate) struct CountedBytes {
    memory: Arc<ReaderMemory>,
    bytes: u64,
}

impl CountedBytes {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// A reader that is registered with [`ReaderMemory`].
pub(crate) struct Registered<H: MemoryHolder> {
    holder: Arc<H>,
    memory: Arc<ReaderMemory>,
    age: u64,
}

impl<H: MemoryHolder> Deref for Registered<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.holder
    }
}

impl<H: MemoryHolder> Drop for Registered<H> {
    fn drop(&mut self) {
        self.memory.shard(self.age).lock().remove(&self.age);
    }
}
