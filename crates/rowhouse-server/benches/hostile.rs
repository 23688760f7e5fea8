//! Measures a server process under clients that take much and give nothing back:
//! `cargo bench -p rowhouse-server --bench hostile`.
//!
//! For each kind of hostile client: the server's resident memory before and at most, and one modest
//! client's latency (a get, a put and a 100-row scan in turn) alone and beside the others, in
//! microseconds. An argument chooses the kinds whose names begin with it.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_format::convert::{names, region};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{RegionInfo, RowRange, Scan};
use support::{Client, TestServer, region_ref};

const ROWS: usize = 200_000;
const VALUE_BYTES: usize = 1_000;
/// How long the hostile clients are there.
const TIME: Duration = Duration::from_secs(15);
/// The argument that makes this program the server.
const SERVE: &str = "--serve";

/// A kind of hostile client.
struct Kind {
    name: &'static str,
    clients: usize,
    run: fn(&str, &RegionInfo, &AtomicBool),
}

const KINDS: [Kind; 5] = [
    Kind { name: "scans of 100 MB, unread", clients: 64, run: unread_scans },
    Kind { name: "scans of 100 MB, read", clients: 64, run: read_scans },
    Kind { name: "requests of 250 MB, unfinished", clients: 16, run: unfinished_requests },
    Kind { name: "gets, unread", clients: 64, run: unread_gets },
    Kind { name: "open scanners", clients: 10, run: open_scanners },
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == SERVE) {
        return serve();
    }
    let requested = arguments.iter().find(|it| !it.starts_with("--"));
    let kinds =
        KINDS.iter().filter(|kind| requested.is_none_or(|it| kind.name.starts_with(&it[..])));
    println!(
        "{:<32} {:>16} {:>24} {:>24}",
        "", "MB before, most", "alone p50 p99 max", "beside p50 p99 max"
    );
    for kind in kinds {
        let server = Process::start();
        load(&server.address);
        let region = region(&server.address);
        let before = server.resident_bytes();
        let alone = latencies(&server.address, &region, Duration::from_secs(3));
        let stop = AtomicBool::new(false);
        let most = AtomicU64::new(0);
        let beside = std::thread::scope(|scope| {
            for _ in 0..kind.clients {
                scope.spawn(|| (kind.run)(&server.address, &region, &stop));
            }
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    most.fetch_max(server.resident_bytes(), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            std::thread::sleep(Duration::from_millis(500));
            let beside = latencies(&server.address, &region, TIME);
            stop.store(true, Ordering::Relaxed);
            beside
        });
        let most = most.load(Ordering::Relaxed);
        let memory = format!("{} {}", before >> 20, most >> 20);
        println!("{:<32} {memory:>16} {:>24} {:>24}", kind.name, alone.summary(), beside.summary());
    }
}

/// Call latencies in microseconds.
struct Latencies(Vec<u64>);

impl Latencies {
    fn summary(&self) -> String {
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        format!("{} {} {}", at(0.5), at(0.99), at(1.0))
    }
}

/// Calls for some time, or until one call has taken longer.
fn latencies(address: &str, region: &RegionInfo, time: Duration) -> Latencies {
    let mut client = Client::connect(address, Service::Client);
    let started = Instant::now();
    let mut all = Vec::new();
    for number in 0.. {
        if started.elapsed() > time {
            break;
        }
        let call = Instant::now();
        match number % 3 {
            0 => drop(support::get(&mut client, region, &ordered(number % ROWS)).unwrap()),
            1 => support::put(&mut client, region, &format!("n{number}"), "v").unwrap(),
            _ => {
                let range = RowRange { start: ordered(number % ROWS).into(), stop: "n".into() };
                let scan =
                    OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(Scan::new(range)) };
                let call = ScanCall::open(region_ref(region), scan, 100);
                let call = ScanCall { limit: Some(100), ..call };
                assert!(!support::scan(&mut client, &call).unwrap().rows.is_empty());
            }
        }
        all.push(call.elapsed().as_micros() as u64);
        std::thread::sleep(Duration::from_millis(1));
    }
    all.sort_unstable();
    Latencies(all)
}

fn greedy_scan(region: &RegionInfo) -> proto::ScanRequest {
    let scan = OpenScan { result_bytes_max: Some(100 << 20), ..OpenScan::new(Scan::all()) };
    ScanCall::open(region_ref(region), scan, i32::MAX as u32).to_proto()
}

/// Sends requests for as long as the server takes them, on new connections where it ends them.
fn send_unread(address: &str, stop: &AtomicBool, write: impl Fn(&mut Client, &mut BytesMut)) {
    while !stop.load(Ordering::Relaxed) {
        let mut client = Client::connect(address, Service::Client);
        let mut bytes = BytesMut::new();
        write(&mut client, &mut bytes);
        if !client.try_send_bytes(&bytes) {
            continue;
        }
        while !stop.load(Ordering::Relaxed) && client.try_send_bytes(&[]) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn unread_scans(address: &str, region: &RegionInfo, stop: &AtomicBool) {
    let message = greedy_scan(region);
    send_unread(address, stop, |client, bytes| {
        (0..32).for_each(|_| _ = client.write(bytes, &message, &[]));
    });
}

fn unread_gets(address: &str, region: &RegionInfo, stop: &AtomicBool) {
    let get = proto::Get { row: ordered(7).into(), ..Default::default() };
    let message = proto::GetRequest { region: region_ref(region).to_proto(), get };
    send_unread(address, stop, |client, bytes| {
        (0..5_000).for_each(|_| _ = client.write(bytes, &message, &[]));
    });
}

fn read_scans(address: &str, region: &RegionInfo, stop: &AtomicBool) {
    let mut client = Client::connect(address, Service::Client);
    let message = greedy_scan(region);
    let mut bytes = BytesMut::new();
    client.write(&mut bytes, &message, &[]);
    for _ in 0..4 {
        client.send_bytes(&bytes);
    }
    while !stop.load(Ordering::Relaxed) {
        client.receive_body();
        client.send_bytes(&bytes);
    }
}

/// Opens as many scanners as a connection may have, each at another block.
fn open_scanners(address: &str, region: &RegionInfo, stop: &AtomicBool) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut client = Client::connect(address, Service::Client);
    for _ in 0..10_000 {
        let number = NEXT.fetch_add(7_919, Ordering::Relaxed) as usize % ROWS;
        let range = RowRange { start: ordered(number).into(), stop: "".into() };
        let scan = OpenScan { result_bytes_max: Some(1), ..OpenScan::new(Scan::new(range)) };
        let call = ScanCall::open(region_ref(region), scan, 1);
        if stop.load(Ordering::Relaxed) || client.call(&call.to_proto()).is_err() {
            return;
        }
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn unfinished_requests(address: &str, _: &RegionInfo, stop: &AtomicBool) {
    let part = vec![0; 1 << 20];
    while !stop.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut opening = BytesMut::new();
        support::head(Service::Client).encode_opening(&mut opening);
        opening.extend_from_slice(&(250_u32 << 20).to_be_bytes());
        let _ = stream.write_all(&opening);
        stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut left = 249 << 20;
        while !stop.load(Ordering::Relaxed) {
            match stream.write(&part[..part.len().min(left)]) {
                Ok(written) => left -= written,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            if left == 0 {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// The server.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim_end().to_owned() }
    }

    fn resident_bytes(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process ends when the input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Runs a server until the input ends.
fn serve() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    println!("{}", server.address());
    let _ = std::io::stdin().read(&mut [0]);
}

fn region(address: &str) -> RegionInfo {
    let mut admin = Client::connect(address, Service::Admin);
    let regions = admin.call(&proto::GetOnlineRegionRequest::default()).unwrap().region_info;
    let regions = regions.into_iter().map(|region| region::from_proto(region).unwrap());
    regions.into_iter().find(|region| region.table.to_string() == "t").unwrap()
}

/// Writes all rows, and flushes them.
fn load(address: &str) {
    let region = region(address);
    let mut client = Client::connect(address, Service::Client);
    let value = "v".repeat(VALUE_BYTES);
    for first in (0..ROWS).step_by(500) {
        let rows = (first..first + 500).map(|number| (ordered(number), value.clone()));
        support::put_many(&mut client, &region, rows);
    }
    let table_name = names::table_to_proto(&region.table);
    let message = proto::FlushTableRequest { table_name, ..Default::default() };
    Client::connect(address, Service::Master).call(&message).unwrap();
}

fn ordered(number: usize) -> String {
    format!("{number:026}")
}
