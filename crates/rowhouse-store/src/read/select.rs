//! Selects a scan's rows by a query's conditions.

use rowhouse_model::{Bytes, Columns, Result, RowBuilder, RowRange};
use rowhouse_schema::{KeySchema, Plan};

use super::family::FamilyReader;
use super::row::ReadBudget;

/// The rows that a query selects from a scan: [`Region::scan_selected`](crate::Region).
pub struct RowSelection {
    /// The rows to look at, in scan order, without overlaps.
    ranges: RangesInOrder,
    /// Holds all ranges.
    hull: RowRange,
    /// Rows whose keys do not fit are not selected.
    key: KeySchema,
    /// Judges the rows in the ranges.
    plan: Plan,
}

/// Row ranges in scan order.
pub type RangesInOrder = Box<dyn Iterator<Item = Result<RowRange>> + Send + Sync>;

/// What to do about a row in a scan.
pub(super) enum Selected {
    Take,
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
    ranges: RangesInOrder,
    key: KeySchema,
    plan: Plan,
    /// Readers for the columns that conditions are on.
    pub(super) columns: Vec<FamilyReader<'static>>,
    reversed: bool,
}

impl RowSelection {
    /// Creates a selection from ranges, which are in scan order, without overlaps, and inside
    /// `hull`. It selects their rows whose keys fit the template and that match the plan.
    pub fn new(
        mut ranges: RangesInOrder,
        mut hull: RowRange,
        reversed: bool,
        key: KeySchema,
        plan: Plan,
    ) -> Self {
        // A scan begins with the first range.
        let first = ranges.next();
        match &first {
            Some(Ok(first)) if reversed => hull = RowRange::new(hull.start, first.stop.clone()),
            Some(Ok(first)) => hull = RowRange::new(first.start.clone(), hull.stop),
            Some(Err(_)) => {}
            None => hull = RowRange::new("\0", "\0"),
        }
        let ranges = Box::new(first.into_iter().chain(ranges));
        Self { ranges, hull, key, plan }
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
        let Self { ranges, hull: _, key, plan } = self;
        RowSelector { range: None, ranges, key, plan, columns, reversed }
    }
}

impl RowSelector {
    /// Decides about a row, which comes after the rows passed before. Adds to `judged` the cells
    /// that were read.
    pub(super) fn select(&mut self, row: &[u8], judged: &mut u64) -> Result<Selected> {
        let reversed = self.reversed;
        let is_passed = |range: &RowRange| {
            if reversed {
                *row < range.start[..]
            } else {
                !range.stop.is_empty() && *row >= range.stop[..]
            }
        };
        while self.range.as_ref().is_none_or(is_passed) {
            self.range = self.ranges.next().transpose()?;
            if self.range.is_none() {
                return Ok(Selected::End);
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
