//! Row keys and what a read gives back for one row.

use bytes::Bytes;

use crate::{Cell, Error, Result};

/// The longest row key, in bytes: HBase keeps the length in a signed 16-bit number.
pub const ROW_LEN_MAX: usize = i16::MAX as usize;

/// Checks that `row` can be the key of a row: not empty, at most [`ROW_LEN_MAX`] bytes.
pub fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return Err(Error::invalid("Row length is 0"));
    }
    if row.len() > ROW_LEN_MAX {
        return Err(Error::invalid(format!("Row length {} is > {ROW_LEN_MAX}", row.len())));
    }
    Ok(())
}

/// The cells of one row that a read asked for, in cell order. HBase calls it a Result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    cells: Vec<Cell>,
}

impl Row {
    /// A row of these cells, all of the same row and in cell order.
    pub fn new(cells: Vec<Cell>) -> Self {
        debug_assert!(cells.windows(2).all(|pair| pair[0].row() == pair[1].row()));
        Self { cells }
    }

    /// The row's key; empty when the row holds nothing.
    pub fn key(&self) -> &[u8] {
        self.cells.first().map_or(&[], Cell::row)
    }

    /// The cells, in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells, taken.
    pub fn into_cells(self) -> Vec<Cell> {
        self.cells
    }

    /// Whether the read found nothing.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The newest cell of a column.
    pub fn cell(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<&Cell> {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        self.cells.iter().find(|cell| cell.family() == family && cell.qualifier() == qualifier)
    }

    /// The newest value of a column.
    pub fn value(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<Bytes> {
        self.cell(family, qualifier).map(Cell::value_bytes)
    }

    /// The newest value of a column that holds a counter: eight bytes, big-endian.
    pub fn counter(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Result<Option<i64>> {
        let Some(cell) = self.cell(family, qualifier) else { return Ok(None) };
        let bytes = cell.value().try_into().map_err(|_| {
            Error::invalid(format!("Field is not a long, it's {} bytes wide", cell.value().len()))
        })?;
        Ok(Some(i64::from_be_bytes(bytes)))
    }
}
