//! Rows as an index sees them, and as a query judges them.

use rowhouse_model::{Bytes, Error, Get, Result};
use rowhouse_schema::{Search, SearchPlan};
use rowhouse_store::SearchRead;

use crate::segment::Document;

/// Returns a full-text index's declared fields.
///
/// # Errors
/// `InvalidRequest` if the index has another kind.
pub(crate) fn search_of(read: &SearchRead) -> Result<&Search> {
    read.index.search().ok_or_else(|| {
        Error::invalid(format!("index {} is not a full-text index", read.index.name()))
    })
}

/// Reads a row at the read point, as it is at a time, and returns the row's document. A row whose
/// key does not fit the table's template has no values: queries do not return it.
///
/// # Errors
/// As for the read.
pub(crate) fn document_of(read: &SearchRead, row: &[u8], now: i64) -> Result<Document> {
    let search = search_of(read)?;
    let (cells, until) = read.row_at_time(row, now)?;
    let values = if read.index.fits(row) { search.values(&cells) } else { Vec::new() };
    Ok(Document { row: row.to_vec(), values, until })
}

/// Returns true if a row at the read point meets the query conditions that are not about words.
/// `is_sure` means that the row's document meets the conditions on values.
///
/// # Errors
/// As for the read; `Unsupported` for a value that is too long for the index, in a table without a
/// key template.
pub(crate) fn meets(
    read: &SearchRead,
    plan: &SearchPlan,
    row: &[u8],
    is_sure: bool,
) -> Result<bool> {
    if !plan.matches_key(row) {
        return Ok(false);
    }
    if is_sure && !plan.needs_cells() {
        return Ok(true);
    }
    let Some(rows) = plan.row_plan() else {
        return Err(Error::unsupported(format!(
            "a value is too long for conditions on it in a table without a key template: row={}",
            rowhouse_model::escape(row)
        )));
    };
    let mut get = Get::new(Bytes::copy_from_slice(row))?;
    if let Some(filter) = rows.column_filter() {
        get.columns = filter.reads();
    }
    let cells = read.table.get_at(&get, &read.point)?;
    // As in other queries, a value that does not have the column's type matches nothing.
    Ok(plan.matches_row(row, &cells).unwrap_or(false))
}
