//! The catalog tables return the same cells as Apache HBase's, except for the timestamps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod conversation;

use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult, ScanTarget};
use rowhouse_format::convert::{get, result};
use rowhouse_format::meta::{MetaTable, RegionRow, lookup};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Body, Method, Request};
use rowhouse_model::{Namespace, Row, Scan, TableName, TableState, Timestamp};

#[test]
fn meta_and_namespace_answer_as_apaches() {
    let conversations = conversation::all();
    let catalog =
        conversations.iter().find(|c| c.name == "catalog-zk/03-regionserver.conv").unwrap();
    assert_eq!(catalog.role, "regionserver");
    let calls = catalog.calls();
    let mut calls = calls.iter().map(|(request, body)| (request, body.as_ref().unwrap()));

    // The first call reads all hbase:meta rows; build this crate's table from the result.
    let (request, body) = calls.next().unwrap();
    assert_eq!(open_scan(request).scan, Scan { caching: Some(i32::MAX as u32), ..Scan::all() });
    let rows = scanned(body);
    let meta = remade(&rows);
    assert_eq!(answered(&meta, request), plain(&rows));

    let namespaces = ["default", "hbase"].map(|name| Namespace::new(name).unwrap());
    let namespaces = MetaTable::namespaces(&namespaces, Timestamp::MIN).unwrap();
    let mut compared = 0;
    // A reversed scan, a lookup, hbase:namespace and a table's state, before any change.
    let mut lookups = 0;
    for (request, body) in calls.take(4) {
        if request.method == Method::Scan {
            // This crate's lookup equals the stock client's.
            lookups +=
                usize::from(open_scan(request) == lookup(&TableName::namespace_table(), b""));
        }
        if request.method == Method::Get {
            let message = body.message::<proto::GetResponse>().unwrap().result.unwrap();
            let row = result::from_proto(message, &mut body.cells(None)).unwrap().row;
            let message = request.message::<proto::GetRequest>().unwrap();
            let got = meta.get(&get::from_proto(message.get).unwrap());
            assert_eq!(plain(&[got]), plain(&[row]));
        } else {
            let rows = scanned(body);
            let table = if rows[0].key() == b"default" { &namespaces } else { &meta };
            assert_eq!(answered(table, request), plain(&rows));
        }
        compared += 1;
    }
    assert_eq!((compared, lookups), (4, 1));
}

/// Builds `hbase:meta` from the information in its recorded rows.
fn remade(rows: &[Row]) -> MetaTable {
    let regions: Vec<_> = rows.iter().filter_map(|row| RegionRow::from_row(row).unwrap()).collect();
    let states: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let state = match row.cell("table", "state")?.value() {
                b"\x08\x00" => TableState::Enabled,
                b"\x08\x01" => TableState::Disabled,
                other => panic!("{other:?}"),
            };
            let name = std::str::from_utf8(row.key()).unwrap();
            Some((TableName::parse(name).unwrap(), state))
        })
        .collect();
    assert_eq!((regions.len(), states.len()), (7, 4));
    let states = states.iter().map(|(name, state)| (name, *state));
    MetaTable::meta(&regions, states, Timestamp::MIN).unwrap()
}

fn open_scan(request: &Request) -> OpenScan {
    match ScanCall::from_proto(request.message().unwrap()).unwrap().target {
        ScanTarget::Open { scan, .. } => *scan,
        ScanTarget::Scanner(_) => panic!("{request:?}"),
    }
}

fn scanned(body: &Body) -> Vec<Row> {
    let answer = ScanResult::from_proto(body.message().unwrap(), &mut body.cells(None)).unwrap();
    answer.rows.into_iter().map(|row| row.row).collect()
}

/// Returns this crate's result, limited to the rows the call requests.
fn answered(table: &MetaTable, request: &Request) -> Vec<String> {
    let rows = ScanCall::from_proto(request.message().unwrap()).unwrap().rows;
    let scan = open_scan(request);
    plain(&table.scan(&scan).take(rows as usize).collect::<Vec<_>>())
}

/// Returns rows' cells without the timestamps.
fn plain(rows: &[Row]) -> Vec<String> {
    let cells = rows.iter().flat_map(Row::cells);
    cells.map(|cell| format!("{:?}", cell.to_cell().with_timestamp(Timestamp::MIN))).collect()
}
