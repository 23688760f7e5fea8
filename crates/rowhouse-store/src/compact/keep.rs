//! Which cells of a merge are written: asks [`Visible`] cell by cell.

use rowhouse_model::{CellRef, FamilyDescriptor};

use super::CompactionKind;
use crate::read::{Rules, Verdict, Visible};

/// Judges the cells of a merge, in cell order.
pub(crate) struct Keep {
    visible: Visible<'static>,
    row: Vec<u8>,
    /// The column behind whose last cell worth keeping we are.
    done_with_column: bool,
    column: Vec<u8>,
}

impl Keep {
    /// In a merge of files in which no put is older than `earliest_put`.
    pub(crate) fn new(
        kind: CompactionKind,
        family: &FamilyDescriptor,
        earliest_put: i64,
        now_millis: i64,
    ) -> Self {
        Self {
            visible: Visible::new(Rules::compact(kind, family, earliest_put, now_millis)),
            row: Vec::new(),
            done_with_column: false,
            column: Vec::new(),
        }
    }

    /// Whether the next cell is written.
    pub(crate) fn keeps(&mut self, cell: &CellRef<'_>) -> bool {
        if self.row != cell.key.row {
            self.row.clear();
            self.row.extend_from_slice(cell.key.row);
            self.visible.begin_row();
            self.done_with_column = false;
        }
        if self.done_with_column && self.column == cell.key.qualifier {
            return false;
        }
        let verdict = self.visible.judge(cell);
        self.done_with_column = matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn);
        if self.done_with_column {
            self.column.clear();
            self.column.extend_from_slice(cell.key.qualifier);
        }
        matches!(verdict, Verdict::Include | Verdict::IncludeLast)
    }
}
