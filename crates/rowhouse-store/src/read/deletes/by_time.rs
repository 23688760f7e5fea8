//! Deletes that go by timestamp, as HBase's `ScanDeleteTracker`.

use rowhouse_model::CellKind;

use super::Marker;

/// The markers of a row, and of the column being read.
#[derive(Default)]
pub(crate) struct ByTime {
    /// The newest of those that cover everything in the family up to their timestamp.
    family: Option<Marker>,
    /// Those that cover everything in the family at their timestamp.
    family_versions: Vec<Marker>,
    /// The newest of those that cover everything in the column up to their timestamp.
    column: Option<Marker>,
    column_versions: Vec<Marker>,
}

impl ByTime {
    pub(super) fn begin_row(&mut self) {
        self.family = None;
        self.family_versions.clear();
        self.begin_column();
    }

    pub(super) fn begin_column(&mut self) {
        self.column = None;
        self.column_versions.clear();
    }

    #[inline]
    pub(super) fn has_none_of_family(&self) -> bool {
        self.family.is_none() && self.family_versions.is_empty()
    }

    pub(super) fn add(&mut self, marker: Marker) {
        match marker.kind {
            CellKind::DeleteFamily => keep_newer(&mut self.family, marker),
            CellKind::DeleteFamilyVersion => self.family_versions.push(marker),
            CellKind::DeleteColumn => keep_newer(&mut self.column, marker),
            CellKind::DeleteVersion => self.column_versions.push(marker),
            CellKind::Put => unreachable!("a put is no marker"),
        }
    }

    /// The marker that covers a put at `timestamp`; of several, one of the family.
    #[inline]
    pub(super) fn cover(&self, timestamp: i64) -> Option<Marker> {
        let covering = |marker: &&Marker| timestamp <= marker.timestamp;
        let same = |marker: &&Marker| timestamp == marker.timestamp;
        self.family
            .as_ref()
            .filter(covering)
            .or_else(|| self.family_versions.iter().find(same))
            .or_else(|| self.column.as_ref().filter(covering))
            .or_else(|| self.column_versions.iter().find(same))
            .copied()
    }
}

fn keep_newer(have: &mut Option<Marker>, marker: Marker) {
    if have.is_none_or(|have| have.timestamp < marker.timestamp) {
        *have = Some(marker);
    }
}
