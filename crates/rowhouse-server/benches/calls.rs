//! Measures the server's CPU time per call: `cargo bench -p rowhouse-server --bench calls`.
//!
//! One client sends calls one after the other over loopback. The client thread's own time is not
//! counted. Each round (five in total) uses a new server; the result is the median, printed with
//! the minimum.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

#[path = "../tests/support/mod.rs"]
mod support;

use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_model::{RegionInfo, RowRange, Scan};
use support::{Client, TestServer, region_ref};

const ROUNDS: usize = 5;
const ROWS: usize = 10_000;
const CALLS: usize = 60_000;

fn main() {
    let mut all = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (times, time) in all.iter_mut().zip(round()) {
            times.push(time);
        }
    }
    for (name, mut times) in ["get", "put", "scan of 100 rows"].into_iter().zip(all) {
        times.sort_by(f64::total_cmp);
        println!("{name:<16} {:6.1} µs CPU ({:.1})", times[ROUNDS / 2], times[0]);
    }
}

/// Returns the times for a get, a put and a 100-row scan; each row has one cell with a 100-byte
/// value.
fn round() -> [f64; 3] {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let value = "v".repeat(100);
    for first in (0..ROWS).step_by(500) {
        let rows = (first..first + 500).map(|number| (row(number), value.clone()));
        support::put_many(&mut client, &region, rows);
    }
    let get = measure(CALLS, |number| {
        support::get(&mut client, &region, &row(number)).unwrap();
    });
    let scan = measure(CALLS / 4, |number| scan(&mut client, &region, number));
    let put = measure(CALLS, |number| {
        support::put(&mut client, &region, &row(number), &value).unwrap();
    });
    [get, put, scan]
}

/// Returns row keys in an order that defeats caches.
fn row(number: usize) -> String {
    format!("r{:06}", number * 7919 % ROWS)
}

fn scan(client: &mut Client, region: &RegionInfo, number: usize) {
    let range = RowRange { start: row(number).into(), stop: "".into() };
    let scan = OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(Scan::new(range)) };
    let call = ScanCall::open(region_ref(region), scan, 100);
    support::scan(client, &ScanCall { limit: Some(100), ..call }).unwrap();
}

/// Returns the CPU microseconds per call in the process, without this thread.
fn measure(calls: usize, mut call: impl FnMut(usize)) -> f64 {
    let others = || cpu_micros("/proc/self/stat") - cpu_micros("/proc/thread-self/stat");
    let before = others();
    (0..calls).for_each(&mut call);
    (others() - before) / calls as f64
}

/// Returns the user and system time, the 14th and 15th fields, in microseconds; the kernel counts
/// in hundredths of a second.
fn cpu_micros(stat: &str) -> f64 {
    let text = std::fs::read_to_string(stat).unwrap();
    let after_name = text.rsplit(") ").next().unwrap();
    let ticks: f64 =
        after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum();
    ticks * 10_000.0
}
