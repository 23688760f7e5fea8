//! Scans over hbase:meta, which clients use to locate the region that holds a row.

use bytes::Bytes;
use rowhouse_format::convert::region;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_model::{RegionInfo, Row, Scan};

use crate::support::{self, Client, TestServer};

const SPLITS: [&[u8]; 5] = [b"\0", b",", b"a,b", b"\xff", b"\xff\xff\0"];

/// Locates a row as the stock client does: a reversed scan from the latest possible start of the
/// region.
fn locate(client: &mut Client, table: &str, row: &[u8]) -> RegionInfo {
    let start = [table.as_bytes(), b",", row, b",99999999999999"].concat();
    let open = OpenScan {
        start_row: start.into(),
        stop_row: Bytes::from(format!("{table},,")),
        include_start: true,
        include_stop: true,
        ..reversed()
    };
    let rows = scan(client, open, 1);
    read(&rows[0])
}

fn reversed() -> OpenScan {
    let mut scan = Scan::all().family("info");
    scan.reversed = true;
    OpenScan::new(scan)
}

/// Scans hbase:meta, `rows` per call.
fn scan(client: &mut Client, open: OpenScan, rows: u32) -> Vec<Row> {
    let limit = (rows == 1).then_some(1);
    let call = ScanCall { limit, ..ScanCall::open(RegionRef::encoded("1588230740"), open, rows) };
    let mut answer = support::scan(client, &call).unwrap();
    let scanner = answer.scanner.unwrap();
    let mut all = Vec::new();
    for number in 0.. {
        all.extend(answer.rows.into_iter().map(|scanned| scanned.row));
        if !answer.more_results || answer.more_results_in_region == Some(false) {
            break;
        }
        answer = support::next(client, scanner, number, rows).unwrap();
    }
    all
}

fn read(row: &Row) -> RegionInfo {
    region::from_pbuf(&row.value("info", "regioninfo").unwrap()).unwrap()
}

fn has_region(row: &Row) -> bool {
    row.cell("info", "regioninfo").is_some()
}

#[test]
fn every_row_is_located_in_its_region() {
    let server = TestServer::start();
    // Tables whose names share a prefix, and an unrelated one.
    let tables = ["t", "t1", "t-1", "t_", "s"]
        .map(|name| (name, server.create_table(name, &["cf"], &SPLITS)));
    let mut client = server.client();
    for (name, regions) in &tables {
        let rows: &[&[u8]] = &[
            b"",
            b"\0",
            b"\0\0",
            b"+",
            b",",
            b",,",
            b"a",
            b"a,",
            b"a,a",
            b"a,b",
            b"a,b,",
            b"b",
            b"\xfe\xff",
            b"\xff",
            b"\xff\0",
            b"\xff\xff",
            b"\xff\xff\0",
            b"\xff\xff\xff",
        ];
        for row in rows {
            let located = locate(&mut client, name, row);
            assert!(located.range.contains(row), "{name} {row:?}: {located:?}");
            assert!(regions.contains(&located), "{name} {row:?}: {located:?}");
        }
    }
}

#[test]
fn the_regions_of_a_table_stand_together_in_order() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &SPLITS);
    server.create_table("t1", &["cf"], &SPLITS);
    server.create_table("a", &["cf"], &[]);
    let mut client = server.client();
    let mut open = OpenScan::new(Scan::all().family("info"));
    (open.start_row, open.stop_row) = ("t,,".into(), "t ,,".into());
    let mut backwards = reversed();
    (backwards.start_row, backwards.stop_row) = ("t ,,".into(), "t,,".into());
    backwards.include_stop = true;
    for rows in [2, 3, 100] {
        let listed = scan(&mut client, open.clone(), rows);
        assert_eq!(listed.iter().map(read).collect::<Vec<_>>(), regions);
        let listed = scan(&mut client, backwards.clone(), rows);
        assert_eq!(listed.iter().rev().map(read).collect::<Vec<_>>(), regions);
    }
}

#[test]
fn forwards_and_backwards_give_the_same_rows() {
    let server = TestServer::start();
    for name in ["t", "t1", "b"] {
        server.create_table(name, &["cf"], &SPLITS);
    }
    let mut client = server.client();
    let forwards = scan(&mut client, OpenScan::new(Scan::all().family("info")), 3);
    let mut backwards = scan(&mut client, reversed(), 4);
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_eq!(forwards.iter().filter(|row| has_region(row)).count(), 1 + 3 * (SPLITS.len() + 1));
}
