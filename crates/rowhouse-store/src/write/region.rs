//! The writes of a region.

use rowhouse_model::{Condition, Mutation, MutationOutcome, Result, RowCondition};

use crate::region::Region;
use crate::wait_mode::{NonBlocking, WaitMode};

impl Region {
    /// Changes one row.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` for a mutation without columns or an increment of a
    /// value that is no counter, `RegionTooBusy`, `ReadOnly`, `OutcomeUnknown`.
    pub fn mutate(&self, mutation: &Mutation) -> Result<MutationOutcome> {
        self.in_mode(WaitMode::Blocking).mutate(mutation).map(NonBlocking::done)
    }

    /// Changes one row if `condition` holds for it; otherwise writes nothing and returns `None`. No
    /// other write to the row comes between check and change. As usual, a cell written at a
    /// timestamp that a delete covers is not visible.
    ///
    /// # Errors
    /// As [`Region::mutate`].
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.in_mode(WaitMode::Blocking).mutate_if(condition, mutation).map(NonBlocking::done)
    }

    /// Changes rows atomically if all conditions hold; otherwise writes nothing and returns `None`.
    /// Either all mutations become visible and survive a crash, or none does. Returns one outcome
    /// per mutation, in their order. A mutation that reads its row (an increment, an append,
    /// deleting a newest version) reads it as it was before all mutations; if two mutations write
    /// the same cell the later wins, as in HBase's mutateRow and MultiRowMutation. The strongest
    /// durability applies to all.
    ///
    /// Mutations that carry the nonce of an earlier accepted call are a retry: nothing is written.
    /// Increments and appends then return their original results while those can still be read, and
    /// the current values afterwards.
    ///
    /// # Errors
    /// As [`Region::mutate`], for the first mutation that cannot be applied; nothing is changed
    /// then.
    pub fn mutate_rows(
        &self,
        conditions: &[RowCondition],
        mutations: &[Mutation],
    ) -> Result<Option<Vec<MutationOutcome>>> {
        self.in_mode(WaitMode::Blocking).mutate_rows(conditions, mutations).map(NonBlocking::done)
    }

    /// Changes rows one by one, in order, without atomicity between rows. Neighbouring mutations
    /// that need no read share a log record.
    pub fn batch(&self, mutations: &[Mutation]) -> Vec<Result<MutationOutcome>> {
        self.in_mode(WaitMode::Blocking).batch(mutations).done()
    }
}
