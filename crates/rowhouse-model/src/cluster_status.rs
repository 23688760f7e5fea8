//! The status of a cluster: its servers, their regions and their tasks.

use bytes::Bytes;

use crate::ServerName;

/// The status of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The version of the server software, in its own notation.
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
    /// Number of regions that are being moved.
    pub regions_in_transition: usize,
    /// Whether the balancer is on.
    pub balancer_on: bool,
}

/// The load of a region server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLoad {
    /// The server.
    pub name: ServerName,
    /// Requests in the last second, if the server reports it.
    pub requests_per_second: u64,
    /// Its regions, ordered by name.
    pub regions: Vec<RegionLoad>,
    /// Its running tasks, oldest first. HBase reports them since release 2.5.
    pub tasks: Vec<ServerTask>,
}

impl ServerLoad {
    /// Creates the load of a server without regions and tasks.
    pub fn new(name: ServerName) -> Self {
        Self { name, requests_per_second: 0, regions: Vec::new(), tasks: Vec::new() }
    }
}

/// The size of a region and its request counts since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionLoad {
    /// The region's full name.
    pub name: Bytes,
    /// Number of families.
    pub stores: u64,
    /// Number of HFiles.
    pub files: u64,
    /// Size of the HFiles before compression, in MiB, rounded down.
    pub uncompressed_mib: u64,
    /// Size of the HFiles, in MiB, rounded down.
    pub file_mib: u64,
    /// Size of the memstores, in MiB, rounded down.
    pub memstore_mib: u64,
    /// Number of read requests.
    pub reads: u64,
    /// Rows that were read and not returned, because a filter left nothing of them.
    pub filtered_reads: u64,
    /// Number of write requests.
    pub writes: u64,
}

/// A running task of a server, such as a flush or a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTask {
    /// The operation and its object.
    pub description: String,
    /// Its progress, or the amount of work.
    pub status: String,
    /// When it started, in milliseconds since 1970.
    pub started_millis: i64,
}

/// The result of a run of the balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balanced {
    /// Whether it ran: it does not while it is switched off.
    pub ran: bool,
    /// Moves of regions that it planned, if the server says so: HBase does since 2.5.
    pub planned: u32,
    /// Moves that it made.
    pub made: u32,
}
