//! Where timestamps come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

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
