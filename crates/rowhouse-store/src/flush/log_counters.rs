//! Logs the counters that increments left out of the log (decision 0086). Such a record has the
//! newest value of each counter and the nonces of the increments. The memstores have the cells
//! already.

use std::time::Instant;

use rowhouse_model::{CellRef, Result};

use crate::commits::{DueCounters, TakenCounters};
use crate::engine::Engine;
use crate::wait_mode::WaitMode;
use crate::wal::{Position, RecordBody};

/// The most rows that are locked together: increments of them wait.
const ROWS_AT_ONCE: usize = 64;

/// Bytes of counters after which another record begins.
const RECORD_BYTES: usize = 4 << 20;

/// Logs the counters that are due at `now`. An error in one region leaves no other out.
pub(crate) fn log_due_counters(engine: &Engine, now: Instant) -> Result<()> {
    let logged = engine.counters.due(now).into_iter().map(|due| log_due_of(engine, &due));
    logged.fold(Ok(()), Result::and)
}

fn log_due_of(engine: &Engine, due: &DueCounters) -> Result<()> {
    let mut logged = Ok(());
    let mut to_sync = None;
    for rows in due.rows.chunks(ROWS_AT_ONCE) {
        match log_rows(engine, due.region, rows) {
            Ok(position) => to_sync = to_sync.max(position),
            Err(error) => logged = logged.and(Err(error)),
        }
    }
    // The row locks are released by now: increments do not wait for the disk.
    to_sync.map_or(Ok(()), |position| engine.wal().sync_to(position)).and(logged)
}

/// Logs the counters of rows. Returns the position to which the log must be synced; `None` if
/// that is not required.
fn log_rows(engine: &Engine, region: u64, rows: &[Vec<u8>]) -> Result<Option<Position>> {
    let rows = || rows.iter().map(|row| (region, &row[..]));
    // Without the locks a delete could come between the values and their record: after a crash the
    // counters would be there again.
    let _locked = engine.row_locks.lock(rows(), WaitMode::Blocking).done();
    let _latch = engine.freeze_latch.read();
    let taken = engine.counters.take_rows(rows());
    let is_synced = taken.iter().any(|(_, _, counters)| counters.is_synced());
    let position = log_counters(engine, taken)?;
    Ok(position.filter(|_| is_synced))
}

/// Logs all counters of some regions.
pub(crate) fn log_counters_of(engine: &Engine, regions: &[u64]) -> Result<()> {
    if engine.counters.is_empty() {
        return Ok(());
    }
    let _latch = engine.freeze_latch.write();
    log_counters_latched(engine, regions.iter().copied())
}

/// As [`log_counters_of`]; the caller holds the freeze latch exclusively.
pub(crate) fn log_counters_latched(
    engine: &Engine,
    regions: impl IntoIterator<Item = u64>,
) -> Result<()> {
    if engine.counters.is_empty() {
        return Ok(());
    }
    for region in regions {
        log_counters(engine, engine.counters.take_region(region))?;
    }
    Ok(())
}

/// Logs counters, each row in one record. Returns the end of the last record. The caller holds the
/// freeze latch, shared and with the rows locked, or exclusively.
///
/// # Errors
/// Errors from the log; the counters that it has not taken are then unlogged as before.
pub(crate) fn log_counters(engine: &Engine, taken: TakenCounters) -> Result<Option<Position>> {
    let mut last = None;
    let mut rest = taken.into_iter();
    loop {
        let mut part = TakenCounters::new();
        let mut bytes = 0;
        while bytes < RECORD_BYTES
            && let Some(next) = rest.next()
        {
            bytes += next.2.bytes();
            part.push(next);
        }
        if part.is_empty() {
            return Ok(last);
        }
        match log_part(engine, &part) {
            Ok(position) => last = Some(position),
            Err(error) => {
                part.extend(rest);
                engine.counters.put_back(part);
                return Err(error);
            }
        }
    }
}

fn log_part(engine: &Engine, part: &TakenCounters) -> Result<Position> {
    let nonces = part.iter().flat_map(|(_, _, counters)| counters.nonces().iter().copied());
    let mut record = body_of(part).seal(nonces, engine.time_for_followers());
    engine.space.wrote(record.body_len() as u64);
    let (sequence, logged) = engine.wal().append(&mut record, || engine.mvcc.reserve());
    engine.mvcc.publish(sequence);
    engine.tend_log(logged.is_ok());
    logged
}

/// Returns the cells of counters as a record, or as the beginning of one.
pub(crate) fn body_of(taken: &TakenCounters) -> RecordBody {
    let mut body = RecordBody::default();
    for (region, _, counters) in taken {
        let mut last: Option<&[u8]> = None;
        for cell in counters.cells() {
            let family = CellRef::from_checked(cell, 0).key.family;
            if last != Some(family) {
                body.group(*region, family);
                last = Some(family);
            }
            body.cell(cell, None);
        }
    }
    body
}
