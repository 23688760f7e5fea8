//! Commands that read a row, and code that they share with scans.

use std::cmp::Reverse;

use rowhouse::cell::KeyValue;
use rowhouse::filter::Filter;
use rowhouse::key::escape;
use rowhouse::{Get, TimeRange};
use rowhouse_filter::with_java_flags;

use super::analyze::{ANALYZE, Analyze, SVG};
use super::column::{COLUMN, COLUMNS, WrittenColumn, WrittenColumns};
use super::converter::{FORMATTER, FORMATTER_CLASS, MAXLENGTH};
use super::data::checked_timestamp;
use super::decode::{self, DECODE};
use super::row::RowArgument;
use crate::shell::argument;
use crate::shell::command::Action::Reads;
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, repeated, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::{OptionText, Options};
use crate::shell::print;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["explain_cell"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), OPTIONS],
        options: &[TIMESTAMP, TIMERANGE, VERSIONS],
        about: "Shows every stored version and marker of a column, and why `get` returns it or \
                not.",
        details: "Newest first, with the sequence number of its mutation and its location. Only \
                  on a data directory: servers have no such call. VERSIONS is by default the \
                  number that the family keeps.",
        examples: &[
            "explain_cell 'blog', '1', 'cf:title'",
            "explain_cell 'blog', '1', 'cf:title', {VERSIONS => 1, TIMERANGE => [1669852800000, 1672531200000]}",
        ],
        run: Reads(|session, call| boxed(explain_cell(session, call))),
    },
    Command {
        names: &["get"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), repeated("COLUMN or OPTIONS")],
        options: &[
            COLUMN,
            COLUMNS,
            TIMESTAMP,
            TIMERANGE,
            VERSIONS,
            FILTER,
            FORMATTER,
            FORMATTER_CLASS,
            MAXLENGTH,
            DECODE,
            ANALYZE,
            SVG,
        ],
        about: "Reads a row, or some of its columns.",
        details: "In place of a row, {field => value, …} gives its key by the fields of the \
                  table's template.",
        examples: &[
            "get 'blog', '1'",
            "get 'blog', '1', 'cf:title', 'cf:content'",
            "get 'mail', {user => 'bob', at => '2022-12-05T10:00'}",
            "get 'blog', '1', {COLUMN => 'cf:title', VERSIONS => 3}",
            "get 'blog', '1', 'cf:reads:toLong'",
            "get 'blog', '1', TIMERANGE => [1669852800000, 1672531200000]",
        ],
        run: Reads(|session, call| boxed(get(session, call))),
    },
    Command {
        names: &["get_counter"],
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN")],
        options: &[],
        about: "Reads a counter.",
        details: "",
        examples: &["get_counter 'blog', '1', 'cf:visits'"],
        run: Reads(|session, call| boxed(get_counter(session, call))),
    },
];

pub(super) const FILTER: OptionText = (
    "FILTER",
    "a filter in HBase's language: \"PrefixFilter('1_') AND ValueFilter(=, 'binary:x')\"",
);
pub(super) const TIMESTAMP: OptionText = ("TIMESTAMP", "only cells with exactly this timestamp");
pub(super) const TIMERANGE: OptionText = (
    "TIMERANGE",
    "[from, to): only cells with timestamps in this \
                                               range",
);
pub(super) const VERSIONS: OptionText = ("VERSIONS", "most versions of each column; 1 by default");
pub(super) const LIMIT: OptionText = ("LIMIT", "most rows to return");
pub(super) const REVERSED: OptionText = ("REVERSED", "true: from the last row to the first");

async fn get(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
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
    let mut filter = filter(&mut options)?;
    let is_decoded = decode::take(&mut options)?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    if analyze.is_none() {
        session.say("COLUMN  CELL")?;
    }
    let table = session.database.table(&table).await?;
    let cells = columns.cells(session, &table).await?;
    cells.narrow(&mut filter);
    let declared = decode::declared(is_decoded, &table, columns.converters())?.only(&cells);
    let columns = columns.of(session, &table).await?;
    let mut rows = Vec::new();
    for key in row.keys(&table)? {
        let get = Get::new(key).or_else(|error| usage_error(error.message()))?;
        let mut get = get.time_range(time_range).versions(versions);
        get.columns = columns.clone();
        get.filter = filter.clone();
        if let Some(analyze) = &analyze {
            analyze.say(session, &table.analyze_get(&get).await?)?;
            continue;
        }
        rows.extend(Some(table.get(&get).await?).filter(|row| !row.is_empty()));
    }
    if analyze.is_some() {
        return Ok(());
    }
    // Among rows that differ only in their salts, the one that was written last comes first.
    rows.sort_by_key(|row| Reverse(row.cells().map(KeyValue::timestamp).max()));
    for row in &rows {
        if let Some(schema) = declared.key {
            let key = escape(row.key());
            let fields = decode::fields(schema, row.key());
            session.say(format_args!(" # {key}: {fields}"))?;
        }
        for cell in row.cells().filter(|cell| declared.shows(*cell)) {
            if let Some(named) = declared.cell(cell) {
                session.say(format_args!(" #   {named}"))?;
            }
            session.say(print::cell(cell, &declared.value(cell), declared.len_max()))?;
        }
    }
    session.say(format_args!("{} row(s)", rows.len()))
}

/// Prints the reasons for what `get` prints for a column.
async fn explain_cell(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let column = WrittenColumn::of(&call)?;
    let time_range = time_range(&mut options)?;
    let versions = options.take_count("VERSIONS")?.unwrap_or(u32::MAX);
    options.finish()?;

    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.place(session, &table).await?;
    let mut cells = 0;
    for key in row.keys(&table)? {
        let get = Get::new(key).or_else(|error| usage_error(error.message()))?;
        let get = get.column(family.clone(), qualifier.clone());
        let get = get.time_range(time_range).versions(versions);
        for entry in table.explain_cell(&get).await?.entries {
            let cell = entry.cell;
            let place = entry.place;
            let fate = entry.fate;
            let shown = print::cell(cell.as_key_value(), &escape(cell.value()), None);
            session.say(format_args!("{shown}, sequence={}, in {place}", cell.sequence()))?;
            session.say(format_args!("   {fate}"))?;
            cells += 1;
        }
    }
    session.say(format_args!("{cells} cell(s)"))
}

async fn get_counter(session: &mut Session, call: Call) -> Result<()> {
    let table = call.table()?;
    let row = RowArgument::of(&call, 1)?;
    let column = WrittenColumn::of(&call)?;
    let table = session.database.table(&table).await?;
    let (family, qualifier) = column.counter(session, &table).await?;
    let get = Get::new(row.key(&table)?).or_else(|error| usage_error(error.message()))?;
    let get = get.column(family.clone(), qualifier.clone());
    let row = table.get(&get).await?;
    match row.counter(family, qualifier) {
        Ok(Some(value)) => session.say(format_args!("COUNTER VALUE = {value}")),
        Ok(None) => session.say("No counter found at specified coordinates"),
        Err(error) => usage_error(error.message()),
    }
}

/// Takes a read's filter, in HBase's language.
pub(super) fn filter(options: &mut Options) -> Result<Option<Box<Filter>>> {
    match options.take_text("FILTER")? {
        None => Ok(None),
        Some(text) => match Filter::parse(&text).and_then(with_java_flags) {
            Ok(filter) => Ok(Some(Box::new(filter))),
            Err(error) => usage_error(error.message()),
        },
    }
}

/// Takes a read's timestamps: TIMESTAMP or TIMERANGE.
pub(super) fn time_range(options: &mut Options) -> Result<TimeRange> {
    let at = options.take_integer("TIMESTAMP")?;
    let range = options.take("TIMERANGE");
    match (at, range) {
        (None, None) => Ok(TimeRange::ALL),
        (Some(at), None) => Ok(TimeRange::at(checked_timestamp(at)?)),
        (None, Some(Value::Array(ends))) if ends.len() == 2 => {
            let from = checked_timestamp(argument::integer("TIMERANGE", &ends[0])?)?;
            let to = checked_timestamp(argument::integer("TIMERANGE", &ends[1])?)?;
            TimeRange::new(from, to).or_else(|error| usage_error(error.message()))
        }
        (None, Some(other)) => usage_error(format!("TIMERANGE must be [from, to]: {other}")),
        (Some(_), Some(_)) => usage_error("TIMESTAMP and TIMERANGE exclude each other"),
    }
}
