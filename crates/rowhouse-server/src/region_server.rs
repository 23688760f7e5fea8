//! One of the region servers of the process.

use std::time::Instant;

use rowhouse_model::ServerName;

use crate::Options;
use crate::answer::Workers;
use crate::metrics::Calls;
use crate::requests::Requests;
use crate::scanners::Scanners;
use crate::slow_log::SlowLog;

/// A region server: its name and what it keeps for its clients. The store, the master and ZooKeeper
/// are the cluster's.
pub(crate) struct RegionServer {
    /// The number by which regions are assigned to it: its place in the cluster's list.
    pub(crate) number: u32,
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
    pub(crate) fn new(
        number: u32,
        name: ServerName,
        web_port: Option<u16>,
        options: &Options,
    ) -> Self {
        Self {
            number,
            scanners: Scanners::new(name.start_code),
            name,
            web_port,
            workers: Workers::default(),
            slow_log: SlowLog::new(options.slow_call, options.large_answer_bytes),
            requests: Requests::new(Instant::now()),
            calls: Calls::default(),
        }
    }
}
