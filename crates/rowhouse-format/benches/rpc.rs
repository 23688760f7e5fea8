//! Time to encode and decode RPC messages, per operation: `cargo bench -p rowhouse-format --bench
//! rpc`.
//!
//! Rows are as in PerformanceEvaluation: 26-byte keys, one column with 1,000 bytes. Reports the
//! best of five rounds.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]
#![allow(clippy::disallowed_methods, reason = "a bench measures time")]

use std::hint::black_box;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, IndexedResult, MultiCall, MultiResult, RegionActions,
    RegionResult,
};
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{ScanResult, ScannedRow};
use rowhouse_format::convert::{CellPlacement, get, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::{
    Call, CellCodec, Request, RequestHead, Response, Service, encode_request, encode_response,
};
use rowhouse_model::{Cell, CellKind, Get, Mutation, Put, Row, Timestamp};

const KEY: &str = "00000000000000000000123456";
const ROWS: u32 = 1000;

fn main() {
    let get = Get::new(KEY).unwrap().column("info0", "0");
    let put: Mutation = Put::new(KEY).unwrap().add("info0", "0", [7; 1000]).unwrap().into();
    let at = Timestamp::from_millis(1_795_221_930_936).unwrap();
    let cell = Cell::new(KEY, "info0", "0", at, CellKind::Put, [7; 1000]).unwrap();
    let row = Row::new(vec![cell]);
    one_row(&get, &put, &row);
    many_rows(&get, &put, &row);
}

fn one_row(get: &Get, put: &Mutation, row: &Row) {
    let message = proto::GetRequest { region: region().to_proto(), get: get::to_proto(get) };
    let frame = request(&message, &[]);
    time("get: read the request", 1, || {
        let request = Request::decode(frame.clone(), Service::Client).unwrap();
        let message: proto::GetRequest = request.message().unwrap();
        let region = RegionRef::from_proto(message.region);
        black_box((region.encoded_name().unwrap(), get::from_proto(message.get).unwrap()));
    });
    let mut out = BytesMut::with_capacity(4096);
    time("get: write the answer", 1, || {
        out.clear();
        let result = result::to_proto(row, CellPlacement::Block);
        let answer = proto::GetResponse { result: Some(result) };
        encode_response(&mut out, 1, &answer, CellCodec::KeyValue, row.cells()).unwrap();
        black_box(&out);
    });
    let call = MutateCall { region: region(), mutation: put.clone(), nonce: None, condition: None };
    let frame = request(&call.to_proto(CellPlacement::Message).unwrap(), &[]);
    time("put: read the request", 1, || {
        let request = Request::decode(frame.clone(), Service::Client).unwrap();
        let message = request.message().unwrap();
        black_box(MutateCall::from_proto(message, &mut request.cells(None)).unwrap());
    });
}

fn many_rows(get: &Get, put: &Mutation, row: &Row) {
    for (name, action) in [
        ("multi of gets: read, per row", Action::Get(get.clone())),
        ("multi of puts: read, per row", Action::Mutate(put.clone(), None)),
    ] {
        let (message, cells) = multi(&action).to_proto().unwrap();
        let frame = request(&message, &cells);
        time(name, ROWS, || {
            let request = Request::decode(frame.clone(), Service::Client).unwrap();
            let message = request.message().unwrap();
            black_box(MultiCall::from_proto(message, &mut request.cells(None)).unwrap());
        });
    }
    let mut out = BytesMut::with_capacity(4 << 20);
    let answers =
        (0..ROWS).map(|index| IndexedResult { index, answer: Ok(ActionResult::Row(row.clone())) });
    let answer = MultiResult { regions: vec![Ok(RegionResult::each(answers.collect()))] };
    time("multi of gets: write, per row", ROWS, || {
        out.clear();
        let message = answer.to_proto(CellPlacement::Block);
        encode_response(&mut out, 1, &message, CellCodec::KeyValue, answer.cells()).unwrap();
    });
    let rows = (0..ROWS).map(|_| ScannedRow { row: row.clone(), partial: false });
    let answer = ScanResult { rows: rows.collect(), more_results: true, ..Default::default() };
    time("scan: write, per row", ROWS, || {
        out.clear();
        let message = answer.to_proto(CellPlacement::Block);
        encode_response(&mut out, 1, &message, CellCodec::KeyValue, answer.cells()).unwrap();
    });
    let frame = out.split_off(4).freeze();
    time("scan: client reads, per row", ROWS, || {
        let body = Response::decode(frame.clone()).unwrap().outcome.unwrap();
        let message = body.message().unwrap();
        black_box(ScanResult::from_proto(message, &mut body.cells(None)).unwrap());
    });
}

fn region() -> RegionRef {
    let name =
        b"TestTable,00000000000000000000000000,1795221930936.4f9d4238dcd6fe1e4a78a694df33f1e7.";
    RegionRef::Full(Bytes::from_static(name))
}

fn multi(action: &Action) -> MultiCall {
    let actions = (0..ROWS).map(|index| IndexedAction { index, action: Ok(action.clone()) });
    let actions = Ok(actions.collect());
    MultiCall {
        regions: vec![RegionActions { region: region(), atomic: false, condition: None, actions }],
    }
}

fn request(message: &impl Call, cells: &[Cell]) -> Bytes {
    let head = RequestHead { call_id: 1234, priority: 0, timeout_ms: Some(60_000) };
    let mut out = BytesMut::new();
    encode_request(&mut out, head, message, None, cells).unwrap();
    out.split_off(4).freeze()
}

fn time(name: &str, rows: u32, mut operation: impl FnMut()) {
    let count = 200_000 / rows;
    let round = |operation: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..count).for_each(|_| operation());
        start.elapsed().as_nanos() as f64 / f64::from(count * rows)
    };
    round(&mut operation);
    let best = (0..5).map(|_| round(&mut operation)).fold(f64::MAX, f64::min);
    println!("{name}: {best:.0} ns");
}
