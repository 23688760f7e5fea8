//! A database backend: the embedded store or a cluster, a closed enum. Calls about rows and tables
//! are dispatched here; [`Admin`](crate::Admin) matches the enum itself.

mod alteration;
mod blocking;
mod cluster;
mod embedded;
mod keeping;
mod read_ahead;
mod table_id;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(feature = "search")]
use rowhouse_client::Table as ServerTable;
use rowhouse_client::{QueryIndexCall, Settings as ClientSettings, Target};
use rowhouse_model::{
    Bytes, CellHistory, Columns, Condition, DeleteRows, DeletedRows, Durability, Error, Get,
    Mutation, MutationOutcome, Put, RegionInfo, Result, Row, RowMutations, RowRange, Scan,
    ServerName, TableDescriptor, TableName, TableState,
};
#[cfg(feature = "search")]
use rowhouse_schema::SearchPlan;
use rowhouse_schema::{Index, IndexSchema, IndexState};
#[cfg(feature = "search")]
use rowhouse_search::Matches;
use rowhouse_store::{RangeEstimate, Settings as StoreSettings, Table as StoreTable};

use crate::rows::{Rows, Source};
use cluster::Cluster;
use embedded::Embedded;

#[cfg(feature = "search")]
pub(crate) use embedded::LocalSearch;

pub(crate) use blocking::{block_on, blocking};
pub(crate) use embedded::{
    EmbeddedRows, EmbeddedTransaction, GETS_INLINE_MAX, IndexReadPoint, TableReadPoint,
};
pub(crate) use read_ahead::ReadAhead;
pub(crate) use table_id::TableId;

/// A database backend.
pub(crate) struct Backend {
    side: Side,
    /// The argument to [`open`](crate::open) with which any process on this machine opens the same.
    url: String,
    /// The durability for mutations that name none.
    durability: Durability,
    /// Counter buffers, whose adds are written when the database is closed.
    buffers: Mutex<Vec<Weak<dyn WriteBuffer>>>,
}

/// The two backend kinds.
pub(crate) enum Side {
    /// The embedded store.
    Embedded(Embedded),
    /// A cluster, with HBase's protocol.
    Cluster(Cluster),
}

/// Evaluates the same expression for either backend.
macro_rules! on {
    ($backend:expr, $inner:ident => $call:expr) => {
        match &$backend.side {
            Side::Embedded($inner) => $call,
            Side::Cluster($inner) => $call,
        }
    };
}

impl Backend {
    pub(crate) async fn embedded(
        path: PathBuf,
        settings: StoreSettings,
        only_existing: bool,
        durability: Durability,
    ) -> Result<Self> {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let url = format!("file:{}", absolute.display());
        let side = Side::Embedded(Embedded::open(path, settings, only_existing).await?);
        Ok(Self { side, url, durability, buffers: Mutex::default() })
    }

    pub(crate) async fn cluster(
        target: &Target,
        settings: ClientSettings,
        durability: Durability,
    ) -> Result<Self> {
        let side = Side::Cluster(Cluster::connect(target, settings).await?);
        Ok(Self { side, url: target.to_string(), durability, buffers: Mutex::default() })
    }

    /// Returns the embedded store or the cluster, for calls that differ between them.
    pub(crate) fn side(&self) -> &Side {
        &self.side
    }

    pub(crate) async fn describe(&self, name: &TableName) -> Result<TableDescriptor> {
        on!(self, inner => inner.describe(name).await)
    }

    pub(crate) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        on!(self, inner => inner.table_state(name).await)
    }

    pub(crate) async fn explain_cell(&self, table: &TableId, get: &Get) -> Result<CellHistory> {
        on!(self, inner => inner.explain_cell(table, get).await)
    }

    /// Returns a table's regions with their servers.
    pub(crate) async fn regions(
        &self,
        table: &TableName,
    ) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        on!(self, inner => inner.regions(table).await)
    }

    pub(crate) async fn get(&self, table: &TableId, get: &Get) -> Result<Row> {
        on!(self, inner => inner.get(table, get).await)
    }

    /// Returns true if any cell matches a get.
    pub(crate) async fn exists(&self, table: &TableId, get: &Get) -> Result<bool> {
        on!(self, inner => inner.exists(table, get).await)
    }

    /// Reads many rows; returns one result for each get, in order.
    pub(crate) async fn get_many(&self, table: &TableId, gets: Vec<Get>) -> Vec<Result<Row>> {
        on!(self, inner => inner.get_many(table, gets).await)
    }

    pub(crate) async fn mutate(
        &self,
        table: &TableId,
        mutation: Mutation,
    ) -> Result<MutationOutcome> {
        let mutation = mutation.with_default_durability(self.durability);
        on!(self, inner => inner.mutate(table, mutation).await)
    }

    /// Applies a mutation to a row if a condition holds.
    pub(crate) async fn mutate_if(
        &self,
        table: &TableId,
        condition: Condition,
        mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        let mutation = mutation.with_default_durability(self.durability);
        on!(self, inner => inner.mutate_if(table, condition, mutation).await)
    }

    /// Applies several mutations to a row atomically, if there is no condition or it holds.
    pub(crate) async fn mutate_row(
        &self,
        table: &TableId,
        condition: Option<Condition>,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let mutations = mutations.with_default_durability(self.durability);
        on!(self, inner => inner.mutate_row(table, condition, mutations).await)
    }

    /// Writes a row if it does not exist; returns true if it was written.
    pub(crate) async fn insert(&self, table: &TableId, mut put: Put) -> Result<bool> {
        put.durability = put.durability.or(self.durability);
        on!(self, inner => inner.insert(table, put).await)
    }

    pub(crate) async fn batch(
        &self,
        table: &TableId,
        mutations: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        let default = |mutation: Mutation| mutation.with_default_durability(self.durability);
        let mutations = mutations.into_iter().map(default).collect();
        on!(self, inner => inner.batch(table, mutations).await)
    }

    /// Deletes rows from the range's start on, for about a second, in this process or on a server
    /// that [answers](Backend::answers_queries) queries.
    pub(crate) async fn delete_rows(
        &self,
        table: &TableId,
        mut request: DeleteRows,
    ) -> Result<DeletedRows> {
        request.durability = request.durability.or(self.durability);
        on!(self, inner => inner.delete_rows(table, request).await)
    }

    /// Applies mutations to any tables atomically.
    pub(crate) async fn commit(
        &self,
        mutations: Vec<(TableId, Mutation)>,
    ) -> Result<Vec<MutationOutcome>> {
        let default = |(table, mutation): (_, Mutation)| {
            (table, mutation.with_default_durability(self.durability))
        };
        let mutations = mutations.into_iter().map(default).collect();
        match &self.side {
            Side::Embedded(inner) => inner.commit(mutations).await,
            Side::Cluster(_) => Err(no_transactions()),
        }
    }

    /// Runs a transaction over rows in any tables.
    pub(crate) async fn transact<T: Send + 'static>(
        &self,
        run: impl FnMut(EmbeddedTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.side {
            Side::Embedded(inner) => inner.transact(self.durability, run).await,
            Side::Cluster(_) => Err(no_transactions()),
        }
    }

    /// Opens a scan; scans that share `ahead` share the threads.
    pub(crate) async fn scan(
        &self,
        table: &TableId,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<Rows> {
        Ok(Rows::new(match &self.side {
            Side::Embedded(inner) => Source::Embedded(inner.scan(table, scan, ahead).await?),
            Side::Cluster(inner) => Source::Cluster(inner.scan(table, scan)),
        }))
    }

    /// Whether a server answers scans that carry a query, and chooses how to read them.
    pub(crate) async fn answers_queries(&self) -> Result<bool> {
        match &self.side {
            Side::Embedded(_) => Ok(false),
            Side::Cluster(inner) => inner.server_keeps_indexes().await,
        }
    }

    /// Returns the index by which a server that [answers](Backend::answers_queries) queries reads
    /// one; `None` for the key.
    pub(crate) async fn query_index(&self, call: &QueryIndexCall) -> Result<Option<String>> {
        match &self.side {
            Side::Embedded(_) => Err(Error::unsupported("no server answers the query")),
            Side::Cluster(inner) => inner.query_index(call).await,
        }
    }

    /// Scans the rows that match a query, on a server that [answers](Backend::answers_queries)
    /// queries.
    pub(crate) fn scan_matching(&self, table: &TableName, scan: Scan, query: &str) -> Result<Rows> {
        match &self.side {
            Side::Embedded(_) => Err(Error::unsupported("no server answers the query")),
            Side::Cluster(inner) => {
                Ok(Rows::new(Source::Cluster(inner.scan_matching(table, scan, query))))
            }
        }
    }

    /// Returns a table's current read point, for scans that belong together; `None` for a cluster,
    /// where scans cannot share a read point.
    pub(crate) async fn read_point(&self, table: &TableId) -> Result<Option<TableReadPoint>> {
        match &self.side {
            Side::Embedded(inner) => inner.read_point(table).await.map(Some),
            Side::Cluster(_) => Ok(None),
        }
    }

    /// Returns true if this is the store in this process, whose read points span tables.
    pub(crate) fn has_read_points(&self) -> bool {
        matches!(self.side, Side::Embedded(_))
    }

    /// Returns the indexes that a table declares now, if any.
    pub(crate) async fn indexes(&self, table: &TableName) -> Result<Option<IndexSchema>> {
        on!(self, inner => inner.indexes(table).await)
    }

    /// Whether indexes can be promoted: the store maintains them, not a client.
    pub(crate) async fn promotes_indexes(&self) -> Result<bool> {
        match &self.side {
            Side::Embedded(_) => Ok(true),
            Side::Cluster(inner) => inner.server_keeps_indexes().await,
        }
    }

    /// Returns the state that a table's index has.
    pub(crate) async fn index_state(&self, table: &TableName, index: &str) -> Result<IndexState> {
        on!(self, inner => inner.index_state(table, index).await)
    }

    /// Returns the rows whose entries in indexes may not be right, because a client that maintains
    /// them is writing these rows. `None` where the store or the server maintains the indexes.
    pub(crate) async fn unsettled_rows(&self, table: &TableName) -> Result<Option<Vec<Bytes>>> {
        match &self.side {
            Side::Embedded(_) => Ok(None),
            Side::Cluster(inner) => inner.unsettled_rows(table).await,
        }
    }

    /// Returns a read point for a table and for an index's entries; `None` if the index cannot be
    /// used there, and for a cluster.
    pub(crate) async fn index_read_point(
        &self,
        table: &TableId,
        index: &Index,
    ) -> Result<Option<IndexReadPoint>> {
        match &self.side {
            Side::Embedded(inner) => inner.index_read_point(table, index).await,
            Side::Cluster(_) => Ok(None),
        }
    }

    /// Searches a table at its current read point.
    #[cfg(feature = "search")]
    pub(crate) async fn find(&self, table: &TableId, plan: SearchPlan) -> Result<Matches> {
        match &self.side {
            Side::Embedded(inner) => inner.find(table, plan).await,
            Side::Cluster(_) => Err(Error::unsupported("the server makes the search")),
        }
    }

    /// Returns the table on a server that makes searches itself; `None` if this process does.
    #[cfg(feature = "search")]
    pub(crate) fn server_table(&self, table: &TableName) -> Option<ServerTable> {
        match &self.side {
            Side::Embedded(_) => None,
            Side::Cluster(inner) => Some(inner.table(table)),
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the store and the search engine.
    #[cfg(feature = "search")]
    pub(crate) fn local_search(&self) -> Result<&LocalSearch> {
        match &self.side {
            Side::Embedded(inner) => Ok(inner.local_search()),
            Side::Cluster(_) => Err(Error::unsupported(
                "a search copy is built in a database of this process, and this is a server",
            )),
        }
    }

    /// Retains a search's view in this process, for later pages. Returns its id.
    #[cfg(feature = "search")]
    pub(crate) fn pin(&self, view: Option<u64>, found: Arc<Matches>) -> Result<u64> {
        match &self.side {
            Side::Embedded(inner) => Ok(inner.pin(view, found)),
            Side::Cluster(_) => Err(Error::unsupported("the server keeps the views of searches")),
        }
    }

    /// Returns the search view that an earlier page retained in this process.
    #[cfg(feature = "search")]
    pub(crate) fn pinned(&self, view: u64) -> Result<Arc<Matches>> {
        match &self.side {
            Side::Embedded(inner) => inner.pinned(view),
            Side::Cluster(_) => Err(Error::unsupported("the server keeps the views of searches")),
        }
    }

    /// Estimates how much of a table lies in ranges; `None` for a cluster, which cannot estimate
    /// it.
    pub(crate) async fn estimate(
        &self,
        table: &TableName,
        ranges: &[RowRange],
        columns: &Columns,
    ) -> Result<Option<RangeEstimate>> {
        match &self.side {
            Side::Embedded(inner) => inner.estimate(table, ranges, columns).await.map(Some),
            Side::Cluster(_) => Ok(None),
        }
    }

    /// Returns a table in the store.
    pub(crate) fn store_table(&self, table: &TableId) -> Result<Arc<StoreTable>> {
        match &self.side {
            Side::Embedded(inner) => inner.writable(table),
            Side::Cluster(_) => Err(no_observers()),
        }
    }

    /// Adds a buffer that is to be closed with the database.
    pub(crate) fn add_buffer(&self, buffer: Weak<dyn WriteBuffer>) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.retain(|buffer| buffer.strong_count() > 0);
        buffers.push(buffer);
    }

    pub(crate) async fn close(&self) -> Result<()> {
        let buffers = {
            let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *buffers)
        };
        let mut written = Ok(());
        for buffer in buffers.iter().filter_map(Weak::upgrade) {
            written = written.and(buffer.close().await);
        }
        on!(self, inner => inner.close().await).and(written)
    }
}

/// A buffer of writes that is closed with the database.
pub(crate) trait WriteBuffer: Send + Sync {
    /// Takes no further writes, and writes those that it has.
    fn close(self: Arc<Self>) -> Pin<Box<dyn Future<Output = Result<()>> + Send>>;
}

pub(crate) fn no_observers() -> Error {
    Error::unsupported(
        "observers see the changes of a database that is embedded in the process, and this is a \
         cluster",
    )
}

fn no_transactions() -> Error {
    Error::unsupported(
        "a cluster changes rows one by one: changes of several rows as one need a database in this \
         process; changes of one row are one by mutate_row, under a condition by mutate_row_if",
    )
}
