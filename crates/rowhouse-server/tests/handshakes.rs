//! Ten thousand TLS handshakes that are hostile or do not end. A program of its own: its memory is
//! that of the server, besides the sockets.

#![cfg(all(feature = "tls", target_os = "linux"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use rowhouse_format::rpc::Service;
use support::TestServer;
use support::tls::{Files, TlsClient};

/// Handshakes that are open at a time, in each of four waves: fewer than the port's connections.
const OPEN: usize = 2_500;
/// The most connections of a port.
const CONNECTIONS_MAX: usize = 4_096;
/// The most memory of a connection in its handshake.
const HANDSHAKE_BYTES_MAX: usize = 32 << 10;

/// The tests run one after the other: they share memory and descriptors.
static ALONE: Mutex<()> = Mutex::new(());

/// How a hostile client begins.
#[derive(Clone, Copy)]
enum Kind {
    /// Sends nothing more than the first byte of TLS.
    FirstByte,
    /// Announces a record of 16 KiB and sends a part of it.
    PartOfRecord,
    /// Announces a handshake message of 16 MiB, and sends 4 KiB.
    LongMessage,
    /// Sends rubbish.
    Rubbish,
    /// Sends a right hello, takes no answer and sends no more.
    Hello,
    /// Completes the handshake and sends nothing.
    Silent,
}

const KINDS: [Kind; 6] = [
    Kind::FirstByte,
    Kind::PartOfRecord,
    Kind::LongMessage,
    Kind::Rubbish,
    Kind::Hello,
    Kind::Silent,
];

impl Kind {
    /// Opens a connection, which stays open until it is dropped.
    fn open(self, server: &TestServer, files: &Files) -> TcpStream {
        let mut socket = TcpStream::connect(server.address()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may have closed the connection already.
        let _ = match self {
            Self::FirstByte => socket.write_all(b"\x16"),
            Self::PartOfRecord => socket
                .write_all(&[&b"\x16\x03\x01\x40\x00\x01\x00\x3F\xFC"[..], &[0; 9_000]].concat()),
            Self::LongMessage => {
                let record = [&b"\x16\x03\x01\x10\x00\x01\xFF\xFF\xFF"[..], &[0; 4_092]].concat();
                socket.write_all(&record)
            }
            Self::Rubbish => socket.write_all(&[0x16; 2_000]),
            Self::Hello => {
                let mut hello = Vec::new();
                TlsClient::session(files, None).write_tls(&mut hello).unwrap();
                socket.write_all(&hello).and_then(|()| socket.peek(&mut [0]).map(drop))
            }
            Self::Silent => {
                let mut session = TlsClient::session(files, None);
                session.complete_io(&mut socket).map(drop)
            }
        };
        socket
    }
}

/// Returns true if a client that has a request is served.
fn is_served(server: &TestServer, files: &Files) -> bool {
    let mut client = TlsClient::opened(server.address(), files, None, Service::ClientMeta);
    client.cluster_id().is_ok_and(|id| id.is_some())
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

#[test]
fn ten_thousand_hostile_handshakes_have_bounded_memory_and_others_are_served() {
    let _alone = ALONE.lock();
    let files = Files::new();
    let server = files.start(|_| {});
    assert!(is_served(&server, &files));
    let before = resident_bytes();
    let mut most = Vec::new();
    for _ in 0..4 {
        let open: Vec<_> =
            KINDS.iter().cycle().take(OPEN).map(|kind| kind.open(&server, &files)).collect();
        assert!(is_served(&server, &files));
        most.push(resident_bytes());
        drop(open);
    }
    let grown: Vec<_> = most.iter().map(|most| most.saturating_sub(before) >> 20).collect();
    println!("MiB before: {}, more in each wave: {grown:?}", before >> 20);
    for most in &most {
        assert!(most.saturating_sub(before) < OPEN * HANDSHAKE_BYTES_MAX, "{grown:?} MiB");
    }
    // What ended leaves nothing.
    assert!(most[3].saturating_sub(most[0]) < OPEN * HANDSHAKE_BYTES_MAX / 4, "{grown:?} MiB");
}

#[test]
fn handshakes_that_do_not_end_occupy_a_port_for_a_limited_time() {
    let _alone = ALONE.lock();
    let files = Files::new();
    let server = files.start(|_| {});
    let open: Vec<_> =
        (0..CONNECTIONS_MAX).map(|_| Kind::FirstByte.open(&server, &files)).collect();
    // One more is closed at once, and the others as soon as their time is over.
    let mut refused = Kind::FirstByte.open(&server, &files);
    assert!(!matches!(refused.read(&mut [0]), Ok(1..)));
    let served = (0..120).any(|_| {
        std::thread::sleep(Duration::from_millis(500));
        is_served(&server, &files)
    });
    assert!(served);
    drop(open);
}
