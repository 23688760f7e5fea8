//! What the recorded calls do not have: bounds, faults, streams, and what is beyond HBase.

use std::io::Write;
use std::net::TcpStream;

use rowhouse_format::convert::procedure::fault::{self, FaultCall};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{FaultCallKind, FaultEffect, FaultRule, TableDescriptor};
use rowhouse_server::WebPort;

use super::{JSON, OF_JSON, answer, create, get, put, send, server, server_with};
use crate::metrics::sample;
use crate::support::{self, TestServer};
use crate::web::page;

#[test]
fn calls_by_rest_are_counted_as_calls_of_the_rpc_port() {
    let (server, rest) = server_with(|options| options.web = WebPort::At("127.0.0.1:0".into()));
    create(rest, "t", &["f"]);
    put(rest, "/t/r/f:q", 1, b"v");
    assert_eq!(get(rest, "/t/r").status, 200);
    assert_eq!(get(rest, "/t/none").status, 404);
    let text = page(server.web(), "/metrics");
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Mutate\"}"), 1.0);
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Get\"}"), 2.0);
}

#[test]
fn rows_in_many_regions_are_put_got_and_scanned() {
    let (server, rest) = server_with(|options| options.region_servers = 2);
    server.create_table("t", &["f"], &[b"b", b"m", b"x"]);
    let rows = ["a", "c", "n", "y"];
    let cells = rows.map(|row| {
        use base64::Engine;
        let key = base64::engine::general_purpose::STANDARD.encode(row);
        format!(r#"{{"key":"{key}","Cell":[{{"column":"Zjpx","timestamp":1,"$":"dg=="}}]}}"#)
    });
    let body = format!(r#"{{"Row":[{}]}}"#, cells.join(","));
    assert_eq!(send(rest, "PUT", "/t/x", &[OF_JSON], body.as_bytes()).status, 200);
    let all = format!(r#"{{"Row":[{}]}}"#, cells.join(","));
    for path in ["/t/*", "/t/a,", "/t/multiget?row=a&row=c&row=n&row=y"] {
        assert_eq!(get(rest, path).text(), all, "{path}");
    }
    let reversed = format!(r#"{{"Row":[{},{}]}}"#, cells[3], cells[2]);
    assert_eq!(get(rest, "/t/*?reversed=true&limit=2").text(), reversed);
    let opened = send(rest, "PUT", "/t/scanner", &[OF_JSON], br#"{"batch":3}"#);
    let (_, id) = opened.header("location").unwrap().split_once("/t/scanner/").unwrap();
    let first = get(rest, &format!("/t/scanner/{id}"));
    assert_eq!(first.text(), format!(r#"{{"Row":[{}]}}"#, cells[..3].join(",")));
    assert_eq!(
        get(rest, &format!("/t/scanner/{id}")).text(),
        format!(r#"{{"Row":[{}]}}"#, cells[3])
    );
    assert_eq!(get(rest, &format!("/t/scanner/{id}")).status, 204);
    assert_eq!(send(rest, "DELETE", &format!("/t/scanner/{id}"), &[], b"").status, 200);
    assert_eq!(get(rest, &format!("/t/scanner/{id}")).status, 404);
}

#[test]
fn large_answers_are_sent_in_parts() {
    let (_server, rest) = server();
    create(rest, "t", &["f"]);
    let value = vec![b'v'; 300_000];
    for row in 0..20 {
        put(rest, &format!("/t/row{row:02}/f:q"), 1, &value);
    }
    let scanned = get(rest, "/t/*");
    assert_eq!(scanned.header("transfer-encoding"), Some("chunked"));
    let scanned: serde_json::Value = serde_json::from_slice(&scanned.body).unwrap();
    let rows = scanned["Row"].as_array().unwrap();
    assert_eq!(rows.len(), 20);
    let encoded = |row: &serde_json::Value| row["Cell"][0]["$"].as_str().unwrap().len();
    assert!(rows.iter().all(|row| encoded(row) == 400_000));
    let one = get(rest, "/t/row07");
    let one: serde_json::Value = serde_json::from_slice(&one.body).unwrap();
    assert_eq!(encoded(&one["Row"][0]), 400_000);
    let binary = send(rest, "GET", "/t/row07/f:q", &["Accept: application/octet-stream"], b"");
    assert_eq!(binary.body, value);
    // A frame of HBase's has 16 bits for the length.
    let framed = send(rest, "GET", "/t/row07*", &["Accept: application/protobuf"], b"");
    assert_eq!(framed.status, 413, "{framed:?}");
}

#[test]
fn pages_go_on_by_a_token() {
    let (_server, rest) = server();
    create(rest, "t", &["f"]);
    for row in 0..5 {
        put(rest, &format!("/t/r{row}/f:q"), 1, b"v");
    }
    let mut rows = Vec::new();
    let mut after = String::new();
    loop {
        let page = get(rest, &format!("/t/*?page=2{after}"));
        assert_eq!(page.status, 200, "{page:?}");
        let body: serde_json::Value = serde_json::from_slice(&page.body).unwrap();
        let keys = body["Row"].as_array().unwrap().iter();
        rows.extend(keys.map(|row| row["key"].as_str().unwrap().to_owned()));
        let Some(token) = page.header("x-page-token") else { break };
        after = format!("&after={token}");
    }
    assert_eq!(rows, ["cjA=", "cjE=", "cjI=", "cjM=", "cjQ="]);
    assert_eq!(get(rest, "/t/*?page=2&after=x").status, 400);
    assert_eq!(get(rest, "/t/*?page=0").status, 400);
    // A page has whole rows.
    assert_eq!(get(rest, "/t/*?page=2&batchsize=1").status, 400);
}

#[test]
fn queries_select_rows_and_keys_are_decoded() {
    let (server, rest) = server();
    let table = TableDescriptor::new(rowhouse_model::TableName::parse("mail").unwrap())
        .family(rowhouse_model::FamilyDescriptor::new("d").unwrap())
        .attribute("rowhouse.key", "1 [user text]#[n digits 2]");
    let create = proto::CreateTableRequest {
        table_schema: rowhouse_format::convert::table::to_proto(&table),
        ..Default::default()
    };
    server.connect(Service::Master).call(&create).unwrap();
    for row in ["bob%2301", "bob%2302", "eve%2301", "odd"] {
        put(rest, &format!("/mail/{row}/d:q"), 1, b"v");
    }
    let found = get(rest, "/mail/*?query=user%20=%20'bob'&key=decoded");
    assert_eq!(
        found.text(),
        r#"{"Row":[{"key":"Ym9iIzAx","decoded":{"user":"bob","n":1},"Cell":[{"column":"ZDpx","timestamp":1,"$":"dg=="}]},{"key":"Ym9iIzAy","decoded":{"user":"bob","n":2},"Cell":[{"column":"ZDpx","timestamp":1,"$":"dg=="}]}]}"#
    );
    assert!(get(rest, "/mail/odd?key=decoded").text().contains(r#""decoded":null"#));
    assert_eq!(get(rest, "/mail/odd?key=other").status, 400);
    let xml = send(rest, "GET", "/mail/odd?key=decoded", &["Accept: text/xml"], b"");
    assert_eq!(xml.status, 400);
    let wrong = get(rest, "/mail/*?query=colour%20=%20'red'");
    assert!(wrong.status >= 400 && wrong.text().contains("colour"), "{wrong:?}");
}

#[test]
fn a_scanner_belongs_to_its_user_and_table() {
    let (_server, rest) = server();
    create(rest, "t", &["f"]);
    create(rest, "u", &["f"]);
    put(rest, "/t/r/f:q", 1, b"v");
    let opened = send(rest, "PUT", "/t/scanner?user.name=bob", &[OF_JSON], b"{}");
    let (_, id) = opened.header("location").unwrap().split_once("/t/scanner/").unwrap();
    let id = id.split('?').next().unwrap();
    assert_eq!(get(rest, &format!("/t/scanner/{id}?user.name=eve")).status, 404);
    assert_eq!(get(rest, &format!("/u/scanner/{id}?user.name=bob")).status, 404);
    assert_eq!(get(rest, &format!("/t/scanner/{id}?user.name=bob")).status, 200);
}

#[test]
fn a_scanner_of_a_disabled_table_is_gone() {
    let (server, rest) = server();
    create(rest, "t", &["f"]);
    put(rest, "/t/r/f:q", 1, b"v");
    let opened = send(rest, "PUT", "/t/scanner", &[OF_JSON], br#"{"batch":1}"#);
    let (_, id) = opened.header("location").unwrap().split_once("/t/scanner/").unwrap();
    server.disable_table("t");
    let gone = get(rest, &format!("/t/scanner/{id}"));
    assert_eq!((gone.status, gone.text()), (410, "Gone\r\n"));
    assert_eq!(get(rest, &format!("/t/scanner/{id}")).status, 404);
}

#[test]
fn bodies_beyond_the_bounds_are_refused() {
    let (_server, rest) = server();
    create(rest, "t", &["f"]);
    let long = |length: u64| {
        let mut stream = TcpStream::connect(rest).unwrap();
        let head = format!(
            "PUT /t/r/f:q HTTP/1.1\r\nHost: {rest}\r\nConnection: close\r\n\
             Content-Type: application/octet-stream\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        answer(&mut stream)
    };
    let refused = long((64 << 20) + 1);
    assert_eq!((refused.status, refused.text().contains("max=67108864")), (413, true));
    // Cells of a few bytes take many times as much in memory.
    let cells = vec![r#"{"$":""}"#; 50_000].join(",");
    let body = format!(r#"{{"Row":[{{"Cell":[{cells}]}}]}}"#);
    let refused = send(rest, "PUT", "/t/r", &[OF_JSON], body.as_bytes());
    assert_eq!(refused.status, 413, "{refused:?}");
    let scanner = format!(r#"{{"filter":"{}"}}"#, "x".repeat(64 << 10));
    assert_eq!(send(rest, "PUT", "/t/scanner", &[OF_JSON], scanner.as_bytes()).status, 413);
    let chunked = ["Transfer-Encoding: chunked", "Content-Type: application/octet-stream"];
    let mut stream = TcpStream::connect(rest).unwrap();
    let mut request = format!(
        "PUT /t/r/f:q HTTP/1.1\r\nHost: {rest}\r\nConnection: close\r\n{}\r\n\r\n",
        chunked.join("\r\n")
    )
    .into_bytes();
    request.extend(format!("{:x}\r\n", 20 << 10).into_bytes());
    request.extend(vec![b'v'; 20 << 10]);
    request.extend(b"\r\n0\r\n\r\n");
    stream.write_all(&request).unwrap();
    assert_eq!(answer(&mut stream).status, 411);
    let gzip = [OF_JSON, "Content-Encoding: gzip"];
    assert_eq!(send(rest, "PUT", "/t/r", &gzip, b"{}").status, 415);
    // Each row has all columns, each cell the key in the path.
    let columns = vec!["f:q"; 3_500].join(",");
    let many = format!("/t/multiget/{columns}?{}", vec!["row=r"; 3_500].join("&"));
    assert_eq!(get(rest, &many).status, 413);
    let cells = vec![r#"{"column":"Zjpx","$":"dg=="}"#; 1_000].join(",");
    let body = format!(r#"{{"Row":[{{"Cell":[{cells}]}}]}}"#);
    let path = format!("/t/{}", "r".repeat(20_000));
    assert_eq!(send(rest, "PUT", &path, &[OF_JSON], body.as_bytes()).status, 413);
    assert_eq!(send(rest, "PUT", "/t/r", &[OF_JSON], body.as_bytes()).status, 200);
    // The server answers on.
    put(rest, "/t/r/f:q", 1, b"v");
}

#[test]
fn a_namespace_is_made_without_a_body() {
    let (_server, rest) = server();
    assert_eq!(send(rest, "POST", "/namespaces/n", &[], b"").status, 201);
    assert_eq!(get(rest, "/namespaces/n").text(), r#"{"properties":null}"#);
    let binary = ["Content-Type: application/octet-stream"];
    assert_eq!(send(rest, "POST", "/namespaces/m", &binary, b"").status, 415);
    assert_eq!(send(rest, "DELETE", "/namespaces/n/tables", &[], b"").status, 200);
    assert_eq!(get(rest, "/namespaces/n").status, 404);
}

#[test]
fn pages_of_other_origins_are_refused() {
    let (_server, rest) = server();
    create(rest, "t", &["f"]);
    put(rest, "/t/r/f:q", 1, b"v");
    let cross = send(rest, "GET", "/t/r", &[JSON, "Sec-Fetch-Site: cross-site"], b"");
    assert_eq!(cross.status, 403);
    let posted = send(rest, "PUT", "/t/r", &[OF_JSON, "Origin: https://evil.example"], b"{}");
    assert_eq!(posted.status, 403);
    let mut stream = TcpStream::connect(rest).unwrap();
    stream
        .write_all(b"GET /t/r HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        .unwrap();
    assert_eq!(answer(&mut stream).status, 403);
    assert_eq!(get(rest, "/t/r").header("x-content-type-options"), Some("nosniff"));
}

/// Adds a rule for faults.
fn fail(server: &TestServer, call: FaultCallKind, effect: FaultEffect) {
    let rule = FaultRule { call: Some(call), hits_max: Some(2), ..FaultRule::new(effect) };
    let message =
        proto::ExecProcedureRequest { procedure: fault::call_to_proto(&FaultCall::Add(rule)) };
    server.connect(Service::Master).call(&message).unwrap();
}

#[test]
fn refusals_for_a_while_are_repeated_and_lost_answers_are_errors() {
    let (server, rest) = server_with(|options| options.allow_faults = true);
    create(rest, "t", &["f"]);
    put(rest, "/t/r/f:q", 1, b"v");
    fail(&server, FaultCallKind::Get, FaultEffect::NotServingRegion);
    assert_eq!(get(rest, "/t/r").status, 200);
    fail(&server, FaultCallKind::Mutate, FaultEffect::RegionTooBusy);
    put(rest, "/t/r/f:q", 2, b"v");
    fail(&server, FaultCallKind::Scan, FaultEffect::CallQueueTooBig);
    assert_eq!(get(rest, "/t/*").status, 200);
    fail(&server, FaultCallKind::Get, FaultEffect::CutBefore);
    let lost = get(rest, "/t/r");
    assert_eq!(lost.status, 503);
    assert!(lost.text().contains("ConnectionClosedException"), "{lost:?}");
}

#[test]
fn a_row_that_another_client_put_is_read() {
    let (server, rest) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    support::put(&mut server.client(), &region, "a", "v").unwrap();
    assert!(get(rest, "/t/a").text().contains(r#""$":"dg==""#));
}
