//! The ZooKeeper port: clients find the server through it, and malformed input affects no other
//! client.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::support::TestServer;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_format::zk::client::{self, Reply};
use rowhouse_format::zk::{
    ZkError, read_cluster_id, read_master, read_meta_server, read_table_state,
};
use rowhouse_model::TableState;

/// A ZooKeeper session.
struct Session {
    stream: TcpStream,
    input: BytesMut,
    xid: i32,
}

impl Session {
    /// Opens a TCP connection and sends nothing.
    fn silent(server: &TestServer) -> Self {
        let stream = TcpStream::connect(server.zookeeper()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream, input: BytesMut::new(), xid: 0 }
    }

    fn connect(server: &TestServer) -> Self {
        let mut session = Self::silent(server);
        let mut bytes = BytesMut::new();
        client::put_connect(&mut bytes, 30_000);
        session.send(&bytes);
        assert_eq!(client::read_connected(session.receive().unwrap()).unwrap(), 30_000);
        session
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Returns the next frame, or `None` once the server has closed the connection.
    fn receive(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = client::frames().next(&mut self.input).unwrap() {
                return Some(frame);
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(len) => self.input.extend_from_slice(&chunk[..len]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }

    fn data(&mut self, path: &str) -> Option<Bytes> {
        self.xid += 1;
        let mut bytes = BytesMut::new();
        client::put_get_data(&mut bytes, self.xid, path);
        self.send(&bytes);
        let reply = Reply::decode(self.receive().unwrap()).unwrap();
        assert_eq!(reply.xid, self.xid);
        reply.data().unwrap()
    }

    /// Sends an operation by number; returns ZooKeeper's error code, or 0.
    fn operate(&mut self, operation: i32, record: &[u8]) -> i32 {
        self.xid += 1;
        let mut bytes = BytesMut::new();
        bytes.put_u32(8 + record.len() as u32);
        bytes.put_i32(self.xid);
        bytes.put_i32(operation);
        bytes.put_slice(record);
        self.send(&bytes);
        let mut answer = self.receive().unwrap();
        assert_eq!(answer.get_i32(), self.xid);
        let _zxid = answer.get_i64();
        answer.get_i32()
    }

    /// Checks that the correct client still finds the server.
    fn check(&mut self, server: &TestServer) {
        let master = read_master(&self.data("/hbase/master").unwrap()).unwrap();
        assert_eq!(format!("{}:{}", master.host, master.port), server.address());
    }
}

/// Encodes a path followed by a watch flag of 0.
fn path(text: &str) -> Vec<u8> {
    let len = (text.len() as u32).to_be_bytes();
    [&len[..], text.as_bytes(), &[0]].concat()
}

#[test]
fn clients_find_the_server_and_its_cluster() {
    let server = TestServer::start();
    let mut session = Session::connect(&server);
    session.check(&server);
    let meta = read_meta_server(&session.data("/hbase/meta-region-server").unwrap()).unwrap();
    let master = read_master(&session.data("/hbase/master").unwrap()).unwrap();
    assert_eq!(meta, master);
    let id = read_cluster_id(&session.data("/hbase/hbaseid").unwrap()).unwrap();
    assert_eq!(id.len(), 36);
    assert_eq!(session.data("/hbase/nope"), None);
    assert_eq!(session.data(&format!("/hbase/rs/{master}")).unwrap(), "");

    // After a restart it is a different server in the same cluster.
    let server = TestServer::start_in(server.stop());
    let mut session = Session::connect(&server);
    session.check(&server);
    let restarted = read_master(&session.data("/hbase/master").unwrap()).unwrap();
    assert!(restarted.start_code > master.start_code);
    assert_eq!(read_cluster_id(&session.data("/hbase/hbaseid").unwrap()).unwrap(), id);
}

#[test]
fn clients_of_hbase_1_find_the_states_of_tables() {
    let server = TestServer::start();
    let mut session = Session::connect(&server);
    let mut state = |table: &str| {
        let data = session.data(&format!("/hbase/table/{table}"));
        data.map(|data| read_table_state(&data).unwrap())
    };
    assert_eq!(state("hbase:meta"), Some(TableState::Enabled));
    assert_eq!(state("t"), None);
    server.create_table("t", &["cf"], &[]);
    assert_eq!(state("t"), Some(TableState::Enabled));
    server.disable_table("t");
    assert_eq!(state("t"), Some(TableState::Disabled));
    server.drop_table("t");
    assert_eq!(state("t"), None);
}

#[test]
fn a_session_ends_when_its_client_closes_it() {
    let server = TestServer::start();
    let mut session = Session::connect(&server);
    let mut bytes = BytesMut::new();
    client::put_ping(&mut bytes);
    client::put_close(&mut bytes, 9);
    session.send(&bytes);
    assert_eq!(Reply::decode(session.receive().unwrap()).unwrap().xid, -2);
    assert_eq!(Reply::decode(session.receive().unwrap()).unwrap().xid, 9);
    assert_eq!(session.receive(), None);
}

#[test]
fn a_session_from_before_a_restart_goes_on() {
    let server = TestServer::start();
    let mut session = Session::silent(&server);
    let mut connect = BytesMut::new();
    client::put_connect(&mut connect, 10_000);
    // The session id follows protocol, zxid and timeout.
    connect[4 + 16..4 + 24].copy_from_slice(&0x1234_i64.to_be_bytes());
    session.send(&connect);
    let mut answer = session.receive().unwrap();
    assert_eq!((answer.get_i32(), answer.get_i32(), answer.get_i64()), (0, 10_000, 0x1234));
    session.check(&server);
}

#[test]
fn writes_and_unknown_operations_are_refused() {
    let server = TestServer::start();
    let mut session = Session::connect(&server);
    let exists = 3;
    let delete = 2;
    let unknown = 77;
    assert_eq!(session.operate(exists, &path("/hbase/master")), 0);
    assert_eq!(session.operate(exists, &path("/hbase/nope")), ZkError::NoNode.code());
    assert_eq!(session.operate(exists, &path("no path")), ZkError::BadArguments.code());
    assert_eq!(session.operate(exists, b"\xff\xff"), ZkError::Marshalling.code());
    assert_eq!(session.operate(exists, b"\x7f\xff\xff\xff"), ZkError::Marshalling.code());
    assert_eq!(session.operate(delete, &path("/hbase/master")), ZkError::NoAuth.code());
    assert_eq!(session.operate(unknown, b""), ZkError::Unimplemented.code());
    session.check(&server);
}

#[test]
fn rubbish_ends_its_connection_and_no_other() {
    let server = TestServer::start();
    let mut bystander = Session::connect(&server);
    let mut connect = BytesMut::new();
    client::put_connect(&mut connect, 30_000);
    let rubbish: &[&[u8]] = &[
        b"ruok",
        b"GET / HTTP/1.1\r\n\r\n",
        b"HBas\0\x50\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\0\0\0\0",
        b"\0\0\0\x04abcd",
    ];
    for bytes in rubbish {
        for connected in [false, true] {
            let mut session = Session::silent(&server);
            if connected {
                session.send(&connect);
                session.receive().unwrap();
            }
            session.send(bytes);
            assert_eq!(session.receive(), None, "{bytes:?} connected={connected}");
            bystander.check(&server);
        }
    }
}

#[test]
fn a_client_may_leave_at_any_byte() {
    let server = TestServer::start();
    let mut bystander = Session::connect(&server);
    let mut whole = BytesMut::new();
    client::put_connect(&mut whole, 30_000);
    client::put_get_data(&mut whole, 1, "/hbase/master");
    for len in 0..whole.len() {
        let mut session = Session::silent(&server);
        session.send(&whole[..len]);
        session.stream.shutdown(Shutdown::Write).unwrap();
        while session.receive().is_some() {}
    }
    bystander.check(&server);
}
