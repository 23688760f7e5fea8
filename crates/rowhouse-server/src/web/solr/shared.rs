//! What Solr client searches share.

use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_search::{Matches, Pinned, PinnedViews};
use rowhouse_store::Table;
use tokio::sync::Semaphore;

use crate::limits::{SOLR_FORMS_MAX, SOLR_SEARCHES_MAX, SOLR_VIEWS_MAX};

/// What Solr client searches share.
pub(in crate::web) struct Solr {
    /// A permit for each search that may run.
    pub(super) searches: Arc<Semaphore>,
    /// A permit for each form that may be read and held.
    pub(super) forms: Semaphore,
    /// Searches whose pages by score go on.
    pub(super) retained: PinnedViews<RetainedSearch>,
}

impl Solr {
    pub(in crate::web) fn new() -> Self {
        let searches = Arc::new(Semaphore::new(SOLR_SEARCHES_MAX));
        let forms = Semaphore::new(SOLR_FORMS_MAX);
        Self { searches, forms, retained: PinnedViews::new(SOLR_VIEWS_MAX) }
    }
}

/// A search that is retained for the next page.
pub(super) struct RetainedSearch {
    pub(super) table: Arc<Table>,
    /// The search's pages are read one after the other.
    pub(super) matches: Mutex<Matches>,
}

impl Pinned for RetainedSearch {
    fn is_over(&self) -> bool {
        self.table.is_gone()
    }
}
