//! Recorded conversations from `tests/conversations/` (`compat/record/README.md`).

use std::collections::BTreeMap;
use std::path::Path;

use bytes::BytesMut;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{Body, FrameDecoder, Request, Response, ServerConnection, ServerEvent};

/// One connection in a recorded scenario.
pub(crate) struct Conversation {
    /// Scenario and file, for error messages.
    pub(crate) name: String,
    /// The server's role: `zookeeper`, `master` or `regionserver`.
    pub(crate) role: String,
    /// The transferred bytes, in order.
    pub(crate) runs: Vec<Run>,
}

/// Bytes transferred in one direction.
pub(crate) struct Run {
    /// Whether the client sent them.
    pub(crate) from_client: bool,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Returns every recorded conversation.
pub(crate) fn all() -> Vec<Conversation> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversations");
    let mut files = Vec::new();
    for scenario in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        if scenario.is_dir() {
            files.extend(std::fs::read_dir(scenario).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Conversation {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("# rowhouse conversation 1\n"), "{}", file.display());
    let mut role = String::new();
    let mut runs = Vec::<Run>::new();
    for line in text.lines() {
        let (kind, rest) = line.split_at(1);
        let rest = rest.trim();
        let from_client = match kind {
            "#" => {
                if let Some(name) = rest.strip_prefix("role ") {
                    role = name.to_owned();
                }
                continue;
            }
            ">" => true,
            "<" => false,
            _ => panic!("{}: {line}", file.display()),
        };
        let bytes = unhex(rest);
        match runs.last_mut() {
            Some(run) if run.from_client == from_client => run.bytes.extend(bytes),
            _ => runs.push(Run { from_client, bytes }),
        }
    }
    let scenario = file.parent().unwrap().file_name().unwrap().to_string_lossy();
    let name = format!("{scenario}/{}", file.file_name().unwrap().to_string_lossy());
    Conversation { name, role, runs }
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

impl Conversation {
    /// Returns the calls on an RPC connection with their outcomes, in response order.
    #[allow(dead_code, reason = "not every test that reads conversations takes calls")]
    pub(crate) fn calls(&self) -> Vec<(Request, Result<Body, Exception>)> {
        let mut server = ServerConnection::new("client:1", "cluster");
        let mut requests = BytesMut::new();
        let mut responses = BytesMut::new();
        let mut pending = BTreeMap::new();
        let mut calls = Vec::new();
        for run in &self.runs {
            if !run.from_client {
                responses.extend_from_slice(&run.bytes);
                while let Some(frame) = FrameDecoder::default().next(&mut responses).unwrap() {
                    let response = Response::decode(frame).unwrap();
                    calls.push((pending.remove(&response.call_id).unwrap(), response.outcome));
                }
                continue;
            }
            requests.extend_from_slice(&run.bytes);
            while let Some(event) = server.next(&mut requests, &mut BytesMut::new()) {
                if let ServerEvent::Request(request) = event {
                    pending.insert(request.call_id, request);
                }
            }
        }
        calls
    }
}
