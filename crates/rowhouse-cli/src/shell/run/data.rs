//! Commands that change cells.

use std::io::Write;

use rowhouse::key::escape;
use rowhouse::{
    Append, Bytes, Delete, ErrorKind, Increment, Mutation, Put, RowRange, Scan, Table, Timestamp,
};

use super::column::WrittenColumn;
use super::row::{Bound, RowArgument};
use crate::shell::call::{self, Call, Options};
use crate::shell::failure::{Result, said};
use crate::shell::grammar::Value;
use crate::shell::session::Session;

pub(super) async fn put<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let table = call.table()?;
    let (row, value) = (RowArgument::of(&call, 1)?, call.bytes(3)?);
    let column = WrittenColumn::of(&call)?;
    let at = timestamp(&call, 4)?;
    call.no_more_than(5)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier, value) = column.cell(session, &table, value).await?;
    let mut put = Put::new(row.new_key(&table)?)
        .and_then(|put| put.add_at(family, qualifier, at, value))
        .or_else(|error| said(error.message()))?;
    put.ttl_millis = ttl;
    Ok(table.put(put).await?)
}

/// Writes a row of several columns unless it exists.
pub(super) async fn insert<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let columns = match &call.arguments[2] {
        Value::Hash(pairs) if !pairs.is_empty() => pairs,
        other => {
            return said(format!(
                "insert takes the columns of a row as a hash, {{COLUMN => value}}: {other}"
            ));
        }
    };
    let columns = columns.iter().map(|(name, value)| {
        let column = WrittenColumn::text(Bytes::copy_from_slice(name.as_bytes()))?;
        Ok((column, call::bytes(name, value)?))
    });
    let columns: Vec<_> = columns.collect::<Result<_>>()?;
    let table = session.database.table(&table).await?;
    let mut put = Put::new(row.inserted_key(&table)?).or_else(|error| said(error.message()))?;
    for (column, value) in columns {
        let (family, qualifier, value) = column.cell(session, &table, value).await?;
        put = put.add(family, qualifier, value).or_else(|error| said(error.message()))?;
    }
    table.insert(put).await.or_else(|error| match error.kind() {
        ErrorKind::RowExists => said(error.message()),
        _ => Err(error.into()),
    })
}

/// Takes the option TTL, the only one of the command.
fn ttl(call: &mut Call) -> Result<Option<i64>> {
    let mut options = call.take_options()?;
    let ttl = options.take_count("TTL")?.map(i64::from);
    options.finish()?;
    Ok(ttl)
}

pub(super) async fn append<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let column = WrittenColumn::of(&call)?;
    let value = call.bytes(3)?;
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place(session, &table).await?;
    let mut append = Append::new(row.key(&table)?)
        .and_then(|append| append.add(family.clone(), qualifier.clone(), value))
        .or_else(|error| said(error.message()))?;
    append.ttl_millis = ttl;
    let row = table.append(append).await?;
    let value = row.value(family, qualifier).unwrap_or_default();
    session.say(format_args!("CURRENT VALUE = {}", escape(&value)))
}

pub(super) async fn incr<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let ttl = ttl(&mut call)?;
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let column = WrittenColumn::of(&call)?;
    let amount = call.integer(3)?.unwrap_or(1);
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.counter(session, &table).await?;
    let mut increment = Increment::new(row.key(&table)?)
        .and_then(|increment| increment.add(family.clone(), qualifier.clone(), amount))
        .or_else(|error| said(error.message()))?;
    increment.ttl_millis = ttl;
    let row = table.increment(increment).await?;
    match row.counter(family, qualifier)? {
        Some(value) => session.say(format_args!("COUNTER VALUE = {value}")),
        None => session.say("No counter found at specified coordinates"),
    }
}

pub(super) async fn delete<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let column = WrittenColumn::of(&call)?;
    let at = timestamp(&call, 3)?;
    call.no_more_than(4)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place_or_family(session, &table).await?;
    for row in row.keys(&table)? {
        let (family, qualifier) = (family.clone(), qualifier.clone());
        let delete = Delete::new(row)
            .and_then(|delete| match qualifier {
                Some(qualifier) => delete.version(family, qualifier, at),
                None => delete.family_version(family, at),
            })
            .or_else(|error| said(error.message()))?;
        table.delete(delete).await?;
    }
    Ok(())
}

pub(super) async fn delete_all<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    call.take_options()?.finish()?;
    // A hash in place of the row has options or the fields of a row.
    let prefix = match &call.arguments[1] {
        Value::Hash(pairs) if pairs.iter().any(|(name, _)| call.command.has_option(name)) => {
            Some(Options::new(call.command, "deleteall", pairs.clone())?)
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
            let wanted = DeleteSelection::new(session, &table, column, at).await?;
            for row in row.keys(&table)? {
                table.delete(wanted.of(row)?).await?;
            }
            Ok(())
        }
        Some(mut options) => {
            let batch = options.take_count("CACHE")?.unwrap_or(100) as usize;
            if !options.has("ROWPREFIXFILTER") {
                return said("instead of a row, deleteall takes {ROWPREFIXFILTER => 'prefix'}");
            }
            let prefix = Bound::take(&mut options, "ROWPREFIXFILTER")?;
            options.finish()?;
            let Some(prefix) = prefix else {
                // A script with an unset variable would empty the table.
                return said("ROWPREFIXFILTER must not be empty: truncate empties a table");
            };
            let table = session.database.table(&table).await?;
            let wanted = DeleteSelection::new(session, &table, column, at).await?;
            delete_range(&table, prefix.prefix(&table)?, &wanted, batch).await
        }
    }
}

/// The cells of each row that `deleteall` deletes.
struct DeleteSelection {
    column: Option<(Bytes, Option<Bytes>)>,
    at: Timestamp,
}

impl DeleteSelection {
    async fn new<W>(
        session: &Session<W>,
        table: &Table,
        column: Option<WrittenColumn>,
        at: Timestamp,
    ) -> Result<Self> {
        let column = match column {
            Some(column) => Some(column.place_or_family(session, table).await?),
            None => None,
        };
        Ok(Self { column, at })
    }

    fn of(&self, row: Bytes) -> Result<Delete> {
        let delete = Delete::new(row).and_then(|mut delete| match &self.column {
            None => {
                delete.timestamp = self.at;
                Ok(delete)
            }
            Some((family, Some(qualifier))) => delete.column(family, qualifier, self.at),
            Some((family, None)) => delete.family(family, self.at),
        });
        delete.or_else(|error| said(error.message()))
    }
}

async fn delete_range(
    table: &Table,
    range: RowRange,
    wanted: &DeleteSelection,
    batch: usize,
) -> Result<()> {
    let mut rows = table.scan(Scan::new(range)).await?;
    let mut deletes: Vec<Mutation> = Vec::new();
    loop {
        let row = rows.next().await?;
        let ended = row.is_none();
        if let Some(row) = row {
            deletes.push(wanted.of(Bytes::copy_from_slice(row.key()))?.into());
        }
        if deletes.len() >= batch || ended {
            for outcome in table.batch(std::mem::take(&mut deletes)).await {
                outcome?;
            }
        }
        if ended {
            return Ok(());
        }
    }
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
        .or_else(|_| said(format!("Timestamp cannot be negative. ts={millis}")))
}
