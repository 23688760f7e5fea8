//! The documents that are alive at a read point, in all segments.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Result};
use rowhouse_schema::Direction;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::AliveBitSet;
use tantivy::query::{EnableScoring, Query, Scorer, Weight};
use tantivy::{BitSet, DocId, Score, Segment, SegmentReader, TERMINATED};

use crate::error::{ours, ours_of_io};
use crate::fields::Fields;
use crate::segment::Opened;

/// The live documents of some segments.
pub(crate) struct View {
    opened: Arc<Opened>,
    /// One for each segment, which knows its live documents.
    readers: Vec<SegmentReader>,
    alive: Vec<BitSet>,
}

/// A row that a search found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) row: Bytes,
    /// BM25; zero where rows are not ordered by it.
    pub(crate) score: Score,
}

impl View {
    /// Creates a view of segments, the oldest first. Of a row in several segments, the document in
    /// the newest is alive. `pending` are rows, in order, whose documents in all segments but the
    /// last `in_memory` ones are dead; of the last ones, only the documents of `current` are alive.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn new(fields: &Fields, opened: Arc<Opened>, dead_rows: &[Bytes]) -> Result<Self> {
        let count = opened.segments().len();
        let mut alive = Vec::new();
        for at in 0..count {
            let mut set = BitSet::with_max_value_and_full(opened.segments()[at].meta().documents);
            for newer in at + 1..count {
                opened.superseded(at, newer)?.iter().for_each(|document| set.remove(*document));
            }
            for document in opened.hidden(at, fields)?.iter() {
                set.remove(*document);
            }
            for row in dead_rows {
                if let Some(document) = opened.find(at, row)? {
                    set.remove(document);
                }
            }
            alive.push(set);
        }
        let readers = alive.iter().enumerate().map(|(at, alive)| {
            let segment = opened.tantivy(at);
            SegmentReader::open_with_custom_alive_set(segment, Some(bit_set(alive))).map_err(ours)
        });
        let readers = readers.collect::<Result<_>>()?;
        Ok(Self { opened, readers, alive })
    }

    /// The number of live documents.
    pub(crate) fn len(&self) -> u64 {
        self.readers.iter().map(|reader| u64::from(reader.num_docs())).sum()
    }

    /// Returns the segments with their live documents, for a merge.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (Segment, AliveBitSet)> {
        let sets = self.alive.iter().enumerate();
        sets.map(|(at, alive)| (self.opened.tantivy(at).clone(), bit_set(alive)))
    }

    fn weight(&self, query: &dyn Query, scored: bool) -> Result<Box<dyn Weight>> {
        let searcher = self.opened.searcher();
        let scoring = match scored {
            true => EnableScoring::enabled_from_searcher(searcher),
            false => EnableScoring::disabled_from_searcher(searcher),
        };
        query.weight(scoring).map_err(ours)
    }

    /// Returns the number of rows that a query finds.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn count(&self, query: &dyn Query) -> Result<u64> {
        let weight = self.weight(query, false)?;
        let counts = self.readers.iter().map(|reader| weight.count(reader).map_err(ours));
        counts.map(|count| count.map(u64::from)).sum()
    }

    /// Returns up to `limit` rows with the highest scores. Rows of equal score are in key order.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn by_score(&self, query: &dyn Query, limit: usize) -> Result<Vec<Hit>> {
        let weight = self.weight(query, true)?;
        let mut hits = Vec::new();
        for (at, reader) in self.readers.iter().enumerate() {
            let mut best = BinaryHeap::with_capacity(limit.min(1024) + 1);
            let alive = &self.alive[at];
            let mut keep = |document, score: Score| {
                if alive.contains(document) {
                    best.push(Scored { score, document });
                    if best.len() > limit {
                        best.pop();
                    }
                }
                let is_full = best.len() == limit;
                best.peek().filter(|_| is_full).map_or(Score::MIN, |worst: &Scored| worst.score)
            };
            if limit > 0 {
                weight.for_each_pruning(Score::MIN, reader, &mut keep).map_err(ours)?;
            }
            for Scored { score, document } in best {
                hits.push(Hit { row: self.row(at, document)?, score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.row.cmp(&b.row)));
        hits.truncate(limit);
        Ok(hits)
    }

    /// Returns up to `limit` rows in the order of their keys, or in reverse.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn by_key(
        &self,
        query: &dyn Query,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let weight = self.weight(query, false)?;
        let mut cursors = Vec::new();
        for (at, reader) in self.readers.iter().enumerate() {
            let scorer = weight.scorer(reader, 1.0).map_err(ours)?;
            cursors.push(Cursor::new(self, at, scorer, direction)?);
        }
        let mut hits = Vec::new();
        while hits.len() < limit {
            let ahead = cursors.iter().enumerate().filter(|(_, cursor)| cursor.row.is_some());
            let next = match direction {
                Direction::Forward => ahead.min_by(|a, b| a.1.row.cmp(&b.1.row)),
                Direction::Reverse => ahead.max_by(|a, b| a.1.row.cmp(&b.1.row)),
            };
            let Some((at, _)) = next else { break };
            hits.extend(cursors[at].row.take().map(|row| Hit { row, score: 0.0 }));
            cursors[at].advance(self)?;
        }
        Ok(hits)
    }

    fn row(&self, segment: usize, document: DocId) -> Result<Bytes> {
        let mut row = Vec::new();
        let rows = self.opened.rows(segment);
        rows.ord_to_bytes(document.into(), &mut row).map_err(|error| ours_of_io(&error))?;
        Ok(row.into())
    }
}

/// The live documents of a segment that a query finds, in one direction.
struct Cursor {
    segment: usize,
    documents: Documents,
    /// The row of the current document; `None` at the end.
    row: Option<Bytes>,
}

enum Documents {
    Forward {
        scorer: Box<dyn Scorer>,
        begun: bool,
    },
    /// Tantivy goes forward only.
    Reverse(Vec<DocId>),
}

impl Cursor {
    fn new(
        view: &View,
        segment: usize,
        mut scorer: Box<dyn Scorer>,
        direction: Direction,
    ) -> Result<Self> {
        let documents = match direction {
            Direction::Forward => Documents::Forward { scorer, begun: false },
            Direction::Reverse => {
                let mut found = Vec::new();
                while scorer.doc() != TERMINATED {
                    found.push(scorer.doc());
                    scorer.advance();
                }
                Documents::Reverse(found)
            }
        };
        let mut cursor = Self { segment, documents, row: None };
        cursor.advance(view)?;
        Ok(cursor)
    }

    fn advance(&mut self, view: &View) -> Result<()> {
        let alive = &view.alive[self.segment];
        let document = match &mut self.documents {
            Documents::Forward { scorer, begun } => {
                let mut document = match std::mem::replace(begun, true) {
                    true => scorer.advance(),
                    false => scorer.doc(),
                };
                while document != TERMINATED && !alive.contains(document) {
                    document = scorer.advance();
                }
                (document != TERMINATED).then_some(document)
            }
            Documents::Reverse(found) => loop {
                match found.pop() {
                    Some(document) if !alive.contains(document) => {}
                    document => break document,
                }
            },
        };
        self.row = document.map(|document| view.row(self.segment, document)).transpose()?;
        Ok(())
    }
}

/// A document and its score; the greatest is the one to forget first.
#[derive(PartialEq)]
struct Scored {
    score: Score,
    document: DocId,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.document.cmp(&other.document))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn bit_set(alive: &BitSet) -> AliveBitSet {
    let mut bytes = Vec::new();
    alive.serialize(&mut bytes).expect("memory takes all bytes");
    AliveBitSet::open(OwnedBytes::new(bytes))
}
