//! Recorded messages from the stock client and Apache HBase decode and encode byte for byte.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod conversation;

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use prost::Message;
use rowhouse_format::convert::multi::{MultiCall, MultiResult};
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::convert::scan::{ScanCall, ScanResult};
use rowhouse_format::convert::{CellPlacement, get, mutate, region, result};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{
    CellBlock, CellCodec, CellReader, FrameDecoder, Method, Request, Response, ServerConnection,
    ServerEvent, Side,
};
use rowhouse_model::Error;

/// Both connection sides, read in step.
struct Replay {
    name: String,
    server: ServerConnection,
    requests: BytesMut,
    responses: BytesMut,
    /// Calls without a response so far.
    calls: BTreeMap<u32, Request>,
    counts: BTreeMap<&'static str, usize>,
}

#[test]
fn every_recorded_call_is_read_and_written_byte_for_byte() {
    let mut counts = BTreeMap::new();
    for conversation in conversation::all() {
        if conversation.role == "zookeeper" {
            continue;
        }
        let mut replay = Replay {
            name: conversation.name,
            server: ServerConnection::new("client:1", "cluster"),
            requests: BytesMut::new(),
            responses: BytesMut::new(),
            calls: BTreeMap::new(),
            counts: BTreeMap::new(),
        };
        let mut raw_requests = BytesMut::new();
        let mut opening = None;
        for run in &conversation.runs {
            if run.from_client {
                replay.requests.extend_from_slice(&run.bytes);
                raw_requests.extend_from_slice(&run.bytes);
                if opening.is_none() {
                    opening = Some(raw_requests.split_to(6));
                    if opening.as_deref() != Some(b"Regist") {
                        check_connection_header(&mut raw_requests);
                    }
                }
                while let Some(frame) = FrameDecoder::default().next(&mut raw_requests).unwrap() {
                    check_envelope::<proto::RequestHeader>(frame);
                }
                replay.take_requests();
            } else {
                replay.responses.extend_from_slice(&run.bytes);
                replay.take_responses();
            }
        }
        assert!(replay.requests.is_empty() && replay.responses.is_empty(), "{}", replay.name);
        assert!(replay.calls.is_empty(), "{}: unanswered", replay.name);
        for (method, count) in replay.counts {
            *counts.entry(method).or_default() += count;
        }
    }
    let total: usize = counts.values().sum();
    println!("{total} calls: {counts:?}");
    assert!(total > 300 && counts.len() > 20, "{counts:?}");
}

/// Checks that a connection header decodes and encodes byte for byte.
fn check_connection_header(bytes: &mut BytesMut) {
    let frame = FrameDecoder::default().next(bytes).unwrap().unwrap();
    let header = proto::ConnectionHeader::decode(frame.clone()).unwrap();
    assert_eq!(header.encode_to_vec(), frame);
}

/// Checks that a request or response header decodes and encodes byte for byte; returns the bytes
/// after it.
fn check_envelope<H: Message + Default>(mut frame: Bytes) -> Bytes {
    let len = prost::decode_length_delimiter(&mut frame).unwrap();
    let header = frame.split_to(len);
    assert_eq!(H::decode(header.clone()).unwrap().encode_to_vec(), header);
    frame
}

/// Checks that an exception's class is known, and that encoding it differs only in stack frames.
fn check_exception(mut frame: Bytes, exception: &Exception) {
    let header = proto::ResponseHeader::decode_length_delimited(&mut frame).unwrap();
    let recorded = header.exception.unwrap();
    let error = exception.clone().into_error();
    assert_eq!(error.message(), exception.message, "unknown class");
    let ours = Exception::from(&error).to_response();
    assert_eq!(ours.exception_class_name, recorded.exception_class_name);
    assert_eq!(ours.do_not_retry, recorded.do_not_retry);
    let ours = ours.stack_trace.unwrap();
    let recorded = recorded.stack_trace.unwrap();
    assert_eq!(recorded.lines().next(), ours.lines().next());
}

/// Checks that the cells in a block encode as recorded.
fn check_block(cells: CellReader, frame: &Bytes) {
    let mut block = CellBlock::new(CellCodec::KeyValue);
    cells.map(|cell| cell.unwrap()).for_each(|cell| block.push(&cell));
    assert!(frame.ends_with(block.as_bytes()));
}

impl Replay {
    fn take_requests(&mut self) {
        let mut output = BytesMut::new();
        while let Some(event) = self.server.next(&mut self.requests, &mut output) {
            match event {
                ServerEvent::Connected(head) => {
                    assert_eq!(head.user.as_deref(), Some("rowhouse"));
                    assert_eq!(head.codec, Some(CellCodec::KeyValue));
                }
                ServerEvent::Request(request) => {
                    let name = &self.name;
                    let written =
                        request.method.recode(Side::Request, request.message.clone()).unwrap();
                    assert_eq!(written, request.message, "{name}: {request:?}");
                    check_block(request.cells(None), &request.cells);
                    check_request_values(&request);
                    *self.counts.entry(request.method.name()).or_default() += 1;
                    self.calls.insert(request.call_id, request);
                }
                ServerEvent::Sasl(token) => panic!("no recorded client sends it: {token:?}"),
                ServerEvent::Close(_) => assert!(output.len() > 4),
            }
        }
    }

    fn take_responses(&mut self) {
        while let Some(frame) = FrameDecoder::default().next(&mut self.responses).unwrap() {
            let rest = check_envelope::<proto::ResponseHeader>(frame.clone());
            let response = Response::decode(frame.clone()).unwrap();
            let body = match response.outcome {
                Ok(body) => body,
                Err(exception) => {
                    assert!(rest.is_empty());
                    check_exception(frame, &exception);
                    self.calls.remove(&response.call_id).unwrap();
                    continue;
                }
            };
            check_block(body.cells(None), &rest);
            let Some(request) = self.calls.remove(&response.call_id) else {
                // The response to a registry preamble.
                let message = body.message::<proto::GetConnectionRegistryResponse>().unwrap();
                assert_eq!(message.cluster_id.len(), 36);
                continue;
            };
            let written =
                request.method.recode(Side::Response, body.message_bytes().clone()).unwrap();
            assert_eq!(written, *body.message_bytes(), "{}: {request:?}", self.name);
            let written = rewritten_answer(&request, body.message_bytes(), body.cells(None));
            if let Some(written) = written {
                assert_eq!(written, *body.message_bytes(), "{}: {request:?}", self.name);
            }
        }
    }
}

/// Checks that the values in a request survive encoding and decoding.
fn check_request_values(request: &Request) {
    let mut block = request.cells(None);
    match request.method {
        Method::Get => {
            let read =
                get::from_proto(request.message::<proto::GetRequest>().unwrap().get).unwrap();
            assert_eq!(get::from_proto(get::to_proto(&read)).unwrap(), read);
        }
        Method::Scan => {
            let call = match ScanCall::from_proto(request.message().unwrap()) {
                Ok(call) => call,
                Err(error) => return check_refusal(&error),
            };
            assert_eq!(ScanCall::from_proto(call.to_proto()).unwrap(), call);
        }
        Method::Mutate => {
            let call = match MutateCall::from_proto(request.message().unwrap(), &mut block) {
                Ok(call) => call,
                Err(error) => return check_refusal(&error),
            };
            let again = MutateCall::from_proto(
                call.to_proto(CellPlacement::Message).unwrap(),
                &mut CellReader::default(),
            );
            assert_eq!(again.unwrap(), call);
        }
        Method::Multi => {
            let call = MultiCall::from_proto(request.message().unwrap(), &mut block).unwrap();
            let (message, cells) = call.to_proto().unwrap();
            let mut again = CellBlock::new(CellCodec::KeyValue);
            cells.iter().for_each(|cell| again.push(cell));
            let again = Bytes::copy_from_slice(again.as_bytes());
            let mut again = CellReader::new(CellCodec::KeyValue, again);
            let read = MultiCall::from_proto(message, &mut again).unwrap();
            assert_eq!(format!("{read:?}"), format!("{call:?}"));
        }
        _ => {}
    }
    assert!(block.is_empty() || !matches!(request.method, Method::Mutate | Method::Multi));
}

/// Checks that a recorded request fails only with an expected error.
fn check_refusal(error: &Error) {
    let refused = [
        "raw scan is not supported: attribute=_raw_, value=\\xFF",
        "batch of cells per result is not supported: batch_size=1",
        "Field is not a long, it's 5 bytes wide",
    ];
    assert!(refused.contains(&error.message()), "{error:?}");
}

/// Returns the response to a data call, encoded by this crate from the decoded values.
fn rewritten_answer(request: &Request, message: &Bytes, mut block: CellReader) -> Option<Vec<u8>> {
    let message = message.clone();
    Some(match request.method {
        Method::Get => {
            let response = proto::GetResponse::decode(message).unwrap();
            let read = result::from_proto(response.result.unwrap(), &mut block).unwrap();
            let result = match read.exists {
                Some(exists) => result::existence(exists),
                None => result::to_proto(&read.row, CellPlacement::Block),
            };
            proto::GetResponse { result: Some(result) }.encode_to_vec()
        }
        Method::Mutate => {
            let response = proto::MutateResponse::decode(message).unwrap();
            match response.result {
                None => mutate::done().encode_to_vec(),
                Some(_) => {
                    let row = mutate::answer_from_proto(response, &mut block).unwrap();
                    mutate::done_with(&row, CellPlacement::Block).encode_to_vec()
                }
            }
        }
        Method::Multi => {
            let response = proto::MultiResponse::decode(message).unwrap();
            let answer = MultiResult::from_proto(response, &mut block).unwrap();
            // Apache's exceptions have stack traces; this crate's have none.
            let mut answers = answer.regions.iter().flatten().flat_map(|region| &region.answers);
            let failed = answer.regions.iter().any(Result::is_err);
            if failed || answers.any(|numbered| numbered.answer.is_err()) {
                return None;
            }
            answer.to_proto(CellPlacement::Block).encode_to_vec()
        }
        Method::Scan => {
            let response = proto::ScanResponse::decode(message).unwrap();
            response.more_results?;
            let answer = ScanResult::from_proto(response, &mut block).unwrap();
            answer.to_proto(CellPlacement::Block).encode_to_vec()
        }
        Method::GetMetaRegionLocations => {
            let response = proto::GetMetaRegionLocationsResponse::decode(message).unwrap();
            let locations = response.meta_locations.into_iter().map(|location| {
                let (info, server) = region::location_from_proto(location).unwrap();
                region::location_to_proto(&info, server.as_ref(), None)
            });
            proto::GetMetaRegionLocationsResponse { meta_locations: locations.collect() }
                .encode_to_vec()
        }
        _ => return None,
    })
}
