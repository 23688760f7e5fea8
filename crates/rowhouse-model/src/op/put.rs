//! Writing cells of one row.

use bytes::Bytes;

use super::cells::check_same_row;
use crate::{Cell, CellKind, Durability, Error, Result, Timestamp, check_row};

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

    /// A put of cells that were made elsewhere: puts of this row.
    pub fn of_cells(row: impl Into<Bytes>, cells: Vec<Cell>) -> Result<Self> {
        let put = Self::new(row)?;
        cells.iter().try_for_each(|cell| put.check(cell))?;
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

    /// Adds a cell that was made elsewhere: a put of the same row.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        self.check(&cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        if cell.kind() != CellKind::Put {
            return Err(Error::invalid(format!("a put takes no delete marker: {:?}", cell.kind())));
        }
        check_same_row(&self.row, cell)
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
