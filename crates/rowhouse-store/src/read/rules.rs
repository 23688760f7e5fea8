//! By what cells of a family are judged: what the family keeps, and what is asked of it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use rowhouse_model::{FamilyDescriptor, Qualifiers, TimeRange};

use crate::compact::CompactionKind;

/// What a family says about how long its cells are kept. Parsed once: every read asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    versions_max: u32,
    versions_min: u32,
    /// `None` for ever.
    ttl_millis: Option<i64>,
}

impl From<&FamilyDescriptor> for Kept {
    fn from(family: &FamilyDescriptor) -> Self {
        let ttl_millis = family.ttl().map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        let (versions_max, versions_min) = (family.versions_max(), family.versions_min());
        Self { versions_max, versions_min, ttl_millis }
    }
}

impl Kept {
    /// Cells below this timestamp have outlived the TTL; below every timestamp without one.
    fn unexpired_from(&self, now_millis: i64) -> i64 {
        self.ttl_millis.map_or(i64::MIN, |ttl| now_millis.saturating_sub(ttl))
    }
}

/// Cells of `family` below this timestamp have outlived its TTL; below every timestamp without one.
pub(crate) fn unexpired_from(family: &FamilyDescriptor, now_millis: i64) -> i64 {
    Kept::from(family).unexpired_from(now_millis)
}

/// What is asked of one family.
#[derive(Clone, Debug)]
pub(crate) struct Rules<'a> {
    /// Single columns; `None` for all.
    pub(crate) qualifiers: Option<Cow<'a, Qualifiers>>,
    pub(crate) time_range: TimeRange,
    pub(crate) versions: u32,
    pub(super) versions_min: u32,
    /// Cells below this timestamp have outlived their family's TTL.
    pub(super) unexpired_from: i64,
    pub(super) purpose: Purpose,
}

/// What cells are judged for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    Read,
    /// Rewriting some files of a (region, family) into one: drops what no read could ever show,
    /// whatever is written later and whatever the other files hold.
    Minor,
    /// Rewriting all files into one: drops what a read of them does not show, and the markers.
    Major,
}

impl<'a> Rules<'a> {
    /// For a read of `versions` versions.
    pub(crate) fn read(
        family: impl Into<Kept>,
        qualifiers: Option<&'a Qualifiers>,
        time_range: TimeRange,
        versions: u32,
        now_millis: i64,
    ) -> Self {
        let kept = family.into();
        Self {
            qualifiers: qualifiers.map(Cow::Borrowed),
            time_range,
            versions: versions.min(kept.versions_max),
            versions_min: kept.versions_min,
            unexpired_from: kept.unexpired_from(now_millis),
            purpose: Purpose::Read,
        }
    }

    /// For a merge of files.
    pub(crate) fn compact(kind: CompactionKind, family: impl Into<Kept>, now_millis: i64) -> Self {
        let kept = family.into();
        Self {
            qualifiers: None,
            time_range: TimeRange::ALL,
            versions: kept.versions_max,
            versions_min: kept.versions_min,
            unexpired_from: kept.unexpired_from(now_millis),
            purpose: match kind {
                CompactionKind::Minor => Purpose::Minor,
                CompactionKind::Major => Purpose::Major,
            },
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
