//! Cell visibility: deletes, TTL, versions and time ranges. Reads and compactions use the same pure
//! function, so that they cannot disagree. [`Visible::plain_times`] is the part of it that a read
//! from one file needs for puts that nothing covers.
//!
//! The rules are the same as in HBase 2.6's `NormalUserScanQueryMatcher`, `RawScanQueryMatcher`,
//! `MajorCompactionScanQueryMatcher` and their delete and column trackers. For a flush or a minor
//! compaction they keep more than HBase's `MinorCompactionScanQueryMatcher`: they keep surplus
//! versions, which the compaction filter then drops or keeps as the family says
//! (`compact/compaction_filter.rs`). `docs/decisions/0050` says which cells are dropped when.
//!
//! No reader on a file from which cells were dropped reads at a sequence below the file's cells
//! (`SuperVersion::super_version_at`), so a compaction ignores read points: all its cells are
//! visible in sequence to every reader.

mod fate;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use rowhouse_model::{CellKind, CellRef, equal_bytes};

pub(crate) use fate::{Fate, Verdict};

use super::deletes::{Cover, Deletes, Marker};
use super::own_ttl::{lives_until, own_ttl};
use super::rules::{Purpose, Rules};

/// Matches one family's cells, row by row, in cell order.
pub(crate) struct Visible<'a> {
    rules: Rules<'a>,
    deletes: Deletes,
    column: Column,
    /// The last time in milliseconds at which every cell is alive that was matched so far, has its
    /// own TTL and has not outlived it.
    own_until_millis: i64,
    /// The newest timestamp among the markers that a read has matched so far.
    newest_marker_millis: i64,
}

/// The state of the current column.
#[derive(Default)]
struct Column {
    entered: bool,
    qualifier: Vec<u8>,
    included: u32,
    /// Timestamp and sequence of the version counted last. Further cells at the timestamp are
    /// overwritten writes to the same version.
    last: Option<(i64, u64)>,
    /// Timestamp and kind of the last marker.
    last_marker: Option<(i64, CellKind)>,
}

impl<'a> Visible<'a> {
    pub(crate) fn new(rules: Rules<'a>) -> Self {
        let deletes = if rules.by_sequence() {
            Deletes::by_sequence(rules.versions_max())
        } else {
            Deletes::by_time()
        };
        Self {
            rules,
            deletes,
            column: Column::default(),
            own_until_millis: i64::MAX,
            newest_marker_millis: i64::MIN,
        }
    }

    pub(crate) fn rules(&self) -> &Rules<'a> {
        &self.rules
    }

    /// Returns the last time in milliseconds until which no cell that was matched outlives its own
    /// TTL; `i64::MAX` if none has one.
    pub(crate) fn own_until_millis(&self) -> i64 {
        self.own_until_millis
    }

    /// Returns a timestamp, in milliseconds, that no marker in the rows read so far exceeds;
    /// `i64::MIN` if there is no marker. A newer put is covered by no marker.
    pub(crate) fn newest_marker_millis(&self) -> i64 {
        self.newest_marker_millis
    }

    /// Updates the state for markers that were skipped without being matched.
    pub(crate) fn note_skipped_markers(&mut self) {
        self.newest_marker_millis = i64::MAX;
    }

    /// As [`Rules::advance_clock`].
    pub(crate) fn advance_clock(&mut self, now_millis: i64) {
        self.rules.advance_clock(now_millis);
    }

    /// Returns the column that holds the cell matched last.
    pub(crate) fn qualifier(&self) -> &[u8] {
        &self.column.qualifier
    }

    /// Returns the same matcher with its own copy of the column set.
    pub(crate) fn into_owned(self) -> Visible<'static> {
        Visible { rules: self.rules.into_owned(), ..self }
    }

    /// Returns the timestamps at which a put without tags that is the first cell in the column is
    /// returned, whatever else the row holds; `None` if that depends on more.
    pub(crate) fn plain_times(&self) -> Option<RangeInclusive<i64>> {
        (self.deletes.cover_no_first_put()
            && self.rules.qualifiers.is_none()
            && self.rules.versions > 0)
            .then(|| self.rules.plain_times())
    }

    /// Updates the state for a cell that was included without being matched.
    pub(crate) fn note_included(&mut self, cell: &CellRef<'_>) {
        self.enter_column(cell.key.qualifier);
        self.column.included = 1;
        self.column.last = Some((cell.key.timestamp, cell.sequence));
    }

    /// Begins a row.
    pub(crate) fn begin_row(&mut self) {
        self.deletes.begin_row();
        self.column.entered = false;
    }

    /// Matches the row's next cell. Cells above the reader's sequence must not be passed.
    pub(crate) fn judge(&mut self, cell: &CellRef<'_>) -> Verdict {
        if !self.is_in_column(cell) {
            self.enter_column(cell.key.qualifier);
        }
        self.judge_in_column(cell)
    }

    /// Whether the cell is in the same column as the cell matched before it, in the same row.
    #[inline]
    pub(crate) fn is_in_column(&self, cell: &CellRef<'_>) -> bool {
        self.column.entered && equal_bytes(&self.column.qualifier, cell.key.qualifier)
    }

    /// Matches a cell of the current column.
    #[inline]
    pub(crate) fn judge_in_column(&mut self, cell: &CellRef<'_>) -> Verdict {
        let verdict = self.fate(cell).verdict(self.rules.by_sequence());
        if !cell.key.qualifier.is_empty() {
            return verdict;
        }
        // Family markers have no qualifier, so they lie in this column, after newer cells in it: it
        // must be read to the end (HBASE-18471).
        match verdict {
            Verdict::IncludeLast => Verdict::Include,
            Verdict::NextColumn => Verdict::Skip,
            Verdict::Include | Verdict::Skip => verdict,
        }
    }

    /// Begins another column in the row.
    pub(crate) fn enter_column(&mut self, qualifier: &[u8]) {
        self.deletes.begin_column();
        self.column.entered = true;
        self.column.qualifier.clear();
        self.column.qualifier.extend_from_slice(qualifier);
        self.column.included = 0;
        self.column.last = None;
        self.column.last_marker = None;
    }

    /// Returns the fate of a cell in the current column, with the reason. May be called for cells
    /// after the one whose [`Verdict`] ended the column: no such cell is included.
    pub(crate) fn fate(&mut self, cell: &CellRef<'_>) -> Fate {
        if self.rules.purpose == Purpose::MinorKeepAll {
            return Fate::Included { last: false };
        }
        let timestamp = cell.key.timestamp;
        if !cell.key.qualifier.is_empty() && !self.selects_column(cell.key.qualifier) {
            // The markers do not matter either, and there may be many.
            return Fate::NotRequested;
        }
        let expired = timestamp < self.rules.unexpired_from;
        if expired && self.rules.versions_min() == 0 {
            return Fate::Expired;
        }
        if !cell.tags.is_empty()
            && let Some(end) = lives_until(cell)
        {
            if end < self.rules.now_millis {
                return Fate::OwnExpired;
            }
            self.own_until_millis = self.own_until_millis.min(end);
        }
        if cell.kind().is_delete() {
            return self.judge_marker(cell, expired);
        }
        match self.deletes.cover(cell) {
            None => {}
            Some(Cover::Marker(marker)) => return Fate::Deleted(marker),
            Some(Cover::Surplus) => return Fate::SurplusAtDelete,
            Some(Cover::Overwritten(sequence)) => return Fate::Overwritten(sequence),
        }
        if let Some(outside) = self.outside_time_range(timestamp) {
            return outside;
        }
        if !self.selects_column(cell.key.qualifier) {
            return Fate::NotRequested;
        }
        self.count_version(cell, expired)
    }

    fn outside_time_range(&self, timestamp: i64) -> Option<Fate> {
        let range = &self.rules.time_range;
        if range.contains(timestamp) {
            return None;
        }
        let newer = timestamp >= range.max().as_millis();
        Some(if newer { Fate::TooNew } else { Fate::TooOld })
    }

    fn selects_column(&self, qualifier: &[u8]) -> bool {
        self.rules.qualifiers.as_ref().is_none_or(|qualifiers| qualifiers.contains(qualifier))
    }

    fn judge_marker(&mut self, cell: &CellRef<'_>, expired: bool) -> Fate {
        let timestamp = cell.key.timestamp;
        match self.rules.purpose {
            Purpose::Read => {
                if self.rules.minds_marker(timestamp) {
                    self.newest_marker_millis = self.newest_marker_millis.max(timestamp);
                    self.deletes.add(Marker::of(cell));
                    return Fate::Marker;
                }
                Fate::IrrelevantMarker
            }
            Purpose::Raw => {
                let outside = self.outside_time_range(timestamp);
                outside.unwrap_or_else(|| self.count_marker(cell, expired))
            }
            Purpose::Minor => self.keep_marker(cell),
            Purpose::MinorKeepAll => Fate::Included { last: false },
            Purpose::Major if !self.rules.keeps_marker(timestamp) => {
                self.deletes.add(Marker::of(cell));
                Fate::Marker
            }
            // It covers nothing, and HBase does not keep it for puts that may still come.
            Purpose::Major if timestamp < self.rules.earliest_put => Fate::ObsoleteMarker,
            Purpose::Major => self.count_marker(cell, expired),
        }
    }

    /// Matches a marker in a compaction that keeps all markers.
    fn keep_marker(&mut self, cell: &CellRef<'_>) -> Fate {
        if !cell.tags.is_empty() && own_ttl(cell).is_some() {
            // It will expire, and the cells it covers become visible again.
            return Fate::Included { last: false };
        }
        if !self.rules.keeps_deleted() {
            self.deletes.add(Marker::of(cell));
        }
        if self.is_marker_again(cell) {
            return Fate::RepeatedMarker;
        }
        Fate::Included { last: false }
    }

    /// Matches a marker that can be part of the result: it is retained if the version before it is.
    fn count_marker(&mut self, cell: &CellRef<'_>, expired: bool) -> Fate {
        if self.is_marker_again(cell) {
            return Fate::RepeatedMarker;
        }
        if self.rules.purpose == Purpose::Major && Marker::of(cell).is_of_family() {
            // The versions before it in the column say nothing about other columns. HBase drops it
            // after surplus versions, and the cells it covered become visible again.
            return Fate::Included { last: false };
        }
        if self.column.included > self.rules.versions {
            return Fate::Surplus(self.column.included);
        }
        if expired && self.column.included > self.rules.versions_min() {
            return Fate::Expired;
        }
        Fate::Included { last: false }
    }

    /// Whether the same marker came just before. If so this one is redundant, unless deletes cover
    /// by sequence.
    fn is_marker_again(&mut self, cell: &CellRef<'_>) -> bool {
        let marker = Some((cell.key.timestamp, cell.kind()));
        let again = std::mem::replace(&mut self.column.last_marker, marker) == marker;
        again && !self.rules.by_sequence()
    }

    fn count_version(&mut self, cell: &CellRef<'_>, expired: bool) -> Fate {
        let timestamp = cell.key.timestamp;
        if let Some((last, sequence)) = self.column.last
            && last == timestamp
        {
            return Fate::Overwritten(sequence);
        }
        if self.rules.purpose == Purpose::Minor {
            if cell.tags.is_empty() || own_ttl(cell).is_none() {
                // A put with its own TTL must not replace the cells it overwrites: they become
                // visible again once it expires.
                self.column.last = Some((timestamp, cell.sequence));
            }
            // Includes surplus versions: the compaction filter counts them among the cells included
            // here.
            return Fate::Included { last: false };
        }
        self.column.last = Some((timestamp, cell.sequence));
        self.column.included = self.column.included.saturating_add(1);
        let included = self.column.included;
        if included > self.rules.versions {
            return Fate::Surplus(included);
        }
        if expired && included > self.rules.versions_min() {
            return Fate::Expired;
        }
        let last = included == self.rules.versions && !self.rules.includes_last_markers();
        Fate::Included { last }
    }
}
