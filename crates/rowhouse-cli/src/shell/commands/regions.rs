//! Commands about table regions.

use std::collections::BTreeMap;
use std::net::IpAddr;

use rowhouse::admin::{RegionInfo, RegionSwitch, ServerName};
use rowhouse::key::{KeySchema, escape};
use rowhouse::{Bytes, Table};
use rowhouse_model::escape_controls;

use super::decode::{self, DECODE};
use super::row::RowArgument;
use super::status::live_server;
use super::tables::existing;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, optional, repeated, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["assign"],
        group: Group::Tables,
        arguments: &[required("REGION")],
        options: &[],
        about: "Puts a region into service.",
        details: "A region is its name in list_regions, or the hexadecimal digits in that name.",
        examples: &["assign '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39'"],
        run: Changes(|session, call| boxed(assign(session, call))),
    },
    Command {
        names: &["get_splits"],
        group: Group::Tables,
        arguments: &[TABLE, OPTIONS],
        options: &[DECODE],
        about: "Shows the split keys of a table.",
        details: "",
        examples: &["get_splits 'blog'"],
        run: Reads(|session, call| boxed(splits(session, call))),
    },
    Command {
        names: &["list_regions"],
        group: Group::Tables,
        arguments: &[TABLE, optional("SERVER"), OPTIONS],
        options: &[DECODE],
        about: "Lists the regions of a table, or those on a server: name, start key and end key.",
        details: "A server is HOST,PORT,STARTCODE or a prefix of it; the host can be any of its \
                  names or addresses.\nThrough a server, servers, sizes in MiB and requests are shown too.",
        examples: &[
            "list_regions 'blog'",
            "list_regions 'blog', 'localhost'",
            "list_regions 'blog', DECODE => false",
        ],
        run: Reads(|session, call| boxed(list(session, call))),
    },
    Command {
        names: &["locate_region"],
        group: Group::Tables,
        arguments: &[TABLE, required("ROW")],
        options: &[],
        about: "Shows the region of a row, and its server.",
        details: "The row need not exist. A data directory has one server: localhost, port 0.",
        examples: &[
            "locate_region 'blog', '1'",
            "locate_region 'mail', {user => 'bob', at => '2022-12-05T10:00'}",
        ],
        run: Reads(|session, call| boxed(locate(session, call))),
    },
    Command {
        names: &["merge_region"],
        group: Group::Tables,
        arguments: &[required("REGION"), required("REGION"), repeated("REGION")],
        options: &[],
        about: "Merges adjacent regions of a table into one.",
        details: "A region is its name in list_regions, or the hexadecimal digits in that name.",
        examples: &[
            "merge_region '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39', 'f0e4c2f76c58916ec258f246851bea09'",
        ],
        run: Changes(|session, call| boxed(merge(session, call))),
    },
    Command {
        names: &["move"],
        group: Group::Tables,
        arguments: &[required("REGION"), optional("SERVER")],
        options: &[],
        about: "Moves a region of a cluster to another server.",
        details: "A region is its name in list_regions, or the hexadecimal digits in that \
                  name. A server is named as in list_liveservers, or by its host and port.\n\
                  Without another server the region stays.",
        examples: &[
            "move '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39'",
            "move '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39', '127.0.0.1:16021'",
        ],
        run: Changes(|session, call| boxed(move_to(session, call))),
    },
    Command {
        names: &["split"],
        group: Group::Tables,
        arguments: &[required("TABLE or REGION"), optional("ROW")],
        options: &[],
        about: "Splits a region in two.",
        details: "At a row, which begins the second region, or in the middle of the region's \
                  data. Without a row,\neach region of a table is split. A region is its name in \
                  list_regions, or the hexadecimal digits in that name.",
        examples: &[
            "split 'blog'",
            "split 'blog', '5'",
            "split '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39', '5'",
        ],
        run: Changes(|session, call| boxed(split(session, call))),
    },
    Command {
        names: &["splitormerge_enabled"],
        group: Group::Tables,
        arguments: &[required("SWITCH")],
        options: &[],
        about: "Shows whether regions are split, or merged.",
        details: "SWITCH is 'SPLIT' or 'MERGE'.",
        examples: &["splitormerge_enabled 'SPLIT'"],
        run: Reads(|session, call| boxed(switch(session, call))),
    },
    Command {
        names: &["splitormerge_switch"],
        group: Group::Tables,
        arguments: &[required("SWITCH"), required("BOOLEAN")],
        options: &[],
        about: "Sets whether regions are split, or merged, and shows the previous setting.",
        details: "SWITCH is 'SPLIT' or 'MERGE'. It applies to all tables until it is changed. \
                  Regions are split on request, and\nautomatically when they are too large; they \
                  are merged on request.",
        examples: &["splitormerge_switch 'SPLIT', false", "splitormerge_switch 'MERGE', true"],
        run: Changes(|session, call| boxed(set_switch(session, call))),
    },
    Command {
        names: &["truncate_region"],
        group: Group::Tables,
        arguments: &[required("REGION")],
        options: &[],
        about: "Deletes all rows of a region at once.",
        details: "A region is its name in list_regions, or the hexadecimal digits in that \
                  name.\nNo markers are written. Indexes of the table are built anew.",
        examples: &["truncate_region '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39'"],
        run: Changes(|session, call| boxed(truncate(session, call))),
    },
    Command {
        names: &["unassign"],
        group: Group::Tables,
        arguments: &[required("REGION")],
        options: &[],
        about: "Takes a region out of service until it is assigned.",
        details: "A region is its name in list_regions, or the hexadecimal digits in that \
                  name.\nReads and writes of its rows are refused meanwhile.",
        examples: &["unassign '4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39'"],
        run: Changes(|session, call| boxed(unassign(session, call))),
    },
];

/// Prints the region boundaries.
async fn splits(session: &mut Session, mut call: Call) -> Result<Vec<String>> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let is_decoded = decode::take(&mut options)?;
    options.finish()?;
    let name = existing(session, &call).await?;
    let table = session.database.table(&name).await?;
    let schema = decode::schema(is_decoded, &table)?;
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

/// Prints the name, start and end of every region, and on a cluster the server, size and requests.
async fn list(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let is_decoded = decode::take(&mut options)?;
    options.finish()?;
    let name = existing(session, &call).await?;
    let table = session.database.table(&name).await?;
    let schema = decode::schema(is_decoded, &table)?;
    let server = call.text_if_given(1)?.filter(|server| !server.is_empty());
    let regions = regions_on(&table, server.as_deref()).await?;

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
            let start = &region.range.start;
            let stop = &region.range.stop;
            let bounds = format!("from {} to {}", bound(schema, start), bound(schema, stop));
            session.say(format_args!(" # {bounds}"))?;
        }
        session.say(line(cells, &widths))?;
    }
    session.say(format_args!(" {} rows", regions.len()))
}

/// Returns a table's regions, or only the regions on a server.
async fn regions_on(table: &Table, server: Option<&str>) -> Result<Vec<RegionInfo>> {
    let Some(server) = server else { return Ok(table.regions().await?) };
    let mut served = Vec::new();
    for (region, on) in table.regions_with_servers().await? {
        if let Some(on) = on
            && is_named(&on, server).await
        {
            served.push(region);
        }
    }
    Ok(served)
}

/// Returns true if a server's name, `HOST,PORT,START CODE`, begins with `prefix`, which may contain
/// another name or address for the host.
async fn is_named(server: &ServerName, prefix: &str) -> bool {
    if server.to_string().starts_with(prefix) {
        return true;
    }
    let (host, rest) = prefix.split_once(',').unwrap_or((prefix, ""));
    if !format!("{},{}", server.port, server.start_code).starts_with(rest) {
        return false;
    }
    let addresses = addresses(&server.host).await;
    self::addresses(host).await.iter().any(|address| addresses.contains(address))
}

/// Returns a host's addresses; none when it is unknown.
async fn addresses(host: &str) -> Vec<IpAddr> {
    let lookup = tokio::net::lookup_host((host, 0)).await;
    lookup.into_iter().flatten().map(|address| address.ip()).collect()
}

/// Prints the region that has a row, and the server: for each key that the given fields may mean.
async fn locate(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let row = RowArgument::of(&call, 1)?;
    let table = session.database.table(&call.table()?).await?;
    let mut located = Vec::new();
    for key in row.keys(&table)? {
        located.push(table.locate(&key).await?);
    }
    session.say("HOST  REGION")?;
    for (region, server) in &located {
        let host = match server {
            Some(server) => server.address(),
            None => "-".into(),
        };
        let (encoded, [name, start, stop]) = (region.name().encoded, texts(region));
        session.say(format_args!(
            " {host} {{ENCODED => {encoded}, NAME => '{name}', STARTKEY => '{start}', ENDKEY => '{stop}'}}"
        ))?;
    }
    session.say(format_args!("{} row(s)", located.len()))
}

/// Splits a region, or each region in a table.
async fn split(session: &mut Session, call: Call) -> Result<()> {
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
async fn merge(session: &mut Session, call: Call) -> Result<()> {
    let mut regions = Vec::new();
    for at in 0..call.arguments.len() {
        regions.push(find(session, &call.text(at)?).await?);
    }
    let [first, rest @ ..] = &regions[..] else {
        return usage_error("a merge needs two regions or more");
    };
    if let Some(other) = rest.iter().find(|other| other.table != first.table) {
        return usage_error(format!(
            "regions to merge must be of one table: {}, {}",
            first.table, other.table
        ));
    }
    Ok(session.database.admin().merge_regions(&regions).await?)
}

/// Assigns a region.
async fn assign(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let region = find(session, &call.text(0)?).await?;
    Ok(session.database.admin().assign_region(&region).await?)
}

/// Unassigns a region.
async fn unassign(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let region = find(session, &call.text(0)?).await?;
    Ok(session.database.admin().unassign_region(&region).await?)
}

/// Truncates a region.
async fn truncate(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let region = find(session, &call.text(0)?).await?;
    Ok(session.database.admin().truncate_region(&region).await?)
}

/// Moves a region.
async fn move_to(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let region = find(session, &call.text(0)?).await?;
    let Some(named) = call.text_if_given(1)? else {
        return Ok(session.database.admin().move_region(&region).await?);
    };
    let server = live_server(session, &named).await?;
    Ok(session.database.admin().move_region_to(&region, &server).await?)
}

/// Prints whether splits, or merges, are enabled.
async fn switch(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let on = session.database.admin().region_switch(named_switch(&call)?).await?;
    session.say(on)
}

/// Enables or disables splits, or merges, and prints the previous state.
async fn set_switch(session: &mut Session, call: Call) -> Result<()> {
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
        _ => usage_error(format!("a switch is 'SPLIT' or 'MERGE': {named}")),
    }
}

/// Returns the region with this full or encoded name.
pub(super) async fn find(session: &Session, named: &str) -> Result<RegionInfo> {
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
    usage_error(format!("no such table or region, as list_regions names them: {named}"))
}

/// The minimum width for the key column, as in HBase's shell.
const KEY_WIDTH_MIN: usize = 10;

/// Returns a region's full name, the first row and the end.
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

/// Returns the key fields that a region boundary determines.
fn bound(schema: &KeySchema, key: &[u8]) -> String {
    escape_controls(&schema.read_prefix(key).to_string())
}
