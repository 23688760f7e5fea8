//! Writing cells of one row.

use bytes::Bytes;

use crate::{Cell, CellKind, Durability, Error, Result, Timestamp, check_row, escape};

/// New cells of one row, written together.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    row: Bytes,
    cells: Vec<Cell>,
    /// How the write is made durable.
    pub durability: Durability,
}

impl Put {
    /// A put of nothing yet; refused when `row` cannot be a row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self { row, cells: Vec::new(), durability: Durability::default() })
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
        if cell.kind() != CellKind::Put {
            return Err(Error::invalid(format!("a put takes no delete marker: {:?}", cell.kind())));
        }
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

/// Checks that `cell` belongs to the mutation of `row`.
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
