//! Starts and stops the server: the store, the two ports and their tasks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rowhouse_format::rpc::FRAME_LEN_MAX;
use rowhouse_model::{Error, ErrorKind, Result, ServerName};
use rowhouse_store::Store;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::backups::Backups;
use crate::bulk_loads::BulkLoads;
use crate::cluster::{Cluster, RegionServer};
use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_WAITING_MAX, FRAME_SLACK_BYTES, SCANNER_LEASE,
    SCANNER_MEMORY_WAIT, STOP_WAIT, WORKERS_MAX,
};
use crate::{Options, connection, descriptors, zookeeper};

/// A running server.
pub struct Server {
    cluster: Arc<Cluster>,
    address: String,
    zookeeper: SocketAddr,
    web: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    stop_request: Arc<StopRequest>,
    tasks: JoinSet<()>,
}

/// Interval between two checks whether a backup has ended.
const BACKUP_LOOK: Duration = Duration::from_millis(20);

/// The state shared by all connections.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) cluster: Arc<Cluster>,
    /// The region server that listens on the connection's port.
    pub(crate) server: Arc<RegionServer>,
    /// Becomes `true` when the server stops.
    pub(crate) stop: watch::Receiver<bool>,
    /// Permits for worker threads.
    pub(crate) workers: Arc<Semaphore>,
    /// Maximum bytes of a call.
    pub(crate) frame_len_max: usize,
    /// The bulk loads of clients.
    pub(crate) bulk_loads: Arc<BulkLoads>,
    /// The nodes that ZooKeeper clients read.
    pub(crate) nodes: Arc<zookeeper::Nodes>,
    /// Lets clients stop the server.
    pub(crate) stop_request: Arc<StopRequest>,
}

/// A client's request to stop the server, honored only if permitted.
pub(crate) struct StopRequest {
    allowed: bool,
    asked: Notify,
}

impl StopRequest {
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
    /// `InvalidRequest` for an invalid address; the errors of [`Store::open`].
    pub async fn start(options: Options) -> Result<Self> {
        // Bind the ports first: a server that cannot bind them then creates no store.
        let advertise = options.advertise.as_deref().map(advertised).transpose()?;
        let rpc = bind(&options.listen, "--listen").await?;
        let zookeeper = bind(&options.zookeeper, "--zookeeper").await?;
        let web = match &options.web {
            Some(address) => Some(bind(address, "--web").await?),
            None => None,
        };
        let listen = local_address(&rpc)?;
        let (host, port) = match advertise {
            Some(advertised) => advertised,
            None if listen.ip().is_unspecified() => {
                return Err(Error::invalid(format!(
                    "clients cannot be told to connect to {listen}: give --advertise HOST:PORT"
                )));
            }
            None => (listen.ip().to_string(), listen.port()),
        };
        descriptors::raise(descriptors_wanted(options.settings.open_files_max));
        if let Some(dir) = options.backups.as_ref().filter(|dir| !dir.is_dir()) {
            let message = format!("--backups: there is no such directory: {}", dir.display());
            return Err(Error::invalid(message));
        }
        let backups = Backups::new(options.backups.clone());
        let builder = Store::builder(&options.data).settings(options.settings.clone());
        let store = tokio::task::spawn_blocking(|| builder.open())
            .await
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))??;
        let address = format!("{host}:{port}");
        store.set_address(&address)?;
        let start_code = start_code();
        let bulk_loads = Arc::new(BulkLoads::begin(&options.data, start_code)?);
        let name = ServerName { host, port, start_code };
        let slow = (options.slow_call, options.large_answer_bytes);
        let cluster = Arc::new(Cluster::new(store, vec![name], backups, slow));
        let stop_request =
            Arc::new(StopRequest { allowed: options.allow_shutdown, asked: Notify::new() });
        let (stop, stopping) = watch::channel(false);
        let mut server = Self {
            address,
            zookeeper: local_address(&zookeeper)?,
            web: web.as_ref().map(local_address).transpose()?,
            cluster: Arc::clone(&cluster),
            stop,
            stop_request: Arc::clone(&stop_request),
            tasks: JoinSet::new(),
        };
        let context = Context {
            server: Arc::clone(&cluster.region_servers()[0]),
            bulk_loads,
            nodes: Arc::new(zookeeper::Nodes::new(Arc::clone(&cluster))?),
            cluster,
            stop_request,
            stop: stopping,
            workers: Arc::new(Semaphore::new(WORKERS_MAX)),
            // Fits the largest mutation and its surrounding message.
            frame_len_max: FRAME_LEN_MAX
                .max(options.settings.mutation_bytes_max + FRAME_SLACK_BYTES),
        };
        server.tasks.spawn(accept(rpc, CONNECTIONS_MAX, context.clone(), connection::serve));
        server.tasks.spawn(accept(zookeeper, CONNECTIONS_MAX, context.clone(), zookeeper::serve));
        server.serve_web(web, &context)?;
        server.tasks.spawn(expire_scanners(context));
        tracing::info!(address = server.address, zookeeper = %server.zookeeper, "serving");
        Ok(server)
    }

    /// Returns the address announced to clients.
    pub fn address(&self) -> &str {
        &self.address
    }

    #[cfg(feature = "web")]
    fn serve_web(&mut self, listener: Option<TcpListener>, context: &Context) -> Result<()> {
        if let Some(listener) = listener {
            let address = local_address(&listener)?;
            tracing::info!(%address, "serving metrics");
            context.server.web_port.get_or_init(|| address.port());
            let max = crate::limits::WEB_CONNECTIONS_MAX;
            self.tasks.spawn(accept(listener, max, context.clone(), crate::web::serve));
        }
        Ok(())
    }

    #[cfg(not(feature = "web"))]
    fn serve_web(&mut self, listener: Option<TcpListener>, _: &Context) -> Result<()> {
        match listener {
            None => Ok(()),
            Some(_) => Err(Error::unsupported("this server was built without the feature `web`")),
        }
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
        self.stop_request.asked.notified().await;
    }

    /// Stops the server: refuses new calls, finishes calls under way, syncs the log.
    pub async fn stop(mut self) -> Result<()> {
        tracing::info!("stopping");
        // Sending fails only if every task has already ended.
        let _ = self.stop.send(true);
        // Close the store immediately, so that calls waiting for memory or files stop waiting.
        // Writes under way finish and their answers are sent.
        let store = self.cluster.store.clone();
        let closed = tokio::task::spawn_blocking(move || store.close());
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            tracing::warn!("calls still under way were abandoned");
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
            tracing::warn!("a backup still under way was abandoned");
        }
        closed
    }
}

/// Returns the descriptors needed for both ports, the store's files, its log and the process
/// itself.
fn descriptors_wanted(open_files_max: usize) -> u64 {
    (2 * CONNECTIONS_MAX + open_files_max + 128) as u64
}

/// Accepts connections until the server stops, then waits for them to end.
async fn accept<F, S>(listener: TcpListener, connections_max: usize, mut context: Context, serve: S)
where
    S: Fn(TcpStream, SocketAddr, Context) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while !*context.stop.borrow() {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((_, peer)) if connections.len() >= connections_max => {
                    tracing::warn!(%peer, max = connections_max, "too many connections, closed");
                }
                Ok((stream, peer)) => {
                    // Send small answers immediately: disable Nagle's algorithm.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream, peer, context.clone()));
                }
                Err(error) => {
                    // File descriptors may have run out; wait before the next attempt.
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(ended) = connections.join_next() => report(ended),
            _ = context.stop.changed() => break,
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

async fn expire_scanners(mut context: Context) {
    let mut ticks = tokio::time::interval(SCANNER_LEASE / 6);
    let mut memory_ticks = tokio::time::interval(SCANNER_MEMORY_WAIT);
    memory_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = memory_ticks.tick() => free_scanned_memory(&context.cluster).await,
            _ = ticks.tick() => {
                for server in context.cluster.region_servers() {
                    server.scanners.expire(Instant::now());
                }
            }
            _ = context.stop.changed() => return,
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
        Ok(bytes) => tracing::debug!(bytes, "open scanners keep flushed memory"),
        Err(error) => tracing::error!(%error, "scanners that wait were not looked at"),
    }
}

/// Parses the address announced to clients.
fn advertised(address: &str) -> Result<(String, u16)> {
    let (host, port) = parse(address, "--advertise")?;
    if port == 0 {
        let message = format!("--advertise: clients cannot connect to port 0: {address}");
        return Err(Error::invalid(message));
    }
    Ok((host, port))
}

fn parse(address: &str, flag: &str) -> Result<(String, u16)> {
    ServerName::parse_address(address).map_err(|error| error.with_context(flag))
}

async fn bind(address: &str, flag: &str) -> Result<TcpListener> {
    parse(address, flag)?;
    listen(address).await.map_err(|source| {
        if source.kind() == std::io::ErrorKind::AddrInUse {
            let message =
                format!("address {address} is in use already: choose another with {flag}");
            return Error::new(ErrorKind::InUse, message).with_source(source);
        }
        Error::io(format_args!("cannot listen on {address} ({flag})"), source)
    })
}

/// As [`TcpListener::bind`], with a backlog for a burst of clients. When the standard library's
/// backlog of 128 is full, the next connection waits one second, and longer with each retry.
async fn listen(address: &str) -> std::io::Result<TcpListener> {
    let mut failed = None;
    for address in tokio::net::lookup_host(address).await? {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // `SO_REUSEADDR` has a different meaning on Windows.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(CONNECTIONS_WAITING_MAX)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into()))
}

fn local_address(listener: &TcpListener) -> Result<SocketAddr> {
    listener.local_addr().map_err(|source| Error::io("cannot tell the port", source))
}

/// Returns a start code that differs from that of the server's last run.
fn start_code() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(1)
}
