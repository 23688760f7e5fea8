//! Observers: program code that sees each change to a table's rows before it is committed. They are
//! HBase's coprocessors in the role of a trigger.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use rowhouse_model::{Bytes, Columns, Error, Mutation, Result, Row, TableDescriptor, TableName};
use rowhouse_schema::check_buffered_columns;

/// The table attribute that names the observers without which the table cannot be written:
/// `1 NAME, NAME`. See [`with_observers`].
pub const OBSERVERS_ATTRIBUTE: &str = "rowhouse.observers";

/// Sees each change to a table's rows before it is committed.
///
/// For each row that a log record changes, the store calls [`Observer::row_changes`], however many
/// mutations in the record change it, and holds the row's lock meanwhile. It calls it again if the
/// commit is attempted again, and a commit may still fail after the call: the function must have no
/// side effects. It may read, but not write, the store: it adds mutations to the record instead.
/// Nor may it flush or compact the table: that waits until the change is committed.
///
/// A row of an observed table changes only by writes and where cells expire: flushes and
/// compactions keep the cells that a later delete or expiry would uncover. Cells that expire are
/// not reported: they are gone without a write. Nor are changes that do not
/// go row by row, such as bulk loads; [`Observer::table_changes`] reports those.
///
/// A table may name observers ([`with_observers`]). A process refuses writes, bulk loads,
/// truncations and restores of the table until it has registered an observer for each name; reads,
/// alterations and dropping the table go on.
pub trait Observer: Send + Sync {
    /// Returns the name by which tables list the observer; empty if none does.
    fn name(&self) -> &str {
        ""
    }

    /// Returns the columns that [`RowChange::before`] and [`RowChange::after`] contain. A change to
    /// other columns is reported, too.
    fn columns(&self) -> Columns;

    /// Called before a change to one row is committed.
    ///
    /// # Errors
    /// An error refuses the change: the caller gets the error, and no part is written. Independent
    /// mutations in a batch that share a log record are refused together.
    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()>;

    /// Called after a change that does not go row by row, while the store holds no lock. Other
    /// writers may already have written to the changed table.
    fn table_changes(&self, table: &TableName, change: TableChange) {
        let _ = (table, change);
    }
}

/// The change to one row.
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

/// A change to a table that does not go row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableChange {
    /// HFiles were loaded.
    Loaded,
    /// All rows, or all rows in one region, were removed.
    Truncated,
    /// The table was dropped. The observers are gone, too.
    Dropped,
    /// The descriptor was replaced.
    Altered,
    /// The rows were replaced by a snapshot's rows, or by a table that took this table's place.
    Restored,
}

/// The mutations that observers add to a record.
#[derive(Default)]
pub struct Additions {
    /// Each with the table, an `Arc<Table>`: tables know their regions, and these the observers, so
    /// the type cannot be named here. Only `write/observe.rs` uses this field.
    pub(crate) mutations: Vec<(Arc<dyn Any + Send + Sync>, Mutation)>,
}

/// The observers that each table has.
pub(crate) type ObserversByTable = HashMap<TableName, TableObservers>;

/// The observers of a table.
#[derive(Clone)]
pub(crate) struct TableObservers {
    /// Observers of this table alone, then observers that the descriptor names and the process has.
    registered: Vec<Arc<dyn Observer>>,
    /// How many of them are offered.
    offered: usize,
    /// The names that the table's descriptor lists.
    named: Result<Vec<String>>,
}

/// The observers on a store's tables. While there are none, a write pays for one load.
#[derive(Default)]
pub(crate) struct Observers {
    by_table: ArcSwapOption<ObserversByTable>,
    /// The observers for all tables that name them. Held while `by_table` changes.
    offered: Mutex<Vec<Arc<dyn Observer>>>,
    noted: Mutex<Vec<Noted>>,
}

/// A change to a table that the table's observers are to be notified about.
pub(crate) struct Noted {
    table: TableName,
    change: TableChange,
    observers: Vec<Arc<dyn Observer>>,
}

impl Noted {
    /// Notifies the observers.
    pub(crate) fn notify(&self) {
        self.observers.iter().for_each(|observer| observer.table_changes(&self.table, self.change));
    }
}

impl Default for TableObservers {
    fn default() -> Self {
        Self { registered: Vec::new(), offered: 0, named: Ok(Vec::new()) }
    }
}

impl TableObservers {
    /// The observers in this process.
    pub(crate) fn registered(&self) -> &[Arc<dyn Observer>] {
        &self.registered
    }

    /// Checks that each observer that the descriptor names is registered.
    ///
    /// # Errors
    /// `Unsupported` that names those that are not.
    pub(crate) fn check(&self, table: &TableName) -> Result<()> {
        let named = match &self.named {
            Ok(named) => named,
            Err(error) => return Err(error.clone().with_context(format_args!("table {table}"))),
        };
        let is_missing = |name: &&String| !self.registered.iter().any(|it| it.name() == **name);
        let missing: Vec<_> = named.iter().filter(is_missing).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "table {table} can be written only by a program with its observers, and this process \
             lacks some: missing={}",
            missing.join(", ")
        )))
    }

    /// Adds an observer of this table alone.
    fn push(&mut self, observer: Arc<dyn Observer>) {
        self.registered.insert(self.registered.len() - self.offered, observer);
    }

    /// Replaces the offered observers by those that the descriptor names.
    fn take_offered(&mut self, offered: &[Arc<dyn Observer>]) {
        self.registered.truncate(self.registered.len() - self.offered);
        let named = self.named.as_deref().unwrap_or_default();
        let of_table = offered.iter().filter(|it| named.iter().any(|name| name == it.name()));
        let own = self.registered.len();
        self.registered.extend(of_table.cloned());
        self.offered = self.registered.len() - own;
    }

    fn is_needed(&self) -> bool {
        !self.registered.is_empty() || self.named.as_ref().map_or(true, |named| !named.is_empty())
    }
}

impl Observers {
    /// Adds an observer for changes that begin from now on.
    pub(crate) fn add(&self, table: TableName, observer: Arc<dyn Observer>) {
        self.change(|by_table, _| by_table.entry(table).or_default().push(observer));
    }

    /// Adds an observer to all tables that name it, now and later.
    ///
    /// # Errors
    /// `InvalidRequest` for a name that no table can give, or that another one has.
    pub(crate) fn offer(&self, observer: Arc<dyn Observer>) -> Result<()> {
        let name = checked_name(observer.name())?;
        let mut done = Ok(());
        self.change(|by_table, offered| {
            if offered.iter().any(|other| other.name() == name) {
                done = Err(Error::invalid(format!("two observers have one name: name={name}")));
                return;
            }
            offered.push(observer);
            by_table.values_mut().for_each(|table| table.take_offered(offered));
        });
        done
    }

    /// Removes all observers.
    pub(crate) fn clear(&self) {
        self.change(|by_table, offered| {
            by_table.clear();
            offered.clear();
        });
    }

    /// Notes which observers the table descriptors name.
    pub(crate) fn note_named<'t>(&self, tables: impl Iterator<Item = &'t TableDescriptor>) {
        let named = tables.filter(|table| names_observers(table));
        let mut named: HashMap<_, _> =
            named.map(|table| (table.name().clone(), named_observers(table))).collect();
        if named.is_empty() && self.by_table.load().is_none() {
            return;
        }
        self.change(|by_table, offered| {
            for (table, observers) in by_table.iter_mut() {
                observers.named = named.remove(table).unwrap_or_else(|| Ok(Vec::new()));
            }
            let others = named.into_iter();
            by_table.extend(others.map(|(table, named)| {
                (table, TableObservers { named, ..TableObservers::default() })
            }));
            by_table.values_mut().for_each(|table| table.take_offered(offered));
        });
    }

    /// Returns the observers for all tables; `None` while there are none.
    #[inline]
    pub(crate) fn by_table(&self) -> Option<Arc<ObserversByTable>> {
        let by_table = self.by_table.load();
        by_table.as_ref().map(Arc::clone)
    }

    /// Whether a table has observers.
    pub(crate) fn observe(&self, table: &TableName) -> bool {
        self.by_table().is_some_and(|by_table| by_table.contains_key(table))
    }

    /// Checks that each observer that a table's descriptor names is registered.
    ///
    /// # Errors
    /// As [`TableObservers::check`].
    pub(crate) fn check(&self, table: &TableName) -> Result<()> {
        let by_table = self.by_table();
        let observers = by_table.as_ref().and_then(|by_table| by_table.get(table));
        observers.map_or(Ok(()), |observers| observers.check(table))
    }

    /// Checks that no observer of a table, registered or named by the descriptor, reads a family
    /// whose increments are BUFFERED. The columns of one that is only named are not known: it may
    /// read all.
    ///
    /// # Errors
    /// As [`check_buffered_columns`].
    pub(crate) fn check_buffered(&self, table: &TableDescriptor) -> Result<()> {
        for name in named_observers(table)? {
            check_buffered_columns(table, &Columns::all(), &described(&name))?;
        }
        let by_table = self.by_table();
        let observers = by_table.as_ref().and_then(|by_table| by_table.get(table.name()));
        for observer in observers.into_iter().flat_map(TableObservers::registered) {
            check_buffered_columns(table, &observer.columns(), &described(observer.name()))?;
        }
        Ok(())
    }

    /// Notes a change to a table, to be reported once the locks for the change are released. A
    /// dropped table's observers are removed at once: a table with the same name may follow.
    pub(crate) fn note(&self, table: &TableName, change: TableChange) {
        let Some(by_table) = self.by_table() else { return };
        let Some(observers) = by_table.get(table) else { return };
        let observers = observers.registered.clone();
        if change == TableChange::Dropped {
            self.change(|by_table, _| _ = by_table.remove(table));
        }
        self.noted.lock().push(Noted { table: table.clone(), change, observers });
    }

    /// Returns the noted changes.
    pub(crate) fn take_noted(&self) -> Vec<Noted> {
        std::mem::take(&mut self.noted.lock())
    }

    fn change(&self, change: impl FnOnce(&mut ObserversByTable, &mut Vec<Arc<dyn Observer>>)) {
        let mut offered = self.offered.lock();
        let mut by_table = self.by_table.load().as_deref().cloned().unwrap_or_default();
        change(&mut by_table, &mut offered);
        by_table.retain(|_, observers| observers.is_needed());
        self.by_table.store((!by_table.is_empty()).then(|| Arc::new(by_table)));
    }
}

/// Returns an observer for messages.
pub(crate) fn described(name: &str) -> String {
    if name.is_empty() { "an observer".to_owned() } else { format!("observer `{name}`") }
}

/// Returns true if a table names observers, or tries to.
pub(crate) fn names_observers(table: &TableDescriptor) -> bool {
    table.attributes.contains_key(ATTRIBUTE)
}

/// Returns the observer names without which a table cannot be written.
///
/// ```
/// use rowhouse_model::{TableDescriptor, TableName};
/// use rowhouse_store::{named_observers, with_observers};
///
/// let mail = TableDescriptor::new(TableName::parse("mail")?);
/// let mail = with_observers(mail, ["audit", "counts"])?;
/// assert_eq!(mail.attributes[&b"rowhouse.observers"[..]], "1 audit, counts");
/// assert_eq!(named_observers(&mail)?, ["audit", "counts"]);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest` for a form other than `1 NAME, NAME`; `Unsupported` for a form from a newer
/// version.
pub fn named_observers(table: &TableDescriptor) -> Result<Vec<String>> {
    let Some(stored) = table.attributes.get(ATTRIBUTE) else { return Ok(Vec::new()) };
    let stored = String::from_utf8_lossy(stored);
    match stored.split_once(' ') {
        Some((VERSION, names)) => names.split(',').map(|name| checked_name(name.trim())).collect(),
        Some((version, _)) if version.parse::<u32>().is_ok() => Err(Error::unsupported(format!(
            "names of observers in a newer form: version={version}, known={VERSION}"
        ))),
        _ => Err(Error::invalid(format!(
            "not the names of observers, expected `{VERSION} NAME, NAME`: \
             {OBSERVERS_ATTRIBUTE}={stored}"
        ))),
    }
}

/// Returns a table that can be written only by processes which have registered an observer for each
/// of these names; without names, by all.
///
/// # Errors
/// `InvalidRequest` for a name that is empty or has other characters than ASCII letters, digits,
/// `_`, `-` and `.`.
pub fn with_observers<N: AsRef<str>>(
    mut table: TableDescriptor,
    names: impl IntoIterator<Item = N>,
) -> Result<TableDescriptor> {
    let names = names.into_iter().map(|name| checked_name(name.as_ref()));
    let names = names.collect::<Result<Vec<_>>>()?;
    if names.is_empty() {
        table.attributes.remove(ATTRIBUTE);
        return Ok(table);
    }
    Ok(table.attribute(OBSERVERS_ATTRIBUTE, format!("{VERSION} {}", names.join(", "))))
}

/// Checks a name by which tables list an observer.
///
/// # Errors
/// As [`with_observers`].
pub fn check_observer_name(name: &str) -> Result<()> {
    checked_name(name).map(|_| ())
}

fn checked_name(name: &str) -> Result<String> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"_-.".contains(&c);
    if name.is_empty() || !name.bytes().all(is_fit) {
        return Err(Error::invalid(format!(
            "the name of an observer has letters, digits, `_`, `-` and `.`: name={name}"
        )));
    }
    Ok(name.to_owned())
}

const ATTRIBUTE: &[u8] = OBSERVERS_ATTRIBUTE.as_bytes();
/// The version number for the form in which names are stored.
const VERSION: &str = "1";
