//! Commands about snapshots.

use std::time::Duration;

use regex::Regex;
use rowhouse::ErrorKind;
use rowhouse::admin::{Snapshot, SnapshotKind};
use rowhouse::schema::TableName;

use super::declared::take_size;
use super::names::{pattern, tables_matching};
use super::tables;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, optional, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::print;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["clone_snapshot"],
        group: Group::Snapshots,
        arguments: &[required("SNAPSHOT"), required("TABLE"), OPTIONS],
        options: &[],
        about: "Creates a table from a snapshot.",
        details: "Nothing is copied; changes of the table do not affect the snapshot.",
        examples: &["clone_snapshot 'monday', 'blog-on-monday'"],
        run: Changes(|session, call| boxed(clone(session, call))),
    },
    Command {
        names: &["delete_all_snapshot"],
        group: Group::Snapshots,
        arguments: &[required("PATTERN")],
        options: &[],
        about: "Deletes the snapshots whose full names match.",
        details: "They are listed first; the next line must be y.",
        examples: &["delete_all_snapshot 'mon.*'"],
        run: Changes(|session, call| boxed(delete_all(session, call))),
    },
    Command {
        names: &["delete_snapshot"],
        group: Group::Snapshots,
        arguments: &[required("SNAPSHOT")],
        options: &[],
        about: "Deletes a snapshot.",
        details: "Tables that were cloned from it are kept.",
        examples: &["delete_snapshot 'monday'"],
        run: Changes(|session, call| boxed(delete(session, call))),
    },
    Command {
        names: &["delete_table_snapshots"],
        group: Group::Snapshots,
        arguments: &[required("TABLE PATTERN"), optional("PATTERN")],
        options: &[],
        about: "Deletes the snapshots of the tables whose full names match.",
        details: "They are listed first; the next line must be y.",
        examples: &["delete_table_snapshots 'blog'", "delete_table_snapshots 'blog.*', 'mon.*'"],
        run: Changes(|session, call| boxed(delete_of_tables(session, call))),
    },
    Command {
        names: &["list_snapshots"],
        group: Group::Snapshots,
        arguments: &[optional("PATTERN")],
        options: &[],
        about: "Lists snapshots, or those whose full names match.",
        details: "",
        examples: &["list_snapshots", "list_snapshots 'mon.*'"],
        run: Reads(|session, call| boxed(list(session, call))),
    },
    Command {
        names: &["list_table_snapshots"],
        group: Group::Snapshots,
        arguments: &[required("TABLE PATTERN"), optional("PATTERN")],
        options: &[],
        about: "Lists the snapshots of the tables whose full names match.",
        details: "Only of tables that exist, as in HBase.",
        examples: &["list_table_snapshots 'blog'", "list_table_snapshots 'blog.*', 'mon.*'"],
        run: Reads(|session, call| boxed(list_of_tables(session, call))),
    },
    Command {
        names: &["restore_snapshot"],
        group: Group::Snapshots,
        arguments: &[required("SNAPSHOT"), OPTIONS],
        options: &[],
        about: "Restores a disabled table to a snapshot of it.",
        details: "It stays disabled. A dropped table is created again, and enabled.",
        examples: &["disable 'blog'; restore_snapshot 'monday'; enable 'blog'"],
        run: Changes(|session, call| boxed(restore(session, call))),
    },
    Command {
        names: &["snapshot"],
        group: Group::Snapshots,
        arguments: &[TABLE, required("SNAPSHOT"), OPTIONS],
        options: &[
            ("TTL", "seconds after which it is deleted; never by default"),
            ("SKIP_FLUSH", "true: only the files, without the memstores"),
            ("MAX_FILESIZE", "bytes, or '10 GB': for tables made from it that have none"),
        ],
        about: "Takes a snapshot of a table.",
        details: "Nothing is copied; reads and writes continue.",
        examples: &[
            "snapshot 'blog', 'monday'",
            "snapshot 'blog', 'monday', {TTL => 86400}",
            "snapshot 'blog', 'monday', {SKIP_FLUSH => true}",
        ],
        run: Changes(|session, call| boxed(take(session, call))),
    },
    Command {
        names: &["snapshot_cleanup_enabled"],
        group: Group::Snapshots,
        arguments: &[],
        options: &[],
        about: "Shows whether snapshots are deleted after their TTL.",
        details: "",
        examples: &["snapshot_cleanup_enabled"],
        run: Reads(|session, call| boxed(cleanup(session, call))),
    },
    Command {
        names: &["snapshot_cleanup_switch"],
        group: Group::Snapshots,
        arguments: &[required("BOOLEAN")],
        options: &[],
        about: "Sets whether snapshots are deleted after their TTL, and shows the previous \
                setting.",
        details: "It applies until it is changed. An expired snapshot cannot be cloned or \
                  restored.",
        examples: &["snapshot_cleanup_switch false"],
        run: Changes(|session, call| boxed(set_cleanup(session, call))),
    },
];

const HEADING: &str = "SNAPSHOT  TABLE + CREATION TIME";

async fn take(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let seconds = options.take_integer("TTL")?;
    let bytes = take_size(&mut options, "MAX_FILESIZE")?;
    let skips_flush = options.take_truth("SKIP_FLUSH")?;
    options.finish()?;
    let mut snapshot = Snapshot::new(&call.text(1)?, TableName::parse(&call.table()?)?)?;
    // As in HBase, numbers that are not positive have no effect.
    let above_0 = |number: i64| u64::try_from(number).ok().filter(|it| *it > 0);
    snapshot.ttl = seconds.and_then(above_0).map(Duration::from_secs);
    snapshot.region_bytes_max = bytes.and_then(above_0);
    if skips_flush {
        snapshot.kind = SnapshotKind::SkipFlush;
    }
    Ok(session.database.admin().take_snapshot(snapshot).await?)
}

async fn list(session: &mut Session, call: Call) -> Result<Vec<String>> {
    let name = pattern(call.text_if_given(0)?)?;
    let snapshots = matching(session, None, &name).await?;
    say_all(session, &snapshots)?;
    session.say(format_args!("{} row(s)", snapshots.len()))?;
    Ok(names(&snapshots))
}

async fn list_of_tables(session: &mut Session, call: Call) -> Result<Vec<String>> {
    let table = pattern(Some(call.text(0)?))?;
    let name = pattern(call.text_if_given(1)?)?;
    let snapshots = matching(session, Some(&table), &name).await?;
    say_all(session, &snapshots)?;
    session.say(format_args!("{} row(s)", snapshots.len()))?;
    Ok(names(&snapshots))
}

async fn clone(session: &mut Session, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    call.no_more_than(2)?;
    let table = call.text(1)?;
    let made = session.database.admin().clone_snapshot(&call.text(0)?, &table).await;
    made.map(|_| ()).or_else(|error| tables::not_made(error, &table))
}

async fn restore(session: &mut Session, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    call.no_more_than(1)?;
    let name = call.text(0)?;
    match session.database.admin().restore_snapshot(&name).await {
        // HBase's shell names the snapshot.
        Err(error) if error.kind() == ErrorKind::TableNotDisabled => {
            let snapshots = session.database.admin().snapshots().await?;
            match snapshots.iter().find(|snapshot| snapshot.name() == name) {
                Some(snapshot) => {
                    let table = &snapshot.table;
                    usage_error(format!(
                        "Table {table} should be disabled! Snapshot {name} is of it."
                    ))
                }
                None => Err(error.into()),
            }
        }
        restored => Ok(restored?),
    }
}

/// Prints whether expired snapshots are removed.
async fn cleanup(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(0)?;
    let on = session.database.admin().snapshot_cleanup().await?;
    session.say(on)
}

/// Enables or disables removing expired snapshots, and prints the previous state.
async fn set_cleanup(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let on = call.truth(0)?;
    let before = session.database.admin().set_snapshot_cleanup(on).await?;
    session.say(format_args!("Previous snapshot cleanup state : {before}"))
}

async fn delete(session: &mut Session, call: Call) -> Result<()> {
    Ok(session.database.admin().delete_snapshot(&call.text(0)?).await?)
}

/// Lists the snapshots to delete, and requests confirmation.
async fn delete_all(session: &mut Session, call: Call) -> Result<()> {
    let text = call.text(0)?;
    let snapshots = matching(session, None, &pattern(Some(text.clone()))?).await?;
    say_all(session, &snapshots)?;
    if snapshots.is_empty() {
        return session.say(format_args!("No snapshots matched the regex {text}"));
    }
    confirm_deletion(session, names(&snapshots), false)
}

/// Lists the snapshots to delete, and requests confirmation.
async fn delete_of_tables(session: &mut Session, call: Call) -> Result<()> {
    let table = call.text(0)?;
    let name = call.text_if_given(1)?.unwrap_or(".*".into());
    let table_pattern = pattern(Some(table.clone()))?;
    let name_pattern = pattern(Some(name.clone()))?;
    let snapshots = matching(session, Some(&table_pattern), &name_pattern).await?;
    say_all(session, &snapshots)?;
    if snapshots.is_empty() {
        return session.say(format_args!(
            "No snapshots matched the table name regular expression {table} and the snapshot name \
             regular expression {name}"
        ));
    }
    confirm_deletion(session, names(&snapshots), true)
}

/// Requests confirmation before snapshots are deleted. `reports_each`: each is reported, instead of
/// the count.
fn confirm_deletion(session: &mut Session, names: Vec<String>, reports_each: bool) -> Result<()> {
    let question = format!("Delete the above {} snapshots", names.len());
    session.request_confirmation(question, move |session| {
        boxed(delete_named(session, names, reports_each))
    })
}

/// Deletes the confirmed snapshots.
async fn delete_named(session: &mut Session, names: Vec<String>, reports_each: bool) -> Result<()> {
    for name in &names {
        session.database.admin().delete_snapshot(name).await?;
        if reports_each {
            session.say(format_args!("Successfully deleted snapshot: {name}\n"))?;
        }
    }
    if !reports_each {
        let count = names.len();
        session.say(format_args!("{count} snapshots successfully deleted."))?;
    }
    Ok(())
}

/// Returns the snapshots with these names. If table names are given, only snapshots of existing
/// tables with these names, as in HBase.
async fn matching(session: &Session, table: Option<&Regex>, name: &Regex) -> Result<Vec<Snapshot>> {
    let mut snapshots = session.database.admin().snapshots().await?;
    snapshots.retain(|snapshot| name.is_match(snapshot.name()));
    let Some(table) = table else { return Ok(snapshots) };
    let tables = tables_matching(session, table).await?;
    snapshots.retain(|snapshot| tables.contains(&snapshot.table));
    Ok(snapshots)
}

fn say_all(session: &mut Session, snapshots: &[Snapshot]) -> Result<()> {
    session.say(HEADING)?;
    for snapshot in snapshots {
        let created = print::ruby_time(snapshot.created.as_millis());
        session.say(format_args!(" {} {} ({created})", snapshot.name(), snapshot.table))?;
    }
    Ok(())
}

fn names(snapshots: &[Snapshot]) -> Vec<String> {
    snapshots.iter().map(|snapshot| snapshot.name().to_owned()).collect()
}
