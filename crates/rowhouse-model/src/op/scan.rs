//! Reading a range of rows.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Columns, Filter, RowRange, TimeRange};

/// A read of a range of rows, in key order.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Which rows.
    pub range: RowRange,
    /// Which columns.
    pub columns: Columns,
    /// Which timestamps.
    pub time_range: TimeRange,
    /// Which timestamps of single families, in the place of `time_range`.
    pub family_time_ranges: BTreeMap<Bytes, TimeRange>,
    /// How many versions of each column, newest first; 1 by default. A family keeps no more than
    /// it declares.
    pub versions: u32,
    /// At most so many rows; `None` for all.
    pub limit: Option<u64>,
    /// Rows a client asks for at a time; `None` leaves it to the client.
    pub caching: Option<u32>,
    /// From the last row to the first.
    pub reversed: bool,
    /// At most so many cells of each family (HBase: `setMaxResultsPerColumnFamily`); `None` for all.
    pub family_limit: Option<u32>,
    /// How many cells of each family are passed over first (HBase: `setRowOffsetPerColumnFamily`).
    pub family_offset: u32,
    /// At most so many cells at a time: a longer row comes in parts (HBase: `setBatch`). `None` for
    /// whole rows.
    pub batch: Option<u32>,
    /// Everything that is stored: delete markers, and what they, versions and time to live hide
    /// (HBase: `setRaw`).
    pub raw: bool,
    /// What else is asked of cells and rows.
    pub filter: Option<Box<Filter>>,
    /// Whether families that the filter need not see are read only where it lets a row through, as by
    /// default (HBase: `setLoadColumnFamiliesOnDemand`). The filter judges their cells last then.
    pub families_on_demand: bool,
    /// Whether blocks that are read for this are kept in the block cache, as by default (HBase: `setCacheBlocks`).
    pub cache_blocks: bool,
}

impl Scan {
    /// The newest version of every column of the rows in `range`.
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

    /// Every row of the table.
    pub fn all() -> Self {
        Self::new(RowRange::all())
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

    /// Stops after `rows` rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Fetches `rows` rows at a time.
    #[must_use]
    pub fn caching(mut self, rows: u32) -> Self {
        self.caching = Some(rows);
        self
    }

    /// Goes from the last row to the first.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// Lets `filter` judge what is read, instead of any other.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }
}
