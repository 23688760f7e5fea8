//! One region server in the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rowhouse_model::ServerName;
use tokio::sync::watch;

use crate::Options;
use crate::call_metrics::Calls;
use crate::cap::Cap;
use crate::limits::{KILL_LOOK, KILL_WAIT};
use crate::replication_sink::ReplicationSink;
use crate::requests::Requests;
use crate::scanners::Scanners;
use crate::slow_log::SlowLog;
use crate::workers::Workers;

/// A region server: the name and what it keeps for clients. The store, the master and ZooKeeper are
/// the cluster's.
pub(crate) struct RegionServer {
    /// The number by which regions are assigned to it.
    pub(crate) number: u32,
    /// The address announced to clients, and the start code.
    pub(crate) name: ServerName,
    /// The port that it listens on, which may differ from the one announced to clients.
    pub(crate) listen_port: u16,
    /// The web listener's port, if there is one.
    pub(crate) web_port: Option<u16>,
    pub(crate) scanners: Scanners,
    pub(crate) workers: Workers,
    pub(crate) slow_log: SlowLog,
    pub(crate) requests: Requests,
    /// Shared with the earlier servers with this number, so that counters do not fall.
    pub(crate) calls: Arc<Calls>,
    /// Shared likewise.
    pub(crate) replication_sink: Arc<ReplicationSink>,
    /// Limits operations and bytes.
    pub(crate) cap: Option<Cap>,
    stop: watch::Sender<bool>,
    /// The same as the value in `stop`, which takes a lock to read.
    is_stopping: AtomicBool,
    /// Calls that run now. They are counted only if the server can be killed: the only region
    /// server in a process cannot.
    running: AtomicUsize,
    can_be_killed: bool,
    is_killed: AtomicBool,
}

/// A call that runs. A server that is killed waits for it.
pub(crate) struct RunningCall(Option<Arc<RegionServer>>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let Some(server) = &self.0 {
            server.running.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The number for a master with a separate port: no region is assigned to it.
const MASTER_NUMBER: u32 = u32::MAX;

impl RegionServer {
    /// Creates a region server with this number, with the ports that it and the web listen on.
    pub(crate) fn new(
        number: u32,
        name: ServerName,
        (listen_port, web_port): (u16, Option<u16>),
        options: &Options,
    ) -> Self {
        Self {
            number,
            scanners: Scanners::new(name.start_code),
            name,
            listen_port,
            web_port,
            workers: Workers::default(),
            slow_log: SlowLog::new(options.slow_call, options.large_answer_bytes),
            requests: Requests::new(Instant::now()),
            calls: Arc::default(),
            replication_sink: Arc::default(),
            cap: Cap::new(options.ops_per_server, options.bytes_per_server),
            stop: watch::Sender::new(false),
            is_stopping: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            can_be_killed: options.region_servers > 1,
            is_killed: AtomicBool::new(false),
        }
    }

    /// Returns the server that takes the place of this one, which was stopped, under a new name.
    /// Both have the same counters.
    pub(crate) fn succeeded(&self, name: ServerName, options: &Options) -> Self {
        let new = Self::new(self.number, name, (self.listen_port, self.web_port), options);
        let cap = match (new.cap, &self.cap) {
            (Some(cap), Some(before)) => Some(cap.continuing(before)),
            (cap, _) => cap,
        };
        let requests = self.requests.succeeded(Instant::now());
        let replication_sink = Arc::clone(&self.replication_sink);
        Self { calls: Arc::clone(&self.calls), replication_sink, requests, cap, ..new }
    }

    /// Returns what a master on a separate port needs for calls. It serves no regions.
    pub(crate) fn master(name: ServerName, ports: (u16, Option<u16>), options: &Options) -> Self {
        Self { cap: None, ..Self::new(MASTER_NUMBER, name, ports, options) }
    }

    /// Returns a receiver that becomes `true` when the server stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Returns true if the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Returns what marks a call as running; `None` if the server was killed, so that the call must
    /// not begin.
    pub(crate) fn begin_call(self: &Arc<Self>) -> Option<RunningCall> {
        if !self.can_be_killed {
            return Some(RunningCall(None));
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = RunningCall(Some(Arc::clone(self)));
        (!self.is_killed.load(Ordering::SeqCst)).then_some(running)
    }

    /// Lets no call begin from now on, and waits for those that run: a client that is cut off
    /// repeats the call at another server, where an older write must not come later. Returns true
    /// if all have ended in time.
    pub(crate) fn kill(&self) -> bool {
        self.is_killed.store(true, Ordering::SeqCst);
        let started = Instant::now();
        while self.running.load(Ordering::SeqCst) > 0 {
            if started.elapsed() > KILL_WAIT {
                return false;
            }
            std::thread::sleep(KILL_LOOK);
        }
        true
    }

    /// Refuses new calls from now on. Calls under way are finished.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.stop.send_replace(true);
    }
}

/// Returns a start code that differs from the start code in the server's last run.
pub(crate) fn start_code() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(1)
}
