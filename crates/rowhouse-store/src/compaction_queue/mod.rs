//! The compaction queue, the most urgent family first, and the rate at which compactions may write.

mod pace;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use rowhouse_model::Bytes;

use pace::Pace;

use crate::clock::TimestampSource;
use crate::compaction_policy::{Choice, CompactionKind, choose};
use crate::family::{Families, FamilyStore};
use crate::settings::Settings;
use crate::store_file::FileSummary;

/// Region id and family name.
type StoreKey = (u64, Bytes);

/// The families that may need a compaction, and the compaction state.
#[derive(Default)]
pub(crate) struct Compactions {
    state: Mutex<State>,
    changed: Condvar,
    pace: Pace,
}

/// Holds each family at most once, so the family count bounds how large it is.
#[derive(Default)]
struct State {
    /// Families to check, with the compaction kind requested.
    queued: BTreeMap<StoreKey, Option<CompactionKind>>,
    running: Vec<(StoreKey, Option<CompactionKind>)>,
    failed: BTreeMap<StoreKey, Failure>,
    /// When all families are checked next.
    next_check: Option<Instant>,
    closed: bool,
    /// No compaction runs until compactions are enabled again.
    disabled: bool,
}

/// A failed compaction, which is not retried for a while.
struct Failure {
    times: u32,
    message: String,
    /// When the last attempt failed.
    at: Instant,
    /// When the next attempt may begin.
    retry: Instant,
}

/// The delay after a first failure; it doubles with each further one, up to an hour.
pub(crate) const RETRY_WAIT: Duration = Duration::from_secs(10);
const RETRY_WAIT_MAX: Duration = Duration::from_secs(3600);

/// A compaction of more bytes than this many flushed memstores is large: as HBase's
/// `hbase.regionserver.thread.compaction.throttle`, twice ten memstores.
const LARGE_IN_FLUSHES: u64 = 20;

/// The families that compactions choose from, with the settings and the time when the choice is
/// made.
#[derive(Clone, Copy)]
pub(crate) struct Candidates<'a> {
    pub(crate) families: &'a RwLock<Families>,
    pub(crate) settings: &'a Settings,
    pub(crate) timestamps: &'a TimestampSource,
}

/// Work for one thread.
pub(crate) struct Job {
    key: StoreKey,
    pub(crate) family: Arc<FamilyStore>,
    pub(crate) requested: Option<CompactionKind>,
    taken: Instant,
}

/// A compaction's priority: the greatest runs first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Urgency {
    /// Writers are waiting for it.
    blocked: bool,
    requested: Option<CompactionKind>,
    files: usize,
}

impl Compactions {
    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Requests a check for a family: it has more files than before, or a compaction is requested.
    pub(crate) fn request(&self, family: &FamilyStore, requested: Option<CompactionKind>) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        // As in HBase, a compaction requested while compactions are disabled is not run later.
        let requested = requested.filter(|_| !state.disabled);
        let key = (family.region_id(), family.name().clone());
        if requested.is_some() {
            // The cause may have been fixed, so a request is tried at once.
            state.failed.remove(&key);
        }
        let queued = state.queued.entry(key).or_default();
        *queued = (*queued).max(requested);
        self.changed.notify_all();
    }

    /// Returns the compaction kinds that run or are requested.
    pub(crate) fn kinds_of(&self, family: &FamilyStore) -> Vec<CompactionKind> {
        let key = (family.region_id(), family.name().clone());
        let state = self.state.lock();
        let requested = state.queued.get(&key).copied().flatten();
        // A requested compaction may have been taken by a thread that has not begun it.
        let running = state.running.iter().filter(|(running, _)| *running == key);
        let running = running.filter_map(|(_, requested)| *requested);
        requested.into_iter().chain(running).chain(family.merges.kinds()).collect()
    }

    /// Enables or disables compactions; returns true if they were enabled. Disabling them drops
    /// the requests.
    pub(crate) fn set_enabled(&self, on: bool) -> bool {
        let mut state = self.state.lock();
        let before = !std::mem::replace(&mut state.disabled, !on);
        if !on {
            state.queued.values_mut().for_each(|requested| *requested = None);
        }
        self.changed.notify_all();
        before
    }

    /// Whether compactions are enabled.
    pub(crate) fn is_enabled(&self) -> bool {
        !self.state.lock().disabled
    }

    /// Drops the requested compactions that have not begun, either the large ones or the others.
    /// The policy still chooses compactions that are due.
    pub(crate) fn forget_requested(&self, candidates: &Candidates<'_>, large: bool) {
        let bytes_min = candidates.large_bytes();
        for (key, requested) in &mut self.state.lock().queued {
            let Some(family) = candidates.find(key) else { continue };
            let bytes = candidates.bytes_to_merge(&family, *requested).unwrap_or(0);
            if (bytes > bytes_min) == large {
                *requested = None;
            }
        }
    }

    /// Prevents further compactions from beginning.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.queued.clear();
        self.changed.notify_all();
    }

    /// Returns the most urgent compaction of up to `bytes_max` bytes, waiting for one; `None` once
    /// closed. Once per period, calls `each_period` and queues a check of all families.
    pub(crate) fn next(
        &self,
        candidates: &Candidates<'_>,
        bytes_max: u64,
        each_period: impl Fn(),
    ) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            let now = Instant::now();
            if state.check_all(candidates, now) {
                each_period();
            }
            if !state.disabled
                && let Some(job) = state.most_urgent(candidates, bytes_max, now)
            {
                // A request made from here on counts as a new one.
                state.queued.remove(&job.key);
                state.running.push((job.key.clone(), job.requested));
                return Some(job);
            }
            match state.next_look(now) {
                Some(at) => {
                    self.changed.wait_until(&mut state, at);
                }
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Takes the most urgent compaction without waiting and without listing it as running.
    #[cfg(test)]
    pub(crate) fn take_waiting(&self, candidates: &Candidates<'_>) -> Option<Job> {
        let mut state = self.state.lock();
        let job = state.most_urgent(candidates, u64::MAX, Instant::now())?;
        state.queued.remove(&job.key);
        Some(job)
    }

    /// Returns how many compactions in a family failed in succession, and the last message.
    #[cfg(test)]
    pub(crate) fn failures(&self, key: &StoreKey) -> Option<(u32, String)> {
        let state = self.state.lock();
        state.failed.get(key).map(|failure| (failure.times, failure.message.clone()))
    }

    /// Returns how many compactions are running.
    #[cfg(test)]
    pub(crate) fn running_len(&self) -> usize {
        self.state.lock().running.len()
    }

    /// Records a job's result and queues the family again: one compaction often makes another one
    /// due.
    pub(crate) fn done(&self, job: Job, failed: Option<String>) {
        let mut state = self.state.lock();
        let this =
            |(key, requested): &(StoreKey, _)| *key == job.key && *requested == job.requested;
        if let Some(at) = state.running.iter().position(this) {
            state.running.swap_remove(at);
        }
        match failed {
            None => {
                state.failed.remove(&job.key);
            }
            Some(message) => state.fail(&job, message),
        }
        if !state.closed {
            state.queued.entry(job.key).or_default();
        }
        self.changed.notify_all();
    }
}

impl State {
    /// Queues a check for all families, once per period. Returns true if it did.
    fn check_all(&mut self, candidates: &Candidates<'_>, now: Instant) -> bool {
        if self.next_check.is_some_and(|at| now < at) {
            return false;
        }
        self.next_check = now.checked_add(candidates.settings.compaction.check_period);
        for key in candidates.families.read().keys() {
            self.queued.entry(key.clone()).or_default();
        }
        true
    }

    /// Returns when to check again even without a request.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        let retries = self
            .failed
            .iter()
            .filter(|(key, failure)| failure.retry > now && self.queued.contains_key(key))
            .map(|(_, failure)| failure.retry);
        retries.chain(self.next_check).min()
    }

    /// Returns the most urgent compaction of up to `bytes_max` bytes. Removes families that have
    /// nothing to compact.
    fn most_urgent(
        &mut self,
        candidates: &Candidates<'_>,
        bytes_max: u64,
        now: Instant,
    ) -> Option<Job> {
        let Self { queued, running, failed, .. } = self;
        let mut best: Option<(Urgency, Job)> = None;
        queued.retain(|key, &mut requested| {
            let Some(family) = candidates.find(key) else {
                failed.remove(key);
                return false;
            };
            // The current holder requests another check when it is done.
            let whole = requested == Some(CompactionKind::Major);
            let busy = family.compacting.is_locked_exclusive()
                || whole && running.iter().any(|(running, _)| running == key);
            if busy || failed.get(key).is_some_and(|failure| failure.retry > now) {
                return true;
            }
            let Some(bytes) = candidates.bytes_to_merge(&family, requested) else { return false };
            let files = family.super_version().files.len();
            let urgency = Urgency { blocked: family.is_blocked(), requested, files };
            if bytes <= bytes_max && best.as_ref().is_none_or(|(most, _)| *most < urgency) {
                let job = Job { key: key.clone(), family, requested, taken: now };
                best = Some((urgency, job));
            }
            true
        });
        best.map(|(_, job)| job)
    }

    fn fail(&mut self, job: &Job, message: String) {
        let now = Instant::now();
        let times = match self.failed.get(&job.key) {
            None => 1,
            // It was taken before the earlier one failed, so it is not a retry.
            Some(earlier) if job.taken <= earlier.at => earlier.times,
            Some(earlier) => earlier.times + 1,
        };
        let wait = RETRY_WAIT.saturating_mul(1 << (times - 1).min(16)).min(RETRY_WAIT_MAX);
        let known = self.failed.get(&job.key).is_some_and(|failure| failure.message == message);
        let region = job.family.region_id();
        let family = rowhouse_model::escape(job.family.name());
        if known {
            tracing::debug!(error = message, region, %family, ?wait, "a compaction still fails");
        } else {
            tracing::error!(
                error = message,
                region,
                %family,
                retry_in = ?wait,
                "a compaction failed; its files are unchanged"
            );
        }
        self.failed.insert(job.key.clone(), Failure { times, message, at: now, retry: now + wait });
    }
}

impl Candidates<'_> {
    fn find(&self, key: &StoreKey) -> Option<Arc<FamilyStore>> {
        self.families.read().get(key).cloned()
    }

    /// Returns the bytes that the family's next compaction would read; `None` if there is none.
    fn bytes_to_merge(
        &self,
        family: &FamilyStore,
        requested: Option<CompactionKind>,
    ) -> Option<u64> {
        let super_version = family.super_version();
        let facts: Vec<FileSummary<'_>> =
            super_version.files.iter().map(|file| file.facts(family.range())).collect();
        let busy = family.merges.busy(&super_version.files);
        let situation = family.situation(&facts, busy, self.timestamps.now_millis(), requested);
        let files = match choose(&situation, family.policy()) {
            Choice::Nothing => return None,
            Choice::DropExpired(_) => &[][..],
            Choice::Merge(run, _) => &facts[run],
        };
        Some(files.iter().map(|file| file.len).sum())
    }

    /// Returns the bytes that the compactions due now would read.
    pub(crate) fn bytes_due(&self) -> u64 {
        let families: Vec<_> = self.families.read().values().cloned().collect();
        families.iter().filter_map(|family| self.bytes_to_merge(family, None)).sum()
    }

    /// Returns the bytes above which a compaction is large.
    pub(crate) fn large_bytes(&self) -> u64 {
        LARGE_IN_FLUSHES.saturating_mul(self.settings.memstore_flush_bytes)
    }
}
