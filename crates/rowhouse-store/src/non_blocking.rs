//! Access to a region for callers that must not block, such as a thread that serves many
//! connections.

use rowhouse_model::{
    Condition, Durability, Get, Mutation, MutationOutcome, Result, Row, RowCondition,
};

use crate::region::Region;
use crate::wait_mode::{NonBlocking, WaitMode};
use crate::write::apply;

/// A region whose operations never block. An operation that would wait (for memory, compactions, a
/// row lock or a log sync) or may read much returns `WouldBlock` without effect; the caller repeats
/// it with the region itself, on a thread that may wait.
#[derive(Clone, Copy)]
pub struct NonBlockingRegion<'a>(&'a Region);

impl Region {
    /// Returns the region's operations for callers that must not block.
    pub fn non_blocking(&self) -> NonBlockingRegion<'_> {
        NonBlockingRegion(self)
    }
}

impl NonBlockingRegion<'_> {
    /// As [`Region::get`].
    ///
    /// # Errors
    /// Those of [`Region::get`].
    #[inline]
    pub fn get(&self, get: &Get) -> Result<NonBlocking<Row>> {
        // The work of a filter has no known bound.
        if get.filter.is_some() {
            return Ok(NonBlocking::WouldBlock);
        }
        self.0.read_non_blocking(get)
    }

    /// As [`Region::mutate`].
    ///
    /// # Errors
    /// Those of [`Region::mutate`].
    pub fn mutate(&self, mutation: &Mutation) -> Result<NonBlocking<MutationOutcome>> {
        if self.is_synced(mutation) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_one(self.0, mutation, WaitMode::NonBlocking);
        self.count(&result, 0, 1);
        result
    }

    /// As [`Region::mutate_if`].
    ///
    /// # Errors
    /// Those of [`Region::mutate_if`].
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<NonBlocking<Option<MutationOutcome>>> {
        if self.is_synced(mutation) || is_filter(condition) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_if(self.0, condition, mutation, WaitMode::NonBlocking);
        self.count(&result, 1, 1);
        result
    }

    /// As [`Region::mutate_rows`].
    ///
    /// # Errors
    /// Those of [`Region::mutate_rows`].
    pub fn mutate_rows(
        &self,
        conditions: &[RowCondition],
        mutations: &[Mutation],
    ) -> Result<NonBlocking<Option<Vec<MutationOutcome>>>> {
        let filters = conditions.iter().any(|asked| is_filter(&asked.condition));
        if filters || mutations.iter().any(|mutation| self.is_synced(mutation)) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_rows(self.0, conditions, mutations, WaitMode::NonBlocking);
        self.count(&result, conditions.len(), mutations.len());
        result
    }

    /// As [`Region::batch`]: does all of it, or nothing and returns `WouldBlock`.
    pub fn batch(&self, mutations: &[Mutation]) -> NonBlocking<Vec<Result<MutationOutcome>>> {
        if mutations.iter().any(|mutation| self.is_synced(mutation)) {
            return NonBlocking::WouldBlock;
        }
        let result = apply::apply(self.0, mutations, WaitMode::NonBlocking);
        if matches!(result, NonBlocking::Done(_)) {
            self.0.count(0, mutations.len());
        }
        result
    }

    fn is_synced(&self, mutation: &Mutation) -> bool {
        apply::asked(self.0, mutation) == Durability::FsyncWal
    }

    fn count<T>(&self, result: &Result<NonBlocking<T>>, reads: usize, writes: usize) {
        if !matches!(result, Ok(NonBlocking::WouldBlock)) {
            self.0.count(reads, writes);
        }
    }
}

fn is_filter(condition: &Condition) -> bool {
    matches!(condition, Condition::Filter(_))
}
