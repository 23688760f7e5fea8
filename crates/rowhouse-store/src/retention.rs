//! How long a family retains cells: versions, TTL and deleted cells.

use rowhouse_model::{FamilyDescriptor, KeepDeletedCells, TimeRange};

/// A family's retention settings, parsed once because every read needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    pub(crate) versions_max: u32,
    pub(crate) versions_min: u32,
    /// `None` for no expiry.
    ttl_millis: Option<i64>,
    pub(crate) deleted: KeepDeletedCells,
    /// Deletes cover by sequence (NEW_VERSION_BEHAVIOR).
    pub(crate) by_sequence: bool,
}

impl From<&FamilyDescriptor> for Retention {
    fn from(family: &FamilyDescriptor) -> Self {
        let ttl_millis = family.ttl().map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        Self {
            versions_max: family.versions_max(),
            versions_min: family.versions_min(),
            ttl_millis,
            deleted: family.keep_deleted_cells(),
            by_sequence: family.new_version_behavior(),
        }
    }
}

impl Retention {
    /// Whether reads can return older cell versions.
    pub(crate) fn has_versions(&self) -> bool {
        self.versions_max > 1
    }

    /// True if a read over these times that shows no markers sees no cell that a flush drops under
    /// the `declared` retention. False if the retention has changed, and if the time range excludes
    /// newer versions and so uncovers older ones.
    pub(crate) fn hides_dropped(&self, declared: &Self, time_range: &TimeRange) -> bool {
        self == declared && time_range.max().is_latest()
    }

    /// Returns the timestamp below which cells have outlived the TTL; without a TTL the lowest
    /// timestamp.
    pub(crate) fn unexpired_from(&self, now_millis: i64) -> i64 {
        self.ttl_millis.map_or(i64::MIN, |ttl| now_millis.saturating_sub(ttl))
    }

    /// Returns for how many milliseconds after its timestamp the newest version in a column is
    /// visible; `None` if it does not expire.
    pub(crate) fn expires_after_millis(&self) -> Option<i64> {
        self.ttl_millis.filter(|_| self.versions_min == 0)
    }

    /// True if a read of a time range needs the cells outside it as well: where deletes cover by
    /// sequence, newer versions decide which older ones were ever visible.
    pub(crate) fn needs_all_times(&self) -> bool {
        self.by_sequence
    }
}
