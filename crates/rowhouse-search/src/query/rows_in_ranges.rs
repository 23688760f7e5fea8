//! The documents of rows in ranges of keys: documents are in the order of their rows, so each range
//! is a range of documents.

use std::io;
use std::ops::{Bound, Range};

use rowhouse_model::RowRange;
use tantivy::columnar::BytesColumn;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

/// Matches the documents of rows in any of these ranges, which are in order and do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct RowsInRanges {
    column: &'static str,
    ranges: Vec<RowRange>,
}

impl RowsInRanges {
    /// `column` is the fast field of the rows.
    pub(crate) fn new(column: &'static str, ranges: Vec<RowRange>) -> Self {
        Self { column, ranges }
    }

    fn documents(&self, reader: &SegmentReader) -> tantivy::Result<Documents> {
        let mut documents = Vec::new();
        if let Some(rows) = reader.fast_fields().bytes(self.column)? {
            for range in &self.ranges {
                let begin = first_from(&rows, &range.start)?;
                let end = match range.stop.is_empty() {
                    true => reader.max_doc(),
                    false => first_from(&rows, &range.stop)?,
                };
                if begin < end {
                    documents.push(begin..end);
                }
            }
        }
        Ok(Documents::new(documents))
    }
}

/// Returns the first document whose row is not before `row`.
fn first_from(rows: &BytesColumn, row: &[u8]) -> io::Result<DocId> {
    let bounds = (Bound::Included(row), Bound::Unbounded);
    let (Bound::Included(first) | Bound::Excluded(first), _) =
        rows.dictionary().term_bounds_to_ord(bounds.0, bounds.1)?
    else {
        return Ok(0);
    };
    // After the last row it is a number that no row has.
    Ok(DocId::try_from(first).unwrap_or(DocId::MAX).min(rows.num_rows()))
}

impl Query for RowsInRanges {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for RowsInRanges {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(self.documents(reader)?))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut documents = self.documents(reader)?;
        match documents.seek(doc) == doc {
            true => Ok(Explanation::new("a row in a range", 0.0)),
            false => Err(TantivyError::InvalidArgument(format!("document {doc} does not match"))),
        }
    }
}

/// Documents in ranges. It adds nothing to a score.
struct Documents {
    /// The last one comes next.
    ranges: Vec<Range<DocId>>,
    current: DocId,
}

impl Documents {
    fn new(mut ranges: Vec<Range<DocId>>) -> Self {
        ranges.reverse();
        let current = ranges.last().map_or(TERMINATED, |range| range.start);
        Self { ranges, current }
    }
}

impl DocSet for Documents {
    fn advance(&mut self) -> DocId {
        match self.current {
            TERMINATED => TERMINATED,
            current => self.seek(current + 1),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        while self.ranges.last().is_some_and(|range| range.end <= target) {
            self.ranges.pop();
        }
        self.current = self.ranges.last().map_or(TERMINATED, |range| range.start.max(target));
        self.current
    }

    fn doc(&self) -> DocId {
        self.current
    }

    fn size_hint(&self) -> u32 {
        self.ranges
            .iter()
            .map(|range| range.end - range.start.max(self.current).min(range.end))
            .sum()
    }
}

impl Scorer for Documents {
    fn score(&mut self) -> Score {
        0.0
    }
}
