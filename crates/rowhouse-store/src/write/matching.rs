//! Deletes of rows that still match when they are deleted.

use std::cell::RefCell;
use std::collections::HashSet;

use rowhouse_model::{Bytes, Get, Mutation, Result};
use rowhouse_schema::ColumnFilter;

use super::apply::apply_guarded;
use crate::read::RowVersion;
use crate::region::Region;
use crate::wait_mode::WaitMode;

impl Region {
    /// Applies deletes of different rows one by one, as [`Region::batch`], each only if its row
    /// matches: the columns that `filter` reads are read with the row locked, so no other write
    /// comes between. Each result is true if the delete was applied.
    pub fn delete_matching(
        &self,
        deletes: &[Mutation],
        filter: &ColumnFilter,
    ) -> Vec<Result<bool>> {
        let columns = filter.reads();
        let held_back: RefCell<HashSet<Bytes>> = RefCell::default();
        let guard = |row: &Bytes| {
            let mut get = Get::new(row.clone())?;
            get.columns = columns.clone();
            let cells = self.read_row(&get, RowVersion::Current)?;
            // A value that is not of the column's type does not match.
            let matches = filter.matches(&cells).unwrap_or(false);
            if !matches {
                held_back.borrow_mut().insert(row.clone());
            }
            Ok(matches)
        };
        let outcomes = apply_guarded(self, deletes, Some(&guard), WaitMode::Blocking).done();
        let held_back = held_back.into_inner();
        let is_applied = |delete: &Mutation| !held_back.contains(delete.row());
        let outcomes = deletes.iter().zip(outcomes);
        let applied = outcomes.map(|(delete, outcome)| outcome.map(|_| is_applied(delete)));
        let applied: Vec<Result<bool>> = applied.collect();
        for (delete, outcome) in deletes.iter().zip(&applied) {
            if matches!(outcome, Ok(true)) {
                self.count_writes(std::slice::from_ref(delete));
            }
        }
        applied
    }
}
