//! Commands about snapshots.

use std::io::Write;
use std::time::Duration;

use regex::Regex;
use rowhouse::ErrorKind;
use rowhouse::admin::{Snapshot, SnapshotKind};
use rowhouse::schema::TableName;

use super::declared::take_size;
use super::pattern;
use super::tables;
use crate::shell::call::Call;
use crate::shell::failure::{Result, said};
use crate::shell::print;
use crate::shell::session::{Deletion, PendingAction, Session};

const HEADING: &str = "SNAPSHOT  TABLE + CREATION TIME";

pub(super) async fn take<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
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

pub(super) async fn list<W: Write>(session: &mut Session<W>, call: Call) -> Result<Vec<String>> {
    let name = pattern(call.text_if_given(0)?)?;
    let snapshots = matching(session, None, &name).await?;
    say_all(session, &snapshots)?;
    session.say(format_args!("{} row(s)", snapshots.len()))?;
    Ok(names(&snapshots))
}

pub(super) async fn list_of_tables<W: Write>(
    session: &mut Session<W>,
    call: Call,
) -> Result<Vec<String>> {
    let (table, name) = (pattern(Some(call.text(0)?))?, pattern(call.text_if_given(1)?)?);
    let snapshots = matching(session, Some(&table), &name).await?;
    say_all(session, &snapshots)?;
    session.say(format_args!("{} row(s)", snapshots.len()))?;
    Ok(names(&snapshots))
}

pub(super) async fn clone<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    call.no_more_than(2)?;
    let table = call.text(1)?;
    let made = session.database.admin().clone_snapshot(&call.text(0)?, &table).await;
    made.map(|_| ()).or_else(|error| tables::not_made(error, &table))
}

pub(super) async fn restore<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
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
                    said(format!("Table {table} should be disabled! Snapshot {name} is of it."))
                }
                None => Err(error.into()),
            }
        }
        restored => Ok(restored?),
    }
}

/// Prints whether expired snapshots are removed.
pub(super) async fn cleanup<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(0)?;
    let on = session.database.admin().snapshot_cleanup().await?;
    session.say(on)
}

/// Enables or disables the removal of expired snapshots, and prints the previous state.
pub(super) async fn set_cleanup<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let on = call.truth(0)?;
    let before = session.database.admin().set_snapshot_cleanup(on).await?;
    session.say(format_args!("Previous snapshot cleanup state : {before}"))
}

pub(super) async fn delete<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    Ok(session.database.admin().delete_snapshot(&call.text(0)?).await?)
}

/// Lists the snapshots to delete, and asks.
pub(super) async fn delete_all<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let text = call.text(0)?;
    let snapshots = matching(session, None, &pattern(Some(text.clone()))?).await?;
    say_all(session, &snapshots)?;
    if snapshots.is_empty() {
        return session.say(format_args!("No snapshots matched the regex {text}"));
    }
    session.ask(PendingAction::Snapshots(Deletion { names: names(&snapshots), tells_each: false }))
}

/// Lists the snapshots to delete, and asks.
pub(super) async fn delete_of_tables<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let (table, name) = (call.text(0)?, call.text_if_given(1)?.unwrap_or(".*".into()));
    let (tables, wanted) = (pattern(Some(table.clone()))?, pattern(Some(name.clone()))?);
    let snapshots = matching(session, Some(&tables), &wanted).await?;
    say_all(session, &snapshots)?;
    if snapshots.is_empty() {
        return session.say(format_args!(
            "No snapshots matched the table name regular expression {table} and the snapshot name \
             regular expression {name}"
        ));
    }
    session.ask(PendingAction::Snapshots(Deletion { names: names(&snapshots), tells_each: true }))
}

/// Deletes the confirmed snapshots.
pub(super) async fn delete_named<W: Write>(
    session: &mut Session<W>,
    deletion: Deletion,
) -> Result<()> {
    for name in &deletion.names {
        session.database.admin().delete_snapshot(name).await?;
        if deletion.tells_each {
            session.say(format_args!("Successfully deleted snapshot: {name}\n"))?;
        }
    }
    if !deletion.tells_each {
        let count = deletion.names.len();
        session.say(format_args!("{count} snapshots successfully deleted."))?;
    }
    Ok(())
}

/// Returns the snapshots of these names, and of tables of these names, if any are given: only of
/// existing tables, as in HBase.
async fn matching<W: Write>(
    session: &Session<W>,
    table: Option<&Regex>,
    name: &Regex,
) -> Result<Vec<Snapshot>> {
    let mut snapshots = session.database.admin().snapshots().await?;
    snapshots.retain(|snapshot| name.is_match(snapshot.name()));
    let Some(table) = table else { return Ok(snapshots) };
    let mut tables = session.database.tables().await?;
    tables.retain(|name| {
        table.is_match(&name.to_string())
            || name.namespace() == TableName::DEFAULT_NAMESPACE
                && table.is_match(&format!("default:{name}"))
    });
    snapshots.retain(|snapshot| tables.contains(&snapshot.table));
    Ok(snapshots)
}

fn say_all<W: Write>(session: &mut Session<W>, snapshots: &[Snapshot]) -> Result<()> {
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
