//! The embedded store, without blocking the runtime.
//!
//! One-row reads and ordinary one-row writes take a few microseconds and run on the calling task.
//! Operations that may take longer (scans, batches, table changes, flushes, writes that wait for
//! the disk) run on tokio's blocking threads.

mod read_point;
mod rows;
#[cfg(feature = "search")]
mod search;
mod transaction;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{
    CellHistory, ClusterStatus, Columns, Condition, DeleteRows, DeletedRows, Durability, Error,
    ErrorKind, Get, Mutation, MutationOutcome, Put, RegionInfo, RegionLoad, Result, Row,
    RowMutations, RowRange, Scan, ServerLoad, ServerName, TableDescriptor, TableName, TableState,
};
use rowhouse_query::delete_rows;
use rowhouse_schema::{Index, IndexSchema, IndexState};
use rowhouse_store::{RangeEstimate, Region, Settings, Store, Table};

use super::blocking::blocking;
use super::read_ahead::ReadAhead;
use super::table_id::TableId;

pub(crate) use read_point::{IndexReadPoint, TableReadPoint};
pub(crate) use rows::EmbeddedRows;
#[cfg(feature = "search")]
pub(crate) use search::LocalSearch;
pub(crate) use transaction::EmbeddedTransaction;

/// The most gets in one call that run on the calling task, as single gets do: handing them over to
/// a thread would take about as long.
pub(crate) const GETS_INLINE_MAX: usize = 8;

/// How often, and after which time, a region that others replace is looked up again.
const REPLACED_TRIES_MAX: usize = 500;
const REPLACED_WAIT: Duration = Duration::from_millis(10);

/// An open store.
pub(crate) struct Embedded {
    store: Store,
    #[cfg(feature = "search")]
    searching: search::Searching,
}

impl Embedded {
    pub(super) async fn open(
        path: PathBuf,
        settings: Settings,
        only_existing: bool,
    ) -> Result<Self> {
        let builder = Store::builder(path).settings(settings);
        let builder = if only_existing { builder.only_existing() } else { builder };
        let store = blocking(move || builder.open()).await?;
        Ok(Self {
            #[cfg(feature = "search")]
            searching: search::Searching::start(&store)?,
            store,
        })
    }

    /// Returns the store, for calls that take a few microseconds.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Runs a store operation that may take longer on a thread that may block.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Store) -> T + Send + 'static,
    ) -> T {
        let store = self.store.clone();
        blocking(move || operation(&store)).await
    }

    /// Returns the engine for full-text searches.
    pub(crate) fn search(&self) -> Option<Arc<rowhouse_query::Search>> {
        #[cfg(feature = "search")]
        return Some(Arc::clone(&self.local_search().engine));
        #[cfg(not(feature = "search"))]
        None
    }

    /// Returns the status for a cluster with one server, this process.
    pub(crate) fn status(&self) -> ClusterStatus {
        let name = this_process();
        let tables = self.store.tables();
        let open = tables.iter().filter(|table| table.state() == TableState::Enabled);
        let regions = open.flat_map(|table| table.regions()).map(|region| {
            let size = region.size();
            let requests = region.requests();
            RegionLoad {
                name: region.name().full.clone(),
                stores: size.stores as u64,
                files: size.files as u64,
                uncompressed_mib: size.uncompressed_bytes >> 20,
                file_mib: size.file_bytes >> 20,
                memstore_mib: size.memstore_bytes >> 20,
                reads: requests.reads,
                writes: requests.writes,
                ..RegionLoad::default()
            }
        });
        let mut regions: Vec<_> = regions.collect();
        regions.sort_by(|a, b| a.name.cmp(&b.name));
        let load =
            ServerLoad { regions, tasks: self.store.tasks(), ..ServerLoad::new(name.clone()) };
        ClusterStatus {
            version: concat!("rowhouse ", env!("CARGO_PKG_VERSION")).into(),
            cluster_id: self.store.cluster_id(),
            master: Some(name.clone()),
            live_servers: vec![name],
            loads: vec![load],
            ..ClusterStatus::default()
        }
    }

    pub(super) async fn describe(&self, name: &TableName) -> Result<TableDescriptor> {
        let system = self.store.system_tables().into_iter().find(|table| table.name() == name);
        match system {
            Some(table) => Ok(table),
            None => Ok(self.store.table(name)?.descriptor().clone()),
        }
    }

    pub(super) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        if self.store.system_tables().iter().any(|table| table.name() == name) {
            return Ok(TableState::Enabled);
        }
        Ok(self.store.table(name)?.state())
    }

    pub(super) async fn regions(
        &self,
        table: &TableName,
    ) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        if table.is_system() {
            return Err(Error::unsupported(format!("{table} has no regions that can be listed")));
        }
        let table = self.store.table(table)?;
        let served = |region: &Arc<Region>| {
            (region.info().clone(), region.check_serving().is_ok().then(this_process))
        };
        Ok(table.regions().iter().map(served).collect())
    }

    pub(super) async fn get(&self, table: &TableId, get: &Get) -> Result<Row> {
        get_row(&self.store, table, get)
    }

    pub(super) async fn exists(&self, table: &TableId, get: &Get) -> Result<bool> {
        let mut get = get.clone();
        get.existence_only = true;
        Ok(!read_row(&self.store, table, &get)?.is_empty())
    }

    /// Reads a few rows on the calling task, and more on a blocking thread.
    pub(super) async fn get_many(&self, table: &TableId, gets: Vec<Get>) -> Vec<Result<Row>> {
        let store = self.store.clone();
        let table = table.clone();
        let gets_len = gets.len();
        let read = move || gets.iter().map(|get| get_row(&store, &table, get)).collect();
        if gets_len <= GETS_INLINE_MAX { read() } else { blocking(read).await }
    }

    pub(super) async fn explain_cell(&self, table: &TableId, get: &Get) -> Result<CellHistory> {
        if table.is_system() {
            return Err(Error::unsupported(format!("cells of {} cannot be explained", **table)));
        }
        find(&self.store, table)?.explain_cell(get)
    }

    pub(super) async fn mutate(
        &self,
        table: &TableId,
        mutation: Mutation,
    ) -> Result<MutationOutcome> {
        let table = self.writable(table)?;
        if waits_for_disk(&mutation, table.descriptor()) {
            return blocking(move || table.mutate(&mutation)).await;
        }
        table.mutate(&mutation)
    }

    pub(super) async fn mutate_if(
        &self,
        table: &TableId,
        condition: Condition,
        mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        let table = self.writable(table)?;
        if waits_for_disk(&mutation, table.descriptor()) {
            return blocking(move || table.mutate_if(&condition, &mutation)).await;
        }
        table.mutate_if(&condition, &mutation)
    }

    pub(super) async fn mutate_row(
        &self,
        table: &TableId,
        condition: Option<Condition>,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let table = self.writable(table)?;
        let waits = mutations.mutations().iter().any(|one| waits_for_disk(one, table.descriptor()));
        let mutate = move || match condition {
            Some(condition) => table.mutate_row_if(&condition, &mutations),
            None => table.mutate_row(&mutations).map(Some),
        };
        if waits { blocking(mutate).await } else { mutate() }
    }

    pub(super) async fn insert(&self, table: &TableId, put: Put) -> Result<bool> {
        Ok(self.mutate_if(table, Condition::NoRow, put.into()).await?.is_some())
    }

    pub(super) async fn commit(
        &self,
        mutations: Vec<(TableId, Mutation)>,
    ) -> Result<Vec<MutationOutcome>> {
        let place = |(name, mutation)| Ok((self.writable(&name)?, mutation));
        let mutations = mutations.into_iter().map(place).collect::<Result<Vec<_>>>()?;
        let store = self.store.clone();
        blocking(move || store.commit(&mutations)).await
    }

    pub(super) async fn transact<T: Send + 'static>(
        &self,
        durability: Durability,
        mut run: impl FnMut(EmbeddedTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.store.clone();
        let transact = move || {
            store.transact(|inner| run(EmbeddedTransaction { store: &store, inner, durability }))
        };
        blocking(transact).await
    }

    /// Returns a user table.
    pub(super) fn writable(&self, table: &TableId) -> Result<Arc<Table>> {
        if table.is_system() {
            return Err(Store::refuse_write(table));
        }
        find(&self.store, table)
    }

    pub(super) async fn batch(
        &self,
        table: &TableId,
        mutations: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        let store = self.store.clone();
        let id = table.clone();
        blocking(move || match find(&store, &id) {
            Ok(table) => table.batch(mutations),
            // Each mutation gets the error that it would get alone.
            Err(error) => mutations.iter().map(|_| Err(error.clone())).collect(),
        })
        .await
    }

    pub(super) async fn delete_rows(
        &self,
        table: &TableId,
        request: DeleteRows,
    ) -> Result<DeletedRows> {
        let table = self.writable(table)?;
        let store = self.store.clone();
        let search = self.search();
        blocking(move || {
            table.check_enabled()?;
            let mut tried = 0;
            loop {
                let region = table.region_of(&request.range.start);
                let deleted = delete_rows(&store, search.as_deref(), region, &request);
                match deleted {
                    // Others replaced the region, or are about to.
                    Err(error)
                        if error.kind() == ErrorKind::NotServingRegion
                            && tried < REPLACED_TRIES_MAX =>
                    {
                        table.check_enabled()?;
                        tried += 1;
                        std::thread::sleep(REPLACED_WAIT);
                    }
                    deleted => return deleted,
                }
            }
        })
        .await
    }

    /// Returns a table's current read point.
    pub(super) async fn read_point(&self, table: &TableId) -> Result<TableReadPoint> {
        let store = self.store.clone();
        let id = table.clone();
        blocking(move || {
            let (table, point) = store.table_read_point(&id)?;
            id.check(table.descriptor())?;
            Ok(TableReadPoint { table, point })
        })
        .await
    }

    /// Returns the indexes that a table declares, if any.
    pub(super) async fn indexes(&self, table: &TableName) -> Result<Option<IndexSchema>> {
        Ok(self.store.table(table)?.indexes()?.cloned())
    }

    pub(super) async fn index_state(&self, table: &TableName, index: &str) -> Result<IndexState> {
        self.store.index_state(table, index)
    }

    /// Returns a read point for a table and for an index's entries; `None` if the index is not
    /// ready, or has been declared anew.
    pub(super) async fn index_read_point(
        &self,
        table: &TableId,
        index: &Index,
    ) -> Result<Option<IndexReadPoint>> {
        let store = self.store.clone();
        let id = table.clone();
        let index = index.clone();
        blocking(move || {
            let Some(read) = store.index_read_point(&id, index.name())? else { return Ok(None) };
            id.check(read.table.descriptor())?;
            IndexReadPoint::new(&store, read, &index)
        })
        .await
    }

    pub(super) async fn estimate(
        &self,
        table: &TableName,
        ranges: &[RowRange],
        columns: &Columns,
    ) -> Result<RangeEstimate> {
        let table = self.store.table(table)?;
        let ranges = ranges.to_vec();
        let columns = columns.clone();
        blocking(move || table.estimate(&ranges, &columns)).await
    }

    pub(super) async fn scan(
        &self,
        table: &TableId,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<EmbeddedRows> {
        if table.is_system() {
            let read = self.store.scan_system(table, &scan)?.into();
            return Ok(EmbeddedRows::of(read, ahead));
        }
        let table = find(&self.store, table)?;
        EmbeddedRows::open(scan, ahead, move |scan| table.scan(scan)).await
    }

    pub(super) async fn close(&self) -> Result<()> {
        let store = self.store.clone();
        #[cfg(feature = "search")]
        blocking(self.searching.close()).await;
        blocking(move || store.close()).await
    }
}

/// Reads one row, and refuses what the client refuses.
fn get_row(store: &Store, table: &TableId, get: &Get) -> Result<Row> {
    if get.existence_only {
        return Err(Error::invalid("a get that checks only existence returns no row"));
    }
    read_row(store, table, get)
}

fn read_row(store: &Store, table: &TableId, get: &Get) -> Result<Row> {
    if table.is_system() {
        return store.get_system(table, get);
    }
    find(store, table)?.get(get)
}

/// Returns a table in the layout that a handle knows.
fn find(store: &Store, id: &TableId) -> Result<Arc<Table>> {
    let table = store.table(id)?;
    id.check(table.descriptor())?;
    Ok(table)
}

/// Returns true if the answer to a mutation waits for a disk sync.
fn waits_for_disk(mutation: &Mutation, table: &TableDescriptor) -> bool {
    let durability = match mutation.durability() {
        Durability::UseDefault => table.durability(),
        asked => asked,
    };
    durability == Durability::FsyncWal
}

/// Returns the server name that stands for this process.
fn this_process() -> ServerName {
    ServerName { host: "localhost".into(), port: 0, start_code: 0 }
}
