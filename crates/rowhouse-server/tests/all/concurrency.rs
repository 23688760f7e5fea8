//! Many concurrent clients: counters add up, rows are atomic, no acknowledged write is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{Client, TestServer};
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_model::{RegionInfo, Row, RowRange, Scan};

const CLIENTS: usize = 4;

/// Scans all rows in a region, `rows` per call.
fn scan_all(client: &mut Client, region: &RegionInfo, scan: Scan, rows: u32) -> Vec<Row> {
    let mut answer = crate::support::open(client, region, OpenScan::new(scan), rows).unwrap();
    let scanner = answer.scanner.unwrap();
    let mut all = Vec::new();
    for number in 0.. {
        all.extend(answer.rows.into_iter().map(|scanned| scanned.row));
        if answer.more_results_in_region == Some(false) {
            break;
        }
        answer = crate::support::next(client, scanner, number, rows).unwrap();
    }
    all
}

#[test]
fn counters_add_up() {
    const COUNTERS: usize = 3;
    const ROUNDS: i64 = 40;
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let row = |number: usize| format!("counter-{number}");
    // The results that clients got from their increments, per counter.
    let returned = thread::scope(|scope| {
        let clients = (0..CLIENTS).map(|_| {
            scope.spawn(|| {
                let mut client = server.client();
                let mut returned = vec![Vec::new(); COUNTERS];
                for round in 1..=ROUNDS {
                    for (number, returned) in returned.iter_mut().enumerate() {
                        let now =
                            crate::support::increment(&mut client, &region, &row(number), round);
                        returned.push(now.unwrap());
                    }
                }
                returned
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let mut client = server.client();
    for number in 0..COUNTERS {
        let counter = crate::support::get(&mut client, &region, &row(number)).unwrap();
        let sum = CLIENTS as i64 * ROUNDS * (ROUNDS + 1) / 2;
        assert_eq!(crate::support::counter(&counter), Some(sum));
        // Every increment returned a different value: no two read the same one.
        let mut seen: Vec<i64> =
            returned.iter().flat_map(|returned| returned[number].clone()).collect();
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(seen.last(), Some(&sum));
    }
}

#[test]
fn no_scan_sees_half_a_row() {
    const ROWS: usize = 20;
    const ROUNDS: usize = 30;
    let server = TestServer::start();
    let region = server.create_table("t", &["cf", "d"], &[]).remove(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers = (0..CLIENTS).map(|writer| {
            let server = &server;
            let region = &region;
            scope.spawn(move || {
                let mut client = server.client();
                for round in 0..ROUNDS {
                    for row in 0..ROWS {
                        let row = format!("{row:02}");
                        let value = format!("{writer}-{round}");
                        crate::support::put_two(&mut client, region, &row, &value).unwrap();
                    }
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        let readers = [1, 3, 100].map(|rows| {
            let server = &server;
            let region = &region;
            let done = &done;
            scope.spawn(move || {
                let mut client = server.client();
                while !done.load(Ordering::Relaxed) {
                    for row in scan_all(&mut client, region, Scan::all(), rows) {
                        check_whole(&row);
                    }
                    check_whole(&crate::support::get(&mut client, region, "07").unwrap());
                }
            })
        });
        // Stop the readers even if a writer failed.
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        written.into_iter().for_each(|writer| writer.unwrap());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(scan_all(&mut server.client(), &region, Scan::all(), 100).len(), ROWS);
}

/// Checks that both families hold the same value, or neither has one.
fn check_whole(row: &Row) {
    assert_eq!(row.value("cf", "q"), row.value("d", "q"), "half a row: {row:?}");
}

#[test]
fn acknowledged_writes_are_visible_immediately() {
    const ROWS: usize = 150;
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"1", b"2", b"3"]);
    thread::scope(|scope| {
        for (writer, region) in regions.iter().enumerate() {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.client();
                let mut other = server.client();
                for number in 0..ROWS {
                    let row = format!("{writer}-{number:03}");
                    crate::support::put(&mut client, region, &row, &row).unwrap();
                    // Another connection sees it immediately, with everything written before.
                    let read = crate::support::get(&mut other, region, &row).unwrap();
                    assert_eq!(read.value("cf", "q").unwrap(), row);
                    if number % 50 == 49 {
                        let rows = scan_all(&mut other, region, Scan::all(), 40);
                        assert_eq!(rows.len(), number + 1);
                    }
                }
            });
        }
    });
    let server = TestServer::start_in(server.stop());
    let mut client = server.client();
    for (writer, region) in server.regions("t").iter().enumerate() {
        let rows = scan_all(&mut client, region, Scan::all(), u32::MAX);
        let keys: Vec<_> = rows.iter().map(|row| row.key().to_vec()).collect();
        let expected = (0..ROWS).map(|number| format!("{writer}-{number:03}").into_bytes());
        assert_eq!(keys, expected.collect::<Vec<_>>());
    }
}

#[test]
fn a_scanner_that_is_read_slowly_sees_one_moment() {
    const ROWS: usize = 60;
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut writer = server.client();
    let row = |number: usize| format!("{number:02}");
    for number in 0..ROWS {
        crate::support::put(&mut writer, &region, &row(number), "0").unwrap();
    }
    for round in 1..=5 {
        let mut reader = server.client();
        let mut answer =
            crate::support::open(&mut reader, &region, OpenScan::new(Scan::all()), 1).unwrap();
        let scanner = answer.scanner.unwrap();
        let mut values = BTreeMap::new();
        for number in 0.. {
            for (row, value) in crate::support::rows_of(&answer) {
                values.insert(row, value);
            }
            if answer.more_results_in_region == Some(false) {
                break;
            }
            // Between any two rows in the scan the whole table is rewritten.
            let rows = (0..ROWS).map(|row_number| (row(row_number), format!("{round}")));
            crate::support::put_many(&mut writer, &region, rows);
            answer = crate::support::next(&mut reader, scanner, number, 1).unwrap();
        }
        assert_eq!(values.len(), ROWS);
        let before = vec![format!("{}", round - 1)];
        assert!(values.values().all(|value| *value == before), "{values:?}");
    }
}

#[test]
fn answers_find_their_calls_on_a_crowded_connection() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let rows = (0..300).map(|row| (format!("{row:03}"), format!("value of {row}")));
    crate::support::put_many(&mut client, &region, rows);
    // Long scans, which run on worker threads, alternate with short ones; there are more than the
    // server runs at once.
    let mut pending = BTreeMap::new();
    for start in 0..150 {
        let range = RowRange::new(format!("{start:03}"), "");
        let rows = if start % 2 == 0 { u32::MAX } else { 1 };
        let scan = OpenScan::new(Scan::new(range));
        let call = ScanCall::open(crate::support::region_ref(&region), scan, rows);
        pending.insert(client.send(&call.to_proto(), &[]), start);
    }
    while !pending.is_empty() {
        let (call, body) = client.receive_body();
        let start = pending.remove(&call).expect("a response to an unknown call");
        let answer = ScanResult::from_proto(body.message().unwrap(), &mut body.cells(None));
        let answer = answer.unwrap();
        assert_eq!(crate::support::rows_of(&answer)[0].0, format!("{start:03}"));
        assert_eq!(answer.rows.len(), if start % 2 == 0 { 300 - start } else { 1 });
    }
}
