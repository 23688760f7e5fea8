//! The sink of HBase's replication: log entries that another cluster ships.

use rowhouse_format::convert::{get, table};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellCodec, Service};
use rowhouse_model::{
    Cell, CellKind, FamilyDescriptor, Get, RegionInfo, TableDescriptor, TableName, Timestamp,
};

use crate::support::{Client, TestServer, region_ref};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn cell(row: &str, qualifier: &str, millis: i64, kind: CellKind) -> Cell {
    let value = if kind == CellKind::Put { "v" } else { "" };
    Cell::new(row, "cf", qualifier, at(millis), kind, value).unwrap()
}

fn put(row: &str, qualifier: &str, millis: i64) -> Cell {
    cell(row, qualifier, millis, CellKind::Put)
}

/// Creates a table whose family `cf` has these attributes, with three regions.
fn create(server: &TestServer, name: &str, attributes: &[(&'static str, &'static str)]) {
    let mut family = FamilyDescriptor::new("cf").unwrap();
    for (key, value) in attributes {
        family = family.attribute(*key, *value);
    }
    let table = TableDescriptor::new(TableName::parse(name).unwrap()).family(family);
    let message = proto::CreateTableRequest {
        table_schema: table::to_proto(&table),
        split_keys: vec!["row00500".into(), "row01000".into()],
        ..Default::default()
    };
    server.connect(Service::Master).call(&message).unwrap();
}

/// An entry for a table, with so many cells in the cell block.
fn entry(table: &str, cells: usize) -> proto::WalEntry {
    let key = proto::WalKey {
        encoded_region_name: "0123456789abcdef0123456789abcdef".into(),
        table_name: table.to_owned().into(),
        write_time: 1_000,
        cluster_ids: vec![proto::Uuid { most_sig_bits: 7, least_sig_bits: 9 }],
        ..Default::default()
    };
    proto::WalEntry { key, associated_cell_count: Some(cells as i32), ..Default::default() }
}

fn ship(
    client: &mut Client,
    entries: Vec<proto::WalEntry>,
    cells: &[Cell],
) -> Result<(), Exception> {
    let request = proto::ReplicateWalEntryRequest { entry: entries, ..Default::default() };
    client.call_with(&request, cells).map(drop)
}

/// Returns a connection as a source opens it that sends tags.
fn source(server: &TestServer) -> Client {
    let mut head = crate::support::head(Service::Admin);
    head.codec = Some(CellCodec::KeyValueWithTags);
    Client::connect_as(server.address(), &head)
}

/// Returns all versions in a row, newest first, as `qualifier@timestamp`.
fn versions(server: &TestServer, region: &RegionInfo, row: &'static str) -> Vec<String> {
    let mut all = Get::new(row).unwrap();
    all.versions = 100;
    let request =
        proto::GetRequest { region: region_ref(region).to_proto(), get: get::to_proto(&all) };
    let (answer, mut cells) = server.client().call_with(&request, &[]).unwrap();
    let row = rowhouse_format::convert::result::from_proto(answer.result.unwrap(), &mut cells);
    let shown = row.unwrap().row;
    shown
        .cells()
        .map(|cell| {
            let qualifier = String::from_utf8_lossy(cell.qualifier()).into_owned();
            format!("{qualifier}@{}", cell.key().timestamp)
        })
        .collect()
}

#[test]
fn entries_go_to_the_regions_that_hold_their_rows_with_timestamps_and_markers() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let mut source = source(&server);
    let cells = [
        put("a", "q", 5),
        put("a", "q", 7),
        put("z", "q", 5),
        put("z", "r", 6),
        cell("a", "q", 5, CellKind::DeleteVersion),
        cell("z", "q", 9, CellKind::DeleteColumn),
    ];
    ship(&mut source, vec![entry("t", 4), entry("t", 2)], &cells).unwrap();
    assert_eq!(versions(&server, &regions[0], "a"), ["q@7"]);
    assert_eq!(versions(&server, &regions[1], "z"), ["r@6"]);
}

#[test]
fn a_repeated_call_changes_nothing() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[]);
    let mut source = source(&server);
    let cells = [put("a", "q", 5), cell("a", "q", 5, CellKind::DeleteVersion), put("a", "q", 6)];
    for _ in 0..3 {
        ship(&mut source, vec![entry("t", 3)], &cells).unwrap();
    }
    assert_eq!(versions(&server, &regions[0], "a"), ["q@6"]);
}

/// The order decides in such a family, not the timestamps. A source that was away ships much at
/// once.
#[test]
fn entries_of_a_call_keep_their_order_with_new_version_behavior() {
    let server = TestServer::start();
    create(&server, "t", &[("VERSIONS", "5"), ("NEW_VERSION_BEHAVIOR", "true")]);
    let region = &server.regions("t")[0];
    let mut source = source(&server);
    let cells = [
        put("a", "covered", 3),
        put("b", "q", 4),
        cell("a", "", 9, CellKind::DeleteFamily),
        put("a", "later", 5),
        put("b", "r", 4),
    ];
    for _ in 0..2 {
        let entries = vec![entry("t", 1), entry("t", 1), entry("t", 1), entry("t", 2)];
        ship(&mut source, entries, &cells).unwrap();
        assert_eq!(versions(&server, region, "a"), ["later@5"]);
        assert_eq!(versions(&server, region, "b"), ["q@4", "r@4"]);
    }
}

#[test]
fn an_entry_that_came_from_this_cluster_is_not_applied() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[]);
    let id = server
        .connect(Service::ClientMeta)
        .call(&proto::GetClusterIdRequest::default())
        .unwrap()
        .cluster_id
        .unwrap();
    let id = u128::from_str_radix(&id.replace('-', ""), 16).unwrap();
    let mut own = entry("t", 1);
    own.key
        .cluster_ids
        .push(proto::Uuid { most_sig_bits: (id >> 64) as u64, least_sig_bits: id as u64 });
    let cells = [put("a", "own", 5), put("a", "other", 5)];
    ship(&mut source(&server), vec![own, entry("t", 1)], &cells).unwrap();
    assert_eq!(versions(&server, &regions[0], "a"), ["other@5"]);
}

#[test]
fn a_missing_table_or_family_is_refused_with_hbases_exception() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let mut source = source(&server);
    let refused = ship(&mut source, vec![entry("missing", 1)], &[put("a", "q", 5)]).unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.TableNotFoundException");
    let other = Cell::new("a", "other", "q", at(5), CellKind::Put, "v").unwrap();
    let refused = ship(&mut source, vec![entry("t", 1)], &[other]).unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
}

#[test]
fn bulk_loaded_files_are_refused_by_name() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let marker =
        Cell::new("a", "METAFAMILY", "HBASE::BULK_LOAD", at(5), CellKind::Put, "").unwrap();
    let refused = ship(&mut source(&server), vec![entry("t", 1)], &[marker]).unwrap_err();
    assert!(refused.message.contains("HBASE::BULK_LOAD"), "{refused:?}");
}

#[test]
fn a_cell_keeps_the_ttl_in_its_tags() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[]);
    let tags = rowhouse_model::tags_with_ttl(&[], 1);
    let expired = put("a", "short", 5);
    let expired = Cell::from_parts(expired.key(), expired.value(), &tags).unwrap();
    ship(&mut source(&server), vec![entry("t", 2)], &[expired, put("a", "long", 5)]).unwrap();
    assert_eq!(versions(&server, &regions[0], "a"), ["long@5"]);
}

#[test]
fn a_server_status_counts_replicated_entries() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    ship(
        &mut source(&server),
        vec![entry("t", 1), entry("t", 1)],
        &[put("a", "q", 5), put("b", "q", 5)],
    )
    .unwrap();
    let status = server.connect(Service::Master).call(&proto::GetClusterStatusRequest::default());
    let [live] = status.unwrap().cluster_status.live_servers.try_into().unwrap();
    let sink = live.server_load.repl_load_sink.unwrap();
    assert_eq!(sink.total_ops_processed, Some(2));
    assert_eq!(sink.time_stamps_of_last_applied_op, 1_000);
    assert!(sink.age_of_last_applied_op > 1_600_000_000_000, "{sink:?}");
}

#[test]
fn rubbish_after_whole_entries_is_refused_and_the_server_goes_on() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[]);
    let mut source = source(&server);
    let refused = ship(&mut source, vec![entry("t", 1), entry("t", 5)], &[put("a", "q", 5)]);
    assert!(refused.unwrap_err().message.contains("Cell count of 5"), "the count is named");
    ship(&mut source, vec![entry("t", 1)], &[put("a", "q", 6)]).unwrap();
    assert_eq!(versions(&server, &regions[0], "a"), ["q@6"]);
}

/// What `compat/record/replication.sh` recorded from Apache HBase 2.6.4: two connections of a
/// source with two peers, and the cells that its tables then had.
mod recorded {
    use std::path::{Path, PathBuf};

    use bytes::BytesMut;
    use rowhouse_format::rpc::FrameDecoder;
    use rowhouse_model::{RowRange, Scan};
    use rowhouse_store::Store;

    use super::*;

    fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/replication")
    }

    /// Returns what one side sent on a connection: `> ` the source, `< ` the sink.
    fn sent(file: &Path, side: &str) -> Vec<u8> {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix(side));
        lines
            .flat_map(|hex| (0..hex.len()).step_by(2).map(move |at| &hex[at..at + 2]))
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect()
    }

    /// Returns a table's cells as the recording shows them.
    fn shown(store: &Store, name: &str) -> Vec<String> {
        let mut scan = Scan::new(RowRange::all());
        scan.raw = name == "every";
        scan.versions = i32::MAX as u32;
        let table = store.table(&TableName::parse(name).unwrap()).unwrap();
        let mut scanner = table.scan(scan).unwrap();
        let mut shown = Vec::new();
        while let Some(row) = scanner.next().unwrap() {
            for cell in row.cells() {
                let key = cell.key();
                let kind = match CellKind::from_code(key.kind) {
                    Some(CellKind::DeleteVersion) => "Delete".to_owned(),
                    kind => format!("{:?}", kind.unwrap()),
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                shown.push(format!(
                    "{name} {} {}@{} {kind} {}",
                    text(key.row),
                    text(key.qualifier),
                    key.timestamp,
                    rowhouse_model::escape(cell.value()).to_string().replace("\\x2B", "+"),
                ));
            }
        }
        shown
    }

    #[test]
    fn a_source_of_apache_hbase_leaves_the_cells_that_it_has() {
        let server = TestServer::start();
        create(&server, "every", &[("VERSIONS", "2147483647"), ("KEEP_DELETED_CELLS", "TRUE")]);
        create(&server, "some", &[("VERSIONS", "3")]);
        create(&server, "ordered", &[("VERSIONS", "5"), ("NEW_VERSION_BEHAVIOR", "true")]);
        let mut connections = 0;
        for file in std::fs::read_dir(fixtures()).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "conv") {
                continue;
            }
            connections += 1;
            // Twice, as a source that has lost the answers.
            for _ in 0..2 {
                let mut client = Client::silent(server.address());
                client.send_bytes(&sent(&file, "> "));
                let mut answers = BytesMut::from(&sent(&file, "< ")[..]);
                while FrameDecoder::default().next(&mut answers).unwrap().is_some() {
                    client.receive_body();
                }
            }
        }
        assert_eq!(connections, 2);
        let data = server.stop();
        let store = Store::open(data.path()).unwrap();
        let got: Vec<_> =
            ["every", "some", "ordered"].iter().flat_map(|name| shown(&store, name)).collect();
        let expected = std::fs::read_to_string(fixtures().join("cells.txt")).unwrap();
        let expected: Vec<_> = expected.lines().map(str::trim_end).collect();
        let got: Vec<_> = got.iter().map(|line| line.trim_end()).collect();
        let difference = expected.iter().zip(&got).find(|(expected, got)| expected != got);
        assert_eq!(difference, None);
        assert_eq!(got.len(), expected.len());
    }
}
