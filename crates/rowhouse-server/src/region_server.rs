//! One of the region servers of the process.

use std::time::Instant;

use rowhouse_model::ServerName;
use tokio::sync::watch;

use crate::Options;
use crate::answer::Workers;
use crate::cap::Cap;
use crate::metrics::Calls;
use crate::requests::Requests;
use crate::scanners::Scanners;
use crate::slow_log::SlowLog;

/// A region server: its name and what it keeps for its clients. The store, the master and ZooKeeper
/// are the cluster's.
pub(crate) struct RegionServer {
    /// The number by which regions are assigned to it.
    pub(crate) number: u32,
    /// The address that clients are told, and the start code.
    pub(crate) name: ServerName,
    /// The port that it listens on, which may differ from the one that clients are told.
    pub(crate) listen_port: u16,
    /// The port of the web listener, if there is one.
    pub(crate) web_port: Option<u16>,
    pub(crate) scanners: Scanners,
    pub(crate) workers: Workers,
    pub(crate) slow_log: SlowLog,
    pub(crate) requests: Requests,
    pub(crate) calls: Calls,
    /// Limits its operations and bytes.
    pub(crate) cap: Option<Cap>,
    stop: watch::Sender<bool>,
}

/// The number of a master with a port of its own: no region is assigned to it.
const MASTER_NUMBER: u32 = u32::MAX;

impl RegionServer {
    /// Creates a region server of this number, with the ports that it and the web listen on.
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
            calls: Calls::default(),
            cap: Cap::new(options.ops_per_server, options.bytes_per_server),
            stop: watch::Sender::new(false),
        }
    }

    /// Returns what a master on a port of its own needs for its calls. It serves no regions.
    pub(crate) fn master(name: ServerName, ports: (u16, Option<u16>), options: &Options) -> Self {
        Self { cap: None, ..Self::new(MASTER_NUMBER, name, ports, options) }
    }

    /// Returns a receiver that becomes `true` when the server stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Refuses new calls from now on. Calls under way are finished.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }
}
