//! Scanners: regions, connections, queries, limits.

use std::time::Duration;

use bytes::Bytes;
use rowhouse_format::convert::procedure::fault::{self, FaultCall};
use rowhouse_format::convert::region;
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_format::thrift::{Args, MessageKind, Method, Mutation, Pairs, TScan};
use rowhouse_model::{FaultCallKind, FaultEffect, FaultRule};

use super::client::{CARRIAGES, ThriftClient};
use super::{connect, server};
use crate::support::{self, TestServer};

/// Returns the keys of the rows in an answer.
fn keys(answer: &str) -> Vec<&str> {
    let rows = answer.strip_prefix("reply {0: [").unwrap_or_else(|| panic!("{answer}"));
    // A row begins with its key; a column or cell has no second brace.
    let rows = rows.split("{1: \"").skip(1).filter(|row| row.contains("\", 2: {\""));
    rows.map(|row| row.split('"').next().unwrap()).collect()
}

fn open(client: &mut ThriftClient, scan: TScan, attributes: &[(&str, &str)]) -> i32 {
    let pairs = attributes.iter();
    let pairs =
        pairs.map(|(name, value)| (Bytes::from(name.to_string()), value.to_string().into()));
    let args = Args {
        table: Some("t".into()),
        scan: Some(scan),
        attributes: Some(Pairs(pairs.collect())),
        ..Args::default()
    };
    let answer = client.call(Method::ScannerOpenWithScan, &args);
    let number = answer.strip_prefix("reply {0: ").and_then(|rest| rest.strip_suffix('}'));
    number.unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

fn next(client: &mut ThriftClient, number: i32, count: i32) -> String {
    let args = Args { scanner: Some(number), row_count: Some(count), ..Args::default() };
    client.call(Method::ScannerGetList, &args)
}

fn close(client: &mut ThriftClient, number: i32) -> String {
    client.call(Method::ScannerClose, &Args { scanner: Some(number), ..Args::default() })
}

/// Creates a table with rows 00 to 99 in four regions.
fn filled(server: &TestServer) -> ThriftClient {
    server.create_table("t", &["d"], &[b"25", b"50", b"75"]);
    let mut client = connect(server);
    for number in 0..100 {
        let mutation = |column: &str, value: String| Mutation {
            column: Some(column.to_owned().into()),
            value: Some(value.into()),
            ..Mutation::default()
        };
        let args = Args {
            table: Some("t".into()),
            row: Some(format!("{number:02}").into()),
            mutations: Some(vec![mutation("d:n", (number % 10).to_string())]),
            ..Args::default()
        };
        assert_eq!(client.call(Method::MutateRow, &args), "reply {}");
    }
    client
}

#[test]
fn a_scan_passes_regions_in_both_directions_and_counts_rows_over_them() {
    let server = server(|_| {});
    let mut client = filled(&server);
    for reversed in [false, true] {
        let scan = || TScan { reversed: Some(reversed), ..TScan::default() };
        for count in [1, 7, 30, 1_000] {
            let number = open(&mut client, scan(), &[]);
            let mut read: Vec<String> = Vec::new();
            loop {
                let answer = next(&mut client, number, count);
                let rows = keys(&answer);
                if rows.is_empty() {
                    break;
                }
                // Only the end of the scan has fewer.
                assert!(rows.len() == count as usize || read.len() + rows.len() == 100);
                read.extend(rows.into_iter().map(str::to_owned));
            }
            let mut expected: Vec<_> = (0..100).map(|number| format!("{number:02}")).collect();
            if reversed {
                expected.reverse();
            }
            assert_eq!(read, expected);
            assert_eq!(close(&mut client, number), "reply {}");
        }
    }
}

#[test]
fn a_scan_goes_on_after_its_region_was_split_and_after_the_scanner_was_lost() {
    let server = server(|_| {});
    let mut client = filled(&server);
    let number = open(&mut client, TScan::default(), &[]);
    assert_eq!(keys(&next(&mut client, number, 30)).len(), 30);
    let of_row = &server.regions("t")[1];
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(of_row),
        split_row: Some("40".into()),
        ..Default::default()
    };
    server.connect(Service::Master).call(&split).unwrap();
    let answer = next(&mut client, number, 1_000);
    assert_eq!(keys(&answer).first(), Some(&"30"));
    assert_eq!(keys(&answer).len(), 70);
}

#[test]
fn a_scan_that_failed_goes_on_where_it_was() {
    let server = server(|_| {});
    let mut client = filled(&server);
    let number = open(&mut client, TScan::default(), &[]);
    assert_eq!(keys(&next(&mut client, number, 30)).len(), 30);
    server.disable_table("t");
    let failed = next(&mut client, number, 1_000);
    assert!(failed.starts_with("reply {1: "), "{failed}");
    let table = Args { table: Some("t".into()), ..Args::default() };
    assert_eq!(client.call(Method::EnableTable, &table), "reply {}");
    let mut rest = Vec::new();
    while rest.len() < 70 {
        let answer = next(&mut client, number, 1_000);
        rest.extend(keys(&answer).into_iter().map(str::to_owned));
    }
    assert_eq!((rest.len(), rest[0].as_str(), rest[69].as_str()), (70, "30", "99"));
    assert_eq!(keys(&next(&mut client, number, 1)), [""; 0]);
}

/// A request of some kilobytes would take gigabytes.
#[test]
fn many_columns_of_many_rows_are_refused() {
    let server = server(|_| {});
    let mut client = filled(&server);
    let numbered = |count: usize| (0..count).map(|at| Bytes::from(format!("d:{at}")));
    let args = Args {
        table: Some("t".into()),
        rows: Some(numbered(3_000).collect()),
        columns: Some(numbered(3_000).collect()),
        ..Args::default()
    };
    let refused = client.call(Method::GetRowsWithColumns, &args);
    assert!(refused.contains("max=268435456"), "{refused}");
    let fewer = Args { columns: Some(numbered(10).collect()), ..args };
    assert_eq!(client.call(Method::GetRowsWithColumns, &fewer), "reply {0: []}");
}

#[test]
fn a_scanner_is_read_on_other_connections_and_in_other_protocols() {
    let server = server(|_| {});
    let mut first = filled(&server);
    let number = open(&mut first, TScan::default(), &[]);
    for (at, carriage) in CARRIAGES.into_iter().enumerate() {
        let mut client = ThriftClient::connect(server.thrift(), carriage);
        assert_eq!(
            keys(&next(&mut client, number, 2)),
            [format!("{:02}", 2 * at), format!("{:02}", 2 * at + 1)]
        );
    }
    drop(first);
    let mut client = connect(&server);
    assert_eq!(keys(&next(&mut client, number, 1)), ["08"]);
    assert_eq!(close(&mut client, number), "reply {}");
    assert_eq!(next(&mut client, number, 1), "reply {2: {1: \"scanner ID is invalid\"}}");
}

/// A scanner is read by one call at a time: a call on another connection waits for the first, which
/// a fault delays for longer than the client waits.
#[test]
fn a_read_of_a_scanner_ends_with_the_connection_of_its_client() {
    let server = server(|options| options.allow_faults = true);
    let mut client = filled(&server);
    let number = open(&mut client, TScan::default(), &[]);
    let delay = FaultEffect::Delay(Duration::from_secs(3600));
    let scans = Some(FaultCallKind::Scan);
    let rule = FaultRule { call: scans, hits_max: Some(1), ..FaultRule::new(delay) };
    let procedure = fault::call_to_proto(&FaultCall::Add(rule));
    server.connect(Service::Master).call(&proto::ExecProcedureRequest { procedure }).unwrap();
    let args = Args { scanner: Some(number), row_count: Some(10), ..Args::default() };
    client.send(Method::ScannerGetList.name(), MessageKind::Call, |writer| {
        args.write(Method::ScannerGetList, writer);
    });
    // The delayed call has begun once no other is hit.
    let mut other = connect(&server);
    let is_hit = || {
        let procedure = fault::call_to_proto(&FaultCall::List);
        let call = proto::ExecProcedureRequest { procedure };
        let listed = server.connect(Service::Master).call(&call).unwrap();
        let rules = fault::statuses_from_bytes(listed.return_data.unwrap()).unwrap();
        rules.iter().all(|rule| rule.hits == 1)
    };
    while !is_hit() {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(client);
    assert_eq!(keys(&next(&mut other, number, 3)), ["00", "01", "02"]);
}

#[test]
fn queries_come_in_an_attribute_and_as_a_filter() {
    let server = server(|_| {});
    let mut client = filled(&server);
    alter(&server, "rowhouse.key", "1 [n digits 2]");
    alter(&server, "rowhouse.columns", "1 d:n last text");
    let mut rows = |scan: TScan, attributes: &[(&str, &str)]| {
        let number = open(&mut client, scan, attributes);
        let answer = next(&mut client, number, 100);
        close(&mut client, number);
        answer
    };
    let filter =
        |text: &str| TScan { filter_string: Some(text.to_owned().into()), ..TScan::default() };
    let query = "last = '7' and n < 40";
    let expected = ["07", "17", "27", "37"];
    assert_eq!(keys(&rows(TScan::default(), &[("rowhouse.query", query)])), expected);
    let text = "RowhouseQuery('last = ''7'' and n < 40')";
    assert_eq!(keys(&rows(filter(text), &[])), expected);
    assert_eq!(keys(&rows(filter(&format!(" {text} AND PrefixFilter('2')")), &[])), ["27"]);
    // PageFilter counts in each region.
    let both = format!("{text} AND (PrefixFilter('1') OR PrefixFilter('3')) AND PageFilter(5)");
    assert_eq!(keys(&rows(filter(&both), &[])), ["17", "37"]);
    let mistake = rows(filter("RowhouseQuery('lst = ''7''')"), &[]);
    assert!(mistake.contains("there is no `lst`"), "{mistake}");
    for text in [
        "RowhouseQuery('n = 1') OR PrefixFilter('2')",
        "RowhouseQuery('n = 1') AND PrefixFilter('2') OR PrefixFilter('3')",
        "PrefixFilter('2') AND RowhouseQuery('n = 1')",
        "RowhouseQuery('n = 1'",
        "RowhouseQuery()",
        "SKIP RowhouseQuery('n = 1')",
    ] {
        let args = Args { table: Some("t".into()), scan: Some(filter(text)), ..Args::default() };
        let answer = client.call(Method::ScannerOpenWithScan, &args);
        let refused = "exception {1: \"Internal error processing scannerOpenWithScan: \
                       java.lang.IllegalArgumentException: ";
        assert!(answer.starts_with(refused), "{text}: {answer}");
    }
}

/// Sets an attribute of the table.
fn alter(server: &TestServer, name: &'static str, value: &'static str) {
    let mut master = server.connect(Service::Master);
    let table_name = support::table_name("t");
    let request = proto::GetTableDescriptorsRequest {
        table_names: vec![table_name.clone()],
        ..Default::default()
    };
    let mut table_schema = master.call(&request).unwrap().table_schema.remove(0);
    let pair = proto::BytesBytesPair { first: name.into(), second: value.into() };
    table_schema.attributes.push(pair);
    let request = proto::ModifyTableRequest { table_name, table_schema, ..Default::default() };
    master.call(&request).unwrap();
}

#[test]
fn scanners_of_a_connection_are_bounded() {
    let server = server(|_| {});
    server.create_table("t", &["d"], &[]);
    let mut client = connect(&server);
    let numbers: Vec<_> = (0..1_000).map(|_| open(&mut client, TScan::default(), &[])).collect();
    let args = Args { table: Some("t".into()), scan: Some(TScan::default()), ..Args::default() };
    let refused = client.call(Method::ScannerOpenWithScan, &args);
    let text = "RegionTooBusyException: too many open scanners: all=1000, max=10000, \
                connection=1000, max=1000";
    assert!(refused.contains(text) && refused.ends_with(", 2: true}}"), "{refused}");
    // Others are not affected, and closing makes room.
    let other = open(&mut connect(&server), TScan::default(), &[]);
    assert!(!numbers.contains(&other));
    close(&mut client, numbers[500]);
    open(&mut client, TScan::default(), &[]);
}
