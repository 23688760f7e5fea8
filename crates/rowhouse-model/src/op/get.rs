//! Reading one row.

use bytes::Bytes;

use crate::{Columns, Result, TimeRange, check_row};

/// A read of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    row: Bytes,
    /// Which columns.
    pub columns: Columns,
    /// Which timestamps.
    pub time_range: TimeRange,
    /// How many versions of each column, newest first; 1 by default. A family keeps no more than
    /// it declares.
    pub versions: u32,
    /// Only whether there is anything: the answer has no cells.
    pub existence_only: bool,
}

impl Get {
    /// The newest version of every column of `row`; refused when `row` cannot be a row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self {
            row,
            columns: Columns::all(),
            time_range: TimeRange::ALL,
            versions: 1,
            existence_only: false,
        })
    }

    /// Narrows to a family (and what else is named).
    #[must_use]
    pub fn family(mut self, family: impl Into<Bytes>) -> Self {
        self.columns.add_family(family);
        self
    }

    /// Narrows to a column (and what else is named).
    #[must_use]
    pub fn column(mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        self.columns.add_column(family, qualifier);
        self
    }

    /// Looks only at timestamps inside `range`.
    #[must_use]
    pub fn time_range(mut self, range: TimeRange) -> Self {
        self.time_range = range;
        self
    }

    /// Returns up to `versions` versions of each column.
    #[must_use]
    pub fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// The row to read.
    pub fn row(&self) -> &Bytes {
        &self.row
    }
}
