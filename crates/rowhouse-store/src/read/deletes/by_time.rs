//! Deletes that cover by timestamp, as HBase's `ScanDeleteTracker`.

use std::collections::BTreeMap;

use rowhouse_model::CellKind;

use super::Marker;

/// The markers in a row and in the current column.
#[derive(Default)]
pub(crate) struct TimestampDeletes {
    /// The newest marker that covers the whole family up to the marker's timestamp.
    family: Option<Marker>,
    /// Markers that cover the whole family at their timestamp. Every column searches them again.
    family_versions: BTreeMap<i64, Marker>,
    /// The newest marker that covers the column up to the marker's timestamp.
    column: Option<Marker>,
    /// The last marker on one version of the column. Cells come newest first, so earlier markers
    /// are no longer needed.
    column_version: Option<Marker>,
}

impl TimestampDeletes {
    pub(super) fn begin_row(&mut self) {
        self.family = None;
        self.family_versions.clear();
        self.begin_column();
    }

    pub(super) fn begin_column(&mut self) {
        self.column = None;
        self.column_version = None;
    }

    #[inline]
    pub(super) fn has_none_of_family(&self) -> bool {
        self.family.is_none() && self.family_versions.is_empty()
    }

    pub(super) fn add(&mut self, marker: Marker) {
        match marker.kind {
            CellKind::DeleteFamily => keep_newer(&mut self.family, marker),
            CellKind::DeleteFamilyVersion => {
                self.family_versions.entry(marker.timestamp).or_insert(marker);
            }
            CellKind::DeleteColumn => keep_newer(&mut self.column, marker),
            CellKind::DeleteVersion => {
                // Among several markers at one timestamp the first is retained, as above.
                let again = self.column_version.filter(|last| last.timestamp == marker.timestamp);
                self.column_version = again.or(Some(marker));
            }
            CellKind::Put => unreachable!("a put is no marker"),
        }
    }

    /// Returns the marker that covers a put at `timestamp`; a family marker takes precedence.
    #[inline]
    pub(super) fn cover(&self, timestamp: i64) -> Option<Marker> {
        let covering = |marker: &&Marker| timestamp <= marker.timestamp;
        let same = |marker: &&Marker| timestamp == marker.timestamp;
        self.family
            .as_ref()
            .filter(covering)
            .or_else(|| self.family_versions.get(&timestamp))
            .or_else(|| self.column.as_ref().filter(covering))
            .or_else(|| self.column_version.as_ref().filter(same))
            .copied()
    }
}

fn keep_newer(have: &mut Option<Marker>, marker: Marker) {
    if have.is_none_or(|have| have.timestamp < marker.timestamp) {
        *have = Some(marker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKERS: i64 = 200_000;

    fn marker(kind: CellKind, timestamp: i64, sequence: u64) -> Marker {
        Marker { kind, timestamp, sequence }
    }

    #[test]
    fn very_many_markers_of_family_versions_are_searched_by_every_column() {
        let mut deletes = TimestampDeletes::default();
        // At every other timestamp, newest first, as cells come.
        for timestamp in (0..MARKERS).rev() {
            deletes.add(marker(CellKind::DeleteFamilyVersion, 2 * timestamp, 1));
        }
        let covered = (0..2 * MARKERS).rev().filter(|&timestamp| {
            deletes.begin_column();
            deletes.cover(timestamp).is_some()
        });
        assert_eq!(covered.count(), MARKERS as usize);
    }

    #[test]
    fn very_many_markers_of_versions_of_a_column_are_met_one_after_the_other() {
        let mut deletes = TimestampDeletes::default();
        let kind = CellKind::DeleteVersion;
        let mut covered = 0;
        for timestamp in (0..MARKERS).rev() {
            deletes.add(marker(kind, 2 * timestamp, 9));
            deletes.add(marker(kind, 2 * timestamp, 5));
            let by = |timestamp| deletes.cover(timestamp).map(|marker| marker.sequence);
            assert_eq!(by(2 * timestamp - 1), None);
            covered += usize::from(by(2 * timestamp) == Some(9));
        }
        assert_eq!(covered, MARKERS as usize);
    }
}
