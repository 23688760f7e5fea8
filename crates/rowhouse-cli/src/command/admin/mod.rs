//! `rowhouse admin`: changes a running server.

mod fault;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse_client::{Client, RegionServerCall, RegionServerChange, StateCall, Target, state_of};
use rowhouse_model::Snapshot;

use self::fault::FaultCommand;
use crate::command::location::{database_url, directory_of};
use crate::command::{CommandResult, DATA_DIR, argument, runtime};
use crate::counted::counted;
use crate::output::print;
use crate::shell::timestamp;

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
    /// Drop all tables, namespaces and snapshots of a server with --allow-reset
    Reset(ServerArgs),
    /// Save all tables of a server with --allow-reset under a name
    SaveState(StateArgs),
    /// Restore a saved state of all tables of a server with --allow-reset
    RestoreState(StateArgs),
    /// List the saved states
    ListStates(ServerArgs),
    /// Delete a saved state of a server with --allow-reset; tables stay as they are
    DeleteState(StateArgs),
    /// Make calls of clients fail, on a server with --allow-faults
    #[command(subcommand)]
    Fault(FaultCommand),
}

/// A running server.
#[derive(Debug, clap::Args)]
struct ServerArgs {
    /// The data directory of the server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
    /// The server: hbase://HOST:PORT; overrides --data
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
}

impl ServerArgs {
    /// Connects to the server.
    async fn client(&self) -> rowhouse::Result<Client> {
        let url = database_url(&self.data, self.connect.as_deref())?;
        if let Some(data) = directory_of(&url) {
            let data = data.display();
            return Err(Error::invalid(format!(
                "no server holds {data}: name one with --data or --connect"
            )));
        }
        Client::connect(&Target::parse(&url)?).await
    }
}

/// A region server of a running server.
#[derive(Debug, clap::Args)]
struct RegionServerArgs {
    /// Its number, from 0
    number: u32,
    #[command(flatten)]
    server: ServerArgs,
}

/// Arguments of `rowhouse admin stop-region-server`.
#[derive(Debug, clap::Args)]
struct StopArgs {
    #[command(flatten)]
    region_server: RegionServerArgs,
    /// Cut its connections at once, also in the middle of calls, as a crash does
    #[arg(long)]
    kill: bool,
}

/// A saved state of a running server.
#[derive(Debug, clap::Args)]
struct StateArgs {
    /// The state's name
    name: String,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(args: &AdminArgs) -> CommandResult {
    let done = runtime()?.block_on(async {
        match &args.change {
            Change::StartRegionServer(args) => {
                change_region_server(args, RegionServerChange::Start, "started").await
            }
            Change::StopRegionServer(args) if args.kill => {
                change_region_server(&args.region_server, RegionServerChange::Kill, "killed").await
            }
            Change::StopRegionServer(args) => {
                change_region_server(&args.region_server, RegionServerChange::Stop, "stopped").await
            }
            Change::Reset(server) => {
                server.client().await?.admin().change_state(&StateCall::Reset).await?;
                Ok("no tables".to_owned())
            }
            Change::SaveState(StateArgs { name, server }) => {
                let call = StateCall::Save { name: name.clone() };
                server.client().await?.admin().change_state(&call).await?;
                Ok(format!("state {name} saved"))
            }
            Change::RestoreState(StateArgs { name, server }) => {
                let call = StateCall::Restore { name: name.clone() };
                server.client().await?.admin().change_state(&call).await?;
                Ok(format!("state {name} restored"))
            }
            Change::ListStates(server) => {
                Ok(states(&server.client().await?.admin().snapshots().await?))
            }
            Change::DeleteState(StateArgs { name, server }) => {
                let call = StateCall::Delete { name: name.clone() };
                server.client().await?.admin().change_state(&call).await?;
                Ok(format!("state {name} deleted"))
            }
            Change::Fault(command) => fault::run(command).await,
        }
    })?;
    print(done)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a line for each state: the name, the number of tables, when the last was saved.
fn states(snapshots: &[Snapshot]) -> String {
    let mut states: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
    for snapshot in snapshots {
        let Some(state) = state_of(snapshot.name()) else { continue };
        let (tables, saved_ms) = states.entry(state).or_default();
        *tables += 1;
        *saved_ms = snapshot.created.as_millis().max(*saved_ms);
    }
    if states.is_empty() {
        return "no states".to_owned();
    }
    let line = |(state, (tables, saved_ms)): (&&str, &(usize, i64))| {
        format!("{state}  {}  {}", counted(*tables, "table"), timestamp(*saved_ms))
    };
    states.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Changes a region server; returns what is reported.
async fn change_region_server(
    args: &RegionServerArgs,
    change: RegionServerChange,
    done: &str,
) -> rowhouse::Result<String> {
    let call = RegionServerCall { number: args.number, change };
    args.server.client().await?.admin().change_region_server(call).await?;
    Ok(format!("region server {} {done}", args.number))
}
