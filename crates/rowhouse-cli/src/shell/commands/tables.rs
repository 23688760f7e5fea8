//! Commands about tables.

use rowhouse::admin::TableState;
use rowhouse::schema::{IndexSchema, TableDescriptor};
use rowhouse::{Error, ErrorKind};

use super::names::{pattern, say_names, tables_matching};
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, TABLE, optional, required};
use crate::shell::describe as shown;
use crate::shell::failure::{Result, usage_error};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["clone_table_schema"],
        group: Group::Tables,
        arguments: &[TABLE, required("NEW TABLE"), optional("KEEP SPLITS")],
        options: &[],
        about: "Creates a table with the declaration of another, without its rows.",
        details: "It has the same region boundaries, unless the third argument is false.",
        examples: &[
            "clone_table_schema 'blog', 'blog2'",
            "clone_table_schema 'blog', 'blog2', false",
        ],
        run: Changes(|session, call| boxed(clone_schema(session, call))),
    },
    Command {
        names: &["describe", "desc"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows the declaration of a table.",
        details: "",
        examples: &["describe 'blog'", "desc 'shop:orders'"],
        run: Reads(|session, call| boxed(describe(session, call))),
    },
    Command {
        names: &["exists"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows whether a table exists.",
        details: "",
        examples: &["exists 'blog'"],
        run: Reads(|session, call| boxed(exists(session, call))),
    },
    Command {
        names: &["list"],
        group: Group::Tables,
        arguments: &[optional("PATTERN")],
        options: &[],
        about: "Lists tables, all or those whose full name matches a regular expression.",
        details: "",
        examples: &["list", "list 'blog.*'", "list 'shop:.*'"],
        run: Reads(|session, call| boxed(list(session, call))),
    },
    Command {
        names: &["truncate"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Drops all rows of a table, which then has one region.",
        details: "An enabled table is disabled first; the table is enabled at the end.",
        examples: &["truncate 'blog'"],
        run: Changes(|session, call| boxed(truncate(session, call, false))),
    },
    Command {
        names: &["truncate_preserve"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Drops all rows of a table, and keeps the boundaries of its regions.",
        details: "An enabled table is disabled first; the table is enabled at the end.",
        examples: &["truncate_preserve 'blog'"],
        run: Changes(|session, call| boxed(truncate(session, call, true))),
    },
];

async fn list(session: &mut Session, call: Call) -> Result<Vec<String>> {
    let tables = tables_matching(session, &pattern(call.text_if_given(0)?)?).await?;
    let names: Vec<_> = tables.iter().map(ToString::to_string).collect();
    say_names(session, "TABLE", &names)?;
    Ok(names)
}

async fn describe(session: &mut Session, call: Call) -> Result<()> {
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
    say_buffered(session, &descriptor)?;
    say_indexes(session, &name, &descriptor).await?;
    session.say("Quota is disabled")
}

/// Prints what a kill of the server may lose of a table's counters.
fn say_buffered(session: &mut Session, descriptor: &TableDescriptor) -> Result<()> {
    for family in descriptor.families() {
        let Some(period) = family.buffered() else { continue };
        let family = String::from_utf8_lossy(family.name());
        session.say(format_args!(
            "BUFFERED {family}: a kill may lose the increments of the last {period:?}"
        ))?;
    }
    Ok(())
}

/// Prints a table's indexes, with their entry templates and their states. A full-text index has no
/// entries.
async fn say_indexes(
    session: &mut Session,
    name: &str,
    descriptor: &TableDescriptor,
) -> Result<()> {
    // A declaration from a newer version is shown as an attribute only.
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

async fn exists(session: &mut Session, call: Call) -> Result<bool> {
    let name = call.table()?;
    let exists = session.database.table_exists(&name).await?;
    let does = if exists { "does" } else { "does not" };
    session.say(format_args!("Table {name} {does} exist"))?;
    Ok(exists)
}

/// Truncates a table, after disabling it if it is enabled.
async fn truncate(session: &mut Session, call: Call, keep_splits: bool) -> Result<()> {
    let name = existing(session, &call).await?;
    session.say(format_args!("Truncating '{name}' table (it may take a while):"))?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        session.say("Disabling table...")?;
        session.database.admin().disable_table(&name).await?;
    }
    session.say("Truncating table...")?;
    Ok(session.database.admin().truncate_table(&name, keep_splits).await?)
}

/// Creates a table with another table's declaration.
async fn clone_schema(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(3)?;
    let keep_splits = call.arguments.len() < 3 || call.truth(2)?;
    let new = call.text(1)?;
    let made = session.database.admin().clone_table_schema(&call.table()?, &new, keep_splits).await;
    made.map(|_| ()).or_else(|error| not_made(error, &new))
}

/// Returns the error for a table that could not be created and is not the command's first argument:
/// HBase's shell still names it.
pub(super) fn not_made(error: Error, table: &str) -> Result<()> {
    match error.kind() {
        ErrorKind::TableExists => usage_error(format!("Table already exists: {table}!")),
        ErrorKind::NamespaceNotFound => {
            let namespace = table.split(':').next().unwrap_or_default();
            usage_error(format!("Unknown namespace: {namespace}!"))
        }
        _ => Err(error.into()),
    }
}

/// Returns the table in a command that HBase's shell checks before it sends a request.
pub(super) async fn existing(session: &mut Session, call: &Call) -> Result<String> {
    let name = call.table()?;
    if !session.database.table_exists(&name).await? {
        return usage_error(format!("Table {name} does not exist."));
    }
    Ok(name)
}
