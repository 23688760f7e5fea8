//! What a region keeps of one family: the memstore that takes writes, those being flushed, the
//! files. HBase calls it a Store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use rowhouse_model::{Bytes, FamilyDescriptor};

use crate::background::Work;
use crate::engine::Engine;
use crate::memstore::Memstore;
use crate::store_file::StoreFile;

/// One (region, family).
pub(crate) struct FamilyStore {
    region_id: u64,
    descriptor: FamilyDescriptor,
    parts: RwLock<Arc<Parts>>,
    /// Held by whoever flushes.
    pub(crate) flushing: Mutex<()>,
    /// Held by whoever compacts.
    pub(crate) compacting: Mutex<()>,
    flush_requested: AtomicBool,
    /// The region is gone: what is in memory is not worth a file.
    dropped: AtomicBool,
}

/// What a read has to merge, at one moment. A reader holds it as long as it reads.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) active: Arc<Memstore>,
    /// Being written to files, oldest first.
    pub(crate) frozen: Vec<Arc<Memstore>>,
    /// Oldest first.
    pub(crate) files: Vec<Arc<StoreFile>>,
}

impl FamilyStore {
    pub(crate) fn new(
        region_id: u64,
        descriptor: FamilyDescriptor,
        files: Vec<Arc<StoreFile>>,
    ) -> Self {
        let parts = Parts { active: Arc::default(), frozen: Vec::new(), files };
        Self {
            region_id,
            descriptor,
            parts: RwLock::new(Arc::new(parts)),
            flushing: Mutex::default(),
            compacting: Mutex::default(),
            flush_requested: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
        }
    }

    pub(crate) fn region_id(&self) -> u64 {
        self.region_id
    }

    pub(crate) fn descriptor(&self) -> &FamilyDescriptor {
        &self.descriptor
    }

    pub(crate) fn name(&self) -> &Bytes {
        self.descriptor.name()
    }

    /// Everything there is to read.
    pub(crate) fn parts(&self) -> Arc<Parts> {
        Arc::clone(&self.parts.read())
    }

    /// The memstore that takes writes. It stays the one while `Engine::gate` is held.
    pub(crate) fn active(&self) -> Arc<Memstore> {
        Arc::clone(&self.parts.read().active)
    }

    /// Changes the parts for all readers that come after.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Parts)) {
        let mut parts = self.parts.write();
        let mut changed = Parts::clone(&parts);
        change(&mut changed);
        *parts = Arc::new(changed);
    }

    /// The lowest sequence that is in no file yet.
    pub(crate) fn first_unflushed(&self) -> Option<u64> {
        let parts = self.parts();
        let memstores = parts.frozen.iter().chain([&parts.active]);
        memstores.filter_map(|memstore| memstore.first_sequence()).min()
    }

    /// Bytes in memory.
    pub(crate) fn memstore_bytes(&self) -> u64 {
        let parts = self.parts();
        parts.frozen.iter().chain([&parts.active]).map(|memstore| memstore.bytes()).sum()
    }

    /// Has the background flush this, once for however many ask.
    pub(crate) fn request_flush(&self, engine: &Engine) {
        if !self.flush_requested.swap(true, Ordering::Relaxed) {
            engine.queue.push(Work::Flush { region: self.region_id, family: self.name().clone() });
        }
    }

    /// A requested flush begins: the next request counts again.
    pub(crate) fn flush_begins(&self) {
        self.flush_requested.store(false, Ordering::Relaxed);
    }

    /// Gives up what is in memory and marks the files for removal.
    pub(crate) fn drop_all(&self, engine: &Engine) {
        self.dropped.store(true, Ordering::Release);
        engine.memory.free(self.memstore_bytes());
        self.change(|parts| {
            parts.active = Arc::default();
            parts.frozen.clear();
            for file in parts.files.drain(..) {
                file.remove_when_unused();
            }
        });
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }
}
