//! Finds rows at which a region may be split.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use rowhouse_model::{Bytes, Result, RowRange, TableDescriptor};

use super::Region;
use crate::store_file::StoreFile;

impl Region {
    /// Returns a row, not the first, after which about half the cells in the region's largest file
    /// with two rows lie; `None` when no file has two rows. Ignores memstores.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub fn middle_row(&self) -> Result<Option<Bytes>> {
        self.middle_rows().next().transpose()
    }

    /// Returns the best row to split at: [`Region::middle_row`], adjusted by the table's split
    /// policy and restriction. If they move it to the region's first row, the middle rows in other
    /// files are tried. `None` if no split point is left. Ignores memstores.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `InvalidRequest` for an unknown policy or restriction.
    pub fn split_row(&self, table: &TableDescriptor) -> Result<Option<Bytes>> {
        for middle in self.middle_rows() {
            let at = table.split_row(&middle?)?;
            if at > self.info().range.start {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Returns up to 2^`depth` ranges that together hold the region's rows, in order, with about as
    /// many cells of the largest file in each. Ignores memstores.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub(crate) fn parts(&self, depth: u32) -> Result<Vec<RowRange>> {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        let largest = files.max_by_key(|file| file.len());
        let mut parts = vec![self.info().range.clone()];
        let Some(largest) = largest else { return Ok(parts) };
        for _ in 0..depth {
            let mut halves = Vec::with_capacity(2 * parts.len());
            for part in parts {
                match largest.middle_row(&part)? {
                    None => halves.push(part),
                    Some(at) => {
                        halves.push(RowRange::new(part.start, at.clone()));
                        halves.push(RowRange::new(at, part.stop));
                    }
                }
            }
            parts = halves;
        }
        Ok(parts)
    }

    /// Returns the files' middle rows, largest file first, then, for files with a single row each,
    /// the rows between them. The region's first row is not among them.
    fn middle_rows(&self) -> impl Iterator<Item = Result<Bytes>> {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        let mut files: Vec<_> = files.collect();
        files.sort_by_key(|file| Reverse(file.len()));
        let range = &self.info().range;
        let all = files.clone();
        let middles = files.into_iter().filter_map(move |file| file.middle_row(range).transpose());
        // Computed only if no middle row will do.
        let between = iter::once_with(move || rows_between(&all, range)).flatten();
        middles.chain(between)
    }
}

/// Returns the files' first rows, without the lowest: from the middle one up, then the lower ones.
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
