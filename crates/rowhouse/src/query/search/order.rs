//! The order of a search.

/// The order in which a search returns rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::query) enum SearchOrder {
    Key,
    Score,
    /// By the field with this name.
    Field(String),
}
