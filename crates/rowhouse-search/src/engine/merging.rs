//! The large merge that an engine runs, at most one at a time, on its own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result, TableName};

use super::{SearchEngine, Shared};
use crate::maintain::{self, LiveIndex, MERGE_AGAIN_AFTER};
use crate::merge::LargeMerge;
use crate::segment::Stop;

/// The time between two looks for a merge that waits to be ended.
const LOOK_FOR_STOP: Duration = Duration::from_millis(100);

/// The place of the one large merge.
#[derive(Default)]
pub(super) struct MergeSlot {
    state: Mutex<SlotState>,
    /// The thread of the last merge. Held while it is started.
    thread: Mutex<Option<JoinHandle<()>>>,
    freed: AtomicU64,
}

#[derive(Default)]
struct SlotState {
    is_taken: bool,
    /// Whether it was refused since it was taken.
    is_awaited: bool,
    is_closed: bool,
    /// The merge that runs, with the id of the index's table.
    running: Option<(u64, Stop)>,
}

/// The place, taken by a merge or for one that may be planned. Dropping it frees the place.
pub(super) struct TakenSlot {
    slot: Arc<MergeSlot>,
}

/// A large merge that is planned, and that the caller runs: see [`SearchEngine::work_to_merge`]. If
/// it is dropped, the segments stay as they are.
pub struct PlannedMerge {
    shared: Arc<Shared>,
    live: Arc<LiveIndex>,
    /// `None` when it has ended.
    merge: Option<LargeMerge>,
    _taken: TakenSlot,
}

impl MergeSlot {
    /// Takes the place, if it is free and the engine is not closed.
    pub(super) fn take(self: &Arc<Self>) -> Option<TakenSlot> {
        let mut state = self.state.lock();
        if state.is_taken || state.is_closed {
            state.is_awaited = true;
            return None;
        }
        state.is_taken = true;
        Some(TakenSlot { slot: Arc::clone(self) })
    }

    /// Grows when a merge has ended, and when the place is free again that was refused: another
    /// merge may be due.
    pub(super) fn freed(&self) -> u64 {
        self.freed.load(Ordering::Relaxed)
    }

    /// Ends the merge that runs, unless its table is still there.
    pub(super) fn stop_unless(&self, is_there: impl Fn(&u64) -> bool) {
        if let Some((table, stop)) = &self.state.lock().running
            && !is_there(table)
        {
            stop.stop();
        }
    }

    /// Ends the merge that runs, and lets none begin.
    pub(super) fn close(&self) {
        {
            let mut state = self.state.lock();
            state.is_closed = true;
            if let Some((_, stop)) = &state.running {
                stop.stop();
            }
        }
        let thread = self.thread.lock().take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of a merge panicked");
        }
    }
}

impl TakenSlot {
    /// Notes the merge that runs in this place.
    fn run(&self, merge: &LargeMerge) {
        let mut state = self.slot.state.lock();
        state.running = Some((merge.entries.id(), merge.stop.clone()));
        if state.is_closed {
            merge.stop.stop();
        }
    }
}

impl Drop for TakenSlot {
    fn drop(&mut self) {
        let mut state = self.slot.state.lock();
        state.is_taken = false;
        let is_awaited = std::mem::take(&mut state.is_awaited);
        if state.running.take().is_some() || is_awaited {
            self.slot.freed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Shared {
    /// Runs a merge on a thread of its own.
    pub(super) fn spawn_merge(
        self: &Arc<Self>,
        live: &Arc<LiveIndex>,
        taken: TakenSlot,
        merge: LargeMerge,
    ) -> Result<()> {
        let planned = self.planned(live, taken, merge);
        // The thread in it has ended, or ends now: the place was free.
        let mut thread = self.merging.thread.lock();
        if self.merging.state.lock().is_closed {
            return Ok(());
        }
        let builder = std::thread::Builder::new().name("rowhouse-merge".to_owned());
        let spawned = builder.spawn(move || planned.run_logged());
        *thread = Some(spawned.map_err(|error| {
            Error::new(ErrorKind::Io, format!("the thread of a merge was not started: {error}"))
        })?);
        Ok(())
    }

    pub(super) fn planned(
        self: &Arc<Self>,
        live: &Arc<LiveIndex>,
        taken: TakenSlot,
        merge: LargeMerge,
    ) -> PlannedMerge {
        taken.run(&merge);
        PlannedMerge {
            shared: Arc::clone(self),
            live: Arc::clone(live),
            merge: Some(merge),
            _taken: taken,
        }
    }
}

impl PlannedMerge {
    /// Merges, and puts the merged segment into the index's list, unless the index has other
    /// segments by now.
    ///
    /// # Errors
    /// As for reads and writes; none if the table is gone.
    pub fn run(self) -> Result<()> {
        self.run_while(|_| true)
    }

    /// As [`PlannedMerge::run`]; but ends early if `goes_on` returns false, which is called before
    /// each record is written, with the count of earlier ones.
    ///
    /// # Errors
    /// As [`PlannedMerge::run`].
    pub fn run_while(
        mut self,
        goes_on: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Result<()> {
        self.run_in_place(goes_on)
    }

    /// As [`PlannedMerge::run_while`], and holds the place.
    fn run_in_place(
        &mut self,
        goes_on: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Result<()> {
        let Some(merge) = &self.merge else { return Ok(()) };
        let stop = merge.stop.clone();
        let records = AtomicU64::new(0);
        let merged = merge.run(&self.shared.store, move || {
            if !goes_on(records.fetch_add(1, Ordering::Relaxed)) {
                stop.stop();
            }
            stop.check()
        });
        let Some(merge) = self.merge.take() else { return Ok(()) };
        let entries = Arc::clone(&merge.entries);
        maintain::finish(&self.shared.store, &self.live, merge, merged)
            .inspect_err(|error| self.shared.note_error(&entries, error))
    }

    /// Runs the merge on its thread. After an error it holds the place until the merge may be
    /// planned again.
    fn run_logged(mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(merge) = &self.merge else { return };
        let (table, index, stop) = (merge.table.clone(), merge.index.clone(), merge.stop.clone());
        if let Err(error) = self.run_in_place(|_| true) {
            tracing::warn!(%error, %table, index, "segments of a full-text index were not merged");
            let again = Instant::now() + MERGE_AGAIN_AFTER;
            while !stop.is_stopped() && Instant::now() < again {
                std::thread::sleep(LOOK_FOR_STOP);
            }
        }
        drop(self);
        // Another merge may be due.
        shared.woken.notify_all();
    }
}

impl Drop for PlannedMerge {
    fn drop(&mut self) {
        if self.merge.take().is_some() {
            maintain::abandon(&self.live);
        }
    }
}

impl SearchEngine {
    /// As [`SearchEngine::work`] for an engine without a thread; but returns a large merge that is
    /// due, to be run while other work goes on. `None` if none is left, or one is not finished.
    ///
    /// # Errors
    /// As [`SearchEngine::work`].
    pub fn work_to_merge(&self, table: &TableName, index: &str) -> Result<Option<PlannedMerge>> {
        self.shared.work_to_merge(table, index)
    }
}
