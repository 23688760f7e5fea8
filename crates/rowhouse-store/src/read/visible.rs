//! Which cells a reader may see: deletes, time to live, versions, time ranges. One pure function,
//! asked by reads and by compaction, so that the two cannot disagree. What [`Visible::plain_times`] says
//! is the part of it that a read of one file needs for puts that nothing covers.
//!
//! The rules are those of HBase 2.6's `NormalUserScanQueryMatcher`,
//! `MajorCompactionScanQueryMatcher` and their delete and column trackers. A merge of some files
//! keeps more than HBase's `MinorCompactionScanQueryMatcher` does, so that no read shows whether it
//! has run; `docs/decisions/0015` says what is dropped when.
//!
//! Nobody who reads a merged file reads at a sequence below that of its cells (`Parts::parts_at`),
//! so a merge need not ask who sees what: its cells are all there for every reader, or for none.

use std::ops::RangeInclusive;

use rowhouse_model::{CellKind, CellRef, equal_bytes};

use super::rules::{Purpose, Rules};

/// What to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is part of the answer.
    Include,
    /// It is part of the answer, and nothing behind it in its column is.
    IncludeLast,
    /// It is not.
    Skip,
    /// It is not, nor is anything behind it in its column.
    NextColumn,
}

/// Judges the cells of one family, row by row, in cell order.
pub(crate) struct Visible<'a> {
    rules: Rules<'a>,
    /// Everything in the family up to here is deleted; below every timestamp when nothing is.
    family_deleted: i64,
    /// Timestamps at which everything in the family is deleted.
    family_versions_deleted: Vec<i64>,
    column: Column,
}

/// What is known of the column being read.
#[derive(Default)]
struct Column {
    begun: bool,
    qualifier: Vec<u8>,
    /// Everything up to here is deleted.
    deleted: i64,
    versions_deleted: Vec<i64>,
    included: u32,
    /// Timestamp of the version counted last: others with it are the same version, overwritten.
    last: Option<i64>,
    /// Timestamp and kind of the marker that came last.
    last_marker: Option<(i64, CellKind)>,
}

impl<'a> Visible<'a> {
    pub(crate) fn new(rules: Rules<'a>) -> Self {
        let mut visible = Self {
            rules,
            family_deleted: i64::MIN,
            family_versions_deleted: Vec::new(),
            column: Column::default(),
        };
        visible.begin_row();
        visible
    }

    pub(crate) fn rules(&self) -> &Rules<'a> {
        &self.rules
    }

    /// The column of the cell that was judged last.
    pub(crate) fn qualifier(&self) -> &[u8] {
        &self.column.qualifier
    }

    /// The same, on a set of columns of its own.
    pub(crate) fn into_owned(self) -> Visible<'static> {
        Visible { rules: self.rules.into_owned(), ..self }
    }

    /// The timestamps at which any put that is the first cell of its column is part of the answer,
    /// whatever else is in its row; `None` when more has to be known.
    pub(crate) fn plain_times(&self) -> Option<RangeInclusive<i64>> {
        let nothing_deleted =
            self.family_deleted == i64::MIN && self.family_versions_deleted.is_empty();
        (nothing_deleted && self.rules.qualifiers.is_none() && self.rules.versions > 0)
            .then(|| self.rules.plain_times())
    }

    /// Takes note of the column of a cell that was included without being judged.
    pub(crate) fn note_included(&mut self, cell: &CellRef<'_>) {
        self.enter_column(cell.key.qualifier);
        self.column.included = 1;
        self.column.last = Some(cell.key.timestamp);
    }

    /// Forgets the row before.
    pub(crate) fn begin_row(&mut self) {
        self.family_deleted = i64::MIN;
        self.family_versions_deleted.clear();
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
        let verdict = self.judge_cell(cell);
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

    fn judge_cell(&mut self, cell: &CellRef<'_>) -> Verdict {
        let timestamp = cell.key.timestamp;
        let expired = timestamp < self.rules.unexpired_from;
        if expired && self.rules.versions_min == 0 {
            return Verdict::NextColumn;
        }
        if cell.kind().is_delete() {
            return self.judge_marker(cell);
        }
        if timestamp <= self.family_deleted || timestamp <= self.column.deleted {
            return Verdict::NextColumn;
        }
        if self.column.versions_deleted.contains(&timestamp)
            || self.family_versions_deleted.contains(&timestamp)
        {
            return Verdict::Skip;
        }
        if !self.rules.time_range.contains(timestamp) {
            let newer = timestamp >= self.rules.time_range.max().as_millis();
            return if newer { Verdict::Skip } else { Verdict::NextColumn };
        }
        if !self.wants_column(cell.key.qualifier) {
            return Verdict::NextColumn;
        }
        self.count_version(timestamp, expired)
    }

    /// Another column of the row begins.
    pub(crate) fn enter_column(&mut self, qualifier: &[u8]) {
        self.column.begun = true;
        self.column.qualifier.clear();
        self.column.qualifier.extend_from_slice(qualifier);
        self.column.deleted = i64::MIN;
        self.column.versions_deleted.clear();
        self.column.included = 0;
        self.column.last = None;
        self.column.last_marker = None;
    }

    fn wants_column(&self, qualifier: &[u8]) -> bool {
        self.rules.qualifiers.as_ref().is_none_or(|wanted| wanted.contains(qualifier))
    }

    fn judge_marker(&mut self, cell: &CellRef<'_>) -> Verdict {
        let timestamp = cell.key.timestamp;
        match cell.kind() {
            CellKind::DeleteFamily => self.family_deleted = self.family_deleted.max(timestamp),
            CellKind::DeleteFamilyVersion => self.family_versions_deleted.push(timestamp),
            CellKind::DeleteColumn => self.column.deleted = self.column.deleted.max(timestamp),
            CellKind::DeleteVersion => self.column.versions_deleted.push(timestamp),
            CellKind::Put => unreachable!("puts are judged elsewhere"),
        }
        // The same marker written again says nothing new.
        let again = self.column.last_marker.replace((timestamp, cell.kind()));
        match self.rules.purpose {
            Purpose::Minor if again != self.column.last_marker => Verdict::Include,
            Purpose::Minor | Purpose::Read | Purpose::Major => Verdict::Skip,
        }
    }

    fn count_version(&mut self, timestamp: i64, expired: bool) -> Verdict {
        if self.column.last == Some(timestamp) {
            return Verdict::Skip;
        }
        self.column.last = Some(timestamp);
        if self.rules.purpose == Purpose::Minor {
            // A surplus version too: a delete of the newer ones would uncover it.
            return Verdict::Include;
        }
        self.column.included += 1;
        if self.column.included > self.rules.versions
            || (expired && self.column.included > self.rules.versions_min)
        {
            return Verdict::NextColumn;
        }
        if self.column.included == self.rules.versions {
            Verdict::IncludeLast
        } else {
            Verdict::Include
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rowhouse_model::{Cell, FamilyDescriptor, TimeRange, Timestamp};

    use super::*;
    use crate::compact::CompactionKind;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    /// `q@5` is a put, `q@5x` deletes a version, `q@5c` a column, `@5f` a family, `@5v` a family
    /// at a version. Prints what a read of `versions` versions sees, in the same notation.
    fn read(family: &FamilyDescriptor, rules: impl FnOnce(&mut Rules<'_>), cells: &str) -> String {
        let mut cells: Vec<Cell> = cells.split_whitespace().map(parse).collect();
        cells.sort_by(|a, b| rowhouse_model::compare(&a.view(), &b.view()));
        let mut asked = Rules::read(family, None, TimeRange::ALL, u32::MAX, 1000);
        rules(&mut asked);
        let mut visible = Visible::new(asked);
        let mut seen = Vec::new();
        let mut done: Option<Vec<u8>> = None;
        for cell in &cells {
            if done.as_deref() == Some(cell.qualifier()) {
                continue;
            }
            let verdict = visible.judge(&cell.view());
            if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
                seen.push(print(cell));
            }
            if matches!(verdict, Verdict::NextColumn | Verdict::IncludeLast) {
                done = Some(cell.qualifier().to_vec());
            }
        }
        seen.join(" ")
    }

    fn parse(text: &str) -> Cell {
        let (text, sequence) = text.split_once('#').unwrap_or((text, "0"));
        let (qualifier, rest) = text.split_once('@').unwrap();
        let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
        let kind = match &rest[digits.len()..] {
            "" => CellKind::Put,
            "x" => CellKind::DeleteVersion,
            "c" => CellKind::DeleteColumn,
            "f" => CellKind::DeleteFamily,
            "v" => CellKind::DeleteFamilyVersion,
            other => panic!("{other}"),
        };
        let millis = at(digits.parse().unwrap());
        let cell = Cell::new("r", "f", qualifier, millis, kind, "").unwrap();
        cell.with_sequence(sequence.parse().unwrap())
    }

    fn print(cell: &Cell) -> String {
        let suffix = match cell.kind() {
            CellKind::Put => "",
            CellKind::DeleteVersion => "x",
            CellKind::DeleteColumn => "c",
            CellKind::DeleteFamily => "f",
            CellKind::DeleteFamilyVersion => "v",
        };
        let qualifier = String::from_utf8_lossy(cell.qualifier()).into_owned();
        format!("{qualifier}@{}{suffix}", cell.timestamp())
    }

    fn family(versions: u32) -> FamilyDescriptor {
        FamilyDescriptor::new("f").unwrap().versions(versions)
    }

    #[test]
    fn a_read_sees_the_newest_versions_up_to_what_the_family_keeps() {
        let cells = "a@1 a@2 a@3 b@1";
        assert_eq!(read(&family(1), |_| {}, cells), "a@3 b@1");
        assert_eq!(read(&family(2), |_| {}, cells), "a@3 a@2 b@1");
        assert_eq!(read(&family(9), |rules| rules.versions = 1, cells), "a@3 b@1");
    }

    #[test]
    fn each_delete_covers_what_it_names() {
        let cells = "a@1 a@2 a@3 b@2 b@3";
        let see = |marker: &str| read(&family(9), |_| {}, &format!("{cells} {marker}"));
        assert_eq!(see("a@2x"), "a@3 a@1 b@3 b@2");
        assert_eq!(see("a@2c"), "a@3 b@3 b@2");
        assert_eq!(see("@2f"), "a@3 b@3");
        assert_eq!(see("@2v"), "a@3 a@1 b@3");
    }

    #[test]
    fn a_delete_wins_over_a_put_at_its_timestamp_whatever_came_first() {
        assert_eq!(read(&family(9), |_| {}, "a@2x#1 a@2#2 a@1#1"), "a@1");
        assert_eq!(read(&family(9), |_| {}, "a@2c#1 a@2#2 a@1#3"), "");
    }

    #[test]
    fn deleted_and_overwritten_cells_do_not_count_as_versions() {
        assert_eq!(read(&family(2), |_| {}, "a@3x a@3 a@2#1 a@2#2 a@1"), "a@2 a@1");
    }

    #[test]
    fn a_time_range_uncovers_overwritten_versions() {
        let range =
            |rules: &mut Rules<'_>| rules.time_range = TimeRange::new(at(1), at(3)).unwrap();
        assert_eq!(read(&family(1), range, "a@1 a@2 a@3"), "a@2");
        assert_eq!(read(&family(1), range, "a@1 a@2 a@3 a@5c"), "");
    }

    #[test]
    fn expired_cells_are_gone_but_for_the_least_versions() {
        // It is 1000 ms; a TTL of one second keeps what is at 0 or later.
        let ttl = |versions: u32| family(versions).attribute("TTL", "1");
        let read_at = |family: &FamilyDescriptor, millis: i64, cells| {
            let rules = Rules::read(family, None, TimeRange::ALL, u32::MAX, millis);
            read(family, |asked| *asked = rules, cells)
        };
        assert_eq!(read_at(&ttl(9), 1002, "a@1 a@2 a@3 b@1"), "a@3 a@2");
        let kept = ttl(9).attribute("MIN_VERSIONS", "1");
        assert_eq!(read_at(&kept, 1003, "a@1 a@2 a@3 b@1 b@2"), "a@3 b@2");
    }

    #[test]
    fn named_columns_are_seen_through_deletes_of_their_family() {
        let only_b = |rules: &mut Rules<'_>| {
            rules.qualifiers = Some(Cow::Owned(["b"].into_iter().collect()));
        };
        assert_eq!(read(&family(9), only_b, "a@1 b@1 b@3 c@1 @2f"), "b@3");
    }

    #[test]
    fn markers_of_the_family_are_seen_behind_a_column_without_qualifier() {
        assert_eq!(read(&family(1), |_| {}, "@5 @3f a@2 b@4"), "@5 b@4");
    }

    fn compact(kind: CompactionKind, family: &FamilyDescriptor, cells: &str) -> String {
        read(family, |rules| *rules = Rules::compact(kind, family, 1000), cells)
    }

    #[test]
    fn a_major_merge_drops_markers_and_what_a_read_does_not_show() {
        let major = |cells| compact(CompactionKind::Major, &family(1), cells);
        assert_eq!(major("a@1 a@2 b@1 b@1x c@3c c@2 c@4"), "a@2 c@4");
        assert_eq!(major("a@1#1 a@1#2 @5f"), "");
        assert_eq!(major("@5 @3f a@2 b@4 b@5x"), "@5 b@4");
    }

    #[test]
    fn a_minor_merge_keeps_markers_and_surplus_versions() {
        let minor = |cells| compact(CompactionKind::Minor, &family(1), cells);
        assert_eq!(minor("a@1 a@2 a@3"), "a@3 a@2 a@1");
        assert_eq!(minor("a@9c b@9x @9f @9v"), "@9f @9v a@9c b@9x");
    }

    #[test]
    fn a_minor_merge_drops_puts_under_markers_that_it_keeps() {
        let minor = |cells| compact(CompactionKind::Minor, &family(9), cells);
        assert_eq!(minor("a@1 a@2 a@3 a@2x"), "a@3 a@2x a@1");
        assert_eq!(minor("a@1 a@2 a@3 a@2c"), "a@3 a@2c");
        assert_eq!(minor("@2f a@1 a@2 a@3 b@2"), "@2f a@3");
        assert_eq!(minor("@2v a@1 a@2 a@3 b@2"), "@2v a@3 a@1");
    }

    #[test]
    fn a_minor_merge_drops_what_was_written_again_at_the_same_timestamp() {
        let minor = |cells| compact(CompactionKind::Minor, &family(9), cells);
        assert_eq!(minor("a@2#1 a@2#2 a@1#3"), "a@2 a@1");
        assert_eq!(minor("a@2x#1 a@2x#2 a@2c#3 a@2c#4 @1v#1 @1v#2"), "@1v a@2c a@2x");
    }

    #[test]
    fn merges_drop_expired_cells_and_markers_unless_some_versions_outlive_them() {
        let ttl = family(9).attribute("TTL", "1");
        for kind in [CompactionKind::Minor, CompactionKind::Major] {
            let at = |family: &FamilyDescriptor, cells| {
                read(family, |rules| *rules = Rules::compact(kind, family, 1003), cells)
            };
            assert_eq!(at(&ttl, "a@2 a@3 a@4 b@2c @2f"), "a@4 a@3", "{kind:?}");
        }
        let kept = ttl.attribute("MIN_VERSIONS", "1");
        let at = |kind| {
            read(&kept, |rules| *rules = Rules::compact(kind, &kept, 1003), "a@1 a@2 b@1 b@2c c@1")
        };
        assert_eq!(at(CompactionKind::Major), "a@2 c@1");
        assert_eq!(at(CompactionKind::Minor), "a@2 a@1 b@2c c@1");
    }
}
