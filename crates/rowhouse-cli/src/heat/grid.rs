//! The columns of a report over one set of key ranges.

use std::collections::BTreeMap;

use rowhouse::Bytes;
use rowhouse::admin::{HeatColumn, HeatReport};

/// The most ranges of a grid.
const RANGES_MAX: usize = 128;

/// Requests by time and key range. The ranges are the same at all times.
pub(super) struct Grid {
    /// The first key of each range, in order. The first one is empty.
    pub(super) starts: Vec<Bytes>,
    /// For each column of the report, the requests of each range.
    pub(super) columns: Vec<Vec<f64>>,
}

impl Grid {
    pub(super) fn new(report: &HeatReport) -> Self {
        let starts = starts(report);
        let columns = report.columns.iter().map(|column| requests(column, &starts)).collect();
        Self { starts, columns }
    }

    /// Returns the first key of a range, and that of the next one.
    pub(super) fn range(&self, range: usize) -> (Bytes, Option<Bytes>) {
        (self.starts[range].clone(), self.starts.get(range + 1).cloned())
    }

    /// Returns the ranges with the most requests, and their shares, the hottest first.
    pub(super) fn hottest(&self, count: usize) -> Vec<(usize, f64)> {
        let mut sums = vec![0.0; self.starts.len()];
        for (range, requests) in self.columns.iter().flat_map(|column| column.iter().enumerate()) {
            sums[range] += requests;
        }
        let total: f64 = sums.iter().sum();
        let mut hottest: Vec<_> =
            sums.into_iter().enumerate().filter(|(_, requests)| *requests >= 0.5).collect();
        hottest.sort_by(|a, b| b.1.total_cmp(&a.1));
        hottest.truncate(count);
        hottest.into_iter().map(|(range, requests)| (range, requests / total)).collect()
    }
}

/// Returns the bounds of all columns, or so many of them that ranges have similar loads.
fn starts(report: &HeatReport) -> Vec<Bytes> {
    let mut loads: BTreeMap<Bytes, u64> = BTreeMap::from([(Bytes::new(), 0)]);
    for bucket in report.columns.iter().flat_map(|column| &column.buckets) {
        *loads.entry(bucket.start.clone()).or_default() += bucket.reads + bucket.writes;
    }
    if loads.len() <= RANGES_MAX {
        return loads.into_keys().collect();
    }
    let total: u64 = loads.values().sum();
    let wanted = total.div_ceil(RANGES_MAX as u64 - 1).max(1);
    let (mut starts, mut sum) = (Vec::new(), 0);
    for (start, load) in loads {
        if starts.is_empty() || sum >= wanted {
            starts.push(start);
            sum = 0;
        }
        sum += load;
    }
    starts
}

/// Returns the requests of a column in each range. A bucket that covers several ranges is taken to
/// have its requests evenly in them.
fn requests(column: &HeatColumn, starts: &[Bytes]) -> Vec<f64> {
    let mut requests = vec![0.0; starts.len()];
    for (at, bucket) in column.buckets.iter().enumerate() {
        let index = |key: &Bytes| starts.partition_point(|start| start <= key).saturating_sub(1);
        let first = index(&bucket.start);
        let end = match column.buckets.get(at + 1) {
            Some(next) => starts.partition_point(|start| *start < next.start),
            None => starts.len(),
        };
        let end = end.max(first + 1);
        let each = (bucket.reads + bucket.writes) as f64 / (end - first) as f64;
        requests[first..end].iter_mut().for_each(|it| *it += each);
    }
    requests
}

#[cfg(test)]
mod tests {
    use rowhouse::admin::HeatBucket;

    use super::*;

    fn column(buckets: &[(&str, u64)]) -> HeatColumn {
        let bucket = |&(start, reads): &(&str, u64)| HeatBucket {
            start: Bytes::copy_from_slice(start.as_bytes()),
            reads,
            ..HeatBucket::default()
        };
        HeatColumn { buckets: buckets.iter().map(bucket).collect(), ..HeatColumn::default() }
    }

    #[test]
    fn columns_with_different_ranges_are_put_on_one_set_and_sums_stay() {
        let columns = vec![column(&[("", 4), ("m", 6)]), column(&[("", 9), ("d", 1)])];
        let report = HeatReport { columns, ..HeatReport::default() };
        let grid = Grid::new(&report);
        assert_eq!(grid.starts, ["", "d", "m"]);
        assert_eq!(grid.columns, [[2.0, 2.0, 6.0], [9.0, 0.5, 0.5]]);
        assert_eq!(grid.hottest(1), [(0, 11.0 / 20.0)]);
        assert_eq!(grid.range(2), ("m".into(), None));
    }

    #[test]
    fn many_bounds_become_ranges_of_similar_load() {
        let names: Vec<_> = (0..1000).map(|number| format!("{number:04}")).collect();
        let buckets: Vec<_> = names.iter().map(|name| (&name[..], 10)).collect();
        let columns = vec![column(&buckets)];
        let grid = Grid::new(&HeatReport { columns, ..HeatReport::default() });
        assert!((100..=RANGES_MAX).contains(&grid.starts.len()), "{}", grid.starts.len());
        assert!(grid.columns[0].iter().all(|&requests| requests <= 100.0));
        assert_eq!(grid.columns[0].iter().sum::<f64>().round(), 10_000.0);
    }
}
