//! One row of one family: which of its cells a read gives.

use std::time::Instant;

use rowhouse_model::{Bytes, Key, Result, RowBuilder, equal_bytes};

use super::markers::MarkersSeen;
use super::post_filter::PostFilter;
use super::{Rules, Verdict, Visible};
use crate::cells::Cells;

/// How many cells are stepped over before a seek is tried: a step costs a comparison, a seek a
/// search in every source.
pub(super) const STEPS_BEFORE_SEEK: usize = 8;

/// How many bytes may lie between two cells of an answer for both to share their blocks.
const PASSED_BYTES_MAX: usize = 4096;

/// How many cells are judged between two looks at the clock.
pub(super) const CELLS_BETWEEN_CHECKS: u64 = 1024;

/// How much of a row is wanted at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadBudget {
    /// Cells; where they are not sifted a few more may come.
    pub(super) cells: usize,
    /// Bytes of cells; the one that fills it is whole, and where they are not sifted a block more may
    /// come.
    pub(super) bytes: u64,
    /// When the row is left, whatever was found of it.
    pub(super) until: Option<Instant>,
    /// Cells that were judged since somebody looked at the clock.
    pub(super) judged: u64,
    /// How many are judged before the row is left, about.
    pub(super) judged_max: u64,
}

impl ReadBudget {
    /// All of it.
    pub(super) const WHOLE: Self =
        Self { cells: usize::MAX, bytes: u64::MAX, until: None, judged: 0, judged_max: u64::MAX };

    /// Whether `row` has filled it.
    #[inline]
    pub(super) fn is_filled_by(&self, row: &RowBuilder) -> bool {
        row.len() >= self.cells || row.byte_len() >= self.bytes
    }

    /// Counts a cell that is to be judged; whether the time is over instead.
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

/// How much of a row was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowRead {
    /// What there is of it in this family.
    Whole,
    /// What there was room for.
    Part,
}

/// What is known on the way through the cells of a family.
pub(super) struct QueryMatcher<'a> {
    pub(super) visible: Visible<'a>,
    /// Bytes passed over since a cell was last part of an answer.
    passed_bytes: usize,
    family: Bytes,
    /// Only one row is read: nothing behind it matters.
    single_row: bool,
    /// Whether markers may be passed together.
    passes_markers: bool,
    pub(super) markers: MarkersSeen,
    /// What is left of a row that there was no room for.
    left: Option<Left>,
    pub(super) post_filter: PostFilter,
    /// The row that a filter wants next, of a read that goes backward.
    back_to: Option<Bytes>,
    /// A filter was done when a cell came up: no more rows of this family are read, also where the next
    /// row begins the filter anew.
    pub(super) is_over: bool,
}

/// Where a row was left.
pub(super) struct Left {
    /// How many cells were passed since nothing of their column was wanted any more.
    pub(super) behind: Option<usize>,
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

    /// Whether a row begins that was not left before.
    pub(super) fn is_new_row(&self) -> bool {
        self.left.is_none()
    }

    /// Begins a row, or goes on where it was left.
    pub(super) fn begin(&mut self) -> Left {
        self.left.take().unwrap_or_else(|| {
            self.visible.begin_row();
            Left { behind: None }
        })
    }

    /// Has the next row be `row`, or the last before it.
    pub(super) fn go_back_to(&mut self, row: Bytes) {
        self.back_to = Some(row);
    }

    /// The row that [`QueryMatcher::go_back_to`] was told.
    pub(super) fn take_row_to_go_back_to(&mut self) -> Option<Bytes> {
        self.back_to.take()
    }

    /// Leaves a row.
    pub(super) fn leave(&mut self, behind: Option<usize>) -> RowRead {
        self.left = Some(Left { behind });
        RowRead::Part
    }

    /// Adds the visible cells of `row` to `cells`, as many as there is room for, and goes to the next
    /// row when it has them all.
    pub(super) fn read_row<F: Cells>(
        &mut self,
        from: &mut F,
        row: &[u8],
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        // Cells that were passed since nothing of their column was wanted any more.
        let Left { mut behind } = self.begin();
        loop {
            let Self { visible, passed_bytes, .. } = self;
            let Some(mut cell) = from.cell().filter(|cell| equal_bytes(cell.key.row, row)) else {
                return Ok(RowRead::Whole);
            };
            if budget.is_filled_by(cells) || budget.is_out_of_time() {
                return Ok(self.leave(behind));
            }
            if !visible.is_in_column(&cell) {
                if F::PUSHES_COLUMNS
                    && *passed_bytes <= PASSED_BYTES_MAX
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
                        behind = None;
                        continue;
                    }
                    cell = here;
                }
                visible.enter_column(cell.key.qualifier);
                behind = None;
            }
            if let Some(steps) = &mut behind {
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
                if verdict == Verdict::Skip && self.comes_marker(kind) && self.pass_markers(from)? {
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
                behind = Some(0);
            }
            from.advance()?;
        }
    }

    /// Counts a cell that is not shown; whether it is one of so many markers that passing those behind it is to be tried.
    #[inline]
    pub(super) fn comes_marker(&mut self, kind: u8) -> bool {
        self.passes_markers && self.markers.count(kind)
    }

    /// Passes markers behind the one here, if there are any to pass.
    #[cold]
    pub(super) fn pass_markers(&mut self, from: &mut impl Cells) -> Result<bool> {
        let passed = self.markers.pass(from)?;
        if passed {
            // Whatever lies between is not known.
            self.passed_bytes += PASSED_BYTES_MAX + 1;
        }
        Ok(passed)
    }

    /// Adds the cell where it stands to `cells`.
    pub(super) fn push(&mut self, from: &impl Cells, cells: &mut RowBuilder) {
        if let Some(cell) = from.cell() {
            from.push_to(cells, is_sparse(std::mem::take(&mut self.passed_bytes), cell.value));
            self.markers.end();
        }
    }

    /// Passes a cell, the `steps`-th of a column of which nothing is wanted any more.
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
        // Whatever lies between is not known.
        *passed_bytes += PASSED_BYTES_MAX + 1;
        from.seek(&Key::column_end(row, family, visible.qualifier()))
    }

    /// Passes a cell that is no part of the answer.
    pub(super) fn pass(&mut self, from: &mut impl Cells) -> Result<()> {
        if let Some(cell) = from.cell() {
            self.passed_bytes += cell.value.len() + cell.key.row.len();
        }
        from.advance()
    }

    /// Passes everything in front of `key`.
    pub(super) fn seek(&mut self, from: &mut impl Cells, key: &Key<'_>) -> Result<()> {
        // Whatever lies between is not known.
        self.passed_bytes += PASSED_BYTES_MAX + 1;
        from.seek(key)
    }

    /// To the first cell of the next column that was asked for by name: it may be far, or none.
    /// `false` when no more of this row is wanted and it is the only one.
    pub(super) fn find_next_named_column(
        &mut self,
        from: &mut impl Cells,
        row: &[u8],
    ) -> Result<bool> {
        let Self { visible, passed_bytes, family, single_row, .. } = self;
        let Some(wanted) = visible.rules().qualifiers.as_ref() else { return Ok(true) };
        let next = wanted.named_behind(visible.qualifier());
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

/// Whether a cell is copied rather than sharing its block, when so many bytes were passed since the
/// last: where cells of answers are few and far between each would keep a block of its own in memory.
fn is_sparse(passed_bytes: usize, value: &[u8]) -> bool {
    passed_bytes > PASSED_BYTES_MAX && value.len() < passed_bytes
}
