//! Stop and restart: acknowledged writes survive, and a server that cannot start reports the
//! reason.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use crate::support::{Client, TestServer, options, region_ref, start_error};
use bytes::BytesMut;
use rowhouse_format::convert::names::server_from_proto;
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{ErrorKind, RegionInfo, Scan, ServerName};
use rowhouse_server::Server;

const NOT_RUNNING: &str = "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException";

/// Returns the server's announced name and cluster id.
fn identity(server: &TestServer) -> (ServerName, String) {
    let mut registry = server.connect(Service::ClientMeta);
    let master = registry.call(&proto::GetActiveMasterRequest::default()).unwrap();
    let cluster = registry.call(&proto::GetClusterIdRequest::default()).unwrap();
    (server_from_proto(master.server_name.unwrap()).unwrap(), cluster.cluster_id.unwrap())
}

/// Puts rows, several in flight, until the server is gone; returns the acknowledged rows.
fn put_until_stopped(
    mut client: Client,
    region: &RegionInfo,
    writer: usize,
    acknowledged: &mpsc::Sender<()>,
) -> Vec<String> {
    const IN_FLIGHT: usize = 16;
    let mut rows = Vec::new();
    for batch in 0.. {
        let names = (0..IN_FLIGHT).map(|number| format!("{writer}-{batch}-{number}"));
        let names: Vec<String> = names.collect();
        let mut bytes = BytesMut::new();
        for name in &names {
            client.write(&mut bytes, &crate::support::put_message(region, name, name), &[]);
        }
        if !client.try_send_bytes(&bytes) {
            return rows;
        }
        for name in names {
            let Some(response) = client.receive() else { return rows };
            match response.outcome {
                Ok(_) => rows.push(name),
                Err(exception) => assert_eq!(exception.class, NOT_RUNNING),
            }
        }
        // The receiver is gone once it has counted enough.
        let _ = acknowledged.send(());
    }
    unreachable!("batches do not end");
}

#[test]
fn writes_acknowledged_during_a_stop_survive_a_restart() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let (acknowledged, batches) = mpsc::channel();
    let writers = (0..4).map(|writer| {
        let client = server.client();
        let region = region.clone();
        let acknowledged = acknowledged.clone();
        thread::spawn(move || put_until_stopped(client, &region, writer, &acknowledged))
    });
    let writers: Vec<_> = writers.collect();
    for _ in 0..20 {
        batches.recv().unwrap();
    }
    let dir = server.stop();
    let rows: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    assert!(rows.len() >= 20 * 16);

    let server = TestServer::start_in(dir);
    let region = server.regions("t").remove(0);
    let mut client = server.client();
    for row in rows {
        let read = crate::support::get(&mut client, &region, &row).unwrap();
        assert_eq!(read.value("cf", "q").unwrap(), row, "acknowledged and lost");
    }
}

/// Starts a server with two megabytes of data in a table.
fn full_server() -> (TestServer, RegionInfo) {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let value = "x".repeat(1000);
    let mut client = server.client();
    for part in 0..4 {
        let rows = (0..500).map(|row| (format!("{part}{row:03}"), value.clone()));
        crate::support::put_many(&mut client, &region, rows);
    }
    (server, region)
}

fn whole_table(region: &RegionInfo) -> proto::ScanRequest {
    ScanCall::open(region_ref(region), OpenScan::new(Scan::all()), u32::MAX).to_proto()
}

#[test]
fn a_scan_under_way_is_answered_whole() {
    let (server, region) = full_server();
    let mut client = server.client();
    client.send(&whole_table(&region), &[]);
    // The answer does not fit into the socket buffers, so the server is still writing.
    client.wait_for_answer();
    let stopping = thread::spawn(move || server.stop());
    let (_, body) = client.receive_body();
    let answer = ScanResult::from_proto(body.message().unwrap(), &mut body.cells(None)).unwrap();
    assert_eq!(answer.rows.len(), 2000);
    assert!(client.receive().is_none());
    stopping.join().unwrap();
}

#[test]
fn clients_that_do_not_read_do_not_hold_up_the_stop() {
    let (server, region) = full_server();
    let mut clients: Vec<Client> = (0..4).map(|_| server.client()).collect();
    for client in &mut clients {
        for _ in 0..8 {
            client.send(&whole_table(&region), &[]);
        }
        client.wait_for_answer();
    }
    let server = TestServer::start_in(server.stop());
    assert_eq!(server.regions("t"), [region]);
}

#[test]
fn open_connections_are_closed_and_new_ones_refused() {
    let server = TestServer::start();
    let mut silent = Client::silent(server.address());
    let mut connected = server.client();
    let mut used = server.connect(Service::Master);
    used.call(&proto::IsMasterRunningRequest::default()).unwrap();
    let address = server.address().to_owned();
    let zookeeper = server.zookeeper();
    let mut looking = Client::silent(&zookeeper.to_string());
    server.stop();
    for client in [&mut silent, &mut connected, &mut used, &mut looking] {
        assert!(client.receive().is_none());
    }
    assert!(TcpStream::connect(address).is_err());
    assert!(TcpStream::connect(zookeeper).is_err());
}

#[test]
fn a_restarted_server_is_another_server_of_the_same_cluster() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let (name, cluster) = identity(&server);
    let server = TestServer::start_in(server.stop());
    let (new_name, new_cluster) = identity(&server);
    assert!(new_name.start_code > name.start_code);
    assert_eq!(new_cluster, cluster);
    assert_eq!(server.regions("t"), regions);

    let other = TestServer::start();
    assert_ne!(identity(&other).1, cluster);
}

#[test]
fn a_server_that_was_not_stopped_lost_nothing() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    crate::support::put(&mut server.client(), &region, "a", "kept").unwrap();
    let server = TestServer::start_in(server.abandon());
    let row = crate::support::get(&mut server.client(), &region, "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "kept");
}

#[test]
fn a_port_in_use_is_named_with_its_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let mut listen = options(dir.path());
    listen.listen = address.clone();
    let mut zookeeper = options(dir.path());
    zookeeper.zookeeper = Some(address.clone());
    for (options, flag) in [(listen, "--listen"), (zookeeper, "--zookeeper")] {
        let error = start_error(options);
        assert_eq!(error.kind(), ErrorKind::InUse);
        let message = error.message();
        assert!(message.contains(&address) && message.contains(flag), "{message}");
    }
    // The failed start released the directory.
    TestServer::start_in(dir);
}

#[test]
fn a_data_directory_in_use_is_named_with_its_holder() {
    let server = TestServer::start();
    let error = start_error(options(server.data()));
    assert_eq!(error.kind(), ErrorKind::InUse);
    let message = error.message();
    for part in [&server.data().display().to_string(), &std::process::id().to_string()] {
        assert!(message.contains(part), "{message}");
    }
    assert!(message.contains(server.address()), "{message}");
    // The server holding the directory still works.
    server.create_table("t", &["cf"], &[]);
}

#[test]
fn listening_on_every_interface_requires_an_advertised_address() {
    let dir = tempfile::tempdir().unwrap();
    let mut everywhere = options(dir.path());
    everywhere.listen = "0.0.0.0:0".into();
    everywhere.allow_unauthenticated = true;
    let error = start_error(everywhere.clone());
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("--advertise"), "{}", error.message());

    everywhere.advertise = Some("db.example.org:16020".into());
    let runtime = crate::support::runtime();
    let server = runtime.block_on(Server::start(everywhere)).unwrap();
    assert_eq!(server.address(), "db.example.org:16020");
    runtime.block_on(server.stop()).unwrap();
}

#[test]
fn ports_that_other_machines_reach_are_refused_without_certificates_of_clients() {
    let dir = tempfile::tempdir().unwrap();
    let mut everywhere = options(dir.path());
    everywhere.listen = "0.0.0.0:0".into();
    everywhere.advertise = Some("db.example.org:16020".into());
    let error = start_error(everywhere);
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    for part in ["--listen 0.0.0.0:", "--tls-clients", "--allow-unauthenticated"] {
        assert!(error.message().contains(part), "{error}");
    }
    // Nothing was created.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn addresses_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for none in ["", "127.0.0.1", ":16020", "127.0.0.1:99999", "127.0.0.1:http"] {
        let mut listen = options(dir.path());
        listen.listen = none.into();
        let mut advertise = options(dir.path());
        advertise.advertise = Some(none.into());
        for options in [listen, advertise] {
            assert_eq!(start_error(options).kind(), ErrorKind::InvalidRequest, "{none}");
        }
    }
}
