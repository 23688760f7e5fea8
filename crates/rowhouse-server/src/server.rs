//! Starts and stops the server: the store, the two ports and their tasks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rowhouse_model::{Error, ErrorKind, Result, ServerName};
use rowhouse_search::SearchEngine;
use rowhouse_store::Store;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::cluster::Cluster;
use crate::limits::{CONNECTIONS_MAX, SCANNER_LEASE, SCANNER_MEMORY_WAIT, STOP_WAIT};
use crate::ports::{Ports, bind, local_address};
use crate::region_server::RegionServer;
use crate::{Options, connection, descriptors, zookeeper};

/// A running server.
pub struct Server {
    cluster: Arc<Cluster>,
    search: Arc<SearchEngine>,
    address: String,
    zookeeper: SocketAddr,
    web: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Interval between two checks whether a backup has ended.
const BACKUP_LOOK: Duration = Duration::from_millis(20);

/// What the calls to a region server share.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) cluster: Arc<Cluster>,
    /// The region server that listens on the connection's port.
    pub(crate) server: Arc<RegionServer>,
    /// Becomes `true` when the server stops.
    pub(crate) stop: watch::Receiver<bool>,
}

/// A client's request to stop the server, honored only if permitted.
pub(crate) struct StopRequest {
    allowed: bool,
    asked: Notify,
}

impl StopRequest {
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed, asked: Notify::new() }
    }

    /// Signals [`Server::stop_requested`].
    ///
    /// # Errors
    /// `Unsupported` unless the server was started with permission for clients to stop it.
    pub(crate) fn ask(&self, method: &'static str, reason: &str) -> Result<()> {
        if !self.allowed {
            return Err(Error::unsupported(format!(
                "clients may not stop this server unless it is started with --allow-shutdown: call={method}"
            )));
        }
        tracing::info!(method, reason, "a client stops the server");
        self.asked.notify_one();
        Ok(())
    }
}

impl Server {
    /// Opens the store, binds the ports and starts serving.
    ///
    /// # Errors
    /// `InUse` with the directory or address if another process holds the data directory or a port;
    /// `InvalidRequest` for an invalid address; `Unsupported` for a web address without the feature
    /// `web`; the errors of [`Store::open`].
    pub async fn start(options: Options) -> Result<Self> {
        let ports = vec![Ports::bind(&options).await?];
        let zookeeper = bind(&options.zookeeper, "--zookeeper").await?;
        descriptors::raise(descriptors_wanted(ports.len(), options.settings.open_files_max));
        if let Some(dir) = options.backups.as_ref().filter(|dir| !dir.is_dir()) {
            let message = format!("--backups: there is no such directory: {}", dir.display());
            return Err(Error::invalid(message));
        }
        let builder = Store::builder(&options.data).settings(options.settings.clone());
        let store = tokio::task::spawn_blocking(|| builder.open())
            .await
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))??;
        let search = Arc::new(SearchEngine::start(&store)?);
        let start_code = start_code();
        let region_servers = (0..).zip(&ports).map(|(number, ports)| {
            let (host, port) = ports.announced.clone();
            let name = ServerName { host, port, start_code };
            let web_port = ports.web_address()?.map(|address| address.port());
            Ok(Arc::new(RegionServer::new(number, name, web_port, &options)))
        });
        let cluster = Cluster::new(store, region_servers.collect::<Result<_>>()?, &options)?;
        let cluster = Arc::new(cluster);
        let address = format!("{}:{}", cluster.master.host, cluster.master.port);
        cluster.store.set_address(&address)?;
        let nodes = Arc::new(zookeeper::Nodes::new(Arc::clone(&cluster))?);
        let (stop, stopping) = watch::channel(false);
        let mut server = Self {
            address,
            zookeeper: local_address(&zookeeper)?,
            web: ports[0].web_address()?,
            cluster: Arc::clone(&cluster),
            search,
            stop,
            tasks: JoinSet::new(),
        };
        for (ports, region_server) in ports.into_iter().zip(cluster.region_servers()) {
            let (cluster, region_server) = (Arc::clone(&cluster), Arc::clone(region_server));
            let context = Context { cluster, server: region_server, stop: stopping.clone() };
            server.serve(ports, context);
        }
        server.tasks.spawn(expire_scanners(cluster, stopping.clone()));
        let stop = stopping.clone();
        let serve =
            move |stream, peer| zookeeper::serve(stream, peer, Arc::clone(&nodes), stop.clone());
        server.tasks.spawn(accept(zookeeper, CONNECTIONS_MAX, stopping, serve));
        tracing::info!(address = server.address, zookeeper = %server.zookeeper, "serving");
        Ok(server)
    }

    /// Serves the ports of a region server.
    fn serve(&mut self, ports: Ports, context: Context) {
        let stop = context.stop.clone();
        #[cfg(feature = "web")]
        if let Some(listener) = ports.web {
            tracing::info!(port = context.server.web_port, "serving metrics");
            let (context, max) = (context.clone(), crate::limits::WEB_CONNECTIONS_MAX);
            let serve = move |stream, peer| crate::web::serve(stream, peer, context.clone());
            self.tasks.spawn(accept(listener, max, stop.clone(), serve));
        }
        let serve = move |stream, peer| connection::serve(stream, peer, context.clone());
        self.tasks.spawn(accept(ports.rpc, CONNECTIONS_MAX, stop, serve));
    }

    /// Returns the address announced to clients.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where metrics and health are served, if they are.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web
    }

    /// Returns the address of the ZooKeeper port.
    pub fn zookeeper(&self) -> SocketAddr {
        self.zookeeper
    }

    /// Returns once a client has asked to stop the server, which [`Options::allow_shutdown`]
    /// permits. The caller then calls [`Server::stop`].
    pub async fn stop_requested(&self) {
        self.cluster.stop_request.asked.notified().await;
    }

    /// Stops the server: refuses new calls, finishes calls under way, syncs the log.
    pub async fn stop(mut self) -> Result<()> {
        tracing::info!("stopping");
        // Sending fails only if every task has already ended.
        let _ = self.stop.send(true);
        // Close the store immediately, so that calls waiting for memory or files stop waiting.
        // Writes under way finish and their answers are sent.
        let (search, store) = (Arc::clone(&self.search), self.cluster.store.clone());
        let closed = tokio::task::spawn_blocking(move || {
            search.close();
            store.close()
        });
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            tracing::warn!("pending calls were abandoned");
            self.tasks.abort_all();
        }
        let closed = closed.await.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        // A backup being written removes its partial output; one being verified by reading it back
        // may continue.
        let ended = async {
            while self.cluster.backups.is_running() {
                tokio::time::sleep(BACKUP_LOOK).await;
            }
        };
        if tokio::time::timeout(STOP_WAIT, ended).await.is_err() {
            tracing::warn!("a running backup was abandoned");
        }
        closed
    }
}

/// Returns the descriptors needed for the RPC ports and ZooKeeper's, the store's files, its log and
/// the process itself.
fn descriptors_wanted(region_servers: usize, open_files_max: usize) -> u64 {
    ((region_servers + 1) * CONNECTIONS_MAX + open_files_max + 128) as u64
}

/// Accepts connections until the server stops, then waits for them to end.
async fn accept<F>(
    listener: TcpListener,
    connections_max: usize,
    mut stop: watch::Receiver<bool>,
    serve: impl Fn(TcpStream, SocketAddr) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while !*stop.borrow() {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((_, peer)) if connections.len() >= connections_max => {
                    tracing::warn!(%peer, max = connections_max, "too many connections, closed");
                }
                Ok((stream, peer)) => {
                    // Send small answers immediately: disable Nagle's algorithm.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream, peer));
                }
                Err(error) => {
                    // File descriptors may have run out; wait before the next attempt.
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(ended) = connections.join_next() => report(ended),
            _ = stop.changed() => break,
        }
    }
    drop(listener);
    while let Some(ended) = connections.join_next().await {
        report(ended);
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended in a panic");
    }
}

async fn expire_scanners(cluster: Arc<Cluster>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(SCANNER_LEASE / 6);
    let mut memory_ticks = tokio::time::interval(SCANNER_MEMORY_WAIT);
    memory_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = memory_ticks.tick() => free_scanned_memory(&cluster).await,
            _ = ticks.tick() => {
                for server in cluster.region_servers() {
                    server.scanners.expire(Instant::now());
                }
            }
            _ = stop.changed() => return,
        }
    }
}

/// Makes waiting scanners release flushed memstores, which may read from disk.
async fn free_scanned_memory(cluster: &Arc<Cluster>) {
    let cluster = Arc::clone(cluster);
    let follow = move || -> u64 {
        cluster.region_servers().iter().map(|server| server.scanners.follow_flushes()).sum()
    };
    match tokio::task::spawn_blocking(follow).await {
        Ok(0) => {}
        Ok(bytes) => tracing::debug!(bytes, "open scanners hold flushed memstores"),
        Err(error) => tracing::error!(%error, "idle scanners were not checked"),
    }
}

/// Returns a start code that differs from that of the server's last run.
fn start_code() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(1)
}
