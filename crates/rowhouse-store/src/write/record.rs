//! A log record on the way to the commit: the cells from mutations, then the cells that observers
//! and indexes add.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Cell, Durability, ErrorKind, Mutation, Result, Timestamp};

use super::apply::{check, is_delete};
use super::batch::{Added, Atomicity, Batch};
use super::commit::{self, Committed};
use super::index::{self, EntryChanges};
use super::observe::{self, Observed, RowToLock, Watched};
use super::record_builder::RecordBuilder;
use crate::commits::RowsGuard;
use crate::engine::Engine;
use crate::erased::Erased;
use crate::family::FamilyStore;
use crate::region::Region;

/// The cells from mutations, with all that their commit needs.
pub(super) struct Record<'a> {
    pub(super) cells: RecordBuilder<'a>,
    /// The regions with the record's cells; one may appear more than once.
    pub(super) regions: Vec<&'a Region>,
    pub(super) durability: Durability,
    /// The newest timestamp that the mutations were issued.
    pub(super) now: Timestamp,
    /// The number of `regions` that the caller's own changes are in.
    own: usize,
    planned: Planned<'a>,
    /// What observers and indexes have added.
    additions: &'a [(Arc<Region>, Mutation)],
    entries: &'a [(Arc<Region>, Cell)],
}

/// The indexes with which a record was completed.
enum Planned<'a> {
    /// It does not depend on them.
    WithoutIndexes,
    With(Option<&'a Arc<Erased>>),
}

/// How far an attempt to write a record came.
#[must_use = "a record that is not committed is not written"]
pub(super) enum Attempted<T> {
    Done(T),
    /// Nothing was written. Release all locks, call [`admit_unlocked`], lock these rows with the
    /// others, and make the record again. Observers or indexes write the rows, which are not locked
    /// or whose region does not serve. Without rows, an alteration has overtaken the record.
    ///
    /// [`admit_unlocked`]: super::apply::admit_unlocked
    Again(Vec<RowToLock>),
}

impl<T> Attempted<T> {
    pub(super) fn map<U>(self, map: impl FnOnce(T) -> U) -> Attempted<U> {
        match self {
            Self::Done(done) => Attempted::Done(map(done)),
            Self::Again(rows) => Attempted::Again(rows),
        }
    }
}

impl<'a> Record<'a> {
    pub(super) fn new(durability: Durability, now: Timestamp) -> Self {
        Self {
            cells: RecordBuilder::default(),
            regions: Vec::new(),
            durability,
            now,
            own: 0,
            planned: Planned::WithoutIndexes,
            additions: &[],
            entries: &[],
        }
    }

    /// Adds a cell, with timestamp `at` instead of the cell's own if given.
    pub(super) fn push(
        &mut self,
        region: &'a Region,
        family: &'a FamilyStore,
        cell: &Cell,
        at: Option<Timestamp>,
    ) {
        self.cells.push(family, cell, at);
        self.note_region(region);
    }

    /// Adds a counter's new cell, which may stay out of the log for `period`.
    pub(super) fn push_counter(
        &mut self,
        region: &'a Region,
        family: &'a FamilyStore,
        cell: &Cell,
        period: Duration,
    ) {
        self.cells.push_counter(family, cell, period);
        self.note_region(region);
    }

    fn note_region(&mut self, region: &'a Region) {
        if !self.regions.last().is_some_and(|last| std::ptr::eq(*last, region)) {
            self.regions.push(region);
        }
    }

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
        rows: &mut RowsGuard<'_>,
        commit: impl FnOnce(Record<'_>) -> Result<Attempted<T>>,
    ) -> Result<Attempted<T>> {
        self.own = self.regions.len();
        let watched = Watched::of(engine);
        let Some(watched) = &watched else {
            return commit(Record { planned: Planned::With(None), ..self });
        };
        let planned = Planned::With(watched.indexed());
        let own = self.regions.clone();
        let attempted = Record { planned, ..self }.with_observers(watched, rows, commit);
        if matches!(attempted, Ok(Attempted::Done(_))) {
            return attempted;
        }
        // Latched, so that no alteration is half done.
        let _latch = engine.freeze_latch.read();
        own.iter().try_for_each(|region| region.check_serving())?;
        if !Planned::With(watched.indexed()).is_current(engine) {
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
        let _steady = observe::hold_steady(&self.regions);
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
        let _steady = observe::hold_steady_too(additions);
        let mut record = self.add_mutations(additions, rows)?;
        let copies = watched.regions_to_level(&record.cells, &record.regions)?;
        let _steady_copies = observe::hold_copies_steady(&copies);
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

    /// Adds the index table cells, and calls `commit` with the record.
    ///
    /// # Errors
    /// Errors from `commit`; `NoSuchColumnFamily` for a table that is no index's any more.
    pub(super) fn with_entries<T>(
        mut self,
        entries: &'a [(Arc<Region>, Cell)],
        commit: impl FnOnce(Record<'_>) -> Result<Attempted<T>>,
    ) -> Result<Attempted<T>> {
        self.entries = entries;
        for (region, cell) in entries {
            self.cells.push(region.family(cell.family())?, cell, None);
            if !self.regions.iter().any(|known| known.id() == region.id()) {
                self.regions.push(region);
            }
        }
        commit(self)
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

    /// Returns the record if it can be committed as it was made. The caller holds the freeze latch
    /// from before this until it has called [`Record::log`].
    ///
    /// # Errors
    /// `NotServingRegion` if one of the caller's own regions does not serve.
    pub(super) fn check(self, engine: &Engine) -> Result<Attempted<Self>> {
        self.regions[..self.own].iter().try_for_each(|region| region.check_serving())?;
        if self.regions[self.own..].iter().any(|region| !region.is_serving()) {
            return Ok(Attempted::Again(observe::closed(self.additions, self.entries)));
        }
        if !self.planned.is_current(engine) || self.cells.dropped_family().is_some() {
            return Ok(Attempted::Again(Vec::new()));
        }
        Ok(Attempted::Done(self))
    }

    /// Commits it.
    ///
    /// # Errors
    /// Errors from the log: the record may survive a crash, or not.
    pub(super) fn log(self, engine: &Engine) -> Result<Committed> {
        let Self { additions, entries, .. } = self;
        let committed = self.log_uncounted(engine)?;
        index::count_added(additions, entries);
        Ok(committed)
    }

    /// As [`Record::log`], without counting what was added as writes to the tables: nobody has
    /// written the record's rows.
    pub(super) fn log_uncounted(self, engine: &Engine) -> Result<Committed> {
        commit::commit(engine, self.cells, self.durability)
    }
}

impl Planned<'_> {
    /// Returns true if no table has changed that has indexes, or gets or loses them.
    fn is_current(&self, engine: &Engine) -> bool {
        let Self::With(planned) = self else { return true };
        match (planned, &*engine.indexed.load()) {
            (None, None) => true,
            (Some(planned), Some(now)) => Arc::ptr_eq(planned, now),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}
