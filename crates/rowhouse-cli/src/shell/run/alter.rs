//! `alter`, of the template of a table's key, or of its columns.

use std::io::Write;

use rowhouse::{Error, ErrorKind, KeySchema};

use crate::shell::call::{Call, Options};
use crate::shell::failure::{Failure, Result, said};
use crate::shell::grammar::{Hash, Value};
use crate::shell::session::Session;

pub(super) async fn alter<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = call.table()?;
    let has = |pairs: &Hash, wanted: &str| pairs.iter().any(|(name, _)| name == wanted);
    match call.arguments.get(1) {
        Some(Value::Hash(pairs)) if has(pairs, "KEY") && has(pairs, "COLUMNS") => {
            said("KEY and COLUMNS are altered one after the other")
        }
        Some(Value::Hash(pairs)) if has(pairs, "KEY") => {
            alter_key(session, &name, &call, pairs.clone()).await
        }
        Some(Value::Hash(pairs)) if has(pairs, "COLUMNS") => {
            alter_columns(session, &name, &call, pairs.clone()).await
        }
        _ => said(
            "of a table only the template of its key and its columns can be altered yet: KEY => '…' or \
             COLUMNS => '…'",
        ),
    }
}

/// Declares other columns. Cells that do not fit are read by their bytes.
async fn alter_columns<W: Write>(
    session: &mut Session<W>,
    name: &str,
    call: &Call,
    pairs: Hash,
) -> Result<()> {
    let mut options = Options::new(call.command, call.command.name, pairs)?;
    let columns = options.take_text("COLUMNS")?.unwrap_or_default();
    options.finish()?;
    check_exists(session, name).await?;
    session.database.alter_columns(name, &columns).await.map_err(refused)?;
    say_done(session, name).await
}

async fn alter_key<W: Write>(
    session: &mut Session<W>,
    name: &str,
    call: &Call,
    pairs: Hash,
) -> Result<()> {
    let mut options = Options::new(call.command, call.command.name, pairs)?;
    let template = options.take_text("KEY")?.unwrap_or_default();
    let is_forced = options.take_truth("FORCE")?;
    options.finish()?;
    let schema = KeySchema::parse(&template).or_else(|error| said(error.message()))?;

    check_exists(session, name).await?;
    let altered = match is_forced {
        true => session.database.alter_key_unchecked(name, &template).await.map(|()| None),
        false => session.database.alter_key(name, &template).await.map(Some),
    };
    if let Some(fit) = altered.map_err(refused)? {
        session.say(fit)?;
    }
    for finding in schema.check() {
        session.say(format_args!("WARNING: {finding}"))?;
    }
    say_done(session, name).await
}

async fn check_exists<W: Write>(session: &Session<W>, name: &str) -> Result<()> {
    match session.database.table_exists(name).await? {
        true => Ok(()),
        false => said(format!("Table {name} does not exist.")),
    }
}

/// A mistake in what was declared is no answer of a server.
fn refused(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidRequest => Failure::Said(error.message().to_owned()),
        _ => Failure::Database(error),
    }
}

async fn say_done<W: Write>(session: &mut Session<W>, name: &str) -> Result<()> {
    session.say("Updating all regions with the new schema...")?;
    let regions = session.database.table(name).await?.regions().await?.len();
    session.say(format_args!("{regions}/{regions} regions updated."))?;
    session.say("Done.")
}
