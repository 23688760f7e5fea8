//! Logs the counters that increments left out of the log (decision 0086). Such a record has the
//! newest value of each counter and the nonces of the increments. The memstores have the cells
//! already.

use std::time::Instant;

use rowhouse_model::{CellRef, Result};

use crate::commits::RowCounters;
use crate::engine::Engine;
use crate::wait_mode::WaitMode;
use crate::wal::{Position, RecordBody};

/// The most rows that are locked together.
const ROWS_AT_ONCE: usize = 64;

/// Logs the counters that are due at `now`.
pub(crate) fn log_due_counters(engine: &Engine, now: Instant) -> Result<()> {
    for due in engine.counters.due(now) {
        for rows in due.rows.chunks(ROWS_AT_ONCE) {
            let locked = rows.iter().map(|row| (due.region, &row[..]));
            // Without the locks a delete could come between the values and their record: after a
            // crash the counters would be there again.
            let _locked = engine.row_locks.lock(locked, WaitMode::Blocking).done();
            let position = {
                let _latch = engine.freeze_latch.read();
                let taken = rows.iter().filter_map(|row| {
                    Some((due.region, row.clone(), engine.counters.take(due.region, row)?))
                });
                log_counters(engine, taken.collect())?
            };
            if let Some(position) = position.filter(|_| due.is_synced) {
                engine.wal().sync_to(position)?;
            }
        }
    }
    Ok(())
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
pub(super) fn log_counters_latched(
    engine: &Engine,
    regions: impl IntoIterator<Item = u64>,
) -> Result<()> {
    if engine.counters.is_empty() {
        return Ok(());
    }
    for region in regions {
        let taken = engine.counters.take_region(region).into_iter();
        log_counters(engine, taken.map(|(row, counters)| (region, row, counters)).collect())?;
    }
    Ok(())
}

/// Logs counters in one record. The caller holds the freeze latch, shared and with the rows locked,
/// or exclusively.
///
/// # Errors
/// Errors from the log; the counters are then unlogged as before.
pub(crate) fn log_counters(
    engine: &Engine,
    taken: Vec<(u64, Vec<u8>, RowCounters)>,
) -> Result<Option<Position>> {
    if taken.is_empty() {
        return Ok(None);
    }
    let mut body = RecordBody::default();
    for (region, _, counters) in &taken {
        counters.encode(*region, &mut body);
    }
    let nonces = taken.iter().flat_map(|(_, _, counters)| counters.nonces().iter().copied());
    let mut record = body.seal(nonces);
    engine.space.wrote(record.body_len() as u64);
    let (sequence, logged) = engine.wal().append(&mut record, || engine.mvcc.reserve());
    engine.mvcc.publish(sequence);
    engine.tend_log(logged.is_ok());
    if logged.is_err() {
        for (region, row, counters) in taken {
            engine.counters.put_back(region, row, counters);
        }
    }
    logged.map(Some)
}

impl RowCounters {
    /// Adds the cells to a record.
    pub(crate) fn encode(&self, region: u64, body: &mut RecordBody) {
        let mut last: Option<&[u8]> = None;
        for cell in self.cells() {
            let family = CellRef::from_checked(cell, 0).key.family;
            if last != Some(family) {
                body.group(region, family);
                last = Some(family);
            }
            body.cell(cell, None);
        }
    }
}
