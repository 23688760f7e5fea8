//! Counts calls and their latencies, by method.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rowhouse_format::rpc::Method;

/// Upper bounds for the latency buckets, in microseconds. Longer calls have a separate bucket.
pub(crate) const BUCKET_MICROS: [u64; 14] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_000_000,
    10_000_000,
];

/// The calls that a region server has answered, including the calls to earlier servers with this
/// number.
pub(crate) struct Calls {
    methods: Box<[MethodCalls]>,
}

/// The calls to one method, or to several.
#[derive(Default)]
pub(crate) struct MethodCalls {
    errors: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKET_MICROS.len() + 1],
}

impl Default for Calls {
    fn default() -> Self {
        Self { methods: Method::ALL.iter().map(|_| MethodCalls::default()).collect() }
    }
}

impl Calls {
    /// Counts an answered call, which took `latency` from arrival.
    pub(crate) fn count(&self, method: Method, latency: Duration, is_error: bool) {
        let calls = &self.methods[method as usize];
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKET_MICROS.partition_point(|&bound| bound < micros);
        calls.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        calls.micros.fetch_add(micros, Ordering::Relaxed);
        if is_error {
            calls.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the sum over several servers' calls.
    pub(crate) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let sum = Self::default();
        for (to, from) in all.flat_map(|calls| sum.methods.iter().zip(&calls.methods)) {
            to.add(from);
        }
        sum
    }

    /// Returns the sum over all methods' calls.
    pub(crate) fn all(&self) -> MethodCalls {
        let sum = MethodCalls::default();
        self.methods.iter().for_each(|calls| sum.add(calls));
        sum
    }

    /// The methods that were called at least once.
    pub(crate) fn called(&self) -> impl Iterator<Item = (Method, &MethodCalls)> {
        let methods = Method::ALL.iter().copied().zip(&self.methods);
        methods.filter(|(_, calls)| calls.buckets.iter().any(|bucket| load(bucket) > 0))
    }
}

impl MethodCalls {
    fn add(&self, other: &Self) {
        let counters = self.counters().zip(other.counters());
        counters.for_each(|(to, from)| _ = to.fetch_add(load(from), Ordering::Relaxed));
    }

    fn counters(&self) -> impl Iterator<Item = &AtomicU64> {
        [&self.errors, &self.micros].into_iter().chain(&self.buckets)
    }

    /// Calls answered with an exception.
    pub(crate) fn errors(&self) -> u64 {
        load(&self.errors)
    }

    /// The latency sum.
    pub(crate) fn latency(&self) -> Duration {
        Duration::from_micros(load(&self.micros))
    }

    /// Calls in each bucket, not counting the calls in smaller buckets.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(load)
    }
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_in_the_first_bucket_that_holds_its_latency() {
        let calls = Calls::default();
        for (micros, is_error) in [(50, false), (51, false), (100, true), (99_000_000, false)] {
            calls.count(Method::Get, Duration::from_micros(micros), is_error);
        }
        let called: Vec<_> = calls.called().collect();
        let [(Method::Get, get)] = &called[..] else { panic!("{} methods", called.len()) };
        let buckets: Vec<u64> = get.buckets().collect();
        assert_eq!((&buckets[..3], buckets.last()), (&[1, 2, 0][..], Some(&1)));
        assert_eq!(get.errors(), 1);
        assert_eq!(get.latency(), Duration::from_micros(99_000_201));
    }

    #[test]
    fn the_calls_of_several_servers_are_added_up() {
        let servers = [Calls::default(), Calls::default()];
        for (calls, micros) in servers.iter().zip([40, 60]) {
            calls.count(Method::Get, Duration::from_micros(micros), true);
        }
        let sum = Calls::sum(servers.iter());
        let called: Vec<_> = sum.called().collect();
        let [(Method::Get, get)] = &called[..] else { panic!("{} methods", called.len()) };
        assert_eq!(get.buckets().take(2).collect::<Vec<_>>(), [1, 1]);
        assert_eq!((get.errors(), get.latency()), (2, Duration::from_micros(100)));
    }

    #[test]
    fn each_method_has_its_own_counters() {
        for (index, method) in Method::ALL.iter().enumerate() {
            assert_eq!(*method as usize, index);
        }
    }
}
