//! A log record on the way to the commit: the cells from mutations, then the cells that observers
//! and indexes add.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Cell, Durability, Mutation, Result, Timestamp};

use super::commit::{self, Committed};
use super::lock::{RowToLock, closed};
use super::record_builder::RecordBuilder;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::indexed::IndexedTables;
use crate::region::Region;
use crate::side_effects::SideEffects;

/// The cells from mutations, with all that their commit needs.
pub(super) struct Record<'a> {
    pub(super) cells: RecordBuilder<'a>,
    /// The regions with the record's cells; one may appear more than once.
    pub(super) regions: Vec<&'a Region>,
    pub(super) durability: Durability,
    /// The newest timestamp that the mutations were issued.
    pub(super) now: Timestamp,
    /// The number of `regions` that the caller's own changes are in.
    pub(super) own: usize,
    /// `None` if the record does not depend on indexes.
    pub(super) planned: Option<Planned<'a>>,
    /// What observers and indexes have added.
    pub(super) additions: &'a [(Arc<Region>, Mutation)],
    pub(super) entries: &'a [(Arc<Region>, Cell)],
}

/// The indexes with which a record was completed.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub(super) indexed: Option<&'a Arc<IndexedTables>>,
    pub(super) effects: &'a SideEffects,
}

/// How far an attempt to write a record came.
#[must_use = "a record that is not committed is not written"]
pub(super) enum Attempted<T> {
    Done(T),
    /// Nothing was written. Release all locks, call [`admit_unlocked`], lock these rows with the
    /// others, and make the record again. Observers or indexes write the rows, which are not locked
    /// or whose region does not serve. Without rows, an alteration has overtaken the record.
    ///
    /// [`admit_unlocked`]: super::lock::admit_unlocked
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
            planned: None,
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

    /// Returns the record if it can be committed as it was made. The caller holds the freeze latch
    /// from before this until it has called [`Record::log`].
    ///
    /// # Errors
    /// `NotServingRegion` if one of the caller's own regions does not serve.
    pub(super) fn check(self) -> Result<Attempted<Self>> {
        self.regions[..self.own].iter().try_for_each(|region| region.check_serving())?;
        if self.regions[self.own..].iter().any(|region| !region.is_serving()) {
            return Ok(Attempted::Again(closed(self.additions, self.entries)));
        }
        if self.planned.is_some_and(|planned| !planned.is_current())
            || self.cells.dropped_family().is_some()
        {
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
        count_added(additions, entries);
        Ok(committed)
    }

    /// As [`Record::log`], without counting what was added as writes to the tables: nobody has
    /// written the record's rows.
    pub(super) fn log_uncounted(self, engine: &Engine) -> Result<Committed> {
        commit::commit(engine, self.cells, self.durability)
    }
}

/// Counts the writes that observers and indexes have added to a record, each index entry as one.
fn count_added(additions: &[(Arc<Region>, Mutation)], entries: &[(Arc<Region>, Cell)]) {
    additions.iter().for_each(|(region, it)| region.count_writes(std::slice::from_ref(it)));
    entries.iter().for_each(|(region, cell)| region.count_written(std::slice::from_ref(cell)));
}

impl Planned<'_> {
    /// Returns true if no table has changed that has indexes, or gets or loses them.
    pub(super) fn is_current(&self) -> bool {
        match (self.indexed, &*self.effects.indexed.load()) {
            (None, None) => true,
            (Some(indexed), Some(now)) => Arc::ptr_eq(indexed, now),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}
