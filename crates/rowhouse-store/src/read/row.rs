//! The query matcher for one row in one family: selects the cells that a read returns.

use std::time::Instant;

use rowhouse_model::{Bytes, Key, Result, RowBuilder, equal_bytes};

use super::markers::MarkersSeen;
use super::post_filter::PostFilter;
use super::{Rules, Verdict, Visible};
use crate::cells::Cells;

/// Cells stepped over before a seek is tried: a step costs one comparison, a seek a search in every
/// source.
pub(super) const STEPS_BEFORE_SEEK: usize = 8;

/// Maximum bytes between two returned cells for both to share their blocks.
const PASSED_BYTES_MAX: usize = 4096;

/// Bytes left of a budget at which cells are added one by one, so that it is not exceeded.
const BYTES_BY_CELL: u64 = 64 << 10;

/// Cells matched between two clock checks.
pub(super) const CELLS_BETWEEN_CHECKS: u64 = 1024;

/// Limits on how much one call returns from a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadBudget {
    /// Maximum cells; without post-visibility filtering a few more may be returned.
    pub(super) cells: usize,
    /// Maximum cell bytes. The cell that reaches the limit is returned whole. Above
    /// [`BYTES_BY_CELL`], up to a block more may follow without post-visibility filtering.
    pub(super) bytes: u64,
    /// When to suspend the row, whatever was found in it.
    pub(super) until: Option<Instant>,
    /// Cells matched since the last clock check.
    pub(super) judged: u64,
    /// Approximately how many cells are matched before the row is suspended.
    pub(super) judged_max: u64,
}

impl ReadBudget {
    /// No limits.
    pub(super) const WHOLE: Self =
        Self { cells: usize::MAX, bytes: u64::MAX, until: None, judged: 0, judged_max: u64::MAX };

    /// Whether `row` has reached a limit.
    #[inline]
    pub(super) fn is_filled_by(&self, row: &RowBuilder) -> bool {
        row.len() >= self.cells || row.byte_len() >= self.bytes
    }

    /// Whether several columns may be added to `row` without a check of limits.
    #[inline]
    fn has_room_for_columns(&self, row: &RowBuilder) -> bool {
        self.bytes.saturating_sub(row.byte_len()) > BYTES_BY_CELL
    }

    /// Counts a cell about to be matched and returns true if the time is over.
    #[inline]
    pub(super) fn is_out_of_time(&mut self) -> bool {
        self.judged += 1;
        self.judged.is_multiple_of(CELLS_BETWEEN_CHECKS) && self.looks_at_clock()
    }

    #[cold]
    fn looks_at_clock(&self) -> bool {
        self.judged >= self.judged_max || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// How much was read from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowRead {
    /// All of the row in this family.
    Whole,
    /// As much as the budget allowed.
    Part,
}

/// The state of a read while it goes through a family's cells.
pub(super) struct QueryMatcher<'a> {
    pub(super) visible: Visible<'a>,
    /// Bytes skipped since the last returned cell.
    passed_bytes: usize,
    family: Bytes,
    /// The read covers only one row: later rows do not matter.
    single_row: bool,
    /// Whether delete marker runs may be skipped together.
    passes_markers: bool,
    pub(super) markers: MarkersSeen,
    /// The position in a suspended row.
    left: Option<Left>,
    pub(super) post_filter: PostFilter,
    /// The row that a filter wants next, in a reverse read.
    back_to: Option<Bytes>,
    /// A filter was done when a cell was passed to it: no more rows in this family are read, even
    /// if the next row resets the filter.
    pub(super) is_over: bool,
}

/// The position at which a row was suspended.
pub(super) struct Left {
    /// Cells skipped in the current column since it was complete; `None` while the column still
    /// matters.
    pub(super) skipped: Option<usize>,
}

impl<'a> QueryMatcher<'a> {
    pub(super) fn new(
        rules: Rules<'a>,
        family: Bytes,
        single_row: bool,
        post_filter: PostFilter,
    ) -> Self {
        let passes_markers = rules.passes_markers();
        let visible = Visible::new(rules);
        Self {
            visible,
            passes_markers,
            passed_bytes: 0,
            family,
            single_row,
            markers: MarkersSeen::default(),
            left: None,
            post_filter,
            back_to: None,
            is_over: false,
        }
    }

    pub(super) fn into_owned(self) -> QueryMatcher<'static> {
        let visible = self.visible.into_owned();
        QueryMatcher { visible, ..self }
    }

    pub(super) fn family(&self) -> &Bytes {
        &self.family
    }

    /// Whether the next row is new rather than suspended.
    pub(super) fn is_new_row(&self) -> bool {
        self.left.is_none()
    }

    /// Begins a row, or resumes a suspended one.
    pub(super) fn begin(&mut self) -> Left {
        self.left.take().unwrap_or_else(|| {
            self.visible.begin_row();
            Left { skipped: None }
        })
    }

    /// Requests that the next row is `row`, or the last one before it.
    pub(super) fn go_back_to(&mut self, row: Bytes) {
        self.back_to = Some(row);
    }

    /// Takes the row set by [`QueryMatcher::go_back_to`].
    pub(super) fn take_row_to_go_back_to(&mut self) -> Option<Bytes> {
        self.back_to.take()
    }

    /// Suspends a row.
    pub(super) fn leave(&mut self, skipped: Option<usize>) -> RowRead {
        self.left = Some(Left { skipped });
        RowRead::Part
    }

    /// Adds the visible cells of `row` to `cells` within the budget, and moves past the row once
    /// all are added.
    pub(super) fn read_row(
        &mut self,
        from: &mut impl Cells,
        row: &[u8],
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        // Cells skipped in the current column since it was complete.
        let Left { mut skipped } = self.begin();
        loop {
            let Self { visible, passed_bytes, .. } = self;
            let Some(mut cell) = from.cell().filter(|cell| equal_bytes(cell.key.row, row)) else {
                return Ok(RowRead::Whole);
            };
            if budget.is_filled_by(cells) || budget.is_out_of_time() {
                return Ok(self.leave(skipped));
            }
            if !visible.is_in_column(&cell) {
                if *passed_bytes <= PASSED_BYTES_MAX
                    && budget.has_room_for_columns(cells)
                    && let Some(times) = visible.plain_times()
                {
                    let pushed = from.push_columns(&times, cells)?;
                    if pushed {
                        *passed_bytes = 0;
                        self.markers.end();
                    }
                    let Some(here) = from.cell().filter(|cell| equal_bytes(cell.key.row, row))
                    else {
                        return Ok(RowRead::Whole);
                    };
                    if pushed && let Some(last) = cells.last() {
                        visible.note_included(&last);
                        skipped = None;
                        continue;
                    }
                    cell = here;
                }
                visible.enter_column(cell.key.qualifier);
                skipped = None;
            }
            if let Some(steps) = &mut skipped {
                self.pass_column(from, row, steps)?;
                continue;
            }
            let verdict = visible.judge_in_column(&cell);
            if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
                let is_sparse = is_sparse(std::mem::take(passed_bytes), cell.value);
                from.push_to(cells, is_sparse);
                self.markers.end();
            } else {
                *passed_bytes += cell.value.len() + row.len();
                let kind = cell.key.kind;
                if verdict == Verdict::Skip && self.comes_marker(kind) && self.skip_markers(from)? {
                    continue;
                }
            }
            let visible = &mut self.visible;
            if matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn) {
                if visible.rules().qualifiers.is_some() {
                    if !self.find_next_named_column(from, row)? {
                        return Ok(RowRead::Whole);
                    }
                    continue;
                }
                skipped = Some(0);
            }
            from.advance()?;
        }
    }

    /// Counts a cell that is not returned. Returns true if so many markers came in a row that
    /// skipping the following ones is worth a try.
    #[inline]
    pub(super) fn comes_marker(&mut self, kind: u8) -> bool {
        self.passes_markers && self.markers.count(kind)
    }

    /// Skips markers after the current one, if possible; returns true if it did.
    #[cold]
    pub(super) fn skip_markers(&mut self, from: &mut impl Cells) -> Result<bool> {
        let passed = self.markers.pass(from)?;
        if passed {
            // The size of the skipped cells is unknown.
            self.passed_bytes += PASSED_BYTES_MAX + 1;
            self.visible.note_skipped_markers();
        }
        Ok(passed)
    }

    /// Adds the current cell to `cells`.
    pub(super) fn push(&mut self, from: &impl Cells, cells: &mut RowBuilder) {
        if let Some(cell) = from.cell() {
            from.push_to(cells, is_sparse(std::mem::take(&mut self.passed_bytes), cell.value));
            self.markers.end();
        }
    }

    /// Skips a cell, number `steps` of a column that is complete.
    pub(super) fn pass_column(
        &mut self,
        from: &mut impl Cells,
        row: &[u8],
        steps: &mut usize,
    ) -> Result<()> {
        *steps += 1;
        if *steps < STEPS_BEFORE_SEEK {
            return self.pass(from);
        }
        let Self { visible, passed_bytes, family, .. } = self;
        // The size of the skipped cells is unknown.
        *passed_bytes += PASSED_BYTES_MAX + 1;
        from.seek(&Key::column_end(row, family, visible.qualifier()))
    }

    /// Skips a cell that is not returned.
    pub(super) fn pass(&mut self, from: &mut impl Cells) -> Result<()> {
        if let Some(cell) = from.cell() {
            self.passed_bytes += cell.value.len() + cell.key.row.len();
        }
        from.advance()
    }

    /// Skips everything before `key`.
    pub(super) fn seek(&mut self, from: &mut impl Cells, key: &Key<'_>) -> Result<()> {
        // The size of the skipped cells is unknown.
        self.passed_bytes += PASSED_BYTES_MAX + 1;
        from.seek(key)
    }

    /// Moves to the first cell in the next column that was requested by name, which may be far away
    /// or not exist. Returns `false` if this row has nothing more to read and the read covers no
    /// other row.
    pub(super) fn find_next_named_column(
        &mut self,
        from: &mut impl Cells,
        row: &[u8],
    ) -> Result<bool> {
        let Self { visible, passed_bytes, family, single_row, .. } = self;
        let Some(qualifiers) = visible.rules().qualifiers.as_ref() else { return Ok(true) };
        let next = qualifiers.next_named(visible.qualifier());
        if *single_row && next.is_none() {
            return Ok(false);
        }
        let next = next.map(|next| &next[..]);
        let (passed, value_bytes) = from.pass_columns(next, STEPS_BEFORE_SEEK - 1);
        *passed_bytes += value_bytes + passed * row.len();
        for _ in passed..STEPS_BEFORE_SEEK {
            from.advance()?;
            let Some(cell) = from.cell() else { return Ok(true) };
            let in_front = next.is_none_or(|next| cell.key.qualifier < next);
            if !in_front || cell.key.row != row {
                return Ok(true);
            }
            *passed_bytes += cell.value.len() + row.len();
        }
        *passed_bytes += PASSED_BYTES_MAX + 1;
        from.seek(&match next {
            Some(next) => Key::column_start(row, family, next),
            None => Key::row_end(row),
        })?;
        Ok(true)
    }
}

/// Whether to copy a cell instead of sharing its block, given the bytes skipped since the last
/// returned cell: sparse results would keep one block each in memory.
fn is_sparse(passed_bytes: usize, value: &[u8]) -> bool {
    passed_bytes > PASSED_BYTES_MAX && value.len() < passed_bytes
}
