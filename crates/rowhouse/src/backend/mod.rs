//! What a database runs on: the store in this process, or a cluster. The set is closed, and every
//! call is dispatched here, so that neither kind can do what the other does not answer.

mod cluster;
mod embedded;

use rowhouse_model::{
    Bytes, Get, Mutation, MutationOutcome, Namespace, Put, RegionInfo, Result, Row, Scan,
    TableDescriptor, TableName, TableState,
};

use crate::location::Location;
use crate::rows::{Rows, Source};
use cluster::Cluster;
use embedded::Embedded;

pub(crate) use embedded::EmbeddedRows;

/// The one or the other.
pub(crate) enum Backend {
    /// The store in this process.
    Embedded(Embedded),
    /// A cluster, through its protocol.
    Cluster(Cluster),
}

/// Has whichever backend it is do the same thing.
macro_rules! on {
    ($backend:expr, $inner:ident => $call:expr) => {
        match $backend {
            Backend::Embedded($inner) => $call,
            Backend::Cluster($inner) => $call,
        }
    };
}

impl Backend {
    pub(crate) async fn open(location: Location) -> Result<Self> {
        Ok(match location {
            Location::Directory(path) => Self::Embedded(Embedded::open(&path).await?),
            Location::Cluster(target) => Self::Cluster(Cluster::connect(&target).await?),
        })
    }

    pub(crate) async fn cluster_id(&self) -> Result<String> {
        on!(self, inner => inner.cluster_id().await)
    }

    pub(crate) async fn tables(&self) -> Result<Vec<TableName>> {
        on!(self, inner => inner.tables().await)
    }

    pub(crate) async fn describe(&self, name: &TableName) -> Result<TableDescriptor> {
        on!(self, inner => inner.describe(name).await)
    }

    pub(crate) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        on!(self, inner => inner.table_state(name).await)
    }

    pub(crate) async fn create_table(
        &self,
        descriptor: TableDescriptor,
        splits: Vec<Bytes>,
    ) -> Result<()> {
        on!(self, inner => inner.create_table(descriptor, splits).await)
    }

    /// Declares a table anew, as all of the descriptor says.
    pub(crate) async fn modify_table(&self, descriptor: TableDescriptor) -> Result<()> {
        on!(self, inner => inner.modify_table(descriptor).await)
    }

    pub(crate) async fn enable_table(&self, name: &TableName) -> Result<()> {
        on!(self, inner => inner.enable_table(name).await)
    }

    pub(crate) async fn disable_table(&self, name: &TableName) -> Result<()> {
        on!(self, inner => inner.disable_table(name).await)
    }

    pub(crate) async fn drop_table(&self, name: &TableName) -> Result<()> {
        on!(self, inner => inner.drop_table(name).await)
    }

    pub(crate) async fn namespaces(&self) -> Result<Vec<Namespace>> {
        on!(self, inner => inner.namespaces().await)
    }

    pub(crate) async fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        on!(self, inner => inner.create_namespace(namespace).await)
    }

    pub(crate) async fn drop_namespace(&self, name: &str) -> Result<()> {
        on!(self, inner => inner.drop_namespace(name).await)
    }

    pub(crate) async fn flush(&self, name: &TableName) -> Result<()> {
        on!(self, inner => inner.flush(name).await)
    }

    pub(crate) async fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        on!(self, inner => inner.regions(table).await)
    }

    pub(crate) async fn get(&self, table: &TableName, get: &Get) -> Result<Row> {
        on!(self, inner => inner.get(table, get).await)
    }

    pub(crate) async fn mutate(
        &self,
        table: &TableName,
        mutation: Mutation,
    ) -> Result<MutationOutcome> {
        on!(self, inner => inner.mutate(table, mutation).await)
    }

    /// Writes a row that is not there; whether it was not.
    pub(crate) async fn insert(&self, table: &TableName, put: Put) -> Result<bool> {
        on!(self, inner => inner.insert(table, put).await)
    }

    pub(crate) async fn batch(
        &self,
        table: &TableName,
        mutations: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        on!(self, inner => inner.batch(table, mutations).await)
    }

    pub(crate) async fn scan(&self, table: &TableName, scan: Scan) -> Result<Rows> {
        Ok(Rows::new(match self {
            Self::Embedded(inner) => Source::Embedded(inner.scan(table, scan).await?),
            Self::Cluster(inner) => Source::Cluster(inner.scan(table, scan)),
        }))
    }

    pub(crate) async fn close(&self) -> Result<()> {
        on!(self, inner => inner.close().await)
    }
}
