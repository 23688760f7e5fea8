//! Selects the rows of a scan by the conditions of a query.

use rowhouse_model::{Bytes, Columns, Result, RowBuilder, RowRange};
use rowhouse_schema::{KeySchema, Plan};

use super::family::FamilyReader;
use super::row::ReadBudget;

/// The rows that a query selects from a scan.
pub(crate) struct RowSelection {
    /// The rows to look at, in key order, without overlaps.
    pub(crate) ranges: Vec<RowRange>,
    /// Rows whose keys do not fit are not selected.
    pub(crate) key: KeySchema,
    /// Judges the rows of the ranges.
    pub(crate) plan: Plan,
}

/// What to do about a row of a scan.
pub(super) enum Selected {
    Take,
    Pass,
    /// All rows before this one are passed; in a reversed scan, this one and all after it.
    Seek(Bytes),
    /// All other rows are passed too.
    End,
}

/// Selects rows in the order of a scan. It reads the columns that conditions are on itself, so that
/// the scan neither returns them nor shows them to its filter.
pub(super) struct RowSelector {
    /// In the order of the scan.
    ranges: std::vec::IntoIter<RowRange>,
    key: KeySchema,
    plan: Plan,
    /// Readers of the columns that conditions are on.
    pub(super) columns: Vec<FamilyReader<'static>>,
    reversed: bool,
}

impl RowSelection {
    /// Returns the columns that conditions are on; `None` if all are on the key.
    pub(crate) fn columns(&self) -> Option<Columns> {
        condition_columns(&self.plan)
    }

    /// Returns the range from the first to the last row that may be selected.
    pub(crate) fn hull(&self) -> RowRange {
        match (self.ranges.first(), self.ranges.last()) {
            (Some(first), Some(last)) => RowRange::new(first.start.clone(), last.stop.clone()),
            _ => RowRange::new("\0", "\0"),
        }
    }

    /// Returns the selector for a scan; `columns` read the columns that conditions are on.
    pub(super) fn into_selector(
        mut self,
        columns: Vec<FamilyReader<'static>>,
        reversed: bool,
    ) -> RowSelector {
        if reversed {
            self.ranges.reverse();
        }
        let Self { ranges, key, plan } = self;
        RowSelector { ranges: ranges.into_iter(), key, plan, columns, reversed }
    }
}

/// Returns the columns that conditions of a plan are on; `None` if all are on the key.
pub(crate) fn condition_columns(plan: &Plan) -> Option<Columns> {
    let mut columns = Columns::all();
    for column in plan.column_filter()?.columns() {
        let (family, qualifier) = (column.family(), column.qualifier().unwrap_or_default());
        columns.add_column(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier));
    }
    Some(columns)
}

impl RowSelector {
    /// Decides about a row, which is behind those asked for before. Adds to `judged` the cells that
    /// were read.
    pub(super) fn select(&mut self, row: &[u8], judged: &mut u64) -> Result<Selected> {
        let range = loop {
            let Some(range) = self.ranges.as_slice().first() else { return Ok(Selected::End) };
            let is_behind = match self.reversed {
                true => *row < range.start[..],
                false => !range.stop.is_empty() && *row >= range.stop[..],
            };
            if !is_behind {
                break range;
            }
            self.ranges.next();
        };
        if !range.contains(row) {
            let bound = if self.reversed { &range.stop } else { &range.start };
            return Ok(Selected::Seek(bound.clone()));
        }
        let fits = self.key.decode(row).is_ok_and(|values| self.plan.matches(&values));
        let is_selected = fits && self.columns_match(row, judged)?;
        Ok(if is_selected { Selected::Take } else { Selected::Pass })
    }

    fn columns_match(&mut self, row: &[u8], judged: &mut u64) -> Result<bool> {
        let Some(filter) = self.plan.column_filter() else { return Ok(true) };
        let mut budget = ReadBudget { judged: *judged, ..ReadBudget::WHOLE };
        let mut cells = RowBuilder::default();
        for family in &mut self.columns {
            match self.reversed {
                true => family.go_back_to(row)?,
                false if family.row().is_some_and(|here| here < row) => family.seek_row(row)?,
                false => {}
            }
            if family.row() == Some(row) {
                family.read_row(row, &mut budget, &mut cells)?;
                if self.reversed {
                    family.go_back(row)?;
                }
            }
        }
        *judged = budget.judged;
        // A row with a value that is not of its column's type does not match.
        Ok(filter.matches(&cells.finish()).unwrap_or(false))
    }
}
