//! By what cells of a family are judged: what the family keeps, and what is asked of it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use rowhouse_model::{FamilyDescriptor, KeepDeletedCells, Qualifiers, TimeRange};

use crate::compact::CompactionKind;

/// What a family says about how long its cells are kept. Parsed once: every read asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    versions_max: u32,
    versions_min: u32,
    /// `None` for ever.
    ttl_millis: Option<i64>,
    deleted: KeepDeletedCells,
    /// Deletes cover by sequence.
    by_sequence: bool,
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
    /// Whether older versions of a cell are seen.
    pub(crate) fn has_versions(&self) -> bool {
        self.versions_max > 1
    }

    /// Cells below this timestamp have outlived the TTL; below every timestamp without one.
    fn unexpired_from(&self, now_millis: i64) -> i64 {
        self.ttl_millis.map_or(i64::MIN, |ttl| now_millis.saturating_sub(ttl))
    }

    /// Whether a read of some timestamps needs the cells at others as well: where deletes cover by
    /// sequence, newer versions decide what was ever to be seen of older ones.
    pub(super) fn needs_all_times(&self) -> bool {
        self.by_sequence
    }
}

/// Cells of `family` below this timestamp have outlived its TTL; below every timestamp without one.
pub(crate) fn unexpired_from(family: &FamilyDescriptor, now_millis: i64) -> i64 {
    Retention::from(family).unexpired_from(now_millis)
}

/// What is asked of one family.
#[derive(Clone, Debug)]
pub(crate) struct Rules<'a> {
    /// Single columns; `None` for all.
    pub(crate) qualifiers: Option<Cow<'a, Qualifiers>>,
    pub(crate) time_range: TimeRange,
    pub(crate) versions: u32,
    pub(super) retention: Retention,
    /// Cells below this timestamp have outlived their family's TTL.
    pub(super) unexpired_from: i64,
    /// For what says itself how long it lives.
    pub(super) now_millis: i64,
    /// No put that a merge reads is older.
    pub(super) earliest_put: i64,
    pub(super) purpose: Purpose,
}

/// What cells are judged for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    Read,
    /// A read of everything that is stored, markers included.
    Raw,
    /// Writing a memstore to a file, or rewriting some files of a (region, family) into one: drops what no read could ever show,
    /// whatever is written later and whatever the other files hold.
    Minor,
    /// The same where nothing is known to be never shown.
    MinorOfAll,
    /// Rewriting all files into one: drops what a read of them does not show, and the markers.
    Major,
}

impl<'a> Rules<'a> {
    /// For a read of `versions` versions.
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

    /// For a raw read: `versions` versions of each column, with the markers between and behind them,
    /// whatever these cover, whatever the family keeps and however old it is. A cell that has outlived
    /// a TTL of its own stays hidden. It is for whole families: HBase refuses columns here.
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

    /// The same in front of a filter, and how many versions of what the filter lets through are the
    /// answer, which is for the caller to count. What a filter takes away is no version that was asked
    /// for, so here only those count that the family keeps; in a raw read none.
    ///
    /// A family with NEW_VERSION_BEHAVIOR counts those that were asked for, as in HBase.
    #[must_use]
    pub(crate) fn before_filter(mut self) -> (Self, u32) {
        let asked = self.versions;
        self.versions = match self.purpose {
            Purpose::Raw => u32::MAX,
            _ if self.retention.by_sequence => asked,
            _ => self.retention.versions_max,
        };
        (self, asked)
    }

    /// For a merge of files in which no put is older than `earliest_put`.
    pub(crate) fn compact(
        kind: CompactionKind,
        family: impl Into<Retention>,
        earliest_put: i64,
        now_millis: i64,
    ) -> Self {
        let retention = family.into();
        let purpose = match kind {
            CompactionKind::Minor if retention.by_sequence => Purpose::MinorOfAll,
            CompactionKind::Minor => Purpose::Minor,
            CompactionKind::Major => Purpose::Major,
        };
        let all = Self::read(retention, None, TimeRange::ALL, u32::MAX, now_millis);
        Self { earliest_put, purpose, ..all }
    }

    /// Whether it is for a raw read.
    pub(super) fn is_raw(&self) -> bool {
        self.purpose == Purpose::Raw
    }

    /// Whether a read sees nothing of what a flush drops of a family that is declared so: not where the family was
    /// declared anew since the read began, where markers are shown, or versions behind newer ones that are not.
    pub(super) fn sees_nothing_dropped(&self, retention: &Retention) -> bool {
        !self.is_raw() && self.retention == *retention && self.time_range.max().is_latest()
    }

    /// Has what is expired at `now_millis` be so, if that is later.
    pub(super) fn grow_older(&mut self, now_millis: i64) {
        self.now_millis = self.now_millis.max(now_millis);
        if !self.is_raw() {
            self.unexpired_from = self.retention.unexpired_from(self.now_millis);
        }
    }

    /// Whether a reader may pass over markers that cover nothing: no marker is shown, and each covers by timestamp.
    pub(super) fn passes_markers(&self) -> bool {
        self.purpose == Purpose::Read
            && !self.retention.by_sequence
            && self.retention.deleted == KeepDeletedCells::False
    }

    /// Whether deletes cover by sequence. What is read raw is covered by none.
    pub(super) fn by_sequence(&self) -> bool {
        self.retention.by_sequence && self.purpose != Purpose::Raw
    }

    pub(super) fn versions_max(&self) -> u32 {
        self.retention.versions_max
    }

    pub(super) fn versions_min(&self) -> u32 {
        self.retention.versions_min
    }

    /// Whether a read minds a marker. With KEEP_DELETED_CELLS only one of the time that is asked for:
    /// what was deleted later is part of that time.
    pub(super) fn minds_marker(&self, timestamp: i64) -> bool {
        match self.retention.deleted {
            KeepDeletedCells::False => timestamp >= self.time_range.min().as_millis(),
            KeepDeletedCells::True | KeepDeletedCells::Ttl => self.time_range.contains(timestamp),
        }
    }

    /// Whether cells that are deleted are kept for reads of earlier times.
    pub(super) fn keeps_deleted(&self) -> bool {
        self.retention.deleted != KeepDeletedCells::False
    }

    /// Whether a merge of all files keeps a marker, and with it what it covers.
    pub(super) fn keeps_marker(&self, timestamp: i64) -> bool {
        match self.retention.deleted {
            KeepDeletedCells::False => false,
            KeepDeletedCells::True => true,
            KeepDeletedCells::Ttl => timestamp >= self.unexpired_from,
        }
    }

    /// Whether markers can be part of the answer behind the last version.
    pub(super) fn wants_last_markers(&self) -> bool {
        match self.purpose {
            Purpose::Read => false,
            Purpose::Raw | Purpose::Minor | Purpose::MinorOfAll => true,
            Purpose::Major => self.keeps_deleted(),
        }
    }

    /// The timestamps of cells that are asked for and have not expired.
    pub(super) fn plain_times(&self) -> RangeInclusive<i64> {
        let (min, max) = (self.time_range.min().as_millis(), self.time_range.max());
        let last = if max.is_latest() { i64::MAX } else { max.as_millis() - 1 };
        min.max(self.unexpired_from)..=last
    }

    /// The same, on a set of columns of its own.
    pub(crate) fn into_owned(self) -> Rules<'static> {
        let qualifiers = self.qualifiers.map(|qualifiers| Cow::Owned(qualifiers.into_owned()));
        Rules { qualifiers, ..self }
    }
}
