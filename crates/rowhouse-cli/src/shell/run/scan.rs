//! Commands that read many rows.

use std::io::Write;

use rowhouse::{Bytes, Row, RowRange, Scan, escape};

use super::column::WrittenColumns;
use super::decode::{self, Declared};
use super::read::{filter, time_range};
use crate::shell::call::{Call, Options};
use crate::shell::failure::{Result, said};
use crate::shell::grammar::Value;
use crate::shell::print;
use crate::shell::session::Session;

/// Rows between two tellings of `count`.
const INTERVAL: u32 = 1000;

pub(super) async fn scan<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let table = call.table()?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let mut scan = range_scan(&mut options)?;
    scan.versions = options.take_count("VERSIONS")?.unwrap_or(1);
    scan.limit = options.take_count("LIMIT")?.map(u64::from);
    scan.raw = options.take_truth("RAW")?;
    scan.batch = options.take_count("BATCH")?;
    scan.cache_blocks = !options.has("CACHE_BLOCKS") || options.take_truth("CACHE_BLOCKS")?;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;

    session.say("ROW  COLUMN+CELL")?;
    let table = session.database.table(&table).await?;
    scan.columns = columns.of(session, &table).await?;
    let declared = decode::declared(wanted, &table, columns.converters())?;
    let mut rows = table.scan(scan).await?;
    let mut count = 0_u64;
    let mut last = Vec::new();
    while let Some(row) = rows.next().await? {
        say_row(session, declared, &row)?;
        // With a batch several parts are of one row.
        if row.key() != last {
            last = row.key().to_vec();
            count += 1;
        }
    }
    session.say(format_args!("{count} row(s)"))
}

/// Prints a row's cells, behind the fields of its key where there is a template, each behind its name where
/// that is declared.
pub(super) fn say_row<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    row: &Row,
) -> Result<()> {
    if let Some(schema) = declared.key {
        session.say(format_args!(" # {}", decode::fields(schema, row.key())))?;
    }
    let key = escape(row.key());
    row.cells().try_for_each(|cell| {
        if let Some(named) = declared.cell(cell) {
            session.say(format_args!(" #   {named}"))?;
        }
        session.say(print::scanned_cell(&key, cell, &declared.value(cell)))
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
    let mut scan = range_scan(&mut options)?;
    // As HBase's count: a look at everything is no reason to keep it.
    scan.cache_blocks = false;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
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

/// Rows and timestamps of a scan.
fn range_scan(options: &mut Options) -> Result<Scan> {
    let start = options.take_bytes("STARTROW")?.unwrap_or_default();
    let stop = options.take_bytes("STOPROW")?.unwrap_or_default();
    let prefix = options.take_bytes("ROWPREFIXFILTER")?;
    let reversed = options.take_truth("REVERSED")?;
    let range = match prefix {
        // The first row of a reversed scan is its greatest; it is included, and the last is not.
        None if reversed => RowRange { start: behind(&stop), stop: behind(&start) },
        None => RowRange { start, stop },
        Some(prefix) if start.is_empty() && stop.is_empty() => RowRange::prefix(&prefix),
        Some(_) => return said("ROWPREFIXFILTER excludes STARTROW and STOPROW"),
    };
    let mut scan = Scan::new(range);
    scan.time_range = time_range(options)?;
    scan.filter = filter(options)?;
    scan.caching = options.take_count("CACHE")?;
    scan.reversed = reversed;
    Ok(scan)
}

/// The row directly behind `row`; no row is still none.
fn behind(row: &Bytes) -> Bytes {
    match row.is_empty() {
        true => Bytes::new(),
        false => RowRange::row(row).stop,
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
        format!("{:?}", range_scan(&mut options).unwrap().range)
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
