//! A search's answer.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{Bytes, Error, ErrorKind, FacetCount, Get, Result, Row, RowRange};
use rowhouse_schema::{Analyser, Direction, SearchField, SearchPlan};
use rowhouse_store::{ReadPoint, SearchRead, Table};
use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, Weight};
use tantivy::{DocId, Searcher};

use super::best::{Best, Hit};
use super::candidates::Candidates;
use super::compile::{check_values, query_of};
use super::cursor::KeyCursor;
use super::documents::DocumentQuery;
use super::filter::{DocFilter, Verdict, column, filters};
use super::watch::{Watch, Watched};
use crate::rows::{meets, search_of};
use crate::segment::{Layout, OpenSegment, damaged, encoded_value};
use crate::view::View;
use crate::words::Words;

/// The rows that a search found.
pub struct SearchedRows {
    /// The table, as it is declared at the read point.
    pub table: Arc<Table>,
    /// The search's read point.
    pub point: Arc<ReadPoint>,
    /// The keys of the rows that pass all conditions with `matches`, in the direction's order. The
    /// caller decides about the other conditions.
    pub keys: Box<dyn Iterator<Item = Result<Bytes>> + Send + Sync>,
}

/// How many values of a field are counted at most.
const FACET_VALUES_MAX: usize = 1_000_000;

/// The rows that match a query with words, at the read point that the search took.
///
/// It holds the read point and the segments, so the answers agree with each other while others
/// write. The store limits a read point's age (`Settings::scan_age_max`).
pub struct Matches {
    read: SearchRead,
    plan: SearchPlan,
    layout: Layout,
    view: Arc<View>,
    query: Box<dyn Query>,
    watch: Arc<Watch>,
    /// For queries that need one; the index is empty.
    searcher: Searcher,
    note_error: NoteError,
}

/// What is requested, where the plan does not define it.
#[derive(Clone, Copy, Default)]
pub(crate) struct SearchOptions<'a> {
    /// In place of the plan's search texts.
    pub(crate) documents: Option<&'a DocumentQuery>,
    /// When the search ends with an error. It holds for `documents` only.
    pub(crate) deadline: Option<Instant>,
}

/// Learns about errors, to have a damaged index built anew. Returns the error to return.
pub(crate) type NoteError = Box<dyn Fn(Error) -> Error + Send + Sync>;

/// A row and the score.
#[derive(Clone, PartialEq, Debug)]
pub struct ScoredRow {
    /// The row key.
    pub row: Bytes,
    /// The BM25 score, over the words in all `matches` conditions. It compares rows within one
    /// search only.
    pub score: f32,
}

impl Matches {
    pub(crate) fn new(
        read: SearchRead,
        plan: SearchPlan,
        layout: Layout,
        view: Arc<View>,
        searcher: Searcher,
        options: SearchOptions<'_>,
        note_error: NoteError,
    ) -> Result<Self> {
        let watch = Arc::new(Watch::new(options.deadline));
        if let Some(documents) = options.documents {
            check_values(documents, &read, &layout, &view)?;
            let query = query_of(documents, &layout, &watch);
            let query = Box::new(Watched { query, watch: Arc::clone(&watch) });
            return Ok(Self { read, plan, layout, view, query, watch, searcher, note_error });
        }
        let mut queries = Vec::new();
        for (field, text) in plan.texts() {
            queries.push(Words::parse(text)?.query(layout.texts(*field))?);
        }
        let query: Box<dyn Query> = match queries.len() {
            1 => queries.remove(0),
            _ => Box::new(BooleanQuery::new(
                queries.into_iter().map(|query| (Occur::Must, query)).collect(),
            )),
        };
        Ok(Self { read, plan, layout, view, query, watch, searcher, note_error })
    }

    /// Sets another deadline, for more answers from the same search.
    pub fn renew(&mut self, deadline: Option<Instant>) {
        self.watch.renew(deadline);
    }

    /// The table, at the read point.
    pub fn table(&self) -> &Arc<Table> {
        &self.read.table
    }

    /// The read point.
    pub fn point(&self) -> &Arc<ReadPoint> {
        &self.read.point
    }

    /// The query plan.
    pub fn plan(&self) -> &SearchPlan {
        &self.plan
    }

    /// Returns how many words in the table's texts are too long to be indexed, and so are not
    /// found: see [`TERM_BYTES_MAX`](crate::TERM_BYTES_MAX). A word counts for each analyser, and
    /// may count again where the row changed.
    pub fn long_words(&self) -> u64 {
        self.view.segments.iter().map(|it| it.segment.long_words()).sum()
    }

    /// Returns the row count.
    ///
    /// # Errors
    /// As for reads.
    pub fn count(&self) -> Result<u64> {
        self.noted(self.try_count())
    }

    fn try_count(&self) -> Result<u64> {
        let weight = self.weight(false)?;
        let mut rows = 0;
        for (segment, filter) in self.filters(self.plan.key_ranges())? {
            self.each_match(&*weight, &segment, &filter, |_| rows += 1)?;
        }
        Ok(rows)
    }

    /// Returns row keys in key order, from after a row on, at most `limit`.
    ///
    /// # Errors
    /// As for reads.
    pub fn by_key(
        &self,
        direction: Direction,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Bytes>> {
        self.noted(self.try_by_key(direction, after, limit))
    }

    fn try_by_key(
        &self,
        direction: Direction,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Bytes>> {
        let ranges = match after {
            None => self.plan.key_ranges().to_vec(),
            Some(row) => after_row(self.plan.key_ranges(), row, direction),
        };
        let weight = self.weight(false)?;
        let mut cursor = KeyCursor::open(self.filters(&ranges)?, &*weight, direction)?;
        let mut rows = Vec::new();
        while rows.len() < limit {
            let Some((row, unsure)) = cursor.next()? else { break };
            let verdict = if unsure { Verdict::Unsure } else { Verdict::Yes };
            if self.meets(&row, verdict)? {
                rows.push(row.into());
            }
        }
        Ok(rows)
    }

    /// Returns the rows with the highest scores, without the first `skip`, at most `limit`. Among
    /// rows with one score, the row in the older segment comes first, then the row with the smaller
    /// key.
    ///
    /// # Errors
    /// As for reads.
    pub fn by_score(&self, skip: usize, limit: usize) -> Result<Vec<ScoredRow>> {
        self.noted(self.try_by_score(skip, limit))
    }

    fn try_by_score(&self, skip: usize, limit: usize) -> Result<Vec<ScoredRow>> {
        let needed = skip.saturating_add(limit);
        // Conditions that only rows decide leave fewer.
        let mut requested = needed;
        loop {
            let best = self.best(requested)?;
            let is_all = best.len() < requested;
            let mut rows = Vec::new();
            for hit in best {
                let row = self.view.segments[hit.segment].segment.row(hit.doc)?;
                if self.meets(&row, hit.verdict)? {
                    rows.push(ScoredRow { row: row.into(), score: hit.score });
                }
                if rows.len() == needed {
                    break;
                }
            }
            if rows.len() == needed || is_all {
                return Ok(rows.split_off(skip.min(rows.len())));
            }
            requested = requested.saturating_mul(4).max(100);
        }
    }

    /// Returns how many rows have each value of a field, the most frequent first, at most `limit`
    /// values. The field is one without analysers, or a `keyword`. A value that is too long for the
    /// index is not counted.
    ///
    /// # Errors
    /// `InvalidRequest` for another field; `Unsupported` for more than a million values; errors as
    /// for reads.
    pub fn facets(&self, field: &str, limit: usize) -> Result<Vec<FacetCount>> {
        self.noted(self.try_facets(field, limit))
    }

    fn try_facets(&self, field: &str, limit: usize) -> Result<Vec<FacetCount>> {
        let at = self.valued_field(field, "rows are counted")?;
        let weight = self.weight(false)?;
        let mut counts: BTreeMap<Bytes, u64> = BTreeMap::new();
        for (segment, filter) in self.filters(self.plan.key_ranges())? {
            self.count_values(&*weight, &segment, &filter, at, &mut counts)?;
            if counts.len() > FACET_VALUES_MAX {
                return Err(Error::unsupported(format!(
                    "the rows have too many values of a field to be counted: field={field}, \
                     max={FACET_VALUES_MAX}"
                )));
            }
        }
        let mut facets: Vec<_> =
            counts.into_iter().map(|(value, rows)| FacetCount { value, rows }).collect();
        facets.sort_by_key(|facet| Reverse(facet.rows));
        facets.truncate(limit);
        Ok(facets)
    }

    fn count_values(
        &self,
        weight: &dyn Weight,
        segment: &OpenSegment,
        filter: &DocFilter,
        field: usize,
        counts: &mut BTreeMap<Bytes, u64>,
    ) -> Result<()> {
        let Some(column) = column(segment, &self.layout.value_column(field))? else {
            return Ok(());
        };
        let mut by_ord = vec![0u64; column.num_terms()];
        let mut count = |doc: DocId| {
            for ord in column.term_ords(doc) {
                if let Some(count) = usize::try_from(ord).ok().and_then(|ord| by_ord.get_mut(ord)) {
                    *count += 1;
                }
            }
        };
        self.each_match(weight, segment, filter, &mut count)?;
        let mut stored = Vec::new();
        for (ord, rows) in (0u64..).zip(by_ord).filter(|(_, rows)| *rows > 0) {
            if counts.len() > FACET_VALUES_MAX || self.watch.is_over() {
                break;
            }
            let read = column.ord_to_bytes(ord, &mut stored);
            read.map_err(|error| damaged(segment.number, &error.into()))?;
            if let Some(value) = encoded_value(&stored) {
                *counts.entry(Bytes::copy_from_slice(value)).or_default() += rows;
            }
        }
        Ok(())
    }

    /// Returns the rows in a range that have the words, for a reader that judges them by the other
    /// conditions.
    pub(crate) fn into_rows(self, range: &RowRange, direction: Direction) -> SearchedRows {
        let Self { read, plan, layout, view, query, note_error, .. } = self;
        let ranges = plan.key_ranges().iter().map(|planned| planned.intersect(range));
        let ranges = ranges.filter(|range| !range.is_empty()).collect();
        let keys = Candidates::new(plan, layout, view, query, direction, ranges, note_error);
        SearchedRows { table: read.table, point: read.point, keys: Box::new(keys) }
    }

    /// Reads a row at the read point.
    ///
    /// # Errors
    /// As for the read; `UnknownScanner` if the table was dropped.
    pub fn row(&self, get: &Get) -> Result<Row> {
        self.unless_over(self.read.table.get_at(get, &self.read.point))
    }

    /// Returns true if the table was dropped, truncated or restored since the search.
    pub fn is_over(&self) -> bool {
        self.read.table.is_gone()
    }

    /// Returns what was read. If the table is gone, an error names this cause and no other.
    fn unless_over<T>(&self, read: Result<T>) -> Result<T> {
        match read {
            Err(_) if self.is_over() => {
                let table = self.read.table.name();
                let message = format!(
                    "the search has ended, its table was dropped, truncated or restored: \
                     table={table}"
                );
                Err(Error::new(ErrorKind::UnknownScanner, message))
            }
            read => read,
        }
    }

    /// Checks that the search was not ended early, and has a damaged index built anew.
    pub(super) fn noted<T>(&self, result: Result<T>) -> Result<T> {
        let result = self.unless_over(result);
        let result = result.and_then(|value| self.watch.outcome().map(|()| value));
        result.map_err(|error| (self.note_error)(error))
    }

    /// Returns the position of a field whose values the index has.
    pub(super) fn valued_field(&self, field: &str, what: &str) -> Result<usize> {
        let search = search_of(&self.read)?;
        if let Some((at, _)) = search.field(field).filter(|(_, field)| has_values(field)) {
            return Ok(at);
        }
        let fields = search.fields().iter().filter(|field| has_values(field));
        let fields: Vec<_> = fields.map(|field| field.name()).collect();
        Err(Error::invalid(format!(
            "{what} by a value or a `keyword` of the index, not by `{field}`: fields={}",
            fields.join(", ")
        )))
    }

    /// The column name for a field's values.
    pub(super) fn value_column(&self, field: usize) -> String {
        self.layout.value_column(field)
    }

    /// Returns the documents in each segment that match, as far as documents tell.
    pub(super) fn matches(&self) -> Result<Vec<SegmentMatches>> {
        let weight = self.weight(false)?;
        let mut matches = Vec::new();
        for (segment, filter) in self.filters(self.plan.key_ranges())? {
            let mut docs = Vec::new();
            filter.each(&*weight, &segment, |doc, verdict| docs.push((doc, verdict)))?;
            matches.push((segment, docs));
        }
        Ok(matches)
    }

    pub(super) fn weight(&self, scores: bool) -> Result<Box<dyn Weight>> {
        let view: &View = &self.view;
        let scoring = if scores {
            EnableScoring::enabled_from_statistics_provider(view, &self.searcher)
        } else {
            EnableScoring::disabled_from_schema(&self.layout.schema)
        };
        self.query.weight(scoring).map_err(|error| damaged(0, &error))
    }

    pub(super) fn filters(
        &self,
        ranges: &[RowRange],
    ) -> Result<Vec<(Arc<OpenSegment>, DocFilter)>> {
        filters(&self.view, &self.layout, &self.plan, ranges)
    }

    /// Calls `visit` with the documents for matching rows, in any order.
    fn each_match(
        &self,
        weight: &dyn Weight,
        segment: &OpenSegment,
        filter: &DocFilter,
        mut visit: impl FnMut(DocId),
    ) -> Result<()> {
        let is_decided = self.plan.is_decided();
        let mut to_judge = Vec::new();
        filter.each(weight, segment, |doc, verdict| match verdict {
            Verdict::Yes if is_decided => visit(doc),
            verdict => to_judge.push((doc, verdict)),
        })?;
        for (doc, verdict) in to_judge {
            if self.meets(&segment.row(doc)?, verdict)? {
                visit(doc);
            }
        }
        Ok(())
    }

    /// Returns true if a row matches, given the verdict on its document.
    pub(super) fn meets(&self, row: &[u8], verdict: Verdict) -> Result<bool> {
        let is_sure = verdict == Verdict::Yes;
        if is_sure && self.plan.is_decided() {
            return Ok(true);
        }
        meets(&self.read, &self.plan, row, is_sure)
    }

    /// Returns the documents with the highest scores.
    fn best(&self, count: usize) -> Result<Vec<Hit>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let weight = self.weight(true)?;
        let mut best = Best::new(count);
        for (at, (segment, filter)) in self.filters(self.plan.key_ranges())?.iter().enumerate() {
            let threshold = best.threshold();
            filter.each_above(&*weight, segment, threshold, |doc, score, verdict| {
                best.add(Hit { score, segment: at, doc, verdict })
            })?;
        }
        Ok(best.finish())
    }
}

/// A segment, and the documents in it that match.
pub(super) type SegmentMatches = (Arc<OpenSegment>, Vec<(DocId, Verdict)>);

/// True if the index has a field's values, not only the words.
fn has_values(field: &SearchField) -> bool {
    !field.is_text() || field.analysers().contains(&Analyser::Keyword)
}

/// Returns the range parts that come after a row in a direction.
pub(super) fn after_row(ranges: &[RowRange], row: &[u8], direction: Direction) -> Vec<RowRange> {
    let rest = match direction {
        Direction::Forward => RowRange::new([row, &[0]].concat(), Bytes::new()),
        Direction::Reverse => RowRange::new(Bytes::new(), Bytes::copy_from_slice(row)),
    };
    let ranges = ranges.iter().map(|range| range.intersect(&rest));
    ranges.filter(|range| !range.is_empty()).collect()
}
