//! The append operation, which extends values in one row.

use bytes::Bytes;

use super::cells::{check_is_put, check_not_named, check_same_row};
use crate::{Cell, CellKind, Durability, Nonce, Result, TimeRange, Timestamp, check_row};

/// Bytes to append to column values in one row. A missing column counts as empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    row: Bytes,
    cells: Vec<Cell>,
    /// Versions that count as the current value.
    pub time_range: TimeRange,
    /// Whether the new values are returned.
    pub return_results: bool,
    /// Write durability.
    pub durability: Durability,
    /// Identifies this append, so that a retry is not applied twice; as [`Increment::nonce`].
    ///
    /// [`Increment::nonce`]: crate::Increment::nonce
    pub nonce: Option<Nonce>,
    /// TTL for the new values; as [`Put::ttl_millis`]. If `None`, they inherit the TTL from the
    /// values they extend.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Append {
    /// Creates an empty append; returns an error if `row` is not a valid row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self {
            row,
            cells: Vec::new(),
            time_range: TimeRange::ALL,
            return_results: true,
            durability: Durability::default(),
            nonce: None,
            ttl_millis: None,
        })
    }

    /// Adds bytes for a column. Each column may be added once.
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<Self> {
        let family = family.as_ref();
        let qualifier = qualifier.as_ref();
        check_not_named(&self.cells, family, qualifier)?;
        let kind = CellKind::Put;
        let cell = Cell::new(&self.row, family, qualifier, Timestamp::LATEST, kind, value)?;
        self.add_cell(cell)
    }

    /// Adds a prepared cell for the same row, whose value is appended to the column. The cell's
    /// timestamp applies only if the column does not exist yet; the tags always apply. Several
    /// cells in one column each extend the value from before the append, and the last one wins.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        check_is_put(&cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Returns the cells with the bytes to append, in the order in which they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
