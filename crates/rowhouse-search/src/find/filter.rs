//! The documents in a segment that a search may return, regardless of the search's words.

use std::ops::Range;
use std::sync::Arc;

use rowhouse_model::{Result, RowRange};
use rowhouse_schema::SearchPlan;
use tantivy::columnar::BytesColumn;
use tantivy::fastfield::{AliveBitSet, Column};
use tantivy::query::Weight;
use tantivy::{DocId, Score};

use crate::segment::{DocRange, Layout, OpenSegment, UNKNOWN, damaged, stored_range, term_ords};
use crate::view::{View, ViewedSegment};

/// The documents in a segment that a search may return, regardless of the search's words.
pub(super) struct DocFilter {
    alive: Arc<AliveBitSet>,
    /// By the key ranges; in order.
    ranges: Vec<DocRange>,
    is_whole: bool,
    values: Vec<ValueFilter>,
}

/// A condition on a value.
struct ValueFilter {
    ords: Column<u64>,
    ranges: Vec<Range<u64>>,
    /// The ordinal for values that are too long for the segment.
    unknown: Option<u64>,
}

/// Whether a document may be returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    No,
    Yes,
    /// The row decides.
    Unsure,
}

impl DocFilter {
    pub(super) fn new(
        viewed: &ViewedSegment,
        layout: &Layout,
        plan: &SearchPlan,
        ranges: &[RowRange],
    ) -> Result<Self> {
        let segment = &viewed.segment;
        let alive = Arc::clone(&viewed.alive);
        let mut values = Vec::new();
        for (field, ranges) in plan.values() {
            let Some(column) = column(segment, &layout.value_column(*field))? else {
                // No row has a value.
                let ranges = Vec::new();
                let values = Vec::new();
                return Ok(Self { alive, ranges, is_whole: false, values });
            };
            values.push(ValueFilter::new(segment, &column, ranges)?);
        }
        let ranges = segment.docs_in(ranges)?;
        let is_whole = ranges.iter().map(|it| u64::from(it.end - it.start)).sum::<u64>()
            == u64::from(segment.docs());
        Ok(Self { alive, ranges, is_whole, values })
    }

    pub(super) fn verdict(&self, doc: DocId) -> Verdict {
        if self.alive.is_deleted(doc) {
            return Verdict::No;
        }
        let mut verdict = Verdict::Yes;
        for value in &self.values {
            match value.verdict(doc) {
                Verdict::No => return Verdict::No,
                Verdict::Yes => {}
                Verdict::Unsure => verdict = Verdict::Unsure,
            }
        }
        verdict
    }

    /// The document ranges, in order.
    pub(super) fn ranges(&self) -> &[DocRange] {
        &self.ranges
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty() || self.alive.num_alive_docs() == 0
    }

    /// Calls `visit` with each document that has the words and may be returned, in order.
    pub(super) fn each(
        &self,
        weight: &dyn Weight,
        segment: &OpenSegment,
        mut visit: impl FnMut(DocId, Verdict),
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let broken = |error| damaged(segment.number, &error);
        if self.is_whole {
            let mut visit = |docs: &[DocId]| {
                for &doc in docs {
                    match self.verdict(doc) {
                        Verdict::No => {}
                        verdict => visit(doc, verdict),
                    }
                }
            };
            return weight.for_each_no_score(segment.reader(), &mut visit).map_err(broken);
        }
        self.each_in_ranges(weight, segment, |doc, _, verdict| visit(doc, verdict), false)
    }

    /// As [`DocFilter::each`], with scores, and in any case document by document.
    fn each_in_ranges(
        &self,
        weight: &dyn Weight,
        segment: &OpenSegment,
        mut visit: impl FnMut(DocId, Score, Verdict),
        scores: bool,
    ) -> Result<()> {
        let scorer = weight.scorer(segment.reader(), 1.0);
        let mut scorer = scorer.map_err(|error| damaged(segment.number, &error))?;
        for range in &self.ranges {
            let mut doc = scorer.doc();
            if doc < range.start {
                doc = scorer.seek(range.start);
            }
            while doc < range.end {
                match self.verdict(doc) {
                    Verdict::No => {}
                    verdict => visit(doc, if scores { scorer.score() } else { 0.0 }, verdict),
                }
                doc = scorer.advance();
            }
        }
        Ok(())
    }

    /// Calls `visit` with each document that has the words, may be returned, and scores more than a
    /// threshold, which each call returns anew.
    pub(super) fn each_above(
        &self,
        weight: &dyn Weight,
        segment: &OpenSegment,
        mut threshold: Score,
        mut visit: impl FnMut(DocId, Score, Verdict) -> Score,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        if !self.is_whole {
            let above = |doc, score, verdict| {
                if score > threshold {
                    threshold = visit(doc, score, verdict);
                }
            };
            return self.each_in_ranges(weight, segment, above, true);
        }
        let mut last = threshold;
        let mut visit = |doc, score| {
            match self.verdict(doc) {
                Verdict::No => {}
                verdict => last = visit(doc, score, verdict),
            }
            last
        };
        let visited = weight.for_each_pruning(threshold, segment.reader(), &mut visit);
        visited.map_err(|error| damaged(segment.number, &error))
    }
}

impl ValueFilter {
    fn new(segment: &OpenSegment, column: &BytesColumn, ranges: &[RowRange]) -> Result<Self> {
        let broken = |error: std::io::Error| damaged(segment.number, &error.into());
        let mut ords = Vec::new();
        for range in ranges {
            let (start, stop) = stored_range(range);
            ords.extend(term_ords(column, start, stop).map_err(broken)?);
        }
        let unknown = column.dictionary().term_ord(UNKNOWN).map_err(broken)?;
        Ok(Self { ords: column.ords().clone(), ranges: ords, unknown })
    }

    fn verdict(&self, doc: DocId) -> Verdict {
        let mut verdict = Verdict::No;
        for ord in self.ords.values_for_doc(doc) {
            if self.ranges.iter().any(|range| range.contains(&ord)) {
                return Verdict::Yes;
            }
            if Some(ord) == self.unknown {
                verdict = Verdict::Unsure;
            }
        }
        verdict
    }
}

/// Returns a view's segments, each with a filter by a plan and key ranges.
pub(super) fn filters(
    view: &View,
    layout: &Layout,
    plan: &SearchPlan,
    ranges: &[RowRange],
) -> Result<Vec<(Arc<OpenSegment>, DocFilter)>> {
    let mut filters = Vec::with_capacity(view.segments.len());
    for viewed in &view.segments {
        let filter = DocFilter::new(viewed, layout, plan, ranges)?;
        filters.push((Arc::clone(&viewed.segment), filter));
    }
    Ok(filters)
}

/// Returns a value's column; `None` if no document in the segment has one.
pub(super) fn column(segment: &OpenSegment, name: &str) -> Result<Option<BytesColumn>> {
    let column = segment.reader().fast_fields().bytes(name);
    column.map_err(|error| damaged(segment.number, &error))
}
