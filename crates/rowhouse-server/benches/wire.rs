//! Measures a server process under calls from one client and from four: `cargo bench -p
//! rowhouse-server --bench wire`.
//!
//! The server runs in a separate process, and the CPU time is the sum over all its threads, in
//! nanoseconds, from `/proc`. Beside it, the *floor*: a process with one thread that waits by
//! `epoll`, reads a request and sends as many bytes as the server's answer has, in turn with the
//! server. Each of [`ROUNDS`] rounds starts both anew; the results are medians with the minimum. An
//! argument chooses the calls whose names, with the client count, begin with it: `"get 4"`.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use rowhouse_format::convert::multi::{Action, IndexedAction, MultiCall, RegionActions};
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_format::convert::{names, region};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Get, RegionInfo, RowRange, Scan};
use rustix::event::epoll;
use support::{Client, TestServer, region_ref};

const ROUNDS: usize = 5;
const ROWS: usize = 100_000;
const VALUE_BYTES: usize = 1_000;

/// The argument that makes this program the server.
const SERVE: &str = "--serve";
/// The argument that makes this program the floor, followed by the answer bytes.
const ECHO: &str = "--echo";

/// A kind of call.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    clients: usize,
    /// Per client.
    calls: usize,
    /// What the CPU time is divided by, beside the calls.
    rows: usize,
    call: fn(&mut Client, &RegionInfo, usize),
    /// The bytes in a request and in the answer.
    bytes: (usize, usize),
}

const fn kind(
    name: &'static str,
    clients: usize,
    calls: usize,
    rows: usize,
    call: fn(&mut Client, &RegionInfo, usize),
    bytes: (usize, usize),
) -> Kind {
    Kind { name, clients, calls, rows, call, bytes }
}

/// Reads come first, from rows in one file. Writes leave rows in memstores and in several files.
const KINDS: [Kind; 11] = [
    kind("get", 1, 20_000, 1, get, (150, 1_060)),
    kind("get", 4, 15_000, 1, get, (150, 1_060)),
    kind("get of 100 rows", 1, 400, 100, get_many, (4_000, 104_000)),
    kind("scan of 100 rows", 1, 2_000, 1, scan, (200, 104_000)),
    kind("scan of all rows", 1, 1, ROWS, scan_all, (200, 2_100_000)),
    kind("put", 1, 20_000, 1, put, (1_160, 40)),
    kind("put", 4, 15_000, 1, put, (1_160, 40)),
    kind("increment", 1, 20_000, 1, add, (180, 90)),
    kind("increment", 4, 15_000, 1, add, (180, 90)),
    kind("put of 100 rows", 1, 400, 100, put_many, (106_000, 700)),
    kind("put of 2,000 rows", 1, 25, 2_000, put_buffer, (2_120_000, 10_000)),
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(SERVE) => return serve(),
        Some(ECHO) => return echo(arguments[1].parse().unwrap()),
        _ => {}
    }
    let is_selected = |kind: &Kind| match arguments.iter().find(|it| !it.starts_with("--")) {
        Some(prefix) => format!("{} {}", kind.name, kind.clients).starts_with(&prefix[..]),
        None => true,
    };
    let kinds: Vec<_> = KINDS.into_iter().filter(is_selected).collect();
    let mut times = vec![[Vec::new(), Vec::new()]; kinds.len()];
    for _ in 0..ROUNDS {
        let server = Process::start(&[SERVE]);
        load(&server.address);
        for (kind, [ours, floor]) in kinds.iter().zip(&mut times) {
            ours.push(measure(&server, kind, by_server(&server.address, kind)));
            let echo = Process::start(&[ECHO, &kind.bytes.1.to_string()]);
            floor.push(measure(&echo, kind, by_echo(&echo.address, kind)));
        }
    }
    println!("µs of CPU a call, or a row where a call has many that are counted");
    println!("{:<20} {:>7} {:>16} {:>16}", "", "clients", "server", "floor");
    for (kind, [mut ours, mut floor]) in kinds.iter().zip(times) {
        let ours = summary(&mut ours);
        let floor = summary(&mut floor);
        println!("{:<20} {:>7} {ours:>16} {floor:>16}", kind.name, kind.clients);
    }
}

fn summary(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2})", times[times.len() / 2], times[0])
}

/// A process that listens.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim_end().to_owned() }
    }

    /// Returns all threads' CPU time.
    fn cpu_nanos(&self) -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let nanos = |task: std::fs::DirEntry| -> Option<u64> {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        tasks.filter_map(|task| nanos(task.ok()?)).sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process ends when the input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Returns a process's CPU microseconds for each call or row, while each client calls as often as
/// the kind says.
fn measure(process: &Process, kind: &Kind, clients: Vec<impl FnMut(usize) + Send>) -> f64 {
    let before = process.cpu_nanos();
    std::thread::scope(|scope| {
        for (nth, mut call) in clients.into_iter().enumerate() {
            scope.spawn(move || (0..kind.calls).for_each(|n| call(n * kind.clients + nth)));
        }
    });
    let nanos = process.cpu_nanos() - before;
    nanos as f64 / 1_000.0 / (kind.calls * kind.clients * kind.rows) as f64
}

fn by_server(address: &str, kind: &Kind) -> Vec<impl FnMut(usize) + Send + use<>> {
    let region = region(address);
    let kind = *kind;
    let client = |_| {
        let mut client = Client::connect(address, Service::Client);
        let region = region.clone();
        (kind.call)(&mut client, &region, 0);
        move |number| (kind.call)(&mut client, &region, number)
    };
    (0..kind.clients).map(client).collect()
}

fn by_echo(address: &str, kind: &Kind) -> Vec<impl FnMut(usize) + Send + use<>> {
    let (request, answer) = kind.bytes;
    let client = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut bytes = (request as u32).to_be_bytes().to_vec();
        bytes.resize(request + 4, 0);
        let mut received = vec![0; answer];
        move |_| {
            stream.write_all(&bytes).unwrap();
            stream.read_exact(&mut received).unwrap();
        }
    };
    (0..kind.clients).map(client).collect()
}

/// Runs a server until the input ends.
fn serve() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    println!("{}", server.address());
    let _ = std::io::stdin().read(&mut [0]);
}

/// Answers requests, each with the length before it, with so many bytes, until the input ends.
fn echo(answer: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let queue = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    let add = |fd: &dyn std::os::fd::AsFd, number: usize| {
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&queue, fd.as_fd(), data, epoll::EventFlags::IN).unwrap();
    };
    add(&listener, 0);
    let mut streams: Vec<(TcpStream, usize)> = Vec::new();
    let mut input = vec![0; 256 << 10];
    let answer = vec![0; answer];
    let mut events = Vec::with_capacity(64);
    loop {
        events.clear();
        epoll::wait(&queue, rustix::buffer::spare_capacity(&mut events), None).unwrap();
        for event in &events {
            let number = event.data.u64() as usize;
            let Some((stream, missing)) = number.checked_sub(1).and_then(|at| streams.get_mut(at))
            else {
                let (stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                add(&stream, streams.len() + 1);
                streams.push((stream, 0));
                continue;
            };
            let read = stream.read(&mut input).unwrap_or(0);
            if read == 0 {
                epoll::delete(&queue, &*stream).unwrap();
                continue;
            }
            if *missing == 0 {
                *missing = u32::from_be_bytes(input[..4].try_into().unwrap()) as usize + 4;
            }
            *missing -= read;
            if *missing == 0 {
                stream.write_all(&answer).unwrap();
            }
        }
    }
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
    for first in (0..ROWS).step_by(500) {
        let rows = (first..first + 500).map(|number| (ordered(number), value(number)));
        support::put_many(&mut client, &region, rows);
    }
    let table_name = names::table_to_proto(&region.table);
    let message = proto::FlushTableRequest { table_name, ..Default::default() };
    Client::connect(address, Service::Master).call(&message).unwrap();
}

fn ordered(number: usize) -> String {
    format!("{number:026}")
}

/// Returns row keys in an order that defeats caches.
fn row(number: usize) -> String {
    ordered(number * 7_919 % ROWS)
}

fn value(number: usize) -> String {
    let mut value = format!("{number:010}");
    value.extend(std::iter::repeat_n('v', VALUE_BYTES - value.len()));
    value
}

fn get(client: &mut Client, region: &RegionInfo, number: usize) {
    assert!(!support::get(client, region, &row(number)).unwrap().is_empty());
}

fn put(client: &mut Client, region: &RegionInfo, number: usize) {
    support::put(client, region, &row(number), &value(number)).unwrap();
}

fn add(client: &mut Client, region: &RegionInfo, number: usize) {
    support::increment(client, region, &format!("n{}", row(number)), 1).unwrap();
}

fn get_many(client: &mut Client, region: &RegionInfo, number: usize) {
    let actions = (0..100).map(|nth| {
        let get = Get::new(row(number * 100 + nth)).unwrap();
        IndexedAction { index: nth as u32, action: Ok(Action::Get(get)) }
    });
    let actions = Ok(actions.collect());
    let region = region_ref(region);
    let regions = vec![RegionActions { region, atomic: false, condition: None, actions }];
    let (message, cells) = MultiCall { regions }.to_proto().unwrap();
    client.call_with(&message, &cells).unwrap();
}

fn put_many(client: &mut Client, region: &RegionInfo, number: usize) {
    let rows = (0..100).map(|nth| number * 100 + nth).map(|number| (row(number), value(number)));
    support::put_many(client, region, rows);
}

fn put_buffer(client: &mut Client, region: &RegionInfo, number: usize) {
    let rows = (0..2_000).map(|nth| number * 2_000 + nth);
    support::put_many(client, region, rows.map(|number| (row(number), value(number))));
}

fn scan(client: &mut Client, region: &RegionInfo, number: usize) {
    let start = number * 7_919 % (ROWS - 100);
    let range = RowRange { start: ordered(start).into(), stop: ordered(start + 100).into() };
    let scan = OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(Scan::new(range)) };
    let call = ScanCall::open(region_ref(region), scan, 100);
    let first = support::scan(client, &ScanCall { limit: Some(100), ..call }).unwrap();
    assert_eq!(first.rows.len(), 100);
}

fn scan_all(client: &mut Client, region: &RegionInfo, _: usize) {
    let range = RowRange { start: "".into(), stop: "n".into() };
    let scan = OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(Scan::new(range)) };
    let mut answer =
        support::scan(client, &ScanCall::open(region_ref(region), scan, 10_000)).unwrap();
    let scanner = answer.scanner.unwrap();
    let mut rows = answer.rows.len();
    for sequence in 0.. {
        if answer.more_results_in_region != Some(true) {
            break;
        }
        answer = support::next(client, scanner, sequence, 10_000).unwrap();
        rows += answer.rows.len();
    }
    assert_eq!(rows, ROWS);
}
