//! The commit path: reserve → log → memstores → publish → (sync) → acknowledge.
//!
//! Increments of BUFFERED families are noted instead of logged, and logged later with the next
//! logged record that changes their row or depends on it (decision 0086).

use rowhouse_model::{Durability, Result};

use crate::commits::{Buffering, TakenCounters};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush::{body_of, log_counters};
use crate::wal::Position;
use crate::write::record_builder::RecordBuilder;

/// A visible commit. It is acknowledged only after [`Committed::wait`] has returned.
#[must_use]
pub(crate) struct Committed {
    position: Option<Position>,
}

impl Committed {
    /// Returns the result of an empty commit.
    pub(crate) fn nothing() -> Self {
        Self { position: None }
    }

    /// Adds another commit: both are waited for.
    pub(crate) fn include(&mut self, other: Self) {
        self.position = self.position.max(other.position);
    }

    /// Waits for the durability that the commit requires. Rows need not be locked meanwhile.
    pub(crate) fn wait(self, engine: &Engine) -> Result<()> {
        match self.position {
            Some(position) => engine.wal().sync_to(position),
            None => Ok(()),
        }
    }
}

/// Writes a record under one sequence. On return the cells are visible.
///
/// The caller holds the row locks, and `engine.freeze_latch`, so that no memstore is frozen between
/// logging and inserting. With the latch held it has checked that no family in the record is
/// dropped ([`RecordBuilder::check_families`]).
pub(crate) fn commit(
    engine: &Engine,
    mut record: RecordBuilder<'_>,
    durability: Durability,
) -> Result<Committed> {
    if record.is_empty() {
        return Ok(Committed::nothing());
    }
    debug_assert!(record.check_families().is_ok(), "a family was dropped under the latch");
    let buffered = record.buffered();
    let buffered =
        buffered.filter(|_| record.len() <= BUFFERED_LEN_MAX && engine.counters.has_room());
    if buffered.is_some() {
        engine.wal().check_writable()?;
    }
    let is_synced = durability == Durability::FsyncWal;
    let buffering = buffered.map(|period| Buffering { period, is_synced });
    let is_logged = durability != Durability::SkipWal && buffering.is_none() && record.has_logged();
    let carried = if is_logged { carry_counters(engine, &mut record)? } else { Carried::default() };
    let is_synced = is_synced || carried.is_synced;
    let carried = carried.counters;
    let carried_nonces =
        carried.iter().flat_map(|(_, _, counters)| counters.nonces().iter().copied());
    let millis = engine.time_for_followers();
    if millis.is_some() && durability == Durability::SkipWal {
        note_skipped(engine, &record);
    }
    let mut record = record.seal(carried_nonces, millis);
    let (sequence, logged) = if is_logged {
        engine.space.wrote(record.record.body_len() as u64);
        let (sequence, logged) = engine.wal().append(&mut record.record, || engine.mvcc.reserve());
        (sequence, logged.map(Some))
    } else {
        (engine.mvcc.reserve(), Ok(None))
    };
    engine.recent_writes.note(record.rows(), sequence);
    if let Some(buffering) = buffering {
        record.note_counters(engine, buffering);
    }
    if logged.is_ok() {
        // Counters get their newest value logged, and no older version.
        let is_lost = |family: &FamilyStore| buffering.is_none() || family.has_versions();
        record.insert(engine, sequence, |family| !is_logged && is_lost(family));
    } else {
        engine.counters.put_back(carried);
    }
    // Publish even if the log refused the record: an unpublished sequence would block all later
    // ones.
    engine.mvcc.publish(sequence);
    if buffering.is_some() {
        record.compact_counters(engine);
    }
    engine.tend_log(matches!(logged, Ok(Some(_))));
    let position = logged?;
    record.nonces.iter().for_each(|nonce| engine.nonces.take(*nonce, sequence));
    Ok(Committed { position: position.filter(|_| is_synced) })
}

/// Notes the tables whose followers do not see the record.
#[cold]
fn note_skipped(engine: &Engine, record: &RecordBuilder<'_>) {
    for (region, _) in record.rows() {
        let of_table = engine.manifest.read(|state| {
            let id = state.table_id_of(region)?;
            Some((id, state.tables.get(&id)?.descriptor.name().clone()))
        });
        if let Some((id, table)) = of_table {
            engine.followers.note_skipped(id, &table);
        }
    }
}

/// Puts the counters of the record's rows, and of the rows on which it depends, into the record:
/// a change that has seen a counter must not survive a crash without it. Returns them.
#[inline]
fn carry_counters(engine: &Engine, record: &mut RecordBuilder<'_>) -> Result<Carried> {
    if engine.counters.is_empty() { Ok(Carried::default()) } else { take_counters(engine, record) }
}

/// Counters that a record has in addition.
#[derive(Default)]
struct Carried {
    counters: TakenCounters,
    /// The log is synced when it has them.
    is_synced: bool,
}

/// The longest record of counters, in bytes, that may stay out of the log, so that all of them have
/// room in one record.
const BUFFERED_LEN_MAX: usize = 1 << 20;

/// The longest body, in bytes, to which counters are added.
const CARRYING_LEN_MAX: usize = 4 << 20;

#[cold]
fn take_counters(engine: &Engine, record: &mut RecordBuilder<'_>) -> Result<Carried> {
    let mut counters = engine.counters.take_rows(record.rows());
    let touched = record.touched.into_iter().flatten();
    let touched = touched.flat_map(|(region, all)| all.iter().map(|it| (*region, it)));
    for (region, touched) in record.reads.iter().map(|(region, it)| (*region, it)).chain(touched) {
        engine.counters.take_touched(region, touched, &mut counters);
    }
    let is_synced = counters.iter().any(|(_, _, counters)| counters.is_synced());
    if record.len() > CARRYING_LEN_MAX {
        // The record may have no room for them. Whatever survives of the log survives with all
        // that is before it.
        log_counters(engine, counters)?;
        return Ok(Carried { counters: TakenCounters::new(), is_synced });
    }
    if !counters.is_empty() {
        record.carry(body_of(&counters));
    }
    Ok(Carried { counters, is_synced })
}
