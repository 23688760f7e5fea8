//! The documents with the highest scores.

use std::cmp::Ordering;

use tantivy::{DocId, Score};

use super::filter::Verdict;

/// A document and the score.
pub(super) struct Hit {
    pub(super) score: Score,
    /// The segment's position in the view.
    pub(super) segment: usize,
    pub(super) doc: DocId,
    pub(super) verdict: Verdict,
}

impl Hit {
    /// The answer order.
    fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.segment.cmp(&other.segment))
            .then(self.doc.cmp(&other.doc))
    }
}

/// The documents with the highest scores so far.
pub(super) struct Best {
    count: usize,
    /// Up to twice as many.
    hits: Vec<Hit>,
    /// The score that a document must exceed.
    threshold: Score,
}

impl Best {
    /// Keeps so many, at least one.
    pub(super) fn new(count: usize) -> Self {
        Self { count, hits: Vec::new(), threshold: Score::MIN }
    }

    /// The score that the next document must exceed.
    pub(super) fn threshold(&self) -> Score {
        self.threshold
    }

    /// Takes a document that exceeds the threshold, and returns the next threshold.
    pub(super) fn add(&mut self, hit: Hit) -> Score {
        self.hits.push(hit);
        if self.hits.len() >= self.count.saturating_mul(2) {
            self.cut();
        }
        self.threshold
    }

    fn cut(&mut self) {
        self.hits.select_nth_unstable_by(self.count - 1, Hit::order);
        self.hits.truncate(self.count);
        self.threshold = self.hits[self.count - 1].score;
    }

    /// Returns them in order.
    pub(super) fn finish(mut self) -> Vec<Hit> {
        self.hits.sort_unstable_by(Hit::order);
        self.hits.truncate(self.count);
        self.hits
    }
}
