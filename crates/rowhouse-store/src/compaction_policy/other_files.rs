//! The rows that files outside a compaction may have, and for which it must not drop cells for
//! good.

use rowhouse_model::Bytes;

use crate::store_file::FileSummary;

/// Sorted, disjoint row ranges, each from a first to a last row.
#[derive(Debug, Default)]
pub(crate) struct OtherFiles {
    ranges: Vec<(Bytes, Bytes)>,
    /// The file ids.
    ids: Vec<u64>,
    /// The first range that may hold a later row.
    at: usize,
}

impl OtherFiles {
    /// Collects the row ranges in `files`.
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a FileSummary<'a>>) -> Self {
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_by_key(|file| file.first_row);
        let mut ranges: Vec<(Bytes, Bytes)> = Vec::new();
        for file in &files {
            let last_row = Bytes::copy_from_slice(file.last_row);
            match ranges.last_mut() {
                Some((_, last)) if file.first_row <= &last[..] => {
                    if last_row > *last {
                        *last = last_row;
                    }
                }
                _ => ranges.push((Bytes::copy_from_slice(file.first_row), last_row)),
            }
        }
        Self { ranges, ids: files.iter().map(|file| file.id).collect(), at: 0 }
    }

    /// Returns the file ids.
    pub(crate) fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Whether any file may have `row`. Must be called with rows in order.
    pub(crate) fn may_hold(&mut self, row: &[u8]) -> bool {
        while self.ranges.get(self.at).is_some_and(|(_, last)| &last[..] < row) {
            self.at += 1;
        }
        self.ranges.get(self.at).is_some_and(|(first, _)| &first[..] <= row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_files(ranges: &[(&'static str, &'static str)]) -> OtherFiles {
        let files: Vec<_> = ranges
            .iter()
            .map(|(first_row, last_row)| FileSummary {
                first_row: first_row.as_bytes(),
                last_row: last_row.as_bytes(),
                ..FileSummary::default()
            })
            .collect();
        OtherFiles::of(&files)
    }

    fn held(ranges: &[(&'static str, &'static str)], rows: &str) -> String {
        let mut other_files = other_files(ranges);
        rows.chars().filter(|row| other_files.may_hold(row.to_string().as_bytes())).collect()
    }

    #[test]
    fn a_row_is_elsewhere_between_the_first_and_the_last_of_any_other_file() {
        assert_eq!(held(&[], "abc"), "");
        assert_eq!(held(&[("b", "d")], "abcde"), "bcd");
        assert_eq!(held(&[("f", "g"), ("b", "b")], "abcdefgh"), "bfg");
        assert_eq!(held(&[("b", "f"), ("c", "d"), ("f", "g")], "abcdefgh"), "bcdefg");
        // Rows between the ranges, which are skipped.
        assert_eq!(held(&[("b", "c"), ("e", "f")], "dg"), "");
        // The same row again.
        assert_eq!(held(&[("b", "c")], "ccdd"), "cc");
    }
}
