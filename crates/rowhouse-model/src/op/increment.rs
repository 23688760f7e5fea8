//! Adding to counters of one row.

use bytes::Bytes;

use super::cells::{check_is_put, check_named_once, check_same_row};
use crate::{Cell, CellKind, Durability, Error, Result, TimeRange, Timestamp, check_row};

/// Names a change, so that a repetition is told from a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// The client.
    pub group: u64,
    /// The change; never 0.
    pub number: u64,
}

/// Amounts to add to columns of one row, which hold eight-byte big-endian numbers; a column that
/// is not there counts as 0. Sums wrap around like Java longs.
#[derive(Clone, Debug, PartialEq)]
pub struct Increment {
    row: Bytes,
    cells: Vec<Cell>,
    /// Which versions count as the current value.
    pub time_range: TimeRange,
    /// Whether the new values come back.
    pub return_results: bool,
    /// How the write is made durable.
    pub durability: Durability,
    /// What tells a repetition of this increment from a second one: of increments with one nonce
    /// one counts, and the others give back what it gave, as long as that can still be read. None by
    /// default.
    pub nonce: Option<Nonce>,
    /// How long the new values live; as [`Put::ttl_millis`]. Without one they keep that of the
    /// values they grew from.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Increment {
    /// An increment of nothing yet; refused when `row` cannot be a row key.
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

    /// Adds `amount` to a column; a column can be named once.
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        amount: i64,
    ) -> Result<Self> {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        check_named_once(&self.cells, family, qualifier)?;
        let (kind, amount) = (CellKind::Put, amount.to_be_bytes());
        let cell = Cell::new(&self.row, family, qualifier, Timestamp::LATEST, kind, amount)?;
        self.add_cell(cell)
    }

    /// Adds what was made elsewhere: a cell of the same row, whose value is an amount. Its timestamp
    /// counts only where the column is not there yet, its tags always. Of cells of one column each is
    /// added to what was there before all of them, and the last sum stays.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that is not eight bytes, in HBase's words.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        check_same_row(&self.row, &cell)?;
        check_is_put(&cell)?;
        counter_value(cell.value())?;
        self.cells.push(cell);
        Ok(self)
    }

    /// The row it changes.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// What it adds to each column, as eight-byte values, in the order they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// The number that a counter's value or an amount is.
///
/// # Errors
/// `InvalidRequest` for a value that is not eight bytes, in HBase's words.
pub fn counter_value(value: &[u8]) -> Result<i64> {
    let bytes = value.try_into().map_err(|_| {
        Error::invalid(format!("Field is not a long, it's {} bytes wide", value.len()))
    })?;
    Ok(i64::from_be_bytes(bytes))
}
