//! `rowhouse serve`: a database for HBase clients.

use std::path::PathBuf;

use rowhouse::Error;

use super::{DATA_DIR, Done};

/// Where the data is, and where clients come in.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The data directory; made if it is not there
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    pub(crate) data: PathBuf,
    /// Where HBase's protocol is spoken
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:16020")]
    pub(crate) listen: String,
    /// Where ZooKeeper's protocol is spoken, for clients that look for their cluster there
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:2181")]
    pub(crate) zookeeper: String,
    /// The address that clients are told, where it is not the one listened on
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) advertise: Option<String>,
}

/// Serves until it is told to stop.
pub(crate) fn run(args: ServeArgs) -> Done {
    Err(Error::unsupported(format!(
        "the server is not built in yet: data={}, listen={}, zookeeper={}, advertise={}",
        args.data.display(),
        args.listen,
        args.zookeeper,
        args.advertise.as_deref().unwrap_or(&args.listen)
    )))
}
