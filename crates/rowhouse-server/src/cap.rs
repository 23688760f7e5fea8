//! Limits a region server's operations and bytes per second, so that a laptop shows the limits that
//! a cluster's servers have.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Request};

use crate::limits::{CAP_BURST, CAPPED_CALLS_WAITING_MAX};

/// A region server's limits. Calls are admitted in the order in which they came: each reserves a
/// share of the server's time, and starts when the shares before it have passed.
pub(crate) struct Cap {
    rates: Mutex<Rates>,
    waiting: AtomicUsize,
    /// Shared with the caps on earlier servers with this number.
    waits: Arc<CapWaits>,
}

/// Counts calls that a limit delayed or refused.
#[derive(Default)]
pub(crate) struct CapWaits {
    delayed: AtomicU64,
    /// The total delay, counted when delays begin.
    micros: AtomicU64,
    refused: AtomicU64,
}

impl CapWaits {
    /// Returns how many calls had to wait.
    pub(crate) fn delayed(&self) -> u64 {
        self.delayed.load(Ordering::Relaxed)
    }

    /// Returns the time that these calls had to wait.
    pub(crate) fn delay(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }

    /// Returns how many calls were refused because too many waited.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn add_delay(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.delayed.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

struct Rates {
    ops: Option<Rate>,
    bytes: Option<Rate>,
}

/// A limit, and when the use so far is paid off.
struct Rate {
    per_second: u64,
    paid: Instant,
}

impl Rate {
    fn new(per_second: u64) -> Self {
        Self { per_second: per_second.max(1), paid: Instant::now() }
    }

    /// Adds a use; returns when it may begin.
    fn reserve(&mut self, count: u64, now: Instant) -> Instant {
        // Time in which nothing was used is lost, except for a short burst.
        let begin = self.paid.max(now.checked_sub(CAP_BURST).unwrap_or(now));
        let micros = u128::from(count) * 1_000_000 / u128::from(self.per_second);
        let takes = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        self.paid = begin.checked_add(takes).unwrap_or(begin);
        begin
    }
}

/// When a call may start.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    Now,
    At(Instant),
    /// Too many calls wait.
    Refused,
}

impl Cap {
    /// Returns `None` without a limit. A limit of 0 counts as 1.
    pub(crate) fn new(ops_per_second: Option<u64>, bytes_per_second: Option<u64>) -> Option<Self> {
        if ops_per_second.is_none() && bytes_per_second.is_none() {
            return None;
        }
        let rates =
            Rates { ops: ops_per_second.map(Rate::new), bytes: bytes_per_second.map(Rate::new) };
        let waits = Arc::default();
        Some(Self { rates: Mutex::new(rates), waiting: AtomicUsize::new(0), waits })
    }

    /// Returns the limit of the server after one that was stopped. It goes on with that server's
    /// counts.
    pub(crate) fn continuing(self, before: &Self) -> Self {
        Self { waits: Arc::clone(&before.waits), ..self }
    }

    /// Returns how many calls wait now.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the counts for calls that had to wait.
    pub(crate) fn waits(&self) -> &CapWaits {
        &self.waits
    }

    /// Reserves what a call uses. A caller that has to wait does so by [`Cap::wait`].
    pub(crate) fn admit(&self, request: &Request, now: Instant) -> Admission {
        self.reserve(operations(request), bytes_of(request), now)
    }

    fn reserve(&self, ops: u64, bytes: u64, now: Instant) -> Admission {
        if ops == 0 {
            return Admission::Now;
        }
        let mut rates = self.rates.lock();
        let Rates { ops: ops_rate, bytes: bytes_rate } = &mut *rates;
        let is_late = [&*ops_rate, &*bytes_rate].into_iter().flatten().any(|rate| rate.paid > now);
        if is_late && self.waiting() >= CAPPED_CALLS_WAITING_MAX {
            self.waits.refused.fetch_add(1, Ordering::Relaxed);
            return Admission::Refused;
        }
        let ops_at = ops_rate.as_mut().map(|rate| rate.reserve(ops, now));
        let bytes_at = bytes_rate.as_mut().map(|rate| rate.reserve(bytes, now));
        match ops_at.max(bytes_at).filter(|&at| at > now) {
            None => Admission::Now,
            Some(at) => {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                self.waits.add_delay(at - now);
                Admission::At(at)
            }
        }
    }

    /// Waits until the instant in [`Admission::At`].
    pub(crate) async fn wait(&self, at: Instant) {
        // The wait also ends with the call's connection.
        let _ending = EndWait(self);
        tokio::time::sleep_until(at.into()).await;
    }

    /// Adds an answer's bytes to what later calls wait for.
    pub(crate) fn charge(&self, answer_bytes: usize) {
        if let Some(rate) = &mut self.rates.lock().bytes {
            rate.reserve(answer_bytes as u64, Instant::now());
        }
    }
}

/// Counts a call out that waited.
struct EndWait<'a>(&'a Cap);

impl Drop for EndWait<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// HBase's `HConstants.SYSTEMTABLE_QOS`.
const META_PRIORITY: u32 = 200;

fn bytes_of(request: &Request) -> u64 {
    (request.message.len() + request.cells.len()) as u64
}

/// Returns how many operations a call has; 0 for calls that are not limited.
fn operations(request: &Request) -> u64 {
    match request.method {
        // HBase, too, has separate handlers for calls about hbase:meta.
        _ if request.priority >= META_PRIORITY => 0,
        Method::Get | Method::Mutate | Method::Scan | Method::ExecService => 1,
        Method::Multi => match request.message::<proto::MultiRequest>() {
            Ok(multi) => {
                let actions = multi.region_action.iter().map(|region| region.action.len() as u64);
                actions.sum::<u64>().max(1)
            }
            // The call is refused later.
            Err(_) => 1,
        },
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(cap: &Cap, ops: u64, bytes: u64, now: Instant) -> Option<Duration> {
        match cap.reserve(ops, bytes, now) {
            Admission::Now => Some(Duration::ZERO),
            Admission::At(at) => Some(at - now),
            Admission::Refused => None,
        }
    }

    #[test]
    fn calls_beyond_a_burst_are_spread_at_the_rate() {
        let cap = Cap::new(Some(1000), None).unwrap();
        let now = Instant::now() + Duration::from_secs(1);
        let waits: Vec<_> = (0..70).map(|_| after(&cap, 1, 1 << 30, now).unwrap()).collect();
        let burst = CAP_BURST.as_millis() as usize;
        assert!(waits[..=burst].iter().all(Duration::is_zero));
        assert_eq!(waits[69], Duration::from_millis(69 - burst as u64));
        // An action in a multi is an operation.
        assert_eq!(after(&cap, 100, 0, now), Some(Duration::from_millis(70 - burst as u64)));
        assert_eq!(after(&cap, 1, 0, now), Some(Duration::from_millis(170 - burst as u64)));
        // A second without calls gives no more than a burst.
        let later = now + Duration::from_secs(1);
        let waits = (0..70).filter(|_| after(&cap, 1, 0, later).unwrap().is_zero()).count();
        assert_eq!(waits, burst + 1);
    }

    #[test]
    fn bytes_of_answers_delay_later_calls() {
        let cap = Cap::new(None, Some(1_000_000)).unwrap();
        let now = Instant::now();
        assert_eq!(after(&cap, 1, 1000, now), Some(Duration::ZERO));
        cap.charge(500_000);
        let wait = after(&cap, 1, 1000, now).unwrap();
        assert!(wait > Duration::from_millis(400) && wait < Duration::from_millis(600), "{wait:?}");
    }

    #[test]
    fn only_a_full_queue_refuses() {
        let cap = Cap::new(Some(1), None).unwrap();
        let now = Instant::now();
        assert_eq!(cap.reserve(1, 0, now), Admission::Now);
        for _ in 0..CAPPED_CALLS_WAITING_MAX {
            assert!(matches!(cap.reserve(1, 0, now), Admission::At(_)));
        }
        assert_eq!(cap.reserve(1, 0, now), Admission::Refused);
        drop(EndWait(&cap));
        assert!(matches!(cap.reserve(1, 0, now), Admission::At(_)));
        // Calls that are no operations are never limited.
        assert_eq!(cap.reserve(0, 1 << 40, now), Admission::Now);
    }

    #[test]
    fn waits_are_counted_and_go_on_in_the_server_after() {
        let cap = Cap::new(Some(1), None).unwrap();
        let now = Instant::now();
        let delays = (0..=CAPPED_CALLS_WAITING_MAX).map(|_| after(&cap, 1, 0, now).unwrap());
        let micros: u128 = delays.map(|delay| delay.as_micros()).sum();
        assert_eq!(after(&cap, 1, 0, now), None);
        assert_eq!(cap.waits().delay().as_micros(), micros);
        let next = Cap::new(Some(1), None).unwrap().continuing(&cap);
        let counts = |cap: &Cap| (cap.waiting(), cap.waits().delayed(), cap.waits().refused());
        let waiting = CAPPED_CALLS_WAITING_MAX;
        assert_eq!(counts(&cap), (waiting, waiting as u64, 1));
        assert_eq!(counts(&next), (0, waiting as u64, 1));
    }
}
