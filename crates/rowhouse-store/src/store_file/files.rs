//! Resources that all files in a store share: the disk, open descriptors, the block cache. The open
//! file count is bounded, so a store with many files needs few descriptors.

use std::io;
use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::block_cache::BlockCache;
use crate::damage::Damage;
use crate::disk::{Disk, DiskFile};
use crate::layout::file_path;

/// The store's files, by id.
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    open: Cache<u64, Arc<dyn DiskFile>>,
    pub(crate) blocks: BlockCache,
    pub(crate) damage: Damage,
}

impl Files {
    /// Keeps at most `open_max` files open, in addition to those being read. A file that was not
    /// read for a while is closed, and reopened on the next read. The block cache takes up to
    /// `blocks_bytes_max` bytes.
    pub(crate) fn new(disk: Arc<dyn Disk>, open_max: usize, blocks_bytes_max: u64) -> Self {
        let open = Cache::new(open_max.max(1));
        let blocks = BlockCache::new(blocks_bytes_max);
        Self { disk, open, blocks, damage: Damage::default() }
    }

    /// Returns file `id`, opened if necessary.
    pub(super) fn open(&self, id: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.open.get_or_insert_with(&id, || self.disk.open(&file_path(id)))
    }

    /// Removes file `id`.
    pub(super) fn remove(&self, id: u64) -> io::Result<()> {
        self.open.remove(&id);
        self.disk.remove(&file_path(id))
    }
}
