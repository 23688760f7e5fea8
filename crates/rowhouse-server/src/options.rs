//! What a server is started with.

use std::path::PathBuf;

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
            settings: Settings::default(),
        }
    }
}
