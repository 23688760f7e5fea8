//! Messages of HBase's interface Thrift 1. Where a message ends does not depend on the pieces in
//! which the bytes come, and its arguments come back as they were read.
//!
//! Input: the length of a piece, less one (1 byte), and the bytes.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rowhouse_format::thrift::{Args, Carriage, Extent, Method, Protocol, Reader, Type, Writer};

fuzz_target!(|input: &[u8]| {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let _ = Carriage::detect(bytes);
    for protocol in [Protocol::Binary, Protocol::Compact] {
        let whole = end(protocol, bytes, bytes.len().max(1));
        assert_eq!(whole, end(protocol, bytes, usize::from(piece) + 1));
        match whole {
            Some(end) => read(protocol, Bytes::copy_from_slice(&bytes[..end])),
            None => read(protocol, Bytes::copy_from_slice(bytes)),
        }
    }
});

/// Returns where the message ends that comes in such pieces; `None` for an error, and for no end.
fn end(protocol: Protocol, bytes: &[u8], piece: usize) -> Option<usize> {
    let mut extent = Extent::new(protocol);
    let mut end = 0;
    while end < bytes.len() {
        end = bytes.len().min(end + piece);
        if let Some(len) = extent.pass(&bytes[..end]).ok()? {
            return Some(len);
        }
        assert!(extent.missing(&bytes[..end]) > 0);
    }
    None
}

fn read(protocol: Protocol, message: Bytes) {
    let mut reader = Reader::new(message.clone(), protocol);
    let Ok(head) = reader.head() else { return };
    let _ = reader.skip(Type::Struct);
    let Some(method) = Method::from_name(&head.name) else { return };
    let mut reader = Reader::new(message, protocol);
    let _ = reader.head();
    let Ok(args) = Args::read(method, &mut reader) else { return };
    let written = |protocol, args: &Args| {
        let mut bytes = BytesMut::new();
        args.write(method, &mut Writer::new(&mut bytes, protocol));
        bytes.freeze()
    };
    for protocol in [Protocol::Binary, Protocol::Compact] {
        let bytes = written(protocol, &args);
        let again = Args::read(method, &mut Reader::new(bytes.clone(), protocol));
        assert_eq!(written(protocol, &again.expect("what was written")), bytes);
    }
}
