//! Where timestamps come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_model::Timestamp;

use crate::write::row_lock::After;

/// A wall clock. The store takes it as a part so that a test can turn it.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970.
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

/// Issues the timestamps of writes: the clock's, but never less than one issued before, so that a
/// clock set back does not hide new writes behind old ones.
pub(crate) struct TimestampSource {
    clock: Arc<dyn Clock>,
    last: AtomicI64,
    /// The highest that was given ahead of the clock.
    ahead: AtomicI64,
    /// The clock is behind what was issued, and that was said.
    behind: AtomicBool,
}

/// How far behind the clock may be before it is said: clocks are adjusted by a little all the time.
const BEHIND_MILLIS_MAX: i64 = 1_000;

/// How far timestamps of a row run ahead of the clock, so that each put is a version of its own (decision 0060).
pub(crate) const AHEAD_MILLIS_MAX: i64 = 100;

/// How often a put that would be further ahead, after as many deletes, waits a millisecond for the clock.
const WAITS_MAX: usize = 5;

impl TimestampSource {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            last: AtomicI64::new(0),
            ahead: AtomicI64::new(0),
            behind: AtomicBool::new(false),
        }
    }

    /// The timestamp of a write that is being taken now.
    pub(crate) fn issue(&self) -> Timestamp {
        let now = self.clock.now_millis();
        let issued = self.last.fetch_max(now, Ordering::Relaxed).max(now);
        let behind = issued - now > BEHIND_MILLIS_MAX;
        if behind != self.behind.load(Ordering::Relaxed) {
            self.clock_jumped(now, issued, behind);
        }
        Timestamp::from_millis(issued).unwrap_or(Timestamp::MIN)
    }

    /// As [`TimestampSource::issue`], not before `at_least`.
    pub(crate) fn issue_from(&self, at_least: Timestamp) -> Timestamp {
        self.last.fetch_max(at_least.as_millis(), Ordering::Relaxed);
        self.issue()
    }

    /// The timestamp of a put: a version of its own where that is no more than [`AHEAD_MILLIS_MAX`] ahead of the clock.
    pub(crate) fn issue_put(&self, after: After) -> Timestamp {
        let issued = self.issue();
        if issued >= after.distinct { issued } else { self.issue_ahead(issued, after) }
    }

    /// The timestamp of a delete, which covers what was written before it.
    pub(crate) fn issue_delete(&self, after: After) -> Timestamp {
        let at = self.issue().max(after.covering);
        self.note_ahead(at);
        at
    }

    #[cold]
    fn issue_ahead(&self, issued: Timestamp, after: After) -> Timestamp {
        let is_far =
            || after.least.as_millis().saturating_sub(self.now_millis()) > AHEAD_MILLIS_MAX;
        // The clock may have been set back, or stand still.
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

    /// Whether a timestamp is ahead of what is given now.
    pub(crate) fn is_ahead(&self, at: Timestamp) -> bool {
        at.as_millis() > self.last.load(Ordering::Relaxed)
    }

    /// Whether a timestamp may have been given by the store. One further ahead grew from one that somebody chose, who meant
    /// the future, or counts faster than the clock does: later writes do not go by it.
    pub(crate) fn may_be_own(&self, at: Timestamp) -> bool {
        let last = self.last.load(Ordering::Relaxed).saturating_add(AHEAD_MILLIS_MAX);
        at.as_millis() <= last.max(self.ahead.load(Ordering::Relaxed))
    }

    /// Notes that a timestamp is given ahead of the clock.
    pub(crate) fn note_ahead(&self, at: Timestamp) {
        if at.as_millis() > self.ahead.load(Ordering::Relaxed) {
            self.ahead.fetch_max(at.as_millis(), Ordering::Relaxed);
        }
    }

    /// Has every timestamp from now on be as late as all that were given ahead of the clock: what rows were given is not
    /// known any more.
    pub(crate) fn catch_up(&self) {
        self.last.fetch_max(self.ahead.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// A timestamp that is later than all that were given.
    pub(crate) fn issue_last(&self) -> Timestamp {
        let last = self.issue().as_millis().max(self.ahead.load(Ordering::Relaxed));
        Timestamp::from_millis(last).unwrap_or(Timestamp::MIN).saturating_add(1)
    }

    #[cold]
    fn clock_jumped(&self, now: i64, issued: i64, behind: bool) {
        if self.behind.swap(behind, Ordering::Relaxed) == behind {
            return;
        }
        if behind {
            tracing::warn!(
                clock_millis = now,
                last_issued_millis = issued,
                "the clock was set back; writes keep the last timestamp until it has caught up"
            );
        } else {
            tracing::info!(clock_millis = now, "the clock has caught up with the last timestamp");
        }
    }

    /// Goes on after the newest timestamp that is stored, as far as the store may have given it. Says so when the clock is
    /// further behind: new writes are then hidden behind old ones.
    pub(crate) fn compare_with_stored(&self, newest_millis: i64) {
        let now = self.clock.now_millis();
        let bound = now.saturating_add(AHEAD_MILLIS_MAX);
        self.last.fetch_max(newest_millis.min(bound), Ordering::Relaxed);
        if newest_millis > bound {
            tracing::warn!(
                clock_millis = now,
                newest_stored_millis = newest_millis,
                "the clock is behind the newest stored timestamp: writes without a timestamp of their own are hidden behind cells that are newer"
            );
        }
    }

    /// The wall clock, for judging what has expired.
    pub(crate) fn now_millis(&self) -> i64 {
        self.clock.now_millis()
    }
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

    /// Of a row that was put at `written` and deleted at `deleted`.
    fn after(written: i64, deleted: Option<i64>) -> After {
        let least = deleted.map_or(written, |deleted| written.max(deleted + 1));
        After { least: millis(least), distinct: millis(written + 1), covering: millis(written) }
    }

    #[test]
    fn puts_are_versions_of_their_own_up_to_a_bound_ahead_of_the_clock() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        assert_eq!(source.issue_put(After::NOTHING).as_millis(), 1000);
        let mut at = 1000;
        for step in 1..=AHEAD_MILLIS_MAX {
            at = source.issue_put(after(at, None)).as_millis();
            assert_eq!(at, 1000 + step);
        }
        assert_eq!(source.issue_put(after(at, None)).as_millis(), at, "at the bound");
        assert_eq!(source.issue_delete(after(at, None)).as_millis(), at, "and it covers them");
        assert_eq!(source.issue_put(After::NOTHING).as_millis(), 1000, "other rows are not ahead");
        assert_eq!(source.issue_last().as_millis(), at + 1);
        source.catch_up();
        assert_eq!(source.issue_put(After::NOTHING).as_millis(), at);
    }

    #[test]
    fn what_is_to_be_later_than_a_delete_is_also_where_the_clock_stands_still() {
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
    fn a_store_that_is_opened_at_once_goes_on_after_what_was_given_ahead_of_the_clock() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(1000 + AHEAD_MILLIS_MAX);
        assert_eq!(source.issue().as_millis(), 1000 + AHEAD_MILLIS_MAX);
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(1_000_000);
        assert_eq!(
            source.issue().as_millis(),
            1000 + AHEAD_MILLIS_MAX,
            "that was chosen by somebody"
        );
        let source = TimestampSource::new(Arc::new(StandsStill));
        source.compare_with_stored(900);
        assert_eq!(source.issue().as_millis(), 1000);
    }
}
