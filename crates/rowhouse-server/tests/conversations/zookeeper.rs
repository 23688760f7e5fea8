//! A recorded client's ZooKeeper exchange.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use rowhouse_format::proto;
use rowhouse_format::rpc::decode_message;
use rowhouse_format::zk::client::{self, Reply};

use crate::recorded::Scenario;
use crate::replay::{Exchange, Replay};
use crate::support::TestServer;

/// Sends the recorded requests to this server's ZooKeeper port.
pub(crate) fn replay(
    scenario: &Scenario,
    server: &TestServer,
    replay: &mut Replay,
) -> Vec<Exchange> {
    let mut stream = TcpStream::connect(server.zookeeper()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut exchanges = Vec::new();
    for (number, (request, answer)) in scenario.zookeeper.iter().enumerate() {
        stream.write_all(&(request.len() as u32).to_be_bytes()).unwrap();
        stream.write_all(request).unwrap();
        let ours = receive(&mut stream);
        let (method, path) = if number == 0 { ("connect", "") } else { operation(request) };
        if path == "/hbase/hbaseid" {
            let Node::ClusterId(id) = node(path, answer) else { panic!("no cluster id") };
            replay.apache.add_cluster_id(&id);
        }
        exchanges.push(Exchange {
            scenario: scenario.name.clone(),
            call: number as u32,
            method,
            apache: replay.apache.mask(&show(method, path, answer)),
            ours: replay.ours.mask(&show(method, path, &ours)),
        });
    }
    if !scenario.zookeeper.is_empty() {
        // The last request was closeSession.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the session's connection stays open");
    }
    exchanges
}

fn receive(stream: &mut TcpStream) -> Bytes {
    let mut len = [0; 4];
    stream.read_exact(&mut len).unwrap();
    let mut frame = BytesMut::zeroed(u32::from_be_bytes(len) as usize);
    stream.read_exact(&mut frame).unwrap();
    frame.freeze()
}

/// Returns a request's operation and path.
fn operation(request: &Bytes) -> (&'static str, &str) {
    let path = || std::str::from_utf8(&request[12..request.len() - 1]).unwrap();
    match i32::from_be_bytes(request[4..8].try_into().unwrap()) {
        4 => ("getData", path()),
        8 => ("getChildren", path()),
        -11 => ("closeSession", ""),
        other => panic!("no such operation was recorded before: {other}"),
    }
}

/// Formats an answer without session id, zxid and Stat, which are server-specific.
fn show(method: &str, path: &str, answer: &Bytes) -> String {
    if method == "connect" {
        let timeout = client::read_connected(answer.clone()).unwrap();
        return format!("timeout: {timeout}\nlen: {}\n", answer.len());
    }
    let head = |mut bytes: Bytes| {
        let xid = bytes.get_i32();
        let _zxid = bytes.get_i64();
        let error = bytes.get_i32();
        format!("xid: {xid}\nerror: {error}\n")
    };
    let text = head(answer.clone());
    match method {
        "getData" => format!("{text}{:#?}\n", node(path, answer)),
        "getChildren" => {
            let mut children = Reply::decode(answer.clone()).unwrap().children().unwrap().unwrap();
            children.sort();
            text + &children.into_iter().map(|child| format!("{child}\n")).collect::<String>()
        }
        _ => format!("{text}len: {}\n", answer.len()),
    }
}

/// A node's content.
#[derive(Debug)]
#[allow(dead_code, reason = "it is printed")]
enum Node {
    ClusterId(String),
    Master { server: String, rpc_version: Option<u32>, has_info_port: bool },
    MetaServer { server: String, rpc_version: Option<u32>, state: Option<i32> },
}

fn node(path: &str, answer: &Bytes) -> Node {
    let mut data = Reply::decode(answer.clone()).unwrap().data().unwrap().unwrap();
    // A byte, an id's length, the writer's id.
    assert_eq!(data.get_u8(), 0xff);
    let id_len = data.get_u32() as usize;
    data.advance(id_len);
    assert_eq!(&data.split_to(4)[..], b"PBUF");
    let server = |name: proto::ServerName| {
        format!("{},{},{}", name.host_name, name.port(), name.start_code())
    };
    match path {
        "/hbase/hbaseid" => {
            Node::ClusterId(decode_message::<proto::ClusterId>(data).unwrap().cluster_id)
        }
        "/hbase/master" => {
            let master: proto::Master = decode_message(data).unwrap();
            Node::Master {
                server: server(master.master),
                rpc_version: master.rpc_version,
                has_info_port: master.info_port.is_some(),
            }
        }
        "/hbase/meta-region-server" => {
            let meta: proto::MetaRegionServer = decode_message(data).unwrap();
            Node::MetaServer {
                server: server(meta.server),
                rpc_version: meta.rpc_version,
                state: meta.state,
            }
        }
        other => panic!("no such node was recorded before: {other}"),
    }
}
