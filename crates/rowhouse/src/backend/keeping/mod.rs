//! Indexes that this client maintains, on a cluster that does not maintain them itself
//! (`docs/decisions/0070-client-managed-indexes.md`).
//!
//! [`write`] has the steps in a write, [`intents`] the rows that are being written, [`claims`] the
//! values in unique indexes, [`fill`] builds, verifies and repairs, [`tables`] changes the index
//! tables along with their base table.

mod claims;
mod fill;
mod intents;
mod tables;
#[cfg(test)]
mod tests;
mod write;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rowhouse_client::Client;
use rowhouse_model::{
    Bytes, Columns, Delete, Error, ErrorKind, Get, Mutation, MutationOutcome, Put, Result, Row,
    TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{
    CLIENT_MAINTAINER, ENTRY_FAMILY, INDEX_MAINTAINER_ATTRIBUTE, Index, IndexOf, IndexSchema,
    Intent, SERVER_MAINTAINER,
};
use tokio::sync::OnceCell;

use intents::Slots;

/// Maintains a cluster's indexes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Maintainer {
    client: Client,
    shared: Arc<Shared>,
}

struct Shared {
    times: Times,
    /// Distinguishes this client from others.
    id: [u8; 8],
    writes: AtomicU64,
    slots: Slots,
    server_keeps: OnceCell<bool>,
    tables: Mutex<Declarations>,
    #[cfg(test)]
    tests: tests::Hooks,
}

/// Table declarations, each with the time at which it was requested; `None` for a table without
/// indexes.
type Declarations = HashMap<TableName, (Instant, Option<Arc<MaintainedTable>>)>;

/// How long the steps in maintaining indexes may take.
struct Times {
    /// A declaration is read again when it is older.
    lease: Duration,
    /// From declaring an index to building it, in addition to `lease` and the time that an
    /// operation takes.
    margin: Duration,
    /// The age at which a repair finishes another client's intent.
    grace: Duration,
    /// A write begins again if it took longer to prepare. Less than `margin`.
    prepared: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(20),
            margin: Duration::from_secs(40),
            grace: Duration::from_secs(60 * 60),
            prepared: Duration::from_secs(30),
        }
    }
}

/// The longest operation by a client that maintains indexes: [`Times::grace`] counts on it.
const OPERATION_MAX: Duration = Duration::from_secs(10 * 60);

/// A table with indexes that this client maintains.
pub(super) struct MaintainedTable {
    name: TableName,
    intents: TableName,
    indexes: Vec<MaintainedIndex>,
    /// The columns that decide the entries in any index.
    columns: Columns,
    /// The time to live for each family that has one, in milliseconds.
    ttls: HashMap<Bytes, i64>,
}

/// An index, and the table with its entries.
#[derive(Clone)]
pub(super) struct MaintainedIndex {
    index: Index,
    entries: TableName,
}

/// A point between two steps in a write, where tests stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Opened,
    Read,
    Written,
    ReadAgain,
    Added,
    Removed,
}

impl Maintainer {
    pub(super) fn new(client: Client) -> Self {
        let shared = Shared {
            times: Times::default(),
            id: random(),
            writes: AtomicU64::new(1),
            slots: Slots::default(),
            server_keeps: OnceCell::new(),
            tables: Mutex::default(),
            #[cfg(test)]
            tests: tests::Hooks::default(),
        };
        Self { client, shared: Arc::new(shared) }
    }

    /// Returns true if the server maintains indexes itself. The server is queried once.
    pub(super) async fn server_keeps(&self) -> Result<bool> {
        let asked = self.shared.server_keeps.get_or_try_init(|| async {
            let names = self.client.admin().master_coprocessors().await?;
            Ok(names.iter().any(|name| name == SERVER_MAINTAINER))
        });
        asked.await.copied()
    }

    /// Returns the indexes on a table that this client must maintain; `None` if there are none.
    ///
    /// # Errors
    /// `InvalidRequest` for a table with entries or intents, which is written through its base
    /// table, and if an index has no table.
    async fn maintained(&self, table: &TableName) -> Result<Option<Arc<MaintainedTable>>> {
        if table.is_system() || self.server_keeps().await? {
            return Ok(None);
        }
        if let Some((asked, maintained)) = self.lock_tables().get(table)
            && asked.elapsed() < self.shared.times.lease
        {
            return Ok(maintained.clone());
        }
        let asked = Instant::now();
        let maintained = match self.describe(table).await {
            Ok(declared) => {
                refuse_entries(&declared)?;
                self.maintained_table(&declared)?.map(Arc::new)
            }
            Err(error) if error.kind() == ErrorKind::TableNotFound => {
                if self.client.admin().table_exists(table).await? {
                    return Err(Error::invalid(format!(
                        "the cluster does not show this user how the table is declared, so its \
                         indexes could not be kept: table={table}"
                    )));
                }
                // The write itself reports it.
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if let Some(maintained) = &maintained {
            self.check_maintained(maintained).await?;
        }
        self.lock_tables().insert(table.clone(), (asked, maintained.clone()));
        Ok(maintained)
    }

    fn maintained_table(&self, declared: &TableDescriptor) -> Result<Option<MaintainedTable>> {
        let Some(schema) = IndexSchema::of_table(declared)? else { return Ok(None) };
        MaintainedTable::new(declared, schema.indexes()).map(Some)
    }

    /// Checks that all indexes have tables that clients maintain.
    async fn check_maintained(&self, maintained: &MaintainedTable) -> Result<()> {
        for MaintainedIndex { index, entries } in &maintained.indexes {
            claims::refuse_search(index)?;
            let is_maintained = match self.describe(entries).await {
                Ok(entries) => is_maintained_by_clients(&entries, &maintained.name, index)?,
                Err(error) if error.kind() == ErrorKind::TableNotFound => false,
                Err(error) => return Err(error),
            };
            if !is_maintained {
                return Err(Error::invalid(format!(
                    "the index has no table that clients keep, repair_index makes it: table={}, \
                     index={}",
                    maintained.name,
                    index.name()
                )));
            }
        }
        Ok(())
    }

    pub(super) async fn describe(&self, table: &TableName) -> Result<TableDescriptor> {
        let declared = self.client.admin().descriptor(table).await?;
        #[cfg(test)]
        let declared = self.shared.tests.shown(declared);
        Ok(declared)
    }

    fn forget(&self, table: &TableName) {
        self.lock_tables().remove(table);
    }

    fn lock_tables(&self) -> MutexGuard<'_, Declarations> {
        self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the qualifier for the entries that one write adds: no other write has it.
    fn token(&self) -> Token {
        Token { client: self.shared.id, write: self.shared.writes.fetch_add(1, Ordering::Relaxed) }
    }

    async fn step(&self, step: Step) {
        #[cfg(test)]
        self.shared.tests.reach(step).await;
        let _ = step;
    }

    /// Reads the deciding columns in rows; an empty row for one that shows nothing.
    async fn read(
        &self,
        maintained: &MaintainedTable,
        columns: &Columns,
        rows: &[Bytes],
    ) -> Result<Vec<Row>> {
        let get = |row: &Bytes| {
            let mut get = Get::new(row.clone())?;
            get.columns = columns.clone();
            Ok(get)
        };
        let gets = rows.iter().map(get).collect::<Result<Vec<_>>>()?;
        self.client.table(&maintained.name).get_many(gets).await.into_iter().collect()
    }

    /// Reads the cells in entries, each with a qualifier and a timestamp.
    async fn read_entries(&self, entries: &TableName, keys: &[Bytes]) -> Result<Vec<Row>> {
        let get = |key: &Bytes| Ok(Get::new(key.clone())?.family(ENTRY_FAMILY));
        let gets = keys.iter().map(get).collect::<Result<Vec<_>>>()?;
        self.client.table(entries).get_many(gets).await.into_iter().collect()
    }

    /// Adds entries.
    async fn add_entries(
        &self,
        entries: &TableName,
        keys: impl IntoIterator<Item = Bytes>,
        token: Token,
    ) -> Result<()> {
        let add = |key| Put::new(key)?.add(ENTRY_FAMILY, token.to_bytes(), b"").map(Mutation::from);
        let puts = keys.into_iter().map(add).collect::<Result<Vec<_>>>()?;
        done(self.client.table(entries).batch(puts).await)
    }

    /// Removes cells from entries that were read before.
    async fn remove_entries(&self, entries: &TableName, seen: &[Row]) -> Result<()> {
        let remove = |row: &Row| {
            let delete = Delete::new(Bytes::copy_from_slice(row.key()))?;
            let delete = row.cells().try_fold(delete, |delete, cell| {
                delete.column(ENTRY_FAMILY, cell.qualifier(), cell.timestamp())
            });
            delete.map(Mutation::from)
        };
        let seen = seen.iter().filter(|row| !row.is_empty());
        let deletes = seen.map(remove).collect::<Result<Vec<_>>>()?;
        done(self.client.table(entries).batch(deletes).await)
    }
}

impl MaintainedTable {
    fn new(declared: &TableDescriptor, indexes: &[Index]) -> Result<Self> {
        let mut columns: Option<Columns> = None;
        let mut maintained = Vec::new();
        for index in indexes {
            match &mut columns {
                None => columns = Some(index.columns().clone()),
                Some(columns) => columns.include(index.columns()),
            }
            let entries = index.table_name(declared.name())?;
            maintained.push(MaintainedIndex { index: index.clone(), entries });
        }
        let ttl = |family: &rowhouse_model::FamilyDescriptor| {
            let millis = i64::try_from(family.ttl()?.as_millis()).ok()?;
            Some((family.name().clone(), millis))
        };
        Ok(Self {
            name: declared.name().clone(),
            intents: Intent::table_name(declared.name())?,
            indexes: maintained,
            columns: columns.unwrap_or_else(Columns::all),
            ttls: declared.families().iter().filter_map(ttl).collect(),
        })
    }

    fn index(&self, name: &str) -> Result<&MaintainedIndex> {
        let found = self.indexes.iter().find(|maintained| maintained.index.name() == name);
        found.ok_or_else(|| Error::invalid(format!("no index `{name}` is declared")))
    }

    /// Returns the keys for the entries that a row has now or later.
    fn entries(&self, maintained: &MaintainedIndex, row: &[u8], cells: &Row) -> Result<Vec<Bytes>> {
        maintained.index.entries_over_time(row, cells, |family| self.ttls.get(family).copied())
    }
}

/// The name for one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    client: [u8; 8],
    write: u64,
}

impl Token {
    const LEN: usize = 16;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.client);
        bytes[8..].copy_from_slice(&self.write.to_be_bytes());
        bytes
    }
}

/// Returns true if a table holds an index's entries, and clients maintain it.
fn is_maintained_by_clients(
    entries: &TableDescriptor,
    base: &TableName,
    index: &Index,
) -> Result<bool> {
    let of = IndexOf {
        table: base.clone(),
        index: index.name().to_owned(),
        is_copy: false,
        is_in_memory: false,
    };
    let maintainer = entries.attributes.get(INDEX_MAINTAINER_ATTRIBUTE.as_bytes());
    Ok(IndexOf::of_table(entries)? == Some(of)
        && maintainer.is_some_and(|maintainer| maintainer == CLIENT_MAINTAINER))
}

/// Refuses to write a table with entries or intents.
fn refuse_entries(declared: &TableDescriptor) -> Result<()> {
    let maintainer = declared.attributes.contains_key(INDEX_MAINTAINER_ATTRIBUTE.as_bytes());
    match IndexOf::of_table(declared)? {
        None if !maintainer => Ok(()),
        of => {
            let base = of.map_or_else(|| "a table".to_owned(), |of| of.table.to_string());
            Err(Error::invalid(format!(
                "table {} belongs to the indexes of {base}, whose writes keep it",
                declared.name()
            )))
        }
    }
}

fn done(outcomes: Vec<Result<MutationOutcome>>) -> Result<()> {
    outcomes.into_iter().try_for_each(|outcome| outcome.map(drop))
}

/// Returns the time in milliseconds.
fn now_millis() -> i64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

fn timestamp(millis: i64) -> Result<Timestamp> {
    Timestamp::from_millis(millis)
}

fn random() -> [u8; 8] {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(now_millis()).to_be_bytes()
}
