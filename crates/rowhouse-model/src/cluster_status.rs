//! Cluster status: the servers, their regions and their tasks.

use bytes::Bytes;

use crate::ServerName;

/// Cluster status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The server software version, in the software's own notation.
    pub version: String,
    /// The cluster's id.
    pub cluster_id: String,
    /// The active master.
    pub master: Option<ServerName>,
    /// Standby masters.
    pub backup_masters: Vec<ServerName>,
    /// Live region servers.
    pub live_servers: Vec<ServerName>,
    /// Live region servers with their load.
    pub loads: Vec<ServerLoad>,
    /// Region servers that are known to be dead.
    pub dead_servers: Vec<ServerName>,
    /// How many regions are being moved.
    pub regions_in_transition: usize,
    /// Whether the balancer is on.
    pub balancer_on: bool,
}

/// A region server's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLoad {
    /// The server.
    pub name: ServerName,
    /// Requests in the last second, if the server reports it.
    pub requests_per_second: u64,
    /// The regions, ordered by name.
    pub regions: Vec<RegionLoad>,
    /// The running tasks, oldest first. HBase reports them since release 2.5.
    pub tasks: Vec<ServerTask>,
}

impl ServerLoad {
    /// Creates a server's load without regions and tasks.
    pub fn new(name: ServerName) -> Self {
        Self { name, requests_per_second: 0, regions: Vec::new(), tasks: Vec::new() }
    }
}

/// A region's size and the request counts since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionLoad {
    /// The region's full name.
    pub name: Bytes,
    /// Family count.
    pub stores: u64,
    /// HFile count.
    pub files: u64,
    /// HFile size before compression, in MiB, rounded down.
    pub uncompressed_mib: u64,
    /// HFile size, in MiB, rounded down.
    pub file_mib: u64,
    /// Memstore size, in MiB, rounded down.
    pub memstore_mib: u64,
    /// Read request count.
    pub reads: u64,
    /// Rows that were read and not returned, because a filter left nothing in them.
    pub filtered_reads: u64,
    /// Write request count.
    pub writes: u64,
}

/// A running server task, such as a flush or a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTask {
    /// The operation and the object.
    pub description: String,
    /// The progress, or how much work there is.
    pub status: String,
    /// When it started, in milliseconds since 1970.
    pub started_millis: i64,
}

/// The result from a balancer run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balanced {
    /// Whether it ran: it does not while it is switched off.
    pub ran: bool,
    /// Region moves that it planned, if the server reports them: HBase does since 2.5.
    pub planned: u32,
    /// Moves that it made.
    pub made: u32,
}
