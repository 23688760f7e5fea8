//! Deletes that cover by write order, as HBase's `NewVersionBehaviorTracker`: a marker covers older
//! writes and spares newer ones, at any timestamp. A version that was surplus when a delete was
//! written stays hidden, although the delete makes room.
//!
//! Cells without a sequence all have 0: among them a marker covers as it would by time.

use std::collections::{BTreeMap, BTreeSet};

use rowhouse_model::CellKind;

use super::{Cover, Marker};

/// The markers in a row and in the current column.
pub(crate) struct SequenceDeletes {
    versions_max: usize,
    family: Eras,
    /// The family's eras, split further by the column's markers.
    column: Eras,
    /// Timestamp and sequence of the column's last put.
    last: Option<(i64, u64)>,
}

/// Eras by their end marker's sequence. A cell belongs to the first era that ends at or after the
/// cell's sequence.
type Eras = BTreeMap<u64, Era>;

/// The interval between two markers that each cover all versions up to a timestamp.
#[derive(Clone)]
struct Era {
    /// The marker that ends it; `None` for the last era.
    end: Option<Marker>,
    /// The version markers in it, by timestamp and sequence.
    versions: BTreeMap<(i64, u64), Marker>,
    /// Sequences of puts that were visible when each version marker was written, by the marker's
    /// sequence, and when the era ended.
    seen: BTreeMap<u64, BTreeSet<u64>>,
}

impl SequenceDeletes {
    pub(super) fn new(versions_max: u32) -> Self {
        let mut deletes = Self {
            versions_max: usize::try_from(versions_max).unwrap_or(usize::MAX),
            family: Eras::new(),
            column: Eras::new(),
            last: None,
        };
        deletes.begin_row();
        deletes
    }

    pub(super) fn begin_row(&mut self) {
        self.family.clear();
        self.family.insert(LASTS, Era::ending(None));
        self.begin_column();
    }

    pub(super) fn begin_column(&mut self) {
        self.column.clone_from(&self.family);
        self.last = None;
    }

    pub(super) fn add(&mut self, marker: Marker) {
        match marker.kind {
            CellKind::DeleteFamily => {
                end_era(&mut self.family, marker);
                // The column without qualifier holds the family markers, too.
                end_era(&mut self.column, marker);
            }
            CellKind::DeleteFamilyVersion => {
                delete_version(&mut self.family, marker);
                delete_version(&mut self.column, marker);
            }
            CellKind::DeleteColumn => end_era(&mut self.column, marker),
            CellKind::DeleteVersion => delete_version(&mut self.column, marker),
            CellKind::Put => unreachable!("a put is no marker"),
        }
    }

    /// Returns why a put is covered. Counts the put as visible at every time at which it was.
    pub(super) fn cover(&mut self, timestamp: i64, sequence: u64) -> Option<Cover> {
        let overwritten = self.last.filter(|last| last.0 == timestamp).map(|last| last.1);
        if overwritten.is_none() {
            self.last = Some((timestamp, sequence));
        }
        for era in self.column.range_mut(sequence..).map(|(_, era)| era) {
            let markers = (timestamp, sequence)..=(timestamp, LASTS);
            let deleted = era.versions.range(markers).next().map(|(_, marker)| *marker);
            let until = overwritten.unwrap_or(LASTS);
            let until = until.min(deleted.map_or(LASTS, |marker| marker.sequence));
            for (_, seen) in era.seen.range_mut(sequence..=until.max(sequence)) {
                if seen.len() >= self.versions_max {
                    return Some(Cover::Surplus);
                }
                seen.insert(sequence);
            }
            if let Some(marker) = deleted.or(era.end.filter(|end| timestamp <= end.timestamp)) {
                return Some(Cover::Marker(marker));
            }
        }
        overwritten.map(Cover::Overwritten)
    }
}

impl Era {
    fn ending(end: Option<Marker>) -> Self {
        let seen = BTreeMap::from([(LASTS, BTreeSet::new())]);
        Self { end, versions: BTreeMap::new(), seen }
    }
}

fn end_era(eras: &mut Eras, marker: Marker) {
    eras.insert(marker.sequence, Era::ending(Some(marker)));
}

fn delete_version(eras: &mut Eras, marker: Marker) {
    let Marker { timestamp, sequence, .. } = marker;
    let Some((_, era)) = eras.range_mut(sequence..).next() else { return };
    era.versions.insert((timestamp, sequence), marker);
    // Start with the puts visible at the next marker that were written before this one; later ones
    // were not visible then.
    let next = era.seen.range(sequence..).next();
    let before = next.map(|(_, seen)| seen.range(..sequence).copied().collect());
    era.seen.insert(sequence, before.unwrap_or_default());
}

/// Stands for a sequence after all others.
const LASTS: u64 = u64::MAX;
