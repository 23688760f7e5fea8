//! Malformed calls.

use bytes::{BufMut, Bytes, BytesMut};
use expect_test::expect;
use prost::Message;
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellBlock, CellCodec};
use rowhouse_model::{Cell, CellKind, Put, Timestamp};

use crate::scene::{Scene, frame, header};
use crate::support::region_ref;

#[test]
fn frames_of_impossible_lengths_are_refused_unread() {
    let mut scene = Scene::new();
    let call = frame(&header("Get"), b"", b"");
    let with_len = |len: i32| [&len.to_be_bytes()[..], &call[4..]].concat();
    scene.check_refusal(&with_len(i32::MAX), &expect!["call 7, do not retry: exceptions.RequestTooBigException: RPC data length of 2147483647 received from CLIENT is greater than max allowed 269484032"]);
    scene.check_refusal(&with_len(-1), &expect!["call 7, do not retry: exceptions.RequestTooBigException: RPC data length of 4294967295 received from CLIENT is greater than max allowed 269484032"]);
    scene.check_refusal(&with_len(i32::MIN), &expect!["call 7, do not retry: exceptions.RequestTooBigException: RPC data length of 2147483648 received from CLIENT is greater than max allowed 269484032"]);
    // Too short to contain the call's number.
    scene.check_calls(b"\x7f\xff\xff\xff\x20", &expect!["closed"]);
    scene.check_refusal(b"\0\0\0\0", &expect!["closed"]);
}

#[test]
fn calls_that_cannot_be_read_are_answered_under_their_number() {
    let mut scene = Scene::new();
    scene.check_refusal(b"\0\0\0\x04\xff\xff\xff\xff", &expect!["closed"]);
    scene.check_calls(&frame(&header("Get"), b"\xff\xff\xff", b""), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: malformed message: failed to decode Protobuf message: invalid varint, len=3"]);
    scene.check_calls(
        &frame(&header("Get"), b"", b""),
        &expect!["call 7, do not retry: DoNotRetryIOException: Row length is 0"],
    );
    scene.check_calls(&frame(&header("Nope"), b"", b""), &expect!["call 7, do not retry: DoNotRetryIOException: unknown method: service=ClientService, method=Nope"]);
    scene.check_calls(&frame(&header("CreateTable"), b"", b""), &expect!["call 7, do not retry: DoNotRetryIOException: unknown method: service=ClientService, method=CreateTable"]);
    scene.check_calls(
        &frame(&header("ExecService"), b"", b""),
        &expect!["call 7, do not retry: DoNotRetryIOException: not a region name:"],
    );
    let without_message = proto::RequestHeader { request_param: None, ..header("Get") };
    scene.check_calls(&frame(&without_message, b"", b""), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: Invalid request header: should have param set in it"]);
}

#[test]
fn call_after_a_bad_one_is_answered() {
    let mut scene = Scene::new();
    let mut bytes = BytesMut::new();
    bytes.put_slice(&frame(&header("Nope"), b"", b""));
    let good = put_of(&scene, |_| {});
    let eighth = proto::RequestHeader { call_id: Some(8), ..header("Mutate") };
    bytes.put_slice(&frame(&eighth, &good, b""));
    scene.check_calls(&bytes, &expect![[r#"
        call 7, do not retry: DoNotRetryIOException: unknown method: service=ClientService, method=Nope
        call 8: answered"#]]);
}

#[test]
fn cell_blocks_that_lie_are_refused() {
    let mut scene = Scene::new();
    let cell =
        |row: &str| Cell::new(row, "cf", "q", Timestamp::LATEST, CellKind::Put, "v").unwrap();
    let mut block = CellBlock::new(CellCodec::KeyValue);
    block.push(&cell("a"));
    let whole = Bytes::copy_from_slice(block.as_bytes());
    let with_cells = |cells: i32| {
        put_of(&scene, |put| {
            put.column_value.clear();
            put.associated_cell_count = Some(cells);
        })
    };
    let one = with_cells(1);
    let two = with_cells(2);
    let many = with_cells(i32::MAX);
    let call = |message: &Bytes, announced: usize, cells: &[u8]| {
        let length = Some(announced as u32);
        let meta = proto::CellBlockMeta { length };
        let header = proto::RequestHeader { cell_block_meta: Some(meta), ..header("Mutate") };
        frame(&header, message, cells)
    };

    // The block is shorter than announced, ends inside a cell, or has fewer cells than the put
    // announces.
    scene.check_calls(&call(&one, whole.len() + 1, &whole), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: cell block longer than its frame: len=30, available=29"]);
    scene.check_calls(&call(&one, u32::MAX as usize, &whole), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: cell block longer than its frame: len=4294967295, available=29"]);
    scene.check_calls(&call(&one, whole.len() - 1, &whole[..whole.len() - 1]), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: cell longer than its block: len=25, left=24"]);
    scene.check_calls(&call(&two, whole.len(), &whole), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: Cell count of 2 but at index 1 no cell returned"]);
    scene.check_calls(&call(&many, whole.len(), &whole), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: Cell count of 2147483647 but at index 1 no cell returned"]);
    // It contains no complete cell.
    scene.check_calls(&call(&one, 4, b"\0\0\0\0"), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: malformed cell: shorter than its lengths, len=0"]);
    scene.check_calls(&call(&one, 8, b"\0\0\0\x04\xff\xff\xff\xff"), &expect!["call 7, do not retry: exceptions.UnknownProtocolException: malformed cell: shorter than its lengths, len=4"]);
    // The cell belongs to another row than the put, in another region.
    let mut other = CellBlock::new(CellCodec::KeyValue);
    other.push(&cell("z"));
    let other = other.as_bytes();
    scene.check_calls(&call(&one, other.len(), other), &expect!["call 7, do not retry: DoNotRetryIOException: the row in z doesn't match the original one a"]);
    scene.check_calls(&call(&one, whole.len(), &whole), &expect!["call 7: answered"]);
}

/// Returns a put to row `a` as a Mutate message, modified by `change`.
fn put_of(scene: &Scene, change: impl FnOnce(&mut proto::MutationProto)) -> Bytes {
    let put = Put::new("a").unwrap().add("cf", "q", "v").unwrap();
    let region = region_ref(&scene.regions[0]);
    let call = MutateCall { region, mutation: put.into(), nonce: None, condition: None };
    let mut message = call.to_proto(CellPlacement::Message).unwrap();
    assert_eq!(call.mutation.cells().len(), 1);
    change(&mut message.mutation);
    message.encode_to_vec().into()
}
