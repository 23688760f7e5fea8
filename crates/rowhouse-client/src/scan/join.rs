//! Joins partial rows.

use std::collections::VecDeque;

use rowhouse_format::convert::scan::ScannedRow;
use rowhouse_model::{Cell, Row};

/// Joins row parts that a server returns in several results.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    /// Cells in a row that may be incomplete.
    part: Vec<Cell>,
}

impl Joiner {
    /// Takes results in order and returns the complete rows.
    ///
    /// A partial result means that more cells in the row *may* follow. If the row ended exactly
    /// there, the next result is from another row.
    pub(super) fn push(&mut self, results: Vec<ScannedRow>) -> VecDeque<Row> {
        let mut whole = VecDeque::with_capacity(results.len());
        for result in results {
            if result.row.is_empty() {
                continue;
            }
            if self.part.first().is_some_and(|cell| cell.row() != result.row.key()) {
                whole.extend(self.finish());
            }
            match (self.part.is_empty(), result.partial) {
                (true, false) => whole.push_back(result.row),
                (_, partial) => {
                    self.part.extend(result.row.to_cells());
                    if !partial {
                        whole.extend(self.finish());
                    }
                }
            }
        }
        whole
    }

    /// Returns the current row, because no more of it can follow.
    pub(super) fn finish(&mut self) -> Option<Row> {
        let cells = std::mem::take(&mut self.part);
        (!cells.is_empty()).then(|| Row::new(cells))
    }

    /// Drops the current partial row, which will be read again.
    pub(super) fn clear(&mut self) {
        self.part.clear();
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    /// Pushes results written as `a1 a2* b1`, which is three results; `*` marks a partial one.
    fn push(joiner: &mut Joiner, text: &str) -> String {
        let result = |word: &str| {
            let partial = word.ends_with('*');
            let word = word.trim_end_matches('*');
            let cell = |qualifier: char| {
                let row = &word[..1];
                let qualifier = qualifier.to_string();
                Cell::new(row, "f", qualifier, Timestamp::MIN, CellKind::Put, "").unwrap()
            };
            ScannedRow { row: Row::new(word[1..].chars().map(cell).collect()), partial }
        };
        print(joiner.push(text.split_whitespace().map(result).collect()))
    }

    fn print(rows: impl IntoIterator<Item = Row>) -> String {
        let row = |row: Row| {
            let qualifiers = row.cells().map(|cell| cell.qualifier()[0] as char);
            format!("{}{}", row.key()[0] as char, qualifiers.collect::<String>())
        };
        rows.into_iter().map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parts_become_whole_rows() {
        for (results, whole, left) in [
            ("a1 b12 c1", "a1 b12 c1", ""),
            ("a1* a2* a3 b1", "a123 b1", ""),
            ("a1* b1*", "a1", "b1"),
            ("a1* a2* b1 c1*", "a12 b1", "c1"),
            ("", "", ""),
        ] {
            let mut joiner = Joiner::default();
            assert_eq!(push(&mut joiner, results), whole, "{results}");
            assert_eq!(print(joiner.finish()), left, "{results}");
        }
    }

    #[test]
    fn parts_are_retained_across_answers_until_cleared() {
        let mut joiner = Joiner::default();
        assert_eq!(push(&mut joiner, "a1*"), "");
        assert_eq!(push(&mut joiner, "a2 b1*"), "a12");
        joiner.clear();
        assert_eq!(push(&mut joiner, "b1 c1"), "b1 c1");
    }
}
