//! The cells of a commit that is being prepared.

use std::collections::HashMap;
use std::sync::Arc;

use rowhouse_model::Bytes;

use crate::family::{FamilyStore, SuperVersion};
use crate::memstore::Memstore;

/// Cells that a read sees as if they were committed after everything else. The caller holds their
/// row locks, and reads only these rows.
#[derive(Default)]
pub(crate) struct Pending {
    /// By region id and family name.
    memstores: HashMap<(u64, Bytes), Arc<Memstore>>,
}

impl Pending {
    /// The sequence number that pending cells have: higher than any commit's.
    pub(super) const SEQUENCE: u64 = u64::MAX >> 8;

    /// Adds a cell, in HBase's KeyValue layout.
    pub(crate) fn insert(&mut self, family: &FamilyStore, key_value: &[u8]) {
        let memstore = self.memstores.entry((family.region_id(), family.name().clone()));
        memstore.or_default().insert(key_value, Self::SEQUENCE);
    }

    /// Adds the cells for a family to a super version.
    pub(super) fn add_to(&self, family: &FamilyStore, super_version: &mut SuperVersion) {
        let key = (family.region_id(), family.name().clone());
        super_version.frozen.extend(self.memstores.get(&key).cloned());
    }
}
