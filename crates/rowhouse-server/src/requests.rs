//! Counts the calls to a server and their rate per second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A server's call counters.
pub(crate) struct Requests {
    /// Shared with earlier, stopped servers with this number.
    ever: Arc<AtomicU64>,
    /// The calls to those servers.
    before: u64,
    rate: Mutex<Rate>,
}

/// Calls per second as last measured.
struct Rate {
    since: Instant,
    total: u64,
    per_second: u64,
}

/// The shortest interval that a rate is measured over: HBase's servers report every three seconds.
const RATE_WINDOW: Duration = Duration::from_secs(3);

impl Requests {
    pub(crate) fn new(now: Instant) -> Self {
        Self::after(Arc::default(), now)
    }

    /// Returns the counters for the server that takes the place of this one, which was stopped.
    pub(crate) fn succeeded(&self, now: Instant) -> Self {
        Self::after(Arc::clone(&self.ever), now)
    }

    fn after(ever: Arc<AtomicU64>, now: Instant) -> Self {
        let before = ever.load(Ordering::Relaxed);
        let rate = Rate { since: now, total: 0, per_second: 0 };
        Self { ever, before, rate: Mutex::new(rate) }
    }

    pub(crate) fn count(&self) {
        self.ever.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the calls since the server started.
    pub(crate) fn total(&self) -> u64 {
        self.ever() - self.before
    }

    /// Returns the calls since the process started, also calls to servers before it.
    pub(crate) fn ever(&self) -> u64 {
        self.ever.load(Ordering::Relaxed)
    }

    /// Returns the calls per second since the previous measurement, or the previous rate if
    /// [`RATE_WINDOW`] has not passed.
    pub(crate) fn per_second(&self, now: Instant) -> u64 {
        let mut rate = self.rate.lock();
        let passed = now.saturating_duration_since(rate.since);
        if passed >= RATE_WINDOW {
            let total = self.total();
            rate.per_second = (total - rate.total) * 1000 / passed.as_millis().max(1) as u64;
            (rate.since, rate.total) = (now, total);
        }
        rate.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_counted_anew_after_each_window() {
        let begin = Instant::now();
        let requests = Requests::new(begin);
        let count = |calls: u32| (0..calls).for_each(|_| requests.count());
        count(40);
        assert_eq!(requests.per_second(begin + Duration::from_secs(1)), 0);
        assert_eq!(requests.per_second(begin + Duration::from_secs(4)), 10);
        count(400);
        assert_eq!(requests.per_second(begin + Duration::from_secs(5)), 10);
        assert_eq!(requests.per_second(begin + Duration::from_secs(8)), 100);
        assert_eq!(requests.per_second(begin + Duration::from_secs(12)), 0);
        assert_eq!(requests.total(), 440);
    }

    #[test]
    fn the_calls_of_a_stopped_server_count_on_in_the_one_after_it() {
        let begin = Instant::now();
        let requests = Requests::new(begin);
        (0..40).for_each(|_| requests.count());
        let next = requests.succeeded(begin);
        (0..9).for_each(|_| next.count());
        assert_eq!((next.total(), next.ever()), (9, 49));
        assert_eq!(next.per_second(begin + Duration::from_secs(3)), 3);
    }
}
