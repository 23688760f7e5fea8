//! Decides which cells a compaction or flush writes, by matching them with [`Visible`].

use rowhouse_model::{CellKind, CellRef, FamilyDescriptor, KeepDeletedCells};

use crate::compaction_policy::{CompactionKind, OtherFiles};
use crate::family::{DropLimits, FamilyStore};
use crate::read::{Rules, Verdict, Visible, own_ttl};
use crate::retention::Retention;

/// Filters the cells of a compaction, in cell order.
pub(crate) struct CompactionFilter {
    /// The matchers by kind: minor for rows that other files may have, major for those they cannot
    /// have.
    visible: [Visible<'static>; 2],
    kinds: RowKinds,
    /// The kind used for the current row.
    kind: CompactionKind,
    /// Whether all rows so far were compacted as major.
    all_major: bool,
    row: Vec<u8>,
    /// The rest of the column is dropped.
    done_with_column: bool,
    column: Vec<u8>,
    /// Drops surplus versions, if set.
    surplus: Option<Surplus>,
    /// In a steady family: everything is judged as in a minor compaction, then markers and surplus
    /// versions are dropped within these limits.
    steady: Option<Steady>,
}

/// The rules for a steady family.
struct Steady {
    limits: DropLimits,
    /// Whether surplus versions in a row are dropped, by kind.
    drops_surplus: [bool; 2],
    drops_markers: bool,
    /// Whether surplus versions in the current row are dropped.
    drops_surplus_of_row: bool,
}

/// Finds the surplus versions among the cells that would be retained.
struct Surplus {
    versions_max: u32,
    /// Versions that stay although they have outlived the family's TTL.
    versions_min: u32,
    unexpired_from: i64,
    /// The current column, and how many versions in it are retained so far.
    column: Vec<u8>,
    versions: u32,
    /// False after a marker that has a separate TTL: the versions it covers are retained but not
    /// visible, so retained versions must not all be counted.
    of_column: bool,
    of_row: bool,
}

impl Steady {
    /// Returns two flags: whether to drop a cell that a minor compaction would keep, and if not,
    /// whether a later compaction may drop it.
    fn judge(
        &mut self,
        cell: &CellRef<'_>,
        is_surplus: bool,
        kind: CompactionKind,
    ) -> (bool, bool) {
        if is_surplus {
            if self.drops_surplus_of_row {
                self.limits.note_surplus();
            }
            return (self.drops_surplus_of_row, self.drops_surplus[CompactionKind::Major as usize]);
        }
        // The puts that a marker with a separate TTL covers are retained: it must cover them.
        let may_drop = self.drops_markers && cell.kind().is_delete() && own_ttl(cell).is_none();
        let drops = may_drop
            && kind == CompactionKind::Major
            && self.limits.drop_marker(cell.key.timestamp);
        (drops, may_drop)
    }
}

impl Surplus {
    fn new(family: &FamilyDescriptor, now_millis: i64) -> Self {
        Self {
            versions_max: family.versions_max(),
            versions_min: family.versions_min(),
            unexpired_from: Retention::from(family).unexpired_from(now_millis),
            column: Vec::new(),
            versions: 0,
            of_column: true,
            of_row: true,
        }
    }

    fn begin_row(&mut self) {
        self.column.clear();
        (self.versions, self.of_column, self.of_row) = (0, true, true);
    }

    /// Whether the next cell is a version beyond the maximum.
    fn has(&mut self, cell: &CellRef<'_>) -> bool {
        if self.column != cell.key.qualifier {
            self.column.clear();
            self.column.extend_from_slice(cell.key.qualifier);
            (self.versions, self.of_column) = (0, true);
        }
        let is_put = cell.kind() == CellKind::Put;
        if !is_put && own_ttl(cell).is_some() {
            // The other kinds cover all older cells.
            self.of_column &= cell.kind() != CellKind::DeleteVersion;
            self.of_row &= cell.kind() != CellKind::DeleteFamilyVersion;
        }
        if !is_put {
            return false;
        }
        let expired = cell.key.timestamp < self.unexpired_from;
        if self.versions >= self.versions_max || (expired && self.versions >= self.versions_min) {
            return true;
        }
        if !(self.of_column && self.of_row) {
            return false;
        }
        // A put that has a separate TTL can expire and uncover an older version, so it does not
        // count.
        self.versions += u32::from(cell.tags.is_empty());
        false
    }
}

/// The compaction kind for each row.
pub(crate) enum RowKinds {
    /// The same kind for all rows.
    All(CompactionKind),
    /// Major, except for rows that other files may hold.
    MajorExcept(OtherFiles),
}

impl RowKinds {
    /// Returns the ids for the files that have no row compacted as major.
    pub(super) fn apart(&self) -> Vec<u64> {
        match self {
            Self::All(_) => Vec::new(),
            Self::MajorExcept(other_files) => other_files.ids().to_vec(),
        }
    }

    /// Whether the compaction covers all files in a family.
    pub(super) fn are_all_major(&self) -> bool {
        matches!(self, Self::All(CompactionKind::Major))
    }
}

impl From<CompactionKind> for RowKinds {
    fn from(kind: CompactionKind) -> Self {
        Self::All(kind)
    }
}

/// Whether counting puts is enough to find the family's surplus versions.
pub(crate) fn is_plain(family: &FamilyDescriptor) -> bool {
    family.versions_min() == 0
        && family.keep_deleted_cells() == KeepDeletedCells::False
        && !family.new_version_behavior()
}

impl CompactionFilter {
    /// Creates the filter for a compaction whose files have no put older than `earliest_put`.
    pub(crate) fn new(
        kinds: impl Into<RowKinds>,
        family: &FamilyDescriptor,
        earliest_put: i64,
        now_millis: i64,
    ) -> Self {
        let visible = |kind| Visible::new(Rules::compact(kind, family, earliest_put, now_millis));
        Self {
            visible: [CompactionKind::Minor, CompactionKind::Major].map(visible),
            kinds: kinds.into(),
            kind: CompactionKind::Minor,
            all_major: true,
            row: Vec::new(),
            done_with_column: false,
            column: Vec::new(),
            surplus: None,
            steady: None,
        }
    }

    /// As [`CompactionFilter::new`], and drops surplus versions unless the family's policy keeps
    /// them.
    pub(crate) fn of_family(
        kinds: impl Into<RowKinds>,
        family: &FamilyStore,
        earliest_put: i64,
        now_millis: i64,
        limits: Option<DropLimits>,
    ) -> Self {
        let drops_surplus = family.policy().drops_surplus;
        let descriptor = family.descriptor();
        let keep = Self::new(kinds, descriptor, earliest_put, now_millis);
        match limits {
            Some(limits) => keep.within(limits, descriptor, now_millis, drops_surplus),
            None if drops_surplus => keep.dropping_surplus(descriptor, now_millis),
            None => keep,
        }
    }

    /// Turns it into the filter for a steady family.
    pub(super) fn within(
        mut self,
        limits: DropLimits,
        family: &FamilyDescriptor,
        now_millis: i64,
        drops_surplus: bool,
    ) -> Self {
        // A deleted cell that is retained counts as a version in a major compaction, so visible
        // ones would be surplus. By sequence, a dropped cell can matter to any other one.
        let by_time = family.keep_deleted_cells() == KeepDeletedCells::False
            && !family.new_version_behavior();
        self.surplus = Some(Surplus::new(family, now_millis));
        self.steady = Some(Steady {
            limits,
            drops_surplus: [drops_surplus && is_plain(family), by_time],
            drops_markers: by_time,
            drops_surplus_of_row: false,
        });
        self
    }

    /// Returns a steady family's limits, with what was dropped.
    pub(crate) fn into_limits(self) -> Option<DropLimits> {
        self.steady.map(|steady| steady.limits)
    }

    /// Also drops versions that are surplus among the compacted cells, even if a delete that covers
    /// the newest version could uncover them (decision 0050). Families with MIN_VERSIONS,
    /// KEEP_DELETED_CELLS or NEW_VERSION_BEHAVIOR keep them.
    #[must_use]
    pub(crate) fn dropping_surplus(mut self, family: &FamilyDescriptor, now_millis: i64) -> Self {
        self.surplus = is_plain(family).then(|| Surplus::new(family, now_millis));
        self
    }

    /// Whether to write the next cell.
    pub(crate) fn keeps(&mut self, cell: &CellRef<'_>) -> bool {
        if self.row != cell.key.row {
            self.begin_row(cell.key.row);
        }
        if self.done_with_column && self.column == cell.key.qualifier {
            return false;
        }
        let verdict = self.visible[self.judged_as() as usize].judge(cell);
        self.done_with_column = matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn);
        if self.done_with_column {
            self.column.clear();
            self.column.extend_from_slice(cell.key.qualifier);
        }
        if !matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
            return false;
        }
        let is_surplus = self.surplus.as_mut().is_some_and(|surplus| surplus.has(cell));
        match &mut self.steady {
            None => !is_surplus,
            Some(steady) => {
                let (drops, may_drop_later) = steady.judge(cell, is_surplus, self.kind);
                self.all_major &= drops || !may_drop_later;
                !drops
            }
        }
    }

    /// Returns the kind by whose rules the cells in the current row are matched.
    fn judged_as(&self) -> CompactionKind {
        if self.steady.is_some() { CompactionKind::Minor } else { self.kind }
    }

    fn begin_row(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.kind = match &mut self.kinds {
            RowKinds::All(kind) => *kind,
            RowKinds::MajorExcept(other_files) => {
                if other_files.may_hold(row) {
                    CompactionKind::Minor
                } else {
                    CompactionKind::Major
                }
            }
        };
        self.all_major &= self.kind == CompactionKind::Major;
        self.visible[self.judged_as() as usize].begin_row();
        self.done_with_column = false;
        if let Some(surplus) = &mut self.surplus {
            surplus.begin_row();
        }
        if let Some(steady) = &mut self.steady {
            steady.drops_surplus_of_row =
                steady.drops_surplus[self.kind as usize] && steady.limits.drops_surplus_of(row);
        }
    }

    /// Whether every cell that no read can show was dropped.
    pub(crate) fn is_major(&self) -> bool {
        self.all_major
    }
}
