//! `rowhouse serve`: a database for HBase clients.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rowhouse::{Error, ErrorKind};
use rowhouse_server::{Options, Server};
use rowhouse_store::{Holder, Settings, SplitSettings};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::{DATA_DIR, Done, argument};

/// The log, in the data directory.
const LOG: &str = "rowhouse.log";
/// A log that is longer when the server starts makes room for a new one.
const LOG_BYTES_MAX: u64 = 32 << 20;

/// Where the data is, and where clients come in.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The data directory; made if it is not there
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    pub(crate) data: PathBuf,
    /// Where HBase's protocol is spoken
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, default_value = "127.0.0.1:16020")]
    pub(crate) listen: String,
    /// Where ZooKeeper's protocol is spoken, for clients that look for their cluster there
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, default_value = "127.0.0.1:2181")]
    pub(crate) zookeeper: String,
    /// Where metrics for Prometheus and health are served over HTTP, without authentication [default with --web alone:
    /// 127.0.0.1:16030]
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:16030")]
    pub(crate) web: Option<String>,
    /// The address that clients are told, where it is not the one listened on; this machine must
    /// reach it too for `rowhouse shell --data`
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address)]
    pub(crate) advertise: Option<String>,
    /// Where `rowhouse backup` may write backups of the database while it is served; nowhere unless this is given
    #[arg(long, value_name = "DIR")]
    pub(crate) backups: Option<PathBuf>,
    /// The largest mutation, in bytes: 16777216 (16 MiB) to 1073741824 (1 GiB)
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = argument::mutation_bytes)]
    pub(crate) mutation_bytes_max: usize,
    /// The largest cell that grows by appends, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 20)]
    pub(crate) cell_bytes_max: usize,
    /// Bytes of a region's largest family above which it is split by itself, where the table has no
    /// MAX_FILESIZE; a table's only region is split at 268435456 (256 MiB)
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 30)]
    pub(crate) region_bytes_max: u64,
    /// Clients may stop the server, as HBase's `Admin.shutdown`, `stopMaster` and `stopRegionServer` ask
    #[arg(long)]
    pub(crate) allow_shutdown: bool,
    /// Calls that take longer than so many milliseconds are kept in the slow log and said in the log
    #[arg(long, value_name = "MILLIS", default_value_t = 10_000)]
    pub(crate) slow_call_millis: u64,
    /// Calls with answers of more bytes are kept in the large log and said in the log
    #[arg(long, value_name = "BYTES", default_value_t = 100 << 20)]
    pub(crate) large_answer_bytes: u64,
    /// No region is split by itself
    #[arg(long)]
    pub(crate) no_automatic_splits: bool,
}

/// Serves until it is told to stop, by Ctrl-C, SIGTERM or a client that may.
pub(crate) fn run(args: ServeArgs) -> Done {
    // Before the log is touched: it may be another server's.
    if let Some(holder) = Holder::of(&args.data)? {
        return Err(Error::new(
            ErrorKind::InUse,
            format!(
                "data directory {} is held by {holder}; choose another with --data",
                args.data.display()
            ),
        ));
    }
    let log = start_log(&args.data)?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|source| Error::io("cannot start the runtime", source))?;
    let served = runtime.block_on(serve(args, &log));
    // The store is closed and its log synced: what still runs was abandoned, and is not waited for.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(args: ServeArgs, log: &Path) -> rowhouse::Result<()> {
    let told = |kind| signal(kind).map_err(|source| Error::io("cannot listen to signals", source));
    let (mut interrupt, mut terminate) =
        (told(SignalKind::interrupt())?, told(SignalKind::terminate())?);
    let settings = Settings {
        mutation_bytes_max: args.mutation_bytes_max,
        cell_bytes_max: args.cell_bytes_max,
        split: SplitSettings {
            automatic: !args.no_automatic_splits,
            region_bytes_max: args.region_bytes_max,
            ..SplitSettings::default()
        },
        ..Settings::default()
    };
    let options = Options {
        settings,
        listen: args.listen,
        zookeeper: args.zookeeper,
        advertise: args.advertise,
        web: args.web,
        backups: args.backups,
        allow_shutdown: args.allow_shutdown,
        slow_call: Duration::from_millis(args.slow_call_millis),
        large_answer_bytes: args.large_answer_bytes,
        ..Options::new(&args.data)
    };
    let server = Server::start(options).await?;
    // Whoever started the server may not be listening.
    let _ = std::io::stdout().write_all(screen(&server, &args.data, log).as_bytes());
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = server.stop_requested() => {}
    }
    server.stop().await
}

/// What a user has to know, on one screen.
fn screen(server: &Server, data: &Path, log: &Path) -> String {
    let (address, zookeeper) = (server.address(), server.zookeeper());
    let port = zookeeper.port();
    let host = match zookeeper.ip().is_unspecified() {
        // Whoever listens on every interface has said what clients are to call this machine.
        true => address.rsplit_once(':').map_or(address, |(host, _)| host).to_owned(),
        false => zookeeper.ip().to_string(),
    };
    let (data, log) = (data.display(), log.display());
    let web =
        server.web().map(|web| format!("  web    http://{web}/metrics\n")).unwrap_or_default();
    let registry = "hbase.client.registry.impl=org.apache.hadoop.hbase.client";
    format!(
        "rowhouse {} serves {data}

  HBase clients connect in one of three ways:
    1. hbase.zookeeper.quorum={host}
       hbase.zookeeper.property.clientPort={port}
    2. {registry}.RpcConnectionRegistry
       hbase.client.bootstrap.servers={address}
    3. {registry}.MasterRegistry
       hbase.masters={address}

  shell  rowhouse shell --data {data}
{web}  log    {log}

Ctrl-C stops the server.
",
        env!("CARGO_PKG_VERSION")
    )
}

/// Opens the log in the data directory and gives back where it is. `RUST_LOG` chooses what goes in.
fn start_log(data: &Path) -> rowhouse::Result<PathBuf> {
    let path = data.join(LOG);
    let open = || -> std::io::Result<File> {
        fs::create_dir_all(data)?;
        if fs::metadata(&path).is_ok_and(|log| log.len() > LOG_BYTES_MAX) {
            fs::rename(&path, data.join(format!("{LOG}.1")))?;
        }
        OpenOptions::new().create(true).append(true).open(&path)
    };
    let file = open()
        .map_err(|source| Error::io(format_args!("cannot open {}", path.display()), source))?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Arc::new(file))
        .init();
    Ok(path)
}
