//! `rowhouse serve`: a database for HBase clients.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rowhouse::{Error, ErrorKind};
use rowhouse_server::{CertificateName, Options, Plain, Server, TlsFiles, UserSources, WebPort};
use rowhouse_store::{Holder, Settings, SplitSettings, create_data_directory, is_data_directory};
use tempfile::TempDir;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;

use super::{CommandResult, DATA_DIR, argument, readiness, runtime};
use crate::design::PageSimulator;
use crate::output::print;

/// The server's log file, in the data directory.
const LOG: &str = "rowhouse.log";
/// Length of the log, in bytes, above which the server starts a new one.
const LOG_BYTES_MAX: u64 = 32 << 20;

/// Arguments of `rowhouse serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Read settings from this file, in TOML, under the names of these arguments, which take
    /// precedence
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print the settings in effect in the form of --config, and serve nothing
    #[arg(long)]
    pub(crate) print_config: bool,
    /// The data directory; created if missing
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    pub(crate) data: PathBuf,
    /// Serve a new database in a temporary directory, which is removed at the end
    #[arg(long, conflicts_with = "data")]
    pub(crate) temporary: bool,
    /// Listen here for HBase's protocol; with several region servers, those have the ports after it
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, default_value = "127.0.0.1:16020")]
    pub(crate) listen: String,
    /// Serve as so many region servers, with regions that move between them: a model of a cluster
    /// in one process
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) region_servers: u32,
    /// Limit each region server to so many operations per second; more of them wait
    #[arg(long, value_name = "N")]
    pub(crate) ops_per_server: Option<u64>,
    /// Limit each region server to so many bytes of requests and answers per second; more wait
    #[arg(long, value_name = "BYTES")]
    pub(crate) bytes_per_server: Option<u64>,
    /// Listen here for ZooKeeper's protocol, for clients that look up their cluster there
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, default_value = "127.0.0.1:2181")]
    pub(crate) zookeeper: String,
    /// Serve no port of ZooKeeper: clients use the registries of RPC or the master
    #[arg(long, conflicts_with = "zookeeper")]
    pub(crate) no_zookeeper: bool,
    /// Serve web pages, metrics for Prometheus and health over HTTP here, to all who connect, or to
    /// users with --users [default: 127.0.0.1:16010 if that port is free]
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address)]
    pub(crate) web: Option<String>,
    /// Serve nothing over HTTP
    #[arg(long, conflicts_with = "web")]
    pub(crate) no_web: bool,
    /// Serve HBase's REST interface here [without an address: 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, num_args = 0..=1, default_missing_value = Options::REST_ADDRESS)]
    pub(crate) rest: Option<String>,
    /// Serve HBase's Thrift interface here [without an address: 127.0.0.1:9090]
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address, num_args = 0..=1, default_missing_value = Options::THRIFT_ADDRESS)]
    pub(crate) thrift: Option<String>,
    /// The user for whom Thrift clients act, whose protocol has no users; required with --users
    /// that are checked [default: thrift]
    #[arg(long, value_name = "NAME", requires = "thrift")]
    pub(crate) thrift_user: Option<String>,
    /// Accept TLS on the RPC, web and gateway ports with this certificate, in PEM, followed by the
    /// intermediate ones; read again when it changes and on SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Require certificates of clients, from the authorities in this file, in PEM
    #[arg(long, value_name = "CA-FILE", requires = "tls_certificate")]
    pub(crate) tls_clients: Option<PathBuf>,
    /// With a certificate, allow connections without TLS, whose data can be read on the network,
    /// or refuse them [default: allow them over loopback]
    #[arg(long, value_name = "HOW", requires = "tls_certificate")]
    pub(crate) plain: Option<PlainArg>,
    /// Which proofs of users count: certificate, token, claimed, joined by commas. With
    /// certificate,token a client needs either; claimed takes the name that a client sends,
    /// unchecked
    #[arg(long, value_name = "PROOFS", default_value = "claimed")]
    pub(crate) users: UserSources,
    /// The name in a client certificate that is the user: cn, san-dns, san-uri or san-email
    #[arg(long, value_name = "NAME", default_value = "cn")]
    pub(crate) user_from: CertificateName,
    /// Let whoever reaches a port off loopback read and change all data; without it such ports
    /// require TLS, and --tls-clients or --users token
    #[arg(long)]
    pub(crate) allow_unauthenticated: bool,
    /// The address announced to clients, if it differs from the one listened on; this machine must
    /// also reach it for `rowhouse shell --data`
    #[arg(long, value_name = "HOST:PORT", value_parser = argument::address)]
    pub(crate) advertise: Option<String>,
    /// The directory for backups that `rowhouse backup` requests from this server; without it such
    /// requests are refused
    #[arg(long, value_name = "DIR")]
    pub(crate) backups: Option<PathBuf>,
    /// Let clients load HFiles from below this directory alone, and from the directories that they
    /// are given; with users that are checked and without it, from those alone
    #[arg(long, value_name = "DIR")]
    pub(crate) bulk_load_directory: Option<PathBuf>,
    /// The largest mutation, in bytes: 16777216 (16 MiB) to 1073741824 (1 GiB)
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = argument::mutation_bytes)]
    pub(crate) mutation_bytes_max: usize,
    /// The largest cell that grows by appends, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 20)]
    pub(crate) cell_bytes_max: usize,
    /// Bytes of a region's largest family above which it is split automatically, if the table has
    /// no MAX_FILESIZE; a table's only region is split at 268435456 (256 MiB)
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 30)]
    pub(crate) region_bytes_max: u64,
    /// Clients may stop the server, with HBase's `Admin.shutdown`, `stopMaster` and, for the last
    /// region server, `stopRegionServer`
    #[arg(long)]
    pub(crate) allow_shutdown: bool,
    /// Clients may drop all tables at once, and save and restore states of all tables: for tests
    #[arg(long)]
    pub(crate) allow_reset: bool,
    /// Clients may make calls fail by rules, with `rowhouse admin fault`: for tests
    #[arg(long)]
    pub(crate) allow_faults: bool,
    /// Stop when the standard input ends, as it does when the program that started the server ends
    #[arg(long)]
    pub(crate) until_stdin_closes: bool,
    /// Print one line with a JSON object, with all addresses, instead of text, once clients are
    /// served
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep calls that take longer than this many milliseconds in the slow log, and report them in
    /// the log
    #[arg(long, value_name = "MILLIS", default_value_t = 10_000)]
    pub(crate) slow_call_millis: u64,
    /// Keep calls with answers of more bytes in the large log, and report them in the log
    #[arg(long, value_name = "BYTES", default_value_t = 100 << 20)]
    pub(crate) large_answer_bytes: u64,
    /// Bytes of the requests, calls and answers of all clients that are held at once; further calls
    /// wait. A row or request above it is served alone
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 20, value_parser = argument::call_memory)]
    pub(crate) call_memory_bytes: u64,
    /// The same for the calls of one connection
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = argument::call_memory)]
    pub(crate) connection_memory_bytes: u64,
    /// Bytes of all indexes in memory; an index that would need more is off
    #[arg(long = "index-memory", value_name = "BYTES", default_value_t = 256 << 20)]
    pub(crate) index_memory_bytes_max: u64,
    /// Split no region automatically
    #[arg(long)]
    pub(crate) no_automatic_splits: bool,
    /// Write the log in this form
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) log: LogForm,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogForm {
    /// A line of text for each event
    Text,
    /// A JSON object for each event, in one line
    Json,
}

/// Connections without TLS to a server with a certificate.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum PlainArg {
    /// From everywhere
    Allow,
    /// From nowhere
    Refuse,
}

impl From<PlainArg> for Plain {
    fn from(plain: PlainArg) -> Self {
        match plain {
            PlainArg::Allow => Self::Allow,
            PlainArg::Refuse => Self::Refuse,
        }
    }
}

/// Serves until Ctrl-C, SIGTERM, a permitted client or, if so requested, the end of the standard
/// input stops it.
pub(crate) fn run(mut args: ServeArgs) -> CommandResult {
    let temporary = args.temporary.then(temporary_directory).transpose()?;
    if let Some(directory) = &temporary {
        args.data = directory.path().to_owned();
    }
    if args.json && args.data.to_str().is_none() {
        return Err(Error::invalid(format!(
            "--json cannot print the data directory, which is not UTF-8: data={}",
            args.data.display()
        )));
    }
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
    let log = ServerLog::start(&args.data, args.log)?;
    let runtime = runtime()?;
    let mut has_store = false;
    let served = runtime.block_on(serve(args, &log.path, &mut has_store));
    // The store is closed and the log synced: tasks that still run were abandoned, and are not
    // awaited.
    runtime.shutdown_background();
    // Later the directory may have been moved, and another be in its place.
    if served.is_err() && !has_store {
        log.remove_without_store();
    }
    served.map(|()| ExitCode::SUCCESS)
}

/// Serves; sets `has_store` once the store is open.
async fn serve(args: ServeArgs, log: &Path, has_store: &mut bool) -> rowhouse::Result<()> {
    let listen =
        |kind| signal(kind).map_err(|source| Error::io("cannot listen to signals", source));
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    // Without TLS the signal ends the process, as it does by default.
    let has_tls = args.tls_certificate.is_some();
    let mut hangup = has_tls.then(|| listen(SignalKind::hangup())).transpose()?;
    let mut input_end = args.until_stdin_closes.then(input_end);
    let settings = Settings {
        mutation_bytes_max: args.mutation_bytes_max,
        cell_bytes_max: args.cell_bytes_max,
        index_memory_bytes_max: args.index_memory_bytes_max,
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
        region_servers: args.region_servers,
        ops_per_server: args.ops_per_server,
        bytes_per_server: args.bytes_per_server,
        zookeeper: (!args.no_zookeeper).then_some(args.zookeeper),
        advertise: args.advertise,
        web: match args.web {
            _ if args.no_web => WebPort::Off,
            None => WebPort::Default,
            Some(address) => WebPort::At(address),
        },
        rest: args.rest,
        thrift: args.thrift,
        thrift_user: args.thrift_user,
        tls: args.tls_certificate.zip(args.tls_key).map(|(certificate, key)| TlsFiles {
            certificate,
            key,
            clients: args.tls_clients,
        }),
        plain: args.plain.map(Plain::from),
        users: args.users,
        user_from: args.user_from,
        allow_unauthenticated: args.allow_unauthenticated,
        backups: args.backups,
        bulk_load_directory: args.bulk_load_directory,
        allow_shutdown: args.allow_shutdown,
        allow_reset: args.allow_reset,
        allow_faults: args.allow_faults,
        slow_call: Duration::from_millis(args.slow_call_millis),
        large_answer_bytes: args.large_answer_bytes,
        call_memory_bytes: args.call_memory_bytes,
        connection_memory_bytes: args.connection_memory_bytes,
        simulator: Some(Arc::new(PageSimulator)),
        ..Options::new(&args.data)
    };
    let server = tokio::select! {
        server = Server::start(options) => server?,
        // It may read a long log first. Nothing is lost if that ends, as in a kill.
        _ = interrupt.recv() => return Ok(()),
        _ = terminate.recv() => return Ok(()),
        () = ended(&mut input_end) => return Ok(()),
    };
    *has_store = true;
    readiness::notify(readiness::READY);
    // The output may be closed.
    let _ = if args.json {
        print(ready_line(&server, &args.data, log))
    } else {
        print(screen(&server, &args.data, log).trim_end())
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            () = ended(&mut input_end) => break,
            () = server.stop_requested() => break,
            () = signalled(&mut hangup) => server.reload_certificates().await,
        }
    }
    readiness::notify(readiness::STOPPING);
    server.stop().await
}

/// Waits for a signal; for ever without one.
async fn signalled(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Returns a new directory for a database.
fn temporary_directory() -> rowhouse::Result<TempDir> {
    let directory = tempfile::Builder::new().prefix("rowhouse-").tempdir();
    directory.map_err(|source| Error::io("cannot make a temporary directory", source))
}

/// Returns a signal for the end of the standard input.
fn input_end() -> oneshot::Receiver<()> {
    let (sender, end) = oneshot::channel();
    // A read of the standard input cannot be cancelled: nobody waits for this thread.
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(());
    });
    end
}

/// Waits for the end of the standard input; for ever if that is none.
async fn ended(input_end: &mut Option<oneshot::Receiver<()>>) {
    match input_end {
        Some(end) => drop(end.await),
        None => std::future::pending().await,
    }
}

/// Returns the connection information for a program.
fn ready_line(server: &Server, data: &Path, log: &Path) -> String {
    let address = server.address();
    let announced = address.rsplit_once(':').map_or(address, |(host, _)| host);
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "rpc": address,
        "zookeeper": server.zookeeper().map(|it| it.to_string()),
        "web": server.web().map(|web| web_url(web, announced, server.has_tls())),
        "rest": server.rest().map(|rest| web_url(rest, announced, server.has_tls())),
        "thrift": server.thrift().map(|it| it.to_string()),
        "region_servers": server.region_servers(),
        "data": data,
        "log": log,
    })
    .to_string()
}

/// Returns the connection information for the user, on one screen.
fn screen(server: &Server, data: &Path, log: &Path) -> String {
    let address = server.address();
    let announced = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let data = data.display();
    let log = log.display();
    let has_tls = server.has_tls();
    let web = server.web().map(|web| format!("  web    {}\n", web_url(web, announced, has_tls)));
    let web = web.unwrap_or_default();
    let rest =
        server.rest().map(|rest| format!("  REST   {}\n", web_url(rest, announced, has_tls)));
    let rest = rest.unwrap_or_default();
    let thrift = server.thrift().map(|thrift| format!("  Thrift {thrift}\n")).unwrap_or_default();
    let region_servers = server.region_servers();
    let region_servers = match region_servers.len() {
        1 => String::new(),
        count => format!("  {count} region servers: {}\n", region_servers.join(", ")),
    };
    // The shell connects to the announced host, where plain connections may be refused.
    let shell = if has_tls {
        format!("--connect 'hbase+tls://{address}?ca=FILE'")
    } else {
        format!("--data {data}")
    };
    let tls = if has_tls {
        "  TLS    hbase.client.netty.tls.enabled=true with HBase 2.6 or later\n"
    } else {
        ""
    };
    let registry = "hbase.client.registry.impl=org.apache.hadoop.hbase.client";
    let mut ways = vec![
        format!(
            "{registry}.RpcConnectionRegistry\n       hbase.client.bootstrap.servers={address}"
        ),
        format!("{registry}.MasterRegistry\n       hbase.masters={address}"),
    ];
    if let Some(zookeeper) = server.zookeeper() {
        ways.insert(0, quorum(zookeeper, announced));
    }
    let count = if ways.len() == 3 { "three" } else { "two" };
    let ways = (1..).zip(ways).map(|(number, way)| format!("    {number}. {way}\n"));
    let ways = ways.collect::<String>();
    format!(
        "rowhouse {} serves {data}

  HBase clients connect in one of {count} ways:
{ways}
  shell  rowhouse shell {shell}
{region_servers}{web}{rest}{thrift}{tls}  log    {log}

Ctrl-C stops the server.
",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the settings of HBase's clients for the ZooKeeper port.
fn quorum(zookeeper: SocketAddr, announced: &str) -> String {
    let port = zookeeper.port();
    let host = match zookeeper.ip() {
        // A server that listens on every interface has been given the address for its clients.
        ip if ip.is_unspecified() => announced.to_owned(),
        // HBase's clients take the port from an address with colons.
        IpAddr::V6(ip) => format!("[{ip}]:{port}"),
        ip => ip.to_string(),
    };
    format!("hbase.zookeeper.quorum={host}\n       hbase.zookeeper.property.clientPort={port}")
}

/// Returns the web pages' URL. With TLS it has the announced host, which the certificate names;
/// pages on loopback are not reached by that.
fn web_url(web: SocketAddr, announced: &str, has_tls: bool) -> String {
    if !has_tls {
        format!("http://{web}/")
    } else if web.ip().is_loopback() {
        format!("https://{web}/")
    } else {
        format!("https://{announced}:{}/", web.port())
    }
}

/// The log in the data directory.
struct ServerLog {
    path: PathBuf,
    data: PathBuf,
    /// The file and the directories that were created for it, innermost first.
    created: Vec<PathBuf>,
}

impl ServerLog {
    /// Opens the log. `RUST_LOG` filters its contents.
    fn start(data: &Path, form: LogForm) -> rowhouse::Result<Self> {
        let path = data.join(LOG);
        let places = path.ancestors().filter(|place| !place.as_os_str().is_empty());
        let created = places.take_while(|place| !place.exists()).map(Path::to_owned).collect();
        create_data_directory(data)?;
        let open = || -> io::Result<File> {
            if fs::metadata(&path).is_ok_and(|log| log.len() > LOG_BYTES_MAX) {
                fs::rename(&path, data.join(format!("{LOG}.1")))?;
            }
            OpenOptions::new().create(true).append(true).open(&path)
        };
        let file = open()
            .map_err(|source| Error::io(format_args!("cannot open {}", path.display()), source))?;
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_ansi(false)
            .with_target(false)
            .with_writer(Arc::new(file));
        match form {
            LogForm::Text => log.init(),
            LogForm::Json => log.json().flatten_event(true).init(),
        }
        Ok(Self { path, data: data.to_owned(), created })
    }

    /// Removes what was created for the log of a server that was refused before there was a store.
    fn remove_without_store(&self) {
        if is_data_directory(&self.data) {
            return;
        }
        for place in &self.created {
            // A directory that holds more than the log stays.
            let _ =
                if *place == self.path { fs::remove_file(place) } else { fs::remove_dir(place) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_tls_are_at_the_announced_host() {
        for (web, has_tls, url) in [
            ("0.0.0.0:16010", true, "https://db1:16010/"),
            ("10.0.0.1:16010", true, "https://db1:16010/"),
            ("127.0.0.1:16010", true, "https://127.0.0.1:16010/"),
            ("10.0.0.1:16010", false, "http://10.0.0.1:16010/"),
        ] {
            assert_eq!(web_url(web.parse().unwrap(), "db1", has_tls), url);
        }
    }
}
