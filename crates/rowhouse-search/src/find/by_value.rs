//! A search's rows in the order of a field.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Result, ValueRow};
use rowhouse_schema::Direction;
use tantivy::columnar::BytesColumn;
use tantivy::{DocId, TantivyError};

use super::filter::{Verdict, column};
use super::matches::Matches;
use crate::segment::{OpenSegment, UNKNOWN, damaged, encoded_value};

impl Matches {
    /// Returns rows in the order of a field, from after a row on, at most `limit`. The field is one
    /// without analysers, or a `keyword`; where a row has several values, the first in the
    /// direction counts. Rows with one value are in key order, and rows without a value come last
    /// in both directions.
    ///
    /// Takes time and memory for all rows in the search.
    ///
    /// # Errors
    /// `InvalidRequest` for another field; errors as for reads.
    pub fn by_value(
        &self,
        field: &str,
        direction: Direction,
        after: Option<&ValueRow>,
        limit: usize,
    ) -> Result<Vec<ValueRow>> {
        self.noted(self.try_by_value(field, direction, after, limit))
    }

    fn try_by_value(
        &self,
        field: &str,
        direction: Direction,
        after: Option<&ValueRow>,
        limit: usize,
    ) -> Result<Vec<ValueRow>> {
        let at = self.valued_field(field, "rows are ordered")?;
        let mut heap = BinaryHeap::new();
        let mut segments = Vec::new();
        for (segment, matches) in self.matches()? {
            let mut sorted =
                SortedSegment::new(segment, matches, &self.value_column(at), direction)?;
            if let Some(after) = after {
                sorted.skip_to(after)?;
            }
            if let Some(next) = sorted.next()? {
                heap.push(Next { row: next, segment: segments.len(), direction });
            }
            segments.push(sorted);
        }
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some(Next { row: (row, verdict), segment, .. }) = heap.pop()
        {
            if let Some(next) = segments[segment].next()? {
                heap.push(Next { row: next, segment, direction });
            }
            if self.meets(&row.row, verdict)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

/// The next row in a segment.
struct Next {
    row: (ValueRow, Verdict),
    segment: usize,
    direction: Direction,
}

/// The answer order.
fn order(one: &ValueRow, other: &ValueRow, direction: Direction) -> Ordering {
    let by_value = match (&one.value, &other.value) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => return Ordering::Greater,
        (Some(_), None) => return Ordering::Less,
        (Some(one), Some(other)) => one.cmp(other),
    };
    let order = by_value.then_with(|| one.row.cmp(&other.row));
    match direction {
        Direction::Forward => order,
        Direction::Reverse => order.reverse(),
    }
}

impl Ord for Next {
    /// The first row in the answer is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        order(&self.row.0, &other.row.0, self.direction).reverse()
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

/// A search's documents in a segment, in reversed answer order.
struct SortedSegment {
    segment: Arc<OpenSegment>,
    column: Option<BytesColumn>,
    docs: Vec<SortedDoc>,
    direction: Direction,
}

/// The ordinal of the value, a document, and whether it may be returned.
type SortedDoc = (Option<u64>, DocId, Verdict);

impl SortedSegment {
    fn new(
        segment: Arc<OpenSegment>,
        matches: Vec<(DocId, Verdict)>,
        name: &str,
        direction: Direction,
    ) -> Result<Self> {
        let column = column(&segment, name)?;
        let unknown = match &column {
            None => None,
            Some(column) => {
                column.dictionary().term_ord(UNKNOWN).map_err(|e| broken(&segment, e))?
            }
        };
        let ord = |doc: DocId| {
            let known = column.iter().flat_map(|it| it.term_ords(doc));
            let known = known.filter(|ord| Some(*ord) != unknown);
            match direction {
                Direction::Forward => known.min(),
                Direction::Reverse => known.max(),
            }
        };
        let docs = matches.into_iter().map(|(doc, verdict)| (ord(doc), doc, verdict));
        let mut docs: Vec<_> = docs.collect();
        docs.sort_unstable_by(|one, other| {
            // Documents are in row order.
            let has_value = one.0.is_some().cmp(&other.0.is_some());
            let by_value = (one.0, one.1).cmp(&(other.0, other.1));
            has_value.then(match direction {
                Direction::Forward => by_value.reverse(),
                Direction::Reverse => by_value,
            })
        });
        Ok(Self { segment, column, docs, direction })
    }

    /// Drops the rows up to `after`.
    fn skip_to(&mut self, after: &ValueRow) -> Result<()> {
        // The last is returned first, so the documents before it in the answer are at the end.
        let mut low = 0;
        let mut high = self.docs.len();
        while low < high {
            let middle = (low + high) / 2;
            let (row, _) = self.row(self.docs[middle])?;
            match order(&row, after, self.direction) {
                Ordering::Greater => low = middle + 1,
                Ordering::Less | Ordering::Equal => high = middle,
            }
        }
        self.docs.truncate(low);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<(ValueRow, Verdict)>> {
        self.docs.pop().map(|doc| self.row(doc)).transpose()
    }

    fn row(&self, (ord, doc, verdict): SortedDoc) -> Result<(ValueRow, Verdict)> {
        let row = ValueRow { value: self.value(ord)?, row: self.segment.row(doc)?.into() };
        Ok((row, verdict))
    }

    fn value(&self, ord: Option<u64>) -> Result<Option<Bytes>> {
        let (Some(ord), Some(column)) = (ord, &self.column) else { return Ok(None) };
        let mut stored = Vec::new();
        column.ord_to_bytes(ord, &mut stored).map_err(|error| broken(&self.segment, error))?;
        Ok(encoded_value(&stored).map(Bytes::copy_from_slice))
    }
}

fn broken(segment: &OpenSegment, error: std::io::Error) -> rowhouse_model::Error {
    damaged(segment.number, &TantivyError::from(error))
}
