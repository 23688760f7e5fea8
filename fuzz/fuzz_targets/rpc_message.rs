//! Messages for the calls that read and write data, with the filters and conditions in them. A
//! message that was accepted is decoded again as it was encoded.
//!
//! Input: the kind (1 byte), the message length (2 bytes, big-endian), the message, and the cell
//! block.

#![no_main]

use std::fmt::Debug;

use bytes::{Buf, Bytes};
use libfuzzer_sys::fuzz_target;
use prost::Message;
use rowhouse_format::convert::multi::{MultiCall, MultiResult};
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::convert::scan::{ScanCall, ScanResult};
use rowhouse_format::convert::{CellPlacement, filter, get, table};
use rowhouse_format::rpc::{CellBlock, CellCodec, CellReader, decode_message};
use rowhouse_model::Result;

fuzz_target!(|input: &[u8]| {
    if input.len() < 3 {
        return;
    }
    let mut input = Bytes::copy_from_slice(input);
    let (kind, len) = (input.get_u8(), usize::from(input.get_u16()));
    let message = input.split_to(len.min(input.len()));
    let mut cells = CellReader::new(CellCodec::KeyValueWithTags, input);
    let cells = &mut cells;
    match kind % 8 {
        0 => check(message, get::from_proto, |get| Ok(get::to_proto(get))),
        1 => check(message, ScanCall::from_proto, |call| Ok(call.to_proto())),
        2 => check(
            message,
            |request| MutateCall::from_proto(request, cells),
            |call| call.to_proto(CellPlacement::Message),
        ),
        3 => multi(message, cells),
        4 => check(message, table::from_proto, |table| Ok(table::to_proto(table))),
        5 => check(message, filter::from_proto, |filter| Ok(filter::to_proto(filter))),
        6 => decoded(message, |response| ScanResult::from_proto(response, cells)),
        _ => decoded(message, |response| MultiResult::from_proto(response, cells)),
    }
});

/// Decodes a message; if it is valid, encodes it and decodes that again. Values are compared as
/// text, in which a NaN equals itself.
fn check<M: Message + Default, T: Debug>(
    bytes: Bytes,
    mut decode: impl FnMut(M) -> Result<T>,
    encode: impl FnOnce(&T) -> Result<M>,
) {
    let Ok(value) = decode_message(bytes).and_then(&mut decode) else { return };
    let Ok(message) = encode(&value) else { return };
    let again = decode(message).expect("an encoded message is valid");
    assert_eq!(format!("{again:?}"), format!("{value:?}"));
}

fn decoded<M: Message + Default, T>(bytes: Bytes, decode: impl FnOnce(M) -> Result<T>) {
    let _ = decode_message(bytes).and_then(decode);
}

/// As [`check`]; the cells are encoded into a cell block.
fn multi(bytes: Bytes, cells: &mut CellReader) {
    let call = decode_message(bytes).and_then(|request| MultiCall::from_proto(request, cells));
    let Ok(call) = call else { return };
    // Refused actions are not encoded.
    let accepted = call.regions.iter().all(|region| {
        let actions = region.actions.as_deref();
        actions.is_ok_and(|actions| actions.iter().all(|numbered| numbered.action.is_ok()))
    });
    if !accepted {
        return;
    }
    let Ok((message, cells)) = call.to_proto() else { return };
    let mut block = CellBlock::new(CellCodec::KeyValueWithTags);
    cells.iter().for_each(|cell| block.push(cell));
    let block = Bytes::copy_from_slice(block.as_bytes());
    let mut block = CellReader::new(CellCodec::KeyValueWithTags, block);
    let again = MultiCall::from_proto(message, &mut block).expect("an encoded message is valid");
    assert_eq!(format!("{again:?}"), format!("{call:?}"));
}
