//! Long reads of a memstore, which continue in the file it is flushed to.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::Memstore;
use crate::read::Retention;
use crate::store_file::StoreFile;

/// The result of flushing one or several memstores together.
pub(crate) struct FlushResult {
    /// `None` if no cell was worth keeping.
    pub(crate) file: Option<Arc<StoreFile>>,
    /// The lowest sequence at which no dropped cell is visible.
    pub(crate) readable_from: u64,
    /// The time in milliseconds against which expired cells were dropped.
    pub(crate) now_millis: i64,
    /// The retention by which other cells were dropped.
    pub(crate) retention: Retention,
}

/// The registered readers of a memstore.
#[derive(Default)]
pub(super) struct Readers {
    /// Number of readers at each sequence.
    sequences: Mutex<BTreeMap<u64, usize>>,
    flushed: OnceLock<Arc<FlushResult>>,
}

/// The registration of a long read of a memstore at a sequence. While it exists, a flush that
/// begins drops nothing that is visible there.
pub(crate) struct ReaderRegistration {
    memstore: Arc<Memstore>,
    sequence: u64,
}

impl ReaderRegistration {
    pub(crate) fn new(memstore: Arc<Memstore>, sequence: u64) -> Self {
        *memstore.readers.sequences.lock().entry(sequence).or_default() += 1;
        Self { memstore, sequence }
    }

    /// Returns the result of the flush if it is readable at this sequence. A flush that began
    /// before the registration may have dropped too much.
    pub(crate) fn flushed(&self) -> Option<&Arc<FlushResult>> {
        self.memstore.flushed().filter(|flushed| flushed.readable_from <= self.sequence)
    }

    /// Returns the bytes of the memstore if it was flushed, else 0.
    pub(crate) fn flushed_bytes(&self) -> u64 {
        self.memstore.flushed().map_or(0, |_| self.memstore.bytes())
    }
}

impl Drop for ReaderRegistration {
    fn drop(&mut self) {
        let mut sequences = self.memstore.readers.sequences.lock();
        if let Some(count) = sequences.get_mut(&self.sequence) {
            *count -= 1;
            if *count == 0 {
                sequences.remove(&self.sequence);
            }
        }
    }
}

impl Memstore {
    /// Returns the lowest sequence of a registered reader.
    pub(crate) fn oldest_registered_sequence(&self) -> Option<u64> {
        self.readers.sequences.lock().first_key_value().map(|(&sequence, _)| sequence)
    }

    /// Returns the result of its flush; `None` before that.
    pub(crate) fn flushed(&self) -> Option<&Arc<FlushResult>> {
        self.readers.flushed.get()
    }

    /// Records the result of its flush, once.
    pub(crate) fn set_flushed(&self, flushed: Arc<FlushResult>) {
        let _ = self.readers.flushed.set(flushed);
    }
}
