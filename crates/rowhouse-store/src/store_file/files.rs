//! What all files of a store share: the disk, open descriptors, blocks in memory. Open files are
//! bounded in number, so that a store of many files does with few descriptors.

use std::io;
use std::sync::Arc;

use quick_cache::sync::Cache;

use super::path;
use crate::block_cache::BlockCache;
use crate::disk::{Disk, DiskFile};

/// The files of a store, by id.
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    open: Cache<u64, Arc<dyn DiskFile>>,
    pub(crate) blocks: BlockCache,
}

impl Files {
    /// At most `open_max` are open, and those that are being read at this moment; one that has not
    /// been read for long is closed, and opened again when it is. Blocks take up to
    /// `blocks_bytes_max` bytes.
    pub(crate) fn new(disk: Arc<dyn Disk>, open_max: usize, blocks_bytes_max: u64) -> Self {
        Self { disk, open: Cache::new(open_max.max(1)), blocks: BlockCache::new(blocks_bytes_max) }
    }

    /// File `id`, open.
    pub(super) fn open(&self, id: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.open.get_or_insert_with(&id, || self.disk.open(&path(id)))
    }

    /// Removes file `id`.
    pub(super) fn remove(&self, id: u64) -> io::Result<()> {
        self.open.remove(&id);
        self.disk.remove(&path(id))
    }
}
