//! Selects a scan's rows by a query's conditions.

use rowhouse_model::{Bytes, Columns, Result, Row, RowBuilder, RowRange};
use rowhouse_schema::{KeySchema, Plan};

use super::family::FamilyReader;
use super::row::ReadBudget;

/// The rows that a query selects from a scan: [`Region::scan_selected`](crate::Region).
pub struct RowSelection {
    /// The rows to look at, in scan order, without overlaps.
    rows: RowsInOrder,
    /// Holds all rows.
    hull: RowRange,
    /// Rows whose keys do not fit are not selected.
    key: KeySchema,
    /// Judges the rows in the ranges.
    plan: Plan,
}

/// Rows that a query may select.
#[derive(Clone, Debug)]
pub enum SelectedRows {
    /// Rows that are read and judged.
    Range(RowRange),
    /// A row that an index entry selects and covers. It is read only if the entry has more bytes
    /// than a call may return.
    Covered {
        /// The row key.
        key: Bytes,
        /// The cells that the scan returns, maybe none.
        cells: Row,
    },
}

/// Rows in scan order.
pub type RowsInOrder = Box<dyn Iterator<Item = Result<SelectedRows>> + Send + Sync>;

/// What to do about a row in a scan.
pub(super) enum Selected {
    Take,
    /// A row whose cells were not read. It comes at or after the current row.
    Covered {
        key: Bytes,
        cells: Row,
    },
    Pass,
    /// All rows before this one are passed; in a reversed scan, this one and all after it.
    Seek(Bytes),
    /// All other rows are passed too.
    End,
}

/// Selects rows in scan order. It reads the columns that conditions are on itself, so that the scan
/// neither returns them nor shows them to its filter.
pub(super) struct RowSelector {
    /// The range of the last row.
    range: Option<RowRange>,
    /// Those after it.
    rows: RowsInOrder,
    key: KeySchema,
    plan: Plan,
    /// Readers for the columns that conditions are on.
    pub(super) columns: Vec<FamilyReader<'static>>,
    reversed: bool,
    /// The last covered row. The readers of the table's rows may be before it.
    covered: Option<Bytes>,
}

impl RowSelection {
    /// Creates a selection from rows, which are in scan order, without overlaps, and inside `hull`.
    /// It selects the covered rows, and the rows in ranges whose keys fit the template and that
    /// match the plan.
    pub fn new(
        mut rows: RowsInOrder,
        mut hull: RowRange,
        reversed: bool,
        key: KeySchema,
        plan: Plan,
    ) -> Self {
        // A scan begins with the first range.
        let first = rows.next();
        match first.as_ref().map(|rows| rows.as_ref().map(SelectedRows::range)) {
            Some(Ok(first)) if reversed => hull = RowRange::new(hull.start, first.stop),
            Some(Ok(first)) => hull = RowRange::new(first.start, hull.stop),
            Some(Err(_)) => {}
            None => hull = RowRange::new("\0", "\0"),
        }
        let rows = Box::new(first.into_iter().chain(rows));
        Self { rows, hull, key, plan }
    }

    /// Returns the columns that conditions are on; `None` if all are on the key.
    pub(crate) fn columns(&self) -> Option<Columns> {
        self.plan.column_filter().map(|filter| filter.reads())
    }

    /// Returns the range from the first to the last row that may be selected.
    pub(crate) fn hull(&self) -> &RowRange {
        &self.hull
    }

    /// Returns the selector for a scan; `columns` read the columns that conditions are on.
    pub(super) fn into_selector(
        self,
        columns: Vec<FamilyReader<'static>>,
        reversed: bool,
    ) -> RowSelector {
        let Self { rows, hull: _, key, plan } = self;
        RowSelector { range: None, rows, key, plan, columns, reversed, covered: None }
    }
}

impl SelectedRows {
    fn range(&self) -> RowRange {
        match self {
            Self::Range(range) => range.clone(),
            Self::Covered { key, .. } => RowRange::row(key),
        }
    }
}

impl RowSelector {
    /// Decides about a row, which comes after the rows passed before. Adds to `judged` the cells
    /// that were read. Covered rows have less than `bytes_max` bytes: longer ones are read, since
    /// only a row that is read can be suspended.
    pub(super) fn select(
        &mut self,
        row: &[u8],
        bytes_max: u64,
        judged: &mut u64,
    ) -> Result<Selected> {
        let reversed = self.reversed;
        let is_passed = |range: &RowRange| {
            if reversed {
                *row < range.start[..]
            } else {
                !range.stop.is_empty() && *row >= range.stop[..]
            }
        };
        while self.range.as_ref().is_none_or(is_passed) {
            self.range = None;
            match self.rows.next().transpose()? {
                None => return Ok(Selected::End),
                Some(SelectedRows::Covered { key, cells }) if cells.byte_len() < bytes_max => {
                    self.covered = Some(key.clone());
                    return Ok(Selected::Covered { key, cells });
                }
                Some(rows) => self.range = Some(rows.range()),
            }
        }
        let Some(range) = &self.range else { return Ok(Selected::End) };
        if !range.contains(row) {
            let bound = if self.reversed { &range.stop } else { &range.start };
            return Ok(Selected::Seek(bound.clone()));
        }
        let fits = self.key.decode(row).is_ok_and(|values| self.plan.matches(&values));
        let is_selected = fits && self.columns_match(row, judged)?;
        Ok(if is_selected { Selected::Take } else { Selected::Pass })
    }

    /// Returns the row up to which all are examined: `row`, or the last covered row if that is
    /// further.
    pub(super) fn position<'r>(&'r self, row: &'r [u8]) -> &'r [u8] {
        match &self.covered {
            Some(covered) if (covered[..] > *row) != self.reversed => covered,
            _ => row,
        }
    }

    fn columns_match(&mut self, row: &[u8], judged: &mut u64) -> Result<bool> {
        let Some(filter) = self.plan.column_filter() else { return Ok(true) };
        let mut budget = ReadBudget { judged: *judged, ..ReadBudget::WHOLE };
        let mut cells = RowBuilder::default();
        for family in &mut self.columns {
            if self.reversed {
                family.go_back_to(row)?;
            } else if family.row().is_some_and(|here| here < row) {
                family.seek_row(row)?;
            }
            if family.row() == Some(row) {
                family.read_row(row, &mut budget, &mut cells)?;
                if self.reversed {
                    family.go_back(row)?;
                }
            }
        }
        *judged = budget.judged;
        // A row with a value that is not of the column's type does not match.
        Ok(filter.matches(&cells.finish()).unwrap_or(false))
    }
}
