//! A filter's steps.

use rowhouse_model::{CellRef, Key, KeyBuf, Result};

use super::verdict::{FilterVerdict, ValuePart};

/// A filter's steps, as the HBase class with this name has them. Each filter's state implements the
/// steps that the HBase class overrides.
pub(super) trait FilterBase {
    /// Resets the state when a row ends.
    fn reset(&mut self) {}

    /// HBase's filterAllRemaining.
    fn is_done(&self) -> bool {
        false
    }

    /// HBase's filterRowKey.
    fn filters_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(self.is_done())
    }

    /// HBase's filterCell.
    fn judge(&mut self, _cell: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(FilterVerdict::Include)
    }

    /// HBase's getNextCellHint.
    fn hint(&mut self, _key: Key<'_>) -> Option<KeyBuf> {
        None
    }

    /// Returns true if HBase's class is a HintingFilter: an AND list requests the hint even after
    /// another member has excluded the cell.
    fn is_hinting(&self) -> bool {
        false
    }

    /// Returns true if the verdict on a cell follows from the cell's family and qualifier, so that
    /// the filter need not see the cells over which it or another filter seeks.
    fn judges_column_alone(&self) -> bool {
        false
    }

    /// HBase's transformCell, applied to the part of the value that earlier filters `left`.
    fn value_part(&self, left: ValuePart) -> ValuePart {
        left
    }

    /// HBase's hasFilterRow.
    fn needs_whole_row(&self) -> bool {
        false
    }

    /// HBase's filterRowCells.
    fn keeps(&self, _cell: &CellRef<'_>) -> bool {
        true
    }

    /// HBase's filterRow.
    fn filters_row(&mut self) -> bool {
        false
    }

    /// HBase's isFamilyEssential.
    fn needs_family(&self, _family: &[u8]) -> bool {
        true
    }
}
