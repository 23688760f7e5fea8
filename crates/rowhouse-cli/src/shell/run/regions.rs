//! Commands about the regions of a table.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;

use rowhouse::Bytes;
use rowhouse::admin::{RegionInfo, RegionSwitch, ServerName};
use rowhouse::key::{KeySchema, escape};
use rowhouse_model::escape_controls;

use super::decode;
use super::row::RowArgument;
use super::servers::live_server;
use super::tables::existing;
use crate::shell::call::Call;
use crate::shell::failure::{Result, said};
use crate::shell::session::Session;

/// Prints the region boundaries.
pub(super) async fn splits<W: Write>(
    session: &mut Session<W>,
    mut call: Call,
) -> Result<Vec<String>> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;
    let name = existing(session, &call).await?;
    let table = session.database.table(&name).await?;
    let schema = decode::schema(wanted, &table)?;
    let starts = table.regions().await?.into_iter().map(|region| region.range.start);
    let splits: Vec<Bytes> = starts.filter(|start| !start.is_empty()).collect();
    session.say(format_args!("Total number of splits = {}", splits.len() + 1))?;
    for split in &splits {
        if let Some(schema) = schema {
            session.say(format_args!(" # {}", bound(schema, split)))?;
        }
        session.say(escape(split))?;
    }
    Ok(splits.iter().map(|split| escape(split)).collect())
}

/// Prints the name, start and end of every region, and of a cluster the server, size and requests.
pub(super) async fn list<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;
    let name = existing(session, &call).await?;
    let table = session.database.table(&name).await?;
    let schema = decode::schema(wanted, &table)?;
    let mut regions = table.regions().await?;
    if let Some(server) = call.text_if_given(1)?.filter(|server| !server.is_empty()) {
        let mut served = Vec::new();
        for region in regions {
            let (_, on) = table.locate(&region.range.start).await?;
            if let Some(on) = on
                && is_named(&on, &server).await
            {
                served.push(region);
            }
        }
        regions = served;
    }

    let loads = session.database.admin().status().await?.loads;
    // An embedded database has no servers.
    let has_servers = loads.iter().any(|load| load.name.port > 0);
    let served =
        loads.iter().flat_map(|load| load.regions.iter().map(move |it| (&it.name, (load, it))));
    let served: BTreeMap<_, _> = served.filter(|_| has_servers).collect();
    let mut heading = vec!["REGION_NAME", "START_KEY", "END_KEY"];
    if has_servers {
        heading.insert(0, "SERVER_NAME");
        heading.extend(["SIZE", "REQ"]);
    }
    let heading: Vec<_> = heading.into_iter().map(String::from).collect();
    let cells = |region: &RegionInfo| {
        let name = region.name().full;
        let mut cells: Vec<_> = texts(region).into();
        if has_servers {
            let (server, size, requests) = match served.get(&name) {
                Some((server, load)) => {
                    let requests = (load.reads + load.writes).to_string();
                    (server.name.to_string(), load.file_mib.to_string(), requests)
                }
                None => ("-".into(), "-".into(), "-".into()),
            };
            cells.insert(0, server);
            cells.extend([size, requests]);
        }
        cells
    };
    let lines: Vec<Vec<String>> = regions.iter().map(cells).collect();
    let width = |at: usize| {
        let widest = lines.iter().chain([&heading]).map(|line| line[at].chars().count()).max();
        let least = if is_key(&heading[at]) { KEY_WIDTH_MIN } else { 0 };
        widest.unwrap_or(0).max(least)
    };
    let widths: Vec<_> = (0..heading.len()).map(width).collect();
    session.say(line(&heading, &widths))?;
    let rule: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
    session.say(line(&rule, &widths))?;
    for (region, cells) in regions.iter().zip(&lines) {
        if let Some(schema) = schema {
            let (start, stop) = (&region.range.start, &region.range.stop);
            let bounds = format!("from {} to {}", bound(schema, start), bound(schema, stop));
            session.say(format_args!(" # {bounds}"))?;
        }
        session.say(line(cells, &widths))?;
    }
    session.say(format_args!(" {} rows", regions.len()))
}

/// Returns whether a server's name, `HOST,PORT,START CODE`, begins with `wanted`, which may contain
/// another name or address of its host.
async fn is_named(server: &ServerName, wanted: &str) -> bool {
    if server.to_string().starts_with(wanted) {
        return true;
    }
    let (host, rest) = wanted.split_once(',').unwrap_or((wanted, ""));
    if !format!("{},{}", server.port, server.start_code).starts_with(rest) {
        return false;
    }
    let addresses = addresses(&server.host).await;
    self::addresses(host).await.iter().any(|address| addresses.contains(address))
}

/// Returns the addresses of a host; none when it is unknown.
async fn addresses(host: &str) -> Vec<IpAddr> {
    let found = tokio::net::lookup_host((host, 0)).await;
    found.into_iter().flatten().map(|address| address.ip()).collect()
}

/// Prints the region that has a row, and its server: for each key that the given fields may mean.
pub(super) async fn locate<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let row = RowArgument::of(&call, 1)?;
    let table = session.database.table(&call.table()?).await?;
    let mut found = Vec::new();
    for key in row.keys(&table)? {
        found.push(table.locate(&key).await?);
    }
    session.say("HOST  REGION")?;
    for (region, server) in &found {
        let host = match server {
            Some(server) => format!("{}:{}", server.host, server.port),
            None => "-".into(),
        };
        let (encoded, [name, start, stop]) = (region.name().encoded, texts(region));
        session.say(format_args!(
            " {host} {{ENCODED => {encoded}, NAME => '{name}', STARTKEY => '{start}', ENDKEY => '{stop}'}}"
        ))?;
    }
    session.say(format_args!("{} row(s)", found.len()))
}

/// Splits a region, or each of a table.
pub(super) async fn split<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let named = call.text(0)?;
    let at = if call.arguments.len() > 1 { Some(call.row(1)?) } else { None };
    let is_table = session.database.table_exists(&named).await.unwrap_or(false);
    let regions = match (is_table, &at) {
        (false, _) => vec![find(session, &named).await?],
        (true, None) => session.database.table(&named).await?.regions().await?,
        (true, Some(row)) => {
            let regions = session.database.table(&named).await?.regions().await?;
            regions.into_iter().filter(|region| region.range.contains(row)).collect()
        }
    };
    for region in regions {
        session.database.admin().split_region(&region, at.clone()).await?;
    }
    Ok(())
}

/// Merges adjacent regions.
pub(super) async fn merge<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let mut regions = Vec::new();
    for at in 0..call.arguments.len() {
        regions.push(find(session, &call.text(at)?).await?);
    }
    let [first, rest @ ..] = &regions[..] else { return said("a merge needs two regions or more") };
    if let Some(other) = rest.iter().find(|other| other.table != first.table) {
        return said(format!(
            "regions to merge must be of one table: {}, {}",
            first.table, other.table
        ));
    }
    Ok(session.database.admin().merge_regions(&regions).await?)
}

/// Assigns a region.
pub(super) async fn assign<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let region = find(session, &call.text(0)?).await?;
    Ok(session.database.admin().assign_region(&region).await?)
}

/// Unassigns a region.
pub(super) async fn unassign<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let region = find(session, &call.text(0)?).await?;
    Ok(session.database.admin().unassign_region(&region).await?)
}

/// Moves a region.
pub(super) async fn move_to<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let region = find(session, &call.text(0)?).await?;
    let Some(named) = call.text_if_given(1)? else {
        return Ok(session.database.admin().move_region(&region).await?);
    };
    let server = live_server(session, &named).await?;
    Ok(session.database.admin().move_region_to(&region, &server).await?)
}

/// Prints whether splits, or merges, are enabled.
pub(super) async fn switch<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let on = session.database.admin().region_switch(named_switch(&call)?).await?;
    session.say(on)
}

/// Enables or disables splits, or merges, and prints the previous state.
pub(super) async fn set_switch<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let switch = named_switch(&call)?;
    let on = call.truth(1)?;
    let before = session.database.admin().set_region_switch(switch, on).await?;
    session.say(before)
}

fn named_switch(call: &Call) -> Result<RegionSwitch> {
    let named = call.text(0)?;
    match &*named.to_uppercase() {
        "SPLIT" => Ok(RegionSwitch::Split),
        "MERGE" => Ok(RegionSwitch::Merge),
        _ => said(format!("a switch is 'SPLIT' or 'MERGE': {named}")),
    }
}

/// Returns the region with this full or encoded name.
pub(super) async fn find<W: Write>(session: &Session<W>, named: &str) -> Result<RegionInfo> {
    let table = named.split_once(',').map(|(table, _)| table);
    for name in session.database.tables().await? {
        let name = name.to_string();
        if table.is_some_and(|table| table != name) {
            continue;
        }
        for region in session.database.table(&name).await?.regions().await? {
            let is_named = region.name();
            if is_named.encoded == named || escape(&is_named.full) == named {
                return Ok(region);
            }
        }
    }
    said(format!("no such table or region, as list_regions names them: {named}"))
}

/// The minimum width of the column for a key, as in HBase's shell.
const KEY_WIDTH_MIN: usize = 10;

/// Returns the full name of a region, its first row and its end.
fn texts(region: &RegionInfo) -> [String; 3] {
    let name = escape(&region.name().full);
    [name, escape(&region.range.start), escape(&region.range.stop)]
}

fn is_key(heading: &str) -> bool {
    heading.ends_with("_KEY")
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths).map(|(text, width)| format!(" {text:>width$} |"));
    cells.collect()
}

/// Returns the fields of a key that a region boundary determines.
fn bound(schema: &KeySchema, key: &[u8]) -> String {
    escape_controls(&schema.read_prefix(key).to_string())
}
