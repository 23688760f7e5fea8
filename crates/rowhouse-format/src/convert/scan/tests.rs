use proptest::prelude::*;
use rowhouse_model::{Cell, CellKind, Filter, TimeRange, Timestamp};

use super::*;
use crate::rpc::{CellBlock, CellCodec};

fn wire(start: &'static str, stop: &'static str) -> proto::Scan {
    proto::Scan { start_row: Some(start.into()), stop_row: Some(stop.into()), ..Default::default() }
}

fn range_of(scan: proto::Scan) -> RowRange {
    OpenScan::from_proto(scan).unwrap().scan.range
}

#[test]
fn bounds_become_half_open_ranges() {
    assert_eq!(range_of(wire("a", "c")), RowRange::new("a", "c"));
    assert_eq!(range_of(wire("a", "a")), RowRange::new("a", "a\0"));
    assert_eq!(range_of(wire("", "")), RowRange::all());
    let open_start = proto::Scan { include_start_row: Some(false), ..wire("a", "c") };
    assert_eq!(range_of(open_start), RowRange::new("a\0", "c"));
    let closed_stop = proto::Scan { include_stop_row: Some(true), ..wire("a", "c") };
    assert_eq!(range_of(closed_stop), RowRange::new("a", "c\0"));
}

#[test]
fn bounds_of_reversed_scans_change_sides() {
    let reversed = |start, stop| proto::Scan { reversed: Some(true), ..wire(start, stop) };
    assert_eq!(range_of(reversed("c", "a")), RowRange::new("a\0", "c\0"));
    assert_eq!(range_of(reversed("", "")), RowRange::all());
    let open_start = proto::Scan { include_start_row: Some(false), ..reversed("c", "a") };
    assert_eq!(range_of(open_start), RowRange::new("a\0", "c"));
}

#[test]
fn scans_come_back() {
    let mut scan = Scan::new(RowRange::new("a", "c")).column("cf", "q").versions(3);
    scan.caching = Some(10);
    scan.time_range = TimeRange::at(Timestamp::from_millis(5).unwrap());
    for reversed in [false, true] {
        scan.reversed = reversed;
        let mut open = OpenScan::new(scan.clone());
        open.read_point = 7;
        open.query = Some("sender = 'eve'".to_owned());
        open.result_bytes_max = Some(1 << 20);
        let read = OpenScan::from_proto(open.to_proto()).unwrap();
        assert_eq!(read.scan, scan);
        assert_eq!(read, open);
    }
    for reversed in [false, true] {
        let all = Scan { reversed, ..Scan::all() };
        assert_eq!(OpenScan::from_proto(OpenScan::new(all.clone()).to_proto()).unwrap().scan, all);
    }
}

#[test]
fn a_query_is_text() {
    let query = |value: &'static [u8]| {
        let attribute = proto::NameBytesPair {
            name: "rowhouse.query".to_owned(),
            value: Some(Bytes::from_static(value)),
        };
        OpenScan::from_proto(proto::Scan { attribute: vec![attribute], ..wire("", "") })
    };
    assert_eq!(query(b"user = '\xC3\xA4'").unwrap().query.unwrap(), "user = 'ä'");
    let error = query(b"user = '\xE4'").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the query is not UTF-8: attribute=rowhouse.query, value=user = '\\xE4'"
    );
}

#[test]
fn calls_come_back() {
    let mut open = ScanCall::open(RegionRef::encoded("x"), OpenScan::new(Scan::all()), 100);
    open.limit = Some(5);
    for call in [open, ScanCall::next(9, 0, 100), ScanCall::close(9)] {
        assert_eq!(ScanCall::from_proto(call.to_proto()).unwrap(), call);
    }
}

#[test]
fn requested_rows_default_as_in_apache() {
    let request = proto::ScanRequest { scanner_id: Some(1), ..Default::default() };
    assert_eq!(ScanCall::from_proto(request.clone()).unwrap().rows, 1);
    let close = proto::ScanRequest { close_scanner: Some(true), ..request };
    assert_eq!(ScanCall::from_proto(close).unwrap().rows, 0);
    let neither = ScanCall::from_proto(proto::ScanRequest::default()).unwrap_err();
    assert_eq!(neither.message(), "Missing required input: scannerId or scan");
}

#[test]
fn everything_that_narrows_a_scan_comes_back() {
    let mut open = OpenScan::new(Scan::all().versions(3).filter(Filter::FirstKeyOnly));
    let scan = &mut open.scan;
    (scan.family_limit, scan.family_offset) = (Some(0), 4);
    (scan.batch, scan.raw, scan.families_on_demand) = (Some(3), true, false);
    scan.family_time_ranges = [("cf".into(), TimeRange::at(Timestamp::MIN))].into();
    assert_eq!(OpenScan::from_proto(open.to_proto()).unwrap(), open);
}

#[test]
fn unknown_fields_are_refused_by_name() {
    let refused = |scan| OpenScan::from_proto(scan).unwrap_err();
    let filter = proto::Filter { name: "org.example.Mine".into(), serialized_filter: None };
    let filter = proto::Scan { filter: Some(filter), ..wire("", "") };
    assert!(refused(filter).message().contains("org.example.Mine"));
    let offset = proto::Scan { store_offset: Some(-1_i32 as u32), ..wire("", "") };
    assert!(refused(offset).message().contains("store_offset=-1"));
}

#[test]
fn answers_come_back_from_block_and_message() {
    let cell = |row| Cell::new(row, "cf", "q", Timestamp::MIN, CellKind::Put, "v").unwrap();
    let row = |row, partial| ScannedRow { row: Row::new(vec![cell(row)]), partial };
    let answer = ScanResult {
        rows: vec![row("a", false), row("b", true)],
        scanner: Some(4),
        ttl_ms: Some(60_000),
        read_point: Some(11),
        more_results: true,
        more_results_in_region: Some(false),
        ..Default::default()
    };
    let mut block = CellBlock::new(CellCodec::KeyValue);
    answer.cells().for_each(|cell| block.push(cell));
    let block = Bytes::copy_from_slice(block.as_bytes());
    for (cells_in, block) in [(CellPlacement::Block, block), (CellPlacement::Message, Bytes::new())]
    {
        let mut block = CellReader::new(CellCodec::KeyValue, block);
        let read = ScanResult::from_proto(answer.to_proto(cells_in), &mut block).unwrap();
        assert_eq!(read, answer);
    }
    let mut more = CellReader::new(CellCodec::KeyValue, Bytes::from_static(b"rubbish"));
    assert!(ScanResult::from_proto(answer.to_proto(CellPlacement::Message), &mut more).is_err());
}

proptest! {
    #[test]
    fn the_range_holds_the_rows_between_the_bounds(
        start in prop::collection::vec(0u8..3, 0..4),
        include_start: bool,
        stop in prop::collection::vec(0u8..3, 0..4),
        include_stop: bool,
        reversed: bool,
        row in prop::collection::vec(0u8..3, 1..4),
    ) {
        let mut open = OpenScan::new(Scan { reversed, ..Scan::all() });
        let start = Bytes::from(start);
        let stop = Bytes::from(stop);
        open.set_bounds((start.clone(), include_start), (stop.clone(), include_stop));
        prop_assert_eq!(&OpenScan::from_proto(open.to_proto()).unwrap(), &open);
        let (low, high) =
            if reversed { ((&stop, include_stop), (&start, include_start)) }
            else { ((&start, include_start), (&stop, include_stop)) };
        let after_low = low.0.is_empty() || row > *low.0 || (low.1 && row == *low.0);
        let before_high = high.0.is_empty() || row < *high.0 || (high.1 && row == *high.0);
        prop_assert_eq!(open.scan.range.contains(&row), after_low && before_high);
    }
}
