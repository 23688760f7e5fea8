//! The writes to a table, each to the region that holds its row.

use std::collections::BTreeMap;

use rowhouse_model::{
    Condition, Error, ErrorKind, Mutation, MutationOutcome, Result, RowCondition, RowMutations,
};

use crate::region::Region;
use crate::table::Table;

impl Table {
    /// Changes one row.
    ///
    /// # Errors
    /// As [`Region::mutate`]; `TableNotEnabled`; `LayoutChanged` if an index was promoted since the
    /// table was looked up ([`Store::promote_index`]).
    ///
    /// [`Store::promote_index`]: crate::Store::promote_index
    pub fn mutate(&self, mutation: &Mutation) -> Result<MutationOutcome> {
        self.check_enabled()?;
        self.write_at(mutation.row(), |region| region.mutate(mutation))
    }

    /// Changes one row if `condition` holds for it; otherwise returns `None`.
    ///
    /// # Errors
    /// As [`Region::mutate_if`]; `TableNotEnabled`.
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.check_enabled()?;
        self.write_at(mutation.row(), |region| region.mutate_if(condition, mutation))
    }

    /// Applies several mutations to one row atomically: HBase's mutateRow. Returns the new cells
    /// for the increments and appends among them, in their order.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`]; `TableNotEnabled`.
    pub fn mutate_row(&self, mutations: &RowMutations) -> Result<MutationOutcome> {
        let outcome = self.mutate_row_where(&[], mutations)?;
        Ok(outcome.expect("what is asked for nothing is applied"))
    }

    /// As [`Table::mutate_row`], if `condition` holds for the row; otherwise returns `None`.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`]; `TableNotEnabled`.
    pub fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: &RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let row = mutations.row().clone();
        let condition = condition.clone();
        self.mutate_row_where(&[RowCondition { row, condition }], mutations)
    }

    fn mutate_row_where(
        &self,
        conditions: &[RowCondition],
        mutations: &RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        self.check_enabled()?;
        let outcomes = self.write_at(mutations.row(), |region| {
            region.mutate_rows(conditions, mutations.mutations())
        })?;
        Ok(outcomes.map(|outcomes| MutationOutcome::join(&outcomes)))
    }

    /// Changes rows one by one, without atomicity between them. Mutations to one region, and so to
    /// one row, are applied in order.
    pub fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        if let Err(error) = self.check_enabled() {
            return mutations.iter().map(|_| Err(error.clone())).collect();
        }
        let mut outcomes = self.batch_once(&mutations);
        for (mutation, outcome) in mutations.iter().zip(&mut outcomes) {
            let not_served = |error: &&Error| error.kind() == ErrorKind::NotServingRegion;
            // Other regions may have replaced the one that was tried.
            if outcome.as_ref().err().as_ref().is_some_and(not_served) {
                *outcome = self.mutate(mutation);
            }
        }
        outcomes
    }

    fn batch_once(&self, mutations: &[Mutation]) -> Vec<Result<MutationOutcome>> {
        if let [region] = self.regions()
            && !region.is_replaced()
        {
            return region.batch(mutations);
        }
        let mut by_region: BTreeMap<u64, (&Region, Vec<usize>, Vec<Mutation>)> = BTreeMap::new();
        for (at, mutation) in mutations.iter().enumerate() {
            let region = self.region_of(mutation.row());
            if let Err(error) = self.check_layout(region) {
                return mutations.iter().map(|_| Err(error.clone())).collect();
            }
            let part = by_region.entry(region.id());
            let (_, places, part) = part.or_insert_with(|| (region, Vec::new(), Vec::new()));
            places.push(at);
            part.push(mutation.clone());
        }
        let mut outcomes: Vec<Option<Result<MutationOutcome>>> = Vec::new();
        outcomes.resize_with(mutations.len(), || None);
        for (region, places, part) in by_region.into_values() {
            for (at, outcome) in places.into_iter().zip(region.batch(&part)) {
                outcomes[at] = Some(outcome);
            }
        }
        outcomes.into_iter().map(|outcome| outcome.expect("every mutation has a region")).collect()
    }
}
