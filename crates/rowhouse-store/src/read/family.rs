//! Rows of one family: where its cells are, and which of them a read gives.

use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Key, Result, RowBuilder, RowRange, TimeRange, equal_bytes};

use super::{At, Merge, Rules, Source, Verdict, Visible};
use crate::cells::Cells;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::memstore::MemstoreCursor;
use crate::store_file::{FileCursor, StoreFile};

/// How many cells are stepped over before a seek is tried: a step costs a comparison, a seek a
/// search in every source.
const STEPS_BEFORE_SEEK: usize = 8;

/// How many bytes may lie between two cells of an answer for both to share their blocks.
const PASSED_BYTES_MAX: usize = 4096;

/// What is asked of each family.
pub(super) struct Asked<'a> {
    pub(super) columns: &'a Columns,
    pub(super) time_range: TimeRange,
    pub(super) versions: u32,
    pub(super) rows: Rows<'a>,
}

/// Which rows are asked for.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    One(&'a [u8]),
    Range(&'a RowRange),
}

impl Rows<'_> {
    /// Whether the first cell at or behind the first of them can be of any of them.
    fn may_hold(&self, row: &[u8]) -> bool {
        match self {
            Self::One(wanted) => *wanted == row,
            Self::Range(range) => range.stop.is_empty() || row < &range.stop[..],
        }
    }

    fn first(&self) -> &[u8] {
        match self {
            Self::One(row) => row,
            Self::Range(range) => &range.start,
        }
    }
}

impl Asked<'_> {
    /// Whether a file of the family may have anything that matters; `false` is certain.
    fn may_be_in(&self, file: &StoreFile, family: &Bytes) -> Result<bool> {
        if !file.may_hold_versions(&self.time_range) {
            return Ok(false);
        }
        match self.rows {
            Rows::One(row) => file.may_hold_row(row, self.columns.qualifiers(family)),
            Rows::Range(range) => Ok(file.may_hold_rows(range)),
        }
    }
}

/// The visible cells of one family, row by row.
pub(super) struct FamilyReader<'a> {
    merge: Merge,
    judging: Judging<'a>,
}

/// What is known on the way through the cells of a family.
struct Judging<'a> {
    visible: Visible<'a>,
    /// Bytes passed over since a cell was last part of an answer.
    passed: usize,
    family: Bytes,
    /// Only one row is read: nothing behind it matters.
    single_row: bool,
}

/// Cells of a family that could be asked for, as they were at a moment.
pub(super) enum Found {
    Merge(Merge),
    /// There are none.
    Nothing,
    /// The moment is too old to read the family at.
    TooOld,
}

/// Finds the first cell of the rows asked for.
pub(super) fn find(family: &FamilyStore, asked: &Asked<'_>, at: At<'_>) -> Result<Found> {
    let Some(parts) = at.parts(family)? else { return Ok(Found::TooOld) };
    let start = Key::row_start(asked.rows.first());
    let mut sources = Vec::new();
    for memstore in parts.frozen.iter().chain([&parts.active]) {
        if !memstore.is_empty() {
            let cursor = MemstoreCursor::new(Arc::clone(memstore), &start);
            sources.push(Source::Memory(cursor));
        }
    }
    for file in &parts.files {
        if asked.may_be_in(file, family.name())? {
            sources.push(Source::File(FileCursor::open(file, &start)?));
        }
    }
    if sources.is_empty() {
        return Ok(Found::Nothing);
    }
    let merge = Merge::new(sources, at.sequence())?;
    let first = merge.cell().is_some_and(|cell| asked.rows.may_hold(cell.key.row));
    Ok(if first { Found::Merge(merge) } else { Found::Nothing })
}

impl<'a> FamilyReader<'a> {
    /// A reader of what was found.
    pub(super) fn new(
        engine: &Engine,
        family: &FamilyStore,
        asked: &Asked<'a>,
        merge: Merge,
    ) -> Self {
        // The clock is read behind taking hold of the files: what a merge of files found to have
        // expired has expired for this reader.
        let rules = Rules::read(
            family.kept(),
            asked.columns.qualifiers(family.name()),
            asked.time_range,
            asked.versions,
            engine.timestamps.now_millis(),
        );
        let judging = Judging {
            visible: Visible::new(rules),
            passed: 0,
            family: family.name().clone(),
            single_row: matches!(asked.rows, Rows::One(_)),
        };
        Self { merge, judging }
    }

    /// The same, for longer than the question lives.
    pub(super) fn into_owned(self) -> FamilyReader<'static> {
        let Self { merge, judging } = self;
        let visible = judging.visible.into_owned();
        FamilyReader { merge, judging: Judging { visible, ..judging } }
    }

    /// The row of the cell where it stands; `None` behind the last.
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.merge.cell().map(|cell| cell.key.row)
    }

    /// Adds the visible cells of `row` to `cells` and goes to the next row.
    pub(super) fn read_row(&mut self, row: &[u8], cells: &mut RowBuilder) -> Result<()> {
        let Self { merge, judging } = self;
        match merge.only_file() {
            Some(cursor) => {
                judging.read_row(cursor, row, cells)?;
                merge.settle();
                Ok(())
            }
            None => judging.read_row(merge, row, cells),
        }
    }
}

impl Judging<'_> {
    /// Adds the visible cells of `row` to `cells` and goes to the next row.
    fn read_row<F: Cells>(
        &mut self,
        from: &mut F,
        row: &[u8],
        cells: &mut RowBuilder,
    ) -> Result<()> {
        self.visible.begin_row();
        // Cells that were passed since nothing of their column was wanted any more.
        let mut behind: Option<usize> = None;
        loop {
            let Self { visible, passed, .. } = self;
            let Some(mut cell) = from.cell().filter(|cell| equal_bytes(cell.key.row, row)) else {
                return Ok(());
            };
            if !visible.is_in_column(&cell) {
                if F::PUSHES_COLUMNS
                    && *passed <= PASSED_BYTES_MAX
                    && let Some(times) = visible.plain_times()
                {
                    let pushed = from.push_columns(&times, cells)?;
                    if pushed {
                        *passed = 0;
                    }
                    let Some(here) = from.cell().filter(|cell| equal_bytes(cell.key.row, row))
                    else {
                        return Ok(());
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
                *steps += 1;
                *passed += cell.value.len() + row.len();
                if *steps < STEPS_BEFORE_SEEK {
                    from.advance()?;
                } else {
                    // Whatever lies between is not known.
                    *passed += PASSED_BYTES_MAX + 1;
                    from.seek(&Key::column_end(row, &self.family, visible.qualifier()))?;
                }
                continue;
            }
            let verdict = visible.judge_in_column(&cell);
            if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
                // It shares its block, unless cells of answers are few and far between: then each
                // would keep a block of its own in memory.
                let passed = std::mem::take(passed);
                let is_sparse = passed > PASSED_BYTES_MAX && cell.value.len() < passed;
                from.push_to(cells, is_sparse);
            } else {
                *passed += cell.value.len() + row.len();
            }
            if matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn) {
                if visible.rules().qualifiers.is_some() {
                    if !self.find_next_named_column(from, row)? {
                        return Ok(());
                    }
                    continue;
                }
                behind = Some(0);
            }
            from.advance()?;
        }
    }

    /// To the first cell of the next column that was asked for by name: it may be far, or none.
    /// `false` when no more of this row is wanted and it is the only one.
    fn find_next_named_column(&mut self, from: &mut impl Cells, row: &[u8]) -> Result<bool> {
        let Self { visible, passed, family, single_row } = self;
        let Some(wanted) = visible.rules().qualifiers.as_ref() else { return Ok(true) };
        let next = wanted.named_behind(visible.qualifier());
        if *single_row && next.is_none() {
            return Ok(false);
        }
        for _ in 0..STEPS_BEFORE_SEEK {
            from.advance()?;
            let Some(cell) = from.cell() else { return Ok(true) };
            let in_front = next.is_none_or(|next| cell.key.qualifier < &next[..]);
            if !in_front || cell.key.row != row {
                return Ok(true);
            }
            *passed += cell.value.len() + row.len();
        }
        *passed += PASSED_BYTES_MAX + 1;
        from.seek(&match next {
            Some(next) => Key::column_start(row, family, next),
            None => Key::row_end(row),
        })?;
        Ok(true)
    }
}
