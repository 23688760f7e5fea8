//! Deletes of many rows: what is requested, and how far a call has come.

use bytes::Bytes;

use crate::{Delete, Durability, Error, Filter, Result, RowRange, Scan, Timestamp};

/// The cells to delete in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletedCells {
    /// All cells.
    Row,
    /// All cells in this family.
    Family(Bytes),
    /// All versions in this family and qualifier.
    Column(Bytes, Bytes),
}

/// A request to delete the rows in a range, or the rows there that match a query. Calls repeat it
/// with the rest of the range until [`DeletedRows::next`] is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRows {
    /// The query, in the row-key template language; `None` for all rows in the range.
    pub query: Option<String>,
    /// The zone of times in the query that name none, as an IANA name or an offset such as
    /// `+08:00`; `None` for UTC.
    pub zone: Option<String>,
    /// The rows to look at.
    pub range: RowRange,
    /// The cells to delete in each row.
    pub cells: DeletedCells,
    /// The newest timestamp that is deleted; the latest for all cells that are there.
    pub timestamp: Timestamp,
    /// The most rows in a log record: 1 to [`DeleteRows::BATCH_ROWS_MAX`].
    pub batch_rows: u32,
    /// The durability of each delete.
    pub durability: Durability,
}

/// How far a call to delete rows has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedRows {
    /// The rows that were deleted.
    pub rows: u64,
    /// The row at which the next call begins; `None` if no rows are left.
    pub next: Option<Bytes>,
}

impl DeleteRows {
    /// The most rows in a batch.
    pub const BATCH_ROWS_MAX: u32 = 10_000;
    /// The rows in a batch unless another number is set.
    pub const BATCH_ROWS: u32 = 500;

    /// Creates a request for whole rows.
    pub fn new(range: RowRange) -> Self {
        Self {
            query: None,
            zone: None,
            range,
            cells: DeletedCells::Row,
            timestamp: Timestamp::LATEST,
            batch_rows: Self::BATCH_ROWS,
            durability: Durability::UseDefault,
        }
    }

    /// Checks the batch size.
    ///
    /// # Errors
    /// `InvalidRequest` for none or too many rows in a batch.
    pub fn check(&self) -> Result<()> {
        if (1..=Self::BATCH_ROWS_MAX).contains(&self.batch_rows) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "a batch of deletes has 1 to {} rows: rows={}",
            Self::BATCH_ROWS_MAX,
            self.batch_rows
        )))
    }

    /// Returns the scan that finds the rows: of each row with cells to delete, the first such cell.
    /// Conditions of the query are not part of it.
    pub fn scan(&self) -> Scan {
        let mut scan = Scan::new(self.range.clone()).filter(Filter::FirstKeyOnly);
        match &self.cells {
            DeletedCells::Row => {}
            DeletedCells::Family(family) => scan.columns.add_family(family.clone()),
            DeletedCells::Column(family, qualifier) => {
                scan.columns.add_column(family.clone(), qualifier.clone());
            }
        }
        scan
    }

    /// Returns the delete of one row.
    ///
    /// # Errors
    /// As [`Delete::new`] and [`Delete::column`].
    pub fn delete_of(&self, row: Bytes) -> Result<Delete> {
        let mut delete = Delete::new(row)?;
        delete.durability = self.durability;
        match &self.cells {
            DeletedCells::Row => {
                delete.timestamp = self.timestamp;
                Ok(delete)
            }
            DeletedCells::Family(family) => delete.family(family.clone(), self.timestamp),
            DeletedCells::Column(family, qualifier) => {
                delete.column(family.clone(), qualifier.clone(), self.timestamp)
            }
        }
    }
}
