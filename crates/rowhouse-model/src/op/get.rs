//! The get operation, which reads one row.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Columns, Filter, Result, TimeRange, check_row};

/// A one-row read.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    row: Bytes,
    /// Selected columns.
    pub columns: Columns,
    /// Timestamp range.
    pub time_range: TimeRange,
    /// Timestamp ranges for single families, which override `time_range`.
    pub family_time_ranges: BTreeMap<Bytes, TimeRange>,
    /// Most versions for each column, newest first; 1 by default. A family retains no more than it
    /// declares.
    pub versions: u32,
    /// Most cells in each family (HBase: `setMaxResultsPerColumnFamily`); `None` for all.
    pub family_limit: Option<u32>,
    /// How many cells in each family to skip first (HBase: `setRowOffsetPerColumnFamily`).
    pub family_offset: u32,
    /// Filter on cells and rows.
    pub filter: Option<Box<Filter>>,
    /// Whether families that the filter does not need are read only for rows that it accepts
    /// (HBase: `setLoadColumnFamiliesOnDemand`); true by default. The filter then sees their cells
    /// last.
    pub families_on_demand: bool,
    /// Whether blocks read for this get are added to the block cache (HBase: `setCacheBlocks`);
    /// true by default.
    pub cache_blocks: bool,
    /// Whether to test only for existence; the result then has no cells.
    pub existence_only: bool,
}

impl Get {
    /// Creates a read that returns the newest version of every column in `row`; returns an error if
    /// `row` is not a valid row key.
    #[inline]
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self {
            row,
            columns: Columns::all(),
            time_range: TimeRange::ALL,
            versions: 1,
            family_time_ranges: BTreeMap::new(),
            family_limit: None,
            family_offset: 0,
            filter: None,
            families_on_demand: true,
            cache_blocks: true,
            existence_only: false,
        })
    }

    /// Adds a family to the selection, which narrows it to the families and columns added.
    #[must_use]
    #[inline]
    pub fn family(mut self, family: impl Into<Bytes>) -> Self {
        self.columns.add_family(family);
        self
    }

    /// Adds a column to the selection, which narrows it to the families and columns added.
    #[must_use]
    #[inline]
    pub fn column(mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        self.columns.add_column(family, qualifier);
        self
    }

    /// Restricts the read to timestamps in `range`.
    #[must_use]
    pub fn time_range(mut self, range: TimeRange) -> Self {
        self.time_range = range;
        self
    }

    /// Sets the most versions for each column.
    #[must_use]
    pub fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the filter, replacing any other.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }
}
