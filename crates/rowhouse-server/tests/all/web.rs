//! Metrics and health over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::support::{self, TestServer};

fn server() -> (TestServer, SocketAddr) {
    let server = TestServer::start_with(|options| options.web = Some("127.0.0.1:0".into()));
    let web = server.web();
    (server, web)
}

/// Sends a request and returns the status line and the body.
fn ask(web: SocketAddr, path: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(web).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
}

#[test]
fn calls_reads_writes_and_errors_are_counted() {
    let (server, web) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for row in ["a", "b", "c"] {
        support::put(&mut client, &region, row, "v").unwrap();
    }
    support::get(&mut client, &region, "a").unwrap();
    let elsewhere = rowhouse_format::proto::GetRequest {
        region: support::region_ref(&region).to_proto(),
        get: rowhouse_format::proto::Get {
            row: "a".into(),
            max_versions: Some(0),
            ..Default::default()
        },
    };
    client.call(&elsewhere).unwrap_err();

    let (status, text) = ask(web, "/metrics", "localhost:1");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Mutate\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_call_seconds_bucket{method=\"Mutate\",le=\"+Inf\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Get\"}"), 2.0);
    assert_eq!(sample(&text, "rowhouse_call_errors_total{method=\"Get\"}"), 1.0);
    assert_eq!(sample(&text, "rowhouse_table_writes_total{table=\"t\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_table_reads_total{table=\"t\"}"), 1.0);
    assert_eq!(sample(&text, "rowhouse_table_regions{table=\"t\"}"), 1.0);
    assert!(sample(&text, "rowhouse_memstore_bytes") > 0.0);
}

#[test]
fn health_is_200_while_writes_are_taken() {
    let (_server, web) = server();
    assert_eq!(ask(web, "/health", "127.0.0.1"), ("HTTP/1.1 200 OK".into(), "ok\n".into()));
}

#[test]
fn running_tasks_are_listed_for_hbases_shell_which_finds_the_port_in_the_status() {
    let (server, web) = server();
    let mut master = server.connect(rowhouse_format::rpc::Service::Master);
    let status = master.call(&rowhouse_format::proto::GetClusterStatusRequest::default()).unwrap();
    let load = &status.cluster_status.live_servers[0].server_load;
    assert_eq!(load.info_server_port(), u32::from(web.port()));
    let (status, tasks) = ask(web, "/rs-status?format=json&filter=general", "localhost");
    assert_eq!((&status[..], &tasks[..]), ("HTTP/1.1 200 OK", "[]"));
}

#[test]
fn requests_for_another_host_are_refused_and_other_paths_are_not_there() {
    let (_server, web) = server();
    let (status, body) = ask(web, "/metrics", "evil.example");
    assert_eq!(status, "HTTP/1.1 403 Forbidden");
    assert!(body.contains("evil.example"), "{body}");
    assert_eq!(ask(web, "/nothing", "localhost").0, "HTTP/1.1 404 Not Found");
}

#[test]
fn a_server_stops_while_a_client_keeps_its_connection_open() {
    let (server, web) = server();
    let mut idle = TcpStream::connect(web).unwrap();
    write!(idle, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answered = [0; 15];
    idle.read_exact(&mut answered).unwrap();
    assert_eq!(&answered, b"HTTP/1.1 200 OK");
    server.stop();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"ok\n"));
}
