//! Aggregates over a column of one region, as in HBase's AggregateImplementation; the client
//! combines all regions' results.
//!
//! HBase counts one row too many if a region's last rows have no matching cells; this count is
//! exact.

use std::cmp::Ordering;

use bytes::Bytes;
use rowhouse_format::convert::endpoint::AggregateFunction;
use rowhouse_format::proto::AggregateResponse;
use rowhouse_model::{Filter, Result, Row, Scan};
use rowhouse_store::RegionScanner;

use super::number::Number;

/// Returns the scan for a function: to count rows, each row's first cell is enough.
pub(super) fn scan_for(function: AggregateFunction, mut scan: Scan) -> Scan {
    let names_columns = scan.columns.families().next().is_some_and(|(_, named)| !named.is_all());
    if function == AggregateFunction::RowCount && scan.filter.is_none() && !names_columns {
        scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    }
    scan
}

/// Computes the aggregate over a scan's rows. The scan's first family has this many named columns.
pub(super) fn run<N: Number>(
    rows: &mut RegionScanner,
    function: AggregateFunction,
    named: usize,
) -> Result<AggregateResponse> {
    match function {
        AggregateFunction::Max => extreme::<N>(rows, Ordering::Greater),
        AggregateFunction::Min => extreme::<N>(rows, Ordering::Less),
        AggregateFunction::Sum => {
            let sum = total(rows, row_sum::<N>)?.0;
            Ok(answer(sum, None))
        }
        AggregateFunction::RowCount => {
            let count = total::<N>(rows, |_| Ok(None))?.1;
            Ok(AggregateResponse { first_part: vec![bytes_of(count)], ..Default::default() })
        }
        AggregateFunction::Average => {
            let (sum, count) = total(rows, row_sum::<N>)?;
            Ok(if sum.is_some() { answer(sum, Some(count)) } else { Default::default() })
        }
        AggregateFunction::Deviation => deviation::<N>(rows),
        AggregateFunction::Median => median::<N>(rows, named > 1),
    }
}

/// Returns the greatest or the least value: the one that compares as `side` with all others.
fn extreme<N: Number>(rows: &mut RegionScanner, side: Ordering) -> Result<AggregateResponse> {
    let mut extreme: Option<N> = None;
    while let Some(row) = rows.next()? {
        for cell in row.cells() {
            let Some(value) = N::read(cell.value())? else { continue };
            if extreme.as_ref().is_none_or(|extreme| value.compare(extreme) == side) {
                extreme = Some(value);
            }
        }
    }
    Ok(answer(extreme, None))
}

/// Returns the sum of `of` over all rows, and the row count.
fn total<N: Number>(
    rows: &mut RegionScanner,
    mut of: impl FnMut(&Row) -> Result<Option<N>>,
) -> Result<(Option<N>, i64)> {
    let mut sum = None;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        sum = plus(sum, of(&row)?);
        count += 1;
    }
    Ok((sum, count))
}

fn deviation<N: Number>(rows: &mut RegionScanner) -> Result<AggregateResponse> {
    let mut squares: Option<N> = None;
    let (sum, count) = total(rows, |row| {
        let of_row = row_sum::<N>(row)?;
        let square = of_row.as_ref().map(|number| number.times(number));
        squares = plus(squares.take(), square);
        Ok(of_row)
    })?;
    let Some(sum) = sum else { return Ok(AggregateResponse::default()) };
    let first_part = [Some(sum), squares].into_iter().flatten().map(|number| number.to_bytes());
    let second_part = Some(bytes_of(count));
    Ok(AggregateResponse { first_part: first_part.collect(), second_part, ..Default::default() })
}

/// Returns the value sum and, if a weight column is also named, the weight sum. HBase's column
/// interpreters ignore a cell's column, so each sum covers all cells. A region without rows
/// contributes zero; HBase fails there.
fn median<N: Number>(rows: &mut RegionScanner, is_weighted: bool) -> Result<AggregateResponse> {
    let sum = total(rows, row_sum::<N>)?.0.unwrap_or_else(N::zero);
    let weights = if is_weighted { sum.clone() } else { N::least() };
    let first_part = vec![sum.to_bytes(), weights.to_bytes()];
    Ok(AggregateResponse { first_part, ..Default::default() })
}

/// Returns the sum of a row's values.
fn row_sum<N: Number>(row: &Row) -> Result<Option<N>> {
    let mut sum = None;
    for cell in row.cells() {
        sum = plus(sum, N::read(cell.value())?);
    }
    Ok(sum)
}

fn plus<N: Number>(sum: Option<N>, number: Option<N>) -> Option<N> {
    match (sum, number) {
        (Some(sum), Some(number)) => Some(sum.plus(&number)),
        (sum, number) => sum.or(number),
    }
}

/// Builds an answer from an optional number and an optional count.
fn answer<N: Number>(number: Option<N>, count: Option<i64>) -> AggregateResponse {
    AggregateResponse {
        first_part: number.iter().map(Number::to_bytes).collect(),
        second_part: count.map(bytes_of),
        ..Default::default()
    }
}

fn bytes_of(count: i64) -> Bytes {
    Bytes::copy_from_slice(&count.to_be_bytes())
}
