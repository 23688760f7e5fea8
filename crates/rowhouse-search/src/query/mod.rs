//! Queries that tantivy does not have.

mod rows_in_ranges;

pub(crate) use rows_in_ranges::RowsInRanges;
