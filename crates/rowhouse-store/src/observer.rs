//! Observers: code of the program that sees each change of a table's rows before it is committed.
//! HBase's coprocessors in the role of a trigger.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use rowhouse_model::{Bytes, Columns, Mutation, Result, Row, TableName};

/// Sees each change of a table's rows before it is committed.
///
/// For each row that a log record changes, the store calls [`Observer::row_changes`], however many
/// mutations of the record change it, and holds the row's lock meanwhile. It calls it again if the
/// commit is attempted again, and a commit may still fail after the call: the function must have no
/// effects of its own. It may read, but not write, the store: it adds mutations to the record
/// instead. Nor may it flush or compact the table: that waits until the change is committed.
///
/// A row of an observed table changes only by writes and where cells expire: flushes and
/// compactions keep the cells that a later delete or expiry would uncover. Cells that expire are
/// not reported: they are gone without a write. Nor are changes that do not
/// go row by row, such as bulk loads; [`Observer::table_changes`] reports those.
pub trait Observer: Send + Sync {
    /// Returns the columns that [`RowChange::before`] and [`RowChange::after`] contain. A change
    /// of other columns is reported, too.
    fn columns(&self) -> Columns;

    /// Called before a change of one row is committed.
    ///
    /// # Errors
    /// An error refuses the change: its caller gets the error, and nothing of the change is
    /// written. Independent mutations of a batch that share a log record are refused together.
    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()>;

    /// Called after a change that does not go row by row, without any lock of the store. Other
    /// writers may already have written to the changed table.
    fn table_changes(&self, table: &TableName, change: TableChange) {
        let _ = (table, change);
    }
}

/// The change of one row.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowChange {
    /// The row's table.
    pub table: TableName,
    /// The row key.
    pub row: Bytes,
    /// The newest visible versions of the observer's columns before the change.
    pub before: Row,
    /// The same after the change.
    pub after: Row,
}

/// A change of a table that does not go row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableChange {
    /// HFiles were loaded.
    Loaded,
    /// All rows, or all rows of one region, were removed.
    Truncated,
    /// The table was dropped. Its observers are gone, too.
    Dropped,
    /// The descriptor was replaced.
    Altered,
    /// The rows were replaced by those of a snapshot.
    Restored,
}

/// The mutations that observers add to a record.
#[derive(Default)]
pub struct Additions {
    /// Each with its table, an `Arc<Table>`: tables know their regions, and these the observers, so
    /// the type cannot be named here. Only `write/observe.rs` uses this field.
    pub(crate) mutations: Vec<(Arc<dyn Any + Send + Sync>, Mutation)>,
}

/// The observers of each table.
pub(crate) type ObserversByTable = HashMap<TableName, Vec<Arc<dyn Observer>>>;

/// The observers of a store's tables. While there are none, a write pays for one load.
#[derive(Default)]
pub(crate) struct Observers {
    by_table: ArcSwapOption<ObserversByTable>,
    changing: Mutex<()>,
    noted: Mutex<Vec<Noted>>,
}

/// A change of a table that its observers are to be told of.
pub(crate) struct Noted {
    table: TableName,
    change: TableChange,
    observers: Vec<Arc<dyn Observer>>,
}

impl Noted {
    /// Tells the observers.
    pub(crate) fn tell(&self) {
        self.observers.iter().for_each(|observer| observer.table_changes(&self.table, self.change));
    }
}

impl Observers {
    /// Adds an observer for changes that begin from now on.
    pub(crate) fn add(&self, table: TableName, observer: Arc<dyn Observer>) {
        self.change(|by_table| by_table.entry(table).or_default().push(observer));
    }

    /// Returns the observers of all tables; `None` while there are none.
    #[inline]
    pub(crate) fn by_table(&self) -> Option<Arc<ObserversByTable>> {
        let by_table = self.by_table.load();
        by_table.as_ref().map(Arc::clone)
    }

    /// Whether a table has observers.
    pub(crate) fn observe(&self, table: &TableName) -> bool {
        self.by_table().is_some_and(|by_table| by_table.contains_key(table))
    }

    /// Notes a change of a table, to be told once the locks of the change are released. The
    /// observers of a dropped table are removed at once: a table of the same name may follow.
    pub(crate) fn note(&self, table: &TableName, change: TableChange) {
        let Some(by_table) = self.by_table() else { return };
        let Some(observers) = by_table.get(table).cloned() else { return };
        if change == TableChange::Dropped {
            self.change(|by_table| _ = by_table.remove(table));
        }
        self.noted.lock().push(Noted { table: table.clone(), change, observers });
    }

    /// Returns the noted changes.
    pub(crate) fn take_noted(&self) -> Vec<Noted> {
        std::mem::take(&mut self.noted.lock())
    }

    fn change(&self, change: impl FnOnce(&mut ObserversByTable)) {
        let _changing = self.changing.lock();
        let mut by_table = self.by_table.load().as_deref().cloned().unwrap_or_default();
        change(&mut by_table);
        self.by_table.store((!by_table.is_empty()).then(|| Arc::new(by_table)));
    }
}
