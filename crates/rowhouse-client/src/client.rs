//! The client: one per cluster, cloned to wherever it is needed.

use std::sync::Arc;

use rowhouse_format::convert::mutate::Nonce;
use rowhouse_format::rpc::{Call, CellReader};
use rowhouse_model::{Cell, Error, ErrorKind, Get, Result, TableName, TableState};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::connection::{Connections, Question};
use crate::locate::{Located, Locator, RegionTarget, table_state};
use crate::retry::{Attempts, Failure};
use crate::{Admin, Settings, Table, Target};

/// A client of a cluster. Clones share its connections and what it knows of regions; dropping the
/// last one, with every [`Table`] and [`crate::Scanner`] made from it, closes the connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Arc<Settings>,
    cluster_id: String,
    connections: Arc<Connections>,
    locator: Locator,
    /// Tells this client's nonces from those of others.
    nonce_group: u64,
}

impl Client {
    /// Finds the cluster and asks for its id. Connections to its servers are made when they are
    /// first needed, and made again when they break.
    ///
    /// # Errors
    /// `Connection` or `Timeout` when no address of `target` answers. There is no repetition: an
    /// address that is wrong shows at once.
    pub async fn connect(target: &Target) -> Result<Self> {
        Self::connect_with(target, Settings::default()).await
    }

    /// As [`Client::connect`], with other limits than the default ones.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_with(target: &Target, settings: Settings) -> Result<Self> {
        let settings = Arc::new(settings);
        let connections = Arc::new(Connections::new(settings.clone()));
        let locator = Locator::new(target, connections.clone(), settings.clone());
        let deadline = Attempts::new(&settings).deadline();
        let cluster_id = locator.cluster_id(deadline).await.map_err(|failure| failure.error)?;
        let nonce_group = random();
        let shared = Shared { settings, cluster_id, connections, locator, nonce_group };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The cluster's id: a UUID as text, the same for as long as the cluster's data.
    pub fn cluster_id(&self) -> &str {
        &self.shared.cluster_id
    }

    /// The limits of this client.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
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

    pub(crate) fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    pub(crate) fn locator(&self) -> &Locator {
        &self.shared.locator
    }

    /// A name for a change that must count once.
    pub(crate) fn nonce(&self) -> Nonce {
        Nonce { group: self.shared.nonce_group, number: random() }
    }

    /// Asks the region that has `row` until it answers.
    pub(crate) async fn call_row<M: Call>(
        &self,
        table: &TableName,
        row: &[u8],
        repeatable: bool,
        build: impl Fn(&Located) -> Result<(M, Vec<Cell>)> + Send + Sync,
    ) -> Result<(M::Answer, CellReader)> {
        let read = |answer, cells| Ok((answer, cells));
        self.call_row_reading(table, row, repeatable, build, read).await
    }

    /// As [`Client::call_row`], of an answer in which `read` may find that the region refused.
    pub(crate) async fn call_row_reading<M: Call, T>(
        &self,
        table: &TableName,
        row: &[u8],
        repeatable: bool,
        build: impl Fn(&Located) -> Result<(M, Vec<Cell>)> + Send + Sync,
        read: impl Fn(M::Answer, CellReader) -> Result<T, Failure> + Send + Sync,
    ) -> Result<T> {
        let mut attempts = Attempts::new(&self.shared.settings);
        let mut state_checked = false;
        loop {
            let deadline = attempts.deadline();
            let failure = match self.locator().locate(table, RegionTarget::Row(row), deadline).await
            {
                Err(failure) => failure,
                Ok(located) => {
                    let (message, cells) = build(&located)?;
                    let about_meta = located.is_meta();
                    let question = Question { message, cells: &cells, about_meta, deadline };
                    let answered = self.connections().call(&located.server, question).await;
                    match answered.and_then(|(answer, cells)| read(answer, cells)) {
                        Ok(answer) => return Ok(answer),
                        Err(failure) => {
                            self.locator().forget(&located, &failure).await;
                            failure
                        }
                    }
                }
            };
            self.refuse_disabled(table, &failure, &mut state_checked, attempts.end()).await?;
            attempts.wait(failure, repeatable).await?;
        }
    }

    /// Where a region is not served, finds out whether that is because its table is disabled, as
    /// stock clients do. Asks once for each `checked`.
    ///
    /// # Errors
    /// `TableNotEnabled` if it is, `TableNotFound` if the table is gone.
    pub(crate) async fn refuse_disabled(
        &self,
        table: &TableName,
        failure: &Failure,
        checked: &mut bool,
        end: Instant,
    ) -> Result<()> {
        if failure.error.kind() != ErrorKind::NotServingRegion || *checked {
            return Ok(());
        }
        *checked = true;
        let error = match timeout_at(end, self.table_state(table)).await {
            Ok(Ok(Some(TableState::Disabled))) => {
                Error::new(ErrorKind::TableNotEnabled, format!("{table} is disabled."))
            }
            Ok(Ok(None)) => Error::new(ErrorKind::TableNotFound, table.to_string()),
            // Whoever cannot be asked is asked again with the region.
            Ok(Ok(Some(TableState::Enabled)) | Err(_)) | Err(_) => return Ok(()),
        };
        self.locator().forget_table(table);
        Err(error)
    }

    /// Whether a table is enabled, by `hbase:meta`; `None` if there is no such table.
    pub(crate) async fn table_state(&self, table: &TableName) -> Result<Option<TableState>> {
        if *table == TableName::meta() {
            return Ok(Some(TableState::Enabled));
        }
        let get = Get::new(table.to_string())?.column("table", "state");
        // A get of hbase:meta is never refused for a disabled table, so this goes one deep.
        let row = Box::pin(self.table(&TableName::meta()).get(&get)).await?;
        table_state(&row)
    }
}

/// A random number other than 0, which stands for no nonce.
fn random() -> u64 {
    Uuid::new_v4().as_u64_pair().1
}
