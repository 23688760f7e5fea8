//! Bad data calls.

use expect_test::{Expect, expect};
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_format::proto;
use rowhouse_format::rpc::Call;
use rowhouse_model::{Delete, Increment, Mutation, Put, RegionInfo, Row, Scan, Timestamp};

use crate::scene::{Scene, frame, header};
use crate::support::{self, region_ref};

impl Scene {
    /// Sends a call on a new connection.
    fn check_message<M: Call>(&mut self, message: &M, expected: &Expect) {
        let name = M::METHOD.name();
        self.check_calls(&frame(&header(name), &message.encode_to_vec(), b""), expected);
    }

    fn row(&self, region: &RegionInfo, row: &str) -> Row {
        support::get(&mut self.server.client(), region, row).unwrap()
    }
}

fn get(region: &RegionRef, row: &[u8], family: &str) -> proto::GetRequest {
    let column = proto::Column {
        family: bytes::Bytes::copy_from_slice(family.as_bytes()),
        qualifier: Vec::new(),
    };
    let row = bytes::Bytes::copy_from_slice(row);
    let get = proto::Get { row, column: vec![column], ..Default::default() };
    proto::GetRequest { region: region.to_proto(), get }
}

fn mutation(region: &RegionRef, mutation: impl Into<Mutation>) -> proto::MutateRequest {
    let region = region.clone();
    MutateCall { region, mutation: mutation.into(), nonce: None, condition: None }
        .to_proto(CellPlacement::Message)
        .unwrap()
}

fn put(region: &RegionRef, row: &str, family: &str) -> proto::MutateRequest {
    let put = Put::new(row.to_owned()).unwrap().add(family, "q", "v").unwrap();
    mutation(region, put)
}

fn scan(region: &RegionRef, family: &str) -> proto::ScanRequest {
    let scan = Scan::all().family(family.to_owned());
    ScanCall::open(region.clone(), OpenScan::new(scan), 10).to_proto()
}

#[test]
fn regions_that_are_not_there_are_not_served() {
    let mut scene = Scene::new();
    let unknown = RegionRef::Full("t,,1.0123456789abcdef0123456789abcdef.".into());
    scene.check_message(&get(&unknown, b"a", "cf"), &expect!["call 7, retry: NotServingRegionException: t,,1.0123456789abcdef0123456789abcdef. is not online on SERVER"]);
    scene.check_message(&put(&unknown, "a", "cf"), &expect!["call 7, retry: NotServingRegionException: t,,1.0123456789abcdef0123456789abcdef. is not online on SERVER"]);
    scene.check_message(&scan(&unknown, "cf"), &expect!["call 7, retry: NotServingRegionException: t,,1.0123456789abcdef0123456789abcdef. is not online on SERVER"]);
    let encoded = RegionRef::encoded("0123456789abcdef0123456789abcdef");
    scene.check_message(&get(&encoded, b"a", "cf"), &expect!["call 7, retry: NotServingRegionException: 0123456789abcdef0123456789abcdef is not online on SERVER"]);
    let full = |name: &'static [u8]| get(&RegionRef::Full(name.into()), b"a", "cf");
    scene.check_message(
        &full(b""),
        &expect!["call 7, do not retry: DoNotRetryIOException: not a region name:"],
    );
    scene.check_message(
        &full(b"t,,1795220131100."),
        &expect![
            "call 7, do not retry: DoNotRetryIOException: not a region name: t,,1795220131100."
        ],
    );
    scene.check_message(
        &full(b".."),
        &expect!["call 7, retry: NotServingRegionException: .. is not online on SERVER"],
    );
    scene.check_message(
        &full(b"t,\xff\xff,1.\xff\xfe."),
        &expect![[
            r#"call 7, do not retry: DoNotRetryIOException: not an encoded region name: \xFF\xFE"#
        ]],
    );
    scene.check_message(
        &get(&RegionRef::encoded(""), b"a", "cf"),
        &expect!["call 7, retry: NotServingRegionException:  is not online on SERVER"],
    );
}

#[test]
fn rows_outside_of_the_region_are_refused() {
    let mut scene = Scene::new();
    let other = scene.server.create_table("other", &["cf"], &[]);
    let low = region_ref(&scene.regions[0]);
    let high = region_ref(&scene.regions[1]);
    scene.check_message(&get(&low, b"m", "cf"), &expect!["call 7, retry: regionserver.WrongRegionException: Requested row out of range for region t,,ID.HASH.: row='m', startKey='', endKey='m'"]);
    scene.check_message(&put(&high, "a", "cf"), &expect!["call 7, retry: regionserver.WrongRegionException: Requested row out of range for region t,m,ID.HASH.: row='a', startKey='m', endKey=''"]);
    // A region in another table accepts any row: the region name determines the table.
    let before = scene.row(&other[0], "a");
    scene.check_message(&put(&low, "a", "cf"), &expect!["call 7: answered"]);
    assert_eq!(scene.row(&other[0], "a"), before);
}

#[test]
fn families_that_the_table_does_not_have_are_refused() {
    let mut scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    scene.check_message(&get(&region, b"a", "nope"), &expect!["call 7, do not retry: regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region t,,ID.HASH. in table 't', {NAME => 'cf'}"]);
    scene.check_message(&put(&region, "a", "nope"), &expect!["call 7, do not retry: regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region t,,ID.HASH. in table 't', {NAME => 'cf'}"]);
    scene.check_message(&scan(&region, "nope"), &expect!["call 7, do not retry: regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region t,,ID.HASH. in table 't', {NAME => 'cf'}"]);
    let delete = Delete::new("a").unwrap().family("nope", Timestamp::LATEST).unwrap();
    scene.check_message(&mutation(&region, delete), &expect!["call 7, do not retry: regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region t,,ID.HASH. in table 't', {NAME => 'cf'}"]);
    let increment = Increment::new("a").unwrap().add("nope", "q", 1).unwrap();
    scene.check_message(&mutation(&region, increment), &expect!["call 7, do not retry: regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region t,,ID.HASH. in table 't', {NAME => 'cf'}"]);
}

#[test]
fn disabled_and_dropped_tables_are_not_served() {
    let mut scene = Scene::new();
    let off = scene.server.create_table("off", &["cf"], &[]);
    let region = region_ref(&off[0]);
    scene.server.disable_table("off");
    scene.check_message(
        &get(&region, b"a", "cf"),
        &expect!["call 7, retry: NotServingRegionException: off,,ID.HASH. is not online"],
    );
    scene.check_message(
        &put(&region, "a", "cf"),
        &expect!["call 7, retry: NotServingRegionException: off,,ID.HASH. is not online"],
    );
    scene.check_message(
        &scan(&region, "cf"),
        &expect!["call 7, retry: NotServingRegionException: off,,ID.HASH. is not online"],
    );
    scene.server.drop_table("off");
    scene.check_message(
        &get(&region, b"a", "cf"),
        &expect!["call 7, retry: NotServingRegionException: off,,ID.HASH. is not online on SERVER"],
    );
}

#[test]
fn rows_that_are_too_long_or_empty_are_refused() {
    let mut scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    let longest = vec![b'a'; 32_767];
    scene.check_message(&get(&region, &longest, "cf"), &expect!["call 7: answered"]);
    let too_long = vec![b'a'; 32_768];
    scene.check_message(
        &get(&region, &too_long, "cf"),
        &expect!["call 7, do not retry: DoNotRetryIOException: Row length 32768 is > 32767"],
    );
    scene.check_message(
        &get(&region, b"", "cf"),
        &expect!["call 7, do not retry: DoNotRetryIOException: Row length is 0"],
    );
    let mut long_put = put(&region, "a", "cf");
    long_put.mutation.row = Some(too_long.into());
    scene.check_message(
        &long_put,
        &expect!["call 7, do not retry: DoNotRetryIOException: Row length 32768 is > 32767"],
    );
    let mut without_row = put(&region, "a", "cf");
    without_row.mutation.row = None;
    scene.check_message(
        &without_row,
        &expect!["call 7, do not retry: DoNotRetryIOException: row cannot be null"],
    );
}

#[test]
fn mutations_that_change_nothing_or_no_counter_are_refused() {
    let mut scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    let mut empty = put(&region, "a", "cf");
    empty.mutation.column_value.clear();
    scene.check_message(
        &empty,
        &expect!["call 7, do not retry: DoNotRetryIOException: No columns to insert"],
    );
    let put = Put::new("digits").unwrap().add("cf", "q", "three").unwrap();
    scene.check_message(&mutation(&region, put), &expect!["call 7: answered"]);
    let increment = Increment::new("digits").unwrap().add("cf", "q", 1).unwrap();
    scene.check_message(
        &mutation(&region, increment.clone()),
        &expect![
            "call 7, do not retry: DoNotRetryIOException: Field is not a long, it's 5 bytes wide"
        ],
    );
    let mut short = mutation(&region, increment);
    short.mutation.column_value[0].qualifier_value[0].value = Some("short".into());
    scene.check_message(
        &short,
        &expect![
            "call 7, do not retry: DoNotRetryIOException: Field is not a long, it's 5 bytes wide"
        ],
    );
}

#[test]
fn scans_of_nothing_are_refused() {
    let mut scene = Scene::new();
    scene.check_message(
        &proto::ScanRequest::default(),
        &expect![
            "call 7, do not retry: DoNotRetryIOException: Missing required input: scannerId or scan"
        ],
    );
    let unknown = proto::ScanRequest { scanner_id: Some(1), ..Default::default() };
    scene.check_message(&unknown, &expect!["call 7, do not retry: UnknownScannerException: Unknown scanner '1'. It was closed, its lease ran out, or the server was restarted."]);
    let mut versions = scan(&region_ref(&scene.regions[0]), "cf");
    versions.scan.as_mut().unwrap().max_versions = Some(0);
    scene.check_message(
        &versions,
        &expect![
            "call 7, do not retry: DoNotRetryIOException: versions must be positive: versions=0"
        ],
    );
}

#[test]
fn unsupported_features_are_refused_by_name() {
    let mut scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    let filter = proto::Filter { name: "org.example.NopeFilter".into(), serialized_filter: None };
    let mut filtered = get(&region, b"a", "cf");
    filtered.get.filter = Some(filter.clone());
    scene.check_message(&filtered, &expect!["call 7, do not retry: DoNotRetryIOException: filter is not supported: name=org.example.NopeFilter"]);
    let mut filtered = scan(&region, "cf");
    filtered.scan.as_mut().unwrap().filter = Some(filter);
    scene.check_message(&filtered, &expect!["call 7, do not retry: DoNotRetryIOException: filter is not supported: name=org.example.NopeFilter"]);
    let mut closest = get(&region, b"a", "cf");
    closest.get.closest_row_before = Some(true);
    scene.check_message(&closest, &expect!["call 7, do not retry: exceptions.UnknownProtocolException: Is this a pre-hbase-1.0.0 or asynchbase client? Client is invoking getClosestRowBefore removed in hbase-2.0.0 replaced by reverse Scan."]);
    let mut with_acl = put(&region, "a", "cf");
    let acl = proto::NameBytesPair { name: "acl".into(), value: Some("bob".into()) };
    with_acl.mutation.attribute.push(acl);
    scene.check_message(&with_acl, &expect!["call 7, do not retry: DoNotRetryIOException: access control list of an operation is not supported: attribute=acl, value=bob"]);
    let mut short_ttl = put(&region, "a", "cf");
    let ttl = proto::NameBytesPair { name: "_ttl".into(), value: Some("1234".into()) };
    short_ttl.mutation.attribute.push(ttl);
    scene.check_message(&short_ttl, &expect!["call 7, do not retry: DoNotRetryIOException: the TTL of a mutation must have 8 bytes: len=4"]);
}

#[test]
fn times_that_cannot_be_are_refused() {
    let mut scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    let mut negative = put(&region, "a", "cf");
    negative.mutation.column_value[0].qualifier_value[0].timestamp = Some(u64::MAX);
    scene.check_message(
        &negative,
        &expect![
            "call 7, do not retry: DoNotRetryIOException: timestamp cannot be negative: ts=-1"
        ],
    );
    let mut backwards = get(&region, b"a", "cf");
    backwards.get.time_range = Some(proto::TimeRange { from: Some(5), to: Some(4) });
    scene.check_message(
        &backwards,
        &expect![
            "call 7, do not retry: DoNotRetryIOException: time range ends before it begins: 5..4"
        ],
    );
    let mut before_time = scan(&region, "cf");
    before_time.scan.as_mut().unwrap().time_range =
        Some(proto::TimeRange { from: Some(u64::MAX), to: Some(4) });
    scene.check_message(
        &before_time,
        &expect![
            "call 7, do not retry: DoNotRetryIOException: timestamp cannot be negative: ts=-1"
        ],
    );
}

#[test]
fn the_catalog_cannot_be_written() {
    let mut scene = Scene::new();
    let meta = RegionRef::encoded("1588230740");
    scene.check_message(&put(&meta, "a", "info"), &expect!["call 7, do not retry: DoNotRetryIOException: hbase:meta is synthesized from the manifest and cannot be written"]);
    scene.check_message(&get(&meta, b"a", "nope"), &expect!["call 7: answered"]);
}

#[test]
fn batch_applies_its_valid_actions() {
    let scene = Scene::new();
    let region = region_ref(&scene.regions[0]);
    let unknown = RegionRef::Full("t,,1.0123456789abcdef0123456789abcdef.".into());
    let action = |index: u32, row: &str, family: &str| proto::Action {
        index: Some(index),
        mutation: Some(put(&region, row, family).mutation),
        ..Default::default()
    };
    let actions = |region: &RegionRef, action: Vec<proto::Action>| proto::RegionAction {
        region: region.to_proto(),
        action,
        ..Default::default()
    };
    let good_and_bad =
        vec![action(0, "good", "cf"), action(1, "bad", "nope"), action(2, "z", "cf")];
    let message = proto::MultiRequest {
        region_action: vec![
            actions(&unknown, vec![action(3, "lost", "cf")]),
            actions(&region, good_and_bad),
        ],
        ..Default::default()
    };
    let answer = scene.server.client().call(&message).unwrap();
    let mut text = String::new();
    for region in answer.region_action_result {
        if let Some(exception) = region.exception {
            text += &format!("region: {}\n", exception.name);
        }
        for result in region.result_or_exception {
            let outcome = result.exception.map_or("done".to_owned(), |exception| exception.name);
            text += &format!("{}: {outcome}\n", result.index.unwrap());
        }
    }
    expect![[r#"
        region: org.apache.hadoop.hbase.NotServingRegionException
        0: done
        1: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException
        2: org.apache.hadoop.hbase.regionserver.WrongRegionException
    "#]]
    .assert_eq(&text);
    let first = scene.regions[0].clone();
    assert!(!scene.row(&first, "good").is_empty());
    assert!(scene.row(&first, "bad").is_empty());
}
