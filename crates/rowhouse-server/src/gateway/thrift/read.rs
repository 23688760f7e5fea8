//! Gets.

use bytes::Bytes;
use rowhouse_format::thrift::{Answer, Args, TCell};
use rowhouse_model::{Columns, Get, Row, TimeRange, Timestamp};

use super::call::{
    ArgsMemory, Outcome, Returned, attributes, checked_row, required, split_column, table_name,
};
use super::failure::{Thrown, io, of_batch, of_row};
use crate::gateway::{RowAction, Session};

/// Reads the cells of a column or family.
pub(super) async fn cells(session: &Session, args: Args) -> Outcome<Returned> {
    let table = table_name(args.table)?;
    let mut get = Get::new(checked_row(args.row)?).map_err(|error| Thrown::illegal(&error))?;
    attributes(args.attributes, false)?;
    get.columns = columns(Some(vec![required(args.column, "column")?]));
    get.time_range = time_range(args.timestamp)?;
    if let Some(versions) = args.versions {
        let positive = u32::try_from(versions).ok().filter(|&versions| versions > 0);
        // In HBase an exception of the client that is not for illegal arguments.
        get.versions = positive.ok_or_else(|| io("versions must be positive"))?;
    }
    let read = session.get(&table, &get).await.map_err(of_row)?;
    Ok(Returned { answer: Answer::Cells(cells_of(&read.row)), memory: Vec::from_iter(read.memory) })
}

/// Reads a row.
pub(super) async fn row(session: &Session, args: Args) -> Outcome<Returned> {
    let table = table_name(args.table)?;
    let mut get = Get::new(checked_row(args.row)?).map_err(|error| Thrown::illegal(&error))?;
    attributes(args.attributes, false)?;
    get.columns = columns(args.columns);
    get.time_range = time_range(args.timestamp)?;
    let read = session.get(&table, &get).await.map_err(of_row)?;
    let rows = Vec::from_iter(Some(read.row).filter(|row| !row.is_empty()));
    let answer = Answer::Rows { rows, is_sorted: false };
    Ok(Returned { answer, memory: Vec::from_iter(read.memory) })
}

/// Reads rows. Those without cells are left out.
pub(super) async fn rows(session: &Session, args: Args, memory: ArgsMemory) -> Outcome<Returned> {
    let rows = required(args.rows, "rows")?;
    let table = table_name(args.table)?;
    attributes(args.attributes, false)?;
    let selected = args.columns.iter().flatten().map(|column| column.len() as u64 + 64);
    let of_row = selected.sum::<u64>() + 128;
    let rows_len: u64 = rows.iter().map(|row| row.len() as u64).sum();
    let written_out = rows_len + of_row.saturating_mul(rows.len() as u64);
    let memory = session.reserve_written_out(written_out, memory).await;
    let memory = memory.map_err(|error| Thrown::illegal(&error))?;
    let columns = columns(args.columns);
    let time_range = time_range(args.timestamp)?;
    let gets = rows.into_iter().map(|row| {
        let mut get = Get::new(checked_row(Some(row))?).map_err(|error| Thrown::illegal(&error))?;
        get.columns = columns.clone();
        get.time_range = time_range;
        Ok(RowAction::Get(get))
    });
    let gets = gets.collect::<Outcome<Vec<_>>>()?;
    let batch = session.batch(&table, &gets, memory).await;
    let mut rows = Vec::with_capacity(batch.answers.len());
    let mut failed = Vec::new();
    for answer in batch.answers {
        match answer {
            Ok(row) if row.is_empty() => {}
            Ok(row) => rows.push(row),
            Err(exception) => failed.push(exception),
        }
    }
    if let Some(failure) = of_batch(&failed) {
        return Err(failure.into());
    }
    Ok(Returned { answer: Answer::Rows { rows, is_sorted: false }, memory: batch.memory })
}

/// Returns the selection of columns and families; without any, everything.
pub(super) fn columns(selected: Option<Vec<Bytes>>) -> Columns {
    let mut columns = Columns::all();
    for column in selected.unwrap_or_default() {
        match split_column(&column) {
            (family, None) => columns.add_family(family),
            (family, Some(qualifier)) => columns.add_column(family, qualifier),
        }
    }
    columns
}

/// Returns the range of times before this one.
pub(super) fn time_range(end: Option<i64>) -> Outcome<TimeRange> {
    let Some(end) = end else { return Ok(TimeRange::ALL) };
    Timestamp::from_millis(end)
        .and_then(|end| TimeRange::new(Timestamp::MIN, end))
        .map_err(|error| Thrown::illegal(&error))
}

/// Returns the values and times of a row's cells.
pub(super) fn cells_of(row: &Row) -> Vec<TCell> {
    let cells = row.cells().map(|cell| TCell {
        value: Some(cell.value_bytes()),
        timestamp: cell.timestamp().as_millis(),
    });
    cells.collect()
}
