//! Scans that carry a query, and indexes declared by stock clients.

use std::time::{Duration, Instant};

use rowhouse_format::convert::{self, region, scan::OpenScan};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Get, Put, RegionInfo, RowRange, Scan};

use crate::keys;
use crate::support::{self, Client, TestServer, region_ref, table_name};

const ROWS: usize = 600;

/// A server with a table `mail` that declares the key and a column.
fn mail(splits: &[&[u8]]) -> (TestServer, Vec<RegionInfo>) {
    let server = TestServer::start();
    server.create_table("mail", &["d"], splits);
    alter(&server, "rowhouse.key", "1 [user text]").unwrap();
    alter(&server, "rowhouse.columns", "1 d:s sender string").unwrap();
    let regions = server.regions("mail");
    let mut client = server.client();
    for number in 0..ROWS {
        let row = row(number);
        let region = regions.iter().find(|it| it.range.contains(row.as_bytes())).unwrap();
        let sender = if number.is_multiple_of(50) { "eve" } else { "bob" };
        let put = Put::new(row).unwrap().add("d", "s", sender).unwrap();
        support::mutate(&mut client, region, put.add("d", "text", "hello").unwrap()).unwrap();
    }
    (server, regions)
}

fn row(number: usize) -> String {
    format!("u{number:03}")
}

/// eve's rows, from number `from` on and before `to`.
fn of_eve(from: usize, to: usize) -> Vec<String> {
    (from..to).filter(|number| number.is_multiple_of(50)).map(row).collect()
}

pub(crate) fn schema(server: &TestServer, table: &str) -> proto::TableSchema {
    let table_names = vec![table_name(table)];
    let message = proto::GetTableDescriptorsRequest { table_names, ..Default::default() };
    server.connect(Service::Master).call(&message).unwrap().table_schema.remove(0)
}

/// Sets an attribute on table `mail` as HBase's clients do.
pub(crate) fn alter(server: &TestServer, name: &str, value: &str) -> Result<(), String> {
    let mut table_schema = schema(server, "mail");
    let pair =
        proto::BytesBytesPair { first: name.to_owned().into(), second: value.to_owned().into() };
    table_schema.attributes.push(pair);
    let table_name = table_name("mail");
    let message = proto::ModifyTableRequest { table_name, table_schema, ..Default::default() };
    let altered = server.connect(Service::Master).call(&message);
    altered.map(|_| ()).map_err(|error| error.message)
}

/// Declares an index and waits until it is ready.
fn index(server: &TestServer) {
    alter(server, "rowhouse.indexes", "1 by_sender [sender]").unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let is_ready = || {
        let attributes = schema(server, "mail.by_sender").attributes;
        let mut states = attributes.iter().filter(|it| it.first == "rowhouse.index_state");
        states.any(|state| state.second == "ready")
    };
    while !is_ready() {
        assert!(Instant::now() < until, "the index is not built");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn query_scan(query: &str, scan: Scan) -> OpenScan {
    OpenScan { query: Some(query.to_owned()), ..OpenScan::new(scan) }
}

/// Reads a region to the end, `rows` rows a call, as a client does.
pub(crate) fn read(
    client: &mut Client,
    region: &RegionInfo,
    scan: OpenScan,
    rows: u32,
) -> Vec<String> {
    let mut answer = support::open(client, region, scan, rows).unwrap();
    let scanner = answer.scanner.unwrap();
    let mut all_keys = keys(&answer);
    let mut calls = 0;
    while answer.more_results && answer.more_results_in_region == Some(true) {
        answer = support::next(client, scanner, calls, rows).unwrap();
        all_keys.extend(keys(&answer));
        calls += 1;
    }
    all_keys
}

#[test]
fn matching_rows_come_in_the_order_of_the_scan_in_answers_of_any_size() {
    let (server, regions) = mail(&[]);
    let mut client = server.client();
    let region = &regions[0];
    let reversed = Scan { reversed: true, ..Scan::new(RowRange::new("u100", "u500")) };
    for _ in ["by the key", "by an index"] {
        for rows in [1, 3, 1000] {
            let all = read(&mut client, region, query_scan("sender = 'eve'", Scan::all()), rows);
            assert_eq!(all, of_eve(0, ROWS));
            let mut backwards =
                read(&mut client, region, query_scan("sender = 'eve'", reversed.clone()), rows);
            backwards.reverse();
            assert_eq!(backwards, of_eve(100, 500));
        }
        // The condition's column need not be returned.
        let texts = query_scan("sender = 'eve' and user < 'u060'", Scan::all().column("d", "text"));
        let answer = support::open(&mut client, region, texts, 10).unwrap();
        let texts = of_eve(0, 60).into_iter().map(|row| (row, vec!["hello".to_owned()]));
        assert_eq!(support::rows_of(&answer), texts.collect::<Vec<_>>());
        index(&server);
    }
}

#[test]
fn an_index_spares_looking_at_other_rows() {
    let (server, regions) = mail(&[]);
    let looked_at = |server: &TestServer| {
        let open = query_scan("sender = 'eve'", Scan::all());
        let call = convert::scan::ScanCall::open(region_ref(&regions[0]), open, 100);
        let call = convert::scan::ScanCall { track_metrics: true, ..call };
        support::scan(&mut server.client(), &call).unwrap().metrics[0].clone()
    };
    assert_eq!(looked_at(&server), ("ROWS_SCANNED".to_owned(), ROWS as i64));
    index(&server);
    assert_eq!(looked_at(&server), ("ROWS_SCANNED".to_owned(), of_eve(0, ROWS).len() as i64));
}

#[test]
fn a_limit_counts_matching_rows() {
    let (server, regions) = mail(&[]);
    index(&server);
    let open = query_scan("sender = 'eve'", Scan::all());
    let call = convert::scan::ScanCall::open(region_ref(&regions[0]), open, 100);
    let call = convert::scan::ScanCall { limit: Some(2), ..call };
    let answer = support::scan(&mut server.client(), &call).unwrap();
    assert_eq!(keys(&answer), of_eve(0, 100));
    assert!(!answer.more_results);
}

#[test]
fn a_query_goes_on_beside_and_after_a_split() {
    let (server, regions) = mail(&[b"u3"]);
    index(&server);
    let mut client = server.client();
    let open = || query_scan("sender = 'eve'", Scan::all());
    let first = support::open(&mut client, &regions[0], open(), 2).unwrap();
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&regions[0]),
        split_row: Some("u125".into()),
        ..Default::default()
    };
    server.connect(Service::Master).call(&split).unwrap();
    // The scanner reads the old region to the end.
    let rest = support::next(&mut client, first.scanner.unwrap(), 0, 100).unwrap();
    assert_eq!([keys(&first), keys(&rest)].concat(), of_eve(0, 300));
    // Every new region answers for its own rows.
    let until = Instant::now() + Duration::from_secs(60);
    while server.regions("mail").len() < 3 {
        assert!(Instant::now() < until, "the region is not split");
    }
    let regions = server.regions("mail");
    let all = regions.iter().flat_map(|region| read(&mut client, region, open(), 2));
    assert_eq!(all.collect::<Vec<_>>(), of_eve(0, ROWS));
}

#[test]
fn a_query_that_is_wrong_is_refused_when_the_scanner_opens() {
    let (server, regions) = mail(&[]);
    let bare = server.create_table("bare", &["d"], &[]).remove(0);
    let mut client = server.client();
    let mut refused = |region: &RegionInfo, query: &str| {
        let error =
            support::open(&mut client, region, query_scan(query, Scan::all()), 0).unwrap_err();
        assert_eq!(error.class, "org.apache.hadoop.hbase.DoNotRetryIOException");
        assert!(error.do_not_retry);
        error.message
    };
    assert!(refused(&regions[0], "sendr = 'eve'").contains("did you mean `sender`?"));
    assert!(refused(&regions[0], "sender = = 'eve'").contains("sender = = 'eve'"));
    assert!(refused(&bare, "sender = 'eve'").contains("table bare has none"));
    // Other operations do not take queries.
    let mut get = convert::get::to_proto(&Get::new("u000").unwrap());
    let value = Some("sender = 'eve'".into());
    get.attribute.push(proto::NameBytesPair { name: "rowhouse.query".to_owned(), value });
    let message = proto::GetRequest { region: region_ref(&regions[0]).to_proto(), get };
    let error = server.client().call(&message).unwrap_err();
    assert!(error.do_not_retry && error.message.contains("rowhouse.query"), "{}", error.message);
}

#[test]
fn the_table_of_an_index_is_read_by_everyone_and_written_by_no_client() {
    let (server, _) = mail(&[]);
    index(&server);
    let entries = server.regions("mail.by_sender").remove(0);
    let mut client = server.client();
    let all = OpenScan::new(Scan::all());
    let rows = support::open(&mut client, &entries, all, ROWS as u32).unwrap().rows;
    assert_eq!(rows.len(), ROWS);
    let key = String::from_utf8(rows[ROWS - 1].row.key().to_vec()).unwrap();
    assert!(!support::get(&mut client, &entries, &key).unwrap().is_empty());
    let put = Put::new(key).unwrap().add("e", "", "").unwrap();
    let error = support::mutate(&mut client, &entries, put).unwrap_err();
    assert_eq!(error.class, "org.apache.hadoop.hbase.DoNotRetryIOException");
    assert!(error.message.contains("mail.by_sender") && error.message.contains("rows of mail"));
    // A mistake in a declaration points at it.
    let error = alter(&server, "rowhouse.indexes", "1 by_sender [sendr]").unwrap_err();
    assert!(error.contains("did you mean `sender`?"), "{error}");
}
