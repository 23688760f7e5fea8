//! Tables, namespaces and the cluster itself.

use rowhouse_model::{
    Bytes, Error, Namespace, Result, ServerName, TableDescriptor, TableName, TableState,
};

use crate::Client;

/// What is asked of the cluster's master; cheap to clone. Calls that change something return when
/// it is done.
#[derive(Clone)]
pub struct Admin {
    pub(crate) client: Client,
}

/// What a cluster says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The version of the server software, as it prints it.
    pub version: String,
    /// The cluster's id.
    pub cluster_id: String,
    /// The active master.
    pub master: Option<ServerName>,
    /// Masters that wait to become active.
    pub backup_masters: Vec<ServerName>,
    /// Region servers that are alive.
    pub live_servers: Vec<ServerName>,
    /// Region servers that are known to be dead.
    pub dead_servers: Vec<ServerName>,
    /// Regions on their way from one server to another.
    pub regions_in_transition: usize,
    /// Whether the balancer moves regions.
    pub balancer_on: bool,
}

impl Admin {
    /// Creates a table, split at `splits` (the start keys of all regions but the first), and waits
    /// until it takes reads and writes.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, `InvalidRequest`.
    pub async fn create_table(&self, _: &TableDescriptor, _splits: &[Bytes]) -> Result<()> {
        Err(self.unfinished())
    }

    /// Drops a disabled table and its data.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn delete_table(&self, _: &TableName) -> Result<()> {
        Err(self.unfinished())
    }

    /// Takes a table out of service.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn disable_table(&self, _: &TableName) -> Result<()> {
        Err(self.unfinished())
    }

    /// Takes a disabled table into service again.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn enable_table(&self, _: &TableName) -> Result<()> {
        Err(self.unfinished())
    }

    /// Writes the table's memstores to files.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn flush_table(&self, _: &TableName) -> Result<()> {
        Err(self.unfinished())
    }

    /// The names of all tables but HBase's own, sorted.
    ///
    /// # Errors
    /// What is left when repeating did not help.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        Err(self.unfinished())
    }

    /// The names of the tables in a namespace, sorted.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn tables_in(&self, _namespace: &str) -> Result<Vec<TableName>> {
        Err(self.unfinished())
    }

    /// All tables but HBase's own, as declared, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn descriptors(&self) -> Result<Vec<TableDescriptor>> {
        Err(self.unfinished())
    }

    /// A table as declared.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn descriptor(&self, _: &TableName) -> Result<TableDescriptor> {
        Err(self.unfinished())
    }

    /// Whether there is such a table.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn table_exists(&self, _: &TableName) -> Result<bool> {
        Err(self.unfinished())
    }

    /// Whether a table takes reads and writes. One on its way from one state to the other does
    /// not.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(&self, _: &TableName) -> Result<TableState> {
        Err(self.unfinished())
    }

    /// Whether a table is enabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_enabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Enabled)
    }

    /// Whether a table is disabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_disabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Disabled)
    }

    /// All namespaces, HBase's own included, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn namespaces(&self) -> Result<Vec<Namespace>> {
        Err(self.unfinished())
    }

    /// A namespace by name.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn namespace(&self, _name: &str) -> Result<Namespace> {
        Err(self.unfinished())
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub async fn create_namespace(&self, _: &Namespace) -> Result<()> {
        Err(self.unfinished())
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`, `NamespaceConstraint` while it has tables.
    pub async fn delete_namespace(&self, _name: &str) -> Result<()> {
        Err(self.unfinished())
    }

    /// What the cluster says about itself.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn cluster_status(&self) -> Result<ClusterStatus> {
        Err(self.unfinished())
    }

    fn unfinished(&self) -> Error {
        let _ = &self.client;
        Error::unsupported("the client is not finished yet")
    }
}
