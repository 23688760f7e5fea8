//! Index entries that are the answer, without their rows.

use rowhouse_model::{Bytes, Cell, CellKind, Columns, Error, Result, Row, Timestamp};
use rowhouse_schema::{Column, ENTRY_FAMILY, EntryHeader, IndexPlan};

use crate::projection::Projection;
use crate::source::EntryHit;

/// A plan's entries, where they decide all conditions and hold all requested columns.
pub(crate) struct Covered {
    index: String,
    /// The requested columns, in cell order.
    columns: Vec<CoveredColumn>,
}

/// A covered column.
struct CoveredColumn {
    /// The position in the index declaration.
    at: usize,
    column: Column,
    name: Bytes,
}

impl Covered {
    /// Returns `None` if rows must be read. The rows of a copy are not entries.
    pub(crate) fn new(plan: &IndexPlan, projection: &Projection) -> Option<Self> {
        let is_covered = if projection.keys_only && projection.columns.is_all() {
            plan.is_decided()
        } else {
            plan.is_covered(&projection.columns)
        };
        let index = plan.index();
        (is_covered && !index.is_copy()).then(|| Self {
            index: index.name().to_owned(),
            columns: covered_columns(plan, &projection.columns),
        })
    }

    /// The required entry columns.
    pub(crate) fn entry_columns(&self) -> Columns {
        let mut columns = header_column();
        for covered in &self.columns {
            columns.add_column(ENTRY_FAMILY, covered.name.clone());
        }
        columns
    }

    /// Returns the requested cells of an entry that is certain, without any cell if the row has
    /// none; `None` if the row must be read. The cells have no tags and no sequence number. `now`
    /// is a time after the entry was read.
    ///
    /// # Errors
    /// `Corruption`; `Unsupported` for an entry from a newer version.
    pub(crate) fn cells(&self, hit: &EntryHit, now: i64) -> Result<Option<Row>> {
        let Some(header) = hit.entry.value(ENTRY_FAMILY, "") else { return Ok(None) };
        let header = EntryHeader::decode(&header)?;
        if !header.is_certain_at(now) {
            return Ok(None);
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for CoveredColumn { at, column, name } in &self.columns {
            let Some(timestamp) = header.timestamps.get(*at).copied().flatten() else { continue };
            let value = hit.entry.value(ENTRY_FAMILY, name).ok_or_else(|| {
                let index = &self.index;
                let column = column.name();
                Error::corruption(format!(
                    "an entry lacks a covered cell: index={index}, column={column}"
                ))
            })?;
            let family = Bytes::copy_from_slice(column.family());
            let qualifier = Bytes::copy_from_slice(column.qualifier().unwrap_or_default());
            let at = Timestamp::from_millis(timestamp)?;
            let row = hit.row.clone();
            cells.push(Cell::new(row, family, qualifier, at, CellKind::Put, value)?);
        }
        Ok(Some(Row::new(cells)))
    }
}

/// Returns the entry column that is read if entries only lead to rows.
pub(crate) fn header_column() -> Columns {
    let mut columns = Columns::all();
    columns.add_column(ENTRY_FAMILY, "");
    columns
}

/// Returns the covered columns that are requested, in cell order.
fn covered_columns(plan: &IndexPlan, projection: &Columns) -> Vec<CoveredColumn> {
    let index = plan.index();
    let columns = index.covered_columns().iter().zip(index.covers()).enumerate();
    let columns = columns.filter(|(_, (column, _))| {
        projection.has_column(column.family(), column.qualifier().unwrap_or_default())
    });
    let mut columns: Vec<_> = columns
        .map(|(at, (column, name))| CoveredColumn {
            at,
            column: column.clone(),
            name: name.clone().into(),
        })
        .collect();
    columns.sort_by(|a, b| {
        let place = |it: &CoveredColumn| -> (Vec<u8>, Vec<u8>) {
            let column = &it.column;
            (column.family().to_vec(), column.qualifier().unwrap_or_default().to_vec())
        };
        place(a).cmp(&place(b))
    });
    columns
}
