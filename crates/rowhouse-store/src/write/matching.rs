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
    /// comes between. Returns for each whether it was applied.
    pub fn delete_matching(
        &self,
        deletes: &[Mutation],
        filter: &ColumnFilter,
    ) -> Vec<Result<bool>> {
        let columns = filter.reads();
        let passed: RefCell<HashSet<Bytes>> = RefCell::default();
        let guard = |row: &Bytes| {
            let mut get = Get::new(row.clone())?;
            get.columns = columns.clone();
            let cells = self.read_row(&get, RowVersion::Current)?;
            // A value that is not of the column's type does not match.
            let matches = filter.matches(&cells).unwrap_or(false);
            if !matches {
                passed.borrow_mut().insert(row.clone());
            }
            Ok(matches)
        };
        let outcomes = apply_guarded(self, deletes, Some(&guard), WaitMode::Blocking).done();
        self.count_writes(deletes);
        let passed = passed.into_inner();
        let is_applied = |delete: &Mutation| !passed.contains(delete.row());
        let applied = deletes.iter().zip(outcomes);
        applied.map(|(delete, outcome)| outcome.map(|_| is_applied(delete))).collect()
    }
}
