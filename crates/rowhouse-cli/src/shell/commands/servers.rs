//! Region servers in a cluster: balancing, decommissioning, stopping.

use super::regions::find;
use super::status::{live_server, live_servers, one_of, say_servers};
use crate::heat::TableHeat;
use crate::shell::argument::text;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, optional, repeated, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["balance_switch"],
        group: Group::General,
        arguments: &[required("ON")],
        options: &[],
        about: "Switches the balancer of a cluster on or off, and shows whether it was on.",
        details: "",
        examples: &["balance_switch false"],
        run: Changes(|session, call| boxed(switch_balancer(session, call))),
    },
    Command {
        names: &["balancer"],
        group: Group::General,
        arguments: &[repeated("ARGUMENT")],
        options: &[],
        about: "Runs the balancer of a cluster once, unless it is switched off.",
        details: "'dry_run' only counts the moves. 'ignore_rit' is accepted: regions are never in transition.",
        examples: &["balancer", "balancer 'dry_run'"],
        run: Changes(|session, call| boxed(balance(session, call))),
    },
    Command {
        names: &["balancer_enabled"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Shows whether the balancer of a cluster is switched on.",
        details: "",
        examples: &["balancer_enabled"],
        run: Reads(|session, _| boxed(balancer(session))),
    },
    Command {
        names: &["clear_deadservers"],
        group: Group::General,
        arguments: &[repeated("SERVER")],
        options: &[],
        about: "Makes a cluster forget servers that are dead.",
        details: "Without names it forgets all.",
        examples: &["clear_deadservers", "clear_deadservers '127.0.0.1,16021,1795220131100'"],
        run: Changes(|session, call| boxed(clear_dead(session, call))),
    },
    Command {
        names: &["decommission_regionservers"],
        group: Group::General,
        arguments: &[required("SERVERS"), optional("OFFLOAD")],
        options: &[],
        about: "Marks servers of a cluster as decommissioned: they get no new regions.",
        details: "With OFFLOAD true their regions move to other servers. A server is named as in list_liveservers, or by its host and port.",
        examples: &[
            "decommission_regionservers '127.0.0.1:16021'",
            "decommission_regionservers ['127.0.0.1:16021', '127.0.0.1:16022'], true",
        ],
        run: Changes(|session, call| boxed(decommission(session, call))),
    },
    Command {
        names: &["hot"],
        group: Group::Tables,
        arguments: &[TABLE, OPTIONS],
        options: &[("MINUTES", "only the last so many minutes; all that is kept by default")],
        about: "Shows where the requests of a table are, by key, and which field makes it so.",
        details: "rowhouse heat draws the same.",
        examples: &["hot 'mail'", "hot 'mail', {MINUTES => 10}"],
        run: Reads(|session, call| boxed(hot(session, call))),
    },
    Command {
        names: &["list_decommissioned_regionservers"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Lists the servers of a cluster that are decommissioned.",
        details: "",
        examples: &["list_decommissioned_regionservers"],
        run: Reads(|session, _| boxed(decommissioned(session))),
    },
    Command {
        names: &["recommission_regionserver"],
        group: Group::General,
        arguments: &[required("SERVER"), optional("REGIONS")],
        options: &[],
        about: "Removes the mark of a decommissioned server, and moves regions to it.",
        details: "Regions are an array of names as in list_regions.",
        examples: &[
            "recommission_regionserver '127.0.0.1:16021'",
            "recommission_regionserver '127.0.0.1:16021', ['4dba5f1d1e1cf0a6ff7ae8b1f6d3ad39']",
        ],
        run: Changes(|session, call| boxed(recommission(session, call))),
    },
    Command {
        names: &["stop_regionserver"],
        group: Group::General,
        arguments: &[required("SERVER")],
        options: &[],
        about: "Stops a region server of a cluster; its regions move to the others.",
        details: "",
        examples: &["stop_regionserver '127.0.0.1:16021'"],
        run: Changes(|session, call| boxed(stop(session, call))),
    },
];

async fn balance(session: &mut Session, call: Call) -> Result<()> {
    let mut is_dry = false;
    for at in 0..call.arguments.len() {
        match &*call.text(at)? {
            "dry_run" => is_dry = true,
            "ignore_rit" => {}
            other => {
                return usage_error(format!("balancer takes 'dry_run' and 'ignore_rit': {other}"));
            }
        }
    }
    let done = session.database.admin().balance(is_dry).await?;
    if !done.ran {
        return session.say("Balancer did not run: it is switched off.");
    }
    let planned = done.planned;
    let made = done.made;
    session.say("Balancer ran")?;
    session.say(format_args!("Moves calculated: {planned}, moves executed: {made}"))
}

async fn switch_balancer(session: &mut Session, call: Call) -> Result<()> {
    let before = session.database.admin().set_balancer(call.truth(0)?).await?;
    session.say(format_args!("Previous balancer state : {before}"))
}

async fn balancer(session: &mut Session) -> Result<()> {
    let on = session.database.admin().balancer().await?;
    session.say(on)
}

async fn decommission(session: &mut Session, call: Call) -> Result<()> {
    let servers = live_servers(session, &names(&call, 0)?).await?;
    let offload = if call.arguments.len() > 1 { call.truth(1)? } else { false };
    Ok(session.database.admin().decommission(&servers, offload).await?)
}

async fn decommissioned(session: &mut Session) -> Result<()> {
    let servers = session.database.admin().decommissioned().await?;
    say_servers(session, &servers)
}

async fn recommission(session: &mut Session, call: Call) -> Result<()> {
    let server = live_server(session, &call.text(0)?).await?;
    let mut regions = Vec::new();
    if call.arguments.len() > 1 {
        for name in names(&call, 1)? {
            regions.push(find(session, &name).await?);
        }
    }
    Ok(session.database.admin().recommission(&server, &regions).await?)
}

async fn clear_dead(session: &mut Session, call: Call) -> Result<()> {
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

/// Prints table heat.
async fn hot(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let minutes = options.take_count("MINUTES")?;
    options.finish()?;
    let heat = TableHeat::read(&session.database, &call.table()?, minutes).await?;
    heat.lines().iter().try_for_each(|line| session.say(line))
}

async fn stop(session: &mut Session, call: Call) -> Result<()> {
    let server = live_server(session, &call.text(0)?).await?;
    Ok(session.database.admin().stop_region_server(&server).await?)
}

/// Returns the names in an argument: one text, or an array with them.
fn names(call: &Call, at: usize) -> Result<Vec<String>> {
    match call.arguments.get(at) {
        Some(Value::Array(values)) => values.iter().map(|value| text("SERVER", value)).collect(),
        _ => Ok(vec![call.text(at)?]),
    }
}
