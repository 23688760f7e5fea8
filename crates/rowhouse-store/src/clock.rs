//! Where timestamps come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
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
}

impl TimestampSource {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: AtomicI64::new(0) }
    }

    /// The timestamp of a write that is being taken now.
    pub(crate) fn issue(&self) -> Timestamp {
        let now = self.clock.now_millis();
        let issued = self.last.fetch_max(now, Ordering::Relaxed).max(now);
        Timestamp::from_millis(issued).unwrap_or(Timestamp::MIN)
    }

    /// The wall clock, for judging what has expired.
    pub(crate) fn now_millis(&self) -> i64 {
        self.clock.now_millis()
    }
}
