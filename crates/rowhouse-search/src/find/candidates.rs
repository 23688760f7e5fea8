//! The rows that have a search's words, for a reader that judges them by other conditions.

use std::sync::Arc;

use rowhouse_model::{Bytes, Result, RowRange};
use rowhouse_schema::{Direction, SearchPlan};
use tantivy::query::{EnableScoring, Query};

use super::cursor::KeyCursor;
use super::filter::filters;
use super::matches::{NoteError, after_row};
use crate::segment::{Layout, damaged};
use crate::view::View;

/// How many rows are looked for first. It doubles from page to page: a scan may end soon, and a
/// page in reverse looks at all that are left.
const PAGE_ROWS_MIN: usize = 256;
const PAGE_ROWS_MAX: usize = 1 << 16;

/// After how many key bytes a page ends.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// The keys of the rows that have a search's words, in a direction's order. Values in the index
/// narrow them. They are found page by page, at the search's read point, which this does not hold:
/// it holds the segments only.
pub(crate) struct Candidates {
    plan: SearchPlan,
    layout: Layout,
    view: Arc<View>,
    query: Box<dyn Query>,
    direction: Direction,
    /// The ranges in which rows are still to be looked for.
    ranges: Vec<RowRange>,
    page: std::vec::IntoIter<Bytes>,
    page_rows: usize,
    note_error: NoteError,
}

impl Candidates {
    pub(super) fn new(
        plan: SearchPlan,
        layout: Layout,
        view: Arc<View>,
        query: Box<dyn Query>,
        direction: Direction,
        ranges: Vec<RowRange>,
        note_error: NoteError,
    ) -> Self {
        let page = Vec::new().into_iter();
        let page_rows = PAGE_ROWS_MIN;
        Self { plan, layout, view, query, direction, ranges, page, page_rows, note_error }
    }

    fn read_page(&mut self) -> Result<()> {
        let weight = self.query.weight(EnableScoring::disabled_from_schema(&self.layout.schema));
        let weight = weight.map_err(|error| damaged(0, &error))?;
        let segments = filters(&self.view, &self.layout, &self.plan, &self.ranges)?;
        let mut cursor = KeyCursor::open(segments, &*weight, self.direction)?;
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut is_last = false;
        while rows.len() < self.page_rows && bytes < PAGE_BYTES_MAX {
            let Some((row, _)) = cursor.next()? else {
                is_last = true;
                break;
            };
            bytes += row.len();
            rows.push(Bytes::from(row));
        }
        self.ranges = match rows.last() {
            Some(last) if !is_last => after_row(&self.ranges, last, self.direction),
            _ => Vec::new(),
        };
        self.page_rows = (self.page_rows * 2).min(PAGE_ROWS_MAX);
        self.page = rows.into_iter();
        Ok(())
    }
}

impl Iterator for Candidates {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(Ok(row));
            }
            if self.ranges.is_empty() {
                return None;
            }
            if let Err(error) = self.read_page() {
                self.ranges.clear();
                let error = (self.note_error)(error);
                return Some(Err(error));
            }
        }
    }
}
