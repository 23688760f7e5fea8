//! Scanners and read points that hold a memstore when it is flushed: they go on in its file.

use std::sync::{Arc, OnceLock};

use super::Memstore;
use crate::read::{CountedBytes, ReaderMemory, Retention};
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

/// What became of a memstore that was flushed.
#[derive(Default)]
pub(super) struct Readers {
    flushed: OnceLock<Arc<Flushed>>,
    /// Its bytes, once only readers hold it.
    held: OnceLock<CountedBytes>,
}

impl Memstore {
    /// What became of it; `None` before it was flushed.
    pub(crate) fn flushed(&self) -> Option<&Arc<Flushed>> {
        self.readers.flushed.get()
    }

    /// Notes what became of it, once.
    pub(crate) fn set_flushed(&self, flushed: Arc<Flushed>) {
        let _ = self.readers.flushed.set(flushed);
    }

    /// Notes that only readers hold it from now on: its bytes are counted with `memory` until it is
    /// dropped. Nobody writes to it any more. Returns these bytes, the first time.
    pub(crate) fn leave_to_readers(&self, memory: &Arc<ReaderMemory>) -> u64 {
        let mut bytes = 0;
        self.readers.held.get_or_init(|| {
            bytes = self.bytes();
            memory.count(bytes)
        });
        bytes
    }

    /// Its bytes, if only readers hold it.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.readers.held.get().map_or(0, CountedBytes::bytes)
    }
}
