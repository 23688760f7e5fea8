use proptest::prelude::*;
use rowhouse_model::Timestamp;

use super::super::client::{self, Reply};
use super::*;

struct Client {
    session: Session,
    nodes: Znodes,
    output: BytesMut,
}

impl Client {
    fn connect() -> Self {
        let mut nodes = Znodes::new(100);
        nodes.set("/hbase/master", "m", Timestamp::MIN).unwrap();
        nodes.set("/hbase/hbaseid", "id", Timestamp::MIN).unwrap();
        let mut client = Self { session: Session::new(7, [1; 16]), nodes, output: BytesMut::new() };
        let frame = client.send(|out| client::put_connect(out, 90_000)).unwrap();
        assert_eq!(client::read_connected(frame).unwrap(), 40_000);
        client
    }

    fn send(&mut self, write: impl FnOnce(&mut BytesMut)) -> Option<Bytes> {
        let mut input = BytesMut::new();
        write(&mut input);
        self.session.feed(&mut input, &self.nodes, &mut self.output).unwrap();
        assert!(input.is_empty());
        self.frame()
    }

    fn frame(&mut self) -> Option<Bytes> {
        client::frames().next(&mut self.output).unwrap()
    }

    /// Sends an operation; returns the error code and the body.
    fn request(&mut self, op: i32, body: impl FnOnce(&mut BytesMut)) -> (i32, Bytes) {
        let frame = self.send(|out| {
            put_frame(out, |out| {
                out.put_i32(9);
                out.put_i32(op);
                body(out);
            });
        });
        let frame = frame.unwrap();
        let mut record = JuteReader::new(frame.clone());
        assert_eq!(record.i32().unwrap(), 9);
        assert_eq!(record.i64().unwrap(), self.nodes.zxid());
        (record.i32().unwrap(), frame.slice(16..))
    }

    fn request_path(&mut self, op: i32, path: &str, watch: bool) -> (i32, Bytes) {
        self.request(op, |out| {
            put_buffer(out, path.as_bytes());
            out.put_u8(watch.into());
        })
    }

    /// Returns the next event's kind and path.
    fn event(&mut self) -> Option<(i32, String)> {
        self.session.notify(&self.nodes, &mut self.output);
        let mut record = JuteReader::new(self.frame()?);
        assert_eq!((record.i32().unwrap(), record.i64().unwrap()), (-1, -1));
        assert_eq!(record.i32().unwrap(), 0);
        let kind = record.i32().unwrap();
        assert_eq!(record.i32().unwrap(), 3);
        Some((kind, record.text().unwrap()))
    }

    fn set(&mut self, path: &str, data: &'static str) {
        self.nodes.set(path, data, Timestamp::MIN).unwrap();
    }
}

#[test]
fn nodes_are_read() {
    let mut client = Client::connect();
    let frame = client.send(|out| client::put_get_data(out, 3, "/hbase/master")).unwrap();
    let reply = Reply::decode(frame).unwrap();
    assert_eq!(reply.xid, 3);
    assert_eq!(reply.data().unwrap().unwrap(), "m");
    let frame = client.send(|out| client::put_get_children(out, 4, "/hbase")).unwrap();
    let children = Reply::decode(frame).unwrap().children().unwrap().unwrap();
    assert_eq!(children, ["hbaseid", "master"]);
    let frame = client.send(|out| client::put_get_data(out, 5, "/hbase/root-region-server"));
    assert_eq!(Reply::decode(frame.unwrap()).unwrap().data().unwrap(), None);
    assert_eq!(client.request_path(3, "/hbase", false).1.len(), 68);
    assert_eq!(client.request_path(12, "/hbase", false).0, 0);
    assert_eq!(client.request_path(6, "/hbase", false).0, 0);
    assert_eq!(client.request_path(9, "/hbase", false).1, b"\0\0\0\x06/hbase"[..]);
}

#[test]
fn impossible_operations_have_their_own_errors() {
    let mut client = Client::connect();
    for (op, path, error) in [
        (4, "/nope", ZkError::NoNode),
        (8, "/nope", ZkError::NoNode),
        (3, "/nope", ZkError::NoNode),
        (4, "nope", ZkError::BadArguments),
        (1, "/new", ZkError::NoAuth),
        (1, "/hbase", ZkError::NodeExists),
        (15, "/hbase", ZkError::NodeExists),
        (2, "/hbase", ZkError::NoAuth),
        (5, "/hbase", ZkError::NoAuth),
        (14, "/hbase", ZkError::NoAuth),
        (106, "/hbase", ZkError::Unimplemented),
        (12345, "/hbase", ZkError::Unimplemented),
    ] {
        assert_eq!(
            client.request_path(op, path, false),
            (error.code(), Bytes::new()),
            "{op} {path}"
        );
    }
    assert_eq!(client.request(4, |_| {}).0, ZkError::Marshalling.code());
}

#[test]
fn a_watch_fires_once() {
    let mut client = Client::connect();
    client.request_path(4, "/hbase/master", true);
    assert_eq!(client.event(), None);
    client.set("/hbase/master", "other");
    assert_eq!(client.event(), Some((3, "/hbase/master".into())));
    client.set("/hbase/master", "again");
    assert_eq!(client.event(), None);
}

#[test]
fn watches_see_nodes_come_and_go() {
    let mut client = Client::connect();
    client.request_path(3, "/hbase/rs", true);
    client.request_path(8, "/hbase", true);
    client.set("/hbase/rs", "");
    assert_eq!(client.event(), Some((1, "/hbase/rs".into())));
    assert_eq!(client.event(), Some((4, "/hbase".into())));
    client.request_path(3, "/hbase/rs", true);
    client.nodes.remove("/hbase/rs").unwrap();
    assert_eq!(client.event(), Some((2, "/hbase/rs".into())));
    // A failed read sets no watch.
    client.request_path(4, "/hbase/rs", true);
    client.set("/hbase/rs", "");
    assert_eq!(client.event(), None);
}

#[test]
fn watches_set_again_report_missed_changes() {
    let put_paths = |out: &mut BytesMut, paths: &[&str]| {
        out.put_i32(paths.len() as i32);
        paths.iter().for_each(|path| put_buffer(out, path.as_bytes()));
    };
    for op in [101, 105] {
        let mut client = Client::connect();
        let seen = client.nodes.zxid();
        client.set("/hbase/master", "missed");
        client.request(op, |out| {
            out.put_i64(seen);
            put_paths(out, &["/hbase/master", "/hbase/hbaseid", "/gone"]);
            put_paths(out, &["/hbase/rs"]);
            put_paths(out, &["/hbase"]);
            if op == 105 {
                put_paths(out, &[]);
                put_paths(out, &[]);
            }
        });
        assert_eq!(client.event(), Some((2, "/gone".into())));
        assert_eq!(client.event(), Some((3, "/hbase/master".into())));
        assert_eq!(client.event(), None);
        client.set("/hbase/rs", "");
        assert_eq!(client.event(), Some((1, "/hbase/rs".into())));
        assert_eq!(client.event(), Some((4, "/hbase".into())));
    }
}

#[test]
fn old_clients_get_no_read_only_byte() {
    for (tail, len) in [(&b"\0"[..], 37), (b"", 36)] {
        let mut session = Session::new(7, [1; 16]);
        let mut input = BytesMut::new();
        let mut output = BytesMut::new();
        put_frame(&mut input, |out| {
            out.put_slice(&[0; 12]);
            out.put_i32(1);
            out.put_i64(99);
            put_buffer(out, &[2; 16]);
            out.put_slice(tail);
        });
        session.feed(&mut input, &Znodes::new(1), &mut output).unwrap();
        let frame = client::frames().next(&mut output).unwrap().unwrap();
        assert_eq!(frame.len(), len);
        // The session keeps the client's id; the timeout is clamped.
        assert_eq!(
            frame[4..20],
            [&4000i32.to_be_bytes()[..], &99i64.to_be_bytes(), &[0, 0, 0, 16]].concat()
        );
    }
}

#[test]
fn sessions_are_closed_on_request_and_when_authentication_fails() {
    let close = |write: fn(&mut BytesMut)| {
        let mut client = Client::connect();
        let mut input = BytesMut::new();
        write(&mut input);
        client.session.feed(&mut input, &client.nodes, &mut client.output).unwrap()
    };
    assert_eq!(close(|out| client::put_close(out, 5)), SessionStatus::Closed);
    assert_eq!(close(client::put_ping), SessionStatus::Open);
    let auth = |out: &mut BytesMut, scheme: &[u8]| {
        put_frame(out, |out| {
            out.put_i32(-4);
            out.put_i32(100);
            out.put_i32(0);
            put_buffer(out, scheme);
            put_buffer(out, b"user:password");
        });
    };
    let mut client = Client::connect();
    let mut input = BytesMut::new();
    auth(&mut input, b"digest");
    let status = client.session.feed(&mut input, &client.nodes, &mut client.output).unwrap();
    assert_eq!(status, SessionStatus::Open);
    auth(&mut input, b"sasl");
    let status = client.session.feed(&mut input, &client.nodes, &mut client.output).unwrap();
    assert_eq!(status, SessionStatus::Closed);
}

#[test]
fn four_letter_words_are_no_frames() {
    let mut session = Session::new(7, [1; 16]);
    let nodes = Znodes::new(1);
    assert!(session.feed(&mut BytesMut::from("ruok"), &nodes, &mut BytesMut::new()).is_err());
}

proptest! {
    #[test]
    fn rubbish_never_panics(
        op in prop::sample::select(vec![3, 4, 6, 8, 9, 11, 12, 100, 101, 105, -11, 1, 2, 0, 77]),
        body: Vec<u8>,
        raw: Vec<u8>,
    ) {
        let mut client = Client::connect();
        let mut input = BytesMut::new();
        put_frame(&mut input, |out| {
            out.put_i32(1);
            out.put_i32(op);
            out.put_slice(&body);
        });
        input.extend_from_slice(&raw);
        let _ = client.session.feed(&mut input, &client.nodes, &mut client.output);
        let _ = Session::new(1, [0; 16]).feed(
            &mut BytesMut::from(&raw[..]), &client.nodes, &mut client.output,
        );
        if let Ok(reply) = Reply::decode(raw.into()) {
            let _ = (reply.clone().data(), reply.children());
        }
    }
}

#[test]
fn an_rpc_client_is_recognized() {
    for preamble in [&b"HBas\0\x50"[..], b"Regist", b"Securi"] {
        let error = Session::new(7, [1; 16])
            .feed(&mut BytesMut::from(preamble), &Znodes::new(1), &mut BytesMut::new())
            .unwrap_err();
        assert!(error.message().contains("RPC client"), "{error}");
    }
}
