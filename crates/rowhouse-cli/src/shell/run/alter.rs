//! `alter`, of the template of a table's key.

use std::io::Write;

use rowhouse::{ErrorKind, KeySchema};

use crate::shell::call::{Call, Options};
use crate::shell::failure::{Failure, Result, said};
use crate::shell::grammar::Value;
use crate::shell::session::Session;

pub(super) async fn alter<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = call.table()?;
    let pairs = match call.arguments.get(1) {
        Some(Value::Hash(pairs)) if pairs.iter().any(|(name, _)| name == "KEY") => pairs.clone(),
        _ => return said("of a table only the template of its key can be altered yet: KEY => '…'"),
    };
    let mut options = Options::new(call.command, call.command.name, pairs)?;
    let template = options.take_text("KEY")?.unwrap_or_default();
    let is_forced = options.take_truth("FORCE")?;
    options.finish()?;
    let schema = KeySchema::parse(&template).or_else(|error| said(error.message()))?;

    if !session.database.table_exists(&name).await? {
        return said(format!("Table {name} does not exist."));
    }
    let altered = match is_forced {
        true => session.database.alter_key_unchecked(&name, &template).await.map(|()| None),
        false => session.database.alter_key(&name, &template).await.map(Some),
    };
    let fit = altered.map_err(|error| match error.kind() {
        ErrorKind::InvalidRequest => Failure::Said(error.message().to_owned()),
        _ => Failure::Database(error),
    })?;
    if let Some(fit) = fit {
        session.say(fit)?;
    }
    for finding in schema.check() {
        session.say(format_args!("WARNING: {finding}"))?;
    }
    session.say("Updating all regions with the new schema...")?;
    let regions = session.database.table(&name).await?.regions().await?.len();
    session.say(format_args!("{regions}/{regions} regions updated."))?;
    session.say("Done.")
}
