//! Between which rows a region may be split in two.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use rowhouse_model::{Bytes, Result, RowRange, TableDescriptor};

use crate::region::Region;
use crate::store_file::StoreFile;

impl Region {
    /// A row behind which lies about half of the cells of its largest file that has two rows, and which is not its
    /// first; `None` when it has no two rows. What is in memory does not count.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub fn middle_row(&self) -> Result<Option<Bytes>> {
        self.middle_rows().next().transpose()
    }

    /// The row where it is best split in two: [`Region::middle_row`], where the split policy and restriction of its
    /// table do not move that to the first row; then the middle of another file. `None` where all of what they leave
    /// belongs together. What is in memory does not count.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `InvalidRequest` for a policy or restriction that is not known.
    pub fn split_row(&self, table: &TableDescriptor) -> Result<Option<Bytes>> {
        for middle in self.middle_rows() {
            let at = table.split_row(&middle?)?;
            if at > self.info().range.start {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The middles of its files, the largest first, and then, for files that have one row each, what lies between
    /// these. None is the first row.
    fn middle_rows(&self) -> impl Iterator<Item = Result<Bytes>> {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        let mut files: Vec<_> = files.collect();
        files.sort_by_key(|file| Reverse(file.len()));
        let range = &self.info().range;
        let all = files.clone();
        let middles = files.into_iter().filter_map(move |file| file.middle_row(range).transpose());
        // Only looked for where no middle will do.
        let between = iter::once_with(move || rows_between(&all, range)).flatten();
        middles.chain(between)
    }
}

/// The rows with which files begin, but for the least: from the middle on, and then those in front of it.
fn rows_between(files: &[Arc<StoreFile>], range: &RowRange) -> Vec<Result<Bytes>> {
    let rows = files.iter().filter_map(|file| file.first_row_in(range).transpose());
    let rows = match rows.collect::<Result<BTreeSet<Bytes>>>() {
        Ok(rows) => rows,
        Err(error) => return vec![Err(error)],
    };
    let mut rows: Vec<_> = rows.into_iter().skip(1).map(Ok).collect();
    let middle = rows.len() / 2;
    rows.rotate_left(middle);
    rows
}
