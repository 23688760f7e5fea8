//! Reads and writes tables as a client.

use rowhouse_format::convert::multi::{
    Action, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::convert::{self, CellPlacement, result};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_model::{Get, Increment, Mutation, Put, RegionInfo, Row, escape};

use super::{Client, region_ref};

/// A row as text: the key and the values.
pub(crate) type Scanned = (String, Vec<String>);

/// Mutates a row in a region.
pub(crate) fn mutate(
    client: &mut Client,
    region: &RegionInfo,
    mutation: impl Into<Mutation>,
) -> Result<Row, Exception> {
    let call = MutateCall {
        region: region_ref(region),
        mutation: mutation.into(),
        nonce: None,
        condition: None,
    };
    let (answer, mut cells) =
        client.call_with(&call.to_proto(CellPlacement::Message).unwrap(), &[])?;
    Ok(mutate::answer_from_proto(answer, &mut cells).unwrap())
}

/// Puts `cf:q` in many rows of a region in one call.
pub(crate) fn put_many(
    client: &mut Client,
    region: &RegionInfo,
    rows: impl IntoIterator<Item = (String, String)>,
) {
    let actions = rows.into_iter().zip(0..).map(|((row, value), index)| {
        let put = Put::new(row).unwrap().add("cf", "q", value).unwrap();
        IndexedAction { index, action: Ok(Action::Mutate(put.into(), None)) }
    });
    let actions = Ok(actions.collect());
    let regions =
        vec![RegionActions { region: region_ref(region), atomic: false, condition: None, actions }];
    let (message, cells) = MultiCall { regions }.to_proto().unwrap();
    let (answer, mut cells) = client.call_with(&message, &cells).unwrap();
    let answer = MultiResult::from_proto(answer, &mut cells).unwrap();
    let mut answers = answer.regions.iter().flat_map(|region| &region.as_ref().unwrap().answers);
    assert!(answers.all(|numbered| numbered.answer.is_ok()), "{answer:?}");
}

/// Builds a Mutate message that puts `cf:q`.
pub(crate) fn put_message(region: &RegionInfo, row: &str, value: &str) -> proto::MutateRequest {
    let put = Put::new(row.to_owned()).unwrap().add("cf", "q", value).unwrap();
    let call = MutateCall {
        region: region_ref(region),
        mutation: put.into(),
        nonce: None,
        condition: None,
    };
    call.to_proto(CellPlacement::Message).unwrap()
}

/// Puts `cf:q`.
pub(crate) fn put(
    client: &mut Client,
    region: &RegionInfo,
    row: &str,
    value: &str,
) -> Result<(), Exception> {
    let put = Put::new(row.to_owned()).unwrap().add("cf", "q", value).unwrap();
    mutate(client, region, put).map(|_| ())
}

/// Puts a row with this many columns.
pub(crate) fn put_wide_row(client: &mut Client, region: &RegionInfo, row: &str, columns: usize) {
    for first in (0..columns).step_by(5_000) {
        let mut put = Put::new(row.to_owned()).unwrap();
        for column in first..(first + 5_000).min(columns) {
            put = put.add("cf", format!("q{column:06}"), "v").unwrap();
        }
        mutate(client, region, put).unwrap();
    }
}

/// Puts the same value into `cf:q` and `d:q`.
pub(crate) fn put_two(
    client: &mut Client,
    region: &RegionInfo,
    row: &str,
    value: &str,
) -> Result<(), Exception> {
    let put = Put::new(row.to_owned()).unwrap().add("cf", "q", value).unwrap();
    mutate(client, region, put.add("d", "q", value).unwrap()).map(|_| ())
}

/// Adds to the counter `cf:q`; returns the new value.
pub(crate) fn increment(
    client: &mut Client,
    region: &RegionInfo,
    row: &str,
    amount: i64,
) -> Result<i64, Exception> {
    let increment = Increment::new(row.to_owned()).unwrap().add("cf", "q", amount).unwrap();
    Ok(counter(&mutate(client, region, increment)?).unwrap())
}

/// Returns a row's counter `cf:q`.
pub(crate) fn counter(row: &Row) -> Option<i64> {
    let value = row.value("cf", "q")?;
    Some(i64::from_be_bytes(value[..].try_into().unwrap()))
}

/// Reads a row.
pub(crate) fn get(client: &mut Client, region: &RegionInfo, row: &str) -> Result<Row, Exception> {
    let get = convert::get::to_proto(&Get::new(row.to_owned()).unwrap());
    let message = proto::GetRequest { region: region_ref(region).to_proto(), get };
    let (answer, mut cells) = client.call_with(&message, &[])?;
    Ok(result::from_proto(answer.result.unwrap(), &mut cells).unwrap().row)
}

/// Sends a Scan request.
pub(crate) fn scan(client: &mut Client, call: &ScanCall) -> Result<ScanResult, Exception> {
    let (answer, mut cells) = client.call_with(&call.to_proto(), &[])?;
    Ok(ScanResult::from_proto(answer, &mut cells).unwrap())
}

/// Opens a scanner on a region and takes up to `rows` rows.
pub(crate) fn open(
    client: &mut Client,
    region: &RegionInfo,
    scan: OpenScan,
    rows: u32,
) -> Result<ScanResult, Exception> {
    self::scan(client, &ScanCall::open(region_ref(region), scan, rows))
}

/// Takes up to `rows` more rows from a scanner.
pub(crate) fn next(
    client: &mut Client,
    scanner: u64,
    next_call_seq: u64,
    rows: u32,
) -> Result<ScanResult, Exception> {
    scan(client, &ScanCall::next(scanner, next_call_seq, rows))
}

/// Returns an answer's rows as text.
pub(crate) fn rows_of(answer: &ScanResult) -> Vec<Scanned> {
    let text = |row: &Row| {
        let values = row.cells().map(|cell| escape(cell.value()));
        (escape(row.key()), values.collect())
    };
    answer.rows.iter().map(|scanned| text(&scanned.row)).collect()
}
