//! Where timestamps come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_model::Timestamp;

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
    /// The clock is behind what was issued, and that was said.
    behind: AtomicBool,
}

/// How far behind the clock may be before it is said: clocks are adjusted by a little all the time.
const BEHIND_MILLIS_MAX: i64 = 1_000;

/// How far timestamps run ahead of the clock before who needs another waits.
const AHEAD_MILLIS_MAX: i64 = 5;

impl TimestampSource {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: AtomicI64::new(0), behind: AtomicBool::new(false) }
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

    /// As [`TimestampSource::issue`], later than `before`. That runs ahead of the clock where the millisecond is used up,
    /// by no more than a few: then it waits for the clock, for a while.
    pub(crate) fn issue_behind(&self, before: Option<Timestamp>) -> Timestamp {
        let issued = self.issue();
        match before {
            Some(before) if issued <= before => self.issue_later(before),
            _ => issued,
        }
    }

    #[cold]
    fn issue_later(&self, before: Timestamp) -> Timestamp {
        let wanted = before.as_millis().saturating_add(1);
        let is_far = || wanted - self.clock.now_millis() > AHEAD_MILLIS_MAX;
        // The clock may have been set back, or stand still.
        for _ in 0..AHEAD_MILLIS_MAX {
            if !is_far() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.issue_from(before.saturating_add(1))
    }

    /// What was written has a timestamp ahead of the clock, since the cell it took the place of had the last. By a few
    /// milliseconds later writes keep up with it, so that a delete covers what came before it. Not with what is further ahead:
    /// whoever chose that timestamp meant the future, or counts faster than the clock does.
    pub(crate) fn keep_up(&self, with: Timestamp) {
        if with.as_millis() - self.clock.now_millis() <= AHEAD_MILLIS_MAX {
            self.last.fetch_max(with.as_millis(), Ordering::Relaxed);
        }
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

    /// Says so when the clock is behind what is stored: new writes are then hidden behind old ones.
    pub(crate) fn compare_with_stored(&self, newest_millis: i64) {
        let now = self.clock.now_millis();
        if newest_millis > now {
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

    #[test]
    fn what_is_to_be_later_than_a_delete_is_also_where_the_clock_stands_still() {
        let source = TimestampSource::new(Arc::new(StandsStill));
        assert_eq!(source.issue_behind(None).as_millis(), 1000);
        assert_eq!(source.issue_behind(Some(Timestamp::MIN)).as_millis(), 1000);
        for step in 1..20 {
            assert_eq!(source.issue_behind(Some(source.issue())).as_millis(), 1000 + step);
        }
    }
}
