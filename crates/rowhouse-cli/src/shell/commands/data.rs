//! Commands that change cells.

use rowhouse::key::escape;
use rowhouse::{
    Append, Bytes, Delete, DeletedCells, ErrorKind, Increment, Put, RowRange, Table, Timestamp,
};
use rowhouse_model::DeleteRows;

use super::column::WrittenColumn;
use super::row::{Bound, ROWPREFIXFILTER, RowArgument};
use crate::shell::argument;
use crate::shell::command::Action::Changes;
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, optional, required};
use crate::shell::failure::{Failure, Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::{OptionText, Options};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["append"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), required("VALUE"), OPTIONS],
        options: &[TTL],
        about: "Appends to the value of a cell, and shows the new value.",
        details: "A missing cell counts as empty.",
        examples: &["append 'blog', '1', 'cf:tags', ',hbase'"],
        run: Changes(|session, call| boxed(append(session, call))),
    },
    Command {
        names: &["delete"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), optional("TIMESTAMP"), OPTIONS],
        options: &[],
        about: "Deletes one version of a cell: the newest, or the one at a timestamp.",
        details: "Of a family without a qualifier, the cells that are exactly at the timestamp.",
        examples: &[
            "delete 'blog', '1', 'cf:title'",
            "delete 'blog', '1', 'cf:title', 1669852800000",
        ],
        run: Changes(|session, call| boxed(delete(session, call))),
    },
    Command {
        names: &["deleteall"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), optional("COLUMN"), optional("TIMESTAMP"), OPTIONS],
        options: &[
            ROWPREFIXFILTER,
            ("CACHE", "rows to delete at once; 100 by default, at most 10000"),
        ],
        about: "Deletes a row, a family of it, or all versions of a column, up to a timestamp.",
        details: "In place of a row, {ROWPREFIXFILTER => …} selects all rows that begin with a \
                  prefix.",
        examples: &[
            "deleteall 'blog', '1'",
            "deleteall 'blog', '1', 'cf:title'",
            "deleteall 'blog', '1', '', 1669852800000",
            "deleteall 'blog', {ROWPREFIXFILTER => '1_'}",
        ],
        run: Changes(|session, call| boxed(delete_all(session, call))),
    },
    Command {
        names: &["incr"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), optional("AMOUNT"), OPTIONS],
        options: &[TTL],
        about: "Increments a counter, by 1 by default, and shows the new value.",
        details: "A counter is a cell of eight bytes; a missing one counts as 0.",
        examples: &["incr 'blog', '1', 'cf:visits'", "incr 'blog', '1', 'cf:visits', -3"],
        run: Changes(|session, call| boxed(incr(session, call))),
    },
    Command {
        names: &["insert"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMNS")],
        options: &[],
        about: "Writes a row of several columns, unless it exists already.",
        details: "COLUMNS is a hash of values by the declared names of columns, or by \
                  'family:qualifier'. Of two concurrent inserts of one row, one fails.",
        examples: &[
            "insert 'mail', {user => 'bob', at => '2022-12-24'}, {subject => 'Christmas', size => 20000}",
            "insert 'blog', '1', {'cf:title' => 'first post'}",
        ],
        run: Changes(|session, call| boxed(insert(session, call))),
    },
    Command {
        names: &["put"],
        group: Group::Data,
        arguments: &[
            TABLE,
            required("ROW"),
            required("COLUMN"),
            required("VALUE"),
            optional("TIMESTAMP"),
            OPTIONS,
        ],
        options: &[TTL],
        about: "Writes a cell, now or at a timestamp.",
        details: "Text in single quotes has no escapes; in double quotes \\x00 is a byte and \
                  \\u5206 a character. With the declared name of a column, the value is of its \
                  type; a column with many qualifiers is named by the fields of one.",
        examples: &[
            "put 'blog', '1', 'cf:title', 'first post'",
            "put 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, '9.99'",
            "put 'blog', '1', 'likes', 7",
            "put 'blog', '1', 'cf:title', 'first post', 1669852800000",
            "put 'blog', \"1\\x00\\xff\", 'cf:title', \"\\u5206\\u680f\"",
        ],
        run: Changes(|session, call| boxed(put(session, call))),
    },
];

const TTL: OptionText = ("TTL", "milliseconds after which the cell expires");

async fn put(session: &mut Session, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let value = call.bytes(3)?;
    let column = WrittenColumn::of(&call)?;
    let at = timestamp(&call, 4)?;
    call.no_more_than(5)?;
    let table = session.database.table(&table).await?;
    let mut hints = row.hints(&table);
    let (family, qualifier, value) = column.cell(session, &table, value, &mut hints).await?;
    let mut put = Put::new(row.new_key(&table)?)
        .and_then(|put| put.add_at(family, qualifier, at, value))
        .or_else(|error| usage_error(error.message()))?;
    put.ttl_millis = ttl;
    table.put(put).await?;
    say_hints(session, &hints)
}

/// Prints hints about values that were probably meant otherwise.
fn say_hints(session: &mut Session, hints: &[String]) -> Result<()> {
    hints.iter().try_for_each(|hint| session.say(format_args!("HINT: {hint}")))
}

/// Writes a row with several columns unless it exists.
async fn insert(session: &mut Session, call: Call) -> Result<()> {
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let columns = match &call.arguments[2] {
        Value::Hash(pairs) if !pairs.is_empty() => pairs,
        other => {
            return usage_error(format!(
                "insert takes the columns of a row as a hash, {{COLUMN => value}}: {other}"
            ));
        }
    };
    let columns = columns.iter().map(|(name, value)| {
        let column = WrittenColumn::text(Bytes::copy_from_slice(name.as_bytes()))?;
        Ok((column, argument::bytes(name, value)?))
    });
    let columns: Vec<_> = columns.collect::<Result<_>>()?;
    let table = session.database.table(&table).await?;
    let mut put =
        Put::new(row.inserted_key(&table)?).or_else(|error| usage_error(error.message()))?;
    let mut hints = row.hints(&table);
    for (column, value) in columns {
        let (family, qualifier, value) = column.cell(session, &table, value, &mut hints).await?;
        put = put.add(family, qualifier, value).or_else(|error| usage_error(error.message()))?;
    }
    table.insert(put).await.or_else(|error| match error.kind() {
        ErrorKind::RowExists => usage_error(error.message()),
        _ => Err(Failure::from(error)),
    })?;
    say_hints(session, &hints)
}

/// Takes the option TTL, the only one for the command.
fn ttl(call: &mut Call) -> Result<Option<i64>> {
    let mut options = call.take_options()?;
    let ttl = options.take_count("TTL")?.map(i64::from);
    options.finish()?;
    Ok(ttl)
}

async fn append(session: &mut Session, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let column = WrittenColumn::of(&call)?;
    let value = call.bytes(3)?;
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place(session, &table).await?;
    let mut append = Append::new(row.key(&table)?)
        .and_then(|append| append.add(family.clone(), qualifier.clone(), value))
        .or_else(|error| usage_error(error.message()))?;
    append.ttl_millis = ttl;
    let row = table.append(append).await?;
    let value = row.value(family, qualifier).unwrap_or_default();
    session.say(format_args!("CURRENT VALUE = {}", escape(&value)))
}

async fn incr(session: &mut Session, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let column = WrittenColumn::of(&call)?;
    let amount = call.integer(3)?.unwrap_or(1);
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.counter(session, &table).await?;
    let mut increment = Increment::new(row.key(&table)?)
        .and_then(|increment| increment.add(family.clone(), qualifier.clone(), amount))
        .or_else(|error| usage_error(error.message()))?;
    increment.ttl_millis = ttl;
    let row = table.increment(increment).await?;
    match row.counter(family, qualifier)? {
        Some(value) => session.say(format_args!("COUNTER VALUE = {value}")),
        None => session.say("No counter found at specified coordinates"),
    }
}

async fn delete(session: &mut Session, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let column = WrittenColumn::of(&call)?;
    let at = timestamp(&call, 3)?;
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place_or_family(session, &table).await?;
    for row in row.keys(&table)? {
        let family = family.clone();
        let qualifier = qualifier.clone();
        let delete = Delete::new(row)
            .and_then(|delete| match qualifier {
                Some(qualifier) => delete.version(family, qualifier, at),
                None => delete.family_version(family, at),
            })
            .or_else(|error| usage_error(error.message()))?;
        table.delete(delete).await?;
    }
    Ok(())
}

async fn delete_all(session: &mut Session, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    // A hash where the row is expected has options or the row's fields.
    let prefix = match &call.arguments[1] {
        Value::Hash(pairs) if pairs.iter().any(|(name, _)| call.command.has_option(name)) => {
            Some(Options::new(call.command.options, "deleteall", pairs.clone())?)
        }
        _ => None,
    };
    let table = call.table()?;
    let column = match call.arguments.get(2) {
        None | Some(Value::Nil) => None,
        Some(_) => Some(call.bytes(2)?).filter(|column| !column.is_empty()),
    };
    let column = column.map(WrittenColumn::text).transpose()?;
    let at = timestamp(&call, 3)?;
    call.no_more_than(4)?;
    match prefix {
        None => {
            let row = RowArgument::of(&call, 1)?;
            let table = session.database.table(&table).await?;
            let request = cells_to_delete(session, &table, column, at).await?;
            for row in row.keys(&table)? {
                let delete = request.delete_of(row);
                table.delete(delete.or_else(|error| usage_error(error.message()))?).await?;
            }
            Ok(())
        }
        Some(mut options) => {
            let batch = options.take_count("CACHE")?.unwrap_or(100);
            if !options.has("ROWPREFIXFILTER") {
                return usage_error(
                    "instead of a row, deleteall takes {ROWPREFIXFILTER => 'prefix'}",
                );
            }
            let prefix = Bound::take(&mut options, "ROWPREFIXFILTER")?;
            options.finish()?;
            let Some(prefix) = prefix else {
                // A script with an unset variable would empty the table.
                return usage_error("ROWPREFIXFILTER must not be empty: truncate empties a table");
            };
            let table = session.database.table(&table).await?;
            let request = cells_to_delete(session, &table, column, at).await?;
            let deletion = table.delete_rows(prefix.prefix(&table)?, request.cells);
            let batch = batch.min(DeleteRows::BATCH_ROWS_MAX);
            deletion.timestamp(at).batch_rows(batch).run().await?;
            Ok(())
        }
    }
}

/// Returns the request for what `deleteall` deletes in each row.
async fn cells_to_delete(
    session: &Session,
    table: &Table,
    column: Option<WrittenColumn>,
    at: Timestamp,
) -> Result<DeleteRows> {
    let column = match column {
        Some(column) => Some(column.place_or_family(session, table).await?),
        None => None,
    };
    let mut request = DeleteRows::new(RowRange::all());
    request.timestamp = at;
    request.cells = match column {
        None => DeletedCells::Row,
        Some((family, None)) => DeletedCells::Family(family),
        Some((family, Some(qualifier))) => DeletedCells::Column(family, qualifier),
    };
    Ok(request)
}

fn timestamp(call: &Call, at: usize) -> Result<Timestamp> {
    match call.integer(at)? {
        None => Ok(Timestamp::LATEST),
        Some(millis) => checked_timestamp(millis),
    }
}

/// Checks a timestamp; a negative one is refused with HBase's message.
pub(super) fn checked_timestamp(millis: i64) -> Result<Timestamp> {
    Timestamp::from_millis(millis)
        .or_else(|_| usage_error(format!("Timestamp cannot be negative. ts={millis}")))
}
