//! The client: one per cluster, cheap to clone.

use std::sync::Arc;

use rowhouse_format::convert::mutate::Nonce;
use rowhouse_format::convert::{get, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Call, CellReader};
use rowhouse_model::{Cell, Error, ErrorKind, Get, Result, TableName, TableState};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::connection::{CallRequest, Connections};
use crate::locate::{Located, Locator, RegionTarget, explained, table_state};
use crate::retry::{Attempts, Failure};
use crate::transport::{Tokens, Transport};
use crate::{Settings, Target};

/// A client for a cluster. Clones share the connections and the region cache. Dropping the last
/// clone, and every [`crate::Table`] and [`crate::Scanner`] made from the client, closes the
/// connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Arc<Settings>,
    cluster_id: String,
    connections: Arc<Connections>,
    locator: Locator,
    /// Distinguishes this client's nonces from other clients' nonces.
    nonce_group: u64,
}

impl Client {
    /// Locates the cluster and reads its id. Connections to the servers are opened on first use and
    /// reopened after they break.
    ///
    /// # Errors
    /// `Connection` or `Timeout` if no address in `target` answers. There are no retries, so a
    /// wrong address is reported immediately. `InvalidRequest` for a cluster port that speaks
    /// another protocol than `target` means, for TLS files that are not PEM or do not belong
    /// together, and for a file without a token of this cluster; `Io` for unreadable ones;
    /// `AccessDenied` for a refused token; `Unsupported` for TLS without the feature `tls`, and for
    /// a token where the server does not announce the cluster id.
    pub async fn connect(target: &Target) -> Result<Self> {
        Self::connect_with(target, Settings::default()).await
    }

    /// As [`Client::connect`], with other settings.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_with(target: &Target, settings: Settings) -> Result<Self> {
        let settings = Arc::new(settings);
        let mut transport = Transport::new(target)?;
        let located = |transport: &Transport| {
            let connections = Arc::new(Connections::new(settings.clone(), transport.clone()));
            (Locator::new(target, connections.clone(), settings.clone()), connections)
        };
        let deadline = Attempts::new(&settings).deadline();
        if let Some(tokens) = Tokens::of(target)? {
            // A token goes to servers of its cluster alone.
            let id = located(&transport).0.announced_cluster_id(deadline).await;
            let id = match id {
                Ok(id) => id,
                Err(failure) => {
                    return Err(explained(target, &settings, &transport, failure.error).await);
                }
            };
            transport = transport.with_token(tokens.select(&id)?);
        }
        let (locator, connections) = located(&transport);
        let cluster_id = match locator.cluster_id(deadline).await {
            Ok(id) => id,
            Err(failure) => {
                return Err(explained(target, &settings, &transport, failure.error).await);
            }
        };
        let nonce_group = random();
        let shared = Shared { settings, cluster_id, connections, locator, nonce_group };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the cluster's id: a UUID as text that stays the same for the life of the cluster's
    /// data.
    pub fn cluster_id(&self) -> &str {
        &self.shared.cluster_id
    }

    /// Returns this client's settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    pub(crate) fn locator(&self) -> &Locator {
        &self.shared.locator
    }

    /// Returns a nonce for a mutation that must be applied only once.
    pub(crate) fn nonce(&self) -> Nonce {
        Nonce { group: self.shared.nonce_group, number: random() }
    }

    /// Calls the region that contains `row`, with retries.
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

    /// As [`Client::call_row`]; `read` may find in the answer that the region refused the call.
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
                    let is_meta_call = located.is_meta();
                    let request = CallRequest { message, cells: &cells, is_meta_call, deadline };
                    let answered = self.connections().call(&located.server, request).await;
                    match answered.and_then(|(answer, cells)| read(answer, cells)) {
                        Ok(answer) => return Ok(answer),
                        Err(failure) => {
                            self.locator().forget(&located, &failure);
                            failure
                        }
                    }
                }
            };
            self.refuse_disabled(table, &failure, &mut state_checked, attempts.end()).await?;
            attempts.wait(failure, repeatable).await?;
        }
    }

    /// If a region is not served, checks whether the table is disabled, as stock clients do; at
    /// most once per `checked`.
    ///
    /// # Errors
    /// `TableNotEnabled` if it is disabled, `TableNotFound` if it does not exist.
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
            // If the state cannot be read, it is read again with the next attempt.
            Ok(Ok(Some(TableState::Enabled)) | Err(_)) | Err(_) => return Ok(()),
        };
        self.locator().forget_table(table);
        Err(error)
    }

    /// Reads a table's state from `hbase:meta`; returns `None` for an unknown table.
    pub(crate) async fn table_state(&self, table: &TableName) -> Result<Option<TableState>> {
        if *table == TableName::meta() {
            return Ok(Some(TableState::Enabled));
        }
        let get = Get::new(table.to_string())?.column("table", "state");
        let build = |located: &Located| {
            let region = located.as_region_ref().to_proto();
            Ok((proto::GetRequest { region, get: get::to_proto(&get) }, Vec::new()))
        };
        let meta = TableName::meta();
        // This does not recurse further: hbase:meta itself is never disabled.
        let call = Box::pin(self.call_row(&meta, get.row(), true, build));
        let (answer, mut cells) = call.await?;
        let Some(result) = answer.result else { return Ok(None) };
        table_state(&result::from_proto(result, &mut cells)?.row)
    }
}

/// Returns a random number. It is never 0 (which stands for no nonce): a UUID's variant bits are
/// not 0.
fn random() -> u64 {
    Uuid::new_v4().as_u64_pair().1
}
