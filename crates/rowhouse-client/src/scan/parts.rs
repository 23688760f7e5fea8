//! Partial rows in a scan with a batch.

use std::collections::VecDeque;

use bytes::Bytes;
use rowhouse_format::convert::scan::ScannedRow;
use rowhouse_model::{Cell, Row};

/// Passes on row parts, each cell once: a row that is read again from the start continues after the
/// last returned cell.
#[derive(Debug, Default)]
pub(super) struct RowParts {
    /// The last returned cell in a row that may be incomplete.
    given: Option<Cell>,
}

/// The parts to pass on after some results.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub(super) parts: VecDeque<Row>,
    /// How many rows are known to be completely returned.
    pub(super) rows: u64,
    /// The key in the last such row.
    pub(super) last: Option<Bytes>,
}

impl RowParts {
    /// Takes results in order.
    pub(super) fn push(&mut self, results: Vec<ScannedRow>) -> Passed {
        let mut passed = Passed::default();
        for ScannedRow { row, partial } in results {
            if row.is_empty() {
                continue;
            }
            if self.given.as_ref().is_some_and(|cell| cell.row() != row.key()) {
                self.end_row(&mut passed);
            }
            let row = self.skip_returned(row);
            let last = row.cells().next_back().map(|cell| cell.to_cell().detached());
            if let Some(last) = last {
                self.given = Some(last);
                passed.parts.push_back(row);
            }
            if !partial {
                self.end_row(&mut passed);
            }
        }
        passed
    }

    /// Marks the current row as complete.
    pub(super) fn end_row(&mut self, passed: &mut Passed) {
        if let Some(cell) = self.given.take() {
            passed.rows += 1;
            passed.last = Some(cell.row_bytes());
        }
    }

    fn skip_returned(&self, row: Row) -> Row {
        let Some(given) = &self.given else { return row };
        let is_new = |cell: &Cell| cell.key() > given.key();
        if row.cells().next().is_some_and(|cell| cell.key() > given.key()) {
            return row;
        }
        Row::new(row.to_cells().into_iter().filter(is_new).collect())
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    /// Pushes results written as `a1 a2* b1`, which is three results; `*` marks a partial one.
    /// Returns the parts, the complete row count, and the last complete row.
    fn push(parts: &mut RowParts, text: &str) -> String {
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
        let passed = parts.push(text.split_whitespace().map(result).collect());
        let part = |row: &Row| {
            let qualifiers = row.cells().map(|cell| cell.qualifier()[0] as char);
            format!("{}{}", row.key()[0] as char, qualifiers.collect::<String>())
        };
        let given: Vec<String> = passed.parts.iter().map(part).collect();
        let last = passed.last.map(|row| String::from_utf8(row.to_vec()).unwrap());
        format!("{} / {} {}", given.join(" "), passed.rows, last.unwrap_or_default())
    }

    #[test]
    fn parts_are_passed_on_and_whole_rows_counted() {
        let mut parts = RowParts::default();
        assert_eq!(push(&mut parts, "a12* a3 b1*"), "a12 a3 b1 / 1 a");
        assert_eq!(push(&mut parts, "b23* c1"), "b23 c1 / 2 c");
    }

    #[test]
    fn a_row_that_is_read_again_goes_on_where_it_was() {
        let mut parts = RowParts::default();
        assert_eq!(push(&mut parts, "a12*"), "a12 / 0 ");
        assert_eq!(push(&mut parts, "a1* a23* a4"), "a3 a4 / 1 a");
    }
}
