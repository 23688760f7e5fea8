//! Parts in memory, for segments that are not written yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use rowhouse_model::{Error, Result};

use super::parts::{PartId, Parts};

/// Parts in memory.
#[derive(Default)]
pub(crate) struct MemoryParts {
    parts: RwLock<HashMap<PartId, Bytes>>,
    bytes: AtomicU64,
}

impl MemoryParts {
    /// The bytes of all parts.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Parts for MemoryParts {
    fn write(&self, part: PartId, bytes: Vec<u8>) -> Result<()> {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.parts.write().insert(part, bytes.into());
        Ok(())
    }

    fn read(&self, part: PartId) -> Result<Bytes> {
        let found = self.parts.read().get(&part).cloned();
        found.ok_or_else(|| Error::corruption(format!("a part is missing: {part:?}")))
    }
}
