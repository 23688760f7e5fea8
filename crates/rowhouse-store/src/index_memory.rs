//! Counts and bounds the memory of the indexes that are in memory alone (decision 0067).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::{Error, ErrorKind, Result};

/// The bytes of all index memstores in a store, and their bound.
pub(crate) struct IndexMemory {
    bytes: AtomicU64,
    bytes_max: u64,
}

impl IndexMemory {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { bytes: AtomicU64::new(0), bytes_max }
    }

    /// Returns the bytes in use, also in memstores that only readers hold.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the bound.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Checks that `more` bytes have room.
    ///
    /// # Errors
    /// `RegionTooBusy` that names both numbers and the bound.
    pub(crate) fn check(&self, more: u64) -> Result<()> {
        let bytes = self.bytes();
        let bytes_max = self.bytes_max;
        if bytes.saturating_add(more) <= bytes_max {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::RegionTooBusy,
            format!("the memory for indexes is full: bytes={bytes}, more={more}, max={bytes_max}"),
        ))
    }
}

/// The bytes that one memstore adds to [`IndexMemory`], until this is dropped.
pub(crate) struct IndexBytes {
    memory: Arc<IndexMemory>,
    bytes: AtomicU64,
}

impl IndexBytes {
    pub(crate) fn new(memory: &Arc<IndexMemory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, bytes: u64) {
        if bytes > 0 {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for IndexBytes {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_until_their_memstore_is_dropped_and_are_bounded() {
        let memory = Arc::new(IndexMemory::new(100));
        let first = IndexBytes::new(&memory);
        first.add(60);
        memory.check(40).unwrap();
        let error = memory.check(41).unwrap_err();
        assert_eq!(error.message(), "the memory for indexes is full: bytes=60, more=41, max=100");
        drop(first);
        assert_eq!(memory.bytes(), 0);
    }
}
