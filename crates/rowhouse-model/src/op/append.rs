//! Adding to values of one row.

use bytes::Bytes;

use super::cells::{check_is_put, check_named_once, check_same_row};
use crate::{Cell, CellKind, Durability, Nonce, Result, TimeRange, Timestamp, check_row};

/// Bytes to put behind the values of columns of one row; a column that is not there counts as
/// empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    row: Bytes,
    cells: Vec<Cell>,
    /// Which versions count as the current value.
    pub time_range: TimeRange,
    /// Whether the new values come back.
    pub return_results: bool,
    /// How the write is made durable.
    pub durability: Durability,
    /// What tells a repetition of this append from a second one; as [`Increment::nonce`].
    ///
    /// [`Increment::nonce`]: crate::Increment::nonce
    pub nonce: Option<Nonce>,
    /// How long the new values live; as [`Put::ttl_millis`]. Without one they keep that of the
    /// values they grew from.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Append {
    /// An append of nothing yet; refused when `row` cannot be a row key.
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

    /// Adds bytes to a column; a column can be named once.
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<Self> {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        check_named_once(&self.cells, family, qualifier)?;
        let kind = CellKind::Put;
        let cell = Cell::new(&self.row, family, qualifier, Timestamp::LATEST, kind, value)?;
        self.add_cell(cell)
    }

    /// Adds what was made elsewhere: a cell of the same row, whose value goes behind that of its
    /// column. Its timestamp counts only where the column is not there yet, its tags always. Of cells
    /// of one column each is put behind what was there before all of them, and the last one stays.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        check_is_put(&cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// The row it changes.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// What it adds to each column, in the order they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
