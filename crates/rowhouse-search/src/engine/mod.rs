//! The store's search engine: the searches, and the thread that maintains the indexes.

mod merging;
mod scans;
mod verify;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Error, ErrorKind, Result, SearchText, TableName};
use rowhouse_schema::{Index, IndexState, Predicate, SearchPlan, index_damage};
use rowhouse_store::{SearchIndex, SearchRead, Store, Table};

use crate::find::{DocumentQuery, Matches, NoteError, SearchOptions};
use crate::list::{ListedSegment, SegmentList};
use crate::maintain::{self, LiveIndex};
use crate::merge::MergeLimits;
use crate::rows::search_of;
use crate::segment::{Layout, PartCache};
use crate::view::View;
use merging::MergeSlot;

pub use merging::PlannedMerge;

/// The time between two looks at the indexes.
const TICK: Duration = Duration::from_millis(250);

/// The time without a change after which changed rows are written to segments.
const QUIET: Duration = Duration::from_secs(1);

/// The longest time for which changed rows wait while others change.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// After how many changes the changed rows are written at once.
const CHANGES_MAX: u64 = 10_000;

/// The most changed rows that a search analyses. More are written to segments first.
const PENDING_MAX: usize = 50_000;

/// How long a search waits until a load, or a build, ends.
const READY_WAIT: Duration = Duration::from_secs(10);

/// The time after which work that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A store's search engine.
///
/// It answers queries with `matches`, also in region scans. Its own thread builds full-text
/// indexes, writes the rows that change to segments, and merges small ones; another one, started
/// when it is needed, merges large ones, so that changed rows never wait for these. A store has at
/// most one engine. It keeps the store open until [`SearchEngine::close`] or until it is dropped.
pub struct SearchEngine {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// An index segment: see [`SearchEngine::segments`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SegmentFacts {
    /// The segment number. A newer segment has a higher one, unless it was made by a merge.
    pub number: u64,
    /// The documents, also those for rows that newer segments have.
    pub documents: u64,
    /// How many bytes the files have.
    pub bytes: u64,
}

struct Shared {
    store: Store,
    /// By the id of the index's table.
    live: Mutex<HashMap<u64, Arc<LiveIndex>>>,
    parts: Arc<PartCache>,
    limits: MergeLimits,
    merging: Arc<MergeSlot>,
    closed: Mutex<bool>,
    woken: Condvar,
    /// Whether a thread builds indexes.
    has_thread: AtomicBool,
    /// For answers, which may find damage later.
    own: Weak<Shared>,
}

/// An index's documents at a read point, and what reads them.
struct Viewed {
    read: SearchRead,
    view: Arc<View>,
    /// The time at which the rows were read.
    now_millis: i64,
    layout: Layout,
    live: Arc<LiveIndex>,
}

/// The outcome when a view is attempted once.
enum Attempt {
    Viewed(Box<Viewed>),
    /// More rows have changed than a search analyses.
    TooManyPending,
    /// The index has another state or another table than before.
    Changed,
}

impl SearchEngine {
    /// Starts a store's engine.
    ///
    /// # Errors
    /// `Io` if the thread cannot be started.
    pub fn start(store: &Store) -> Result<Self> {
        Self::start_with(store, MergeLimits::default())
    }

    /// As [`SearchEngine::start`], with other limits.
    ///
    /// # Errors
    /// As [`SearchEngine::start`].
    pub fn start_with(store: &Store, limits: MergeLimits) -> Result<Self> {
        let engine = Self::without_thread_with(store, limits);
        let shared = Arc::clone(&engine.shared);
        let thread = std::thread::Builder::new().name("rowhouse-search".to_owned());
        let thread = thread.spawn(move || shared.run()).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the search thread was not started: {error}"))
        })?;
        *engine.thread.lock() = Some(thread);
        engine.shared.has_thread.store(true, Ordering::Relaxed);
        Ok(engine)
    }

    /// Starts an engine that builds and writes only when [`SearchEngine::work`] is called.
    pub fn without_thread(store: &Store) -> Self {
        Self::without_thread_with(store, MergeLimits::default())
    }

    /// As [`SearchEngine::without_thread`], with other limits.
    pub fn without_thread_with(store: &Store, limits: MergeLimits) -> Self {
        let shared = Arc::new_cyclic(|own: &Weak<Shared>| Shared {
            store: store.clone(),
            live: Mutex::default(),
            parts: Arc::new(PartCache::new()),
            limits,
            merging: Arc::default(),
            closed: Mutex::new(false),
            woken: Condvar::new(),
            has_thread: AtomicBool::new(false),
            own: Weak::clone(own),
        });
        Self { shared, thread: Mutex::new(None) }
    }

    /// Plans a table search, by the table's declarations as they are now.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a query that is wrong, and for a table without a
    /// full-text index.
    pub fn plan(&self, table: &TableName, text: &SearchText) -> Result<SearchPlan> {
        let query = Predicate::parse(&text.query)?;
        scans::plan(&*self.shared.store.table(table)?, &query, text.index.as_deref())
    }

    /// Searches a table. The answer sees every write that was acknowledged before.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a plan by an index that the table no longer has, and
    /// for words that no analyser has; `RegionTooBusy` while the index is being built, also anew
    /// because the data is damaged; `Corruption` if that waits for a repair.
    pub fn find(&self, table: &TableName, plan: &SearchPlan) -> Result<Matches> {
        self.shared.answer(table, plan, SearchOptions::default())
    }

    /// Searches a table for the documents that a query finds, in place of a plan's search texts:
    /// see [`IndexSchema::all_documents`](rowhouse_schema::IndexSchema::all_documents). The
    /// [`Matches`] answers are errors after the deadline. The wait for an index that is built does
    /// not end with it.
    ///
    /// # Errors
    /// As [`SearchEngine::find`]; `Unsupported` for a condition on a field where a row has a value
    /// that is too long for the index.
    pub fn find_documents(
        &self,
        table: &TableName,
        plan: &SearchPlan,
        documents: &DocumentQuery,
        deadline: Option<Instant>,
    ) -> Result<Matches> {
        self.shared.answer(table, plan, SearchOptions { documents: Some(documents), deadline })
    }

    /// Builds an index if it is not built, writes all rows that have changed to segments, and
    /// merges segments. An engine with a thread runs large merges on another thread, at most one at
    /// a time.
    ///
    /// # Errors
    /// `TableNotFound`; errors as for reads and writes.
    pub fn work(&self, table: &TableName, index: &str) -> Result<()> {
        self.shared.work(table, index)
    }

    /// Returns an index's segments, the oldest first.
    ///
    /// # Errors
    /// `TableNotFound`; errors as for reads.
    pub fn segments(&self, table: &TableName, index: &str) -> Result<Vec<SegmentFacts>> {
        let read = self.shared.store.search_read(table, index)?;
        search_of(&read)?;
        let list = SegmentList::read(&read)?;
        let facts = |segment: &ListedSegment| SegmentFacts {
            number: segment.id.number,
            documents: u64::from(segment.docs),
            bytes: segment.bytes(),
        };
        Ok(list.segments.iter().map(facts).collect())
    }

    /// Ends the threads, also in a large merge, and stops using the store.
    pub fn close(&self) {
        *self.shared.closed.lock() = true;
        self.shared.woken.notify_all();
        self.shared.merging.close();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the search thread panicked");
        }
        self.shared.live.lock().clear();
    }
}

impl Drop for SearchEngine {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the error for a search that found damage in an index that is built anew.
fn built_anew(error: Error) -> Error {
    let message = format!("a full-text index is built anew, search again: {error}");
    Error::new(ErrorKind::RegionTooBusy, message).with_source(error)
}

fn not_ready(read: &SearchRead) -> Error {
    let index = read.index.name();
    let table = read.table.name();
    let state = &read.state;
    if index_damage(read.entries.descriptor()).is_some() && matches!(state, IndexState::Off(_)) {
        return Error::corruption(format!(
            "full-text index {index} of table {table} cannot be searched before `repair_index` has \
             built it anew: state={state}"
        ));
    }
    Error::new(
        ErrorKind::RegionTooBusy,
        format!("full-text index {index} of table {table} is not built yet: state={state}"),
    )
}

impl Shared {
    /// As [`SearchEngine::find`].
    fn answer(
        &self,
        table: &TableName,
        plan: &SearchPlan,
        options: SearchOptions<'_>,
    ) -> Result<Matches> {
        let viewed = self.viewed(table, plan.index().name(), |index| {
            if index == plan.index() {
                Ok(())
            } else {
                Err(Error::invalid(format!(
                    "index {} was altered after the query was planned",
                    index.name()
                )))
            }
        })?;
        let Viewed { read, view, layout, live, .. } = viewed;
        let shared = Weak::clone(&self.own);
        let entries = Arc::clone(&read.entries);
        let note_error: NoteError = Box::new(move |error| match shared.upgrade() {
            Some(shared) => shared.note_late_error(&entries, error),
            None => error,
        });
        let searcher = live.searcher.clone();
        Matches::new(read, plan.clone(), layout, view, searcher, options, note_error)
    }

    /// Returns an index's documents, at a read point after all acknowledged writes. `check` may
    /// refuse the index as it is then.
    fn viewed(
        &self,
        table: &TableName,
        index: &str,
        check: impl Fn(&Index) -> Result<()>,
    ) -> Result<Viewed> {
        let deadline = Instant::now() + READY_WAIT;
        let builds = self.has_thread.load(Ordering::Relaxed);
        let mut damage = None;
        loop {
            let read = self.store.search_read(table, index)?;
            let is_awaited = match read.state {
                IndexState::Ready => {
                    let attempt = match self.try_view(&read, &check) {
                        // Other threads may write as fast; each round leaves fewer rows to analyse.
                        Ok(Attempt::TooManyPending) => self.work(table, index),
                        Ok(Attempt::Viewed(viewed)) => return Ok(*viewed),
                        Ok(Attempt::Changed) => Ok(()),
                        Err(error) => Err(error),
                    };
                    match attempt {
                        Ok(()) => {}
                        Err(_) if read.entries.is_dropped() => {}
                        // The index is off, and built anew.
                        Err(error) if !self.is_ready(&read)? => damage = Some(error),
                        Err(error) => return Err(error),
                    }
                    continue;
                }
                // A load queues its rows soon, and a new table's index is built at once.
                IndexState::Repairing | IndexState::Building { .. } => true,
                _ => self.store.is_index_rebuilt(&read.entries),
            };
            if !is_awaited || !builds || Instant::now() >= deadline {
                return Err(match damage {
                    Some(error) if is_awaited => built_anew(error),
                    Some(error) => error,
                    None => not_ready(&read),
                });
            }
            self.woken.notify_all();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns true if an index is ready now.
    fn is_ready(&self, read: &SearchRead) -> Result<bool> {
        let now = self.store.search_read(read.table.name(), read.index.name())?;
        Ok(now.state.is_ready())
    }

    /// As [`SearchEngine::work`].
    fn work(&self, table: &TableName, index: &str) -> Result<()> {
        if !self.has_thread.load(Ordering::Relaxed) {
            while let Some(merge) = self.work_to_merge(table, index)? {
                merge.run()?;
            }
            return Ok(());
        }
        let read = self.store.search_read(table, index)?;
        let live = self.live_index(&read)?;
        while !self.noted(&read, self.work_once(table, index, &live))? {}
        Ok(())
    }

    /// Does some work on an index. Returns true if no changed row waits.
    fn work_once(&self, table: &TableName, index: &str, live: &Arc<LiveIndex>) -> Result<bool> {
        let taken = self.merging.take();
        let worked = maintain::work(&self.store, table, index, live, taken.is_some())?;
        if let (Some(taken), Some(merge), Some(shared)) = (taken, worked.large, self.own.upgrade())
        {
            shared.spawn_merge(live, taken, merge)?;
        }
        Ok(worked.is_done)
    }

    /// As [`SearchEngine::work_to_merge`].
    fn work_to_merge(&self, table: &TableName, index: &str) -> Result<Option<PlannedMerge>> {
        let read = self.store.search_read(table, index)?;
        let live = self.live_index(&read)?;
        loop {
            let taken = self.merging.take();
            let worked = maintain::work(&self.store, table, index, &live, taken.is_some());
            let worked = self.noted(&read, worked)?;
            if let (Some(taken), Some(merge), Some(shared)) =
                (taken, worked.large, self.own.upgrade())
            {
                return Ok(Some(shared.planned(&live, taken, merge)));
            }
            if worked.is_done {
                return Ok(None);
            }
        }
    }

    /// Returns what is held for an index.
    fn live_index(&self, read: &SearchRead) -> Result<Arc<LiveIndex>> {
        let id = read.entries.id();
        if let Some(live) = self.live.lock().get(&id) {
            return Ok(Arc::clone(live));
        }
        let layout = Layout::of(search_of(read)?);
        let new = Arc::new(LiveIndex::new(layout, Arc::clone(&self.parts), self.limits)?);
        Ok(Arc::clone(self.live.lock().entry(id).or_insert(new)))
    }

    /// Views an index at the current read point, if it is still ready there.
    fn try_view(&self, read: &SearchRead, check: impl Fn(&Index) -> Result<()>) -> Result<Attempt> {
        let live = self.live_index(read)?;
        let mut open = live.open.lock();
        // Read points follow each other: later ones see no older state.
        let read = self.store.search_read(read.table.name(), read.index.name())?;
        check(&read.index)?;
        let is_current =
            self.live.lock().get(&read.entries.id()).is_some_and(|now| Arc::ptr_eq(now, &live));
        // Without its state, the segments may belong to a build that goes on, or to rows that were
        // truncated.
        if !is_current || !read.state.is_ready() {
            return Ok(Attempt::Changed);
        }
        let now_millis = self.store.now_millis();
        let view = match open.view(&read, now_millis, PENDING_MAX) {
            // The new table has the answer.
            Err(_) if read.entries.is_dropped() => return Ok(Attempt::Changed),
            view => self.noted(&read, view)?,
        };
        let Some(view) = view else { return Ok(Attempt::TooManyPending) };
        let layout = open.layout().clone();
        drop(open);
        Ok(Attempt::Viewed(Box::new(Viewed { read, view, now_millis, layout, live })))
    }

    /// Puts an index off if an error says that the table is damaged.
    fn noted<T>(&self, read: &SearchRead, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.note_error(&read.entries, error);
        }
        result
    }

    /// As [`Shared::noted`].
    fn note_error(&self, entries: &Table, error: &Error) {
        self.store.report_index_damage(entries, error);
        self.store.settle_index_damage();
        self.woken.notify_all();
    }

    /// As [`Shared::noted`], for an error in an answer. Returns an error that may be tried again if
    /// the index is built anew.
    fn note_late_error(&self, entries: &Table, error: Error) -> Error {
        self.note_error(entries, &error);
        let Ok(now) = self.store.table(entries.name()) else { return error };
        let is_rebuilt = now.id() != entries.id() || self.store.is_index_rebuilt(&now);
        if !is_rebuilt || !matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Io) {
            return error;
        }
        built_anew(error)
    }

    /// Keeps the indexes until the engine is closed.
    fn run(&self) {
        let mut clocks: HashMap<u64, Waiting> = HashMap::new();
        let mut freed = 0;
        loop {
            {
                let mut closed = self.closed.lock();
                if *closed {
                    return;
                }
                self.woken.wait_for(&mut closed, TICK);
                if *closed {
                    return;
                }
            }
            // Locked before the list is taken: an index that came after it stays, with the threads
            // that work on it. Two such indexes would write segments with the same number.
            let mut live = self.live.lock();
            let indexes = match self.store.search_indexes() {
                Ok(indexes) => indexes,
                Err(error) => {
                    tracing::warn!(%error, "the full-text indexes cannot be listed");
                    continue;
                }
            };
            let is_there = |id: &u64| indexes.iter().any(|index| index.entries.id() == *id);
            clocks.retain(|id, _| is_there(id));
            live.retain(|id, _| is_there(id));
            drop(live);
            self.merging.stop_unless(is_there);
            let before = std::mem::replace(&mut freed, self.merging.freed());
            if freed != before {
                clocks.values_mut().for_each(Waiting::merge_may_begin);
            }
            for index in indexes.iter().filter(|index| index.is_enabled) {
                let waiting = clocks.entry(index.entries.id()).or_default();
                if *self.closed.lock() {
                    return;
                }
                if waiting.is_due(index) {
                    self.maintain(index, waiting);
                }
            }
        }
    }

    fn maintain(&self, index: &SearchIndex, waiting: &mut Waiting) {
        let table = &index.table;
        let name = index.index.name();
        let worked = self.store.search_read(table, name).and_then(|read| {
            let live = self.live_index(&read)?;
            self.noted(&read, self.work_once(table, name, &live))
        });
        match worked {
            Ok(done) => waiting.worked(done),
            Err(error) if error.kind() == ErrorKind::ServerNotRunning => {}
            Err(error) => {
                tracing::warn!(%error, %table, index = name, "a full-text index was not kept");
                waiting.failed();
            }
        }
    }
}

/// When an index is worked on next.
#[derive(Default)]
struct Waiting {
    /// The change count when work was last done.
    worked_at: Option<u64>,
    /// The change count at the last look, when it was first seen, and when the first change after
    /// the last work was.
    seen: u64,
    seen_at: Option<Instant>,
    first_at: Option<Instant>,
    /// The time before which nothing is tried.
    not_before: Option<Instant>,
}

impl Waiting {
    fn is_due(&mut self, index: &SearchIndex) -> bool {
        let now = Instant::now();
        if self.not_before.is_some_and(|time| now < time) {
            return false;
        }
        if index.changes != self.seen || self.seen_at.is_none() {
            (self.seen, self.seen_at) = (index.changes, Some(now));
        }
        let Some(worked_at) = self.worked_at else { return true };
        if !index.state.is_ready() {
            return true;
        }
        if index.changes == worked_at {
            return false;
        }
        let first_at = *self.first_at.get_or_insert(now);
        index.changes.saturating_sub(worked_at) >= CHANGES_MAX
            || now - first_at >= WAIT_MAX
            || self.seen_at.is_none_or(|at| now - at >= QUIET)
    }

    /// Notes work that saw the changes from the last look. Unless it is done, it goes on at once.
    fn worked(&mut self, done: bool) {
        self.first_at = None;
        self.worked_at = done.then_some(self.seen);
    }

    /// Notes that the place for a large merge is free again.
    fn merge_may_begin(&mut self) {
        self.worked_at = None;
    }

    fn failed(&mut self) {
        self.not_before = Some(Instant::now() + RETRY_AFTER);
    }
}
