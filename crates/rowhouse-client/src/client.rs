//! The client: one per cluster, cloned to wherever it is needed.

use rowhouse_model::{Error, Result, TableName};

use crate::{Admin, Settings, Table, Target};

/// A client of a cluster. Clones share its connections and what it knows of regions; dropping the
/// last one closes the connections.
#[derive(Clone)]
pub struct Client {}

impl Client {
    /// Finds the cluster and asks for its id. Connections to its servers are made when they are
    /// first needed, and made again when they break.
    ///
    /// # Errors
    /// `Connection` or `Timeout` when no address of `target` answers.
    pub async fn connect(target: &Target) -> Result<Self> {
        Self::connect_with(target, Settings::default()).await
    }

    /// As [`Client::connect`], with other limits than the default ones.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_with(target: &Target, _settings: Settings) -> Result<Self> {
        Err(Error::unsupported(format!("the client is not finished yet: url={target}")))
    }

    /// The cluster's id: a UUID as text, the same for as long as the cluster's data.
    pub fn cluster_id(&self) -> &str {
        ""
    }

    /// A table by name. Nothing is asked of the cluster: a table that does not exist shows when it
    /// is used.
    pub fn table(&self, name: &TableName) -> Table {
        Table { client: self.clone(), name: name.clone() }
    }

    /// Tables, namespaces and the cluster itself.
    pub fn admin(&self) -> Admin {
        Admin { client: self.clone() }
    }
}
