//! Commands that enable, disable and drop tables, one or all that match a pattern.

use rowhouse::ErrorKind;
use rowhouse::admin::TableState;
use rowhouse::schema::IndexOf;

use super::names::{pattern, tables_matching};
use super::tables::existing;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, TABLE, required};
use crate::shell::failure::{self, Result, usage_error};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["disable"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Disables a table: reads and writes are refused.",
        details: "",
        examples: &["disable 'blog'"],
        run: Changes(|session, call| boxed(disable(session, call))),
    },
    Command {
        names: &["disable_all"],
        group: Group::Tables,
        arguments: &[required("PATTERN")],
        options: &[],
        about: "Disables the tables whose full names match.",
        details: "They are listed first; the next line must be y.",
        examples: &["disable_all 'blog.*'", "disable_all 'shop:.*'"],
        run: Changes(|session, call| boxed(change_all(session, call, TableChange::Disable))),
    },
    Command {
        names: &["drop"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Drops a disabled table and its data.",
        details: "",
        examples: &["disable 'blog'; drop 'blog'"],
        run: Changes(|session, call| boxed(drop(session, call))),
    },
    Command {
        names: &["drop_all"],
        group: Group::Tables,
        arguments: &[required("PATTERN")],
        options: &[],
        about: "Drops the disabled tables whose full names match.",
        details: "They are listed first; the next line must be y. Enabled tables are kept and \
                  reported.",
        examples: &["drop_all 'blog.*'"],
        run: Changes(|session, call| boxed(change_all(session, call, TableChange::Drop))),
    },
    Command {
        names: &["enable"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Enables a disabled table.",
        details: "",
        examples: &["enable 'blog'"],
        run: Changes(|session, call| boxed(enable(session, call))),
    },
    Command {
        names: &["enable_all"],
        group: Group::Tables,
        arguments: &[required("PATTERN")],
        options: &[],
        about: "Enables the tables whose full names match.",
        details: "They are listed first; the next line must be y.",
        examples: &["enable_all 'blog.*'"],
        run: Changes(|session, call| boxed(change_all(session, call, TableChange::Enable))),
    },
    Command {
        names: &["is_disabled"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows whether a table is disabled.",
        details: "",
        examples: &["is_disabled 'blog'"],
        run: Reads(|session, call| boxed(is_disabled(session, call))),
    },
    Command {
        names: &["is_enabled"],
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows whether a table is enabled.",
        details: "",
        examples: &["is_enabled 'blog'"],
        run: Reads(|session, call| boxed(is_enabled(session, call))),
    },
];

/// An action on several tables.
#[derive(Clone, Copy)]
enum TableChange {
    Disable,
    Drop,
    Enable,
}

impl TableChange {
    fn verb(self) -> &'static str {
        match self {
            Self::Disable => "Disable",
            Self::Drop => "Drop",
            Self::Enable => "Enable",
        }
    }

    /// Returns the table state after the change.
    fn participle(self) -> &'static str {
        match self {
            Self::Disable => "disabled",
            Self::Drop => "dropped",
            Self::Enable => "enabled",
        }
    }
}

/// Lists the tables to change, and requests confirmation.
async fn change_all(session: &mut Session, call: Call, change: TableChange) -> Result<()> {
    let text = call.text(0)?;
    let (names, of_indexes) = split_matching(session, text.clone()).await?;
    if names.is_empty() {
        session.say(format_args!("No tables matched the regex {text}"))?;
        return match &of_indexes[..] {
            [] => Ok(()),
            names => session.say(format_args!(
                "tables of indexes change with their tables: {}",
                names.join(", ")
            )),
        };
    }
    for name in &names {
        session.say(name)?;
    }
    let question = format!("{} the above {} tables", change.verb(), names.len());
    session
        .request_confirmation(question, move |session| boxed(change_named(session, change, names)))
}

/// Returns the tables whose whole names match, and apart from them those that hold index entries:
/// these change with their base tables.
async fn split_matching(session: &Session, text: String) -> Result<(Vec<String>, Vec<String>)> {
    let mut names = Vec::new();
    let mut of_indexes = Vec::new();
    for name in tables_matching(session, &pattern(Some(text))?).await? {
        let name = name.to_string();
        let described = session.database.admin().describe(&name).await;
        let is_of_index =
            described.is_ok_and(|it| IndexOf::of_table(&it).is_ok_and(|of| of.is_some()));
        if is_of_index { of_indexes.push(name) } else { names.push(name) }
    }
    Ok((names, of_indexes))
}

/// Changes the confirmed tables; reports those that cannot be changed.
async fn change_named(
    session: &mut Session,
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

async fn is_enabled(session: &mut Session, call: Call) -> Result<bool> {
    is_in(session, call, TableState::Enabled).await
}

async fn is_disabled(session: &mut Session, call: Call) -> Result<bool> {
    is_in(session, call, TableState::Disabled).await
}

async fn is_in(session: &mut Session, call: Call, state: TableState) -> Result<bool> {
    let is = session.database.admin().table_state(&call.table()?).await? == state;
    session.say(is)?;
    Ok(is)
}

/// Enables a table. Does nothing if it is already enabled, as in HBase.
async fn enable(session: &mut Session, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Disabled {
        session.database.admin().enable_table(&name).await?;
    }
    Ok(())
}

/// Disables a table. Does nothing if it is already disabled, as in HBase.
async fn disable(session: &mut Session, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        session.database.admin().disable_table(&name).await?;
    }
    Ok(())
}

async fn drop(session: &mut Session, call: Call) -> Result<()> {
    let name = existing(session, &call).await?;
    if session.database.admin().table_state(&name).await? == TableState::Enabled {
        return usage_error(format!("Table {name} is enabled. Disable it first."));
    }
    Ok(session.database.admin().drop_table(&name).await?)
}
