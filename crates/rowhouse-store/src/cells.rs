//! Cells in THE order, gone through once.

use rowhouse_model::{CellRef, Key, Result, RowBuilder};

/// A position among sorted cells: of a file, or of several files and memstores together.
pub(crate) trait Cells {
    /// The current cell; `None` behind the last.
    fn cell(&self) -> Option<CellRef<'_>>;

    /// To the next cell.
    fn advance(&mut self) -> Result<()>;

    /// Forward to the first cell at or behind `key`; never back.
    fn seek(&mut self, key: &Key<'_>) -> Result<()>;

    /// Adds the current cell to a row: sharing its block unless it is to be `copied`.
    fn push_to(&self, row: &mut RowBuilder, copied: bool);
}
