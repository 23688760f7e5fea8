//! Statistics about the cells in a file under construction.

use rowhouse_model::{CellKind, CellRef};

use super::key::OwnedKey;
use super::meta::MetaChecksum;
use super::writer::Summary;

/// Statistics about a file's cells.
pub(super) struct Seen {
    pub(super) cells: u64,
    pub(super) rows: u64,
    pub(super) same_column: u64,
    pub(super) deletes: u64,
    pub(super) family_markers: u64,
    pub(super) cells_len: u64,
    pub(super) keys_len: u64,
    pub(super) values_len: u64,
    pub(super) tags_len_max: usize,
    pub(super) time_min: i64,
    pub(super) time_max: i64,
    pub(super) earliest_put: i64,
    pub(super) sequence_min: u64,
    pub(super) sequence_max: u64,
    pub(super) biggest_len: usize,
    pub(super) biggest_key: Vec<u8>,
    pub(super) first_key: Option<OwnedKey>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            cells: 0,
            rows: 0,
            same_column: 0,
            deletes: 0,
            family_markers: 0,
            cells_len: 0,
            keys_len: 0,
            values_len: 0,
            tags_len_max: 0,
            // The initial values in HBase's TimeRangeTracker.
            time_min: i64::MAX,
            time_max: -1,
            earliest_put: i64::MAX,
            sequence_min: u64::MAX,
            sequence_max: 0,
            biggest_len: 0,
            biggest_key: Vec::new(),
            first_key: None,
        }
    }
}

impl Seen {
    /// Counts a cell. `key` is the serialized key; `len` is the length in the block, in bytes.
    pub(super) fn note(&mut self, cell: &CellRef<'_>, kind: CellKind, len: usize, key: &[u8]) {
        if self.cells == 0 {
            self.first_key = Some(OwnedKey::new(&cell.key));
        }
        self.cells += 1;
        self.cells_len += len as u64;
        self.keys_len += key.len() as u64;
        self.values_len += cell.value.len() as u64;
        self.tags_len_max = self.tags_len_max.max(cell.tags.len());
        let timestamp = cell.key.timestamp;
        self.time_min = self.time_min.min(timestamp);
        self.time_max = self.time_max.max(timestamp);
        self.sequence_min = self.sequence_min.min(cell.sequence);
        self.sequence_max = self.sequence_max.max(cell.sequence);
        // As HBase's estimatedSerializedSizeOf: the KeyValue and the length prefix, without mvcc.
        let tags_len = if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() };
        let key_value_len = 4 + 8 + key.len() + cell.value.len() + tags_len;
        if key_value_len > self.biggest_len {
            self.biggest_len = key_value_len;
            self.biggest_key.clear();
            self.biggest_key.extend_from_slice(key);
        }
        match kind {
            CellKind::Put => {
                self.earliest_put = self.earliest_put.min(timestamp);
                return;
            }
            CellKind::DeleteVersion => {}
            CellKind::DeleteFamilyVersion => self.family_markers += 1,
            CellKind::DeleteColumn => self.time_min = 0,
            CellKind::DeleteFamily => {
                self.family_markers += 1;
                self.time_min = 0;
            }
        }
        self.deletes += 1;
    }

    /// Returns the summary for a file with `len` bytes.
    pub(super) fn summary(
        self,
        len: u64,
        last_key: Option<OwnedKey>,
        meta: MetaChecksum,
    ) -> Summary {
        Summary {
            len,
            cells: self.cells,
            deletes: self.deletes,
            family_markers: self.family_markers,
            rows: self.rows,
            same_column: self.same_column,
            cells_len: self.cells_len,
            keys: self.first_key.zip(last_key),
            time_range: self.time_min..=self.time_max,
            sequences: self.sequence_min..=self.sequence_max,
            meta,
        }
    }
}
