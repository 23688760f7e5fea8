//! Cells in THE order, gone through once.

use std::ops::RangeInclusive;

use rowhouse_model::{CellRef, Key, Result, RowBuilder};

/// A position among sorted cells: of a file, or of several files and memstores together.
pub(crate) trait Cells {
    /// Whether [`Cells::push_columns`] ever adds anything: not where several sources have their say
    /// in what is there to see.
    const PUSHES_COLUMNS: bool = false;

    /// The current cell; `None` behind the last.
    fn cell(&self) -> Option<CellRef<'_>>;

    /// To the next cell.
    fn advance(&mut self) -> Result<()>;

    /// Forward to the first cell at or behind `key`; never back.
    fn seek(&mut self, key: &Key<'_>) -> Result<()>;

    /// From a delete marker past others that cover nothing behind them, where many can be passed quickly: only for
    /// readers to whom markers cover by timestamp. Whether there were any.
    fn pass_markers(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Adds the current cell to a row: sharing its block unless it is to be `copied`.
    fn push_to(&self, row: &mut RowBuilder, copied: bool);

    /// Adds cells from here on that are plain to see, as many as can be had quickly, and moves behind
    /// them: puts at one of `times`, each of another column of the same row. The current cell must be
    /// the first of its column. False when none was added.
    fn push_columns(
        &mut self,
        _times: &RangeInclusive<i64>,
        _row: &mut RowBuilder,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Passes cells of the row that are followed by another in front of the column `qualifier`, or by any where that is none: up to
    /// `cells_max`, those that can be passed quickly. Gives how many, and how many bytes of values they have.
    fn pass_columns(&mut self, _qualifier: Option<&[u8]>, _cells_max: usize) -> (usize, usize) {
        (0, 0)
    }
}
