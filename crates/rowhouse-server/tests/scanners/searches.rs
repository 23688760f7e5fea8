//! Scans that carry a query with `matches`, which a full-text index answers.

use std::time::{Duration, Instant};

use rowhouse_format::convert::{region, scan::OpenScan, scan::ScanCall};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Put, RegionInfo, RowRange, Scan, TimeRange, Timestamp};

use crate::keys;
use crate::queries::{alter, query_scan, read, schema};
use crate::support::{self, Client, TestServer, region_ref};

const ROWS: usize = 1_200;

/// A server with a table `mail` with a full-text index, and the regions.
fn mail(splits: &[&[u8]]) -> (TestServer, Vec<RegionInfo>) {
    let server = TestServer::start();
    server.create_table("mail", &["d"], splits);
    alter(&server, "rowhouse.key", "1 [user text]").unwrap();
    alter(&server, "rowhouse.columns", "1 d:s sender string; d:b body string; d:z size u32")
        .unwrap();
    let regions = server.regions("mail");
    let mut client = server.client();
    for number in 0..ROWS {
        let region = of(&regions, &row(number));
        support::mutate(&mut client, region, put(number, &text(number))).unwrap();
    }
    alter(&server, "rowhouse.indexes", "1 text search body english, size").unwrap();
    wait(&server);
    (server, regions)
}

fn wait(server: &TestServer) {
    let until = Instant::now() + Duration::from_secs(60);
    let is_ready = || {
        let attributes = schema(server, "mail.text").attributes;
        let mut states = attributes.iter().filter(|it| it.first == "rowhouse.index_state");
        states.any(|state| state.second == "ready")
    };
    while !is_ready() {
        assert!(Instant::now() < until, "the index is not built");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn of<'r>(regions: &'r [RegionInfo], row: &str) -> &'r RegionInfo {
    regions.iter().find(|region| region.range.contains(row.as_bytes())).unwrap()
}

fn row(number: usize) -> String {
    format!("u{number:04}")
}

/// Every row has the word `common`, every tenth `key`.
fn text(number: usize) -> String {
    if number.is_multiple_of(10) { "common row keys".into() } else { "common words".into() }
}

fn put(number: usize, body: &str) -> Put {
    let sender = if number.is_multiple_of(4) { "eve" } else { "bob" };
    let size = u32::try_from(number).unwrap().to_be_bytes().to_vec();
    let put = Put::new(row(number)).unwrap().add("d", "s", sender).unwrap();
    put.add("d", "b", body).unwrap().add("d", "z", size).unwrap()
}

fn every(step: usize, range: std::ops::Range<usize>) -> Vec<String> {
    range.filter(|number| number.is_multiple_of(step)).map(row).collect()
}

/// Reads all rows that match a query from one region.
fn matching_rows(client: &mut Client, region: &RegionInfo, query: &str) -> Vec<String> {
    read(client, region, query_scan(query, Scan::all()), 1_000)
}

#[test]
fn matching_rows_come_in_the_order_of_the_scan_in_answers_of_any_size() {
    let (server, regions) = mail(&[b"u0300"]);
    let mut client = server.client();
    for (region, range) in regions.iter().zip([0..300, 300..ROWS]) {
        for rows in [7, 1_000] {
            let scan = |query| query_scan(query, Scan::all());
            let all = read(&mut client, region, scan("body matches 'common'"), rows);
            assert_eq!(all, every(1, range.clone()));
            let keys = read(&mut client, region, scan("body matches 'key'"), rows);
            assert_eq!(keys, every(10, range.clone()));
            let reversed = Scan { reversed: true, ..Scan::all() };
            let mut backwards =
                read(&mut client, region, query_scan("body matches 'common'", reversed), rows);
            backwards.reverse();
            assert_eq!(backwards, every(1, range.clone()));
        }
    }
    // The index knows the sizes, the row knows the sender, and the key the user.
    let mut narrowed = |query| matching_rows(&mut client, &regions[0], query);
    assert_eq!(narrowed("body matches 'key' and size < 100"), every(10, 0..100));
    assert_eq!(narrowed("body matches 'key' and sender = 'eve'"), every(20, 0..300));
    assert_eq!(narrowed("body matches 'key' and user < 'u0100'"), every(10, 0..100));
    assert_eq!(narrowed("body matches 'key' and body matches 'words'"), [""; 0]);
    // The scan's own range and columns apply; condition columns need not be returned.
    let scan = Scan::new(RowRange::new("u0015", "u0045")).column("d", "z");
    let answer =
        support::open(&mut client, &regions[0], query_scan("body matches 'key'", scan), 10)
            .unwrap();
    assert_eq!(keys(&answer), every(10, 20..45));
    assert!(answer.rows.iter().all(|row| row.row.len() == 1));
}

#[test]
fn recent_writes_are_searchable_immediately() {
    let (server, regions) = mail(&[]);
    let mut client = server.client();
    let region = &regions[0];
    for word in ["heron", "egret", "stork"] {
        support::mutate(&mut client, region, put(1, word)).unwrap();
        assert_eq!(matching_rows(&mut client, region, &format!("body matches '{word}'")), [row(1)]);
        assert_eq!(
            matching_rows(&mut client, region, "body matches 'heron OR egret OR stork'"),
            [row(1)]
        );
        assert_eq!(matching_rows(&mut client, region, "body matches 'common'").len(), ROWS - 1);
    }
    // An open scanner reads on at its read point.
    let query = query_scan("body matches 'common'", Scan::all());
    let first = support::open(&mut client, region, query, 2).unwrap();
    support::mutate(&mut client, region, put(1_000, "heron")).unwrap();
    let rest = support::next(&mut client, first.scanner.unwrap(), 0, 10_000).unwrap();
    let mut expected = every(1, 0..ROWS);
    expected.remove(1);
    assert_eq!([keys(&first), keys(&rest)].concat(), expected);
}

#[test]
fn only_rows_with_the_words_are_looked_at_and_a_limit_counts_them() {
    let (server, regions) = mail(&[]);
    let open = query_scan("body matches 'key' and sender = 'eve'", Scan::all());
    let call = ScanCall::open(region_ref(&regions[0]), open, 1_000);
    let call = ScanCall { track_metrics: true, ..call };
    let answer = support::scan(&mut server.client(), &call).unwrap();
    assert_eq!(answer.metrics[0], ("ROWS_SCANNED".to_owned(), ROWS as i64 / 10));
    let answer = support::scan(&mut server.client(), &ScanCall { limit: Some(3), ..call }).unwrap();
    assert_eq!(keys(&answer), every(20, 0..60));
    assert!(!answer.more_results);
}

#[test]
fn a_search_goes_on_beside_and_after_a_split() {
    let (server, regions) = mail(&[]);
    let mut client = server.client();
    let open = || query_scan("body matches 'common'", Scan::all());
    let first = support::open(&mut client, &regions[0], open(), 2).unwrap();
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&regions[0]),
        split_row: Some("u0300".into()),
        ..Default::default()
    };
    server.connect(Service::Master).call(&split).unwrap();
    let rest = support::next(&mut client, first.scanner.unwrap(), 0, 10_000).unwrap();
    assert_eq!([keys(&first), keys(&rest)].concat(), every(1, 0..ROWS));
    let until = Instant::now() + Duration::from_secs(60);
    while server.regions("mail").len() < 2 {
        assert!(Instant::now() < until, "the region is not split");
    }
    let regions = server.regions("mail");
    let all = regions.iter().flat_map(|region| read(&mut client, region, open(), 500));
    assert_eq!(all.collect::<Vec<_>>(), every(1, 0..ROWS));
}

#[test]
fn the_index_and_its_queue_survive_a_restart() {
    let (server, regions) = mail(&[]);
    support::mutate(&mut server.client(), &regions[0], put(5, "heron")).unwrap();
    let server = TestServer::start_in(server.stop());
    let mut client = server.client();
    let region = &server.regions("mail")[0];
    assert_eq!(matching_rows(&mut client, region, "body matches 'heron'"), [row(5)]);
    assert_eq!(matching_rows(&mut client, region, "body matches 'key'").len(), ROWS / 10);
}

#[test]
fn a_search_that_is_wrong_is_refused_when_the_scanner_opens() {
    let (server, regions) = mail(&[]);
    let mut client = server.client();
    let mut refused = |open: OpenScan| {
        let error = support::open(&mut client, &regions[0], open, 0).unwrap_err();
        assert_eq!(error.class, "org.apache.hadoop.hbase.DoNotRetryIOException");
        error.message
    };
    let query = |query| query_scan(query, Scan::all());
    assert!(refused(query("body matches 'row OR NOT key'")).contains("`NOT` needs a word"));
    let message = refused(query("sender matches 'eve'"));
    assert!(message.contains("full-text index of `sender`"), "{message}");
    assert!(refused(query("bdy matches 'eve'")).contains("did you mean `body`?"));
    let end = Timestamp::from_millis(5).unwrap();
    let times = Scan::all().time_range(TimeRange::new(Timestamp::MIN, end).unwrap());
    let message = refused(query_scan("body matches 'key'", times));
    assert!(message.contains("cannot have a time range"), "{message}");
    alter(&server, "rowhouse.indexes", "1 by_sender [sender]").unwrap();
    assert!(refused(query("body matches 'key'")).contains("full-text index of `body`"));
}
