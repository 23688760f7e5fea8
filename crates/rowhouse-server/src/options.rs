//! What a server is started with.

use std::path::PathBuf;
use std::time::Duration;

use rowhouse_store::Settings;

/// How a server is started. Addresses are `HOST:PORT`; port 0 takes a free one.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory.
    pub data: PathBuf,
    /// Where HBase's RPC is served. Default `127.0.0.1:16020`.
    pub listen: String,
    /// Where ZooKeeper clients are answered. Default `127.0.0.1:2181`.
    pub zookeeper: String,
    /// The address that clients are told, when it is not the one listened on: behind NAT, in a
    /// container, or when listening on every interface.
    pub advertise: Option<String>,
    /// Where clients may have backups be written; `None` refuses them.
    pub backups: Option<PathBuf>,
    /// Whether clients may stop the server: HBase's `Admin.shutdown`, `stopMaster` and
    /// `stopRegionServer`. Default `false`.
    pub allow_shutdown: bool,
    /// Calls that take longer are kept in the slow log; HBase's `hbase.ipc.warn.response.time`.
    /// Default 10 seconds.
    pub slow_call: Duration,
    /// Calls with larger answers are kept in the large log; HBase's `hbase.ipc.warn.response.size`.
    /// Default 100 MiB.
    pub large_answer_bytes: u64,
    /// Where metrics and health are served over HTTP, without authentication; `None` for nowhere.
    /// Needs the feature `web`. Default `None`.
    pub web: Option<String>,
    /// The store's sizes and limits.
    pub settings: Settings,
}

impl Options {
    /// The defaults, for a data directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            listen: "127.0.0.1:16020".into(),
            zookeeper: "127.0.0.1:2181".into(),
            advertise: None,
            backups: None,
            allow_shutdown: false,
            slow_call: Duration::from_secs(10),
            large_answer_bytes: 100 << 20,
            web: None,
            settings: Settings::default(),
        }
    }
}
