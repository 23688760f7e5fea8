//! Table flushes and compactions.

use rowhouse::admin::CompactionKind;

use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, TABLE, optional};
use crate::shell::failure::Result;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["compact"],
        group: Group::Tables,
        arguments: &[TABLE, optional("FAMILY")],
        options: &[],
        about: "Requests a minor compaction of a table.",
        details: "Compacts each family of each region that has files to compact. The command does \
                  not wait for it.",
        examples: &["compact 'blog'", "compact 'blog', 'cf'"],
        run: Changes(|session, call| boxed(compact(session, call, CompactionKind::Minor))),
    },
    Command {
        names: &["compaction_state"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows whether compactions of a table are running or pending.",
        details: "NONE, MINOR, MAJOR or MAJOR_AND_MINOR, of all regions together.",
        examples: &["compaction_state 'blog'"],
        run: Reads(|session, call| boxed(compaction_state(session, call))),
    },
    Command {
        names: &["flush"],
        group: Group::Tables,
        arguments: &[TABLE, optional("FAMILY")],
        options: &[],
        about: "Writes the memstores of a table, or of one of its families, to files.",
        details: "",
        examples: &["flush 'blog'", "flush 'blog', 'cf'"],
        run: Changes(|session, call| boxed(flush(session, call))),
    },
    Command {
        names: &["major_compact"],
        group: Group::Tables,
        arguments: &[TABLE, optional("FAMILY")],
        options: &[],
        about: "Requests a major compaction of a table.",
        details: "It drops deleted and expired cells and surplus versions. The command does not \
                  wait for it.",
        examples: &["major_compact 'blog'", "major_compact 'blog', 'cf'"],
        run: Changes(|session, call| boxed(compact(session, call, CompactionKind::Major))),
    },
];

async fn flush(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(2)?;
    let table = call.table()?;
    match call.text_if_given(1)? {
        Some(family) => Ok(session.database.admin().flush_family(&table, &family).await?),
        None => Ok(session.database.admin().flush(&table).await?),
    }
}

/// Requests that a table's files are compacted, and does not wait for it.
async fn compact(session: &mut Session, call: Call, kind: CompactionKind) -> Result<()> {
    call.no_more_than(2)?;
    let family = call.text_if_given(1)?;
    Ok(session.database.admin().compact(&call.table()?, family.as_deref(), kind).await?)
}

/// Prints which compactions for a table's files run or wait.
async fn compaction_state(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    let state = session.database.admin().compaction_state(&call.table()?).await?;
    session.say(state)
}
