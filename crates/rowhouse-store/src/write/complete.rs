//! Adds what observers and indexes add to a record.

use std::sync::Arc;

use rowhouse_model::{ErrorKind, Mutation, Result};

use super::batch::{Added, Atomicity, Batch};
use super::checks::{check, is_delete};
use super::index::EntryChanges;
use super::observe::{self, Observed, Watched};
use super::record::{Attempted, Planned, Record};
use super::steady::{hold_copies_steady, hold_steady, hold_steady_too};
use crate::commits::RowsGuard;
use crate::engine::Engine;
use crate::region::Region;
use crate::side_effects::SideEffects;

impl<'a> Record<'a> {
    /// Adds what observers and indexes add to the record, and calls `commit` with the complete
    /// record. The record's rows are locked by `rows`.
    ///
    /// Alterations drop families and change indexes with the freeze latch held, but records are
    /// made without it. A record that an alteration has overtaken is to be made again, so that the
    /// caller sees no error about an index table, which it did not name.
    ///
    /// # Errors
    /// Nothing was written: an observer or an index refuses the record, a read of theirs failed, or
    /// `commit` returned the error. `NotServingRegion` if one of the caller's own regions does not
    /// serve.
    pub(super) fn complete<T>(
        mut self,
        engine: &Engine,
        effects: &SideEffects,
        rows: &mut RowsGuard<'_>,
        commit: impl FnOnce(Record<'_>) -> Result<Attempted<T>>,
    ) -> Result<Attempted<T>> {
        self.own = self.regions.len();
        let watched = Watched::of(effects);
        let indexed = watched.as_ref().and_then(Watched::indexed);
        let planned = Planned { indexed, effects };
        let completed = Record { planned: Some(planned), ..self };
        let Some(watched) = &watched else { return commit(completed) };
        let own = completed.regions.clone();
        let attempted = completed.with_observers(watched, rows, commit);
        if matches!(attempted, Ok(Attempted::Done(_))) {
            return attempted;
        }
        // Latched, so that no alteration is half done.
        let _latch = engine.freeze_latch.read();
        own.iter().try_for_each(|region| region.check_serving())?;
        if !planned.is_current() {
            return Ok(Attempted::Again(Vec::new()));
        }
        match attempted {
            // The caller's own regions serve, so an index region was replaced while it was read.
            Err(error) if error.kind() == ErrorKind::NotServingRegion => {
                Ok(Attempted::Again(Vec::new()))
            }
            attempted => attempted,
        }
    }

    fn with_observers<T>(
        self,
        watched: &'a Watched,
        rows: &mut RowsGuard<'_>,
        commit: impl FnOnce(Record<'_>) -> Result<Attempted<T>>,
    ) -> Result<Attempted<T>> {
        let _steady = hold_steady(&self.regions);
        match watched.call_observers(&self.cells, &self.regions, rows)? {
            Observed::Unlocked(unlocked) => Ok(Attempted::Again(unlocked)),
            Observed::Additions(additions) => {
                self.with_additions(&additions, watched, rows, commit)
            }
        }
    }

    fn with_additions<T>(
        self,
        additions: &'a [(Arc<Region>, Mutation)],
        watched: &Watched,
        rows: &mut RowsGuard<'_>,
        commit: impl FnOnce(Record<'_>) -> Result<Attempted<T>>,
    ) -> Result<Attempted<T>> {
        let _steady = hold_steady_too(additions);
        let mut record = self.add_mutations(additions, rows)?;
        let copies = watched.regions_to_level(&record.cells, &record.regions)?;
        let _steady_copies = hold_copies_steady(&copies);
        let unlocked = watched.level(&record.cells, &record.regions, &copies)?;
        if !unlocked.is_empty() {
            return Ok(Attempted::Again(unlocked));
        }
        let entries = match watched.entries(&record.cells, &record.regions, rows, record.now)? {
            EntryChanges::Unlocked(unlocked) => return Ok(Attempted::Again(unlocked)),
            EntryChanges::Cells(entries) => entries,
        };
        if watched.needs_log(additions, &record.regions)? {
            record.durability = observe::durability(record.durability);
        }
        record.with_entries(&entries, commit)
    }

    /// Adds the mutations from observers, whose rows are locked by `rows`.
    ///
    /// # Errors
    /// As [`observe::of_addition`].
    fn add_mutations(
        self,
        additions: &'a [(Arc<Region>, Mutation)],
        rows: &mut RowsGuard<'_>,
    ) -> Result<Self> {
        if additions.is_empty() {
            return Ok(self);
        }
        let now = self.now;
        let record = Self { additions, ..self };
        let mut batch = Batch::extending(record, Atomicity::Together, now);
        for (region, mutation) in additions {
            let of_addition = |error| observe::of_addition(&region.info().table, error);
            check(region, mutation).map_err(of_addition)?;
            let engine = region.engine();
            let row = engine.row_locks.place(region.id(), mutation.row());
            batch.now = now.max(if is_delete(mutation) {
                engine.timestamps.issue_delete(rows.after_of(row))
            } else {
                engine.timestamps.issue_put(rows.after_of(row))
            });
            let Added { stamped, .. } = batch.add(region, mutation).map_err(of_addition)?;
            match stamped {
                _ if is_delete(mutation) => rows.note_delete_of(row, batch.now),
                Some(at) => rows.note_put_of(row, at),
                None => {}
            }
        }
        Ok(Self { now, ..batch.into_record() })
    }
}
