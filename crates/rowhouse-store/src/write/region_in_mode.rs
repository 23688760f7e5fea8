//! The operations of a region in a wait mode: for callers that must not block, such as a thread
//! that serves many connections, and that repeat on another thread what would have blocked.

use std::iter::{empty, once};
use std::slice::from_ref;

use rowhouse_model::{
    Bytes, Condition, Durability, Get, Mutation, MutationOutcome, Result, Row, RowCondition,
};

use super::apply;
use super::checks::requested_durability;
use crate::read::{ReadLimit, ReadRequest};
use crate::region::Region;
use crate::wait_mode::{NonBlocking, WaitMode};

/// A region whose operations may block or not, as the mode says. In blocking mode they always
/// complete. In non-blocking mode an operation that would wait (for memory, compactions, a row
/// lock or a log sync) or may read much returns `WouldBlock` without effect; the caller repeats it
/// in blocking mode, on a thread that may wait.
#[derive(Clone, Copy)]
pub struct RegionInMode<'a> {
    region: &'a Region,
    wait_mode: WaitMode,
}

impl Region {
    /// Returns the region's operations in a wait mode.
    pub fn in_mode(&self, wait_mode: WaitMode) -> RegionInMode<'_> {
        RegionInMode { region: self, wait_mode }
    }
}

impl RegionInMode<'_> {
    /// As [`Region::get`].
    ///
    /// # Errors
    /// As [`Region::get`].
    #[inline]
    pub fn get(&self, get: &Get) -> Result<NonBlocking<Row>> {
        let limit = match self.wait_mode {
            WaitMode::Blocking => ReadLimit::Unlimited,
            // The work of a filter has no known bound.
            WaitMode::NonBlocking if get.filter.is_some() => return Ok(NonBlocking::WouldBlock),
            WaitMode::NonBlocking => ReadLimit::NonBlocking,
        };
        let read = self.region.read(&ReadRequest { limit, ..ReadRequest::new(get) })?;
        Ok(read.map_or(NonBlocking::WouldBlock, NonBlocking::Done))
    }

    /// As [`Region::mutate`].
    ///
    /// # Errors
    /// As [`Region::mutate`].
    pub fn mutate(&self, mutation: &Mutation) -> Result<NonBlocking<MutationOutcome>> {
        if self.must_wait(from_ref(mutation)) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_one(self.region, mutation, self.wait_mode);
        self.counted(empty(), from_ref(mutation), result)
    }

    /// As [`Region::mutate_if`].
    ///
    /// # Errors
    /// As [`Region::mutate_if`].
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<NonBlocking<Option<MutationOutcome>>> {
        if self.must_wait(from_ref(mutation)) || self.may_read_much(once(condition)) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_if(self.region, condition, mutation, self.wait_mode);
        self.counted(once(mutation.row()), from_ref(mutation), result)
    }

    /// As [`Region::mutate_rows`].
    ///
    /// # Errors
    /// As [`Region::mutate_rows`].
    pub fn mutate_rows(
        &self,
        conditions: &[RowCondition],
        mutations: &[Mutation],
    ) -> Result<NonBlocking<Option<Vec<MutationOutcome>>>> {
        let required = conditions.iter().map(|required| &required.condition);
        if self.must_wait(mutations) || self.may_read_much(required) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_rows(self.region, conditions, mutations, self.wait_mode);
        self.counted(conditions.iter().map(|required| &required.row), mutations, result)
    }

    /// As [`Region::batch`]. In non-blocking mode applies all mutations, or none and returns
    /// `WouldBlock`.
    pub fn batch(&self, mutations: &[Mutation]) -> NonBlocking<Vec<Result<MutationOutcome>>> {
        if self.must_wait(mutations) {
            return NonBlocking::WouldBlock;
        }
        let result = apply::apply(self.region, mutations, self.wait_mode);
        if matches!(result, NonBlocking::Done(_)) {
            self.region.count_writes(mutations);
        }
        result
    }

    /// Returns true if the call must not wait, and these mutations wait for a sync.
    fn must_wait(&self, mutations: &[Mutation]) -> bool {
        let is_synced = |mutation: &Mutation| {
            requested_durability(self.region, mutation) == Durability::FsyncWal
        };
        self.wait_mode == WaitMode::NonBlocking && mutations.iter().any(is_synced)
    }

    /// Returns true if the call must not wait, and these conditions have filters, whose work has no
    /// known bound.
    fn may_read_much<'c>(&self, mut conditions: impl Iterator<Item = &'c Condition>) -> bool {
        self.wait_mode == WaitMode::NonBlocking
            && conditions.any(|condition| matches!(condition, Condition::Filter(_)))
    }

    /// Counts an operation that did not return `WouldBlock`: the conditions, each as a read in its
    /// row, and the mutations.
    fn counted<'r, T>(
        &self,
        conditions: impl Iterator<Item = &'r Bytes>,
        mutations: &[Mutation],
        result: Result<NonBlocking<T>>,
    ) -> Result<NonBlocking<T>> {
        if !matches!(result, Ok(NonBlocking::WouldBlock)) {
            conditions.for_each(|row| self.region.count_read(row, None, None));
            self.region.count_writes(mutations);
        }
        result
    }
}
