//! ZooKeeper as the stock client uses it: this crate's requests are identical, and the responses
//! equivalent.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod conversation;

use bytes::{Bytes, BytesMut};
use conversation::Conversation;
use rowhouse_format::zk::client::{self, Reply};
use rowhouse_format::zk::{
    Cluster, Session, SessionStatus, Znodes, read_cluster_id, read_master, read_meta_server, znodes,
};
use rowhouse_model::Timestamp;

/// Returns a connection's frames as request and response pairs.
fn exchanges(conversation: &Conversation) -> Vec<(Bytes, Bytes)> {
    let mut sides = [BytesMut::new(), BytesMut::new()];
    for run in &conversation.runs {
        sides[usize::from(run.from_client)].extend_from_slice(&run.bytes);
    }
    let [mut answers, mut requests] = sides;
    let next = |bytes: &mut BytesMut| client::frames().next(bytes).unwrap();
    let mut pairs = Vec::new();
    while let Some(request) = next(&mut requests) {
        pairs.push((request, next(&mut answers).unwrap()));
    }
    assert!(requests.is_empty() && answers.is_empty());
    pairs
}

/// Returns the output from `write` without the length prefix.
fn written(write: impl FnOnce(&mut BytesMut)) -> BytesMut {
    let mut bytes = BytesMut::new();
    write(&mut bytes);
    bytes.split_off(4)
}

/// Returns a recorded cluster's nodes, as this crate builds them.
fn ours(data: &[(String, Bytes)]) -> Znodes {
    let find = |name: &str| &data.iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    let meta_server = read_meta_server(find("meta-region-server")).unwrap();
    let cluster = Cluster {
        parent: "/hbase",
        cluster_id: &read_cluster_id(find("hbaseid")).unwrap(),
        master: &read_master(find("master")).unwrap(),
        info_port: None,
        meta_server: &meta_server,
        region_servers: std::slice::from_ref(&meta_server),
    };
    znodes(cluster, 0, Timestamp::MIN).unwrap()
}

#[test]
fn stock_clients_find_the_cluster() {
    let conversations = conversation::all();
    let zookeeper = conversations.iter().filter(|c| c.role == "zookeeper");
    for conversation in zookeeper {
        let pairs = exchanges(conversation);
        let (connect, rest) = pairs.split_first().unwrap();
        assert_eq!(written(|out| client::put_connect(out, 90_000)), connect.0);
        assert_eq!(client::read_connected(connect.1.clone()).unwrap(), 40_000);

        let mut data = Vec::new();
        for (request, answer) in rest {
            let xid = i32::from_be_bytes(request[..4].try_into().unwrap());
            let path = request.get(12..request.len() - 1).unwrap_or_default();
            let path = String::from_utf8(path.to_vec()).unwrap();
            let reply = Reply::decode(answer.clone()).unwrap();
            assert_eq!(reply.xid, xid);
            match i32::from_be_bytes(request[4..8].try_into().unwrap()) {
                4 => {
                    assert_eq!(written(|out| client::put_get_data(out, xid, &path)), *request);
                    data.push((path, reply.data().unwrap().unwrap()));
                }
                8 => {
                    assert_eq!(written(|out| client::put_get_children(out, xid, &path)), *request);
                    let children = reply.children().unwrap().unwrap();
                    assert!(children.iter().any(|name| name == "meta-region-server"));
                }
                -11 => assert_eq!(written(|out| client::put_close(out, xid)), *request),
                other => panic!("{other}"),
            }
        }
        assert!(data.len() >= 2, "{}", conversation.name);
        if data.len() >= 3 {
            check_answers(&pairs, &ours(&data), &data);
        }
    }
}

/// Checks this crate's responses to the recorded requests: the same data after a different id.
fn check_answers(pairs: &[(Bytes, Bytes)], nodes: &Znodes, data: &[(String, Bytes)]) {
    let mut session = Session::new(0x0100_002b_e617_0003, [7; 16]);
    let mut data = data.iter();
    for (at, (request, expected)) in pairs.iter().enumerate() {
        let mut input = BytesMut::new();
        input.extend_from_slice(&(request.len() as u32).to_be_bytes());
        input.extend_from_slice(request);
        let mut output = BytesMut::new();
        let status = session.feed(&mut input, nodes, &mut output).unwrap();
        assert_eq!(status == SessionStatus::Closed, at == pairs.len() - 1);
        let answer = client::frames().next(&mut output).unwrap().unwrap();
        if at == 0 {
            // Same protocol and timeout; same lengths for session, password and read-only flag.
            assert_eq!((&answer[..8], answer.len()), (&expected[..8], expected.len()));
            continue;
        }
        assert_eq!(answer[..4], expected[..4]);
        assert_eq!(answer[12..16], expected[12..16]);
        if request[4..8] == 4i32.to_be_bytes() {
            let ours = Reply::decode(answer).unwrap().data().unwrap().unwrap();
            let message = |data: &Bytes| {
                let at = data.windows(4).position(|four| four == b"PBUF").unwrap();
                data.slice(at..)
            };
            assert_eq!(message(&ours), message(&data.next().unwrap().1));
        }
    }
}
