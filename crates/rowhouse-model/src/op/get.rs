//! Reading one row.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Columns, Filter, Result, TimeRange, check_row};

/// A read of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    row: Bytes,
    /// Which columns.
    pub columns: Columns,
    /// Which timestamps.
    pub time_range: TimeRange,
    /// Which timestamps of single families, in the place of `time_range`.
    pub family_time_ranges: BTreeMap<Bytes, TimeRange>,
    /// How many versions of each column, newest first; 1 by default. A family keeps no more than
    /// it declares.
    pub versions: u32,
    /// At most so many cells of each family (HBase: `setMaxResultsPerColumnFamily`); `None` for all.
    pub family_limit: Option<u32>,
    /// How many cells of each family are passed over first (HBase: `setRowOffsetPerColumnFamily`).
    pub family_offset: u32,
    /// What else is asked of cells and rows.
    pub filter: Option<Box<Filter>>,
    /// Whether families that the filter need not see are read only where it lets a row through, as by
    /// default (HBase: `setLoadColumnFamiliesOnDemand`). The filter judges their cells last then.
    pub families_on_demand: bool,
    /// Whether blocks that are read for this are kept in the block cache, as by default (HBase: `setCacheBlocks`).
    pub cache_blocks: bool,
    /// Only whether there is anything: the answer has no cells.
    pub existence_only: bool,
}

impl Get {
    /// The newest version of every column of `row`; refused when `row` cannot be a row key.
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

    /// Narrows to a family (and what else is named).
    #[must_use]
    #[inline]
    pub fn family(mut self, family: impl Into<Bytes>) -> Self {
        self.columns.add_family(family);
        self
    }

    /// Narrows to a column (and what else is named).
    #[must_use]
    #[inline]
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

    /// Lets `filter` judge what is read, instead of any other.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }

    /// The row to read.
    pub fn row(&self) -> &Bytes {
        &self.row
    }
}
