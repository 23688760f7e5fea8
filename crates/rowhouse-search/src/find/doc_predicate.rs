//! Conditions on documents without words: on row keys, on values, and on whether a field has one.
//! They are separate tantivy queries, or check the documents that other clauses find.

use std::fmt;
use std::sync::Arc;

use rowhouse_model::RowRange;
use tantivy::columnar::BytesColumn;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

use super::documents::RowTest;
use super::watch::{STEP, Watch};
use crate::segment::{DocRange, Layout, docs_in, stored_range, term_ords};

/// A condition that documents are tested by.
pub(super) enum DocTest {
    Rows(RowTest),
    Values { column: String, ranges: Vec<RowRange> },
    HasValue(String),
    HasWord(Vec<Field>),
}

/// A condition, and what a document test needs.
pub(super) struct Docs {
    test: DocTest,
    gone: &'static str,
    row: &'static str,
    score: Score,
    watch: Arc<Watch>,
}

/// Finds the documents that meet a condition.
#[derive(Clone)]
pub(super) struct DocQuery(pub(super) Arc<Docs>);

impl fmt::Debug for DocQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.test {
            DocTest::Rows(_) => "DocQuery(rows)",
            DocTest::Values { .. } => "DocQuery(values)",
            DocTest::HasValue(_) | DocTest::HasWord(_) => "DocQuery(has)",
        })
    }
}

impl Query for DocQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(DocWeight(Arc::clone(&self.0))))
    }
}

struct DocWeight(Arc<Docs>);

impl Weight for DocWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let (ranges, is_among) = self.0.in_segment(reader)?;
        let docs = ranges.iter().map(|it| it.end - it.start).sum();
        let score = boost * self.0.score;
        let watch = Arc::clone(&self.0.watch);
        let mut scorer = DocScorer { ranges, range: 0, is_among, doc: 0, docs, score, watch };
        scorer.doc = scorer.first_from(0);
        Ok(Box::new(scorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("a condition without words", self.0.score))
    }
}

type IsAmong = Box<dyn Fn(DocId) -> bool + Send>;

impl Docs {
    pub(super) fn new(test: DocTest, layout: &Layout, score: Score, watch: &Arc<Watch>) -> Self {
        let gone = layout.gone_column();
        let row = layout.row_column();
        Self { test, gone, row, score, watch: Arc::clone(watch) }
    }

    /// True if the documents are in ranges, which narrow other clauses.
    pub(super) fn is_of_ranges(&self) -> bool {
        matches!(&self.test, DocTest::Rows(rows) if rows.rest.is_none())
    }

    /// True if a test decodes the row key.
    pub(super) fn is_costly(&self) -> bool {
        matches!(&self.test, DocTest::Rows(rows) if rows.rest.is_some())
    }

    /// Returns document ranges, and what tests each document in them.
    fn in_segment(&self, reader: &SegmentReader) -> tantivy::Result<(Vec<DocRange>, IsAmong)> {
        let columns = reader.fast_fields();
        let whole = || Vec::from([DocRange { start: 0, end: reader.max_doc() }]);
        let nothing = || -> (Vec<DocRange>, IsAmong) { (Vec::new(), Box::new(|_| false)) };
        Ok(match &self.test {
            DocTest::Rows(test) => {
                let rows = columns.bytes(self.row)?;
                let rows =
                    rows.ok_or_else(|| TantivyError::InternalError("it has no rows".to_owned()))?;
                let ranges = docs_in(&rows, reader.max_doc(), &test.ranges)?;
                let gone = columns.column_opt::<u64>(self.gone)?;
                let is_there =
                    move |doc| gone.as_ref().is_none_or(|gone| gone.first(doc).is_none());
                let Some(rest) = test.rest.clone() else {
                    return Ok((ranges, Box::new(is_there)));
                };
                let watch = Arc::clone(&self.watch);
                let matches = move |doc| {
                    let Some(row) = row_of(&rows, doc, &watch) else { return false };
                    rest.key.decode(&row).is_ok_and(|values| rest.plan.matches(&values))
                };
                (ranges, Box::new(move |doc| is_there(doc) && matches(doc)))
            }
            DocTest::Values { column, ranges } => {
                let Some(column) = columns.bytes(column)? else { return Ok(nothing()) };
                let mut ord_ranges = Vec::new();
                for range in ranges {
                    let (start, stop) = stored_range(range);
                    ord_ranges.extend(term_ords(&column, start, stop)?);
                }
                if ord_ranges.is_empty() {
                    return Ok(nothing());
                }
                let is_among = move |doc| {
                    column.term_ords(doc).any(|ord| ord_ranges.iter().any(|it| it.contains(&ord)))
                };
                (whole(), Box::new(is_among))
            }
            DocTest::HasValue(column) => {
                let Some(column) = columns.bytes(column)? else { return Ok(nothing()) };
                (whole(), Box::new(move |doc| column.term_ords(doc).next().is_some()))
            }
            DocTest::HasWord(fields) => {
                let norms = fields.iter().map(|field| reader.get_fieldnorms_reader(*field));
                let norms: Vec<_> = norms.collect::<tantivy::Result<_>>()?;
                (whole(), Box::new(move |doc| norms.iter().any(|it| it.fieldnorm_id(doc) > 0)))
            }
        })
    }
}

/// Reads the key of a document's row; `None` if that fails, which the search learns.
fn row_of(rows: &BytesColumn, doc: DocId, watch: &Watch) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    match rows.ord_to_bytes(u64::from(doc), &mut row) {
        Ok(_) => Some(row),
        Err(error) => {
            watch.fail(error.into());
            None
        }
    }
}

/// The documents in a segment that meet a condition.
struct DocScorer {
    ranges: Vec<DocRange>,
    /// The range in which `doc` is, or the next one.
    range: usize,
    is_among: IsAmong,
    doc: DocId,
    docs: u32,
    score: Score,
    watch: Arc<Watch>,
}

impl DocScorer {
    /// Returns the first document from one on.
    fn first_from(&mut self, mut doc: DocId) -> DocId {
        while let Some(range) = self.ranges.get(self.range) {
            doc = doc.max(range.start);
            while doc < range.end {
                if (self.is_among)(doc) {
                    return doc;
                }
                doc += 1;
                if doc.is_multiple_of(STEP) && self.watch.is_over() {
                    return TERMINATED;
                }
            }
            self.range += 1;
        }
        TERMINATED
    }
}

impl DocSet for DocScorer {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.doc = self.first_from(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target >= TERMINATED {
            self.doc = TERMINATED;
        } else if self.doc < target {
            self.doc = self.first_from(target);
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.docs
    }
}

impl Scorer for DocScorer {
    fn score(&mut self) -> Score {
        self.score
    }
}

/// Finds a query's documents that pass all checks, none of which is made of others.
pub(super) struct Checked {
    pub(super) query: Box<dyn Query>,
    pub(super) checks: Vec<Arc<Docs>>,
}

impl Clone for Checked {
    fn clone(&self) -> Self {
        Self { query: self.query.box_clone(), checks: self.checks.clone() }
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checked({:?}, {} checks)", self.query, self.checks.len())
    }
}

impl Query for Checked {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = self.query.weight(scoring)?;
        let checks = self.checks.clone();
        Ok(Box::new(CheckedWeight { weight, checks }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct CheckedWeight {
    weight: Box<dyn Weight>,
    checks: Vec<Arc<Docs>>,
}

impl Weight for CheckedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let scorer = self.weight.scorer(reader, boost)?;
        let checks = self.checks.iter().map(|docs| docs.in_segment(reader));
        let checks = checks.collect::<tantivy::Result<_>>()?;
        let score = boost * self.checks.iter().map(|docs| docs.score).sum::<Score>();
        let mut scorer = CheckedScorer { scorer, checks, score };
        scorer.skip();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.weight.explain(reader, doc)
    }
}

struct CheckedScorer {
    scorer: Box<dyn Scorer>,
    checks: Vec<(Vec<DocRange>, IsAmong)>,
    /// The score that the checks add.
    score: Score,
}

impl CheckedScorer {
    /// Goes on to a document that passes.
    fn skip(&mut self) -> DocId {
        let mut doc = self.scorer.doc();
        while doc != TERMINATED && !self.passes(doc) {
            doc = self.scorer.advance();
        }
        doc
    }

    fn passes(&self, doc: DocId) -> bool {
        self.checks.iter().all(|(ranges, is_among)| {
            let at = ranges.partition_point(|range| range.end <= doc);
            ranges.get(at).is_some_and(|range| range.contains(&doc)) && is_among(doc)
        })
    }
}

impl DocSet for CheckedScorer {
    fn advance(&mut self) -> DocId {
        self.scorer.advance();
        self.skip()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.scorer.seek(target);
        self.skip()
    }

    fn doc(&self) -> DocId {
        self.scorer.doc()
    }

    fn size_hint(&self) -> u32 {
        self.scorer.size_hint()
    }

    fn cost(&self) -> u64 {
        self.scorer.cost()
    }
}

impl Scorer for CheckedScorer {
    fn score(&mut self) -> Score {
        self.scorer.score() + self.score
    }
}
