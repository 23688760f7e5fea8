//! Full-text searches in the store.

use rowhouse_model::{Error, IndexReport, Result, TableName};
use rowhouse_store::{NO_SEARCH, Store};

/// The store's full-text search engine.
#[cfg(feature = "search")]
pub type Search = rowhouse_search::SearchEngine;

/// The store's full-text search engine: without the feature `search` there is none.
#[cfg(not(feature = "search"))]
pub enum Search {}

/// Compares an index with the table's rows, as [`Store::verify_index`] does. `search` compares a
/// full-text index: at one read point, every row is analysed anew, and its document must have the
/// same words at the same places, and the same values. That takes 8 memory bytes for each document.
///
/// # Errors
/// As [`Store::verify_index`]; for a full-text index, `RegionTooBusy` while it is being built, and
/// `Unsupported` without a search.
pub fn verify_index(
    store: &Store,
    search: Option<&Search>,
    table: &TableName,
    index: &str,
    progress: impl FnMut(&IndexReport),
) -> Result<IndexReport> {
    match search {
        #[cfg(feature = "search")]
        Some(search) if store.check_verified(table, index)?.search().is_some() => {
            let mut progress = progress;
            search.verify(table, index, &mut progress)
        }
        _ => store.verify_index(table, index, progress),
    }
}

/// Returns the error for a query with `matches` without a search.
pub(crate) fn refused() -> Error {
    Error::unsupported(NO_SEARCH)
}
