//! How many files a reader of a row has to look at: those whose rows reach over it.

use super::FileFacts;

/// Files with no row in common that cost a store as much as one that every read looks into: each has an index
/// and a bloom in memory, and a scan over all rows opens each.
const DISJOINT_FILES: usize = 8;

/// The most files that have a row between them: how many a read of that row looks into.
pub(crate) fn files_over_one_row(files: &[FileFacts<'_>]) -> usize {
    let mut first: Vec<&[u8]> = files.iter().map(|file| file.first_row).collect();
    let mut last: Vec<&[u8]> = files.iter().map(|file| file.last_row).collect();
    first.sort_unstable();
    last.sort_unstable();
    let mut ended = 0;
    let mut most = 0;
    for (begun, row) in first.iter().enumerate() {
        // A file still has its last row.
        while last[ended] < *row {
            ended += 1;
        }
        most = most.max(begun + 1 - ended);
    }
    most
}

/// What the files cost their readers, in files that every read looks into.
pub(crate) fn read_amplification(files: &[FileFacts<'_>]) -> usize {
    files_over_one_row(files).max(files.len().div_ceil(DISJOINT_FILES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<FileFacts<'_>> {
        text.split_whitespace()
            .map(|rows| {
                let (first_row, last_row) = rows.split_once('-').unwrap_or((rows, rows));
                FileFacts {
                    first_row: first_row.as_bytes(),
                    last_row: last_row.as_bytes(),
                    ..FileFacts::default()
                }
            })
            .collect()
    }

    #[test]
    fn depth_is_the_most_files_over_one_row() {
        let depth_of = |text| files_over_one_row(&files(text));
        assert_eq!(depth_of(""), 0);
        assert_eq!(depth_of("a-z"), 1);
        assert_eq!(depth_of("a-c d-f g-i"), 1);
        // The row that one ends with and another begins with lies in both.
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
