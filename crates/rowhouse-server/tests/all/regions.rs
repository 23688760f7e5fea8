//! Region switches, moves, assigns and unassigns, as called by HBase's `Admin`.

use crate::support::{Client, TestServer, region_ref};
use rowhouse_format::convert::{self, region, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Get, RegionInfo};

const SPLIT: i32 = proto::MasterSwitchType::Split as i32;
const MERGE: i32 = proto::MasterSwitchType::Merge as i32;

#[test]
fn a_switch_that_is_off_stays_off_over_a_restart() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let set = |enabled, switches: &[i32]| proto::SetSplitOrMergeEnabledRequest {
        enabled,
        synchronous: None,
        switch_types: switches.to_vec(),
    };
    let mut master = server.connect(Service::Master);
    assert_eq!(master.call(&set(false, &[SPLIT, MERGE])).unwrap().prev_value, [true, true]);
    assert_eq!(master.call(&set(true, &[MERGE])).unwrap().prev_value, [false]);
    let error = master.call(&set(true, &[7])).unwrap_err();
    assert!(error.message.ends_with("unknown switch: 7"), "{}", error.message);
    let server = TestServer::start_in(server.stop());
    let mut master = server.connect(Service::Master);
    let mut is_on = |switch_type| {
        master.call(&proto::IsSplitOrMergeEnabledRequest { switch_type }).unwrap().enabled
    };
    assert_eq!((is_on(SPLIT), is_on(MERGE)), (false, true));
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&region),
        split_row: Some("m".into()),
        ..Default::default()
    };
    let error = master.call(&split).unwrap_err();
    assert!(error.do_not_retry);
    assert!(error.message.contains("failed due to split switch off"), "{}", error.message);
    master.call(&set(true, &[SPLIT])).unwrap();
    master.call(&split).unwrap();
    assert_eq!(server.regions("t").len(), 2);
}

#[test]
fn a_region_out_of_service_is_not_served_until_it_is_assigned() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let mut client = server.client();
    crate::support::put(&mut client, &regions[0], "a", "1").unwrap();
    let mut master = server.connect(Service::Master);
    let name = |at: usize| region_ref(&regions[at]).to_proto();
    let unassign = proto::UnassignRegionRequest { region: name(0), force: None };
    for _ in 0..2 {
        master.call(&unassign).unwrap();
        let refused = crate::support::get(&mut client, &regions[0], "a").unwrap_err();
        assert_eq!(refused.class, "org.apache.hadoop.hbase.NotServingRegionException");
    }
    // The neighbour is in service; the unassigned region can be neither split nor moved.
    crate::support::put(&mut client, &regions[1], "z", "1").unwrap();
    let moved = proto::MoveRegionRequest { region: name(0), dest_server_name: None };
    assert!(master.call(&moved).is_err());
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&regions[0]),
        split_row: Some("f".into()),
        ..Default::default()
    };
    assert!(master.call(&split).is_err());
    master.call(&proto::AssignRegionRequest { region: name(0), r#override: None }).unwrap();
    let row = crate::support::get(&mut client, &regions[0], "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "1");
    master.call(&moved).unwrap();
    // The region remains unassigned over a restart, and all clients see that.
    master.call(&unassign).unwrap();
    let server = TestServer::start_in(server.stop());
    let refused = crate::support::get(&mut server.client(), &regions[0], "a").unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.NotServingRegionException");
    let mut master = server.connect(Service::Master);
    assert_eq!(open_and_closed(&mut master), (1, 1));
    assert_eq!(online(&server), [regions[1].name().encoded]);
    assert_eq!(state_in_meta(&server, &regions[0]), "CLOSED");
    assert_eq!(state_in_meta(&server, &regions[1]), "OPEN");
    master.call(&proto::AssignRegionRequest { region: name(0), r#override: None }).unwrap();
    assert_eq!(open_and_closed(&mut master), (2, 0));
    assert_eq!(state_in_meta(&server, &regions[0]), "OPEN");
    let row = crate::support::get(&mut server.client(), &regions[0], "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "1");
}

/// Returns how many regions in table `t` are open and closed.
fn open_and_closed(master: &mut Client) -> (u32, u32) {
    let status = master.call(&proto::GetClusterStatusRequest::default()).unwrap().cluster_status;
    let counts = status.table_region_states_count;
    let of_table = counts.iter().find(|counts| counts.table_name.qualifier == "t").unwrap();
    let count = &of_table.region_states_count;
    (count.open_regions, count.closed_regions)
}

/// Returns the online user table regions' encoded names.
fn online(server: &TestServer) -> Vec<String> {
    let answer = server.connect(Service::Admin).call(&proto::GetOnlineRegionRequest {}).unwrap();
    let regions = answer.region_info.into_iter().map(|it| region::from_proto(it).unwrap());
    let of_users = regions.filter(|region| !region.table.is_system());
    of_users.map(|region| region.name().encoded).collect()
}

fn state_in_meta(server: &TestServer, region: &RegionInfo) -> String {
    let row = region.name().full;
    let get = Get::new(row).unwrap();
    let message = proto::GetRequest {
        region: region_ref(&RegionInfo::meta()).to_proto(),
        get: convert::get::to_proto(&get),
    };
    let (answer, mut cells) = server.client().call_with(&message, &[]).unwrap();
    let row = result::from_proto(answer.result.unwrap(), &mut cells).unwrap().row;
    String::from_utf8(row.value("info", "state").unwrap().to_vec()).unwrap()
}

#[test]
fn regions_that_are_not_there_are_neither_moved_nor_assigned() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let name = || region::RegionRef::encoded("0123456789abcdef0123456789abcdef").to_proto();
    let unknown = "org.apache.hadoop.hbase.UnknownRegionException";
    let moved = proto::MoveRegionRequest { region: name(), dest_server_name: None };
    assert_eq!(master.call(&moved).unwrap_err().class, unknown);
    let assign = proto::AssignRegionRequest { region: name(), r#override: None };
    assert_eq!(master.call(&assign).unwrap_err().class, unknown);
    let unassign = proto::UnassignRegionRequest { region: name(), force: None };
    assert_eq!(master.call(&unassign).unwrap_err().class, unknown);
}

#[test]
fn balancer_switch_is_retained_while_the_server_runs() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let switch = |on| proto::SetBalancerRunningRequest { on, synchronous: Some(true) };
    let ran = master.call(&proto::BalanceRequest::default()).unwrap();
    assert_eq!((ran.balancer_ran, ran.moves_executed), (true, Some(0)), "it begins as on");
    assert_eq!(master.call(&switch(false)).unwrap().prev_balance_value, Some(true));
    assert_eq!(master.call(&switch(false)).unwrap().prev_balance_value, Some(false));
    assert!(!master.call(&proto::IsBalancerEnabledRequest {}).unwrap().enabled);
    assert!(!master.call(&proto::BalanceRequest::default()).unwrap().balancer_ran);
}
