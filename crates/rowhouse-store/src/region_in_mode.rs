//! The operations of a region in a wait mode: for callers that must not block, such as a thread
//! that serves many connections, and that repeat on another thread what would have.

use std::iter::{empty, once};
use std::slice::from_ref;

use rowhouse_model::{
    Bytes, Condition, Durability, Get, Mutation, MutationOutcome, Result, Row, RowCondition,
};

use crate::region::Region;
use crate::wait_mode::{NonBlocking, WaitMode};
use crate::write::apply;

/// A region whose operations may block or not, as the mode says. In blocking mode they are those of
/// the region. In non-blocking mode an operation that would wait (for memory, compactions, a row
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
    /// Those of [`Region::get`].
    #[inline]
    pub fn get(&self, get: &Get) -> Result<NonBlocking<Row>> {
        match self.wait_mode {
            WaitMode::Blocking => self.region.get(get).map(NonBlocking::Done),
            // The work of a filter has no known bound.
            WaitMode::NonBlocking if get.filter.is_some() => Ok(NonBlocking::WouldBlock),
            WaitMode::NonBlocking => self.region.read_non_blocking(get),
        }
    }

    /// As [`Region::mutate`].
    ///
    /// # Errors
    /// Those of [`Region::mutate`].
    pub fn mutate(&self, mutation: &Mutation) -> Result<NonBlocking<MutationOutcome>> {
        match self.wait_mode {
            WaitMode::Blocking => self.region.mutate(mutation).map(NonBlocking::Done),
            WaitMode::NonBlocking if self.is_synced(mutation) => Ok(NonBlocking::WouldBlock),
            WaitMode::NonBlocking => {
                let result = apply::apply_one(self.region, mutation, self.wait_mode);
                self.counted(empty(), from_ref(mutation), result)
            }
        }
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
        if self.wait_mode == WaitMode::Blocking {
            return self.region.mutate_if(condition, mutation).map(NonBlocking::Done);
        }
        if self.is_synced(mutation) || is_filter(condition) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_if(self.region, condition, mutation, self.wait_mode);
        self.counted(once(mutation.row()), from_ref(mutation), result)
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
        if self.wait_mode == WaitMode::Blocking {
            return self.region.mutate_rows(conditions, mutations).map(NonBlocking::Done);
        }
        let filters = conditions.iter().any(|asked| is_filter(&asked.condition));
        if filters || mutations.iter().any(|mutation| self.is_synced(mutation)) {
            return Ok(NonBlocking::WouldBlock);
        }
        let result = apply::apply_rows(self.region, conditions, mutations, self.wait_mode);
        self.counted(conditions.iter().map(|asked| &asked.row), mutations, result)
    }

    /// As [`Region::batch`]. In non-blocking mode does all of it, or nothing and returns
    /// `WouldBlock`.
    pub fn batch(&self, mutations: &[Mutation]) -> NonBlocking<Vec<Result<MutationOutcome>>> {
        if self.wait_mode == WaitMode::Blocking {
            return NonBlocking::Done(self.region.batch(mutations));
        }
        if mutations.iter().any(|mutation| self.is_synced(mutation)) {
            return NonBlocking::WouldBlock;
        }
        let result = apply::apply(self.region, mutations, self.wait_mode);
        if matches!(result, NonBlocking::Done(_)) {
            self.region.count_writes(mutations);
        }
        result
    }

    fn is_synced(&self, mutation: &Mutation) -> bool {
        apply::asked(self.region, mutation) == Durability::FsyncWal
    }

    /// Counts an operation that did not return `WouldBlock`.
    fn counted<'r, T>(
        &self,
        conditions: impl Iterator<Item = &'r Bytes>,
        mutations: &[Mutation],
        result: Result<NonBlocking<T>>,
    ) -> Result<NonBlocking<T>> {
        if !matches!(result, Ok(NonBlocking::WouldBlock)) {
            self.region.count_conditional(conditions, mutations);
        }
        result
    }
}

fn is_filter(condition: &Condition) -> bool {
    matches!(condition, Condition::Filter(_))
}
