//! Starts and stops the server: the store, the two ports and their tasks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Columns, Error, ErrorKind, Result, ServerName, TableName};
use rowhouse_search::SearchEngine;
use rowhouse_store::{Additions, Observer, RowChange, Store, TableChange, check_observer_name};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::access::{Access, refuse_exposed, refuse_exposed_without_users};
use crate::cluster::Cluster;
use crate::context::Context;
use crate::limits::{
    CONNECTIONS_MAX, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, KEEPALIVE_TIME, SCANNER_LEASE,
    SCANNER_MEMORY_WAIT, STOP_WAIT, TLS_FILES_LOOK, USERS_FILE_LOOK,
};
use crate::listener::Listener;
use crate::ports::{Ports, RpcPort, bind, local_address, local_addresses};
use crate::region_server::{RegionServer, start_code};
use crate::{Options, balancer, connection, descriptors, zookeeper};

/// A running server.
pub struct Server {
    cluster: Arc<Cluster>,
    address: String,
    zookeeper: Option<SocketAddr>,
    web: Option<SocketAddr>,
    rest: Option<SocketAddr>,
    thrift: Option<SocketAddr>,
    stop: watch::Sender<bool>,
}

/// Interval between checks whether a backup has ended.
const BACKUP_LOOK: Duration = Duration::from_millis(20);

/// Opens a server with parts of a program: [`Server::builder`].
#[must_use = "nothing is served before `start`"]
pub struct ServerBuilder {
    options: Options,
    observers: Vec<(String, MakeObserver)>,
}

/// Makes an observer once the store is open.
type MakeObserver = Box<dyn FnOnce(&Store) -> Arc<dyn Observer> + Send>;

/// An observer under the name that the program gives it.
struct NamedObserver<O> {
    name: String,
    observer: O,
}

impl<O: Observer> Observer for NamedObserver<O> {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> Columns {
        self.observer.columns()
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()> {
        self.observer.row_changes(change, additions)
    }

    fn table_changes(&self, table: &TableName, change: TableChange) {
        self.observer.table_changes(table, change);
    }
}

impl ServerBuilder {
    /// Runs an observer for every table that names it in the attribute `rowhouse.observers` (`1
    /// audit`), which any client can set when it creates or alters a table. Without the observer,
    /// such a table is only read.
    ///
    /// `make` gets the store when it is open and no client is served yet. The observer may retain
    /// the handle until [`Server::stop`], to look up the tables to which it adds mutations.
    pub fn observer<O: Observer + 'static>(
        mut self,
        name: &str,
        make: impl FnOnce(&Store) -> O + Send + 'static,
    ) -> Self {
        let name = name.to_owned();
        let named = name.clone();
        let make = move |store: &Store| -> Arc<dyn Observer> {
            Arc::new(NamedObserver { name: named, observer: make(store) })
        };
        self.observers.push((name, Box::new(make)));
        self
    }

    /// As [`Server::start`].
    ///
    /// # Errors
    /// As [`Server::start`]; `InvalidRequest` for an observer whose name has other characters than
    /// ASCII letters, digits, `_`, `-` and `.`, or is given twice.
    pub async fn start(self) -> Result<Server> {
        Server::start_with(self.options, self.observers).await
    }
}

impl Server {
    /// Returns a builder, for a program that adds parts of its own: observers.
    ///
    /// ```no_run
    /// use rowhouse_server::observer::{Additions, Observer, RowChange};
    /// use rowhouse_server::{Options, Server};
    ///
    /// /// Refuses rows without a title.
    /// struct Titles;
    ///
    /// impl Observer for Titles {
    ///     fn columns(&self) -> rowhouse_model::Columns {
    ///         rowhouse_model::Columns::all()
    ///     }
    ///
    ///     fn row_changes(
    ///         &self,
    ///         change: &RowChange,
    ///         _: &mut Additions,
    ///     ) -> rowhouse_model::Result<()> {
    ///         if change.after.is_empty() || change.after.value("d", "title").is_some() {
    ///             return Ok(());
    ///         }
    ///         Err(rowhouse_model::Error::invalid("a post has a title"))
    ///     }
    /// }
    ///
    /// # async fn run() -> rowhouse_model::Result<()> {
    /// let server = Server::builder(Options::new("rowhouse-data"));
    /// let server = server.observer("titles", |_| Titles).start().await?;
    /// # server.stop().await
    /// # }
    /// ```
    pub fn builder(options: Options) -> ServerBuilder {
        ServerBuilder { options, observers: Vec::new() }
    }

    /// Opens the store, binds the ports and starts serving.
    ///
    /// # Errors
    /// `InUse` with the directory or address if another process holds the data directory or a port;
    /// `InvalidRequest` for an invalid address, and for one off loopback without TLS and a proof of
    /// users or [`Options::allow_unauthenticated`]; `Unsupported` for a port or a certificate whose
    /// feature was not built; errors as for [`Store::open`].
    pub async fn start(options: Options) -> Result<Self> {
        Self::start_with(options, Vec::new()).await
    }

    async fn start_with(options: Options, observers: Vec<(String, MakeObserver)>) -> Result<Self> {
        check_names(&observers)?;
        let mut access = Access::new(&options)?;
        let Ports { master, region_servers, web, rest, thrift } = Ports::bind(&options).await?;
        for port in std::iter::once(&master).chain(&region_servers) {
            for address in local_addresses(&port.listener)? {
                refuse_exposed(address, "--listen", &options)?;
            }
        }
        for (port, flag) in [(&web, "--web"), (&rest, "--rest")] {
            for address in port.iter().map(local_addresses).collect::<Result<Vec<_>>>()?.concat() {
                refuse_exposed(address, flag, &options)?;
            }
        }
        for address in thrift.iter().map(local_addresses).collect::<Result<Vec<_>>>()?.concat() {
            let user = options.thrift_user.as_deref();
            refuse_exposed_without_users(address, "--thrift", user, &options)?;
        }
        access.check_name(&master.announced.0);
        let zookeeper = match &options.zookeeper {
            Some(address) => Some(bind(address, "--zookeeper").await?),
            None => None,
        };
        let ports = region_servers.len() + 1;
        descriptors::raise(descriptors_required(ports, options.settings.open_files_max));
        if let Some(dir) = options.backups.as_ref().filter(|dir| !dir.is_dir()) {
            let message = format!("--backups: there is no such directory: {}", dir.display());
            return Err(Error::invalid(message));
        }
        let builder = Store::builder(&options.data).settings(options.settings.clone()).for_server();
        let store = tokio::task::spawn_blocking(|| builder.open())
            .await
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))??;
        access.users.open(&options.data)?;
        let search = Arc::new(SearchEngine::start(&store)?);
        let web_address = web.as_ref().map(local_address).transpose()?;
        let (cluster, listeners) =
            assemble((store, search), access, master, region_servers, web_address, &options)?;
        let cluster = Arc::new(cluster);
        let address = cluster.master.name.address();
        cluster.store.set_address(&address)?;
        for (_, make) in observers {
            // An observer may hold the store, which closes only with the server from here on.
            cluster.store.observe_named(make(&cluster.store))?;
        }
        let (stop, stopping) = watch::channel(false);
        let server = Self {
            address,
            zookeeper: zookeeper.as_ref().map(local_address).transpose()?,
            web: web_address,
            rest: rest.as_ref().map(local_address).transpose()?,
            thrift: thrift.as_ref().map(local_address).transpose()?,
            cluster: Arc::clone(&cluster),
            stop,
        };
        for (listener, region_server) in listeners {
            serve_rpc(&cluster, listener, &region_server);
        }
        #[cfg(feature = "web")]
        if let Some(listener) = web {
            tracing::info!(address = ?server.web, "serving web pages");
            serve_web(&cluster, listener);
        }
        #[cfg(feature = "rest")]
        if let Some(listener) = rest {
            tracing::info!(address = ?server.rest, "serving REST");
            serve_rest(&cluster, listener);
        }
        #[cfg(feature = "thrift")]
        if let Some(listener) = thrift {
            tracing::info!(address = ?server.thrift, "serving Thrift");
            serve_thrift(&cluster, listener);
        }
        let mut tasks = cluster.tasks.lock();
        tasks.spawn(expire_scanners(Arc::clone(&cluster), stopping.clone()));
        tasks.spawn(balancer::run(Arc::clone(&cluster), stopping.clone()));
        if cluster.access.has_tls() {
            tasks.spawn(reload_certificates(Arc::clone(&cluster), stopping.clone()));
        }
        if cluster.access.users.has_file() {
            tasks.spawn(reload_users(Arc::clone(&cluster), stopping.clone()));
        }
        if let Some(zookeeper) = zookeeper {
            let nodes = Arc::new(zookeeper::Nodes::new(Arc::clone(&cluster))?);
            let stop = stopping.clone();
            let serve = move |stream, peer| {
                zookeeper::serve(stream, peer, Arc::clone(&nodes), stop.clone())
            };
            tasks.spawn(accept(zookeeper, CONNECTIONS_MAX, stopping, serve));
        }
        drop(tasks);
        tracing::info!(address = server.address, zookeeper = ?server.zookeeper, "serving");
        Ok(server)
    }

    /// Returns the address announced to clients.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the running region servers' addresses, by number, as announced to clients.
    pub fn region_servers(&self) -> Vec<String> {
        let servers = self.cluster.region_servers();
        servers.iter().map(|it| it.name.address()).collect()
    }

    /// Returns how many calls each region server that runs has received since it started, by
    /// number.
    pub fn region_server_calls(&self) -> Vec<u64> {
        self.cluster.region_servers().iter().map(|server| server.requests.total()).collect()
    }

    /// Where metrics and health are served, if they are.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web
    }

    /// Returns the address for HBase's REST interface, if it is served.
    pub fn rest(&self) -> Option<SocketAddr> {
        self.rest
    }

    /// Returns the address for HBase's Thrift interface, if it is served.
    pub fn thrift(&self) -> Option<SocketAddr> {
        self.thrift
    }

    /// Returns the ZooKeeper port's address, if there is one.
    pub fn zookeeper(&self) -> Option<SocketAddr> {
        self.zookeeper
    }

    /// Returns true if the RPC and web ports accept TLS.
    pub fn has_tls(&self) -> bool {
        self.cluster.access.has_tls()
    }

    /// Reads the certificate files again, which the server also does when they change. Wrong ones
    /// are reported in the log, and the earlier ones stay.
    pub async fn reload_certificates(&self) {
        reload(&self.cluster, false).await;
    }

    /// Returns once a client has requested to stop the server, which [`Options::allow_shutdown`]
    /// permits. The caller then calls [`Server::stop`].
    pub async fn stop_requested(&self) {
        self.cluster.stop_request.requested().await;
    }

    /// Stops the server: refuses new calls, finishes calls under way, syncs the log.
    pub async fn stop(self) -> Result<()> {
        tracing::info!("stopping");
        // Sending fails only if every task has already ended.
        let _ = self.stop.send(true);
        self.cluster.ports().iter().for_each(|server| server.stop());
        // Close the store immediately, so that calls waiting for memory or files stop waiting.
        // Writes under way finish and their answers are sent.
        let cluster = Arc::clone(&self.cluster);
        cluster.searches.clear();
        let closed = tokio::task::spawn_blocking(move || {
            cluster.search.close();
            cluster.store.close()
        });
        let mut tasks = std::mem::take(&mut *self.cluster.tasks.lock());
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            tracing::warn!("pending calls were abandoned");
            tasks.abort_all();
        }
        let closed = closed.await.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        // A backup being written removes the partial output; one being verified by reading it back
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

/// Refuses names of observers that no table can give, and a name that is given twice.
fn check_names(observers: &[(String, MakeObserver)]) -> Result<()> {
    observers.iter().try_for_each(|(name, _)| check_observer_name(name))?;
    let mut names: Vec<&str> = observers.iter().map(|(name, _)| &name[..]).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::invalid(format!("two observers have one name: name={}", pair[0]))),
        None => Ok(()),
    }
}

/// A port, and the server that answers on it.
type Listening = (Listener, Arc<RegionServer>);

/// Returns the cluster for these ports, and each port's listener.
fn assemble(
    store: (Store, Arc<SearchEngine>),
    access: Access,
    master: RpcPort,
    region_servers: Vec<RpcPort>,
    web: Option<SocketAddr>,
    options: &Options,
) -> Result<(Cluster, Vec<Listening>)> {
    let start_code = start_code();
    let web_port = web.map(|address| address.port());
    let described = |port: &RpcPort| -> Result<_> {
        let (host, port_number) = port.announced.clone();
        let name = ServerName { host, port: port_number, start_code };
        Ok((name, (local_address(&port.listener)?.port(), web_port)))
    };
    let mut listeners = Vec::new();
    let (name, ports) = described(&master)?;
    let master_server = Arc::new(if region_servers.is_empty() {
        RegionServer::new(0, name, ports, options)
    } else {
        RegionServer::master(name, ports, options)
    });
    listeners.push((master.listener, Arc::clone(&master_server)));
    let mut servers = Vec::new();
    for (number, port) in (0..).zip(region_servers) {
        let (name, ports) = described(&port)?;
        let server = Arc::new(RegionServer::new(number, name, ports, options));
        servers.push(Arc::clone(&server));
        listeners.push((port.listener, server));
    }
    if servers.is_empty() {
        servers.push(Arc::clone(&master_server));
    }
    let cluster = Cluster::new(store, access, master_server, servers, serve_rpc, options)?;
    Ok((cluster, listeners))
}

/// Serves a region server's or the master's RPC port.
fn serve_rpc(cluster: &Arc<Cluster>, listener: Listener, server: &Arc<RegionServer>) {
    let context = Context::new(Arc::clone(cluster), Arc::clone(server));
    let stop = server.stopping();
    let serve = move |stream, peer| connection::serve(stream, peer, context.clone());
    let task = accept(listener, CONNECTIONS_MAX, stop, serve);
    let abort = cluster.tasks.lock().spawn(task);
    cluster.members.set_abort(server.number, abort);
}

/// Serves HTTP.
#[cfg(feature = "web")]
fn serve_web(cluster: &Arc<Cluster>, listener: Listener) {
    let context = Context::new(Arc::clone(cluster), Arc::clone(&cluster.master));
    let max = crate::limits::WEB_CONNECTIONS_MAX + crate::limits::WEB_MONITORING_CONNECTIONS_MAX;
    let stop = cluster.master.stopping();
    let web = crate::web::Web::new(context);
    cluster.tasks.lock().spawn(crate::web::sample(web.clone(), stop.clone()));
    let serve = move |stream, peer| crate::web::serve(stream, peer, web.clone());
    cluster.tasks.lock().spawn(accept(listener, max, stop, serve));
}

/// Serves HBase's REST interface.
#[cfg(feature = "rest")]
fn serve_rest(cluster: &Arc<Cluster>, listener: Listener) {
    let rest = crate::gateway::rest::Rest::new(crate::gateway::Gateway::new(Arc::clone(cluster)));
    let stop = cluster.master.stopping();
    cluster.tasks.lock().spawn(crate::gateway::rest::expire(rest.clone(), stop.clone()));
    let serve = move |stream, peer| crate::gateway::rest::serve(stream, peer, rest.clone());
    let max = crate::limits::GATEWAY_CONNECTIONS_MAX;
    cluster.tasks.lock().spawn(accept(listener, max, stop, serve));
}

/// Serves HBase's Thrift interface.
#[cfg(feature = "thrift")]
fn serve_thrift(cluster: &Arc<Cluster>, listener: Listener) {
    let gateway = crate::gateway::Gateway::new(Arc::clone(cluster));
    let thrift = crate::gateway::thrift::Thrift::new(gateway);
    let stop = cluster.master.stopping();
    cluster.tasks.lock().spawn(crate::gateway::thrift::expire(thrift.clone(), stop.clone()));
    let serve = move |stream, peer| crate::gateway::thrift::serve(stream, peer, thrift.clone());
    let max = crate::limits::GATEWAY_CONNECTIONS_MAX;
    cluster.tasks.lock().spawn(accept(listener, max, stop, serve));
}

/// Returns the descriptors needed for the RPC ports and ZooKeeper's, the store's files, the log and
/// the process itself.
fn descriptors_required(rpc_ports: usize, open_files_max: usize) -> u64 {
    ((rpc_ports + 1) * CONNECTIONS_MAX + open_files_max + 128) as u64
}

/// Accepts connections until the server stops, then waits for them to end.
async fn accept<F>(
    listener: Listener,
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
                    prepare(&stream);
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

/// Has small answers sent at once, and a connection whose client is gone without a word end.
fn prepare(stream: &TcpStream) {
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_TIME)
        .with_interval(KEEPALIVE_INTERVAL)
        .with_retries(KEEPALIVE_RETRIES);
    let prepared =
        stream.set_nodelay(true).and_then(|()| SockRef::from(stream).set_tcp_keepalive(&keepalive));
    if let Err(error) = prepared {
        tracing::debug!(%error, "cannot set the options of a connection");
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
                // Scanners on stopped servers hold files and memstores, too.
                for server in cluster.ports_ever() {
                    server.scanners.expire(Instant::now());
                }
                cluster.searches.expire();
            }
            _ = stop.changed() => return,
        }
    }
}

/// Reads the certificate files again when they change.
async fn reload_certificates(cluster: Arc<Cluster>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(TLS_FILES_LOOK) => {}
            _ = stop.changed() => return,
        }
        reload(&cluster, true).await;
    }
}

async fn reload(cluster: &Arc<Cluster>, only_changed: bool) {
    let cluster = Arc::clone(cluster);
    let reload = move || cluster.access.reload(only_changed, &cluster.master.name.host);
    if let Err(error) = tokio::task::spawn_blocking(reload).await {
        tracing::error!(%error, "the TLS certificate was not looked at");
    }
}

/// Reads the file of users again when it changes.
async fn reload_users(cluster: Arc<Cluster>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(USERS_FILE_LOOK) => {}
            _ = stop.changed() => return,
        }
        let cluster = Arc::clone(&cluster);
        let reloaded = tokio::task::spawn_blocking(move || cluster.access.users.reload()).await;
        if let Err(error) = reloaded {
            tracing::error!(%error, "the file of users was not looked at");
        }
    }
}

/// Makes waiting scanners release flushed memstores, which may read from disk.
async fn free_scanned_memory(cluster: &Arc<Cluster>) {
    let cluster = Arc::clone(cluster);
    let follow = move || -> u64 {
        cluster.ports_ever().iter().map(|server| server.scanners.follow_flushes()).sum()
    };
    match tokio::task::spawn_blocking(follow).await {
        Ok(0) => {}
        Ok(bytes) => tracing::debug!(bytes, "open scanners hold flushed memstores"),
        Err(error) => tracing::error!(%error, "idle scanners were not checked"),
    }
}
