//! Scanners as used by clients: opened, continued in order, renewed, closed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod catalog;
mod life;
mod limits;
mod pauses;
mod queries;
mod searches;
#[path = "../support/mod.rs"]
mod support;

use rowhouse_format::convert::scan::{OpenScan, ScanResult};
use rowhouse_model::{RegionInfo, Scan};
use support::{Client, TestServer};

/// A server with a one-region table, whose rows are `r000`, `r001` and so on.
struct Rows {
    server: TestServer,
    region: RegionInfo,
    client: Client,
}

impl Rows {
    fn new(count: usize) -> Self {
        let server = TestServer::start();
        let region = server.create_table("t", &["cf"], &[]).remove(0);
        let mut client = server.client();
        for number in 0..count {
            support::put(&mut client, &region, &row(number), &format!("v{number}")).unwrap();
        }
        Self { server, region, client }
    }

    /// Creates rows that all have this value.
    fn of_values(count: usize, value: &str) -> Self {
        let mut rows = Self::new(0);
        for number in 0..count {
            support::put(&mut rows.client, &rows.region, &row(number), value).unwrap();
        }
        rows
    }

    /// Opens a scanner over all rows and takes the first `rows`.
    fn open(&mut self, rows: u32) -> ScanResult {
        support::open(&mut self.client, &self.region, all(), rows).unwrap()
    }

    fn next(&mut self, scanner: u64, next_call_seq: u64, rows: u32) -> ScanResult {
        support::next(&mut self.client, scanner, next_call_seq, rows).unwrap()
    }
}

fn row(number: usize) -> String {
    format!("r{number:03}")
}

fn all() -> OpenScan {
    OpenScan::new(Scan::all())
}

/// Returns the answer rows' keys.
fn keys(answer: &ScanResult) -> Vec<String> {
    support::rows_of(answer).into_iter().map(|(key, _)| key).collect()
}

fn expected(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(row).collect()
}
