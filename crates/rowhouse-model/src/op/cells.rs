//! Checks for the cells added to a mutation.

use crate::{Cell, CellKind, Error, Result, escape};

/// Checks that `cell` belongs to the mutation for `row`.
pub(super) fn check_same_row(row: &[u8], cell: &Cell) -> Result<()> {
    if cell.row() != row {
        return Err(Error::invalid(format!(
            "the row in {} doesn't match the original one {}",
            escape(cell.row()),
            escape(row)
        )));
    }
    Ok(())
}

/// Returns an error if the column was already added: each change would start from the same value,
/// and all but the last would be lost.
pub(super) fn check_not_named(cells: &[Cell], family: &[u8], qualifier: &[u8]) -> Result<()> {
    let is_same = |cell: &Cell| cell.family() == family && cell.qualifier() == qualifier;
    if cells.iter().any(is_same) {
        return Err(Error::invalid(format!(
            "an increment or append must not name a column twice: column={}:{}",
            escape(family),
            escape(qualifier)
        )));
    }
    Ok(())
}

/// Returns an error for a delete marker in an increment or append.
pub(super) fn check_is_put(cell: &Cell) -> Result<()> {
    match cell.kind() {
        CellKind::Put => Ok(()),
        kind => Err(Error::invalid(format!(
            "an increment or append cannot contain a delete marker: \
                                        {kind:?}"
        ))),
    }
}
