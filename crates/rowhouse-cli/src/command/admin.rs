//! `rowhouse admin`: changes a running server.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse_client::{Client, RegionServerCall, RegionServerChange, Target};

use super::location::{database_url, directory_of};
use super::{CommandResult, DATA_DIR, argument, runtime};
use crate::output::print;

/// Arguments of `rowhouse admin`.
#[derive(Debug, clap::Args)]
pub(crate) struct AdminArgs {
    #[command(subcommand)]
    change: Change,
}

/// The changes.
#[derive(Debug, clap::Subcommand)]
enum Change {
    /// Start a region server that was stopped
    StartRegionServer(RegionServerArgs),
    /// Stop a region server, as if its machine were shut down: its regions go to the others
    StopRegionServer(StopArgs),
}

/// A region server of a running server.
#[derive(Debug, clap::Args)]
struct RegionServerArgs {
    /// The region server's number, from 0
    number: u32,
    /// The data directory of the server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
    /// The server: hbase://HOST:PORT; overrides --data
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
}

/// Arguments of `rowhouse admin stop-region-server`.
#[derive(Debug, clap::Args)]
struct StopArgs {
    #[command(flatten)]
    server: RegionServerArgs,
    /// Cut its connections at once, also in the middle of calls, as a crash does
    #[arg(long)]
    kill: bool,
}

/// Makes the change and prints it.
pub(crate) fn run(args: &AdminArgs) -> CommandResult {
    let (server, change, done) = match &args.change {
        Change::StartRegionServer(server) => (server, RegionServerChange::Start, "started"),
        Change::StopRegionServer(args) if args.kill => {
            (&args.server, RegionServerChange::Kill, "killed")
        }
        Change::StopRegionServer(args) => (&args.server, RegionServerChange::Stop, "stopped"),
    };
    let url = database_url(&server.data, server.connect.as_deref())?;
    if let Some(data) = directory_of(&url) {
        let data = data.display();
        return Err(Error::invalid(format!(
            "no server holds {data}: name one with --data or --connect"
        )));
    }
    let runtime = runtime()?;
    let call = RegionServerCall { number: server.number, change };
    runtime.block_on(async {
        let client = Client::connect(&Target::parse(&url)?).await?;
        client.admin().change_region_server(call).await
    })?;
    print(format_args!("region server {} {done}", server.number))?;
    Ok(ExitCode::SUCCESS)
}
