//! Covering cells of one row with delete markers.

use bytes::Bytes;

use super::cells::check_same_row;
use crate::{Cell, CellKind, Durability, Error, Result, Timestamp, check_row};

/// Delete markers of one row, written together. Without any, the whole row is meant: every family
/// up to [`Delete::timestamp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    row: Bytes,
    cells: Vec<Cell>,
    /// Up to when the whole row is deleted if no marker is named; by default the time the server
    /// takes the write.
    pub timestamp: Timestamp,
    /// How the write is made durable.
    pub durability: Durability,
    /// How long its markers are in force, as [`Put::ttl_millis`]. Java's client sets none on a delete;
    /// HBase's server takes it.
    ///
    /// [`Put::ttl_millis`]: crate::Put::ttl_millis
    pub ttl_millis: Option<i64>,
}

impl Delete {
    /// A delete of the whole row until markers narrow it; refused when `row` cannot be a row key.
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

    /// Deletes one version of a column: the one at `timestamp`, or the newest for
    /// [`Timestamp::LATEST`] (which costs a read).
    pub fn version(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Result<Self> {
        self.add(CellKind::DeleteVersion, family, qualifier, timestamp)
    }

    /// Deletes all versions of a column up to `timestamp`.
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

    /// Deletes the cells of a family that are exactly at `timestamp`.
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

    /// Adds a marker that was made elsewhere: a delete of the same row.
    pub fn add_cell(mut self, cell: Cell) -> Result<Self> {
        if cell.kind() == CellKind::Put {
            return Err(Error::invalid("a delete takes delete markers only"));
        }
        check_same_row(&self.row, &cell)?;
        self.cells.push(cell);
        Ok(self)
    }

    /// The row it deletes from.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Its markers, in the order they were added.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
