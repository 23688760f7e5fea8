//! What a key itself costs: the bytes, and how concurrent writes are distributed over regions.

use std::collections::BTreeMap;
use std::fmt;

use rowhouse::Result;
use rowhouse::key::KeySchema;

use super::flight::Flight;

const REGIONS: usize = 4;

/// How long the flights' keys are, and how their writes are distributed over regions.
pub(crate) struct Spread {
    /// Total bytes in all keys.
    bytes: usize,
    /// The flights in an hour's busiest region, summed over all hours.
    busiest: usize,
    flights: usize,
}

impl Spread {
    /// Measures a schema with the regions in a grown table, which hold equally many flights.
    pub(crate) fn of(schema: &KeySchema, flights: &[Flight]) -> Result<Self> {
        let keys = flights.iter().map(|flight| schema.encode(&flight.values(schema).0));
        let keys: Vec<_> = keys.collect::<Result<_>>()?;
        let mut sorted: Vec<_> = keys.iter().collect();
        sorted.sort_unstable();
        let starts = [1, 2, 3].map(|nth| sorted[nth * sorted.len() / REGIONS]);
        let mut hours: BTreeMap<i64, [usize; REGIONS]> = BTreeMap::new();
        for (key, flight) in keys.iter().zip(flights) {
            let region = starts.partition_point(|start| *start <= key);
            hours.entry(flight.hour()).or_default()[region] += 1;
        }
        let busiest = hours.values().filter_map(|regions| regions.iter().max()).sum();
        Ok(Self { bytes: keys.iter().map(|key| key.len()).sum(), busiest, flights: keys.len() })
    }

    /// Returns the share of an hour's flights that go to one region; a quarter is the optimum.
    pub(crate) fn hottest(&self) -> f64 {
        self.busiest as f64 / self.flights as f64
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes as f64 / self.flights as f64;
        let percent = 100.0 * self.hottest();
        write!(f, "bytes: {bytes:.0}, to the busiest region: {percent:.0} %")
    }
}
