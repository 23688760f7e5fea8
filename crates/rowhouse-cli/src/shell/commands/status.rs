//! Servers and their load.

use rowhouse::admin::{ClusterStatus, RegionLoad, ServerLoad, ServerName};
use rowhouse::key::escape;

use crate::counted::counted;
use crate::shell::command::Action::Reads;
use crate::shell::command::{Call, Command, Group, optional};
use crate::shell::failure::{Result, usage_error};
use crate::shell::print::timestamp;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["list_deadservers"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Lists the servers of a cluster that are known to be dead.",
        details: "",
        examples: &["list_deadservers"],
        run: Reads(|session, _| boxed(dead(session))),
    },
    Command {
        names: &["list_liveservers"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Lists the servers that are alive.",
        details: "",
        examples: &["list_liveservers"],
        run: Reads(|session, _| boxed(live(session))),
    },
    Command {
        names: &["processlist"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Lists running tasks of the servers: flushes, compactions, splits, builds of indexes.",
        details: "",
        examples: &["processlist"],
        run: Reads(|session, _| boxed(tasks(session))),
    },
    Command {
        names: &["status"],
        group: Group::General,
        arguments: &[optional("FORMAT")],
        options: &[],
        about: "Shows servers, regions and their contents: 'summary', 'simple', 'detailed', or running 'tasks'.",
        details: "A data directory has one server, this process: localhost, port 0.",
        examples: &["status", "status 'simple'", "status 'detailed'", "status 'tasks'"],
        run: Reads(|session, call| boxed(status(session, call))),
    },
];

async fn status(session: &mut Session, call: Call) -> Result<()> {
    let format = call.text_if_given(0)?.unwrap_or("summary".into());
    match &*format {
        "summary" | "simple" | "detailed" => {}
        "tasks" => return tasks(session).await,
        "replication" => {
            return usage_error(
                "status 'replication': there are no peers; what HBase has replicated to here stands in /metrics, \
                 and in the status that HBase's shell shows",
            );
        }
        _ => {
            return usage_error(format!(
                "a status is 'summary', 'simple', 'detailed' or 'tasks': {format}"
            ));
        }
    }
    let status = session.database.admin().status().await?;
    let text = match &*format {
        "simple" => simple(&status),
        "detailed" => detailed(&status),
        _ => vec![summary(&status)],
    };
    text.iter().try_for_each(|line| session.say(line))
}

async fn tasks(session: &mut Session) -> Result<()> {
    let loads = session.database.admin().status().await?.loads;
    let tasks: Vec<_> =
        loads.iter().flat_map(|load| load.tasks.iter().map(|task| (&load.name, task))).collect();
    session.say(counted(tasks.len() as u64, "task"))?;
    for (server, task) in tasks {
        let started = timestamp(task.started_millis);
        session.say(format_args!(
            "    {} since {started}: {}, {}",
            server.host, task.description, task.status
        ))?;
    }
    Ok(())
}

async fn live(session: &mut Session) -> Result<()> {
    let servers = session.database.admin().status().await?.live_servers;
    say_servers(session, &servers)
}

async fn dead(session: &mut Session) -> Result<()> {
    let servers = session.database.admin().status().await?.dead_servers;
    say_servers(session, &servers)
}

pub(super) fn say_servers(session: &mut Session, servers: &[ServerName]) -> Result<()> {
    session.say("SERVERNAME")?;
    for server in servers {
        session.say(server)?;
    }
    session.say(format_args!("{} row(s)", servers.len()))
}

/// Returns the live server with this name.
pub(super) async fn live_server(session: &Session, named: &str) -> Result<ServerName> {
    let live = session.database.admin().status().await?.live_servers;
    one_of(&live, named, "live server")
}

/// Returns the live servers with these names.
pub(super) async fn live_servers(session: &Session, named: &[String]) -> Result<Vec<ServerName>> {
    let live = session.database.admin().status().await?.live_servers;
    named.iter().map(|name| one_of(&live, name, "live server")).collect()
}

/// Returns the server that is named in full, or by host and port.
pub(super) fn one_of(servers: &[ServerName], named: &str, what: &str) -> Result<ServerName> {
    let is_named = |server: &&ServerName| {
        let host = &server.host;
        let port = server.port;
        named == server.to_string()
            || named == server.address()
            || named == format!("{host},{port}")
    };
    match servers.iter().find(is_named) {
        Some(server) => Ok(server.clone()),
        None => usage_error(format!("no such {what}, as status names them: {named}")),
    }
}

fn summary(status: &ClusterStatus) -> String {
    let regions: usize = status.loads.iter().map(|load| load.regions.len()).sum();
    let servers = status.live_servers.len();
    format!(
        "{} active master, {} backup masters, {servers} servers, {} dead, {:.4} average load",
        usize::from(status.master.is_some()),
        status.backup_masters.len(),
        status.dead_servers.len(),
        regions as f64 / servers.max(1) as f64
    )
}

fn simple(status: &ClusterStatus) -> Vec<String> {
    let mut lines = masters(status);
    lines.push(format!("{} live servers", status.live_servers.len()));
    for load in &status.loads {
        lines.push(format!("    {}", shown(&load.name)));
        lines.push(format!("        {}", server(load)));
    }
    lines.extend(dead_servers(status));
    let requests: u64 = status.loads.iter().map(|load| load.requests_per_second).sum();
    let regions: usize = status.loads.iter().map(|load| load.regions.len()).sum();
    lines.push(format!("Aggregate load: {requests}, regions: {regions}"));
    lines
}

fn detailed(status: &ClusterStatus) -> Vec<String> {
    let mut lines = vec![
        format!("version {}", status.version),
        format!("{} regionsInTransition", status.regions_in_transition),
    ];
    lines.extend(masters(status));
    lines.push(format!("{} live servers", status.live_servers.len()));
    for load in &status.loads {
        lines.push(format!("    {}", shown(&load.name)));
        lines.push(format!("        {}", server(load)));
        for region in &load.regions {
            lines.push(format!("        \"{}\"", escape(&region.name)));
            lines.push(format!("            {}", counts(std::slice::from_ref(region))));
        }
    }
    lines.extend(dead_servers(status));
    lines
}

fn masters(status: &ClusterStatus) -> Vec<String> {
    let active = status.master.iter().map(|master| format!("active master:  {}", shown(master)));
    let mut lines: Vec<_> = active.collect();
    lines.push(format!("{} backup masters", status.backup_masters.len()));
    lines.extend(status.backup_masters.iter().map(|master| format!("    {}", shown(master))));
    lines
}

fn dead_servers(status: &ClusterStatus) -> Vec<String> {
    let mut lines = vec![format!("{} dead servers", status.dead_servers.len())];
    lines.extend(status.dead_servers.iter().map(|server| format!("    {server}")));
    lines
}

/// `host:port start`.
fn shown(server: &ServerName) -> String {
    format!("{}:{} {}", server.host, server.port, server.start_code)
}

/// Returns a server's status in HBase's form, limited to the values that every server has.
fn server(load: &ServerLoad) -> String {
    format!(
        "requestsPerSecond={:.1}, numberOfOnlineRegions={}, {}",
        load.requests_per_second as f64,
        load.regions.len(),
        counts(&load.regions)
    )
}

fn counts(regions: &[RegionLoad]) -> String {
    let sum = |of: fn(&RegionLoad) -> u64| regions.iter().map(of).sum::<u64>();
    format!(
        "numberOfStores={}, numberOfStorefiles={}, storefileUncompressedSizeMB={}, storefileSizeMB={}, \
         memstoreSizeMB={}, readRequestsCount={}, writeRequestsCount={}",
        sum(|region| region.stores),
        sum(|region| region.files),
        sum(|region| region.uncompressed_mib),
        sum(|region| region.file_mib),
        sum(|region| region.memstore_mib),
        sum(|region| region.reads),
        sum(|region| region.writes)
    )
}
