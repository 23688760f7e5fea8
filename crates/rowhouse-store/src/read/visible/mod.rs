//! Which cells a reader may see: deletes, time to live, versions, time ranges. One pure function,
//! asked by reads and by compaction, so that the two cannot disagree. What [`Visible::plain_times`] says
//! is the part of it that a read of one file needs for puts that nothing covers.
//!
//! The rules are those of HBase 2.6's `NormalUserScanQueryMatcher`, `RawScanQueryMatcher`,
//! `MajorCompactionScanQueryMatcher` and their delete and column trackers. In a flush or a merge of some files they
//! keep more than HBase's `MinorCompactionScanQueryMatcher` does: surplus versions, which those drop or keep as
//! the family says (`compact/keep.rs`). `docs/decisions/0015` says what is dropped when.
//!
//! Nobody who reads a file from which cells were dropped reads at a sequence below that of its cells (`SuperVersion::super_version_at`),
//! so a merge need not ask who sees what: its cells are all there for every reader, or for none.

mod fate;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use rowhouse_model::{CellKind, CellRef, equal_bytes};

pub(crate) use fate::{Fate, Verdict};

use super::deletes::{Cover, Deletes, Marker};
use super::own_ttl::{lives_until, own_ttl};
use super::rules::{Purpose, Rules};

/// Judges the cells of one family, row by row, in cell order.
pub(crate) struct Visible<'a> {
    rules: Rules<'a>,
    deletes: Deletes,
    column: Column,
}

/// What is known of the column being read.
#[derive(Default)]
struct Column {
    begun: bool,
    qualifier: Vec<u8>,
    included: u32,
    /// Timestamp and sequence of the version counted last: others at the timestamp are the same
    /// version, overwritten.
    last: Option<(i64, u64)>,
    /// Timestamp and kind of the marker that came last.
    last_marker: Option<(i64, CellKind)>,
}

impl<'a> Visible<'a> {
    pub(crate) fn new(rules: Rules<'a>) -> Self {
        let deletes = match rules.by_sequence() {
            true => Deletes::by_sequence(rules.versions_max()),
            false => Deletes::by_time(),
        };
        Self { rules, deletes, column: Column::default() }
    }

    pub(crate) fn rules(&self) -> &Rules<'a> {
        &self.rules
    }

    /// As [`Rules::grow_older`].
    pub(crate) fn grow_older(&mut self, now_millis: i64) {
        self.rules.grow_older(now_millis);
    }

    /// The column of the cell that was judged last.
    pub(crate) fn qualifier(&self) -> &[u8] {
        &self.column.qualifier
    }

    /// The same, on a set of columns of its own.
    pub(crate) fn into_owned(self) -> Visible<'static> {
        Visible { rules: self.rules.into_owned(), ..self }
    }

    /// The timestamps at which any put without tags that is the first cell of its column is part of the
    /// answer, whatever else is in its row; `None` when more has to be known.
    pub(crate) fn plain_times(&self) -> Option<RangeInclusive<i64>> {
        (self.deletes.cover_no_first_put()
            && self.rules.qualifiers.is_none()
            && self.rules.versions > 0)
            .then(|| self.rules.plain_times())
    }

    /// Takes note of the column of a cell that was included without being judged.
    pub(crate) fn note_included(&mut self, cell: &CellRef<'_>) {
        self.enter_column(cell.key.qualifier);
        self.column.included = 1;
        self.column.last = Some((cell.key.timestamp, cell.sequence));
    }

    /// Forgets the row before.
    pub(crate) fn begin_row(&mut self) {
        self.deletes.begin_row();
        self.column.begun = false;
    }

    /// Judges the next cell of the row. Cells above the reader's sequence must not come here.
    pub(crate) fn judge(&mut self, cell: &CellRef<'_>) -> Verdict {
        if !self.is_in_column(cell) {
            self.enter_column(cell.key.qualifier);
        }
        self.judge_in_column(cell)
    }

    /// Whether the cell is of the column of the one judged before it, in the same row.
    #[inline]
    pub(crate) fn is_in_column(&self, cell: &CellRef<'_>) -> bool {
        self.column.begun && equal_bytes(&self.column.qualifier, cell.key.qualifier)
    }

    /// Judges a cell of the column that was entered last.
    #[inline]
    pub(crate) fn judge_in_column(&mut self, cell: &CellRef<'_>) -> Verdict {
        let verdict = self.fate(cell).verdict(self.rules.by_sequence());
        if !cell.key.qualifier.is_empty() {
            return verdict;
        }
        // The markers of the family have no qualifier, so they stand in this column, behind newer
        // cells of it: it must be read to its end (HBASE-18471).
        match verdict {
            Verdict::IncludeLast => Verdict::Include,
            Verdict::NextColumn => Verdict::Skip,
            Verdict::Include | Verdict::Skip => verdict,
        }
    }

    /// Another column of the row begins.
    pub(crate) fn enter_column(&mut self, qualifier: &[u8]) {
        self.deletes.begin_column();
        self.column.begun = true;
        self.column.qualifier.clear();
        self.column.qualifier.extend_from_slice(qualifier);
        self.column.included = 0;
        self.column.last = None;
        self.column.last_marker = None;
    }

    /// What becomes of a cell of the column that was entered last, and why. A column may be asked about
    /// beyond what a [`Verdict`] calls its last cell: nothing more of it is included.
    pub(crate) fn fate(&mut self, cell: &CellRef<'_>) -> Fate {
        if self.rules.purpose == Purpose::MinorOfAll {
            return Fate::Included { last: false };
        }
        let timestamp = cell.key.timestamp;
        if !cell.key.qualifier.is_empty() && !self.wants_column(cell.key.qualifier) {
            // Not even its markers matter: there may be many.
            return Fate::NotAsked;
        }
        let expired = timestamp < self.rules.unexpired_from;
        if expired && self.rules.versions_min() == 0 {
            return Fate::Expired;
        }
        if !cell.tags.is_empty() && lives_until(cell).is_some_and(|end| end < self.rules.now_millis)
        {
            return Fate::OwnExpired;
        }
        if cell.kind().is_delete() {
            return self.judge_marker(cell, expired);
        }
        match self.deletes.cover(cell) {
            None => {}
            Some(Cover::Marker(marker)) => return Fate::Deleted(marker),
            Some(Cover::Surplus) => return Fate::SurplusOnce,
            Some(Cover::Overwritten(sequence)) => return Fate::Overwritten(sequence),
        }
        if let Some(outside) = self.outside_time_range(timestamp) {
            return outside;
        }
        if !self.wants_column(cell.key.qualifier) {
            return Fate::NotAsked;
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

    fn wants_column(&self, qualifier: &[u8]) -> bool {
        self.rules.qualifiers.as_ref().is_none_or(|wanted| wanted.contains(qualifier))
    }

    fn judge_marker(&mut self, cell: &CellRef<'_>, expired: bool) -> Fate {
        let timestamp = cell.key.timestamp;
        match self.rules.purpose {
            Purpose::Read => {
                if self.rules.minds_marker(timestamp) {
                    self.deletes.add(Marker::of(cell));
                    return Fate::Marker;
                }
                Fate::UnmindedMarker
            }
            Purpose::Raw => {
                let outside = self.outside_time_range(timestamp);
                outside.unwrap_or_else(|| self.count_marker(cell, expired))
            }
            Purpose::Minor => self.keep_marker(cell),
            Purpose::MinorOfAll => Fate::Included { last: false },
            Purpose::Major if !self.rules.keeps_marker(timestamp) => {
                self.deletes.add(Marker::of(cell));
                Fate::Marker
            }
            // It covers nothing, and is not there for what may come: so does HBase see it.
            Purpose::Major if timestamp < self.rules.earliest_put => Fate::SpentMarker,
            Purpose::Major => self.count_marker(cell, expired),
        }
    }

    /// A marker in a merge that keeps all of them.
    fn keep_marker(&mut self, cell: &CellRef<'_>) -> Fate {
        if !cell.tags.is_empty() && own_ttl(cell).is_some() {
            // It goes one day, and what it covers is seen again.
            return Fate::Included { last: false };
        }
        if !self.rules.keeps_deleted() {
            self.deletes.add(Marker::of(cell));
        }
        if self.is_marker_again(cell) {
            return Fate::MarkerAgain;
        }
        Fate::Included { last: false }
    }

    /// A marker that is part of the answer: it takes the place of the version in front of it.
    fn count_marker(&mut self, cell: &CellRef<'_>, expired: bool) -> Fate {
        if self.is_marker_again(cell) {
            return Fate::MarkerAgain;
        }
        if self.rules.purpose == Purpose::Major && Marker::of(cell).is_of_family() {
            // How many versions are in front of it in its column says nothing of those in others. HBase
            // drops it behind surplus ones, and shows again what it covered.
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

    /// Whether the same marker came just before: this one says nothing new, unless it matters when it
    /// was written.
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
                // One that goes before its time would uncover what it has overwritten.
                self.column.last = Some((timestamp, cell.sequence));
            }
            // A surplus version too: who drops those counts them among what is let through here.
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
        let last = included == self.rules.versions && !self.rules.wants_last_markers();
        Fate::Included { last }
    }
}
