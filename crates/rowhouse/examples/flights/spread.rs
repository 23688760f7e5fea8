//! What a key costs by itself: its bytes, and where it sends the writes of one moment.

use std::collections::BTreeMap;
use std::fmt;

use rowhouse::{KeySchema, Result};

use super::flight::Flight;

const REGIONS: usize = 4;

/// How long the keys of flights are, and how evenly the regions of their table are written to.
pub(crate) struct Spread {
    /// Of all keys together.
    bytes: usize,
    /// Flights in the region that gets most of them, hour by hour.
    busiest: usize,
    flights: usize,
}

impl Spread {
    /// Regions are those of a table that has grown: each has as many of the flights.
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

    /// How much of an hour's flights one region gets, of 1: a quarter at best.
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
