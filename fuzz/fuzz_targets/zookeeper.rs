//! The bytes of one ZooKeeper connection, for server and client. What the server writes does not
//! depend on the pieces in which the bytes arrive.
//!
//! Input: the length of a piece, less one (1 byte), and the bytes.

#![no_main]

use std::sync::LazyLock;

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rowhouse_format::zk::client::{self, Reply};
use rowhouse_format::zk::{
    Cluster, Session, SessionStatus, Znodes, read_cluster_id, read_master, read_meta_server,
    read_table_state, znodes,
};
use rowhouse_model::{ServerName, Timestamp};

/// The nodes of a cluster with one server.
static NODES: LazyLock<Znodes> = LazyLock::new(|| {
    let server = ServerName { host: "localhost".into(), port: 16_020, start_code: 1 };
    let cluster = Cluster {
        parent: "/hbase",
        cluster_id: "cluster",
        master: &server,
        info_port: None,
        meta_server: &server,
        region_servers: std::slice::from_ref(&server),
    };
    znodes(cluster, 1, Timestamp::MIN).expect("the paths are valid")
});

fuzz_target!(|input: &[u8]| {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let whole = serve([bytes]);
    let pieces = serve(bytes.chunks(usize::from(piece) + 1));
    assert_eq!(whole, pieces);
    read(bytes);
});

/// Returns what the server writes on a connection.
fn serve<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> BytesMut {
    let mut session = Session::new(7, [1; 16]);
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        match session.feed(&mut input, &NODES, &mut output) {
            Ok(SessionStatus::Open) => {}
            Ok(SessionStatus::Closed) | Err(_) => break,
        }
    }
    // A tree without the nodes: every watch is due.
    session.notify(&Znodes::new(2), &mut output);
    output
}

/// Reads the bytes as a client reads responses.
fn read(bytes: &[u8]) {
    let mut input = BytesMut::from(bytes);
    while let Ok(Some(frame)) = client::frames().next(&mut input) {
        let _ = client::read_connected(frame.clone());
        let Ok(reply) = Reply::decode(frame) else { continue };
        let _ = reply.clone().children();
        if let Ok(Some(data)) = reply.data() {
            read_node(&data);
        }
    }
}

fn read_node(data: &Bytes) {
    let _ = read_cluster_id(data);
    let _ = read_master(data);
    let _ = read_meta_server(data);
    let _ = read_table_state(data);
}
