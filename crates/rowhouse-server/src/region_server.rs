//! One of the region servers of the process.

use std::time::Instant;

use rowhouse_model::{Result, ServerName};

use crate::Options;
use crate::answer::Workers;
use crate::metrics::Calls;
use crate::ports::Ports;
use crate::requests::Requests;
use crate::scanners::Scanners;
use crate::slow_log::SlowLog;

/// A region server: its name and what it keeps for its clients. The store, the master and ZooKeeper
/// are the cluster's.
pub(crate) struct RegionServer {
    /// The address that clients are told, and the start code.
    pub(crate) name: ServerName,
    /// The port of its web listener, if there is one.
    pub(crate) web_port: Option<u16>,
    pub(crate) scanners: Scanners,
    pub(crate) workers: Workers,
    pub(crate) slow_log: SlowLog,
    pub(crate) requests: Requests,
    pub(crate) calls: Calls,
}

impl RegionServer {
    pub(crate) fn new(ports: &Ports, start_code: u64, options: &Options) -> Result<Self> {
        let (host, port) = ports.announced.clone();
        Ok(Self {
            name: ServerName { host, port, start_code },
            web_port: ports.web_address()?.map(|address| address.port()),
            scanners: Scanners::new(start_code),
            workers: Workers::default(),
            slow_log: SlowLog::new(options.slow_call, options.large_answer_bytes),
            requests: Requests::new(Instant::now()),
            calls: Calls::default(),
        })
    }
}
