//! Memory of flushed memstores that readers still hold: counted, and bounded.
//!
//! Each (region, family) flushes its memstores to free memory for writers. A memstore that a reader
//! holds stays in memory after that. Its bytes move from [`Memory`] to [`ReaderMemory`] then, and
//! leave it when the memstore is dropped. Above the bound the readers let go, the oldest first:
//! they go on in files where these show the same, and end where they do not (decision 0062).
//!
//! [`Memory`]: crate::engine::Memory

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind};

/// How many lists of readers there are: short scans on many cores must not wait for each other.
const SHARDS: usize = 16;

/// A reader that may hold memstores between two calls of its user.
pub(crate) trait MemoryHolder: Send + Sync {
    /// Goes on in the files of memstores that were flushed and drops these. Where `over` is given,
    /// a reader that cannot ends, and drops them all the same. A reader in the middle of a call
    /// does this when it looks at the clock next.
    fn release_memory(&self, over: Option<Over>);
}

/// Why a reader ends: the bytes that all readers held, and the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) bytes: u64,
    pub(crate) bytes_max: u64,
}

impl Over {
    /// The error of every later use of `reader`.
    pub(crate) fn error(self, kind: ErrorKind, reader: &str) -> Error {
        let Self { bytes, bytes_max } = self;
        Error::new(
            kind,
            format!(
                "{reader} was ended to free memory, begin another: flushed memstores held by \
                 readers: bytes={bytes}, max={bytes_max}"
            ),
        )
    }
}

/// The bytes of flushed memstores that readers hold, and these readers.
pub(crate) struct ReaderMemory {
    bytes: AtomicU64,
    bytes_max: u64,
    next_age: AtomicU64,
    /// By age: the least is the oldest.
    readers: [Mutex<BTreeMap<u64, Reader>>; SHARDS],
    /// Held by the one thread that has readers let go.
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

    /// Bytes of flushed memstores that are still in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// How many there may be.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Counts `bytes` until what it returns is dropped.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> CountedBytes {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        CountedBytes { memory: Arc::clone(self), bytes }
    }

    /// Registers a reader at `sequence` until what this returns is dropped. It is asked when memory
    /// is short, and flushes that begin keep what it sees.
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

    /// The lowest sequence of a reader that can see cells from `first` on.
    pub(crate) fn lowest_sequence(&self, first: u64) -> Option<u64> {
        let lowest_of = |shard: &Mutex<BTreeMap<u64, Reader>>| {
            let readers = shard.lock();
            readers.values().map(|reader| reader.sequence).filter(|&at| at >= first).min()
        };
        self.readers.iter().filter_map(lowest_of).min()
    }

    /// Has readers let go, the oldest first, until no more is held than may be. A reader ends only
    /// where too much is held after all of them have gone on in files.
    pub(crate) fn free(&self) {
        self.free_to(self.bytes_max);
    }

    /// The same, until no more than `bytes_max` is held.
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

/// Bytes that are counted as held by readers, as long as it lives.
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
