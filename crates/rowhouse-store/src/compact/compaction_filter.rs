//! Which cells of a merge or a flush are written: asks [`Visible`] cell by cell.

use rowhouse_model::{CellKind, CellRef, FamilyDescriptor, KeepDeletedCells};

use super::{CompactionKind, OtherFiles};
use crate::family::FamilyStore;
use crate::read::{Rules, Verdict, Visible, own_ttl};

/// Judges the cells of a merge, in cell order.
pub(crate) struct CompactionFilter {
    /// By kind: for rows that other files may have, and for those that they cannot have.
    visible: [Visible<'static>; 2],
    kinds: RowKinds,
    /// The kind of the merge for the present row.
    kind: CompactionKind,
    /// Whether all rows so far were merged as by a major merge.
    all_major: bool,
    row: Vec<u8>,
    /// The column behind whose last cell worth keeping we are.
    done_with_column: bool,
    column: Vec<u8>,
    /// Where surplus versions are dropped.
    surplus: Option<Surplus>,
}

/// Tells the surplus versions among the cells that would be kept.
struct Surplus {
    versions_max: u32,
    /// The column of the cells before, and how many versions of it are kept.
    column: Vec<u8>,
    versions: u32,
    /// Behind a marker that has a time to live of its own: versions that it covers are kept and not seen, so that not all
    /// that are kept may be counted.
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

    /// Whether the next cell is a version behind as many as are to be kept.
    fn has(&mut self, cell: &CellRef<'_>) -> bool {
        if self.column != cell.key.qualifier {
            self.column.clear();
            self.column.extend_from_slice(cell.key.qualifier);
            (self.versions, self.of_column) = (0, true);
        }
        let is_put = cell.kind() == CellKind::Put;
        if !is_put && own_ttl(cell).is_some() {
            // Others cover whatever is older.
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
        // What has a time to live of its own can leave an older version behind.
        self.versions += u32::from(cell.tags.is_empty());
        false
    }
}

/// How the rows of a merge are merged.
pub(crate) enum RowKinds {
    /// All alike.
    All(CompactionKind),
    /// As by a major merge, but for those that may be elsewhere.
    MajorBut(OtherFiles),
}

impl RowKinds {
    /// Whether all files of a store are merged.
    pub(super) fn are_all_major(&self) -> bool {
        matches!(self, Self::All(CompactionKind::Major))
    }
}

impl From<CompactionKind> for RowKinds {
    fn from(kind: CompactionKind) -> Self {
        Self::All(kind)
    }
}

/// Whether surplus versions of the family can be told by counting puts.
pub(crate) fn is_plain(family: &FamilyDescriptor) -> bool {
    family.versions_min() == 0
        && family.keep_deleted_cells() == KeepDeletedCells::False
        && !family.new_version_behavior()
}

impl CompactionFilter {
    /// In a merge of files in which no put is older than `earliest_put`.
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

    /// The same, with the surplus versions dropped that `family` does not say it keeps.
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

    /// Has versions dropped that are surplus among the cells of the merge, also where a delete of the newest could
    /// uncover them (decision 0050). Families with MIN_VERSIONS, KEEP_DELETED_CELLS or NEW_VERSION_BEHAVIOR keep them.
    #[must_use]
    pub(crate) fn dropping_surplus(mut self, family: &FamilyDescriptor) -> Self {
        self.surplus = is_plain(family).then(|| Surplus::new(family.versions_max()));
        self
    }

    /// Whether the next cell is written.
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
            RowKinds::MajorBut(other_files) => match other_files.may_hold(row) {
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

    /// Whether nothing is left that nobody can see.
    pub(crate) fn is_major(&self) -> bool {
        self.all_major
    }
}
