//! A cluster, reached through HBase's protocol.
//!
//! The client is not part of this build yet: both ways to reach a cluster are refused, and since
//! there is no connection, none of its calls can be made.

use rowhouse_model::{
    Bytes, Error, Get, Mutation, MutationOutcome, Namespace, Result, Row, Scan, TableDescriptor,
    TableName, TableState,
};

/// A connection to a cluster; there is none yet.
pub(crate) enum Cluster {}

/// The rows of a scan of a cluster.
pub(crate) enum ClusterRows {}

impl Cluster {
    pub(super) async fn connect(servers: Vec<(String, u16)>) -> Result<Self> {
        Err(not_built_in("hbase://", &servers))
    }

    pub(super) async fn discover(servers: Vec<(String, u16)>, znode: String) -> Result<Self> {
        let _ = znode;
        Err(not_built_in("hbase+zk://", &servers))
    }

    pub(super) async fn cluster_id(&self) -> Result<String> {
        match *self {}
    }

    pub(super) async fn tables(&self) -> Result<Vec<TableName>> {
        match *self {}
    }

    pub(super) async fn describe(&self, _: &TableName) -> Result<TableDescriptor> {
        match *self {}
    }

    pub(super) async fn table_state(&self, _: &TableName) -> Result<TableState> {
        match *self {}
    }

    pub(super) async fn create_table(&self, _: TableDescriptor, _: Vec<Bytes>) -> Result<()> {
        match *self {}
    }

    pub(super) async fn enable_table(&self, _: &TableName) -> Result<()> {
        match *self {}
    }

    pub(super) async fn disable_table(&self, _: &TableName) -> Result<()> {
        match *self {}
    }

    pub(super) async fn drop_table(&self, _: &TableName) -> Result<()> {
        match *self {}
    }

    pub(super) async fn namespaces(&self) -> Result<Vec<Namespace>> {
        match *self {}
    }

    pub(super) async fn create_namespace(&self, _: Namespace) -> Result<()> {
        match *self {}
    }

    pub(super) async fn drop_namespace(&self, _: &str) -> Result<()> {
        match *self {}
    }

    pub(super) async fn flush(&self, _: &TableName) -> Result<()> {
        match *self {}
    }

    pub(super) async fn get(&self, _: &TableName, _: &Get) -> Result<Row> {
        match *self {}
    }

    pub(super) async fn mutate(&self, _: &TableName, _: Mutation) -> Result<MutationOutcome> {
        match *self {}
    }

    pub(super) async fn batch(
        &self,
        _: &TableName,
        _: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        match *self {}
    }

    pub(super) async fn scan(&self, _: &TableName, _: Scan) -> Result<ClusterRows> {
        match *self {}
    }

    pub(super) async fn close(&self) -> Result<()> {
        match *self {}
    }
}

impl ClusterRows {
    pub(crate) async fn next(&mut self) -> Result<Option<Row>> {
        match *self {}
    }
}

fn not_built_in(scheme: &str, servers: &[(String, u16)]) -> Error {
    let servers: Vec<String> =
        servers.iter().map(|(host, port)| format!("{host}:{port}")).collect();
    Error::unsupported(format!(
        "the client for clusters is not built in yet: url={scheme}{}",
        servers.join(",")
    ))
}
