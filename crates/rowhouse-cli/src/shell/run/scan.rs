//! Commands that read many rows.

use std::io::Write;

use rowhouse::{Bytes, RowRange, Scan, escape};

use super::read::{columns, decoded, schema_if, time_range};
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
    let mut scan = range_scan(&mut options)?;
    scan.versions = options.take_count("VERSIONS")?.unwrap_or(1);
    scan.limit = options.take_count("LIMIT")?.map(u64::from);
    scan.reversed = options.take_truth("REVERSED")?;
    let decode = options.take_truth("DECODE")?;
    options.finish()?;

    session.say("ROW  COLUMN+CELL")?;
    let table = session.database.table(&table).await?;
    let schema = schema_if(decode, &table)?;
    let mut rows = table.scan(scan).await?;
    let mut count = 0_u64;
    while let Some(row) = rows.next().await? {
        let key = match schema {
            Some(schema) => decoded(schema, &Bytes::copy_from_slice(row.key())),
            None => escape(row.key()),
        };
        for cell in row.cells() {
            session.say(print::scanned_cell(&key, cell))?;
        }
        count += 1;
    }
    session.say(format_args!("{count} row(s)"))
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
    let scan = range_scan(&mut options)?;
    options.finish()?;

    let mut rows = session.database.table(&table).await?.scan(scan).await?;
    let mut count = 0_u64;
    while let Some(row) = rows.next().await? {
        count += 1;
        if count.is_multiple_of(u64::from(interval)) {
            session.say(format_args!("Current count: {count}, row: {}", escape(row.key())))?;
        }
    }
    session.say(format_args!("{count} row(s)"))?;
    Ok(count)
}

/// Rows, columns and timestamps of a scan.
fn range_scan(options: &mut Options) -> Result<Scan> {
    let start = options.take_bytes("STARTROW")?.unwrap_or_default();
    let stop = options.take_bytes("STOPROW")?.unwrap_or_default();
    let prefix = options.take_bytes("ROWPREFIXFILTER")?;
    let range = match prefix {
        None => RowRange { start, stop },
        Some(prefix) if start.is_empty() && stop.is_empty() => RowRange::prefix(&prefix),
        Some(_) => return said("ROWPREFIXFILTER excludes STARTROW and STOPROW"),
    };
    let mut scan = Scan::new(range);
    scan.columns = columns(options, Vec::new())?;
    scan.time_range = time_range(options)?;
    scan.caching = options.take_count("CACHE")?;
    Ok(scan)
}
