//! Clients that use the protocol differently from the stock client.

use crate::support::{Client, TestServer, head, region_ref};
use bytes::BytesMut;
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_format::proto;
use rowhouse_format::rpc::{
    CellCodec, ConnectionHead, FATAL_CALL_ID, RequestHead, Service, encode_request,
};
use rowhouse_model::{Delete, RegionInfo, Scan};

fn table(server: &TestServer, name: &str) -> RegionInfo {
    server.create_table(name, &["cf", "d"], &[]).remove(0)
}

/// Reads and writes through every call that returns cells.
fn check(client: &mut Client, region: &RegionInfo) {
    crate::support::put_two(client, region, "a", "1").unwrap();
    let rows = [("b", "2"), ("c", "3")].map(|(row, value)| (row.to_owned(), value.to_owned()));
    crate::support::put_many(client, region, rows);
    let row = crate::support::get(client, region, "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "1");
    assert_eq!(row.value("d", "q").unwrap(), "1");
    assert!(crate::support::get(client, region, "nope").unwrap().is_empty());
    let answer = crate::support::open(client, region, OpenScan::new(Scan::all()), 2).unwrap();
    assert_eq!(crate::support::rows_of(&answer).len(), 2);
    let rest = crate::support::next(client, answer.scanner.unwrap(), 0, 9).unwrap();
    assert_eq!(crate::support::rows_of(&rest), [("c".to_owned(), vec!["3".to_owned()])]);
    assert_eq!(crate::support::increment(client, region, "n", 5).unwrap(), 5);
    assert_eq!(crate::support::increment(client, region, "n", -7).unwrap(), -2);
    crate::support::mutate(client, region, Delete::new("a").unwrap()).unwrap();
    assert!(crate::support::get(client, region, "a").unwrap().is_empty());
}

#[test]
fn cells_come_in_blocks_of_either_codec() {
    let server = TestServer::start();
    for (name, codec) in [("t", CellCodec::KeyValue), ("u", CellCodec::KeyValueWithTags)] {
        let region = table(&server, name);
        let head = ConnectionHead { codec: Some(codec), ..head(Service::Client) };
        check(&mut Client::connect_as(server.address(), &head), &region);
    }
}

#[test]
fn cells_come_in_the_message_to_a_client_without_a_codec() {
    let server = TestServer::start();
    let region = table(&server, "t");
    let head = ConnectionHead { codec: None, ..head(Service::Client) };
    let mut client = Client::connect_as(server.address(), &head);
    crate::support::put(&mut client, &region, "a", "1").unwrap();
    crate::support::put(&mut client, &region, "b", "2").unwrap();
    let call = ScanCall::open(region_ref(&region), OpenScan::new(Scan::all()), 9);
    let (answer, cells) = client.call_with(&call.to_proto(), &[]).unwrap();
    assert!(cells.is_empty() && answer.cells_per_result.is_empty());
    assert_eq!(answer.results.len(), 2);
    assert_eq!(answer.results[1].cell[0].value.as_ref().unwrap(), "2");
    assert_eq!(crate::support::increment(&mut client, &region, "n", 5).unwrap(), 5);
    let row = crate::support::get(&mut client, &region, "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "1");
}

#[test]
fn a_client_that_says_little_about_itself_is_served() {
    let server = TestServer::start();
    let region = table(&server, "t");
    let head = ConnectionHead { user: None, client_version: None, ..head(Service::Client) };
    check(&mut Client::connect_as(server.address(), &head), &region);
}

#[test]
fn security_request_is_refused_and_then_the_client_is_served() {
    let server = TestServer::start();
    let region = table(&server, "t");
    let mut client = Client::silent(server.address());
    client.send_bytes(b"Securi");
    let refused = client.receive().unwrap().outcome.unwrap_err();
    assert!(refused.class.ends_with("SecurityNotEnabledException"));
    let mut opening = BytesMut::new();
    head(Service::Client).encode_opening(&mut opening);
    client.send_bytes(&opening);
    crate::support::put(&mut client, &region, "a", "1").unwrap();
}

#[test]
fn the_registry_gives_the_cluster_id_and_hangs_up() {
    let server = TestServer::start();
    let mut client = Client::silent(server.address());
    client.send_bytes(b"Regist");
    let (call, body) = client.receive_body();
    let answer: proto::GetConnectionRegistryResponse = body.message().unwrap();
    assert_eq!((call, answer.cluster_id.len()), (FATAL_CALL_ID, 36));
    assert!(client.receive().is_none());
}

#[test]
fn every_service_answers_on_the_one_port() {
    let server = TestServer::start();
    let mut registry = server.connect(Service::ClientMeta);
    let nodes = registry.call(&proto::GetBootstrapNodesRequest::default()).unwrap().server_name;
    let masters = registry.call(&proto::GetMastersRequest::default()).unwrap().master_servers;
    let locations =
        registry.call(&proto::GetMetaRegionLocationsRequest::default()).unwrap().meta_locations;
    assert_eq!(nodes, [masters[0].server_name.clone()]);
    assert_eq!(locations[0].server_name.as_ref(), nodes.first());
    let running = proto::IsMasterRunningRequest::default();
    assert!(server.connect(Service::Master).call(&running).unwrap().is_master_running);
    let info = proto::GetServerInfoRequest::default();
    let info = server.connect(Service::Admin).call(&info).unwrap().server_info;
    assert_eq!(info.server_name, nodes[0]);
    assert_eq!(format!("{}:{}", nodes[0].host_name, nodes[0].port()), server.address());
}

#[test]
fn requests_may_come_in_any_pieces_and_under_any_number() {
    let server = TestServer::start();
    let region = table(&server, "t");
    let calls = [0, u32::MAX - 1, 7, 7, 1 << 31];
    let mut bytes = BytesMut::new();
    head(Service::Client).encode_opening(&mut bytes);
    for call_id in calls {
        let head = RequestHead { call_id, priority: 200, timeout_ms: Some(60_000) };
        let put = crate::support::put_message(&region, &format!("row-{call_id}"), "v");
        encode_request(&mut bytes, head, &put, None, []).unwrap();
    }
    for piece in [1, 5, bytes.len()] {
        let mut client = Client::silent(server.address());
        bytes.chunks(piece).for_each(|piece| client.send_bytes(piece));
        let answered = calls.map(|_| client.receive_body().0);
        assert_eq!(answered, calls);
    }
}
