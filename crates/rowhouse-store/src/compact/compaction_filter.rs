//! Decides which cells a compaction or flush writes, by matching them with [`Visible`].

use rowhouse_model::{CellKind, CellRef, FamilyDescriptor, KeepDeletedCells};

use crate::compaction_policy::{CompactionKind, OtherFiles};
use crate::family::FamilyStore;
use crate::read::{Rules, Verdict, Visible, own_ttl};

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
}

/// Finds the surplus versions among the cells that would be kept.
struct Surplus {
    versions_max: u32,
    /// The current column, and the number of its versions kept so far.
    column: Vec<u8>,
    versions: u32,
    /// False after a marker with a TTL of its own: the versions it covers are kept but not visible,
    /// so kept versions must not all be counted.
    of_column: bool,
    of_row: bool,
}

impl Surplus {
    fn new(versions_max: u32) -> Self {
        Self { versions_max, column: Vec::new(), versions: 0, of_column: true, of_row: true }
    }

    fn begin_row(&mut self) {
        *self = Self { column: std::mem::take(&mut self.column), ..Self::new(self.versions_max) };
        self.column.clear();
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
        if self.versions >= self.versions_max {
            return true;
        }
        if !(self.of_column && self.of_row) {
            return false;
        }
        // A put with a TTL of its own can expire and uncover an older version, so it does not
        // count.
        self.versions += u32::from(cell.tags.is_empty());
        false
    }
}

/// The kind of compaction for each row.
pub(crate) enum RowKinds {
    /// The same kind for all rows.
    All(CompactionKind),
    /// Major, except for rows that other files may hold.
    MajorExcept(OtherFiles),
}

impl RowKinds {
    /// Whether the compaction covers all files of a family.
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
    /// Creates the filter of a compaction whose files have no put older than `earliest_put`.
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
        }
    }

    /// As [`CompactionFilter::new`], and drops surplus versions unless the family's policy keeps
    /// them.
    pub(crate) fn of_family(
        kinds: impl Into<RowKinds>,
        family: &FamilyStore,
        earliest_put: i64,
        now_millis: i64,
    ) -> Self {
        let keep = Self::new(kinds, family.descriptor(), earliest_put, now_millis);
        match family.policy().drops_surplus {
            true => keep.dropping_surplus(family.descriptor()),
            false => keep,
        }
    }

    /// Also drops versions that are surplus among the compacted cells, even if a delete of the
    /// newest version could uncover them (decision 0050). Families with MIN_VERSIONS,
    /// KEEP_DELETED_CELLS or NEW_VERSION_BEHAVIOR keep them.
    #[must_use]
    pub(crate) fn dropping_surplus(mut self, family: &FamilyDescriptor) -> Self {
        self.surplus = is_plain(family).then(|| Surplus::new(family.versions_max()));
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
        let verdict = self.visible[self.kind as usize].judge(cell);
        self.done_with_column = matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn);
        if self.done_with_column {
            self.column.clear();
            self.column.extend_from_slice(cell.key.qualifier);
        }
        matches!(verdict, Verdict::Include | Verdict::IncludeLast)
            && !self.surplus.as_mut().is_some_and(|surplus| surplus.has(cell))
    }

    fn begin_row(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.kind = match &mut self.kinds {
            RowKinds::All(kind) => *kind,
            RowKinds::MajorExcept(other_files) => match other_files.may_hold(row) {
                true => CompactionKind::Minor,
                false => CompactionKind::Major,
            },
        };
        self.all_major &= self.kind == CompactionKind::Major;
        self.visible[self.kind as usize].begin_row();
        self.done_with_column = false;
        if let Some(surplus) = &mut self.surplus {
            surplus.begin_row();
        }
    }

    /// Whether every cell that no read can show was dropped.
    pub(crate) fn is_major(&self) -> bool {
        self.all_major
    }
}
