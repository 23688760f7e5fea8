//! Connection headers, request headers and response headers. A connection header is decoded as it
//! was encoded.
//!
//! Input: the kind (1 byte), and a frame.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rowhouse_format::rpc::{
    ConnectionHead, FrameDecoder, PREAMBLE_LEN, Request, Response, Service,
};

fuzz_target!(|input: &[u8]| {
    let Some((&kind, frame)) = input.split_first() else { return };
    let frame = Bytes::copy_from_slice(frame);
    match kind % 5 {
        0 => connection(frame),
        1 => response(frame),
        2 => request(frame, Service::Client),
        3 => request(frame, Service::Admin),
        _ => request(frame, Service::Master),
    }
});

fn connection(frame: Bytes) {
    let Ok(head) = ConnectionHead::decode(frame) else { return };
    let mut bytes = BytesMut::new();
    head.encode_opening(&mut bytes);
    let mut header = bytes.split_off(PREAMBLE_LEN);
    let frame = FrameDecoder::default().next(&mut header).expect("a header is short");
    let again = ConnectionHead::decode(frame.expect("the header is complete"));
    assert_eq!(again.expect("an encoded header is valid"), head);
}

fn request(frame: Bytes, service: Service) {
    let len = frame.len();
    if let Ok(request) = Request::decode(frame, service) {
        assert_eq!(request.method.service(), service);
        assert!(request.message.len() + request.cells.len() <= len);
        let _ = request.cells(None).count();
    }
}

fn response(frame: Bytes) {
    if let Ok(Response { outcome: Ok(body), .. }) = Response::decode(frame) {
        let _ = body.cells(None).count();
    }
}
