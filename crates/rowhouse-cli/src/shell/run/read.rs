//! Commands that read a row, and code that they share with scans.

use std::cmp::Reverse;
use std::io::Write;

use rowhouse::cell::KeyValue;
use rowhouse::filter::Filter;
use rowhouse::key::escape;
use rowhouse::{Get, TimeRange};
use rowhouse_filter::with_java_flags;

use super::analyze::Analyze;
use super::column::{WrittenColumn, WrittenColumns};
use super::data::checked_timestamp;
use super::decode;
use super::row::RowArgument;
use crate::shell::call::{self, Call, Options};
use crate::shell::failure::{Result, said};
use crate::shell::grammar::Value;
use crate::shell::print;
use crate::shell::session::Session;

pub(super) async fn get<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let mut named = Vec::new();
    for argument in call.arguments.into_iter().skip(2) {
        match argument {
            Value::Array(values) => named.extend(values),
            value => named.push(value),
        }
    }
    let columns = WrittenColumns::take(&mut options, named)?;
    let time_range = time_range(&mut options)?;
    let versions = options.take_count("VERSIONS")?.unwrap_or(1);
    let filter = filter(&mut options)?;
    let wanted = decode::wanted(&mut options)?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    if analyze.is_none() {
        session.say("COLUMN  CELL")?;
    }
    let table = session.database.table(&table).await?;
    let declared = decode::declared(wanted, &table, columns.converters())?;
    let columns = columns.of(session, &table).await?;
    let mut found = Vec::new();
    for key in row.keys(&table)? {
        let get = Get::new(key).or_else(|error| said(error.message()))?;
        let mut get = get.time_range(time_range).versions(versions);
        get.columns = columns.clone();
        get.filter = filter.clone();
        if let Some(analyze) = &analyze {
            analyze.say(session, &table.analyze_get(&get).await?)?;
            continue;
        }
        found.extend(Some(table.get(&get).await?).filter(|row| !row.is_empty()));
    }
    if analyze.is_some() {
        return Ok(());
    }
    // Of rows that differ only in their salts, the one that was written last comes first.
    found.sort_by_key(|row| Reverse(row.cells().map(KeyValue::timestamp).max()));
    for row in &found {
        if let Some(schema) = declared.key {
            let (key, fields) = (escape(row.key()), decode::fields(schema, row.key()));
            session.say(format_args!(" # {key}: {fields}"))?;
        }
        for cell in row.cells() {
            if let Some(named) = declared.cell(cell) {
                session.say(format_args!(" #   {named}"))?;
            }
            session.say(print::cell(cell, &declared.value(cell), declared.len_max()))?;
        }
    }
    session.say(format_args!("{} row(s)", found.len()))
}

/// Prints the reasons for the output of `get` for a column.
pub(super) async fn explain_cell<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let column = WrittenColumn::of(&call)?;
    let time_range = time_range(&mut options)?;
    let versions = options.take_count("VERSIONS")?.unwrap_or(u32::MAX);
    options.finish()?;

    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place(session, &table).await?;
    let mut cells = 0;
    for key in row.keys(&table)? {
        let get = Get::new(key).or_else(|error| said(error.message()))?;
        let get = get.column(family.clone(), qualifier.clone());
        let get = get.time_range(time_range).versions(versions);
        for entry in table.explain_cell(&get).await?.entries {
            let (cell, place, fate) = (entry.cell, entry.place, entry.fate);
            let shown = print::cell(cell.as_key_value(), &escape(cell.value()), None);
            session.say(format_args!("{shown}, sequence={}, in {place}", cell.sequence()))?;
            session.say(format_args!("   {fate}"))?;
            cells += 1;
        }
    }
    session.say(format_args!("{cells} cell(s)"))
}

pub(super) async fn get_counter<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let (table, row) = (call.table()?, RowArgument::of(&call, 1)?);
    let column = WrittenColumn::of(&call)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.counter(session, &table).await?;
    let get = Get::new(row.key(&table)?).or_else(|error| said(error.message()))?;
    let get = get.column(family.clone(), qualifier.clone());
    let row = table.get(&get).await?;
    match row.counter(family, qualifier) {
        Ok(Some(value)) => session.say(format_args!("COUNTER VALUE = {value}")),
        Ok(None) => session.say("No counter found at specified coordinates"),
        Err(error) => said(error.message()),
    }
}

/// Takes the filter of a read, in HBase's language.
pub(super) fn filter(options: &mut Options) -> Result<Option<Box<Filter>>> {
    match options.take_text("FILTER")? {
        None => Ok(None),
        Some(text) => match Filter::parse(&text).and_then(with_java_flags) {
            Ok(filter) => Ok(Some(Box::new(filter))),
            Err(error) => said(error.message()),
        },
    }
}

/// Takes the timestamps of a read: TIMESTAMP or TIMERANGE.
pub(super) fn time_range(options: &mut Options) -> Result<TimeRange> {
    let at = options.take_integer("TIMESTAMP")?;
    let range = options.take("TIMERANGE");
    match (at, range) {
        (None, None) => Ok(TimeRange::ALL),
        (Some(at), None) => Ok(TimeRange::at(checked_timestamp(at)?)),
        (None, Some(Value::Array(ends))) if ends.len() == 2 => {
            let from = checked_timestamp(call::integer("TIMERANGE", &ends[0])?)?;
            let to = checked_timestamp(call::integer("TIMERANGE", &ends[1])?)?;
            TimeRange::new(from, to).or_else(|error| said(error.message()))
        }
        (None, Some(other)) => said(format!("TIMERANGE must be [from, to]: {other}")),
        (Some(_), Some(_)) => said("TIMESTAMP and TIMERANGE exclude each other"),
    }
}
