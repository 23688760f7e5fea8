//! Searches in the embedded store.

use std::sync::Arc;

use rowhouse_model::Result;
use rowhouse_schema::SearchPlan;
use rowhouse_search::{Matches, PinnedViews, SearchEngine};
use rowhouse_store::Store;
use tokio::sync::Mutex;

use super::{Embedded, blocking};
use crate::backend::TableId;

/// The most searches that are retained for the next page.
const VIEWS_MAX: usize = 256;

/// A store's search engine, and the views that pages retain.
pub(super) struct Searching {
    local: LocalSearch,
    views: PinnedViews<Matches>,
}

/// A store in this process and the search engine, for building copies.
#[derive(Clone)]
pub(crate) struct LocalSearch {
    pub(crate) store: Store,
    pub(crate) engine: Arc<SearchEngine>,
    /// Held by the one who builds a copy.
    pub(crate) builds: Arc<Mutex<()>>,
}

impl Searching {
    pub(super) fn start(store: &Store) -> Result<Self> {
        let engine = Arc::new(SearchEngine::start(store)?);
        let local = LocalSearch { store: store.clone(), engine, builds: Arc::default() };
        Ok(Self { local, views: PinnedViews::new(VIEWS_MAX) })
    }

    /// Ends the engine's thread.
    pub(super) fn close(&self) -> impl FnOnce() + Send + 'static {
        self.views.clear();
        let engine = Arc::clone(&self.local.engine);
        move || engine.close()
    }
}

impl Embedded {
    /// Searches a table at the current read point.
    pub(in crate::backend) async fn find(
        &self,
        table: &TableId,
        plan: SearchPlan,
    ) -> Result<Matches> {
        let engine = Arc::clone(&self.searching.local.engine);
        let id = table.clone();
        blocking(move || {
            let found = engine.find(&id, &plan)?;
            id.check(found.table().descriptor())?;
            Ok(found)
        })
        .await
    }

    pub(in crate::backend) fn local_search(&self) -> &LocalSearch {
        &self.searching.local
    }

    pub(in crate::backend) fn pin(&self, view: Option<u64>, found: Arc<Matches>) -> u64 {
        self.searching.views.pin(view, found)
    }

    pub(in crate::backend) fn pinned(&self, view: u64) -> Result<Arc<Matches>> {
        self.searching.views.get(view)
    }
}
