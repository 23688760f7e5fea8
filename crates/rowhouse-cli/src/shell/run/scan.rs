//! Commands that read many rows.

use std::io::Write;

use rowhouse::key::escape;
use rowhouse::{Row, RowRange, Scan};

use super::analyze::Analyze;
use super::column::WrittenColumns;
use super::decode::{self, Declared};
use super::read::{filter, time_range};
use super::row::Bound;
use crate::shell::call::{Call, Options};
use crate::shell::failure::{Result, said};
use crate::shell::grammar::Value;
use crate::shell::print;
use crate::shell::session::Session;

/// The default number of rows between two progress lines of `count`.
const INTERVAL: u32 = 1000;

pub(super) async fn scan<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let table = call.table()?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let (mut scan, ends) = (unbounded(&mut options)?, ScanBounds::take(&mut options)?);
    scan.versions = options.take_count("VERSIONS")?.unwrap_or(1);
    scan.limit = options.take_count("LIMIT")?.map(u64::from);
    scan.raw = options.take_truth("RAW")?;
    scan.batch = options.take_count("BATCH")?;
    scan.cache_blocks = !options.has("CACHE_BLOCKS") || options.take_truth("CACHE_BLOCKS")?;
    let wanted = decode::wanted(&mut options)?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    if analyze.is_none() {
        session.say("ROW  COLUMN+CELL")?;
    }
    let table = session.database.table(&table).await?;
    (scan.range, scan.reversed) =
        (ends.range(|bound| bound.rows(&table), |bound| bound.prefix(&table))?, ends.reversed);
    scan.columns = columns.of(session, &table).await?;
    let hint = ends.hint(&scan.range);
    if let Some(analyze) = analyze {
        return analyze.say(session, &table.analyze_scan(scan).await?);
    }
    let declared = decode::declared(wanted, &table, columns.converters())?;
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

/// Prints a row's cells, after the fields of its key if there is a template, each after its name if
/// that is declared.
pub(super) fn say_row<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    row: &Row,
) -> Result<()> {
    say_key(session, declared, row.key())?;
    say_cells(session, declared, row, |_, _| true)
}

/// Prints the fields of a key, if there is a template.
pub(super) fn say_key<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    key: &[u8],
) -> Result<()> {
    match declared.key {
        Some(schema) => session.say(format_args!(" # {}", decode::fields(schema, key))),
        None => Ok(()),
    }
}

/// Prints the cells of a row in these columns, each after its name if that is declared.
pub(super) fn say_cells<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    row: &Row,
    is_shown: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<()> {
    let key = escape(row.key());
    let mut cells = row.cells().filter(|cell| is_shown(cell.family(), cell.qualifier()));
    cells.try_for_each(|cell| {
        if let Some(named) = declared.cell(cell) {
            session.say(format_args!(" #   {named}"))?;
        }
        session.say(print::scanned_cell(&key, cell, &declared.value(cell), declared.len_max()))
    })
}

pub(super) async fn count<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<u64> {
    // A bare number is the interval, as in old scripts.
    if let Some(Value::Integer(interval)) = call.arguments.get(1) {
        call.arguments[1] = Value::Hash(vec![("INTERVAL".into(), Value::Integer(*interval))]);
    }
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let table = call.table()?;
    let interval = options.take_count("INTERVAL")?.unwrap_or(INTERVAL);
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let (mut scan, ends) = (unbounded(&mut options)?, ScanBounds::take(&mut options)?);
    // As HBase's count: a full pass is no reason to cache blocks.
    scan.cache_blocks = false;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    (scan.range, scan.reversed) =
        (ends.range(|bound| bound.rows(&table), |bound| bound.prefix(&table))?, ends.reversed);
    scan.columns = columns.of(session, &table).await?;
    let schema = decode::schema(wanted, &table)?;
    let mut rows = table.scan(scan).await?;
    let mut count = 0_u64;
    while let Some(row) = rows.next().await? {
        count += 1;
        if count.is_multiple_of(u64::from(interval)) {
            if let Some(schema) = schema {
                session.say(format_args!(" # {}", decode::fields(schema, row.key())))?;
            }
            session.say(format_args!("Current count: {count}, row: {}", escape(row.key())))?;
        }
    }
    session.say(format_args!("{count} row(s)"))?;
    Ok(count)
}

/// Takes the options of a scan other than its range of rows.
fn unbounded(options: &mut Options) -> Result<Scan> {
    let mut scan = Scan::all();
    scan.time_range = time_range(options)?;
    scan.filter = filter(options)?;
    scan.caching = options.take_count("CACHE")?;
    Ok(scan)
}

/// The bounds of a scan, as given by the user.
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
            return said("ROWPREFIXFILTER excludes STARTROW and STOPROW");
        }
        Ok(Self { start, stop, prefix, reversed: options.take_truth("REVERSED")? })
    }

    /// Returns a remark on bounds that can never contain a row.
    fn hint(&self, range: &RowRange) -> Option<&'static str> {
        let both = self.start.is_some() && self.stop.is_some();
        match both && range.start > range.stop {
            false => None,
            true if self.reversed => {
                Some("STARTROW comes before STOPROW: a reversed scan starts at the greater row")
            }
            true => Some(
                "STARTROW comes after STOPROW: no row is between them (REVERSED => true reads backward)",
            ),
        }
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
        let behind = |range: Option<RowRange>| range.map(|range| range.stop).unwrap_or_default();
        Ok(match self.reversed {
            // The first row of a reversed scan is its greatest.
            true => RowRange { start: behind(stop), stop: behind(start) },
            false => RowRange { start: first(start), stop: first(stop) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::commands::Command;

    fn range(pairs: &[(&str, Value)]) -> String {
        let pairs = pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let scan = Command::find("scan").unwrap();
        let mut options = Options::new(scan, "scan", pairs).unwrap();
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
