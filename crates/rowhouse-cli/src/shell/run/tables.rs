//! Commands about tables.

use std::io::Write;

use rowhouse::admin::{CompactionKind, TableState};
use rowhouse::schema::{IndexSchema, TableDescriptor, TableName};
use rowhouse::{Error, ErrorKind};

use super::{pattern, say_names};
use crate::shell::call::Call;
use crate::shell::describe as shown;
use crate::shell::failure::{self, Result, said};
use crate::shell::session::{PendingAction, Session, TableChange};

pub(super) async fn list<W: Write>(session: &mut Session<W>, call: Call) -> Result<Vec<String>> {
    let names = matching(session, call.text_if_given(0)?).await?;
    say_names(session, "TABLE", &names)?;
    Ok(names)
}

/// Returns the tables whose whole names match.
async fn matching<W: Write>(session: &Session<W>, text: Option<String>) -> Result<Vec<String>> {
    let pattern = pattern(text)?;
    let tables = session.database.tables().await?;
    let matches = |name: &&TableName| {
        pattern.is_match(&name.to_string())
            || name.namespace() == TableName::DEFAULT_NAMESPACE
                && pattern.is_match(&format!("default:{name}"))
    };
    Ok(tables.iter().filter(matches).map(ToString::to_string).collect())
}

/// Lists the tables to change, and asks.
pub(super) async fn change_all<W: Write>(
    session: &mut Session<W>,
    call: Call,
    change: TableChange,
) -> Result<()> {
    let text = call.text(0)?;
    let names = matching(session, Some(text.clone())).await?;
    if names.is_empty() {
        return session.say(format_args!("No tables matched the regex {text}"));
    }
    for name in &names {
        session.say(name)?;
    }
    session.ask(PendingAction::Tables(change, names))
}

/// Changes the confirmed tables; reports those that cannot be changed.
pub(super) async fn change_named<W: Write>(
    session: &mut Session<W>,
    change: TableChange,
    names: Vec<String>,
) -> Result<()> {
    let mut failed = Vec::new();
    for name in &names {
        let changed = match change {
            TableChange::Disable => session.database.admin().disable_table(name).await,
            TableChange::Drop => session.database.admin().drop_table(name).await,
            TableChange::Enable => session.database.admin().enable_table(name).await,
        };
        if let Err(error) = changed {
            let why = match (change, error.kind()) {
                (TableChange::Disable, ErrorKind::TableNotEnabled)
                | (TableChange::Enable, ErrorKind::TableNotDisabled) => {
                    format!("Table {name} is {} already", change.participle())
                }
                _ => failure::shown(&error, name),
            };
            session.say(format_args!("table:{name}, error:{why}"))?;
            failed.push(name.as_str());
        }
    }
    let done = change.participle();
    session.say(format_args!("{} tables successfully {done}", names.len() - failed.len()))?;
    if failed.is_empty() {
        return Ok(());
    }
    let count = failed.len();
    session.say(format_args!("{count} tables not {done} due to an exception: {}", failed.join(",")))
}

pub(super) async fn describe<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    let descriptor = session.database.admin().describe(&name).await?;
    let state = match session.database.admin().table_state(&name).await? {
        TableState::Enabled => "ENABLED",
        TableState::Disabled => "DISABLED",
    };
    session.say(format_args!("Table {name} is {state}"))?;
    session.say(shown::table(&descriptor))?;
    session.say("COLUMN FAMILIES DESCRIPTION")?;
    for family in descriptor.families() {
        session.say(format_args!("{}\n", shown::family(family)))?;
    }
    session.say(format_args!("{} row(s)", descriptor.families().len()))?;
    say_indexes(session, &name, &descriptor).await?;
    session.say("Quota is disabled")
}

/// Prints the indexes of a table, with the templates of their entries and their states. A full-text
/// index has no entries.
async fn say_indexes<W: Write>(
    session: &mut Session<W>,
    name: &str,
    descriptor: &TableDescriptor,
) -> Result<()> {
    // A declaration of a newer version is shown as an attribute only.
    let Ok(Some(indexes)) = IndexSchema::of_table(descriptor) else { return Ok(()) };
    session.say("INDEXES")?;
    for index in indexes.indexes() {
        let state = session.database.admin().index_state(name, index.name()).await?;
        session.say(index)?;
        session.say(match index.search() {
            Some(_) => format!("  {state}"),
            None => format!("  entries {}, {state}", index.template()),
        })?;
    }
    Ok(())
}

pub(super) async fn exists<W: Write>(session: &mut Session<W>, call: Call) -> Result<bool> {
    let name = call.table()?;
    let exists = session.database.table_exists(&name).await?;
    let does = if exists { "does" } else { "does not" };
    session.say(format_args!("Table {name} {does} exist"))?;
    Ok(exists)
}

pub(super) async fn is_enabled<W: Write>(session: &mut Session<W>, call: Call) -> Result<bool> {
    is_in(session, call, TableState::Enabled).await
}

pub(super) async fn is_disabled<W: Write>(session: &mut Session<W>, call: Call) -> Result<bool> {
    is_in(session, call, TableState::Disabled).await
}

async fn is_in<W: Write>(session: &mut Session<W>, call: Call, state: TableState) -> Result<bool> {
    let is = session.database.admin().table_state(&call.table()?).await? == state;
    session.say(is)?;
    Ok(is)
}

/// Enables a table. Does nothing if it is already enabled, as in HBase.
pub(super) async fn enable<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Disabled {
        session.database.admin().enable_table(&name).await?;
    }
    Ok(())
}

/// Disables a table. Does nothing if it is already disabled, as in HBase.
pub(super) async fn disable<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        session.database.admin().disable_table(&name).await?;
    }
    Ok(())
}

pub(super) async fn drop<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        return said(format!("Table {name} is enabled. Disable it first."));
    }
    Ok(session.database.admin().drop_table(&name).await?)
}

/// Truncates a table, after disabling it if it is enabled.
pub(super) async fn truncate<W: Write>(
    session: &mut Session<W>,
    call: Call,
    keep_splits: bool,
) -> Result<()> {
    let name = existing(session, &call).await?;
    session.say(format_args!("Truncating '{name}' table (it may take a while):"))?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        session.say("Disabling table...")?;
        session.database.admin().disable_table(&name).await?;
    }
    session.say("Truncating table...")?;
    Ok(session.database.admin().truncate_table(&name, keep_splits).await?)
}

pub(super) async fn flush<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let table = call.table()?;
    match call.text_if_given(1)? {
        Some(family) => Ok(session.database.admin().flush_family(&table, &family).await?),
        None => Ok(session.database.admin().flush(&table).await?),
    }
}

/// Requests a compaction of a table's files, and does not wait for it.
pub(super) async fn compact<W: Write>(
    session: &mut Session<W>,
    call: Call,
    kind: CompactionKind,
) -> Result<()> {
    call.no_more_than(2)?;
    let family = call.text_if_given(1)?;
    Ok(session.database.admin().compact(&call.table()?, family.as_deref(), kind).await?)
}

/// Prints which compactions of a table's files run or wait.
pub(super) async fn compaction_state<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let state = session.database.admin().compaction_state(&call.table()?).await?;
    session.say(state)
}

/// Creates a table with the declaration of another.
pub(super) async fn clone_schema<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(3)?;
    let keep_splits = call.arguments.len() < 3 || call.truth(2)?;
    let new = call.text(1)?;
    let made = session.database.admin().clone_table_schema(&call.table()?, &new, keep_splits).await;
    made.map(|_| ()).or_else(|error| not_made(error, &new))
}

/// Returns the error of a table that could not be created and is not the command's first argument:
/// HBase's shell still names it.
pub(super) fn not_made(error: Error, table: &str) -> Result<()> {
    match error.kind() {
        ErrorKind::TableExists => said(format!("Table already exists: {table}!")),
        ErrorKind::NamespaceNotFound => {
            let namespace = table.split(':').next().unwrap_or_default();
            said(format!("Unknown namespace: {namespace}!"))
        }
        _ => Err(error.into()),
    }
}

/// Returns the table of a command that HBase's shell checks before it sends a request.
pub(super) async fn existing<W: Write>(session: &mut Session<W>, call: &Call) -> Result<String> {
    let name = call.table()?;
    if !session.database.table_exists(&name).await? {
        return said(format!("Table {name} does not exist."));
    }
    Ok(name)
}
