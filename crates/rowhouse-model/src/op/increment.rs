//! The increment operation, which adds to counters in one row.

use bytes::Bytes;

use super::cells::{check_is_put, check_not_named, check_same_row};
use crate::counter::counter_value;
use crate::{Cell, CellKind, Durability, Result, TimeRange, Timestamp, check_row};

/// Identifies a mutation, so that a retry is not applied twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// Client identifier.
    pub group: u64,
    /// Mutation identifier; never 0.
    pub number: u64,
}

/// Amounts to add to columns in one row that hold eight-byte big-endian numbers. A missing column
/// counts as 0. Sums wrap like Java longs.
#[derive(Clone, Debug, PartialEq)]
pub struct Increment {
    row: Bytes,
    cells: Vec<Cell>,
    /// Versions that count as the current value.
    pub time_range: TimeRange,
    /// Whether the new values are returned.
    pub return_results: bool,
    /// Write durability.
    pub durability: Durability,
    /// Identifies this increment, so that a retry is not applied twice: among several increments
    /// with one nonce the first is applied, and the others return the same result as long as it can
    /// still be read. `None` by default.
    pub nonce: Option<Nonce>,
    /// TTL for the new values; as [`Put::ttl_millis`]. If `None`, they inherit the TTL from the
    /// values they replace.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Increment {
    /// Creates an empty increment; returns an error if `row` is not a valid row key.
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

    /// Adds `amount` to a column. Each column may be added once.
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        amount: i64,
    ) -> Result<Self> {
        let family = family.as_ref();
        let qualifier = qualifier.as_ref();
        check_not_named(&self.cells, family, qualifier)?;
        let kind = CellKind::Put;
        let amount = amount.to_be_bytes();
        let cell = Cell::new(&self.row, family, qualifier, Timestamp::LATEST, kind, amount)?;
        self.add_cell(cell)
    }

    /// Adds a prepared cell for the same row, whose value is an amount. The cell's timestamp
    /// applies only if the column does not exist yet; the tags always apply. Several cells in one
    /// column are each added to the value from before the increment, and the last sum wins.
    ///
    /// # Errors
    /// `InvalidRequest` with HBase's message if the value is not eight bytes.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        check_is_put(&cell)?;
        counter_value(cell.value())?;
        self.cells.push(cell);
        Ok(self)
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Returns the cells with the amounts, as eight-byte values, in the order in which they were
    /// added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
