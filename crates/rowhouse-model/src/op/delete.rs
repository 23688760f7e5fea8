//! The delete operation, which covers cells in one row with delete markers.

use bytes::Bytes;

use super::cells::check_same_row;
use crate::{Cell, CellKind, Durability, Error, Result, Timestamp, check_row};

/// Delete markers in one row, written together. Without markers it deletes the whole row: every
/// family up to [`Delete::timestamp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    row: Bytes,
    cells: Vec<Cell>,
    /// Timestamp up to which the whole row is deleted if there are no markers; by default the
    /// server time at which it is written.
    pub timestamp: Timestamp,
    /// Write durability.
    pub durability: Durability,
    /// TTL for the markers, as [`Put::ttl_millis`]. Java's client never sets it on a delete;
    /// HBase's server accepts it.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Delete {
    /// Creates a delete for the whole row, which added markers narrow; returns an error if `row` is
    /// not a valid row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self {
            row,
            cells: Vec::new(),
            timestamp: Timestamp::LATEST,
            durability: Durability::default(),
            ttl_millis: None,
        })
    }

    /// Deletes one version in a column: the one at `timestamp`, or for [`Timestamp::LATEST`] the
    /// newest, which costs a read.
    pub fn version(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Result<Self> {
        self.add(CellKind::DeleteVersion, family, qualifier, timestamp)
    }

    /// Deletes all versions in a column up to `timestamp`.
    pub fn column(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Result<Self> {
        self.add(CellKind::DeleteColumn, family, qualifier, timestamp)
    }

    /// Deletes a family up to `timestamp`.
    pub fn family(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Result<Self> {
        self.add(CellKind::DeleteFamily, family, b"", timestamp)
    }

    /// Deletes the cells in a family at exactly `timestamp`.
    pub fn family_version(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Result<Self> {
        self.add(CellKind::DeleteFamilyVersion, family, b"", timestamp)
    }

    fn add(
        self,
        kind: CellKind,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Result<Self> {
        let cell = Cell::new(&self.row, family, qualifier, timestamp, kind, b"")?;
        self.add_cell(cell)
    }

    /// Adds a prepared delete marker for the same row.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        if cell.kind() == CellKind::Put {
            return Err(Error::invalid("a delete can contain only delete markers"));
        }
        check_same_row(&self.row, &cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Returns the markers in the order in which they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
