//! Limits on answer and scan sizes.

use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_model::{Filter, RowRange, Scan};

use crate::support::{self, region_ref};
use crate::{Rows, all, expected, keys};

impl Rows {
    fn limited(&mut self, call: ScanCall, limit: u32) -> ScanResult {
        support::scan(&mut self.client, &ScanCall { limit: Some(limit), ..call }).unwrap()
    }
}

#[test]
fn a_limit_holds_over_several_calls() {
    let mut rows = Rows::new(10);
    let open = ScanCall::open(region_ref(&rows.region), all(), 2);
    let first = rows.limited(open, 5);
    assert_eq!(keys(&first), expected(0..2));
    assert!(first.more_results);
    // The client sends the remaining limit.
    let scanner = first.scanner.unwrap();
    let second = rows.limited(ScanCall::next(scanner, 0, 2), 3);
    assert_eq!(keys(&second), expected(2..4));
    assert!(second.more_results);
    let third = rows.limited(ScanCall::next(scanner, 1, 2), 1);
    assert_eq!(keys(&third), expected(4..5));
    assert!(!third.more_results);
    // At the limit the server has closed the scanner.
    assert!(support::next(&mut rows.client, scanner, 2, 2).is_err());
}

#[test]
fn a_limit_at_once_ends_the_scan() {
    let mut rows = Rows::new(10);
    for (limit, taken) in [(1, 1), (10, 10), (11, 10)] {
        let open = ScanCall::open(region_ref(&rows.region), all(), 100);
        let answer = rows.limited(open, limit);
        assert_eq!(keys(&answer), expected(0..taken), "limit {limit}");
        assert_eq!(answer.more_results, limit > 10, "limit {limit}");
    }
}

fn of_bytes(bytes: u64) -> OpenScan {
    OpenScan { result_bytes_max: Some(bytes), ..all() }
}

#[test]
fn an_answer_ends_with_the_row_that_reaches_its_size() {
    let mut rows = Rows::of_values(10, &"x".repeat(1000));
    let opened = support::open(&mut rows.client, &rows.region, of_bytes(2500), 0).unwrap();
    let scanner = opened.scanner.unwrap();
    let first = rows.next(scanner, 0, u32::MAX);
    assert_eq!(keys(&first), expected(0..3));
    assert_eq!(first.more_results_in_region, Some(true));
    assert_eq!(keys(&rows.next(scanner, 1, u32::MAX)), expected(3..6));
}

/// The asynchronous Java client stalls if the answer to an open fills the client's cache
/// (`handle/scan.rs`, `Prefetch`).
#[test]
fn the_answer_to_an_open_stays_below_its_size_as_a_java_client_counts() {
    let mut rows = Rows::of_values(10, &"x".repeat(1000));
    for (bytes, count) in [(1, 0), (1100, 0), (1500, 1), (2500, 2), (1 << 20, 10)] {
        let first = support::open(&mut rows.client, &rows.region, of_bytes(bytes), 100).unwrap();
        assert_eq!(keys(&first), expected(0..count), "{bytes} bytes");
        // Only a heartbeat may be empty: clients take any other empty answer for the region's end.
        assert_eq!(first.heartbeat, count == 0, "{bytes} bytes");
        assert_eq!(first.more_results_in_region, Some(count < 10), "{bytes} bytes");
        if count < 10 {
            // A row larger than the limit is still returned.
            let next = rows.next(first.scanner.unwrap(), 0, 100);
            assert_eq!(keys(&next)[0], crate::row(count), "{bytes} bytes");
        }
    }
}

#[test]
fn client_without_heartbeats_gets_large_rows_with_the_open() {
    let mut rows = Rows::of_values(3, "x");
    let mut open = ScanCall::open(region_ref(&rows.region), of_bytes(1), 100);
    open.client_handles_heartbeats = false;
    let answer = support::scan(&mut rows.client, &open).unwrap();
    assert_eq!(keys(&answer), expected(0..1));
}

#[test]
fn a_scan_with_every_size_of_answer_has_every_cell_once() {
    let mut rows = Rows::new(0);
    for row in 0..3 {
        support::put_wide_row(&mut rows.client, &rows.region, &crate::row(row), 40);
    }
    for bytes in [1, 20, 100, 700, 3000, 10_000, 40_000] {
        let mut answer =
            support::open(&mut rows.client, &rows.region, of_bytes(bytes), 100).unwrap();
        let scanner = answer.scanner.unwrap();
        let mut cells = 0;
        for number in 0.. {
            cells += answer.rows.iter().map(|row| row.row.len()).sum::<usize>();
            let last = answer.rows.len().saturating_sub(1);
            assert!(answer.rows[..last].iter().all(|row| !row.partial), "{bytes} bytes");
            if answer.more_results_in_region == Some(false) {
                break;
            }
            answer = rows.next(scanner, number, 100);
        }
        assert_eq!(cells, 120, "{bytes} bytes");
    }
}

#[test]
fn a_scan_of_no_rows_only_opens_a_scanner() {
    let mut rows = Rows::new(3);
    let opened = rows.open(0);
    assert!(opened.rows.is_empty() && opened.more_results);
    assert_eq!(opened.more_results_in_region, Some(true));
    assert_eq!(keys(&rows.next(opened.scanner.unwrap(), 0, 9)), expected(0..3));
}

#[test]
fn bounds_are_inclusive_or_exclusive_as_requested() {
    let mut rows = Rows::new(10);
    let range = RowRange::new("r002", "r005");
    for (include_start, include_stop, range_of_rows) in
        [(true, false, 2..5), (false, false, 3..5), (true, true, 2..6), (false, true, 3..6)]
    {
        let open =
            OpenScan { include_start, include_stop, ..OpenScan::new(Scan::new(range.clone())) };
        let answer = support::open(&mut rows.client, &rows.region, open, 100).unwrap();
        assert_eq!(keys(&answer), expected(range_of_rows));
    }
}

#[test]
fn rows_of_other_regions_are_not_given() {
    let rows = Rows::new(0);
    let regions = rows.server.create_table("two", &["cf"], &[b"m"]);
    let mut client = rows.server.client();
    support::put(&mut client, &regions[0], "a", "1").unwrap();
    support::put(&mut client, &regions[1], "m", "2").unwrap();
    support::put(&mut client, &regions[1], "z", "3").unwrap();
    for (region, expected) in regions.iter().zip([vec!["a"], vec!["m", "z"]]) {
        let answer = support::open(&mut client, region, all(), 100).unwrap();
        assert_eq!(keys(&answer), expected);
        assert_eq!(answer.more_results_in_region, Some(false));
    }
}

#[test]
fn a_long_scan_is_whole() {
    let mut rows = Rows::new(500);
    let answer = rows.open(u32::MAX);
    assert_eq!(keys(&answer), expected(0..500));
    let mut taken = Vec::new();
    let mut answer = rows.open(7);
    for number in 0.. {
        taken.extend(keys(&answer));
        if answer.more_results_in_region == Some(false) {
            break;
        }
        answer = rows.next(answer.scanner.unwrap(), number, 7);
    }
    assert_eq!(taken, expected(0..500));
}

#[test]
fn scan_metrics_are_returned_on_request() {
    let mut rows = Rows::new(10);
    let mut odd = Scan::all();
    odd.filter = Some(Box::new(Filter::parse("RowFilter(=, 'regexstring:[13579]$')").unwrap()));
    let open = ScanCall::open(region_ref(&rows.region), OpenScan::new(odd), 3);
    let counts = |answer: &ScanResult| {
        let named = |name| answer.metrics.iter().find(|(has, _)| has == name).map(|(_, n)| *n);
        (named("ROWS_SCANNED"), named("ROWS_FILTERED"))
    };
    let quiet = support::scan(&mut rows.client, &open).unwrap();
    assert!(quiet.metrics.is_empty());
    let track = |call| ScanCall { track_metrics: true, ..call };
    let first = support::scan(&mut rows.client, &track(open)).unwrap();
    assert_eq!(counts(&first), (Some(6), Some(3)));
    let next = track(ScanCall::next(first.scanner.unwrap(), 0, 3));
    let second = support::scan(&mut rows.client, &next).unwrap();
    assert_eq!(counts(&second), (Some(4), Some(2)));
    let times = ["RPC_SCAN_QUEUE_WAIT_TIME", "RPC_SCAN_PROCESSING_TIME"];
    assert!(times.iter().all(|name| second.metrics.iter().any(|(has, _)| has == name)));
}

#[test]
fn a_row_whose_key_ends_the_scan_is_filtered_and_not_scanned() {
    let mut rows = Rows::new(20);
    let first = expected(0..1).remove(0);
    let prefix = &first[..first.len() - 1];
    let mut some = Scan::all();
    some.filter = Some(Box::new(Filter::parse(format!("PrefixFilter('{prefix}')")).unwrap()));
    let open = ScanCall::open(region_ref(&rows.region), OpenScan::new(some), 100);
    let answer = support::scan(&mut rows.client, &ScanCall { track_metrics: true, ..open });
    let answer = answer.unwrap();
    let named = |name| answer.metrics.iter().find(|(has, _)| has == name).map(|(_, n)| *n);
    assert_eq!(keys(&answer), expected(0..10));
    assert_eq!((named("ROWS_SCANNED"), named("ROWS_FILTERED")), (Some(10), Some(1)));
}

#[test]
fn a_row_that_an_open_has_no_room_for_comes_next_although_its_filter_is_done() {
    let mut rows = Rows::new(3);
    let mut scan = Scan::all();
    scan.filter = Some(Box::new(Filter::Page(1)));
    let scan = OpenScan { result_bytes_max: Some(1), ..OpenScan::new(scan) };
    let opened = support::open(&mut rows.client, &rows.region, scan, 2).unwrap();
    assert!(opened.rows.is_empty() && opened.heartbeat && opened.more_results);
    let next = support::next(&mut rows.client, opened.scanner.unwrap(), 0, 2).unwrap();
    assert_eq!(keys(&next), [crate::row(0)]);
}
