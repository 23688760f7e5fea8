//! Read amplification: how many files, by their row ranges, a read has to consult.

use crate::store_file::FileSummary;

/// How many files without a common row cost as much as one file that every read consults: each has
/// an index and a Bloom filter in memory, and a full scan opens each.
const DISJOINT_FILES: usize = 8;

/// Returns the maximum number of files whose ranges contain one row, which a read of that row
/// consults.
pub(crate) fn max_overlap(files: &[FileSummary<'_>]) -> usize {
    let mut first: Vec<&[u8]> = files.iter().map(|file| file.first_row).collect();
    let mut last: Vec<&[u8]> = files.iter().map(|file| file.last_row).collect();
    first.sort_unstable();
    last.sort_unstable();
    let mut ended = 0;
    let mut most = 0;
    for (started, row) in first.iter().enumerate() {
        // A file includes the last row.
        while last[ended] < *row {
            ended += 1;
        }
        most = most.max(started + 1 - ended);
    }
    most
}

/// Returns the files' read amplification: their cost in files that every read consults.
pub(crate) fn read_amplification(files: &[FileSummary<'_>]) -> usize {
    max_overlap(files).max(files.len().div_ceil(DISJOINT_FILES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<FileSummary<'_>> {
        text.split_whitespace()
            .map(|rows| {
                let (first_row, last_row) = rows.split_once('-').unwrap_or((rows, rows));
                FileSummary {
                    first_row: first_row.as_bytes(),
                    last_row: last_row.as_bytes(),
                    ..FileSummary::default()
                }
            })
            .collect()
    }

    #[test]
    fn depth_is_the_most_files_over_one_row() {
        let depth_of = |text| max_overlap(&files(text));
        assert_eq!(depth_of(""), 0);
        assert_eq!(depth_of("a-z"), 1);
        assert_eq!(depth_of("a-c d-f g-i"), 1);
        // A row that ends one file and begins the next lies in both.
        assert_eq!(depth_of("a-c c-f f-i"), 2);
        assert_eq!(depth_of("a-z b-c d-e d-f"), 3);
        assert_eq!(depth_of("d d d a-z"), 4);
    }

    #[test]
    fn files_with_no_row_in_common_crowd_by_the_eight() {
        let read_amplification_of = |text: &str| read_amplification(&files(text));
        assert_eq!(read_amplification_of(""), 0);
        assert_eq!(read_amplification_of("a b c d e f g h"), 1);
        assert_eq!(read_amplification_of("a b c d e f g h i"), 2);
        assert_eq!(read_amplification_of("a-z a-z a-z"), 3);
    }
}
