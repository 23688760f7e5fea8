//! A table's regions, as they divide while rows are written.

use rowhouse_model::Bytes;

use super::random::Random;

/// How many keys a region retains to find the median.
const SAMPLED: usize = 256;

/// A model for one table's regions: it takes the row keys in the order in which they are written,
/// counts the writes in each region, and divides regions that have too many rows at their median
/// key. Regions divide between two intervals only.
///
/// ```
/// use rowhouse_schema::RegionModel;
///
/// // Keys that grow go to the last region, however many there are.
/// let mut regions = RegionModel::new([], 100, 4);
/// for interval in 0..100u32 {
///     for number in 0..50 {
///         regions.write((interval * 50 + number).to_be_bytes().to_vec().into());
///     }
///     assert_eq!(regions.end_interval().busiest_region, 1.0);
/// }
/// assert!(regions.count() >= 50);
/// ```
#[derive(Clone, Debug)]
pub struct RegionModel {
    /// In key order; the first starts with the empty key.
    regions: Vec<Region>,
    rows_max: u64,
    servers: usize,
    random: Random,
}

/// The largest write shares in an interval, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BusiestShares {
    /// The share of the region with the most writes.
    pub busiest_region: f64,
    /// The share of the server with the most writes.
    pub busiest_server: f64,
    /// The writes in the interval.
    pub writes: u64,
}

#[derive(Clone, Debug)]
struct Region {
    start: Bytes,
    server: usize,
    rows: u64,
    /// A sample of the region's keys. It is even until the region is divided; both parts then fill
    /// it up with the next keys.
    keys: Vec<Bytes>,
    /// The writes in the interval.
    writes: u64,
}

impl RegionModel {
    /// Begins with regions that start at the empty key and at these keys, which are in order. They
    /// are assigned to `servers` in turn. A region divides when it has more than `rows_max` rows.
    pub fn new(splits: impl IntoIterator<Item = Bytes>, rows_max: u64, servers: usize) -> Self {
        let rows_max = rows_max.max(2);
        let servers = servers.max(1);
        let starts = [Bytes::new()].into_iter().chain(splits);
        let region = |(at, start)| Region {
            start,
            server: at % servers,
            rows: 0,
            keys: Vec::new(),
            writes: 0,
        };
        let regions = starts.enumerate().map(region).collect();
        Self { regions, rows_max, servers, random: Random::new(&[rows_max]) }
    }

    /// Writes a row.
    pub fn write(&mut self, key: Bytes) {
        let at = self.regions.partition_point(|region| region.start <= key).saturating_sub(1);
        let region = &mut self.regions[at];
        region.rows += 1;
        region.writes += 1;
        if region.keys.len() < SAMPLED {
            region.keys.push(key);
        } else {
            let place = self.random.below(region.rows) as usize;
            if let Some(sampled) = region.keys.get_mut(place) {
                *sampled = key;
            }
        }
    }

    /// Ends an interval: returns the largest shares, and divides regions.
    pub fn end_interval(&mut self) -> BusiestShares {
        let mut servers = vec![0; self.servers];
        let mut all = 0;
        let mut most = 0;
        for region in &mut self.regions {
            let writes = std::mem::take(&mut region.writes);
            servers[region.server] += writes;
            all += writes;
            most = most.max(writes);
        }
        self.divide_all();
        let share = |part: u64| part as f64 / all.max(1) as f64;
        BusiestShares {
            busiest_region: share(most),
            busiest_server: share(servers.into_iter().max().unwrap_or(0)),
            writes: all,
        }
    }

    fn divide_all(&mut self) {
        let mut at = 0;
        while at < self.regions.len() {
            let is_divided = self.regions[at].rows > self.rows_max && self.divide(at);
            // The lower part may still have too many.
            at += usize::from(!is_divided);
        }
    }

    /// Divides a region at the median key; returns true if it did. A region whose median is also
    /// the least sampled key stays whole: at least half of the sample is that key.
    fn divide(&mut self, at: usize) -> bool {
        let server = self.emptiest_server();
        let region = &mut self.regions[at];
        region.keys.sort_unstable();
        let median = region.keys[region.keys.len() / 2].clone();
        let below = region.keys.partition_point(|key| *key < median);
        if below == 0 || median == region.start {
            return false;
        }
        let keys = region.keys.split_off(below);
        let lower = region.rows * below as u64 / (below + keys.len()) as u64;
        let rows = region.rows - lower;
        region.rows = lower;
        self.regions.insert(at + 1, Region { start: median, server, rows, keys, writes: 0 });
        true
    }

    /// Returns the server with the fewest regions.
    fn emptiest_server(&self) -> usize {
        let mut counts = vec![0; self.servers];
        self.regions.iter().for_each(|region| counts[region.server] += 1);
        (0..self.servers).min_by_key(|server| counts[*server]).unwrap_or(0)
    }

    /// Returns the first key of each region but the first.
    pub fn splits(&self) -> impl Iterator<Item = &Bytes> {
        self.regions.iter().skip(1).map(|region| &region.start)
    }

    /// Returns how many regions there are.
    pub fn count(&self) -> usize {
        self.regions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::random::mixed;

    #[test]
    fn keys_in_no_order_are_spread_over_all_regions() {
        let mut regions = RegionModel::new([], 1000, 4);
        let mut shares = Vec::new();
        for interval in 0..20u64 {
            let numbers = (0..1000).map(|number| mixed(interval * 1000 + number));
            numbers.for_each(|it| regions.write(it.to_be_bytes().to_vec().into()));
            shares.push(regions.end_interval());
        }
        assert_eq!(shares[0].busiest_region, 1.0);
        let last = shares[19];
        assert!(last.busiest_region < 0.15 && last.busiest_server < 0.5, "{last:?}");
        assert!((16..60).contains(&regions.count()), "{}", regions.count());
        assert!(regions.splits().is_sorted());
    }

    #[test]
    fn a_single_key_is_never_divided() {
        let mut regions = RegionModel::new([], 10, 2);
        (0..1000).for_each(|_| regions.write("one".into()));
        assert_eq!(regions.end_interval().busiest_region, 1.0);
        assert!(regions.count() <= 2, "{}", regions.count());
    }
}
