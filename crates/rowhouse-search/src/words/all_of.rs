//! The documents with the highest scores among those that have all words and phrases.
//!
//! Tantivy decodes the positions of a phrase's terms in every document that has them all. Here a
//! document's term frequencies bound its score first, and few documents can exceed the lowest score
//! that still counts: only their positions are decoded.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25Weight, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

/// The factor by which a computed bound may lie below a score. A sum over [`TERMS_MAX`] terms has a
/// relative rounding error below 0.0002.
///
/// [`TERMS_MAX`]: super::TERMS_MAX
const ROUNDING: Score = 1.001;

/// Terms in a field, each at its distance from the first. At least one.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) field: Field,
    pub(crate) terms: Vec<(usize, Term)>,
}

/// Sequences of which a document must have at least one. At least one.
pub(crate) type AnyOf = Vec<Sequence>;

/// A query for documents that have at least one sequence of each part.
#[derive(Debug)]
pub(crate) struct AllOf {
    /// The same query, for all answers but the documents with the highest scores.
    query: Box<dyn Query>,
    parts: Vec<AnyOf>,
}

impl AllOf {
    /// Returns the query for documents that have all parts, given the same query by tantivy. Where
    /// nothing is to be gained, that is `query` itself.
    pub(crate) fn over(query: Box<dyn Query>, parts: Vec<AnyOf>) -> Box<dyn Query> {
        let is_phrase = |sequence: &Sequence| sequence.terms.len() > 1;
        let has_phrase = parts.iter().flatten().any(is_phrase);
        let has_unions = parts.len() > 1 && parts.iter().any(|part| part.len() > 1);
        if has_phrase || has_unions { Box::new(Self { query, parts }) } else { query }
    }
}

impl Clone for AllOf {
    fn clone(&self) -> Self {
        Self { query: self.query.box_clone(), parts: self.parts.clone() }
    }
}

impl Query for AllOf {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = self.query.weight(scoring)?;
        let EnableScoring::Enabled { statistics_provider, .. } = scoring else {
            return Ok(weight);
        };
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let mut sequences = Vec::with_capacity(part.len());
            for sequence in part {
                let terms: Vec<_> = sequence.terms.iter().map(|(_, term)| term.clone()).collect();
                let bm25 = Bm25Weight::for_terms(statistics_provider, &terms)?;
                sequences.push((sequence.clone(), bm25));
            }
            parts.push(sequences);
        }
        Ok(Box::new(AllOfWeight { weight, parts }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct AllOfWeight {
    weight: Box<dyn Weight>,
    parts: Vec<Vec<(Sequence, Bm25Weight)>>,
}

impl Weight for AllOfWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.weight.scorer(reader, boost)
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.weight.explain(reader, doc)
    }

    fn count(&self, reader: &SegmentReader) -> tantivy::Result<u32> {
        self.weight.count(reader)
    }

    fn for_each(
        &self,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(DocId, Score),
    ) -> tantivy::Result<()> {
        self.weight.for_each(reader, callback)
    }

    fn for_each_no_score(
        &self,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(&[DocId]),
    ) -> tantivy::Result<()> {
        self.weight.for_each_no_score(reader, callback)
    }

    fn for_each_pruning(
        &self,
        threshold: Score,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(DocId, Score) -> Score,
    ) -> tantivy::Result<()> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for sequences in &self.parts {
            match PartCursor::open(sequences, reader)? {
                Some(part) => parts.push(part),
                None => return Ok(()),
            }
        }
        each_above(parts, threshold, callback);
        Ok(())
    }
}

/// Calls `callback` with each document that has all parts and scores more than a threshold, which
/// each call returns anew.
fn each_above(
    mut parts: Vec<PartCursor<'_>>,
    mut threshold: Score,
    callback: &mut dyn FnMut(DocId, Score) -> Score,
) {
    parts.sort_by_key(PartCursor::cost);
    let Some((lead, others)) = parts.split_first_mut() else { return };
    let others_max: Score = others.iter().map(PartCursor::score_max).sum();
    let score_max = lead.score_max() + others_max;
    let mut doc = 0;
    'docs: while may_exceed(score_max, threshold) {
        doc = lead.seek(doc);
        if doc == TERMINATED {
            return;
        }
        let lead_bound = lead.bound();
        if !may_exceed(lead_bound + others_max, threshold) {
            doc += 1;
            continue;
        }
        let mut others_bound = 0.0;
        for other in &mut *others {
            let other_doc = other.seek(doc);
            if other_doc > doc {
                doc = other_doc;
                continue 'docs;
            }
            others_bound += other.bound();
        }
        if let Some(score) = exact_score(lead, others, lead_bound + others_bound, threshold)
            && score > threshold
        {
            threshold = callback(doc, score);
        }
        doc += 1;
    }
}

/// Returns the score of the document that all parts are at; `None` if it lacks a part, or cannot
/// exceed the threshold.
fn exact_score<'w>(
    lead: &mut PartCursor<'w>,
    others: &mut [PartCursor<'w>],
    bound: Score,
    threshold: Score,
) -> Option<Score> {
    let mut bound = bound;
    let mut score = 0.0;
    for part in std::iter::once(lead).chain(others) {
        if !may_exceed(bound, threshold) {
            return None;
        }
        let part_bound = part.bound();
        let part_score = part.score(bound - part_bound, threshold)?;
        bound += part_score - part_bound;
        score += part_score;
    }
    Some(score)
}

/// True if a score below a bound may exceed the threshold.
fn may_exceed(bound: Score, threshold: Score) -> bool {
    bound * ROUNDING > threshold
}

/// A segment's documents that may have one of a part's sequences.
struct PartCursor<'w> {
    sequences: Vec<SequenceCursor<'w>>,
    doc: DocId,
}

impl<'w> PartCursor<'w> {
    /// Returns `None` if no document has any of the sequences.
    fn open(
        sequences: &'w [(Sequence, Bm25Weight)],
        reader: &SegmentReader,
    ) -> tantivy::Result<Option<Self>> {
        let mut cursors = Vec::with_capacity(sequences.len());
        for (sequence, bm25) in sequences {
            cursors.extend(SequenceCursor::open(sequence, bm25, reader)?);
        }
        Ok((!cursors.is_empty()).then_some(Self { sequences: cursors, doc: 0 }))
    }

    /// About how many documents are visited.
    fn cost(&self) -> u64 {
        self.sequences.iter().map(SequenceCursor::cost).sum()
    }

    /// A score that no document exceeds. `Bm25Weight::max_score` is lower: it takes a text with
    /// more words than its rounded length to be impossible.
    fn score_max(&self) -> Score {
        self.sequences.iter().map(|sequence| sequence.bm25.score(0, u32::MAX)).sum()
    }

    /// Advances to the first document, from `target` on, that has all terms of a sequence.
    fn seek(&mut self, target: DocId) -> DocId {
        let docs = self.sequences.iter_mut().map(|sequence| sequence.seek(target));
        self.doc = docs.min().unwrap_or(TERMINATED);
        self.doc
    }

    /// A score that this document does not exceed.
    fn bound(&self) -> Score {
        let here = self.sequences.iter().filter(|sequence| sequence.doc == self.doc);
        here.map(SequenceCursor::bound).sum()
    }

    /// Returns this document's score; `None` if it has none of the sequences, or cannot exceed the
    /// threshold together with the other parts.
    fn score(&mut self, others_bound: Score, threshold: Score) -> Option<Score> {
        let doc = self.doc;
        let mut bound = others_bound + self.bound();
        let mut score = None;
        for sequence in self.sequences.iter_mut().filter(|sequence| sequence.doc == doc) {
            if !may_exceed(bound, threshold) {
                return None;
            }
            let count = sequence.count();
            let sequence_score = if count > 0 { sequence.score_of(count) } else { 0.0 };
            bound += sequence_score - sequence.bound();
            if count > 0 {
                score = Some(score.unwrap_or(0.0) + sequence_score);
            }
        }
        score
    }
}

/// A segment's documents that have all terms in a sequence.
struct SequenceCursor<'w> {
    /// The rarest first.
    terms: Vec<TermCursor>,
    bm25: &'w Bm25Weight,
    norms: FieldNormReader,
    doc: DocId,
    /// Positions, for reuse.
    left: Vec<u32>,
    right: Vec<u32>,
}

struct TermCursor {
    postings: SegmentPostings,
    /// What is added to positions, to make them equal for all terms of the sequence.
    shift: u32,
}

impl<'w> SequenceCursor<'w> {
    /// Returns `None` if no document has the terms.
    fn open(
        sequence: &Sequence,
        bm25: &'w Bm25Weight,
        reader: &SegmentReader,
    ) -> tantivy::Result<Option<Self>> {
        let index = reader.inverted_index(sequence.field)?;
        let option = match sequence.terms.len() {
            1 => IndexRecordOption::WithFreqs,
            _ => IndexRecordOption::WithFreqsAndPositions,
        };
        let offset_max = sequence.terms.iter().map(|(offset, _)| *offset).max().unwrap_or(0);
        let mut terms = Vec::with_capacity(sequence.terms.len());
        for (offset, term) in &sequence.terms {
            let Some(postings) = index.read_postings(term, option)? else { return Ok(None) };
            terms.push(TermCursor { postings, shift: (offset_max - offset) as u32 });
        }
        terms.sort_by_key(|term| term.postings.doc_freq());
        let norms = match reader.fieldnorms_readers().get_field(sequence.field)? {
            Some(norms) => norms,
            None => FieldNormReader::constant(reader.max_doc(), 1),
        };
        Ok(Some(Self { terms, bm25, norms, doc: 0, left: Vec::new(), right: Vec::new() }))
    }

    fn cost(&self) -> u64 {
        self.terms.first().map_or(0, |term| u64::from(term.postings.doc_freq()))
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target && self.doc > 0 {
            return self.doc;
        }
        self.doc = self.align(target);
        self.doc
    }

    /// Returns the first document, from `target` on, that has all terms.
    fn align(&mut self, target: DocId) -> DocId {
        let Some((lead, others)) = self.terms.split_first_mut() else { return TERMINATED };
        let mut doc = lead.seek(target);
        'docs: while doc < TERMINATED {
            for other in &mut *others {
                let other_doc = other.seek(doc);
                if other_doc > doc {
                    doc = lead.seek(other_doc);
                    continue 'docs;
                }
            }
            return doc;
        }
        TERMINATED
    }

    /// A score that this document does not exceed: the phrase is there no more often than each
    /// term.
    fn bound(&self) -> Score {
        let freqs = self.terms.iter().map(|term| term.postings.term_freq());
        self.score_of(freqs.min().unwrap_or(0))
    }

    fn score_of(&self, count: u32) -> Score {
        self.bm25.score(self.norms.fieldnorm_id(self.doc), count)
    }

    /// Returns how often this document has the sequence.
    fn count(&mut self) -> u32 {
        let (first, others) = match &mut self.terms[..] {
            [] => return 0,
            [only] => return only.postings.term_freq(),
            [first, others @ ..] => (first, others),
        };
        first.postings.positions_with_offset(first.shift, &mut self.left);
        for other in others {
            other.postings.positions_with_offset(other.shift, &mut self.right);
            retain_shared(&mut self.left, &self.right);
            if self.left.is_empty() {
                break;
            }
        }
        self.left.len() as u32
    }
}

impl TermCursor {
    fn seek(&mut self, target: DocId) -> DocId {
        let doc = self.postings.doc();
        if doc >= target { doc } else { self.postings.seek(target) }
    }
}

/// Removes the numbers that are not in `others`. Both are in order.
fn retain_shared(numbers: &mut Vec<u32>, others: &[u32]) {
    let mut others = others.iter().peekable();
    numbers.retain(|number| {
        while others.next_if(|other| *other < number).is_some() {}
        others.next_if_eq(&number).is_some()
    });
}
