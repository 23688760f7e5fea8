//! Administrative calls to the master and a region server, as made by HBase's `Admin`.

use std::time::Duration;

use crate::support::{Client, TestServer, get, put, region_ref, table_name};
use bytes::Bytes;
use prost::Message;
use rowhouse_format::convert::{names, region};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::proto::slow_log_response_request::LogType;
use rowhouse_format::rpc::Service;
use rowhouse_model::{RegionInfo, ServerName};

#[test]
fn switches_of_the_master_begin_as_on_and_outlive_a_restart() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let balancer = proto::SetBalancerRunningRequest { on: false, synchronous: Some(true) };
    assert_eq!(master.call(&balancer).unwrap().prev_balance_value, Some(true));
    let normalizer = proto::SetNormalizerRunningRequest { on: false };
    assert_eq!(master.call(&normalizer).unwrap().prev_normalizer_value, Some(true));
    let peers = proto::ReplicationPeerModificationSwitchRequest { on: false };
    assert!(master.call(&peers).unwrap().previous_value);
    let server = TestServer::start_in(server.stop());
    let mut master = server.connect(Service::Master);
    assert!(!master.call(&proto::IsBalancerEnabledRequest {}).unwrap().enabled);
    assert!(!master.call(&proto::BalanceRequest::default()).unwrap().balancer_ran);
    assert!(!master.call(&proto::IsNormalizerEnabledRequest {}).unwrap().enabled);
    assert!(!master.call(&proto::NormalizeRequest::default()).unwrap().normalizer_ran);
    let peers = proto::IsReplicationPeerModificationEnabledRequest {};
    assert!(!master.call(&peers).unwrap().enabled);
    master.call(&proto::SetNormalizerRunningRequest { on: true }).unwrap();
    assert!(master.call(&proto::NormalizeRequest::default()).unwrap().normalizer_ran);
}

#[test]
fn chores_are_on_until_they_are_turned_off() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let janitor = |enable| proto::EnableCatalogJanitorRequest { enable };
    assert_eq!(master.call(&janitor(false)).unwrap().prev_value, Some(true));
    assert!(!master.call(&proto::IsCatalogJanitorEnabledRequest {}).unwrap().value);
    assert_eq!(master.call(&proto::RunCatalogScanRequest {}).unwrap().scan_result, Some(0));
    assert!(master.call(&proto::RunCleanerChoreRequest {}).unwrap().cleaner_chore_ran);
    let cleaner = |on| proto::SetCleanerChoreRunningRequest { on };
    assert_eq!(master.call(&cleaner(false)).unwrap().prev_value, Some(true));
    assert!(!master.call(&proto::IsCleanerChoreEnabledRequest {}).unwrap().value);
    assert!(master.call(&proto::RunCleanerChoreRequest {}).unwrap().cleaner_chore_ran);
}

#[test]
fn servers_are_decommissioned_if_they_are_online_and_recommissioned() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let live = master.call(&proto::GetClusterStatusRequest::default()).unwrap();
    let live = live.cluster_status.live_servers[0].server.clone();
    let unknown = ServerName { host: "nowhere".into(), port: 1, start_code: 1 };
    let unknown = names::server_to_proto(&unknown);
    let server_name = vec![live.clone(), unknown.clone(), live.clone()];
    let request = proto::DecommissionRegionServersRequest { server_name, offload: true };
    master.call(&request).unwrap();
    let list = proto::ListDecommissionedRegionServersRequest {};
    assert_eq!(master.call(&list).unwrap().server_name, std::slice::from_ref(&live));
    let request = proto::RecommissionRegionServerRequest { server_name: live, region: vec![] };
    master.call(&request).unwrap();
    assert!(master.call(&list).unwrap().server_name.is_empty());
    let request = proto::ClearDeadServersRequest { server_name: vec![unknown.clone()] };
    assert_eq!(master.call(&request).unwrap().server_name, [unknown]);
}

#[test]
fn a_truncated_region_is_empty_and_its_neighbour_is_not() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let mut client = server.client();
    put(&mut client, &regions[0], "a", "1").unwrap();
    put(&mut client, &regions[1], "z", "2").unwrap();
    let truncate = |region: &RegionInfo| proto::TruncateRegionRequest {
        region_info: region::to_proto(region),
        ..Default::default()
    };
    server.connect(Service::Master).call(&truncate(&regions[0])).unwrap();
    assert!(get(&mut client, &regions[0], "a").unwrap().is_empty());
    assert!(!get(&mut client, &regions[1], "z").unwrap().is_empty());
    assert_eq!(server.regions("t"), regions);
    let error = server.connect(Service::Master).call(&truncate(&RegionInfo::meta())).unwrap_err();
    assert_eq!(error.message, "Can't truncate region in catalog tables");
}

#[test]
fn major_compaction_time_is_reported_once_all_regions_have_one() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let mut client = server.client();
    put(&mut client, &regions[0], "a", "1").unwrap();
    put(&mut client, &regions[1], "z", "2").unwrap();
    server.flush_table("t");
    let compact = |region: &RegionInfo| proto::CompactRegionRequest {
        region: region_ref(region).to_proto(),
        major: Some(true),
        family: None,
    };
    let mut master = server.connect(Service::Master);
    let mut of_table = |table: &str| {
        let request = proto::MajorCompactionTimestampRequest { table_name: table_name(table) };
        master.call(&request).unwrap().compaction_timestamp
    };
    let mut other = server.connect(Service::Master);
    let mut of_region = |region: &RegionInfo| {
        let region = region_ref(region).to_proto();
        let request = proto::MajorCompactionTimestampForRegionRequest { region };
        other.call(&request).unwrap().compaction_timestamp
    };
    assert_eq!((of_table("t"), of_table("none"), of_region(&regions[0])), (0, 0, 0));
    server.connect(Service::Admin).call(&compact(&regions[0])).unwrap();
    while of_region(&regions[0]) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((of_table("t"), of_region(&regions[1])), (0, 0));
    server.connect(Service::Admin).call(&compact(&regions[1])).unwrap();
    while of_region(&regions[1]) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(of_table("t"), of_region(&regions[0]).min(of_region(&regions[1])));
}

#[test]
fn replication_peers_are_none_and_every_change_of_one_is_refused_by_name() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    master.call(&proto::ListReplicationPeersRequest { regex: None }).unwrap();
    let peer_id = || "1".to_owned();
    let error = master.call(&proto::GetReplicationPeerConfigRequest { peer_id: peer_id() });
    let error = error.unwrap_err();
    assert_eq!(&*error.class, "org.apache.hadoop.hbase.ReplicationPeerNotFoundException");
    assert_eq!(error.message, "1");
    let error = master.call(&proto::RemoveReplicationPeerRequest { peer_id: peer_id() });
    let error = error.unwrap_err();
    assert_eq!(&*error.class, "org.apache.hadoop.hbase.ReplicationPeerNotFoundException");
    master.call(&proto::ReplicationPeerModificationSwitchRequest { on: false }).unwrap();
    let error = master.call(&proto::EnableReplicationPeerRequest { peer_id: peer_id() });
    assert_eq!(error.unwrap_err().message, "Replication peer modification disabled");
}

#[test]
fn throttles_are_off_and_stay_off() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let switch = proto::SwitchRpcThrottleRequest { rpc_throttle_enabled: true };
    assert!(!master.call(&switch).unwrap().previous_rpc_throttle_enabled);
    assert!(!master.call(&proto::IsRpcThrottleEnabledRequest {}).unwrap().rpc_throttle_enabled);
}

#[test]
fn a_store_file_tracker_is_declared_and_migrations_and_others_are_refused() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let mut master = server.connect(Service::Master);
    let table = |dst_sft: &str| proto::ModifyTableStoreFileTrackerRequest {
        table_name: table_name("t"),
        dst_sft: dst_sft.into(),
        ..Default::default()
    };
    let family = |family: &'static str| proto::ModifyColumnStoreFileTrackerRequest {
        table_name: table_name("t"),
        family: family.into(),
        dst_sft: "FILE".into(),
        ..Default::default()
    };
    master.call(&table("FILE")).unwrap();
    master.call(&family("cf")).unwrap();
    let described = master.call(&proto::GetTableDescriptorsRequest {
        table_names: vec![table_name("t")],
        ..Default::default()
    });
    let schema = described.unwrap().table_schema.remove(0);
    let tracker = "hbase.store.file-tracker.impl";
    assert!(schema.attributes.iter().any(|pair| pair.first == tracker && pair.second == "FILE"));
    let configuration = &schema.column_families[0].configuration;
    assert!(configuration.iter().any(|pair| pair.name == tracker && pair.value == "FILE"));
    let message = |error: Exception| error.message;
    assert_eq!(
        master.call(&table("MIGRATION")).map_err(message).unwrap_err(),
        "Do not need to transfer to MIGRATION"
    );
    assert!(message(master.call(&table("mine")).unwrap_err()).contains("name=mine"));
    let error = master.call(&family("no")).unwrap_err();
    assert_eq!(error.message, "no does not exist for table t");
    server.disable_table("t");
    let error = master.call(&table("DEFAULT")).unwrap_err();
    assert_eq!(&*error.class, "org.apache.hadoop.hbase.TableNotEnabledException");
}

#[test]
fn a_change_of_the_store_file_tracker_ends_a_declared_migration() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let mut master = server.connect(Service::Master);
    let described = proto::GetTableDescriptorsRequest {
        table_names: vec![table_name("t")],
        ..Default::default()
    };
    let mut schema = master.call(&described).unwrap().table_schema.remove(0);
    for end in ["src", "dst"] {
        let name = format!("hbase.store.file-tracker.migration.{end}.impl");
        schema
            .attributes
            .push(proto::BytesBytesPair { first: name.clone().into(), second: "FILE".into() });
        let family = &mut schema.column_families[0];
        family.configuration.push(proto::NameStringPair { name, value: "FILE".into() });
    }
    let table_name = table_name("t");
    let modified = proto::ModifyTableRequest {
        table_name: table_name.clone(),
        table_schema: schema,
        ..Default::default()
    };
    master.call(&modified).unwrap();
    // Which migration settings are left: for the table, for the family.
    let mut left = || {
        let schema = master.call(&described).unwrap().table_schema.remove(0);
        let is_migration = |name: &[u8]| name.starts_with(b"hbase.store.file-tracker.migration.");
        let of_table = schema.attributes.iter().filter(|pair| is_migration(&pair.first));
        let family = &schema.column_families[0].configuration;
        let of_family = family.iter().filter(|pair| is_migration(pair.name.as_bytes()));
        (of_table.count(), of_family.count())
    };
    assert_eq!(left(), (2, 2));
    let mut other = server.connect(Service::Master);
    let table = proto::ModifyTableStoreFileTrackerRequest {
        table_name: table_name.clone(),
        dst_sft: "FILE".into(),
        ..Default::default()
    };
    other.call(&table).unwrap();
    assert_eq!(left(), (0, 2));
    let family = proto::ModifyColumnStoreFileTrackerRequest {
        table_name,
        family: "cf".into(),
        dst_sft: "FILE".into(),
        ..Default::default()
    };
    other.call(&family).unwrap();
    assert_eq!(left(), (0, 0));
}

#[test]
fn empty_expression_lists_no_table_and_quoted_one_is_literal() {
    let server = TestServer::start();
    for table in ["t", "t.u", "txu"] {
        server.create_table(table, &["cf"], &[]);
    }
    let mut master = server.connect(Service::Master);
    let mut listed = |regex: Option<&str>| -> Result<Vec<String>, Exception> {
        let regex = regex.map(str::to_owned);
        let request = proto::GetTableNamesRequest { regex, ..Default::default() };
        let names = master.call(&request)?.table_names.into_iter();
        Ok(names.map(|name| names::table_from_proto(name).unwrap().to_string()).collect())
    };
    assert_eq!(listed(None).unwrap(), ["t", "t.u", "txu"]);
    assert!(listed(Some("")).unwrap().is_empty());
    assert_eq!(listed(Some(r"\Qt.u\E")).unwrap(), ["t.u"]);
    assert_eq!(listed(Some("t.u")).unwrap(), ["t.u", "txu"]);
    assert_eq!(listed(Some("default:t")).unwrap(), ["t"]);
    assert!(listed(Some("t(")).unwrap_err().do_not_retry);
}

#[test]
fn tables_by_state_are_those_of_users() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let request = proto::ListTableNamesByStateRequest { is_enabled: true };
    let listed = server.connect(Service::Master).call(&request).unwrap().table_names;
    assert_eq!(listed, [table_name("t")]);
}

#[test]
fn tables_of_the_system_can_neither_be_made_nor_disabled() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let schema = proto::TableSchema {
        table_name: Some(table_name("hbase:meta")),
        column_families: vec![proto::ColumnFamilySchema {
            name: "cf".into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let create = proto::CreateTableRequest { table_schema: schema, ..Default::default() };
    let error = master.call(&create).unwrap_err();
    assert_eq!(&*error.class, "org.apache.hadoop.hbase.TableExistsException");
    assert_eq!(error.message, "hbase:meta");
    let table_name = table_name("hbase:meta");
    let disable = proto::DisableTableRequest { table_name, ..Default::default() };
    let error = master.call(&disable).unwrap_err();
    assert_eq!(&*error.class, "org.apache.hadoop.hbase.constraint.ConstraintException");
    assert_eq!(error.message, "Cannot disable hbase:meta");
}

#[test]
fn a_namespace_holds_no_more_tables_and_regions_than_its_quota() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let pair = |name: &str, value: &str| proto::NameStringPair {
        name: format!("hbase.namespace.quota.{name}"),
        value: value.into(),
    };
    let namespace = |configuration| proto::NamespaceDescriptor { name: "q".into(), configuration };
    let create = |configuration| proto::CreateNamespaceRequest {
        namespace_descriptor: namespace(configuration),
        ..Default::default()
    };
    let error = master.call(&create(vec![pair("maxtables", "0")])).unwrap_err();
    assert_eq!(error.message, "The max tables quota for q is less than or equal to zero.");
    master.call(&create(vec![pair("maxtables", "2"), pair("maxregions", "3")])).unwrap();
    let table = |name: &str, splits: &[&'static [u8]]| proto::CreateTableRequest {
        table_schema: proto::TableSchema {
            table_name: Some(table_name(name)),
            column_families: vec![proto::ColumnFamilySchema {
                name: "cf".into(),
                ..Default::default()
            }],
            ..Default::default()
        },
        split_keys: splits.iter().map(|split| Bytes::from_static(split)).collect(),
        ..Default::default()
    };
    let mut exceeds = |request: &proto::CreateTableRequest| {
        let error = master.call(request).unwrap_err();
        assert_eq!(&*error.class, "org.apache.hadoop.hbase.quotas.QuotaExceededException");
        error.message
    };
    assert!(exceeds(&table("q:a", &[b"b", b"c", b"d"])).contains("not allowed to have 4 regions"));
    server.connect(Service::Master).call(&table("q:a", &[b"m"])).unwrap();
    server.connect(Service::Master).call(&table("q:b", &[])).unwrap();
    assert!(exceeds(&table("q:c", &[])).contains("total number of tables permitted is 2"));
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&server.regions("q:b")[0]),
        split_row: Some("m".into()),
        ..Default::default()
    };
    let error = server.connect(Service::Master).call(&split).unwrap_err();
    assert!(error.message.starts_with("Region split not possible for :"), "{}", error.message);
    server.create_table("others", &["cf"], &[b"m"]);
}

#[test]
fn compactions_are_switched_and_a_wrong_queue_is_named() {
    let server = TestServer::start();
    let mut admin = server.connect(Service::Admin);
    let switch = |enabled| proto::CompactionSwitchRequest { enabled };
    assert!(admin.call(&switch(false)).unwrap().prev_state);
    assert!(!admin.call(&switch(true)).unwrap().prev_state);
    let queues = |name: &str| proto::ClearCompactionQueuesRequest { queue_name: vec![name.into()] };
    admin.call(&queues("long")).unwrap();
    let error = admin.call(&queues("middle")).unwrap_err();
    assert_eq!(error.message, "Unknown queue name middle");
    admin.call(&proto::RollWalWriterRequest {}).unwrap();
    admin.call(&proto::UpdateConfigurationRequest {}).unwrap();
}

#[test]
fn clearing_the_block_cache_reports_evictions_and_unknown_regions() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put(&mut client, &region, "a", "1").unwrap();
    server.flush_table("t");
    get(&mut client, &region, "a").unwrap();
    let mut admin = server.connect(Service::Admin);
    let unknown = RegionInfo { id: 1, ..region.clone() };
    let regions = [&region, &unknown].map(|region| region_ref(region).to_proto());
    let request = proto::ClearRegionBlockCacheRequest { region: regions.to_vec() };
    let stats = admin.call(&request).unwrap().stats;
    assert!(stats.evicted_blocks() > 0 && stats.bytes_evicted() > 0, "{stats:?}");
    assert!(stats.max_cache_size() > 0);
    assert_eq!(stats.exception[0].region, regions[1]);
    assert!(stats.exception[0].exception.name.ends_with("NotServingRegionException"));
    assert_eq!(admin.call(&request).unwrap().stats.evicted_blocks(), 0);
    let files = proto::GetStoreFileRequest { region: regions[0].clone(), family: vec![] };
    let files = admin.call(&files).unwrap().store_file;
    assert!(server.data().join(&files[0]).is_file(), "{files:?}");
}

#[test]
fn slow_and_large_calls_are_logged_with_their_region_client_and_user() {
    let server = TestServer::start_with(|options| {
        options.slow_call = Duration::ZERO;
        options.large_answer_bytes = 2_000;
    });
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put(&mut client, &region, "a", &"v".repeat(3_000)).unwrap();
    get(&mut client, &region, "a").unwrap();
    let mut admin = server.connect(Service::Admin);
    let fetch = |admin: &mut Client, log: LogType| {
        let request = proto::SlowLogResponseRequest {
            table_name: Some("t".into()),
            log_type: Some(log.into()),
            ..Default::default()
        };
        let request = proto::LogRequest {
            log_class_name: "x.AdminProtos$SlowLogResponseRequest".into(),
            log_message: request.encode_to_vec().into(),
        };
        let entry = admin.raw::<_, proto::LogEntry>("GetLogEntries", &request);
        let entry = entry.unwrap();
        assert!(entry.log_class_name.ends_with(".AdminProtos$SlowLogResponses"));
        proto::SlowLogResponses::decode(entry.log_message).unwrap().slow_log_payloads
    };
    let slow = fetch(&mut admin, LogType::SlowLog);
    let methods: Vec<_> = slow.iter().map(|entry| &*entry.method_name).collect();
    assert_eq!(methods, ["Get", "Mutate"]);
    let large = fetch(&mut admin, LogType::LargeLog);
    assert_eq!(large, slow[..1]);
    let name = String::from_utf8(region.name().full.to_vec()).unwrap();
    assert_eq!(large[0].region_name(), name);
    assert_eq!(large[0].param(), format!("region= {name}, row= a"));
    assert_eq!(large[0].user_name, "test");
    assert!(large[0].client_address.starts_with("127.0.0.1:"));
    assert!(large[0].response_size > 3_000 && large[0].start_time > 0);
    assert!(admin.call(&proto::ClearSlowLogResponseRequest {}).unwrap().is_cleaned);
    assert!(fetch(&mut admin, LogType::SlowLog).is_empty());
    let request = proto::LogRequest { log_class_name: "other".into(), log_message: Bytes::new() };
    let error = admin.raw::<_, proto::LogEntry>("GetLogEntries", &request);
    assert!(error.unwrap_err().message.starts_with("Invalid request params"));
    let decisions = proto::LogRequest {
        log_class_name: "x.MasterProtos$BalancerDecisionsRequest".into(),
        log_message: Bytes::new(),
    };
    let mut master = server.connect(Service::Master);
    let entry = master.raw::<_, proto::LogEntry>("GetLogEntries", &decisions);
    assert!(entry.unwrap().log_class_name.ends_with(".MasterProtos$BalancerDecisionsResponse"));
}

#[test]
fn a_server_is_stopped_by_clients_only_where_that_is_allowed() {
    let server = TestServer::start();
    let mut master = server.connect(Service::Master);
    let refused = "clients may not stop this server unless it is started with --allow-shutdown";
    for error in [
        master.call(&proto::ShutdownRequest {}).unwrap_err(),
        master.call(&proto::StopMasterRequest {}).unwrap_err(),
        server
            .connect(Service::Admin)
            .call(&proto::StopServerRequest { reason: "test".into() })
            .unwrap_err(),
    ] {
        assert!(error.do_not_retry && error.message.starts_with(refused), "{}", error.message);
    }
    let server = TestServer::start_with(|options| options.allow_shutdown = true);
    server.connect(Service::Master).call(&proto::ShutdownRequest {}).unwrap();
    server.wait_for_stop_request();
}

#[test]
fn repairs_take_regions_into_service_and_find_nothing_else() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut hbck = server.connect(Service::Hbck);
    let known = region_ref(&region).to_proto();
    let unknown = region_ref(&RegionInfo { id: 1, ..region.clone() }).to_proto();
    let regions = vec![known, unknown];
    let assign = proto::AssignsRequest { region: regions.clone(), r#override: None };
    let unassign = proto::UnassignsRequest { region: regions, r#override: None };
    assert_eq!(hbck.call(&assign).unwrap().pid, [u64::MAX]);
    assert_ne!(hbck.call(&unassign).unwrap().pid, [u64::MAX]);
    assert_eq!(hbck.call(&unassign).unwrap().pid, [u64::MAX]);
    let mut client = server.client();
    assert!(get(&mut client, &region, "a").is_err());
    assert_ne!(hbck.call(&assign).unwrap().pid, [u64::MAX]);
    assert!(get(&mut client, &region, "a").unwrap().is_empty());
    assert!(hbck.call(&proto::RunHbckChoreRequest {}).unwrap().ran);
    hbck.call(&proto::FixMetaRequest {}).unwrap();
    let bypass = proto::BypassProcedureRequest { proc_id: vec![1, 2], ..Default::default() };
    assert_eq!(hbck.call(&bypass).unwrap().bypassed, [false, false]);
}

#[test]
fn timeline_reads_are_answered_by_the_only_replica() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put(&mut client, &region, "a", "1").unwrap();
    let get = proto::GetRequest {
        region: region_ref(&region).to_proto(),
        get: proto::Get {
            row: "a".into(),
            consistency: Some(proto::Consistency::Timeline.into()),
            ..Default::default()
        },
    };
    let result = client.call(&get).unwrap().result.unwrap();
    assert_eq!((result.associated_cell_count(), result.stale()), (1, false));
}

#[test]
fn region_load_reports_requests_and_sizes() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for row in ["a", "b", "c"] {
        put(&mut client, &region, row, &"v".repeat(1 << 20)).unwrap();
    }
    let mut admin = server.connect(Service::Admin);
    let request = proto::GetRegionLoadRequest { table_name: Some(table_name("t")) };
    let load = admin.call(&request).unwrap().region_loads.remove(0);
    assert_eq!((load.mem_store_size_mb(), load.storefiles(), load.storefile_size_mb()), (3, 0, 0));
    server.flush_table("t");
    get(&mut client, &region, "a").unwrap();
    let filter = proto::Filter {
        name: "org.apache.hadoop.hbase.filter.PrefixFilter".into(),
        serialized_filter: Some(
            proto::BytesFilter { value: Some("b".into()) }.encode_to_vec().into(),
        ),
    };
    let scan = proto::ScanRequest {
        region: Some(region_ref(&region).to_proto()),
        scan: Some(proto::Scan { filter: Some(filter), ..Default::default() }),
        number_of_rows: Some(10),
        close_scanner: Some(true),
        ..Default::default()
    };
    client.call(&scan).unwrap();
    let load = admin.call(&request).unwrap().region_loads.remove(0);
    assert_eq!((load.mem_store_size_mb(), load.storefiles(), load.storefile_size_mb()), (0, 1, 3));
    assert_eq!((load.store_uncompressed_size_mb(), load.region_size_mb()), (3, 3));
    assert!(load.total_static_index_size_kb() > 0 && load.total_static_bloom_size_kb() > 0);
    assert_eq!(load.write_requests_count(), 3);
    assert_eq!((load.read_requests_count(), load.filtered_read_requests_count()), (2, 2));
    assert_eq!((load.data_locality(), load.stores()), (1.0, 1));
    let status = server.connect(Service::Master).call(&proto::GetClusterStatusRequest::default());
    let server_load = &status.unwrap().cluster_status.live_servers[0].server_load;
    assert!(server_load.total_number_of_requests() >= 8, "{server_load:?}");
    // The row that was read is in the block cache.
    assert!(server_load.used_heap_mb() >= 1 && server_load.max_heap_mb() > 1);
    assert!(server_load.tasks.is_empty());
}
