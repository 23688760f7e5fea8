//! Recorded scenarios, read from the rowhouse-format fixtures (`compat/record/README.md`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use prost::Message;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{
    Body, FrameDecoder, Method, PREAMBLE_LEN, Response, Service, decode_message,
};

/// A client's recorded exchange with Apache HBase, over several connections.
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// How each connection opens.
    pub(crate) connections: Vec<Opening>,
    /// The calls on all connections, in the client's order.
    pub(crate) calls: Vec<Call>,
    /// The requests to ZooKeeper, which precede everything else, and their answers.
    pub(crate) zookeeper: Vec<(Bytes, Bytes)>,
}

/// How a connection opens.
pub(crate) enum Opening {
    /// The registry's preamble; holds the answer's message.
    Registry(Body),
    /// The preamble and connection header, as sent; calls follow.
    Calls(Bytes),
}

/// A request and the answer.
pub(crate) struct Call {
    /// The connection's index in the scenario.
    pub(crate) connection: usize,
    pub(crate) id: u32,
    pub(crate) method: Method,
    /// The header with the length prefix, as sent.
    pub(crate) header: Bytes,
    pub(crate) message: Bytes,
    pub(crate) cells: Bytes,
    pub(crate) answer: Result<Body, Exception>,
}

/// Returns the recorded scenarios' folders.
pub(crate) fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rowhouse-format/tests/conversations");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

impl Scenario {
    /// Reads a scenario. The client numbers the calls across all connections and waits for each
    /// answer before the next call, so the numbers give the order.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let mut connections = Vec::new();
        let mut calls = Vec::new();
        let mut zookeeper = Vec::new();
        for file in files {
            let [sent, received] = directions(&file);
            if file.to_string_lossy().contains("zookeeper") {
                let requests = frames(sent).into_iter();
                zookeeper.extend(requests.zip(frames(received)));
                continue;
            }
            let (opening, more) = read_connection(connections.len(), sent, received);
            connections.push(opening);
            calls.extend(more);
        }
        calls.sort_by_key(|call| call.id);
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        Self { name, connections, calls, zookeeper }
    }
}

fn frames(mut bytes: BytesMut) -> Vec<Bytes> {
    let next = || FrameDecoder::default().next(&mut bytes).unwrap();
    let frames = std::iter::from_fn(next).collect();
    assert!(bytes.is_empty());
    frames
}

/// Returns the bytes sent by the client and by the server.
fn directions(file: &Path) -> [BytesMut; 2] {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("# rowhouse conversation 1\n"), "{}", file.display());
    let mut directions = [BytesMut::new(), BytesMut::new()];
    for line in text.lines() {
        let (kind, hex) = line.split_at(1);
        let direction = match kind {
            ">" => 0,
            "<" => 1,
            _ => continue,
        };
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
        let bytes = hex.trim().as_bytes().chunks(2);
        directions[direction].extend(bytes.map(|pair| digit(pair[0]) << 4 | digit(pair[1])));
    }
    directions
}

fn read_connection(number: usize, mut sent: BytesMut, received: BytesMut) -> (Opening, Vec<Call>) {
    let mut answers = BTreeMap::new();
    for frame in frames(received) {
        let response = Response::decode(frame).unwrap();
        answers.insert(response.call_id, response.outcome);
    }
    let mut opening = sent.split_to(PREAMBLE_LEN);
    if &opening[..] == b"Regist" {
        let answer = answers.pop_first().unwrap().1.unwrap();
        return (Opening::Registry(answer), Vec::new());
    }
    let header = FrameDecoder::default().next(&mut sent).unwrap().unwrap();
    opening.extend_from_slice(&(header.len() as u32).to_be_bytes());
    opening.extend_from_slice(&header);
    let header: proto::ConnectionHeader = decode_message(header).unwrap();
    let service = Service::from_name(header.service_name()).unwrap();
    let mut calls = Vec::new();
    for frame in frames(sent) {
        calls.push(read_call(number, service, frame, &mut answers));
    }
    assert!(answers.is_empty());
    (Opening::Calls(opening.freeze()), calls)
}

fn read_call(
    connection: usize,
    service: Service,
    frame: Bytes,
    answers: &mut BTreeMap<u32, Result<Body, Exception>>,
) -> Call {
    let (header_len, message_at) = delimited(&frame, 0);
    let header = proto::RequestHeader::decode(&frame[header_len..message_at]).unwrap();
    let (message_start, message_end) = delimited(&frame, message_at);
    let id = header.call_id();
    Call {
        connection,
        id,
        method: Method::from_name(service, header.method_name()).unwrap(),
        header: frame.slice(..message_at),
        message: frame.slice(message_start..message_end),
        cells: frame.slice(message_end..),
        answer: answers.remove(&id).unwrap(),
    }
}

/// Returns the start and end for the length-delimited message at `at`.
fn delimited(bytes: &Bytes, at: usize) -> (usize, usize) {
    let mut rest = &bytes[at..];
    let len = prost::decode_length_delimiter(&mut rest).unwrap();
    let start = bytes.len() - rest.len();
    (start, start + len)
}
