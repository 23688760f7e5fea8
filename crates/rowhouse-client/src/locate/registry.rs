//! Finds a cluster: the id, the active master, and the server that holds `hbase:meta`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rowhouse_format::convert::{names, region};
use rowhouse_format::proto;
use rowhouse_format::rpc::Call;
use rowhouse_model::{Error, ErrorKind};
use tokio::time::{Instant, timeout_at};

use super::zookeeper::Ensemble;
use crate::connection::{Address, CallRequest, Connections};
use crate::retry::Failure;
use crate::{Place, Settings, Target};

/// Where this information comes from.
pub(super) enum Registry {
    /// Cluster servers, over RPC.
    Servers(Servers),
    /// ZooKeeper.
    ZooKeeper(Ensemble),
}

impl Registry {
    pub(super) fn new(
        target: &Target,
        connections: Arc<Connections>,
        settings: Arc<Settings>,
    ) -> Self {
        let addresses = |servers: &[(String, u16)]| {
            servers.iter().map(|(host, port)| Address { host: host.clone(), port: *port }).collect()
        };
        match &target.place {
            Place::Servers(servers) => Self::Servers(Servers {
                addresses: addresses(servers),
                connections,
                first: AtomicUsize::new(0),
            }),
            Place::ZooKeeper { servers, znode } => {
                Self::ZooKeeper(Ensemble::new(addresses(servers), znode.clone(), settings))
            }
        }
    }

    pub(super) async fn cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        let id = match self {
            Self::Servers(servers) => {
                servers.call(proto::GetClusterIdRequest {}, deadline).await?.cluster_id
            }
            Self::ZooKeeper(ensemble) => ensemble.cluster_id(deadline).await?,
        };
        id.ok_or_else(|| not_ready("the cluster has no id yet"))
    }

    /// Returns the cluster id that is announced to everybody, before a user is proved.
    pub(super) async fn announced_cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        match self {
            Self::Servers(servers) => servers.announced_cluster_id(deadline).await,
            Self::ZooKeeper(_) => self.cluster_id(deadline).await,
        }
    }

    pub(super) async fn active_master(&self, deadline: Instant) -> Result<Address, Failure> {
        let master = match self {
            Self::Servers(servers) => {
                let answer = servers.call(proto::GetActiveMasterRequest {}, deadline).await?;
                let master = answer.server_name.map(names::server_from_proto).transpose();
                master.map_err(Failure::unknown)?
            }
            Self::ZooKeeper(ensemble) => ensemble.active_master(deadline).await?,
        };
        let master = master.ok_or_else(|| not_ready("the cluster has no active master"))?;
        Ok(Address::from(&master))
    }

    pub(super) async fn meta_server(&self, deadline: Instant) -> Result<Address, Failure> {
        let server = match self {
            Self::Servers(servers) => {
                let message = proto::GetMetaRegionLocationsRequest {};
                let locations = servers.call(message, deadline).await?.meta_locations;
                // Replicas of hbase:meta are not used.
                let location =
                    locations.into_iter().find(|location| location.region_info.replica_id() == 0);
                let location = location.map(region::location_from_proto).transpose();
                location.map_err(Failure::unknown)?.and_then(|(_, server)| server)
            }
            Self::ZooKeeper(ensemble) => ensemble.meta_server(deadline).await?,
        };
        let server = server.ok_or_else(|| not_ready("hbase:meta is not assigned"))?;
        Ok(Address::from(&server))
    }
}

fn not_ready(message: &str) -> Failure {
    Failure::before(Error::new(ErrorKind::ServerNotRunning, message))
}

/// Servers that are tried one after the other, starting with the one that answered last.
pub(super) struct Servers {
    addresses: Vec<Address>,
    connections: Arc<Connections>,
    first: AtomicUsize,
}

impl Servers {
    async fn call<M: Call + Clone>(
        &self,
        message: M,
        deadline: Instant,
    ) -> Result<M::Answer, Failure> {
        let call = |address: Address, deadline| {
            let message = message.clone();
            async move {
                let request = CallRequest { message, cells: &[], is_meta_call: false, deadline };
                Ok(self.connections.call(&address, request).await?.0)
            }
        };
        self.first_answer(deadline, call).await
    }

    /// Returns the cluster id that a server announces to everybody.
    async fn announced_cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        let announced = |address: Address, deadline| async move {
            let announced = self.connections.announced_cluster_id(&address);
            let late = |_| Error::new(ErrorKind::Timeout, format!("no response: {address}"));
            let id = timeout_at(deadline, announced).await.map_err(late);
            id.flatten().map_err(Failure::before)
        };
        self.first_answer(deadline, announced).await
    }

    /// Returns the first server's answer, or the last failure.
    async fn first_answer<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        deadline: Instant,
        request: impl Fn(Address, Instant) -> F,
    ) -> Result<T, Failure> {
        let count = self.addresses.len();
        let first = self.first.load(Ordering::Relaxed);
        let mut failed: Option<Failure> = None;
        for at in (0..count).map(|step| (first + step) % count) {
            // Each server gets a share of the remaining time.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(count).unwrap_or(1);
            let deadline = if count == 1 { deadline } else { Instant::now() + share };
            match request(self.addresses[at].clone(), deadline).await {
                Ok(answer) => {
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(failure) => {
                    tracing::debug!(address = %self.addresses[at], error = %failure.error, "no response");
                    failed = Some(failure);
                }
            }
        }
        Err(failed.unwrap_or_else(|| Failure::before(Error::invalid("no address of the cluster"))))
    }
}
