//! Scans return every row once, complete and in order, under any failure of any call.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::scan::{ScanCall, ScanResult, ScanTarget, ScannedRow};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Request};
use rowhouse_model::{ErrorKind, Row, Scan, TableState};

use crate::connection::lock;
use crate::fake::{FakeCluster, Reply, cell, region};

/// Rows 00 to 29.
const ROWS: usize = 30;
/// Results in one answer. Each row has two results, so answers end inside rows.
const RESULTS: usize = 5;

/// A call's failure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    Refuse(ErrorKind),
    /// The server does the work, but the answer is lost.
    LoseAnswer,
    Heartbeat,
}

/// A server with rows whose call number `at` fails.
struct Rows {
    trouble: Trouble,
    at: usize,
    calls: AtomicUsize,
    scanners: Mutex<HashMap<u64, Open>>,
}

struct Open {
    results: VecDeque<ScannedRow>,
    next_call_seq: u64,
}

impl Rows {
    fn new(trouble: Trouble, at: usize) -> Arc<Self> {
        let calls = AtomicUsize::new(0);
        Arc::new(Self { trouble, at, calls, scanners: Mutex::default() })
    }

    fn answer(&self, request: &Request) -> Reply {
        let call = ScanCall::from_proto(request.message::<proto::ScanRequest>().unwrap()).unwrap();
        let mut scanners = lock(&self.scanners);
        if call.close {
            if let ScanTarget::Scanner(id) = call.target {
                scanners.remove(&id);
            }
            return Reply::answer(
                request,
                &ScanResult::default().to_proto(CellPlacement::Block),
                &[],
            );
        }
        let trouble =
            (self.calls.fetch_add(1, Ordering::SeqCst) == self.at).then_some(self.trouble);
        if let Some(Trouble::Refuse(kind)) = trouble {
            return Reply::refuse(request, kind, "trouble");
        }
        let mut answer = ScanResult { more_results: true, ..Default::default() };
        let id = match &call.target {
            ScanTarget::Scanner(id) => {
                let Some(open) = scanners.get_mut(id) else {
                    return Reply::refuse(request, ErrorKind::UnknownScanner, "unknown");
                };
                if call.next_call_seq != Some(open.next_call_seq) {
                    return Reply::refuse(request, ErrorKind::OutOfOrderScanner, "out of order");
                }
                open.next_call_seq += 1;
                *id
            }
            ScanTarget::Open { .. } => {
                let id = 100 + self.calls.load(Ordering::SeqCst) as u64;
                answer.scanner = Some(id);
                scanners.insert(id, Open { results: results(&call), next_call_seq: 0 });
                id
            }
        };
        let open = scanners.get_mut(&id).unwrap();
        answer.heartbeat = trouble == Some(Trouble::Heartbeat);
        let taken = if answer.heartbeat { 0 } else { RESULTS.min(open.results.len()) };
        answer.rows = open.results.drain(..taken).collect();
        answer.more_results_in_region = Some(!open.results.is_empty());
        if open.results.is_empty() {
            scanners.remove(&id);
        }
        if trouble == Some(Trouble::LoseAnswer) {
            return Reply::Close;
        }
        let cells: Vec<_> = answer.cells().map(|cell| cell.to_cell()).collect();
        Reply::answer(request, &answer.to_proto(CellPlacement::Block), &cells)
    }
}

/// Returns the results from a scanner on one region.
fn results(call: &ScanCall) -> VecDeque<ScannedRow> {
    let ScanTarget::Open { region: name, scan } = &call.target else { unreachable!() };
    let regions = [region("", "10"), region("10", "20"), region("20", "")];
    let name = name.encoded_name().unwrap();
    let region = regions.iter().find(|region| region.name().encoded == name).unwrap();
    let keys = (0..ROWS).map(|at| format!("{at:02}"));
    let mut keys: Vec<_> = keys
        .filter(|key| region.range.contains(key.as_bytes()))
        .filter(|key| scan.scan.range.contains(key.as_bytes()))
        .collect();
    if scan.scan.reversed {
        keys.reverse();
    }
    let parts = |key: &String| {
        let part = |qualifier, partial| ScannedRow {
            row: Row::new(vec![cell(key, qualifier, "v")]),
            partial,
        };
        [part("a", true), part("b", false)]
    };
    keys.iter().flat_map(parts).collect()
}

async fn check(rows: Arc<Rows>, reversed: bool) {
    let case = format!("{:?} in call {}, reversed: {reversed}", rows.trouble, rows.at);
    let handler = {
        let rows = rows.clone();
        move |request: &Request| rows.answer(request)
    };
    let cluster = FakeCluster::start(&["10", "20"], TableState::Enabled, handler).await;
    // The fake does not support reversed lookups in hbase:meta, so cache the regions first.
    if reversed {
        for row in ["00", "10", "20"] {
            let scan = Scan::new(rowhouse_model::RowRange::row(row.as_bytes()));
            cluster.table.scan(scan).collect().await.unwrap();
        }
        rows.calls.store(0, Ordering::SeqCst);
    }
    let scanned = cluster.table.scan(Scan { reversed, ..Scan::all() }).collect().await.unwrap();
    let keys: Vec<_> = scanned.iter().map(|row| String::from_utf8_lossy(row.key())).collect();
    let mut expected: Vec<_> = (0..ROWS).map(|at| format!("{at:02}")).collect();
    if reversed {
        expected.reverse();
    }
    assert_eq!(keys, expected, "{case}");
    assert!(scanned.iter().all(|row| row.len() == 2), "{case}");
}

#[tokio::test]
async fn scan_returns_every_row_once_despite_failures() {
    let troubles = [
        Trouble::Refuse(ErrorKind::UnknownScanner),
        Trouble::Refuse(ErrorKind::OutOfOrderScanner),
        Trouble::Refuse(ErrorKind::RegionTooBusy),
        Trouble::LoseAnswer,
        Trouble::Heartbeat,
    ];
    for trouble in troubles {
        for at in 0..13 {
            check(Rows::new(trouble, at), false).await;
        }
    }
    for at in 0..13 {
        check(Rows::new(Trouble::Refuse(ErrorKind::NotServingRegion), at), false).await;
    }
}

#[tokio::test]
async fn every_row_comes_once_from_the_last_to_the_first() {
    let troubles = [
        Trouble::Refuse(ErrorKind::UnknownScanner),
        Trouble::Refuse(ErrorKind::RegionTooBusy),
        Trouble::Heartbeat,
    ];
    for trouble in troubles {
        for at in 0..13 {
            check(Rows::new(trouble, at), true).await;
        }
    }
}

#[tokio::test]
async fn a_scanner_that_is_dropped_is_closed_on_the_server() {
    let rows = Rows::new(Trouble::Heartbeat, usize::MAX);
    let handler = {
        let rows = rows.clone();
        move |request: &Request| rows.answer(request)
    };
    let cluster = FakeCluster::start(&["10", "20"], TableState::Enabled, handler).await;
    let mut scanner = cluster.table.scan(Scan::all());
    scanner.next().await.unwrap();
    assert_eq!(lock(&rows.scanners).len(), 1);
    drop(scanner);
    let closed = async {
        while !lock(&rows.scanners).is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), closed).await.unwrap();
}

#[tokio::test]
async fn limit_is_enforced_and_sent() {
    let rows = Rows::new(Trouble::Heartbeat, usize::MAX);
    let handler = move |request: &Request| rows.answer(request);
    let cluster = FakeCluster::start(&["10", "20"], TableState::Enabled, handler).await;
    for limit in [1, 3, 10, 12] {
        let scanned = cluster.table.scan(Scan::all().limit(limit)).collect().await.unwrap();
        assert_eq!(scanned.len() as u64, limit);
    }
    let first = cluster.requests(Method::Scan)[0].message::<proto::ScanRequest>().unwrap();
    assert_eq!(first.limit_of_rows, Some(1));
}
