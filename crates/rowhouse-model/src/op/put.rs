//! The put operation, which writes cells to one row.

use bytes::Bytes;

use super::cells::check_same_row;
use crate::{Cell, CellKind, Durability, Result, Timestamp, check_row};

/// New cells in one row, written together.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    row: Bytes,
    cells: Vec<Cell>,
    /// Write durability.
    pub durability: Durability,
    /// TTL for the cells, in milliseconds from their timestamps. It replaces any TTL that the cells
    /// carry; the family's TTL still applies if it ends sooner. `None` keeps the cells' own TTL. A
    /// cell with a negative TTL is expired from the start. As in HBase it is sent as the attribute
    /// `_ttl` and stored in the cells as a tag.
    pub ttl_millis: Option<i64>,
}

impl Put {
    /// Creates an empty put; returns an error if `row` is not a valid row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        let durability = Durability::default();
        Ok(Self { row, cells: Vec::new(), durability, ttl_millis: None })
    }

    /// Creates a put with prepared cells for this row, as [`Put::add_cell`] accepts them.
    pub fn of_cells(row: impl Into<Bytes>, cells: Vec<Cell>) -> Result<Self> {
        let put = Self::new(row)?;
        cells.iter().try_for_each(|cell| check_same_row(&put.row, cell))?;
        Ok(Self { cells, ..put })
    }

    /// Adds a cell at the server time when it is written.
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<Self> {
        self.add_at(family, qualifier, Timestamp::LATEST, value)
    }

    /// Adds a cell at `timestamp`.
    pub fn add_at(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
        value: impl AsRef<[u8]>,
    ) -> Result<Self> {
        let cell = Cell::new(&self.row, family, qualifier, timestamp, CellKind::Put, value)?;
        self.add_cell(cell)
    }

    /// Adds a prepared cell for the same row. As in HBase it may be a delete marker, which programs
    /// that copy tables send: it is written unchanged. A marker without a timestamp receives the
    /// server time when it is written, even a DeleteVersion, for which a [`crate::Delete`] would
    /// look up the newest version.
    ///
    /// # Errors
    /// `InvalidRequest` for a cell in another row.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Returns the cells in the order in which they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
