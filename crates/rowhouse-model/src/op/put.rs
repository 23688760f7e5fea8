//! Writing cells of one row.

use bytes::Bytes;

use super::cells::check_same_row;
use crate::{Cell, CellKind, Durability, Result, Timestamp, check_row};

/// New cells of one row, written together.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    row: Bytes,
    cells: Vec<Cell>,
    /// How the write is made durable.
    pub durability: Durability,
    /// How long its cells live, in milliseconds from their timestamps, instead of any time to live that
    /// they bring; the family's still ends them sooner. `None` leaves them what they bring. One that is
    /// negative is over before it begins. It travels as the attribute `_ttl` and lies in the cells as a
    /// tag, as in HBase.
    pub ttl_millis: Option<i64>,
}

impl Put {
    /// A put of nothing yet; refused when `row` cannot be a row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        let durability = Durability::default();
        Ok(Self { row, cells: Vec::new(), durability, ttl_millis: None })
    }

    /// A put of cells that were made elsewhere, of this row, as [`Put::add_cell`] takes them.
    pub fn of_cells(row: impl Into<Bytes>, cells: Vec<Cell>) -> Result<Self> {
        let put = Self::new(row)?;
        cells.iter().try_for_each(|cell| check_same_row(&put.row, cell))?;
        Ok(Self { cells, ..put })
    }

    /// Adds a cell at the time the server takes the write.
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

    /// Adds a cell that was made elsewhere, of the same row. As in HBase it may be a delete marker, as
    /// programs that copy tables send them: it is written as it is. One that names no time is a marker of the
    /// time the server takes it; of a version too, where a [`crate::Delete`] would look for the newest.
    ///
    /// # Errors
    /// `InvalidRequest` for a cell of another row.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// The row it writes.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Its cells, in the order they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
