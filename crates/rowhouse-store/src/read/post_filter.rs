//! The post-visibility filter: a scan's filter and the scan's cell limit per family.
//!
//! The order is the same as in HBase's `StoreScanner` and `UserScanQueryMatcher`: versions are
//! counted, the filter is called, versions that it includes are counted again, and the cells that
//! remain count towards the family's limit.

use rowhouse_filter::{FilterRun, FilterVerdict, ValuePart};
use rowhouse_model::{Cell, CellRef, Key, Result, RowBuilder, Scan, equal_bytes};

use super::Verdict;
use super::row::{Left, QueryMatcher, ReadBudget, RowRead, STEPS_BEFORE_SEEK};
use crate::cells::Cells;

/// The limits for each family's cells, and the counts for the current row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PostFilter {
    /// Maximum cells per row; one is returned in any case, as in HBase.
    pub(super) limit: Option<u32>,
    /// Cells in a row to skip first.
    pub(super) offset: u32,
    /// Maximum versions per column, counted after the filter.
    pub(super) versions: u32,
    /// The read is a reverse one.
    pub(super) reversed: bool,
    /// Cells in the row that passed so far.
    let_through: u32,
    /// Versions in the column that the filter included so far.
    counted: u32,
    /// The column is complete but must be read to the end.
    column_done: bool,
}

/// Where to continue after a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchCode {
    Next,
    NextColumn,
    NextRow,
    Hint,
}

impl QueryMatcher<'_> {
    /// Adds the cells of `row` that pass to `cells` within the budget, and moves past the row once
    /// all are added.
    pub(super) fn read_filtered_row<F: Cells>(
        &mut self,
        from: &mut F,
        row: &[u8],
        mut filter: Option<&mut FilterRun>,
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        if self.is_over {
            return Ok(RowRead::Whole);
        }
        if self.is_new_row() {
            self.post_filter.let_through = 0;
        }
        let Left { mut skipped } = self.begin();
        if from.cell().is_none_or(|cell| !equal_bytes(cell.key.row, row)) {
            // The filter is not called for a family without cells in this row.
            return Ok(RowRead::Whole);
        }
        loop {
            // Check before looking at the cell, as HBase does: the cell may belong to another row.
            if filter.as_deref_mut().is_some_and(FilterRun::is_done) {
                self.is_over = true;
                return Ok(RowRead::Whole);
            }
            let Some(cell) = from.cell().filter(|cell| equal_bytes(cell.key.row, row)) else {
                return Ok(RowRead::Whole);
            };
            if !self.visible.is_in_column(&cell) {
                self.visible.enter_column(cell.key.qualifier);
                self.post_filter.enter_column();
                skipped = None;
            }
            if budget.is_out_of_time() {
                return Ok(self.leave(skipped));
            }
            if let Some(steps) = &mut skipped {
                self.pass_column(from, row, steps)?;
                continue;
            }
            if budget.is_filled_by(cells) {
                return Ok(self.leave(skipped));
            }
            let verdict = self.visible.judge_in_column(&cell);
            let kind = cell.key.kind;
            if verdict == Verdict::Skip && self.comes_marker(kind) {
                if !self.skip_markers(from)? {
                    self.pass(from)?;
                }
                continue;
            }
            let (passes, code) = self.filter_cell(&cell, verdict, filter.as_deref_mut());
            if passes && self.post_filter.takes() {
                match filter.as_deref_mut().map(|filter| filter.value_part(&cell)) {
                    None | Some(ValuePart::Whole) => self.push(from, cells),
                    Some(ValuePart::Nothing) => cells.push(with_value(&cell, &[])?),
                    Some(ValuePart::Length) => {
                        let len = cell.value.len() as u32;
                        cells.push(with_value(&cell, &len.to_be_bytes())?);
                    }
                    Some(ValuePart::Number(number)) => {
                        cells.push(with_value(&cell, &number.to_be_bytes())?);
                    }
                }
            }
            let code = if passes && self.post_filter.is_full() { MatchCode::NextRow } else { code };
            match code {
                MatchCode::Next => self.pass(from)?,
                MatchCode::NextColumn if self.visible.rules().qualifiers.is_some() => {
                    if !self.find_next_named_column(from, row)? {
                        return Ok(RowRead::Whole);
                    }
                }
                MatchCode::NextColumn => {
                    skipped = Some(0);
                    self.pass(from)?;
                }
                MatchCode::NextRow => {
                    self.is_over = !(passes && self.post_filter.is_full())
                        && filter.as_deref_mut().is_some_and(FilterRun::is_done);
                    self.pass_row(from, row)?;
                    return Ok(RowRead::Whole);
                }
                MatchCode::Hint => {
                    let hint = filter.as_deref_mut().and_then(|filter| filter.hint(&cell));
                    let Some(hint) = hint else {
                        self.pass(from)?;
                        continue;
                    };
                    let ahead = hint.as_key() > cell.key;
                    let same_row = hint.row == row;
                    match (self.post_filter.reversed, ahead) {
                        (true, false) if !same_row => {
                            self.go_back_to(hint.row);
                            return Ok(RowRead::Whole);
                        }
                        // In a reverse scan HBase steps to the hint and so meets the markers in
                        // between: column markers among their column's cells, and family markers
                        // among the cells in a column without qualifier.
                        (true, true)
                            if same_row
                                && !cell.key.qualifier.is_empty()
                                && hint.qualifier != cell.key.qualifier =>
                        {
                            self.seek(from, &hint.as_key())?;
                        }
                        (false, true) => self.seek(from, &hint.as_key())?,
                        // The hint is not ahead in the scan's direction.
                        _ => self.pass(from)?,
                    }
                }
            }
        }
    }

    /// Returns true if a cell passes, and where to continue.
    fn filter_cell(
        &mut self,
        cell: &CellRef<'_>,
        verdict: Verdict,
        filter: Option<&mut FilterRun>,
    ) -> (bool, MatchCode) {
        let code = match verdict {
            Verdict::Skip => return (false, MatchCode::Next),
            Verdict::NextColumn => return (false, self.after_column(cell)),
            Verdict::Include => MatchCode::Next,
            Verdict::IncludeLast => MatchCode::NextColumn,
        };
        if self.post_filter.column_done {
            return (false, MatchCode::Next);
        }
        let Some(filter) = filter else { return (true, code) };
        let code = match filter.judge(cell) {
            FilterVerdict::Include => code,
            FilterVerdict::IncludeAndNextColumn => MatchCode::NextColumn,
            FilterVerdict::IncludeAndNextRow => MatchCode::NextRow,
            FilterVerdict::Skip if code == MatchCode::NextColumn => {
                return (false, self.after_column(cell));
            }
            FilterVerdict::Skip => return (false, MatchCode::Next),
            FilterVerdict::NextColumn => return (false, self.after_column(cell)),
            FilterVerdict::NextRow => return (false, MatchCode::NextRow),
            FilterVerdict::SeekToHint => return (false, MatchCode::Hint),
        };
        self.post_filter.counted += 1;
        let passes = self.post_filter.counted <= self.post_filter.versions;
        let code = if passes || code == MatchCode::NextRow { code } else { MatchCode::NextColumn };
        (passes, if code == MatchCode::NextColumn { self.after_column(cell) } else { code })
    }

    /// Continues at the next column. A column without qualifier must be read to the end instead:
    /// family markers, which have no qualifier, may lie between the column's cells.
    fn after_column(&mut self, cell: &CellRef<'_>) -> MatchCode {
        if !cell.key.qualifier.is_empty() {
            return MatchCode::NextColumn;
        }
        // Without requested columns HBase still calls the filter for older versions.
        self.post_filter.column_done = self.visible.rules().qualifiers.is_some();
        MatchCode::Next
    }

    /// Skips the rest of the row.
    fn pass_row(&mut self, from: &mut impl Cells, row: &[u8]) -> Result<()> {
        for _ in 0..STEPS_BEFORE_SEEK {
            if from.cell().is_none_or(|cell| !equal_bytes(cell.key.row, row)) {
                return Ok(());
            }
            self.pass(from)?;
        }
        self.seek(from, &Key::row_end(row))
    }
}

impl PostFilter {
    /// Returns the limits that a scan sets.
    pub(super) fn of(scan: &Scan) -> Self {
        Self {
            limit: scan.family_limit,
            offset: scan.family_offset,
            reversed: scan.reversed,
            ..Self::default()
        }
    }

    /// Whether it has no limit, so that every cell a filter includes passes.
    pub(super) fn is_open(&self) -> bool {
        self.limit.is_none() && self.offset == 0
    }

    fn enter_column(&mut self) {
        (self.counted, self.column_done) = (0, false);
    }

    /// Counts a cell that passed; returns true if it is past the offset.
    fn takes(&mut self) -> bool {
        self.let_through += 1;
        self.let_through > self.offset
    }

    /// Whether the family's limit is reached.
    fn is_full(&self) -> bool {
        self.let_through > self.offset
            && self.limit.is_some_and(|limit| self.let_through - self.offset >= limit)
    }
}

/// Returns the cell with another value and without tags.
fn with_value(cell: &CellRef<'_>, value: &[u8]) -> Result<Cell> {
    Ok(Cell::from_parts(cell.key, value, &[])?.with_sequence(cell.sequence))
}
