//! The cells of columns: which of them a row shows, and a selection of them.

use rowhouse_model::{Columns, KeyValue, Row};

use crate::columns::Column;

/// Returns the cell that a row shows of a column with one qualifier.
pub(super) fn newest<'r>(column: &Column, cells: &'r Row) -> Option<KeyValue<'r>> {
    cells.cell(column.family(), column.qualifier()?)
}

/// Returns the cells in these columns. For a column with a qualifier template, the whole family.
pub(super) fn select(all: &[&Column]) -> Columns {
    let mut reads = Columns::all();
    for column in all {
        if let Some(qualifier) = column.qualifier() {
            reads.add_column(column.family.clone(), qualifier.to_vec());
        }
    }
    // A family after its columns: named later, these would narrow it.
    for column in all.iter().filter(|column| column.template().is_some()) {
        reads.add_family(column.family.clone());
    }
    reads
}
