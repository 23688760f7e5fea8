//! Forward iteration over sorted cells.

use std::ops::RangeInclusive;

use rowhouse_model::{CellRef, Key, Result, RowBuilder};

/// A forward cursor over sorted cells: in one file, or in several merged files and memstores.
pub(crate) trait Cells {
    /// Returns the current cell; `None` after the last.
    fn cell(&self) -> Option<CellRef<'_>>;

    /// Moves to the next cell.
    fn advance(&mut self) -> Result<()>;

    /// Moves forward to the first cell at or after `key`; never moves backward.
    fn seek(&mut self, key: &Key<'_>) -> Result<()>;

    /// Moves from a delete marker past later markers that cover nothing after them, if many can be
    /// skipped quickly. Valid only for readers to whom markers cover by timestamp. Returns true if
    /// it skipped any.
    fn skip_markers(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Adds the current cell to a row; the cell shares the block unless `copied`.
    fn push_to(&self, row: &mut RowBuilder, copied: bool);

    /// Adds cells from the current one on that are visible without further checks, as many as it
    /// can quickly, and moves past them: puts at a timestamp in `times`, each in a different column
    /// in the same row. The current cell must be the first in its column. Returns true if it added
    /// any.
    fn push_columns(
        &mut self,
        _times: &RangeInclusive<i64>,
        _row: &mut RowBuilder,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Skips cells in the current row, up to `cells_max` and only cells it can skip quickly. It
    /// skips a cell only if the next cell in the row exists and, with a `qualifier`, lies before
    /// that column. Returns how many cells were skipped and how many value bytes they have.
    fn pass_columns(&mut self, _qualifier: Option<&[u8]>, _cells_max: usize) -> (usize, usize) {
        (0, 0)
    }
}
