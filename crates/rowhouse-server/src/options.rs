//! A server's options.

use std::path::PathBuf;
use std::time::Duration;

use rowhouse_store::Settings;

/// A server's options. Addresses are `HOST:PORT`; port 0 takes a free one.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory.
    pub data: PathBuf,
    /// The address for HBase's RPC port. Default `127.0.0.1:16020`. With several region servers it
    /// is the master's.
    pub listen: String,
    /// How many region servers share the store: a model of a cluster in one process. One, the
    /// default, has the master's address. Several have separate addresses: the ports after the one
    /// in `listen`, or free ones if that is 0. At most 64.
    pub region_servers: u32,
    /// The most operations per second on a region server: gets, mutations, scan calls, and each
    /// action in a multi. Further ones wait. `None`, the default, sets no limit.
    pub ops_per_server: Option<u64>,
    /// The most request and answer bytes per second on a region server. Further calls wait. `None`,
    /// the default, sets no limit.
    pub bytes_per_server: Option<u64>,
    /// The ZooKeeper port's address. Default `127.0.0.1:2181`.
    pub zookeeper: String,
    /// The address announced to clients, if it differs from the listening address: with NAT, in a
    /// container, or when listening on every interface. Several region servers are announced with
    /// the ports after it.
    pub advertise: Option<String>,
    /// The directory that backups requested by clients are written into; `None` refuses them.
    pub backups: Option<PathBuf>,
    /// Whether clients may stop the server with HBase's `Admin.shutdown`, `stopMaster` and, for the
    /// last region server, `stopRegionServer`. Default `false`.
    pub allow_shutdown: bool,
    /// Whether clients may drop all tables at once, save them as a named state and restore that,
    /// with rowhouse's own calls: for tests. Default `false`.
    pub allow_reset: bool,
    /// Whether clients may make calls fail by rules, with rowhouse's own calls: for tests. Default
    /// `false`.
    pub allow_faults: bool,
    /// Calls that take longer go to the slow log; HBase's `hbase.ipc.warn.response.time`. Default
    /// 10 seconds.
    pub slow_call: Duration,
    /// Calls with larger answers go to the large log; HBase's `hbase.ipc.warn.response.size`.
    /// Default 100 MiB.
    pub large_answer_bytes: u64,
    /// Bytes of the requests, calls and answers that the server holds for all clients; further
    /// calls wait. Requests and single rows above it are served alone. Default 512 MiB.
    pub call_memory_bytes: u64,
    /// The same for one connection. Default 64 MiB.
    pub connection_memory_bytes: u64,
    /// Where web pages, metrics and health are served over HTTP, without users; a certificate is
    /// required with [`TlsFiles::clients`]. Default [`WebPort::Off`].
    pub web: WebPort,
    /// The certificate for TLS on the RPC and web ports, with the feature `tls`. `None`, the
    /// default, accepts plain connections alone. The ZooKeeper port is always plain.
    pub tls: Option<TlsFiles>,
    /// Whether connections without TLS are accepted on a server with a certificate. `None`, the
    /// default, accepts them over loopback. [`Plain::Refuse`] without a certificate is an error.
    pub plain: Option<Plain>,
    /// Permits ports off loopback without client certificates ([`TlsFiles::clients`]). Default
    /// `false`: the server does not start with such a port.
    pub allow_unauthenticated: bool,
    /// The store's sizes and limits.
    pub settings: Settings,
}

impl Options {
    /// Returns the default options for a data directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            listen: "127.0.0.1:16020".into(),
            region_servers: 1,
            ops_per_server: None,
            bytes_per_server: None,
            zookeeper: "127.0.0.1:2181".into(),
            advertise: None,
            backups: None,
            allow_shutdown: false,
            allow_reset: false,
            allow_faults: false,
            slow_call: Duration::from_secs(10),
            large_answer_bytes: 100 << 20,
            call_memory_bytes: 512 << 20,
            connection_memory_bytes: 64 << 20,
            web: WebPort::Off,
            tls: None,
            plain: None,
            allow_unauthenticated: false,
            settings: Settings::default(),
        }
    }
}

/// A server's TLS files, all in PEM. They are read again when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, followed by the intermediate ones.
    pub certificate: PathBuf,
    /// The certificate's private key, without a passphrase.
    pub key: PathBuf,
    /// The authorities whose certificates clients must have; `None` requires no certificate.
    pub clients: Option<PathBuf>,
}

/// Whether a server with a certificate accepts connections without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// From everywhere: HBase 2.5 and clients in other languages have no TLS. Their data can be
    /// read on the network.
    Allow,
    /// From nowhere, not even over loopback.
    Refuse,
}

/// Where web pages, metrics and health are served over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebPort {
    /// Nowhere.
    #[default]
    Off,
    /// At [`WebPort::DEFAULT_ADDRESS`]. If another process has this port, the log says so and
    /// nothing is served; nor is it without the feature `web`.
    Default,
    /// At this address, `HOST:PORT`; port 0 takes a free one. The server does not start if it
    /// cannot listen there, nor without the feature `web`.
    At(String),
}

impl WebPort {
    /// The address for [`WebPort::Default`]: the same as for the master's pages in HBase, on
    /// loopback.
    pub const DEFAULT_ADDRESS: &str = "127.0.0.1:16010";
}
