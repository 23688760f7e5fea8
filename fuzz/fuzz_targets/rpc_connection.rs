//! The bytes of one RPC connection: preamble, connection header, frames. The events and the output
//! do not depend on the pieces in which the bytes arrive.
//!
//! Input: the length of a piece, less one (1 byte), and the bytes.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use rowhouse_format::rpc::{ServerConnection, ServerEvent};

/// Longest frame, small enough that inputs exceed it.
const FRAME_LEN_MAX: usize = 2048;

fuzz_target!(|input: &[u8]| {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let whole = serve([bytes]);
    let pieces = serve(bytes.chunks(usize::from(piece) + 1));
    assert_eq!(whole, pieces);
});

/// Returns the events of a connection and what the server writes.
fn serve<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, BytesMut) {
    let connection = ServerConnection::new("127.0.0.1:50000", "cluster");
    let mut connection = connection.with_frame_len_max(FRAME_LEN_MAX);
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Some(event) = connection.next(&mut input, &mut output) {
            if let ServerEvent::Request(request) = &event {
                let _ = request.cells(connection.codec()).count();
            }
            events.push(format!("{event:?}"));
        }
    }
    (events, output)
}
