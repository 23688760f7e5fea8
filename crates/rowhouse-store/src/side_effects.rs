//! What else a write to a table does.

use arc_swap::ArcSwapOption;

use crate::indexed::IndexedTables;
use crate::observer::Observers;

/// What else a write to a table does: it calls the table's observers and changes index entries.
#[derive(Default)]
pub(crate) struct SideEffects {
    pub(crate) observers: Observers,
    /// The tables that have indexes; `None` if there are none.
    pub(crate) indexed: ArcSwapOption<IndexedTables>,
}

impl SideEffects {
    /// Releases everything that refers to tables, which refer to this.
    pub(crate) fn clear(&self) {
        self.indexed.store(None);
        self.observers.clear();
    }
}
