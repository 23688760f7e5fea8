//! What clients can make the server hold has a bound, and clients that hold it do not stop others.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use prost::Message;
use rowhouse_format::convert;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellCodec, Service};
use rowhouse_model::{Filter, Get, Put, RegionInfo, Scan};

use crate::metrics::sample;
use crate::support::{self, Client, TestServer, head, region_ref};
use crate::web::{fetch, server_with};

const CALL_MEMORY: u64 = 16 << 20;
const CONNECTION_MEMORY: u64 = 4 << 20;
/// Longer than any server wait for a client.
const PATIENCE: Duration = Duration::from_secs(60);

fn small_server() -> (TestServer, SocketAddr) {
    server_of(CALL_MEMORY)
}

fn server_of(call_memory_bytes: u64) -> (TestServer, SocketAddr) {
    server_with(|options| {
        options.call_memory_bytes = call_memory_bytes;
        options.connection_memory_bytes = CONNECTION_MEMORY;
    })
}

fn metric(web: SocketAddr, name: &str) -> f64 {
    sample(&fetch(web, "/metrics", "localhost").1, name)
}

/// A table with 256 rows, each 64 KiB.
fn create_table(server: &TestServer) -> RegionInfo {
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let value = "v".repeat(64 << 10);
    for first in (0..256).step_by(16) {
        let rows = (first..first + 16).map(|row| (format!("r{row:03}"), value.clone()));
        support::put_many(&mut client, &region, rows);
    }
    support::put(&mut client, &region, "small", "v").unwrap();
    region
}

/// A scan that requests answers of 100 MB.
fn greedy_scan(region: &RegionInfo) -> proto::ScanRequest {
    let scan = OpenScan { result_bytes_max: Some(100 << 20), ..OpenScan::new(Scan::all()) };
    ScanCall::open(region_ref(region), scan, 1_000).to_proto()
}

/// Clients that read no answers; some wait for memory.
fn greedy_clients(server: &TestServer, region: &RegionInfo) -> Vec<Client> {
    let mut greedy: Vec<Client> = (0..32).map(|_| server.client()).collect();
    for client in &mut greedy {
        for _ in 0..8 {
            client.send(&greedy_scan(region), &[]);
        }
    }
    wait_until("greedy calls wait", || metric(server.web(), "rowhouse_call_memory_waiting") > 0.0);
    greedy
}

/// Waits until `done`.
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn connections_that_read_no_answers_hold_no_more_than_the_memory_of_calls() {
    let (server, web) = small_server();
    let region = create_table(&server);
    let mut greedy = greedy_clients(&server, &region);
    let mut client = server.client();
    for row in 0..50 {
        support::put(&mut client, &region, &format!("small{row}"), "v").unwrap();
        let row = support::get(&mut client, &region, "small").unwrap();
        assert_eq!(row.value("cf", "q").unwrap(), "v");
    }
    assert!(metric(web, "rowhouse_call_memory_peak_bytes") <= CALL_MEMORY as f64);
    // One waiting connection reads: the calls on it are answered, each with what there is room for.
    drop(greedy.split_off(1));
    let (_, body) = greedy[0].receive_body();
    let mut cells = body.cells(Some(CellCodec::KeyValue));
    let answer = ScanResult::from_proto(body.message().unwrap(), &mut cells).unwrap();
    assert!(!answer.rows.is_empty());
    assert!(answer.more_results && answer.more_results_in_region == Some(true));
    drop(greedy);
    wait_until("the memory is given back", || metric(web, "rowhouse_call_memory_bytes") == 0.0);
}

#[test]
fn a_connection_that_reads_no_answers_ends_while_others_wait_for_memory() {
    let (server, _) = small_server();
    let region = create_table(&server);
    let greedy = greedy_clients(&server, &region);
    // It needs a worker thread and memory.
    let mut client = server.client();
    client.timeout_ms = Some(120_000);
    client.send(&greedy_scan(&region), &[]);
    wait_until("the scan is answered", || client.has_answer());
    drop(greedy);
}

#[test]
fn all_rows_come_where_answers_are_cut_to_the_memory_that_is_left() {
    let (server, _) = small_server();
    let region = create_table(&server);
    let mut client = server.client();
    let (answer, mut cells) = client.call_with(&greedy_scan(&region), &[]).unwrap();
    let mut answer = ScanResult::from_proto(answer, &mut cells).unwrap();
    let mut bytes = 0;
    let mut answers = 0_u64;
    loop {
        answers += 1;
        bytes += answer.rows.iter().map(|row| row.row.byte_len()).sum::<u64>();
        if answer.more_results_in_region != Some(true) {
            break;
        }
        let next = ScanCall::next(answer.scanner.unwrap(), answers - 1, 1_000);
        let (message, mut cells) = client.call_with(&next.to_proto(), &[]).unwrap();
        answer = ScanResult::from_proto(message, &mut cells).unwrap();
    }
    assert!(bytes >= 256 * (64 << 10), "bytes={bytes}");
    assert!(answers >= 8, "an answer has at most half of the memory of a connection: {answers}");
}

#[test]
fn requests_that_do_not_end_hold_no_more_than_the_memory_of_calls() {
    const CALL_MEMORY: u64 = 64 << 20;
    let (server, web) = server_of(CALL_MEMORY);
    let region = create_table(&server);
    let mut slow: Vec<Client> = (0..32).map(|_| server.client()).collect();
    for client in &mut slow {
        // A 5 MiB frame; half of it comes.
        client.send_bytes(&(5_u32 << 20).to_be_bytes());
        client.send_bytes(&vec![0; 16 << 10]);
    }
    wait_until("requests wait", || metric(web, "rowhouse_call_memory_waiting") > 0.0);
    assert!(metric(web, "rowhouse_call_memory_peak_bytes") <= CALL_MEMORY as f64);
    let mut client = server.client();
    for _ in 0..50 {
        support::get(&mut client, &region, "small").unwrap();
    }
    // They come too slowly for the calls that wait.
    let value = "v".repeat(1 << 20);
    support::put(&mut client, &region, "large", &value).unwrap();
    assert_eq!(
        support::get(&mut client, &region, "large").unwrap().value("cf", "q").unwrap(),
        value
    );
}

#[test]
fn no_call_starts_after_its_connection_has_closed() {
    let (server, web) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for first in (0..20_000).step_by(5_000) {
        let rows = (first..first + 5_000).map(|row| (format!("r{row:06}"), "v".to_owned()));
        support::put_many(&mut client, &region, rows);
    }
    let filter = Filter::parse("ValueFilter(=, 'regexstring:^[a-u]*x$')").unwrap();
    let scan = OpenScan::new(Scan { filter: Some(Box::new(filter)), ..Scan::all() });
    let message = ScanCall::open(region_ref(&region), scan, 1_000).to_proto();
    let mut gone: Vec<Client> = (0..8).map(|_| server.client()).collect();
    for client in &mut gone {
        for _ in 0..64 {
            client.send(&message, &[]);
        }
    }
    let scans = || {
        let (_, text) = fetch(web, "/metrics", "localhost");
        let name = "rowhouse_call_seconds_count{method=\"Scan\"}";
        if text.contains(name) { sample(&text, name) } else { 0.0 }
    };
    wait_until("scans run", || scans() > 0.0);
    drop(gone);
    wait_until("calls end", || metric(web, "rowhouse_call_memory_bytes") == 0.0);
    let ended = scans();
    assert!(ended < 200.0, "512 scans were sent, {ended} ran");
    support::get(&mut client, &region, "r000001").unwrap();
    assert_eq!(scans(), ended);
}

/// A row with 24 MiB, more than all call memory.
fn put_large_row(server: &TestServer, region: &RegionInfo) {
    let mut client = server.client();
    for column in 0..24 {
        let put = Put::new("wide").unwrap();
        let put = put.add("cf", format!("q{column:02}"), vec![b'v'; 1 << 20]).unwrap();
        support::mutate(&mut client, region, put).unwrap();
    }
}

#[test]
fn a_row_above_the_memory_of_calls_is_served_alone() {
    let (server, _) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    put_large_row(&server, &region);
    // One that waited to be read would end while others wait.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let get = convert::get::to_proto(&Get::new("wide").unwrap());
                let message = proto::GetRequest { region: region_ref(&region).to_proto(), get };
                let (answer, _) = server.client().call_with(&message, &[]).unwrap();
                assert_eq!(answer.result.unwrap().associated_cell_count, Some(24));
            });
        }
    });
}

#[test]
fn gets_of_a_call_that_do_not_fit_the_memory_are_left_to_be_repeated() {
    let (server, _) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    put_large_row(&server, &region);
    let actions = (0..3).map(|index| {
        let get = Action::Get(Get::new("wide").unwrap());
        IndexedAction { index, action: Ok(get) }
    });
    let mut left: Vec<IndexedAction> = actions.collect();
    let mut client = server.client();
    let mut calls = 0;
    while !left.is_empty() {
        calls += 1;
        let actions = Ok(std::mem::take(&mut left));
        let region = region_ref(&region);
        let regions = vec![RegionActions { region, atomic: false, condition: None, actions }];
        let (message, cells) = MultiCall { regions }.to_proto().unwrap();
        let (answer, mut cells) = client.call_with(&message, &cells).unwrap();
        let answer = MultiResult::from_proto(answer, &mut cells).unwrap();
        let answers = &answer.regions[0].as_ref().unwrap().answers;
        for one in answers {
            match &one.answer {
                Ok(ActionResult::Row(row)) => assert_eq!(row.len(), 24),
                Ok(other) => panic!("{other:?}"),
                Err(error) => {
                    assert!(error.to_string().contains("the response is full"), "{error}");
                    let get = Action::Get(Get::new("wide").unwrap());
                    left.push(IndexedAction { index: one.index, action: Ok(get) });
                }
            }
        }
    }
    assert!((1..=3).contains(&calls), "{calls}");
}

#[test]
fn a_client_that_joins_no_partial_rows_gets_a_row_above_the_memory_of_calls_whole() {
    let (server, _) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    put_large_row(&server, &region);
    let mut client = server.client();
    let call = ScanCall {
        client_handles_partials: false,
        client_handles_heartbeats: false,
        ..ScanCall::open(region_ref(&region), OpenScan::new(Scan::all()), 10)
    };
    let (answer, mut cells) = client.call_with(&call.to_proto(), &[]).unwrap();
    let answer = ScanResult::from_proto(answer, &mut cells).unwrap();
    assert_eq!(answer.rows.len(), 1);
    assert_eq!(answer.rows[0].row.len(), 24);
    assert!(!answer.rows[0].partial);
}

#[test]
fn a_request_above_the_memory_of_calls_is_served() {
    let (server, _) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let value = "v".repeat(20 << 20);
    support::put(&mut client, &region, "large", &value).unwrap();
    let row = support::get(&mut client, &region, "large").unwrap();
    assert_eq!(row.value("cf", "q").unwrap().len(), 20 << 20);
}

#[test]
fn one_connection_cannot_take_all_scanners() {
    const MAX: usize = 10_000;
    let (server, web) = small_server();
    let region = create_table(&server);
    let mut client = server.client();
    let scan = OpenScan { result_bytes_max: Some(1), ..OpenScan::new(Scan::all()) };
    let message = ScanCall::open(region_ref(&region), scan, 1).to_proto();
    for _ in 0..MAX {
        client.call(&message).unwrap();
    }
    let refused = client.call(&message).unwrap_err();
    assert!(refused.message.contains("too many open scanners of one connection"), "{refused:?}");
    assert_eq!(metric(web, "rowhouse_open_scanners"), MAX as f64);
    server.client().call(&message).unwrap();
}

#[test]
fn health_is_answered_while_all_web_connections_are_taken() {
    let (_server, web) = small_server();
    // Each that gets a page counts until it is dropped.
    let mut idle = Vec::new();
    loop {
        let mut stream = TcpStream::connect(web).unwrap();
        stream.write_all(b"GET /settings HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        if status == *b"HTTP/1.1 503" {
            break;
        }
        assert_eq!(status, *b"HTTP/1.1 200");
        idle.push(stream);
    }
    assert_eq!(idle.len(), 64);
    for _ in 0..20 {
        assert_eq!(fetch(web, "/health", "localhost").0, "HTTP/1.1 200 OK");
        assert_eq!(fetch(web, "/metrics", "localhost").0, "HTTP/1.1 200 OK");
    }
    drop(idle);
    wait_until("pages are answered again", || {
        fetch(web, "/settings", "localhost").0 == "HTTP/1.1 200 OK"
    });
}

#[test]
fn a_connection_that_does_not_finish_its_first_request_ends() {
    let (server, _) = small_server();
    let mut rpc = TcpStream::connect(server.address()).unwrap();
    rpc.write_all(b"HBas").unwrap();
    let mut zookeeper = TcpStream::connect(server.zookeeper()).unwrap();
    zookeeper.write_all(&[0, 0, 0, 45, 0]).unwrap();
    for stream in [&mut rpc, &mut zookeeper] {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A byte now and then is no progress.
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    }
    // Others go on.
    Client::connect_as(server.address(), &head(Service::Client));
}

#[test]
fn a_request_that_cannot_be_read_reserves_nothing_for_the_next() {
    const CALL_MEMORY: u64 = 64 << 20;
    let (server, web) = server_of(CALL_MEMORY);
    server.create_table("t", &["cf"], &[]);
    let mut clients: Vec<Client> = (0..8).map(|_| server.client()).collect();
    for client in &mut clients {
        // A method that is not there, in a 32 KiB frame.
        let header = proto::RequestHeader {
            call_id: Some(1),
            method_name: Some("Nope".into()),
            request_param: Some(true),
            ..Default::default()
        };
        let mut frame = header.encode_length_delimited_to_vec();
        frame.resize(32 << 10, 0);
        client.send_bytes(&(frame.len() as u32).to_be_bytes());
        client.send_bytes(&frame);
        assert!(client.receive().unwrap().outcome.is_err());
        client.send_bytes(&(20_u32 << 20).to_be_bytes());
        client.send_bytes(&vec![0; 16 << 10]);
    }
    wait_until("requests wait", || metric(web, "rowhouse_call_memory_waiting") > 0.0);
}

#[test]
fn gets_of_one_connection_that_outgrow_its_memory_are_answered_one_after_the_other() {
    let (server, web) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    put_large_row(&server, &region);
    let mut client = server.client();
    let get = convert::get::to_proto(&Get::new("wide").unwrap());
    let message = proto::GetRequest { region: region_ref(&region).to_proto(), get };
    (0..6).for_each(|_| _ = client.send(&message, &[]));
    for _ in 0..6 {
        let (_, body) = client.receive_body();
        let answer = body.message::<proto::GetResponse>().unwrap();
        assert_eq!(answer.result.unwrap().associated_cell_count, Some(24));
    }
    wait_until("the memory is given back", || metric(web, "rowhouse_call_memory_bytes") == 0.0);
}

#[test]
fn requests_that_come_at_once_do_not_wait_for_each_other() {
    let (server, _) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let value = "v".repeat(200 << 10);
    let clients: Vec<Client> = (0..16).map(|_| server.client()).collect();
    std::thread::scope(|scope| {
        for (nth, mut client) in clients.into_iter().enumerate() {
            let region = &region;
            let value = &value;
            scope.spawn(move || {
                for round in 0..4 {
                    let row = format!("r{nth}-{round}");
                    support::put(&mut client, region, &row, value).unwrap();
                    support::get(&mut client, region, &row).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_connection_that_ends_in_the_middle_of_a_request_gives_its_memory_back() {
    let (server, web) = small_server();
    let region = create_table(&server);
    for _ in 0..8 {
        let mut client = server.client();
        (0..4).for_each(|_| _ = client.send(&greedy_scan(&region), &[]));
        client.send_bytes(&(3_u32 << 20).to_be_bytes());
        client.send_bytes(&vec![0; 100 << 10]);
    }
    wait_until("the memory is given back", || metric(web, "rowhouse_call_memory_bytes") == 0.0);
    let mut client = server.client();
    let value = "v".repeat(1 << 20);
    support::put(&mut client, &region, "large", &value).unwrap();
}

#[test]
fn a_cell_above_the_memory_of_calls_is_served_alone_by_gets_and_scans() {
    let (server, web) = small_server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let value = "v".repeat(20 << 20);
    support::put(&mut client, &region, "r", &value).unwrap();
    let mut unread: Vec<Client> = (0..8).map(|_| server.client()).collect();
    let get = convert::get::to_proto(&Get::new("r").unwrap());
    let get = proto::GetRequest { region: region_ref(&region).to_proto(), get };
    for client in &mut unread {
        client.send(&get, &[]);
        client.send(&greedy_scan(&region), &[]);
    }
    wait_until("calls wait", || metric(web, "rowhouse_call_memory_waiting") > 0.0);
    drop(unread);
    let (answer, mut cells) = client.call_with(&greedy_scan(&region), &[]).unwrap();
    let answer = ScanResult::from_proto(answer, &mut cells).unwrap();
    assert_eq!(answer.rows[0].row.value("cf", "q").unwrap(), value);
}
