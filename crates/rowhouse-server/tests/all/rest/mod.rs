//! HBase's REST interface over sockets.

mod calls;
mod recorded;
mod users;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use rowhouse_server::Options;

use crate::support::TestServer;

/// Starts a server with a REST port.
fn server() -> (TestServer, SocketAddr) {
    server_with(|_| {})
}

fn server_with(set: impl FnOnce(&mut Options)) -> (TestServer, SocketAddr) {
    let server = TestServer::start_with(|options| {
        options.rest = Some("127.0.0.1:0".into());
        set(options);
    });
    let rest = server.rest();
    (server, rest)
}

/// An answer.
#[derive(Debug)]
struct Answer {
    status: u16,
    /// With names in lower case.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..])
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// Sends a request on a connection of its own. `headers` are whole lines.
fn send(rest: SocketAddr, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {rest}\r\nConnection: close\r\n");
    for header in headers {
        head += &format!("{header}\r\n");
    }
    if !body.is_empty() || method == "PUT" || method == "POST" {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    let mut stream = TcpStream::connect(rest).unwrap();
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).unwrap();
    answer(&mut stream)
}

/// Reads an answer up to the connection's end.
fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").expect("an answer with a head");
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers: Vec<_> =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let body = &bytes[end + 4..];
    let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
    let body = if is_chunked { joined(body) } else { body.to_vec() };
    Answer { status, headers, body }
}

/// Joins the chunks of a body.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|it| it == b"\r\n").expect("the body breaks off");
        let len = std::str::from_utf8(&chunks[..end]).unwrap();
        let len = usize::from_str_radix(len, 16).unwrap();
        if len == 0 {
            return body;
        }
        body.extend_from_slice(&chunks[end + 2..end + 2 + len]);
        chunks = &chunks[end + 2 + len + 2..];
    }
}

const JSON: &str = "Accept: application/json";
const OF_JSON: &str = "Content-Type: application/json";
const BINARY: &str = "Content-Type: application/octet-stream";

fn get(rest: SocketAddr, path: &str) -> Answer {
    send(rest, "GET", path, &[JSON], b"")
}

/// Creates a table with these families.
fn create(rest: SocketAddr, table: &str, families: &[&str]) {
    let families: Vec<_> = families.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
    let body = format!(r#"{{"ColumnSchema":[{}]}}"#, families.join(","));
    let answer = send(rest, "PUT", &format!("/{table}/schema"), &[OF_JSON], body.as_bytes());
    assert_eq!(answer.status, 201, "{answer:?}");
}

/// Puts a value at a time.
fn put(rest: SocketAddr, path: &str, at: u64, value: &[u8]) {
    let answer = send(rest, "PUT", path, &[BINARY, &format!("X-Timestamp: {at}")], value);
    assert_eq!(answer.status, 200, "{answer:?}");
}
