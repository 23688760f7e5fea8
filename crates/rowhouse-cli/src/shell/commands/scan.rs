//! Commands that read many rows.

use rowhouse::cell::KeyValue;
use rowhouse::key::escape;
use rowhouse::{Row, RowRange, Scan, Table};

use super::analyze::{ANALYZE, Analyze, SVG};
use super::cells::SelectedCells;
use super::column::{COLUMN, COLUMNS, WrittenColumns};
use super::converter::{FORMATTER, FORMATTER_CLASS, MAXLENGTH};
use super::decode::{self, DECODE, Declared};
use super::read::{FILTER, LIMIT, REVERSED, TIMERANGE, TIMESTAMP, VERSIONS, filter, time_range};
use super::row::{Bound, ROWPREFIXFILTER};
use crate::shell::command::Action::Reads;
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE};
use crate::shell::failure::{Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::{OptionText, Options, join};
use crate::shell::print;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["count"],
        group: Group::Data,
        arguments: &[TABLE, OPTIONS],
        options: &COUNT,
        about: "Counts rows by reading them.",
        details: "A number instead of the options is the interval.",
        examples: &["count 'blog'", "count 'blog', INTERVAL => 100000", "count 'blog', 10"],
        run: Reads(|session, call| boxed(count(session, call))),
    },
    Command {
        names: &["count_cells"],
        group: Group::Data,
        arguments: &[TABLE, OPTIONS],
        options: &COUNT_CELLS,
        about: "Counts cells, and their rows, by reading them.",
        details: "Of each column the newest version counts, unless VERSIONS allows more. A number \
                  instead of the options is the interval.",
        examples: &[
            "count_cells 'blog'",
            "count_cells 'blog', {COLUMNS => ['cf:title'], INTERVAL => 100000}",
            "count_cells 'blog', {RAW => true, VERSIONS => 10}",
        ],
        run: Reads(|session, call| boxed(count_cells(session, call))),
    },
    Command {
        names: &["scan"],
        group: Group::Data,
        arguments: &[TABLE, OPTIONS],
        options: &[
            STARTROW,
            STOPROW,
            ROWPREFIXFILTER,
            COLUMN,
            COLUMNS,
            LIMIT,
            VERSIONS,
            TIMESTAMP,
            TIMERANGE,
            REVERSED,
            FILTER,
            RAW,
            BATCH,
            CACHE,
            CACHE_BLOCKS,
            FORMATTER,
            FORMATTER_CLASS,
            MAXLENGTH,
            DECODE,
            ANALYZE,
            SVG,
        ],
        about: "Reads rows in the order of their keys.",
        details: "",
        examples: &[
            "scan 'blog'",
            "scan 'blog', {COLUMNS => ['cf:title'], LIMIT => 10}",
            "scan 'blog', STARTROW => '1_', STOPROW => '2_'",
            "scan 'blog', ROWPREFIXFILTER => '1_', DECODE => false",
            "scan 'blog', FILTER => \"SingleColumnValueFilter('cf', 'title', =, 'substring:news')\"",
            "scan 'blog', {RAW => true, VERSIONS => 10}",
        ],
        run: Reads(|session, call| boxed(scan(session, call))),
    },
];

/// Options for `count`.
const COUNT: [OptionText; 11] = [
    ("INTERVAL", "rows between two reports of the count; 1000 by default"),
    CACHE,
    COLUMN,
    COLUMNS,
    STARTROW,
    STOPROW,
    ROWPREFIXFILTER,
    TIMESTAMP,
    TIMERANGE,
    FILTER,
    DECODE,
];

/// Options for `count_cells`.
const COUNT_CELLS: [OptionText; 13] = join(COUNT, [VERSIONS, RAW]);

const STARTROW: OptionText =
    ("STARTROW", "the first row, or {field => value, …}: the first fields of its key");
const STOPROW: OptionText =
    ("STOPROW", "the first row after the range, or the first fields of its key");
const RAW: OptionText = ("RAW", "true: everything that is stored, delete markers too");
const BATCH: OptionText = ("BATCH", "most cells per result; longer rows are returned in parts");
const CACHE: OptionText = ("CACHE", "rows to fetch per call");
const CACHE_BLOCKS: OptionText =
    ("CACHE_BLOCKS", "whether the read caches data blocks; true by default");

/// How many rows a count reads between two progress lines by default.
const INTERVAL: u32 = 1000;

async fn scan(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let table = call.table()?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let mut scan = unbounded(&mut options)?;
    let ends = ScanBounds::take(&mut options)?;
    scan.versions = options.take_count("VERSIONS")?.unwrap_or(1);
    scan.limit = options.take_count("LIMIT")?.map(u64::from);
    scan.raw = options.take_truth("RAW")?;
    scan.batch = options.take_count("BATCH")?;
    scan.cache_blocks = !options.has("CACHE_BLOCKS") || options.take_truth("CACHE_BLOCKS")?;
    let is_decoded = decode::take(&mut options)?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    if analyze.is_none() {
        session.say("ROW  COLUMN+CELL")?;
    }
    let table = session.database.table(&table).await?;
    let cells = select(session, &table, &mut scan, &ends, &columns).await?;
    let hint = ends.hint(&scan.range);
    if let Some(analyze) = analyze {
        return analyze.say(session, &table.analyze_scan(scan).await?);
    }
    let declared = decode::declared(is_decoded, &table, columns.converters())?.only(&cells);
    let mut rows = table.scan(scan).await?;
    let mut count = 0_u64;
    let mut last = Vec::new();
    while let Some(row) = rows.next().await? {
        say_row(session, declared, &row)?;
        // With a batch, several results belong to one row.
        if row.key() != last {
            last = row.key().to_vec();
            count += 1;
        }
    }
    session.say(format_args!("{count} row(s)"))?;
    hint.map_or(Ok(()), |hint| session.say(hint))
}

/// Prints a row's cells, after the key fields if there is a template, each after the cell name if
/// that is declared.
pub(super) fn say_row(session: &mut Session, declared: Declared<'_>, row: &Row) -> Result<()> {
    say_key(session, declared, row.key())?;
    say_cells(session, declared, row, |_, _| true)
}

/// Prints the key fields, if there is a template.
pub(super) fn say_key(session: &mut Session, declared: Declared<'_>, key: &[u8]) -> Result<()> {
    match declared.key {
        Some(schema) => session.say(format_args!(" # {}", decode::fields(schema, key))),
        None => Ok(()),
    }
}

/// Prints a row's cells in these columns, each after the cell name if that is declared.
pub(super) fn say_cells(
    session: &mut Session,
    declared: Declared<'_>,
    row: &Row,
    is_shown: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<()> {
    let key = escape(row.key());
    let is_shown =
        |cell: &KeyValue<'_>| declared.shows(*cell) && is_shown(cell.family(), cell.qualifier());
    let mut cells = row.cells().filter(is_shown);
    cells.try_for_each(|cell| {
        if let Some(named) = declared.cell(cell) {
            session.say(format_args!(" #   {named}"))?;
        }
        session.say(print::scanned_cell(&key, cell, &declared.value(cell), declared.len_max()))
    })
}

async fn count(session: &mut Session, call: Call) -> Result<u64> {
    let (_, rows) = count_by(session, call, |_, _| 1).await?;
    session.say(format_args!("{rows} row(s)"))?;
    Ok(rows)
}

async fn count_cells(session: &mut Session, call: Call) -> Result<u64> {
    // A column with many qualifiers reads cells outside the column.
    let cells_of = |row: &Row, selected: &SelectedCells<'_>| {
        row.cells().filter(|cell| selected.show(cell.family(), cell.qualifier())).count() as u64
    };
    let (cells, rows) = count_by(session, call, cells_of).await?;
    session.say(format_args!("{cells} cell(s) in {rows} row(s)"))?;
    Ok(cells)
}

/// Adds up `count_of` for each row in the scan that the options describe. Prints the sum once an
/// interval, and returns it with the row count.
async fn count_by(
    session: &mut Session,
    mut call: Call,
    count_of: impl Fn(&Row, &SelectedCells<'_>) -> u64,
) -> Result<(u64, u64)> {
    // A bare number is the interval, as in old scripts.
    if let Some(Value::Integer(interval)) = call.arguments.get(1) {
        call.arguments[1] = Value::Hash(vec![("INTERVAL".into(), Value::Integer(*interval))]);
    }
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let table = call.table()?;
    let interval = options.take_count("INTERVAL")?.unwrap_or(INTERVAL);
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let mut scan = unbounded(&mut options)?;
    let ends = ScanBounds::take(&mut options)?;
    scan.versions = options.take_count("VERSIONS")?.unwrap_or(1);
    scan.raw = options.take_truth("RAW")?;
    // As HBase's count: a full pass is no reason to cache blocks.
    scan.cache_blocks = false;
    let is_decoded = decode::take(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let cells = select(session, &table, &mut scan, &ends, &columns).await?;
    let schema = decode::schema(is_decoded, &table)?;
    let mut rows = table.scan(scan).await?;
    let mut count = 0_u64;
    let mut row_count = 0_u64;
    while let Some(row) = rows.next().await? {
        count += count_of(&row, &cells);
        row_count += 1;
        if row_count.is_multiple_of(u64::from(interval)) {
            if let Some(schema) = schema {
                session.say(format_args!(" # {}", decode::fields(schema, row.key())))?;
            }
            session.say(format_args!("Current count: {count}, row: {}", escape(row.key())))?;
        }
    }
    Ok((count, row_count))
}

/// Sets a scan's rows and columns; returns which cells among these are shown.
async fn select<'t>(
    session: &Session,
    table: &'t Table,
    scan: &mut Scan,
    ends: &ScanBounds,
    columns: &WrittenColumns,
) -> Result<SelectedCells<'t>> {
    (scan.range, scan.reversed) =
        (ends.range(|bound| bound.rows(table), |bound| bound.prefix(table))?, ends.reversed);
    scan.columns = columns.of(session, table).await?;
    let cells = columns.cells(session, table).await?;
    cells.narrow(&mut scan.filter);
    Ok(cells)
}

/// Takes the scan options other than the row range.
fn unbounded(options: &mut Options) -> Result<Scan> {
    let mut scan = Scan::all();
    scan.time_range = time_range(options)?;
    scan.filter = filter(options)?;
    scan.caching = options.take_count("CACHE")?;
    Ok(scan)
}

/// Scan bounds, as given by the user.
struct ScanBounds {
    start: Option<Bound>,
    stop: Option<Bound>,
    prefix: Option<Bound>,
    reversed: bool,
}

impl ScanBounds {
    fn take(options: &mut Options) -> Result<Self> {
        let start = Bound::take(options, "STARTROW")?;
        let stop = Bound::take(options, "STOPROW")?;
        let prefix = Bound::take(options, "ROWPREFIXFILTER")?;
        if prefix.is_some() && (start.is_some() || stop.is_some()) {
            return usage_error("ROWPREFIXFILTER excludes STARTROW and STOPROW");
        }
        Ok(Self { start, stop, prefix, reversed: options.take_truth("REVERSED")? })
    }

    /// Returns a remark on bounds that can never contain a row.
    fn hint(&self, range: &RowRange) -> Option<&'static str> {
        let both = self.start.is_some() && self.stop.is_some();
        let is_empty = both && range.start > range.stop;
        is_empty.then_some(if self.reversed {
            "STARTROW comes before STOPROW: a reversed scan starts at the greater row"
        } else {
            "STARTROW comes after STOPROW: no row is between them (REVERSED => true reads backward)"
        })
    }

    /// Returns the range: the start is included and the stop excluded, in both directions. `rows`
    /// returns the rows that a bound names, `prefix` those that begin with it.
    fn range(
        &self,
        rows: impl Fn(&Bound) -> Result<RowRange>,
        prefix: impl Fn(&Bound) -> Result<RowRange>,
    ) -> Result<RowRange> {
        if let Some(bound) = &self.prefix {
            return prefix(bound);
        }
        let start = self.start.as_ref().map(&rows).transpose()?;
        let stop = self.stop.as_ref().map(&rows).transpose()?;
        let first = |range: Option<RowRange>| range.map(|range| range.start).unwrap_or_default();
        let after = |range: Option<RowRange>| range.map(|range| range.stop).unwrap_or_default();
        Ok(if self.reversed {
            // A reversed scan has the greatest row first.
            RowRange { start: after(stop), stop: after(start) }
        } else {
            RowRange { start: first(start), stop: first(stop) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::commands;

    fn range(pairs: &[(&str, Value)]) -> String {
        let pairs = pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let scan = commands::find("scan").unwrap();
        let mut options = Options::new(scan.options, "scan", pairs).unwrap();
        let rows = |bound: &Bound| match bound {
            Bound::Key(key) => Ok(RowRange::row(key)),
            Bound::Fields(pairs) => panic!("{pairs:?}"),
        };
        format!("{:?}", ScanBounds::take(&mut options).unwrap().range(rows, rows).unwrap())
    }

    #[test]
    fn a_reversed_scan_begins_at_its_greatest_row() {
        let text = |text: &'static str| Value::Text(text.into());
        let ends = [("STARTROW", text("c")), ("STOPROW", text("a"))];
        assert_eq!(range(&ends), "[c, a)");
        let reversed = ("REVERSED", Value::Boolean(true));
        let [start, stop] = ends;
        assert_eq!(range(&[reversed.clone(), start.clone(), stop]), r"[a\x00, c\x00)");
        assert_eq!(range(&[reversed.clone(), start]), r"[, c\x00)");
        assert_eq!(range(&[reversed]), "[, )");
    }
}
