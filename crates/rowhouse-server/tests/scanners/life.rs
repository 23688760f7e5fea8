//! A scanner's life, from open to close.

use rowhouse_format::convert::scan::ScanCall;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;

use crate::support::{self, region_ref};
use crate::{Rows, all, expected, keys};

const UNKNOWN_SCANNER: &str = "org.apache.hadoop.hbase.UnknownScannerException";
const OUT_OF_ORDER: &str = "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException";
const NOT_SERVING: &str = "org.apache.hadoop.hbase.NotServingRegionException";

impl Rows {
    fn refused(&mut self, call: &ScanCall) -> Exception {
        support::scan(&mut self.client, call).unwrap_err()
    }

    fn scan(&mut self, call: &ScanCall) -> rowhouse_format::convert::scan::ScanResult {
        support::scan(&mut self.client, call).unwrap()
    }
}

#[test]
fn scanner_returns_rows_in_order_and_closes_after_the_last() {
    let mut rows = Rows::new(10);
    let first = rows.open(4);
    assert_eq!(keys(&first), expected(0..4));
    assert_eq!(first.ttl_ms, Some(60_000));
    assert!(first.read_point.is_some());
    assert!(first.more_results);
    assert_eq!(first.more_results_in_region, Some(true));

    let scanner = first.scanner.unwrap();
    let second = rows.next(scanner, 0, 4);
    assert_eq!(keys(&second), expected(4..8));
    assert_eq!((second.ttl_ms, second.read_point), (None, None));
    assert_eq!(second.scanner, Some(scanner));
    let third = rows.next(scanner, 1, 4);
    assert_eq!(keys(&third), expected(8..10));
    // There may be another region.
    assert!(third.more_results);
    assert_eq!(third.more_results_in_region, Some(false));

    let error = rows.refused(&ScanCall::next(scanner, 2, 4));
    assert_eq!((&*error.class, error.do_not_retry), (OUT_OF_ORDER, true));
}

#[test]
fn a_scanner_that_was_closed_at_its_end_returns_no_rows_and_says_nothing_of_more() {
    let mut rows = Rows::new(4);
    let whole = rows.open(10).scanner.unwrap();
    let in_parts = rows.open(2).scanner.unwrap();
    assert_eq!(rows.next(in_parts, 0, 10).more_results_in_region, Some(false));
    for (scanner, next_call_seq) in [(whole, None), (whole, Some(1)), (in_parts, Some(2))] {
        let call = ScanCall { next_call_seq, ..ScanCall::next(scanner, 0, 10) };
        let answer = rows.client.call(&call.to_proto()).unwrap();
        assert_eq!(answer, proto::ScanResponse::default(), "{next_call_seq:?}");
    }
    assert_eq!(rows.refused(&ScanCall::next(in_parts, 1, 10)).class, OUT_OF_ORDER);
}

#[test]
fn end_of_region_is_reported_with_the_last_row() {
    let mut rows = Rows::new(4);
    let first = rows.open(2);
    assert_eq!(first.more_results_in_region, Some(true));
    let second = rows.next(first.scanner.unwrap(), 0, 2);
    assert_eq!(keys(&second), expected(2..4));
    assert_eq!(second.more_results_in_region, Some(false));
}

#[test]
fn an_empty_region_is_at_its_end_at_once() {
    let mut rows = Rows::new(0);
    let answer = rows.open(10);
    assert!(answer.rows.is_empty() && answer.more_results);
    assert_eq!(answer.more_results_in_region, Some(false));
}

#[test]
fn a_closed_scanner_is_gone() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(1).scanner.unwrap();
    let closed = rows.scan(&ScanCall::close(scanner));
    assert!(closed.rows.is_empty());
    assert_eq!(closed.scanner, Some(scanner));
    assert_eq!(rows.refused(&ScanCall::next(scanner, 0, 1)).class, OUT_OF_ORDER);
}

#[test]
fn a_scanner_that_the_server_closed_may_be_closed_again() {
    let mut rows = Rows::new(2);
    // Clients before 1.3 close scanners that the server has closed at a region's end.
    let at_end = rows.open(10).scanner.unwrap();
    rows.scan(&ScanCall::close(at_end));
    rows.scan(&ScanCall::close(at_end));
    // A number that was never assigned is refused.
    assert_eq!(rows.refused(&ScanCall::close(at_end + 1000)).class, UNKNOWN_SCANNER);
    assert_eq!(rows.refused(&ScanCall::close(1)).class, UNKNOWN_SCANNER);
}

#[test]
fn a_call_out_of_order_is_refused_and_leaves_the_scanner_where_it_is() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(2).scanner.unwrap();
    rows.next(scanner, 0, 2);
    for wrong in [0, 2, u64::MAX] {
        let error = rows.refused(&ScanCall::next(scanner, wrong, 2));
        assert_eq!((&*error.class, error.do_not_retry), (OUT_OF_ORDER, true));
    }
    // As in HBase, the client closes the scanner or continues from the old position.
    assert_eq!(keys(&rows.next(scanner, 1, 2)), expected(4..6));
}

#[test]
fn a_renewal_gives_no_rows_and_takes_a_number() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(2).scanner.unwrap();
    let renewal = ScanCall { renew: true, ..ScanCall::next(scanner, 0, 2) };
    assert!(rows.scan(&renewal).rows.is_empty());
    assert_eq!(rows.refused(&renewal).class, OUT_OF_ORDER);
    assert_eq!(keys(&rows.next(scanner, 1, 2)), expected(2..4));
    let unknown = ScanCall { renew: true, ..ScanCall::next(scanner + 1000, 0, 2) };
    assert_eq!(rows.refused(&unknown).class, UNKNOWN_SCANNER);
}

#[test]
fn a_scan_may_be_opened_and_closed_in_one_call() {
    let mut rows = Rows::new(10);
    let open = ScanCall::open(region_ref(&rows.region), all(), 3);
    let answer = rows.scan(&ScanCall { close: true, ..open });
    assert_eq!(keys(&answer), expected(0..3));
    let next = ScanCall::next(answer.scanner.unwrap(), 0, 3);
    assert_eq!(rows.refused(&next).class, OUT_OF_ORDER);
}

#[test]
fn two_scanners_side_by_side_do_not_disturb_each_other() {
    let mut rows = Rows::new(10);
    let one = rows.open(1).scanner.unwrap();
    let other = rows.open(3).scanner.unwrap();
    assert_ne!(one, other);
    assert_eq!(keys(&rows.next(one, 0, 1)), expected(1..2));
    assert_eq!(keys(&rows.next(other, 0, 3)), expected(3..6));
    assert_eq!(keys(&rows.next(one, 1, 3)), expected(2..5));
    rows.scan(&ScanCall::close(one));
    assert_eq!(keys(&rows.next(other, 1, 9)), expected(6..10));
}

#[test]
fn a_scanner_outlives_its_connection() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(2).scanner.unwrap();
    rows.client = rows.server.client();
    assert_eq!(keys(&rows.next(scanner, 0, 2)), expected(2..4));
}

#[test]
fn scanner_does_not_see_later_writes() {
    let mut rows = Rows::new(4);
    let scanner = rows.open(1).scanner.unwrap();
    let client = &mut rows.client;
    let region = &rows.region;
    support::put(client, region, "r001", "changed").unwrap();
    support::put(client, region, "r001x", "new").unwrap();
    support::put(client, region, "r999", "new").unwrap();
    let answer = rows.next(scanner, 0, 10);
    let values = support::rows_of(&answer).into_iter().flat_map(|(_, values)| values);
    assert_eq!(keys(&answer), expected(1..4));
    assert_eq!(values.collect::<Vec<_>>(), ["v1", "v2", "v3"]);
    assert_eq!(keys(&rows.open(10)), ["r000", "r001", "r001x", "r002", "r003", "r999"]);
}

#[test]
fn scanners_of_a_table_that_is_disabled_meanwhile_are_refused() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(2).scanner.unwrap();
    rows.server.disable_table("t");
    let error = rows.refused(&ScanCall::next(scanner, 0, 2));
    assert_eq!((&*error.class, error.do_not_retry), (NOT_SERVING, false));
}

#[test]
fn scanners_from_before_a_restart_are_unknown() {
    let mut rows = Rows::new(10);
    let scanner = rows.open(2).scanner.unwrap();
    let dir = rows.server.stop();
    rows.server = support::TestServer::start_in(dir);
    rows.client = rows.server.client();
    let own = rows.open(2).scanner.unwrap();
    assert_ne!(own, scanner);
    assert_eq!(rows.refused(&ScanCall::next(scanner, 0, 2)).class, UNKNOWN_SCANNER);
}
