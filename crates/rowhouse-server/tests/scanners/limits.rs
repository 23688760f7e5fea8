//! How much an answer holds, and how much a scan.

use rowhouse_format::convert::scan::{OpenScan, ScanAnswer, ScanCall};
use rowhouse_model::{Filter, RowRange, Scan};

use crate::support::{self, region_ref};
use crate::{Rows, all, expected, keys};

impl Rows {
    fn limited(&mut self, call: ScanCall, limit: u32) -> ScanAnswer {
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
    // The client sends what is left of its limit.
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

#[test]
fn an_answer_ends_with_the_row_that_reaches_its_size() {
    let mut rows = Rows::new(0);
    let value = "x".repeat(1000);
    for number in 0..10 {
        let row = crate::row(number);
        support::put(&mut rows.client, &rows.region, &row, &value).unwrap();
    }
    let small = |bytes| OpenScan { result_bytes_max: Some(bytes), ..all() };
    let first = support::open(&mut rows.client, &rows.region, small(2500), u32::MAX).unwrap();
    assert_eq!(keys(&first), expected(0..3));
    assert_eq!(first.more_results_in_region, Some(true));
    let second = rows.next(first.scanner.unwrap(), 0, u32::MAX);
    assert_eq!(keys(&second), expected(3..6));
    // A row that is larger than the size alone still comes.
    let first = support::open(&mut rows.client, &rows.region, small(1), u32::MAX).unwrap();
    assert_eq!(keys(&first), expected(0..1));
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
fn bounds_are_in_or_out_as_asked() {
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
fn a_client_that_asks_is_told_how_many_rows_were_looked_at() {
    let mut rows = Rows::new(10);
    let mut odd = Scan::all();
    odd.filter = Some(Box::new(Filter::parse("RowFilter(=, 'regexstring:[13579]$')").unwrap()));
    let open = ScanCall::open(region_ref(&rows.region), OpenScan::new(odd), 3);
    let told = |answer: &ScanAnswer| {
        let named = |name| answer.metrics.iter().find(|(has, _)| has == name).map(|(_, n)| *n);
        (named("ROWS_SCANNED"), named("ROWS_FILTERED"))
    };
    let quiet = support::scan(&mut rows.client, &open).unwrap();
    assert!(quiet.metrics.is_empty());
    let track = |call| ScanCall { track_metrics: true, ..call };
    let first = support::scan(&mut rows.client, &track(open)).unwrap();
    assert_eq!(told(&first), (Some(6), Some(3)));
    let next = track(ScanCall::next(first.scanner.unwrap(), 0, 3));
    let second = support::scan(&mut rows.client, &next).unwrap();
    assert_eq!(told(&second), (Some(4), Some(2)));
    let times = ["RPC_SCAN_QUEUE_WAIT_TIME", "RPC_SCAN_PROCESSING_TIME"];
    assert!(times.iter().all(|name| second.metrics.iter().any(|(has, _)| has == name)));
}
