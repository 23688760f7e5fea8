//! Measures the region load.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_store::{Region, Store};

use crate::limits::{LOAD_WINDOW, MOVED_REGION_REST};

/// Each region's load, averaged over [`LOAD_WINDOW`]: requests per second, where each
/// [`BYTES_PER_REQUEST`] cell bytes count as one more.
#[derive(Default)]
pub(crate) struct LoadMeter {
    regions: Mutex<HashMap<String, Measured>>,
}

struct Measured {
    work: u64,
    at: Instant,
    per_second: f64,
    moved: Option<Instant>,
}

impl LoadMeter {
    /// Measures all regions. Regions that are gone are forgotten.
    pub(crate) fn sample(&self, store: &Store, now: Instant) {
        let mut measured = self.regions.lock();
        let mut before = std::mem::take(&mut *measured);
        let tables = store.tables();
        for region in tables.iter().flat_map(|table| table.regions()) {
            let work = work(region);
            let name = &region.name().encoded;
            let next = match before.remove(name) {
                Some(last) => last.next(work, now),
                None => Measured { work, at: now, per_second: 0.0, moved: None },
            };
            measured.insert(name.clone(), next);
        }
    }

    /// Returns a region's average load per second.
    pub(crate) fn per_second(&self, region: &Region) -> f64 {
        self.regions.lock().get(&region.name().encoded).map_or(0.0, |it| it.per_second)
    }

    /// Notes that the balancer moved a region.
    pub(crate) fn note_move(&self, region: &Region, now: Instant) {
        if let Some(measured) = self.regions.lock().get_mut(&region.name().encoded) {
            measured.moved = Some(now);
        }
    }

    /// Returns true if the balancer moved the region less than [`MOVED_REGION_REST`] ago.
    pub(crate) fn is_resting(&self, region: &Region, now: Instant) -> bool {
        let regions = self.regions.lock();
        let moved = regions.get(&region.name().encoded).and_then(|it| it.moved);
        moved.is_some_and(|moved| now.saturating_duration_since(moved) < MOVED_REGION_REST)
    }
}

impl Measured {
    fn next(self, work: u64, now: Instant) -> Self {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        if seconds == 0.0 {
            return self;
        }
        let rate = work.saturating_sub(self.work) as f64 / seconds;
        // The last interval's weight in an exponential average.
        let weight = 1.0 - (-seconds / LOAD_WINDOW.as_secs_f64()).exp();
        let per_second = self.per_second + weight * (rate - self.per_second);
        Self { work, at: now, per_second, ..self }
    }
}

/// Cell bytes that are as much work as a request: as many as in a small block.
const BYTES_PER_REQUEST: u64 = 4 << 10;

/// Returns a region's requests since the store was opened, and their bytes as requests.
fn work(region: &Region) -> u64 {
    let requests = region.requests();
    let bytes = requests.read_bytes.saturating_add(requests.written_bytes);
    requests.reads + requests.filtered_reads + requests.writes + bytes / BYTES_PER_REQUEST
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rate_is_averaged_over_a_window() {
        let begin = Instant::now();
        let mut measured = Measured { work: 0, at: begin, per_second: 0.0, moved: None };
        for second in 1..=300 {
            measured = measured.next(second * 100, begin + Duration::from_secs(second));
            assert!(measured.per_second <= 100.0);
        }
        assert!(measured.per_second > 99.0);
        measured = measured.next(30_000, begin + LOAD_WINDOW + Duration::from_secs(300));
        assert!((30.0..40.0).contains(&measured.per_second), "{}", measured.per_second);
    }
}
