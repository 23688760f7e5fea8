//! The comparison of an index with the rows of its table.

/// The result of a comparison of an index with the rows of its table, or the numbers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    /// Rows of the table.
    pub rows: u64,
    /// Those of them whose keys do not fit the table's template: they have no entries.
    pub unfit_rows: u64,
    /// Entries of the index; documents of a full-text index.
    pub entries: u64,
    /// Entries that a row should have and that are missing or have other covered cells; rows whose
    /// document is missing, or has other words or values.
    pub missing: u64,
    /// Entries that no row has; documents of rows that are not there, or show nothing to search.
    pub stale: u64,
}

impl IndexReport {
    /// Whether every row has its entries, and every entry its row.
    pub fn is_clean(&self) -> bool {
        self.missing == 0 && self.stale == 0
    }
}

/// The progress of a comparison or repair of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// Whether it is complete.
    pub is_done: bool,
    /// The numbers of a comparison so far. A repair has none.
    pub report: IndexReport,
}
