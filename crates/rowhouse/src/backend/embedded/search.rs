//! Searches of the embedded store.

use std::sync::Arc;

use rowhouse_model::Result;
use rowhouse_schema::SearchPlan;
use rowhouse_search::{Found, SearchEngine};

use super::{Embedded, blocking};
use crate::backend::TableId;
use crate::query::{Pinned, PinnedViews};

/// The search engine of a store, and the views that pages keep.
pub(super) struct Searching {
    engine: Arc<SearchEngine>,
    views: PinnedViews,
}

impl Searching {
    pub(super) fn start(store: &rowhouse_store::Store) -> Result<Self> {
        Ok(Self { engine: Arc::new(SearchEngine::start(store)?), views: PinnedViews::default() })
    }

    /// Ends the thread of the engine.
    pub(super) fn close(&self) -> impl FnOnce() + Send + 'static {
        self.views.clear();
        let engine = Arc::clone(&self.engine);
        move || engine.close()
    }
}

impl Embedded {
    /// Searches a table at the current read point.
    pub(in crate::backend) async fn find(
        &self,
        table: &TableId,
        plan: SearchPlan,
    ) -> Result<Found> {
        let (engine, id) = (Arc::clone(&self.searching.engine), table.clone());
        blocking(move || {
            let found = engine.find(&id, &plan)?;
            id.check(found.table().descriptor())?;
            Ok(found)
        })
        .await
    }

    pub(in crate::backend) fn pin(&self, pinned: Option<Pinned>, found: Arc<Found>) -> u64 {
        self.searching.views.pin(pinned, found)
    }

    pub(in crate::backend) fn pinned(&self, id: u64) -> Result<Pinned> {
        self.searching.views.get(id)
    }
}
