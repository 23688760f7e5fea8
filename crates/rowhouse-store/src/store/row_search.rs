//! The engine of full-text searches, as the store uses it.

use std::sync::{Arc, Weak};

use rowhouse_model::{Bytes, Error, Result, RowRange, TableName};
use rowhouse_schema::{Direction, Predicate};

use super::{IndexReport, Store};
use crate::read::ReadPoint;
use crate::table::Table;

/// Finds rows by the words of their texts. The engine of full-text searches implements it, which is
/// above the store.
pub trait RowSearch: Send + Sync {
    /// Searches a range of a table at the current read point. `query` has conditions with
    /// `matches`; its other conditions may narrow the answer.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for an invalid query, and without a full-text index that
    /// has the words; `RegionTooBusy` while the index is being built.
    fn search(
        &self,
        table: &TableName,
        query: &Predicate,
        range: &RowRange,
        direction: Direction,
    ) -> Result<SearchedRows>;

    /// Compares a full-text index with the rows of its table at the current read point:
    /// [`Store::verify_index`].
    ///
    /// # Errors
    /// `TableNotFound`; `RegionTooBusy` while the index is being built; `Corruption` of the index;
    /// those of reads.
    fn verify(
        &self,
        table: &TableName,
        index: &str,
        progress: &mut dyn FnMut(&IndexReport),
    ) -> Result<IndexReport>;
}

/// The rows that a search found.
pub struct SearchedRows {
    /// The table, as it is declared at the read point.
    pub table: Arc<Table>,
    /// The read point of the search.
    pub point: Arc<ReadPoint>,
    /// The keys of the rows that pass all conditions with `matches`, in the order of the
    /// direction. The caller decides about the other conditions.
    pub keys: Box<dyn Iterator<Item = Result<Bytes>> + Send + Sync>,
}

impl Store {
    /// Sets the search that answers `matches` in scans of regions. The store does not keep it
    /// alive: it has a handle on the store itself.
    pub fn set_row_search(&self, search: Weak<dyn RowSearch>) {
        *self.inner.row_search.write() = Some(search);
    }

    /// Returns the search of rows.
    ///
    /// # Errors
    /// `Unsupported` if there is none.
    pub(super) fn row_search(&self) -> Result<Arc<dyn RowSearch>> {
        let search = self.inner.row_search.read().as_ref().and_then(Weak::upgrade);
        search.ok_or_else(|| {
            Error::unsupported("`matches` needs a program that is built with the feature `search`")
        })
    }
}
