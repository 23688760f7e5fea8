//! Results from a scan that pauses, between rows or within one, when the call moves to a worker
//! thread.

use std::time::{Duration, Instant};

use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::rpc::CellCodec;
use rowhouse_model::{Delete, Put, Scan, Timestamp};

use crate::support::{self, Client, TestServer, put_wide_row, region_ref};

fn stock(scan: Scan) -> OpenScan {
    OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(scan) }
}

/// Checks that only an answer's last result is a partial row: stock clients join no others.
fn check_parts(answer: &ScanResult) {
    let shown = answer.rows.iter().map(|one| (one.row.len(), one.partial));
    let shown: Vec<_> = shown.collect();
    let (_, before) = shown.split_last().expect("no rows");
    assert!(before.iter().all(|(_, partial)| !partial), "a part that is not the last: {shown:?}");
}

#[test]
fn a_wide_row_comes_in_one_result() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put_wide_row(&mut client, &region, "wide", 30_000);
    let answer = support::open(&mut client, &region, stock(Scan::all()), 10).unwrap();
    check_parts(&answer);
    assert_eq!(answer.rows.len(), 1);
}

#[test]
fn rows_of_medium_width_come_in_one_result_each() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    (0..20).for_each(|row| put_wide_row(&mut client, &region, &format!("r{row:02}"), 1_500));
    let opened = support::open(&mut client, &region, stock(Scan::all()), 0).unwrap();
    let answer = support::next(&mut client, opened.scanner.unwrap(), 0, 100).unwrap();
    check_parts(&answer);
    assert_eq!(answer.rows.len(), 20);
}

#[test]
fn a_scan_of_one_row_that_closes_its_scanner_has_the_row() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put_wide_row(&mut client, &region, "wide", 30_000);
    // A small scan as clients before 2.0 send it, and gohbase with CloseScanner.
    let call =
        ScanCall { close: true, ..ScanCall::open(region_ref(&region), stock(Scan::all()), 1) };
    let answer = support::scan(&mut client, &call).unwrap();
    assert_eq!(answer.rows[0].row.len(), 30_000, "partial={}", answer.rows[0].partial);
}

#[test]
fn a_row_that_was_left_and_has_no_more_to_show_takes_no_other_with_it() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for row in ["a", "b", "c"] {
        put_wide_row(&mut client, &region, row, 60_000);
        let mut delete = Delete::new(row).unwrap();
        for column in 1_000..60_000 {
            delete = delete.column("cf", format!("q{column:06}"), Timestamp::LATEST).unwrap();
        }
        support::mutate(&mut client, &region, delete).unwrap();
    }
    for rows in [1, 2, 100] {
        let mut answer = support::open(&mut client, &region, stock(Scan::all()), rows).unwrap();
        let scanner = answer.scanner.unwrap();
        let mut seen = Vec::new();
        for number in 0.. {
            assert!(answer.rows.len() <= rows as usize);
            check_parts(&answer);
            let whole = answer.rows.iter().map(|one| (one.row.key().to_vec(), one.row.len()));
            seen.extend(whole);
            if answer.more_results_in_region == Some(false) {
                break;
            }
            answer = support::next(&mut client, scanner, number, rows).unwrap();
        }
        let expected = ["a", "b", "c"].map(|row| (row.as_bytes().to_vec(), 1_000));
        assert_eq!(seen, expected, "rows={rows}");
    }
}

#[test]
fn nothing_is_lost_or_doubled_however_a_scan_pauses() {
    const ROWS: usize = 10;
    let server = TestServer::start();
    let region = server.create_table("t", &["cf", "d"], &[]).remove(0);
    let mut client = server.client();
    let width = |row: usize| [3, 1_500, 1_024, 1_023, 6_000][row % 5];
    for row in 0..ROWS {
        put_wide_row(&mut client, &region, &format!("r{row:02}"), width(row));
        let put = Put::new(format!("r{row:02}")).unwrap().add("d", "q", "v").unwrap();
        support::mutate(&mut client, &region, put).unwrap();
        if row == ROWS / 2 {
            server.flush_table("t");
        }
    }
    let mut calls = Vec::new();
    for reversed in [false, true] {
        for limit in [None, Some(1), Some(4)] {
            for (rows, bytes) in [(1, 30_000), (7, 2 << 20), (100, 30_000), (1000, 2 << 20)] {
                for (beats, parts) in [(true, true), (false, true), (true, false)] {
                    let scan = Scan { reversed, ..Scan::all() };
                    let scan = OpenScan { result_bytes_max: Some(bytes), ..OpenScan::new(scan) };
                    let call = ScanCall {
                        limit,
                        client_handles_heartbeats: beats,
                        client_handles_partials: parts,
                        ..ScanCall::open(region_ref(&region), scan, rows)
                    };
                    calls.push((reversed, call));
                }
            }
        }
    }
    for (reversed, call) in calls {
        for timeout in [None, Some(20)] {
            client.timeout_ms = timeout;
            let mut expected: Vec<(String, usize)> =
                (0..ROWS).map(|row| (format!("r{row:02}"), width(row) + 1)).collect();
            if reversed {
                expected.reverse();
            }
            expected.truncate(call.limit.map_or(ROWS, |limit| limit as usize));
            assert_eq!(read_all(&mut client, &call), expected, "{call:?}");
        }
    }
}

/// Sends a scan, and again if it was dropped: on a busy machine it can come up for a thread after
/// the client's timeout, and then has neither effect nor answer.
fn scan(client: &mut Client, call: &ScanCall) -> ScanResult {
    if client.timeout_ms.is_none() {
        return support::scan(client, call).unwrap();
    }
    for _ in 0..60 {
        client.send(&call.to_proto(), &[]);
        let sent = Instant::now();
        while !client.has_answer() && sent.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if client.has_answer() {
            let (_, body) = client.receive_body();
            let mut cells = body.cells(Some(CellCodec::KeyValue));
            return ScanResult::from_proto(body.message().unwrap(), &mut cells).unwrap();
        }
    }
    panic!("every repetition of a scan was dropped: {call:?}")
}

/// Reads all rows in a scan with their cell counts, joining partial results.
fn read_all(client: &mut Client, open: &ScanCall) -> Vec<(String, usize)> {
    let mut rows: Vec<(String, usize)> = Vec::new();
    let mut ends_in_part = false;
    let mut call = open.clone();
    for number in 0.. {
        let whole = rows.len() as u32 - u32::from(ends_in_part);
        call.limit = open.limit.map(|limit| limit - whole.min(limit - 1));
        let answer = scan(client, &call);
        for one in &answer.rows {
            let key = String::from_utf8(one.row.key().to_vec()).unwrap();
            match rows.last_mut().filter(|(row, _)| *row == key) {
                Some((_, len)) => {
                    assert!(ends_in_part, "more of a row that was whole");
                    *len += one.row.len();
                }
                None => rows.push((key, one.row.len())),
            }
            ends_in_part = one.partial;
        }
        if !answer.more_results || answer.more_results_in_region == Some(false) {
            break;
        }
        let next = ScanCall::next(answer.scanner.unwrap(), number, open.rows);
        call = ScanCall {
            client_handles_heartbeats: open.client_handles_heartbeats,
            client_handles_partials: open.client_handles_partials,
            ..next
        };
    }
    rows
}

#[test]
fn results_of_a_batch_scan_have_no_more_cells_than_the_batch_after_pauses() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put_wide_row(&mut client, &region, "wide", 60_000);
    let scan = stock(Scan { batch: Some(10), ..Scan::all() });
    let mut answer = support::open(&mut client, &region, scan, 100_000).unwrap();
    let scanner = answer.scanner.unwrap();
    let mut cells = 0;
    for sequence in 0.. {
        for one in &answer.rows {
            assert!(one.row.len() <= 10, "{} cells", one.row.len());
            cells += one.row.len();
        }
        if answer.more_results_in_region != Some(true) {
            break;
        }
        answer = support::next(&mut client, scanner, sequence, 100_000).unwrap();
    }
    assert_eq!(cells, 60_000);
}
