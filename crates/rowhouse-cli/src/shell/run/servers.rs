//! The region servers of a cluster: balancing, decommissioning, stopping.

use std::io::Write;

use rowhouse::admin::ServerName;

use super::regions::find;
use super::status::say_servers;
use crate::heat::TableHeat;
use crate::shell::call::{Call, text};
use crate::shell::failure::{Result, said};
use crate::shell::grammar::Value;
use crate::shell::session::Session;

pub(super) async fn balance<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let mut is_dry = false;
    for at in 0..call.arguments.len() {
        match &*call.text(at)? {
            "dry_run" => is_dry = true,
            "ignore_rit" => {}
            other => return said(format!("balancer takes 'dry_run' and 'ignore_rit': {other}")),
        }
    }
    let done = session.database.admin().balance(is_dry).await?;
    if !done.ran {
        return session.say("Balancer did not run: it is switched off.");
    }
    let (planned, made) = (done.planned, done.made);
    session.say("Balancer ran")?;
    session.say(format_args!("Moves calculated: {planned}, moves executed: {made}"))
}

pub(super) async fn switch_balancer<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let before = session.database.admin().set_balancer(call.truth(0)?).await?;
    session.say(format_args!("Previous balancer state : {before}"))
}

pub(super) async fn balancer<W: Write>(session: &mut Session<W>) -> Result<()> {
    let on = session.database.admin().balancer().await?;
    session.say(on)
}

pub(super) async fn decommission<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let servers = live_servers(session, &names(&call, 0)?).await?;
    let offload = if call.arguments.len() > 1 { call.truth(1)? } else { false };
    Ok(session.database.admin().decommission(&servers, offload).await?)
}

pub(super) async fn decommissioned<W: Write>(session: &mut Session<W>) -> Result<()> {
    let servers = session.database.admin().decommissioned().await?;
    say_servers(session, &servers)
}

pub(super) async fn recommission<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let server = live_server(session, &call.text(0)?).await?;
    let mut regions = Vec::new();
    if call.arguments.len() > 1 {
        for name in names(&call, 1)? {
            regions.push(find(session, &name).await?);
        }
    }
    Ok(session.database.admin().recommission(&server, &regions).await?)
}

pub(super) async fn clear_dead<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let mut dead = session.database.admin().status().await?.dead_servers;
    if !call.arguments.is_empty() {
        let mut named = Vec::new();
        for at in 0..call.arguments.len() {
            for name in names(&call, at)? {
                named.push(one_of(&dead, &name, "dead server")?);
            }
        }
        dead = named;
    }
    let left = session.database.admin().clear_dead_servers(&dead).await?;
    say_servers(session, &left)
}

/// Prints the heat of a table.
pub(super) async fn hot<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let minutes = options.take_count("MINUTES")?;
    options.finish()?;
    let heat = TableHeat::read(&session.database, &call.table()?, minutes).await?;
    heat.lines().iter().try_for_each(|line| session.say(line))
}

pub(super) async fn stop<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let server = live_server(session, &call.text(0)?).await?;
    Ok(session.database.admin().stop_region_server(&server).await?)
}

/// Returns the names in an argument: one text, or an array of them.
fn names(call: &Call, at: usize) -> Result<Vec<String>> {
    match call.arguments.get(at) {
        Some(Value::Array(values)) => values.iter().map(|value| text("SERVER", value)).collect(),
        _ => Ok(vec![call.text(at)?]),
    }
}

/// Returns the live server of this name.
pub(super) async fn live_server<W: Write>(session: &Session<W>, named: &str) -> Result<ServerName> {
    let live = session.database.admin().status().await?.live_servers;
    one_of(&live, named, "live server")
}

async fn live_servers<W: Write>(session: &Session<W>, named: &[String]) -> Result<Vec<ServerName>> {
    let live = session.database.admin().status().await?.live_servers;
    named.iter().map(|name| one_of(&live, name, "live server")).collect()
}

/// Returns the server that is named in full, or by its host and port.
fn one_of(servers: &[ServerName], named: &str, what: &str) -> Result<ServerName> {
    let is_named = |server: &&ServerName| {
        let (host, port) = (&server.host, server.port);
        named == server.to_string()
            || named == format!("{host}:{port}")
            || named == format!("{host},{port}")
    };
    match servers.iter().find(is_named) {
        Some(server) => Ok(server.clone()),
        None => said(format!("no such {what}, as status names them: {named}")),
    }
}
