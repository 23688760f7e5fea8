//! The rules by which a family's cells are matched: the family's retention and the query.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use rowhouse_model::{KeepDeletedCells, Qualifiers, TimeRange};

use crate::compaction_policy::CompactionKind;
use crate::retention::Retention;

/// The query's conditions on one family, with the family's retention.
#[derive(Clone, Debug)]
pub(crate) struct Rules<'a> {
    /// Requested columns; `None` for all.
    pub(crate) qualifiers: Option<Cow<'a, Qualifiers>>,
    pub(crate) time_range: TimeRange,
    pub(crate) versions: u32,
    pub(super) retention: Retention,
    /// Cells below this timestamp have outlived their family's TTL.
    pub(super) unexpired_from: i64,
    /// Decides the expiry of cells with their own TTL.
    pub(super) now_millis: i64,
    /// No put that a compaction reads is older.
    pub(super) earliest_put: i64,
    pub(super) purpose: Purpose,
}

/// The operation that cells are matched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    Read,
    /// A read that shows everything stored, markers included.
    Raw,
    /// A flush, or a compaction over some files in a family: drops cells that no read could ever
    /// show, regardless of later writes and the other files.
    Minor,
    /// As `Minor`, in a family with NEW_VERSION_BEHAVIOR: keeps every cell, because none is certain
    /// to stay invisible.
    MinorKeepAll,
    /// A compaction over all files: drops the cells that a read does not show, and the markers.
    Major,
}

impl<'a> Rules<'a> {
    /// Returns the rules for a read of `versions` versions.
    pub(crate) fn read(
        family: impl Into<Retention>,
        qualifiers: Option<&'a Qualifiers>,
        time_range: TimeRange,
        versions: u32,
        now_millis: i64,
    ) -> Self {
        let retention = family.into();
        Self {
            qualifiers: qualifiers.map(Cow::Borrowed),
            time_range,
            versions: versions.min(retention.versions_max),
            unexpired_from: retention.unexpired_from(now_millis),
            retention,
            now_millis,
            earliest_put: i64::MIN,
            purpose: Purpose::Read,
        }
    }

    /// Returns the rules for a raw read: `versions` versions of each column with all markers
    /// between and after them, regardless of the cells these cover, the family's retention and age.
    /// A cell that has outlived its own TTL stays hidden. Raw reads cover whole families, because
    /// HBase refuses columns in them.
    pub(crate) fn raw(
        family: impl Into<Retention>,
        time_range: TimeRange,
        versions: u32,
        now_millis: i64,
    ) -> Self {
        Self {
            versions,
            unexpired_from: i64::MIN,
            purpose: Purpose::Raw,
            ..Self::read(family, None, time_range, versions, now_millis)
        }
    }

    /// Returns the rules to apply before a filter, and the number of versions to return after it,
    /// which the caller counts. Versions that a filter removes do not count as requested ones, so
    /// here only the family's maximum limits versions; in a raw read nothing does.
    ///
    /// A family with NEW_VERSION_BEHAVIOR counts requested versions before the filter, as in HBase.
    #[must_use]
    pub(crate) fn before_filter(mut self) -> (Self, u32) {
        let versions = self.versions;
        self.versions = match self.purpose {
            Purpose::Raw => u32::MAX,
            _ if self.retention.by_sequence => versions,
            _ => self.retention.versions_max,
        };
        (self, versions)
    }

    /// Returns the rules for a compaction whose input has no put older than `earliest_put`.
    pub(crate) fn compact(
        kind: CompactionKind,
        family: impl Into<Retention>,
        earliest_put: i64,
        now_millis: i64,
    ) -> Self {
        let retention = family.into();
        let purpose = match kind {
            CompactionKind::Minor if retention.by_sequence => Purpose::MinorKeepAll,
            CompactionKind::Minor => Purpose::Minor,
            CompactionKind::Major => Purpose::Major,
        };
        let all = Self::read(retention, None, TimeRange::ALL, u32::MAX, now_millis);
        Self { earliest_put, purpose, ..all }
    }

    /// Returns true if these are the rules for a raw read.
    pub(super) fn is_raw(&self) -> bool {
        self.purpose == Purpose::Raw
    }

    /// Returns true if a read sees no cell that a flush under `retention` drops. Returns false if
    /// the family's retention has changed since the read began, if the read shows markers, or if
    /// the time range excludes newer versions and so uncovers older ones.
    pub(super) fn sees_nothing_dropped(&self, retention: &Retention) -> bool {
        !self.is_raw() && retention.hides_dropped(&self.retention, &self.time_range)
    }

    /// Advances the time used for expiry to `now_millis`, if that is later.
    pub(super) fn advance_clock(&mut self, now_millis: i64) {
        self.now_millis = self.now_millis.max(now_millis);
        if !self.is_raw() {
            self.unexpired_from = self.retention.unexpired_from(self.now_millis);
        }
    }

    /// Returns true if a reader may skip marker runs that cover nothing: it shows no markers, and
    /// each covers by timestamp.
    pub(super) fn passes_markers(&self) -> bool {
        self.purpose == Purpose::Read
            && !self.retention.by_sequence
            && self.retention.deleted == KeepDeletedCells::False
    }

    /// Returns true if deletes cover by sequence. In a raw read they cover nothing.
    pub(super) fn by_sequence(&self) -> bool {
        self.retention.by_sequence && self.purpose != Purpose::Raw
    }

    pub(super) fn versions_max(&self) -> u32 {
        self.retention.versions_max
    }

    pub(super) fn versions_min(&self) -> u32 {
        self.retention.versions_min
    }

    /// Returns true if a marker affects a read. With KEEP_DELETED_CELLS only a marker in the time
    /// range does: cells deleted later belong to that time.
    pub(super) fn minds_marker(&self, timestamp: i64) -> bool {
        match self.retention.deleted {
            KeepDeletedCells::False => timestamp >= self.time_range.min().as_millis(),
            KeepDeletedCells::True | KeepDeletedCells::Ttl => self.time_range.contains(timestamp),
        }
    }

    /// Returns true if deleted cells are retained for reads at earlier times.
    pub(super) fn keeps_deleted(&self) -> bool {
        self.retention.deleted != KeepDeletedCells::False
    }

    /// Returns true if a major compaction retains a marker, and with it the cells it covers.
    pub(super) fn keeps_marker(&self, timestamp: i64) -> bool {
        match self.retention.deleted {
            KeepDeletedCells::False => false,
            KeepDeletedCells::True => true,
            KeepDeletedCells::Ttl => timestamp >= self.unexpired_from,
        }
    }

    /// Returns true if markers after the last version of a column can be part of the result.
    pub(super) fn includes_last_markers(&self) -> bool {
        match self.purpose {
            Purpose::Read => false,
            Purpose::Raw | Purpose::Minor | Purpose::MinorKeepAll => true,
            Purpose::Major => self.keeps_deleted(),
        }
    }

    /// Returns the timestamps of cells that are in the time range and have not expired.
    pub(super) fn plain_times(&self) -> RangeInclusive<i64> {
        let min = self.time_range.min().as_millis();
        let max = self.time_range.max();
        let last = if max.is_latest() { i64::MAX } else { max.as_millis() - 1 };
        min.max(self.unexpired_from)..=last
    }

    /// Returns the same rules with their own copy of the column set.
    pub(crate) fn into_owned(self) -> Rules<'static> {
        let qualifiers = self.qualifiers.map(|qualifiers| Cow::Owned(qualifiers.into_owned()));
        Rules { qualifiers, ..self }
    }
}
