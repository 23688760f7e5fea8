//! The timestamp source.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_model::Timestamp;

/// A wall clock. The store takes it as a parameter so that a test can set it.
pub trait Clock: Send + Sync + 'static {
    /// Returns milliseconds since 1970.
    fn now_millis(&self) -> i64;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// The lower limits for a write's timestamp, given the earlier timestamps of the rows it writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimestampFloor {
    /// A put at this timestamp or later is hidden by no delete and no older version.
    pub(crate) least: Timestamp,
    /// A put at this timestamp or later is a separate version.
    pub(crate) distinct: Timestamp,
    /// A delete at this timestamp or later covers all earlier writes.
    pub(crate) covering: Timestamp,
}

impl TimestampFloor {
    pub(crate) const NOTHING: Self =
        Self { least: Timestamp::MIN, distinct: Timestamp::MIN, covering: Timestamp::MIN };

    /// Returns the limits that satisfy both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            distinct: self.distinct.max(other.distinct),
            covering: self.covering.max(other.covering),
        }
    }
}

/// Issues the timestamps for writes: the clock's time, but never less than an earlier one, so that
/// a clock set back does not hide new writes under old ones.
pub(crate) struct TimestampSource {
    clock: Arc<dyn Clock>,
    last: AtomicI64,
    /// The highest timestamp issued ahead of the clock.
    ahead: AtomicI64,
    /// The highest timestamp in the full-text index queues when the store was opened.
    queued: AtomicI64,
    /// Set while the clock lags behind issued timestamps and this was logged.
    lags: AtomicBool,
}

/// How far, in milliseconds, the clock may lag before this is logged: clocks are adjusted by small
/// amounts all the time.
const LAG_MILLIS_MAX: i64 = 1_000;

/// How far, in milliseconds, timestamps in a row may run ahead of the clock, so that each put is a
/// separate version (decision 0060).
pub(crate) const AHEAD_MILLIS_MAX: i64 = 100;

/// The maximum number of 1 ms waits for a put that would run further ahead, after as many deletes
/// in the same row.
const WAITS_MAX: usize = 5;

impl TimestampSource {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            last: AtomicI64::new(0),
            ahead: AtomicI64::new(0),
            queued: AtomicI64::new(0),
            lags: AtomicBool::new(false),
        }
    }

    /// Returns the timestamp for a current write.
    pub(crate) fn issue(&self) -> Timestamp {
        let now = self.clock.now_millis();
        let issued = self.last.fetch_max(now, Ordering::Relaxed).max(now);
        let lags = issued - now > LAG_MILLIS_MAX;
        if lags != self.lags.load(Ordering::Relaxed) {
            self.clock_jumped(now, issued, lags);
        }
        Timestamp::from_millis(issued).unwrap_or(Timestamp::MIN)
    }

    /// As [`TimestampSource::issue`], but not before `at_least`.
    pub(crate) fn issue_from(&self, at_least: Timestamp) -> Timestamp {
        self.last.fetch_max(at_least.as_millis(), Ordering::Relaxed);
        self.issue()
    }

    /// Returns the timestamp for a put. The put is a separate version unless that would take it
    /// more than [`AHEAD_MILLIS_MAX`] ahead of the clock.
    pub(crate) fn issue_put(&self, after: TimestampFloor) -> Timestamp {
        let issued = self.issue();
        if issued >= after.distinct { issued } else { self.issue_ahead(issued, after) }
    }

    /// Returns the timestamp for a delete, which covers all earlier writes.
    pub(crate) fn issue_delete(&self, after: TimestampFloor) -> Timestamp {
        let at = self.issue().max(after.covering);
        self.note_ahead(at);
        at
    }

    /// Returns the timestamp for an entry in a full-text index queue. It is later than all entries
    /// for the row that `after` counts as deletes, and later than entries from earlier opens
    /// whatever the clock says: an entry is removed together with all entries that are not later.
    pub(crate) fn issue_queued(&self, after: TimestampFloor) -> Timestamp {
        let stored = self.queued.load(Ordering::Relaxed);
        let after_stored = Timestamp::from_millis(stored).unwrap_or(Timestamp::MIN);
        let at = self.issue_put(after).max(after_stored.saturating_add(1));
        self.note_ahead(at);
        at
    }

    /// Notes the highest timestamp in the full-text index queues.
    pub(crate) fn continue_queues(&self, newest_millis: i64) {
        self.queued.fetch_max(newest_millis, Ordering::Relaxed);
    }

    #[cold]
    fn issue_ahead(&self, issued: Timestamp, after: TimestampFloor) -> Timestamp {
        let is_far =
            || after.least.as_millis().saturating_sub(self.now_millis()) > AHEAD_MILLIS_MAX;
        // The clock may have been set back, or may stand still.
        for _ in 0..WAITS_MAX {
            if !is_far() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let bound = issued.saturating_add(AHEAD_MILLIS_MAX);
        let at = after.distinct.min(bound).max(after.least).max(self.issue());
        self.note_ahead(at);
        at
    }

    /// Returns true if a timestamp is ahead of the next one to be issued.
    pub(crate) fn is_ahead(&self, at: Timestamp) -> bool {
        at.as_millis() > self.last.load(Ordering::Relaxed)
    }

    /// Returns true if the store may have issued a timestamp. One that is further ahead derives
    /// from a client's timestamp in the future, or advances faster than the clock; later writes
    /// ignore it.
    pub(crate) fn may_be_own(&self, at: Timestamp) -> bool {
        let last = self.last.load(Ordering::Relaxed).saturating_add(AHEAD_MILLIS_MAX);
        at.as_millis() <= last.max(self.ahead.load(Ordering::Relaxed))
    }

    /// Notes that a timestamp was issued ahead of the clock.
    pub(crate) fn note_ahead(&self, at: Timestamp) {
        if at.as_millis() > self.ahead.load(Ordering::Relaxed) {
            self.ahead.fetch_max(at.as_millis(), Ordering::Relaxed);
        }
    }

    /// Raises later timestamps above all timestamps given to deletes and all issued ahead of the
    /// clock, because row timestamps are about to be forgotten.
    pub(crate) fn catch_up(&self) {
        let after = self.ahead.load(Ordering::Relaxed).saturating_add(1);
        self.last.fetch_max(after, Ordering::Relaxed);
    }

    /// Returns a timestamp later than all issued ones.
    pub(crate) fn issue_last(&self) -> Timestamp {
        let last = self.issue().as_millis().max(self.ahead.load(Ordering::Relaxed));
        Timestamp::from_millis(last).unwrap_or(Timestamp::MIN).saturating_add(1)
    }

    #[cold]
    fn clock_jumped(&self, now: i64, issued: i64, lags: bool) {
        if self.lags.swap(lags, Ordering::Relaxed) == lags {
            return;
        }
        if lags {
            tracing::warn!(
                clock_millis = now,
                last_issued_millis = issued,
                "the clock was set back; writes keep the last timestamp until it has caught up"
            );
        } else {
            tracing::info!(clock_millis = now, "the clock has caught up with the last timestamp");
        }
    }

    /// Continues after the newest stored timestamp, as far as the store may have issued it. Logs a
    /// warning if the newest stored timestamp is further ahead of the clock: new writes are then
    /// hidden under old ones.
    pub(crate) fn compare_with_stored(&self, newest_millis: i64) {
        let now = self.clock.now_millis();
        let bound = now.saturating_add(AHEAD_MILLIS_MAX);
        // A put at a delete's timestamp would be hidden.
        self.last.fetch_max(newest_millis.min(bound).saturating_add(1), Ordering::Relaxed);
        if newest_millis > bound {
            tracing::warn!(
                clock_millis = now,
                newest_stored_millis = newest_millis,
                "the clock is after the newest stored timestamp: newer cells hide writes without \
                 a timestamp of their own"
            );
        }
    }

    /// Returns the wall clock's time, which decides expiry.
    pub(crate) fn now_millis(&self) -> i64 {
        self.clock.now_millis()
    }
}

/// Returns the CPU time that this thread has used.
pub fn thread_cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct StandsStill;

    impl Clock for StandsStill {
        fn now_millis(&self) -> i64 {
            1000
        }
    }

    fn millis(at: i64) -> Timestamp {
        Timestamp::from_millis(at).unwrap()
    }

    /// Returns the bounds for a row that was put at `written` and deleted at `deleted`.
    fn after(written: i64, deleted: Option<i64>) -> TimestampFloor {
        let least = deleted.map_or(written, |deleted| written.max(deleted + 1));
        TimestampFloor {
            least: millis(least),
            distinct: millis(written + 1),
            covering: millis(written),
        }
    }

    #[test]
    fn puts_are_versions_of_their_own_up_to_a_bound_ahead_of_the_clock() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        assert_eq!(source.issue_put(TimestampFloor::NOTHING).as_millis(), 1000);
        let mut at = 1000;
        for step in 1..=AHEAD_MILLIS_MAX {
            at = source.issue_put(after(at, None)).as_millis();
            assert_eq!(at, 1000 + step);
        }
        assert_eq!(source.issue_put(after(at, None)).as_millis(), at, "at the bound");
        assert_eq!(source.issue_delete(after(at, None)).as_millis(), at, "and it covers them");
        assert_eq!(
            source.issue_put(TimestampFloor::NOTHING).as_millis(),
            1000,
            "other rows are not ahead"
        );
        assert_eq!(source.issue_last().as_millis(), at + 1);
        source.catch_up();
        assert_eq!(source.issue_put(TimestampFloor::NOTHING).as_millis(), at + 1);
    }

    #[test]
    fn timestamps_after_a_delete_are_later_while_the_clock_stands_still() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        let mut at = 1000;
        for _ in 0..AHEAD_MILLIS_MAX + 5 {
            let put = source.issue_put(after(at, Some(at))).as_millis();
            assert_eq!(put, at + 1);
            at = source.issue_delete(after(put, Some(at))).as_millis();
            assert_eq!(at, put);
        }
    }

    #[test]
    fn a_reopened_store_continues_after_timestamps_ahead_of_the_clock() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(1000 + AHEAD_MILLIS_MAX);
        assert_eq!(source.issue().as_millis(), 1001 + AHEAD_MILLIS_MAX);
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(1_000_000);
        assert_eq!(
            source.issue().as_millis(),
            1001 + AHEAD_MILLIS_MAX,
            "that was chosen by somebody"
        );
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(900);
        assert_eq!(source.issue().as_millis(), 1000);
    }
}
