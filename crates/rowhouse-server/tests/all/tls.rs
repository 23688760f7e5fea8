//! TLS on the RPC and web ports.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rowhouse_format::convert;
use rowhouse_format::proto;
use rowhouse_format::rpc::{Preamble, Service};
use rowhouse_model::{ErrorKind, Get};
use rowhouse_server::{Plain, TlsFiles, WebPort};

use crate::support::tls::{Files, TlsClient};
use crate::support::{Client, TestServer, options, put_message, region_ref, start_error};

/// Returns the cluster id through a connection in TLS.
fn cluster_id(
    server: &TestServer,
    files: &Files,
    identity: Option<&str>,
) -> std::io::Result<Option<String>> {
    TlsClient::opened(server.address(), files, identity, Service::ClientMeta).cluster_id()
}

#[test]
fn tls_and_plain_clients_are_served_on_one_port() {
    let files = Files::new();
    let server = files.start(|_| {});
    let plain = server.connect(Service::ClientMeta).call(&proto::GetClusterIdRequest {}).unwrap();
    let tls = cluster_id(&server, &files, None).unwrap();
    assert_eq!(tls, plain.cluster_id);
    assert!(tls.is_some());
}

#[test]
fn large_requests_and_answers_pass_through_tls_whole() {
    let files = Files::new();
    let server = files.start(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = TlsClient::opened(server.address(), &files, None, Service::Client);
    let value: String = (0..3 << 20).map(|at: u32| char::from(b'a' + (at % 23) as u8)).collect();
    client.call(&put_message(&region, "row", &value)).unwrap().unwrap();
    // Read outside TLS: what arrived is whole.
    let mut plain = server.client();
    let row = crate::support::get(&mut plain, &region, "row").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), value.as_bytes());
    // And read through it.
    let get = convert::get::to_proto(&Get::new("row").unwrap());
    let message = proto::GetRequest { region: region_ref(&region).to_proto(), get };
    let cells = client.answer_frame(&message).unwrap();
    assert!(cells.windows(value.len()).any(|part| part == value.as_bytes()));
}

#[test]
fn plain_clients_get_a_message_where_only_tls_is_accepted() {
    let files = Files::new();
    let server = files.start(|options| options.plain = Some(Plain::Refuse));
    for preamble in [Preamble::Rpc, Preamble::Registry] {
        let mut client = Client::silent(server.address());
        client.send_bytes(&preamble.to_bytes());
        let refusal = client.receive().unwrap().outcome.unwrap_err();
        assert_eq!(refusal.class, "org.apache.hadoop.hbase.ipc.FatalConnectionException");
        assert!(refusal.message.contains("hbase.client.netty.tls.enabled"), "{refusal:?}");
        assert!(refusal.do_not_retry);
        assert!(client.receive().is_none());
    }
    assert!(cluster_id(&server, &files, None).unwrap().is_some());
}

#[test]
fn clients_need_a_certificate_of_the_authority_that_is_named() {
    let files = Files::new();
    files.issue("alice", &[]);
    let others = Files::new();
    others.issue("mallory", &[]);
    fs::copy(others.path("mallory.pem"), files.path("mallory.pem")).unwrap();
    fs::copy(others.path("mallory.key"), files.path("mallory.key")).unwrap();
    let server = files.start(|options| options.tls = Some(files.server(true)));
    assert!(cluster_id(&server, &files, Some("alice")).unwrap().is_some());
    assert!(cluster_id(&server, &files, None).is_err());
    assert!(cluster_id(&server, &files, Some("mallory")).is_err());
}

#[test]
fn a_changed_certificate_is_served_and_a_wrong_one_is_not() {
    let files = Files::new();
    let server = files.start(|_| {});
    let served = || {
        let mut client = TlsClient::opened(server.address(), &files, None, Service::ClientMeta);
        client.cluster_id().unwrap();
        client.0.conn.peer_certificates().unwrap()[0].clone().into_owned()
    };
    let first = served();
    files.issue("server", &["127.0.0.1".parse().unwrap()]);
    server.reload_certificates();
    let second = served();
    assert_ne!(first, second);
    fs::write(files.path("server.pem"), "no certificate").unwrap();
    server.reload_certificates();
    assert_eq!(served(), second);
}

#[test]
fn files_that_do_not_serve_are_refused_by_name() {
    let files = Files::new();
    files.issue("other", &[]);
    fs::write(files.path("store.jks"), b"\xFE\xED\xFE\xED\0\0\0\x02").unwrap();
    let refused = |set: &dyn Fn(&mut TlsFiles)| {
        let dir = tempfile::tempdir().unwrap();
        let mut options = options(dir.path());
        let mut tls = files.server(false);
        set(&mut tls);
        options.tls = Some(tls);
        start_error(options)
    };
    let error = refused(&|tls| tls.certificate = files.path("store.jks"));
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("keytool -importkeystore"), "{error}");
    let error = refused(&|tls| tls.key = files.path("other.key"));
    assert!(error.message().contains("other.key"), "{error}");
    let error = refused(&|tls| tls.key = files.path("server.pem"));
    assert!(error.message().contains("no private key"), "{error}");
    let error = refused(&|tls| tls.clients = Some(files.path("server.key")));
    assert!(error.message().contains("--tls-clients"), "{error}");
    let error = refused(&|tls| tls.certificate = files.path("missing.pem"));
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("missing.pem"), "{error}");
}

#[test]
fn half_open_and_hostile_handshakes_do_not_hold_up_others() {
    let files = Files::new();
    let server = files.start(|_| {});
    let mut held = Vec::new();
    for number in 0..300 {
        let mut socket = TcpStream::connect(server.address()).unwrap();
        let begin: &[u8] = match number % 4 {
            0 => b"\x16",
            // A record that announces more than comes.
            1 => b"\x16\x03\x01\x40\x00\x01\x00\x3F\xFC\x03\x03",
            // A record that is none.
            2 => b"\x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
            // A handshake message of 16 MiB.
            _ => b"\x16\x03\x01\x00\x04\x01\xFF\xFF\xFF",
        };
        socket.write_all(begin).unwrap();
        held.push(socket);
    }
    assert!(cluster_id(&server, &files, None).unwrap().is_some());
    // What is no TLS is closed at once, without waiting for the client.
    for socket in held.iter_mut().skip(2).step_by(4) {
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = Vec::new();
        let ended = socket.read_to_end(&mut answer);
        assert!(ended.is_ok() || ended.unwrap_err().kind() == std::io::ErrorKind::ConnectionReset);
        assert!(answer.len() < 100, "{answer:?}");
    }
}

#[cfg(feature = "web")]
#[test]
fn web_pages_are_served_over_https() {
    let files = Files::new();
    let server = files.start(|options| options.web = WebPort::At("127.0.0.1:0".into()));
    let fetched = fetch(server.web(), &files);
    assert!(fetched.starts_with("HTTP/1.1 200 OK"), "{fetched}");
    // Plain requests over loopback are answered by default.
    let mut plain = TcpStream::connect(server.web()).unwrap();
    plain.write_all(REQUEST).unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[cfg(feature = "web")]
#[test]
fn plain_web_requests_are_refused_with_a_message() {
    let files = Files::new();
    let server = files.start(|options| {
        options.web = WebPort::At("127.0.0.1:0".into());
        options.plain = Some(Plain::Refuse);
    });
    let mut plain = TcpStream::connect(server.web()).unwrap();
    plain.write_all(REQUEST).unwrap();
    let mut answer = Vec::new();
    plain.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nthis port serves HTTPS only\n"), "{answer}");
    let length = answer.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    assert_eq!(length.parse::<usize>().unwrap(), body.len());
}

#[cfg(feature = "web")]
const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[cfg(feature = "web")]
fn fetch(web: SocketAddr, files: &Files) -> String {
    fetch_with(web, files, "/health", None)
}

/// Returns the answer for a page over HTTPS, with the certificate `identity` of the client.
#[cfg(feature = "web")]
pub(crate) fn fetch_with(
    web: SocketAddr,
    files: &Files,
    path: &str,
    identity: Option<&str>,
) -> String {
    let mut client = TlsClient::connect(&web.to_string(), files, identity);
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    client.0.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    client.0.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}
