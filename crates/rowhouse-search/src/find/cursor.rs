//! Reads a search's documents in row key order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rowhouse_model::Result;
use rowhouse_schema::Direction;
use tantivy::DocId;
use tantivy::query::{Scorer, Weight};

use super::filter::{DocFilter, Verdict};
use crate::segment::{OpenSegment, damaged};

/// A search's rows, merged from the segments into key order.
pub(super) struct KeyCursor {
    segments: Vec<SegmentCursor>,
    direction: Direction,
    /// The next row in each segment that has one, by key.
    next: BinaryHeap<Reverse<Next>>,
    next_back: BinaryHeap<Next>,
}

/// A row, the segment, and whether it may be returned. Each row is in one segment.
type Next = (Vec<u8>, usize, IsUnsure);
type IsUnsure = bool;

struct SegmentCursor {
    segment: Arc<OpenSegment>,
    docs: Docs,
}

enum Docs {
    /// Reads as it goes.
    Forward { filter: DocFilter, scorer: Box<dyn Scorer>, range: usize },
    /// Postings are read forward only, so all documents are read first. The last is next.
    Reverse(Vec<(DocId, IsUnsure)>),
}

impl KeyCursor {
    pub(super) fn open(
        segments: Vec<(Arc<OpenSegment>, DocFilter)>,
        weight: &dyn Weight,
        direction: Direction,
    ) -> Result<Self> {
        let mut cursor = Self {
            segments: Vec::new(),
            direction,
            next: BinaryHeap::new(),
            next_back: BinaryHeap::new(),
        };
        for (segment, filter) in segments {
            if filter.is_empty() {
                continue;
            }
            let docs = match direction {
                Direction::Forward => {
                    let scorer = weight.scorer(segment.reader(), 1.0);
                    let scorer = scorer.map_err(|error| damaged(segment.number, &error))?;
                    Docs::Forward { filter, scorer, range: 0 }
                }
                Direction::Reverse => {
                    let mut docs = Vec::new();
                    filter.each(weight, &segment, |doc, verdict| {
                        docs.push((doc, verdict == Verdict::Unsure));
                    })?;
                    Docs::Reverse(docs)
                }
            };
            cursor.segments.push(SegmentCursor { segment, docs });
        }
        for at in 0..cursor.segments.len() {
            cursor.push(at)?;
        }
        Ok(cursor)
    }

    /// Returns the next row, and whether it is to be judged.
    pub(super) fn next(&mut self) -> Result<Option<(Vec<u8>, IsUnsure)>> {
        let next = match self.direction {
            Direction::Forward => self.next.pop().map(|Reverse(next)| next),
            Direction::Reverse => self.next_back.pop(),
        };
        let Some((row, at, unsure)) = next else { return Ok(None) };
        self.push(at)?;
        Ok(Some((row, unsure)))
    }

    fn push(&mut self, at: usize) -> Result<()> {
        let SegmentCursor { segment, docs } = &mut self.segments[at];
        let Some((doc, unsure)) = docs.next() else { return Ok(()) };
        let next = (segment.row(doc)?, at, unsure);
        match self.direction {
            Direction::Forward => self.next.push(Reverse(next)),
            Direction::Reverse => self.next_back.push(next),
        }
        Ok(())
    }
}

impl Docs {
    fn next(&mut self) -> Option<(DocId, IsUnsure)> {
        match self {
            Self::Reverse(docs) => docs.pop(),
            Self::Forward { filter, scorer, range } => loop {
                let within = filter.ranges().get(*range)?;
                let mut doc = scorer.doc();
                if doc < within.start {
                    doc = scorer.seek(within.start);
                }
                if doc >= within.end {
                    *range += 1;
                    continue;
                }
                let verdict = filter.verdict(doc);
                scorer.advance();
                if verdict != Verdict::No {
                    return Some((doc, verdict == Verdict::Unsure));
                }
            },
        }
    }
}
