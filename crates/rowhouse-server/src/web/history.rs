//! Samples from the last hour, kept in memory, which pages draw.
//!
//! A sample has counters as they are at that time; a page shows differences between neighbours. At
//! most [`SAMPLES_MAX`] samples and [`WEB_LISTED_MAX`] tables are retained: about half a megabyte
//! with few tables, five megabytes with 1,000.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_format::rpc::Method;
use rowhouse_model::TableName;
use rowhouse_store::{RegionRequests, StoreUsage};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::state::Web;
use crate::call_metrics::{BUCKET_MICROS, Calls};
use crate::cluster::Cluster;
use crate::limits::WEB_LISTED_MAX;
use crate::metrics::Totals;

/// The time between two samples.
pub(super) const SAMPLE_INTERVAL: Duration = Duration::from_secs(30);
/// One more than there are differences in an hour.
pub(super) const SAMPLES_MAX: usize = 121;

/// The samples, oldest first.
#[derive(Default)]
pub(super) struct History {
    samples: Mutex<VecDeque<Sample>>,
    tables: Mutex<HashMap<TableName, VecDeque<TableSample>>>,
}

/// The server's counters at a time.
pub(super) struct Sample {
    at: Instant,
    /// Methods that were called at least once, in the order of [`Method::ALL`].
    calls: Vec<(Method, Latencies)>,
    /// Rows read from all tables.
    reads: u64,
    /// Mutations.
    writes: u64,
    cpu: Duration,
    /// `None` where the operating system does not say.
    pub(super) resident_bytes: Option<u64>,
    pub(super) file_bytes: u64,
    pub(super) usage: StoreUsage,
}

/// Requests to a table until a time.
#[derive(Clone, Copy)]
struct TableSample {
    at: Instant,
    reads: u64,
    writes: u64,
}

/// The counts of calls by latency.
#[derive(Clone, Default)]
pub(super) struct Latencies {
    buckets: [u64; BUCKET_MICROS.len() + 1],
    errors: u64,
}

impl Latencies {
    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors
    }

    fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        since.errors = since.errors.saturating_sub(before.errors);
        for (count, before) in since.buckets.iter_mut().zip(before.buckets) {
            *count = count.saturating_sub(before);
        }
        since
    }

    fn add(&mut self, other: &Self) {
        self.errors += other.errors;
        for (count, more) in self.buckets.iter_mut().zip(other.buckets) {
            *count += more;
        }
    }

    /// Returns the latency in microseconds that this share of the calls does not exceed, evenly
    /// divided inside a bucket; `None` without calls. Above the last bound it is that bound.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = share * count as f64;
        let mut below = 0;
        for (bucket, &calls) in self.buckets.iter().enumerate() {
            if calls > 0 && (below + calls) as f64 >= rank {
                let low = bucket.checked_sub(1).map_or(0, |it| BUCKET_MICROS[it]) as f64;
                let high = BUCKET_MICROS.get(bucket).map_or(low, |&it| it as f64);
                let inside = ((rank - below as f64) / calls as f64).clamp(0.0, 1.0);
                return Some(low + (high - low) * inside);
            }
            below += calls;
        }
        None
    }
}

/// What happened between two samples.
pub(super) struct Change {
    pub(super) seconds: f64,
    pub(super) calls: Vec<(Method, Latencies)>,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// CPU time by elapsed time: 1 is a core.
    pub(super) cores: f64,
    /// The share of block cache lookups that found the block; `None` without lookups.
    pub(super) hit_share: Option<f64>,
}

impl Change {
    fn between(before: &Sample, after: &Sample) -> Self {
        let seconds = after.at.saturating_duration_since(before.at).as_secs_f64().max(0.001);
        let hits = after.usage.block_cache_hits.saturating_sub(before.usage.block_cache_hits);
        let misses = after.usage.block_cache_misses.saturating_sub(before.usage.block_cache_misses);
        let lookups = hits + misses;
        let before_of =
            |method| before.calls.iter().find(|(it, _)| *it == method).map(|(_, it)| it);
        let calls = after.calls.iter().map(|(method, calls)| match before_of(*method) {
            Some(before) => (*method, calls.since(before)),
            None => (*method, calls.clone()),
        });
        Self {
            seconds,
            calls: calls.filter(|(_, calls)| calls.count() > 0).collect(),
            reads: after.reads.saturating_sub(before.reads),
            writes: after.writes.saturating_sub(before.writes),
            cores: after.cpu.saturating_sub(before.cpu).as_secs_f64() / seconds,
            hit_share: (lookups > 0).then(|| hits as f64 / lookups as f64),
        }
    }

    /// Returns a count per second.
    pub(super) fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds
    }

    /// Returns the calls to all methods.
    pub(super) fn all_calls(&self) -> Latencies {
        let mut all = Latencies::default();
        self.calls.iter().for_each(|(_, calls)| all.add(calls));
        all
    }

    /// Returns calls per second.
    pub(super) fn calls_per_second(&self, calls: &Latencies) -> f64 {
        self.per_second(calls.count())
    }
}

impl History {
    /// Takes a sample.
    pub(super) fn sample(&self, cluster: &Cluster, at: Instant) {
        let store = &cluster.store;
        let requests = store.requests();
        let calls = Calls::sum(cluster.ports_ever().iter().map(|server| &*server.calls));
        let calls = calls.called().map(|(method, calls)| {
            let mut latencies = Latencies { errors: calls.errors(), ..Latencies::default() };
            let buckets = latencies.buckets.iter_mut().zip(calls.buckets());
            buckets.for_each(|(to, count)| *to = count);
            (method, latencies)
        });
        let tables = store.tables();
        let sample = Sample {
            at,
            calls: calls.collect(),
            reads: requests.all.reads,
            writes: requests.all.writes,
            cpu: process_cpu(),
            resident_bytes: resident_bytes(),
            file_bytes: Totals::of(tables.iter().flat_map(|table| table.regions())).size.file_bytes,
            usage: store.usage(),
        };
        push(&mut self.samples.lock(), sample);
        let listed = requests.tables.into_iter().take(WEB_LISTED_MAX);
        add_samples(&mut self.tables.lock(), listed.collect(), at);
    }

    /// Returns the newest sample's usage.
    pub(super) fn usage(&self) -> StoreUsage {
        self.samples.lock().back().map(|sample| sample.usage).unwrap_or_default()
    }

    /// Returns a value of each sample, oldest first.
    pub(super) fn values(&self, value: impl Fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
        self.samples.lock().iter().map(value).collect()
    }

    /// Returns the changes between neighbours, oldest first.
    pub(super) fn changes(&self) -> Vec<Change> {
        let samples = self.samples.lock();
        let pairs = samples.iter().zip(samples.iter().skip(1));
        pairs.map(|(before, after)| Change::between(before, after)).collect()
    }

    /// Returns what happened in the last so many intervals, or in fewer if there are fewer; `None`
    /// before the second sample.
    pub(super) fn recent(&self, intervals: usize) -> Option<Change> {
        let samples = self.samples.lock();
        let last = samples.len().checked_sub(1)?;
        let first = last.saturating_sub(intervals);
        (first < last).then(|| Change::between(&samples[first], &samples[last]))
    }

    /// Returns reads and writes per second of a table, oldest first.
    pub(super) fn of_table(&self, name: &TableName) -> [Vec<Option<f64>>; 2] {
        let tables = self.tables.lock();
        let Some(samples) = tables.get(name) else { return [Vec::new(), Vec::new()] };
        let rates = |count: fn(&TableSample) -> u64| {
            let pairs = samples.iter().zip(samples.iter().skip(1));
            let rates = pairs.map(|(before, after)| {
                let seconds = after.at.saturating_duration_since(before.at).as_secs_f64();
                Some(count(after).saturating_sub(count(before)) as f64 / seconds.max(0.001))
            });
            rates.collect()
        };
        [rates(|it| it.reads), rates(|it| it.writes)]
    }
}

/// Adds a sample for each listed table, and removes the series of all others.
fn add_samples(
    series: &mut HashMap<TableName, VecDeque<TableSample>>,
    listed: BTreeMap<TableName, RegionRequests>,
    at: Instant,
) {
    series.retain(|name, _| listed.contains_key(name));
    for (name, requests) in listed {
        let sample = TableSample { at, reads: requests.reads, writes: requests.writes };
        push(series.entry(name).or_default(), sample);
    }
}

fn push<T>(samples: &mut VecDeque<T>, sample: T) {
    if samples.len() == SAMPLES_MAX {
        samples.pop_front();
    }
    samples.push_back(sample);
}

/// Takes samples until the server stops.
pub(crate) async fn run(web: Web, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(SAMPLE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !*stop.borrow() {
        tokio::select! {
            _ = ticks.tick() => {
                let web = web.clone();
                let sample = move || web.history.sample(&web.context.cluster, Instant::now());
                if let Err(error) = tokio::task::spawn_blocking(sample).await {
                    tracing::error!(%error, "no sample was taken for the web pages");
                }
            }
            _ = stop.changed() => {}
        }
    }
}

/// Returns the CPU time of this process.
fn process_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns the bytes of this process in physical memory. Only Linux says.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_in_the_bucket_of_their_rank() {
        let mut calls = Latencies::default();
        assert_eq!(calls.quantile(0.5), None);
        // 90 calls in 50 to 100 µs, 10 in 1 to 2.5 ms.
        calls.buckets[1] = 90;
        calls.buckets[5] = 10;
        assert_eq!(calls.quantile(0.45), Some(75.0));
        assert_eq!(calls.quantile(0.9), Some(100.0));
        assert_eq!(calls.quantile(0.95), Some(1750.0));
        // The last bucket has no upper bound.
        calls.buckets[BUCKET_MICROS.len()] = 1_000;
        assert_eq!(calls.quantile(0.99), Some(10_000_000.0));
    }

    #[test]
    fn series_of_tables_that_are_not_listed_are_removed() {
        let name = |n: usize| TableName::parse(&format!("t{n:02}")).unwrap();
        let mut series = HashMap::new();
        let at = Instant::now();
        for first in 0..3 {
            // Each time the first listed table is dropped.
            let listed = (first..first + 4).map(|n| (name(n), RegionRequests::default()));
            add_samples(&mut series, listed.collect(), at);
        }
        let mut lens: Vec<_> = series.iter().map(|(name, samples)| (name, samples.len())).collect();
        lens.sort_unstable();
        assert_eq!(lens, [(&name(2), 3), (&name(3), 3), (&name(4), 2), (&name(5), 1)]);
    }

    #[test]
    fn the_oldest_samples_leave() {
        let mut samples = VecDeque::new();
        (0..SAMPLES_MAX + 3).for_each(|it| push(&mut samples, it));
        assert_eq!((samples.len(), samples[0]), (SAMPLES_MAX, 3));
    }
}
