//! The scan operation, which reads a row range.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Columns, Filter, RowRange, TimeRange};

/// Reads a row range, in key order.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Row range.
    pub range: RowRange,
    /// Selected columns.
    pub columns: Columns,
    /// Timestamp range.
    pub time_range: TimeRange,
    /// Timestamp ranges for single families, which override `time_range`.
    pub family_time_ranges: BTreeMap<Bytes, TimeRange>,
    /// Most versions for each column, newest first; 1 by default. A family retains no more than it
    /// declares.
    pub versions: u32,
    /// Most rows to return; `None` for all.
    pub limit: Option<u64>,
    /// How many rows a client fetches per call; `None` lets the client decide.
    pub caching: Option<u32>,
    /// Whether to read from the last row to the first.
    pub reversed: bool,
    /// Most cells in each family (HBase: `setMaxResultsPerColumnFamily`); `None` for all.
    pub family_limit: Option<u32>,
    /// How many cells in each family to skip first (HBase: `setRowOffsetPerColumnFamily`).
    pub family_offset: u32,
    /// Most cells per result: longer rows are returned in parts (HBase: `setBatch`). `None` for
    /// whole rows.
    pub batch: Option<u32>,
    /// Whether to return everything stored: delete markers, and the cells that markers, version
    /// limits and TTLs hide (HBase: `setRaw`).
    pub raw: bool,
    /// Filter on cells and rows.
    pub filter: Option<Box<Filter>>,
    /// Whether families that the filter does not need are read only for rows that it accepts
    /// (HBase: `setLoadColumnFamiliesOnDemand`); true by default. The filter then sees their cells
    /// last.
    pub families_on_demand: bool,
    /// Whether blocks read for this scan are added to the block cache (HBase: `setCacheBlocks`);
    /// true by default.
    pub cache_blocks: bool,
}

impl Scan {
    /// Creates a read that returns the newest version of every column for the rows in `range`.
    pub fn new(range: RowRange) -> Self {
        Self {
            range,
            columns: Columns::all(),
            time_range: TimeRange::ALL,
            versions: 1,
            limit: None,
            caching: None,
            reversed: false,
            family_time_ranges: BTreeMap::new(),
            family_limit: None,
            family_offset: 0,
            batch: None,
            raw: false,
            filter: None,
            families_on_demand: true,
            cache_blocks: true,
        }
    }

    /// Creates a read over every row in the table.
    pub fn all() -> Self {
        Self::new(RowRange::all())
    }

    /// Adds a family to the selection, which narrows it to the families and columns added.
    #[must_use]
    pub fn family(mut self, family: impl Into<Bytes>) -> Self {
        self.columns.add_family(family);
        self
    }

    /// Adds a column to the selection, which narrows it to the families and columns added.
    #[must_use]
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

    /// Stops the scan after `rows` rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Sets how many rows are fetched per call.
    #[must_use]
    pub fn caching(mut self, rows: u32) -> Self {
        self.caching = Some(rows);
        self
    }

    /// Reads from the last row to the first.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// Sets the filter, replacing any other.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }
}
