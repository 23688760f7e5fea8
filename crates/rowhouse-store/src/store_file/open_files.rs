//! Open files, bounded in number: a store of many files does with few descriptors.

use std::io;
use std::sync::Arc;

use quick_cache::sync::Cache;

use super::path;
use crate::disk::{Disk, DiskFile};

/// The files of a store, by id. A file that has not been read for long is closed, and opened again
/// when it is.
pub(crate) struct OpenFiles {
    disk: Arc<dyn Disk>,
    open: Cache<u64, Arc<dyn DiskFile>>,
}

impl OpenFiles {
    /// At most `files_max` are open, and those that are being read at this moment.
    pub(crate) fn new(disk: Arc<dyn Disk>, files_max: usize) -> Self {
        Self { disk, open: Cache::new(files_max.max(1)) }
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
