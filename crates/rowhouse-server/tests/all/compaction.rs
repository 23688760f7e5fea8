//! `compact` and `major_compact`, as called by HBase's shell.

use crate::support::{Client, TestServer, region_ref};
use rowhouse_format::proto;
use rowhouse_format::proto::get_region_info_response::CompactionState;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Bytes, RegionInfo, RowRange, TableName};

fn compact(client: &mut Client, region: &RegionInfo, major: bool, family: Option<&'static str>) {
    client.call(&request(region, major, family)).unwrap();
}

fn request(
    region: &RegionInfo,
    major: bool,
    family: Option<&'static str>,
) -> proto::CompactRegionRequest {
    proto::CompactRegionRequest {
        region: region_ref(region).to_proto(),
        major: Some(major),
        family: family.map(Into::into),
    }
}

/// Polls, as a script does, until no compaction is running or queued.
fn wait(client: &mut Client, region: &RegionInfo) {
    loop {
        let request = proto::GetRegionInfoRequest {
            region: region_ref(region).to_proto(),
            compaction_state: Some(true),
            ..Default::default()
        };
        if client.call(&request).unwrap().compaction_state() == CompactionState::None {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn files(client: &mut Client) -> u32 {
    let answer = client.call(&proto::GetRegionLoadRequest { table_name: None }).unwrap();
    answer.region_loads.iter().filter_map(|load| load.storefiles).sum()
}

#[test]
fn minor_compaction_merges_due_files_and_major_merges_all() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf", "d"], &[]).remove(0);
    let mut data = Client::connect(server.address(), Service::Client);
    let mut admin = Client::connect(server.address(), Service::Admin);
    for value in ["1", "2"] {
        crate::support::put_two(&mut data, &region, "a", value).unwrap();
        let flush = proto::FlushRegionRequest {
            region: region_ref(&region).to_proto(),
            ..Default::default()
        };
        admin.call(&flush).unwrap();
    }
    compact(&mut admin, &region, false, None);
    wait(&mut admin, &region);
    assert_eq!(files(&mut admin), 4);
    compact(&mut admin, &region, true, Some("cf"));
    wait(&mut admin, &region);
    assert_eq!(files(&mut admin), 3);
    compact(&mut admin, &region, true, None);
    wait(&mut admin, &region);
    assert_eq!(files(&mut admin), 2);
    let row = crate::support::get(&mut data, &region, "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "2");
}

#[test]
fn a_family_that_is_not_there_cannot_be_merged() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut admin = Client::connect(server.address(), Service::Admin);
    let refused = admin.call(&request(&region, true, Some("nope"))).unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
}

/// The region by whose name `Admin.getCompactionState(table, CompactType.MOB)` asks the master.
fn mob_region(table: &str) -> RegionInfo {
    let range = RowRange { start: ".mob".into(), stop: Bytes::new() };
    RegionInfo::new(TableName::parse(table).unwrap(), range, 0)
}

#[test]
fn mob_files_of_a_table_are_never_compacted() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let mut admin = Client::connect(server.address(), Service::Admin);
    let mob = mob_region("t");
    let request_info = proto::GetRegionInfoRequest {
        region: region_ref(&mob).to_proto(),
        compaction_state: Some(true),
        ..Default::default()
    };
    let answer = admin.call(&request_info).unwrap();
    assert_eq!(answer.compaction_state, Some(CompactionState::None.into()));
    let refused = admin.call(&request(&mob, true, None)).unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.DoNotRetryIOException");
    // Any other region that is not there is still unknown.
    let other = RegionInfo { id: 1, ..mob };
    let unknown =
        proto::GetRegionInfoRequest { region: region_ref(&other).to_proto(), ..request_info };
    admin.call(&unknown).unwrap_err();
}
