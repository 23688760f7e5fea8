//! Comparing an index with the rows in the table.

/// The result from comparing an index with the rows in the table, or the numbers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    /// Rows in the table.
    pub rows: u64,
    /// Rows whose keys do not fit the table's template: they have no entries.
    pub unfit_rows: u64,
    /// Entries in the index; documents in a full-text index.
    pub entries: u64,
    /// Entries that a row should have and that are missing or have other covered cells; rows whose
    /// document is missing, or has other words or values.
    pub missing: u64,
    /// Entries that no row has; documents for rows that are not there, or show nothing to search.
    pub stale: u64,
}

impl IndexReport {
    /// Whether every row has all entries, and every entry has a row.
    pub fn is_clean(&self) -> bool {
        self.missing == 0 && self.stale == 0
    }
}

/// How far comparing or repairing an index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// Whether it is complete.
    pub is_done: bool,
    /// The comparison numbers so far. A repair has none.
    pub report: IndexReport,
}
