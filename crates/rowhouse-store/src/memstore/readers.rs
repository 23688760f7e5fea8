//! Scanners that are on their way through a memstore when it is flushed: they go on in its file.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::Memstore;
use crate::read::Retention;
use crate::store_file::StoreFile;

/// What became of a memstore, or of several together.
pub(crate) struct Flushed {
    /// `None` where nothing of it was worth keeping.
    pub(crate) file: Option<Arc<StoreFile>>,
    /// The lowest sequence at which nothing is missed of what was dropped.
    pub(crate) readable_from: u64,
    /// What had expired then was dropped.
    pub(crate) now_millis: i64,
    /// By what else it was dropped.
    pub(crate) retention: Retention,
}

/// What a memstore knows of those who read it for long.
#[derive(Default)]
pub(super) struct Readers {
    /// How many read at each sequence.
    sequences: Mutex<BTreeMap<u64, usize>>,
    flushed: OnceLock<Arc<Flushed>>,
}

/// One who reads a memstore for long at a sequence. As long as it lives a flush that begins drops nothing
/// that can be seen there.
pub(crate) struct Reading {
    memstore: Arc<Memstore>,
    sequence: u64,
}

impl Reading {
    pub(crate) fn new(memstore: Arc<Memstore>, sequence: u64) -> Self {
        *memstore.readers.sequences.lock().entry(sequence).or_default() += 1;
        Self { memstore, sequence }
    }

    /// What became of the memstore, if it can be read there: where the flush had begun before, it may have
    /// dropped too much.
    pub(crate) fn flushed(&self) -> Option<&Arc<Flushed>> {
        self.memstore.flushed().filter(|flushed| flushed.readable_from <= self.sequence)
    }

    /// Bytes of the memstore, if it was flushed.
    pub(crate) fn flushed_bytes(&self) -> u64 {
        self.memstore.flushed().map_or(0, |_| self.memstore.bytes())
    }
}

impl Drop for Reading {
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
    /// The lowest sequence at which somebody reads it for long.
    pub(crate) fn lowest_reader(&self) -> Option<u64> {
        self.readers.sequences.lock().first_key_value().map(|(&sequence, _)| sequence)
    }

    /// What became of it; `None` before it was flushed.
    pub(crate) fn flushed(&self) -> Option<&Arc<Flushed>> {
        self.readers.flushed.get()
    }

    /// Notes what became of it, once.
    pub(crate) fn set_flushed(&self, flushed: Arc<Flushed>) {
        let _ = self.readers.flushed.set(flushed);
    }
}
