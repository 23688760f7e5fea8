//! Ends searches whose time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

use crate::segment::damaged;

/// The documents after which the time is looked at.
pub(super) const STEP: u32 = 256;

/// True if a search goes on: it ends at a deadline, or at a failure in the midst of a tantivy
/// query, which has no way to return one.
#[derive(Debug)]
pub(crate) struct Watch {
    deadline: Mutex<Option<Instant>>,
    is_over: AtomicBool,
    failure: Mutex<Option<TantivyError>>,
}

impl Watch {
    pub(crate) fn new(deadline: Option<Instant>) -> Self {
        Self {
            deadline: Mutex::new(deadline),
            is_over: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Sets another deadline. The caller sees to it that no search goes on.
    pub(super) fn renew(&self, deadline: Option<Instant>) {
        *self.deadline.lock() = deadline;
        self.is_over.store(self.failure.lock().is_some(), Ordering::Relaxed);
    }

    /// Notes a failure. The search ends.
    pub(super) fn fail(&self, error: TantivyError) {
        self.failure.lock().get_or_insert(error);
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns why the search ended, if it did early.
    ///
    /// # Errors
    /// `Timeout` after the deadline; the failure.
    pub(super) fn outcome(&self) -> Result<()> {
        if let Some(error) = &*self.failure.lock() {
            return Err(damaged(0, error));
        }
        if self.is_over.load(Ordering::Relaxed) {
            Err(Error::new(ErrorKind::Timeout, "the search took too long"))
        } else {
            Ok(())
        }
    }

    /// Whether the search has to end.
    pub(super) fn is_over(&self) -> bool {
        if self.deadline.lock().is_some_and(|deadline| Instant::now() >= deadline) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed)
    }
}

/// A query that ends when the time is over.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) query: Box<dyn Query>,
    pub(super) watch: Arc<Watch>,
}

impl Clone for Watched {
    fn clone(&self) -> Self {
        Self { query: self.query.box_clone(), watch: Arc::clone(&self.watch) }
    }
}

impl Query for Watched {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = self.query.weight(scoring)?;
        let watch = Arc::clone(&self.watch);
        Ok(Box::new(WatchedWeight { weight, watch }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct WatchedWeight {
    weight: Box<dyn Weight>,
    watch: Arc<Watch>,
}

impl Weight for WatchedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let scorer = self.weight.scorer(reader, boost)?;
        let watch = Arc::clone(&self.watch);
        let mut scorer = WatchedScorer { scorer, watch, left: STEP, is_over: false };
        scorer.look();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.weight.explain(reader, doc)
    }

    /// As the query itself, which may pass over documents with low scores.
    fn for_each_pruning(
        &self,
        threshold: Score,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(DocId, Score) -> Score,
    ) -> tantivy::Result<()> {
        let mut left = STEP;
        let mut callback = |doc, score| {
            left -= 1;
            if left == 0 {
                left = STEP;
                if self.watch.is_over() {
                    return Score::MAX;
                }
            }
            callback(doc, score)
        };
        self.weight.for_each_pruning(threshold, reader, &mut callback)
    }
}

struct WatchedScorer {
    scorer: Box<dyn Scorer>,
    watch: Arc<Watch>,
    /// Documents until the next look at the time.
    left: u32,
    is_over: bool,
}

impl WatchedScorer {
    fn look(&mut self) {
        self.left = STEP;
        self.is_over = self.watch.is_over();
    }

    fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.look();
        }
    }
}

impl DocSet for WatchedScorer {
    fn advance(&mut self) -> DocId {
        self.step();
        if self.is_over { TERMINATED } else { self.scorer.advance() }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.step();
        if self.is_over { TERMINATED } else { self.scorer.seek(target) }
    }

    fn doc(&self) -> DocId {
        if self.is_over { TERMINATED } else { self.scorer.doc() }
    }

    fn size_hint(&self) -> u32 {
        self.scorer.size_hint()
    }

    fn cost(&self) -> u64 {
        self.scorer.cost()
    }
}

impl Scorer for WatchedScorer {
    fn score(&mut self) -> Score {
        self.scorer.score()
    }
}
