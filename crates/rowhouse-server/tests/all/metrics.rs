//! Metrics and health over HTTP.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rowhouse_format::convert::procedure::region_server::{
    self, RegionServerCall, RegionServerChange,
};
use rowhouse_format::convert::region;
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::RegionInfo;

use crate::support::{self, Client};
use crate::web::{fetch, page, server, server_with};

pub(crate) fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
}

#[test]
fn calls_reads_writes_and_errors_are_counted() {
    let (server, web) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for row in ["a", "b", "c"] {
        support::put(&mut client, &region, row, "v").unwrap();
    }
    support::get(&mut client, &region, "a").unwrap();
    let elsewhere = proto::GetRequest {
        region: support::region_ref(&region).to_proto(),
        get: proto::Get { row: "a".into(), max_versions: Some(0), ..Default::default() },
    };
    client.call(&elsewhere).unwrap_err();

    let (status, text) = fetch(web, "/metrics", "localhost:1");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Mutate\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_call_seconds_bucket{method=\"Mutate\",le=\"+Inf\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_call_seconds_count{method=\"Get\"}"), 2.0);
    assert_eq!(sample(&text, "rowhouse_call_errors_total{method=\"Get\"}"), 1.0);
    assert_eq!(sample(&text, "rowhouse_table_writes_total{table=\"t\"}"), 3.0);
    assert_eq!(sample(&text, "rowhouse_table_reads_total{table=\"t\"}"), 1.0);
    assert_eq!(sample(&text, "rowhouse_table_regions{table=\"t\"}"), 1.0);
    assert!(sample(&text, "rowhouse_memstore_bytes") > 0.0);
}

/// Returns the counter samples, by name and labels; histogram samples are counters, too.
fn counters(web: SocketAddr) -> BTreeMap<String, f64> {
    let (_, text) = fetch(web, "/metrics", "localhost");
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let counted: Vec<_> =
        types.filter(|(_, kind)| *kind != "gauge").map(|(name, _)| name.to_owned()).collect();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let samples = samples.map(|line| line.rsplit_once(' ').unwrap());
    let is_counter = |name: &str| counted.iter().any(|counter| name.starts_with(counter));
    let samples = samples.filter(|(name, _)| is_counter(name));
    samples.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

/// Returns the counts in the bean for all region servers, and the table counts.
fn beans(web: SocketAddr) -> BTreeMap<String, f64> {
    let query = "/jmx?qry=Hadoop:service=HBase,name=*";
    let all: serde_json::Value = serde_json::from_str(&page(web, query)).unwrap();
    let mut counts = BTreeMap::new();
    for bean in all["beans"].as_array().unwrap() {
        // Regions come and go.
        for (name, value) in
            bean.as_object().unwrap().iter().filter(|(it, _)| !it.contains("_region_"))
        {
            let is_count = ["RequestCount", "Requests", "num_ops", "exceptions"];
            if is_count.iter().any(|end| name.ends_with(end)) {
                counts.insert(format!("{} {name}", bean["name"]), value.as_f64().unwrap());
            }
        }
    }
    counts
}

/// Checks that no sample is lower than it was, or gone.
fn check_rising(what: &str, before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) {
    for (name, value) in before {
        let now = after.get(name).unwrap_or_else(|| panic!("{what}: {name} is gone"));
        assert!(now >= value, "{what}: {name} fell from {value} to {now}");
    }
}

/// Returns the regions in table `t`, each with the server address.
fn served(master: &mut Client) -> Vec<(String, RegionInfo)> {
    let status = master.call(&proto::GetClusterStatusRequest::default()).unwrap();
    let mut regions = Vec::new();
    for name in status.cluster_status.servers_name {
        let address = format!("{}:{}", name.host_name, name.port());
        let mut admin = Client::connect(&address, Service::Admin);
        let online = admin.call(&proto::GetOnlineRegionRequest::default()).unwrap().region_info;
        let online = online.into_iter().map(|region| region::from_proto(region).unwrap());
        let of_table = online.filter(|region| region.table.to_string() == "t");
        regions.extend(of_table.map(|region| (address.clone(), region)));
    }
    regions.sort_by(|(_, a), (_, b)| a.range.start.cmp(&b.range.start));
    regions
}

/// Writes and reads a row in each region, and makes a mistake.
fn load(master: &mut Client) {
    for (address, region) in served(master) {
        let mut client = Client::connect(&address, Service::Client);
        let row = if region.range.start.is_empty() { "a" } else { "z" };
        support::put(&mut client, &region, row, "v").unwrap();
        support::get(&mut client, &region, row).unwrap();
        support::next(&mut client, 1, 0, 1).unwrap_err();
    }
}

#[test]
fn counters_do_not_fall_when_regions_and_servers_change() {
    let (server, web) = server_with(|options| {
        // A port that belonged to an ended server must not go to another test's server.
        if cfg!(target_os = "linux") {
            options.listen = "127.0.2.1:0".to_owned();
        }
        options.region_servers = 2;
    });
    let mut master = server.connect(Service::Master);
    server.create_table("t", &["cf"], &[]);
    let mut before = (counters(web), beans(web));
    let mut then = |what: &str| {
        let after = (counters(web), beans(web));
        check_rising(what, &before.0, &after.0);
        check_rising(what, &before.1, &after.1);
        before = after;
    };
    load(&mut master);
    then("writes");
    let (_, region) = served(&mut master).remove(0);
    let split = proto::SplitTableRegionRequest {
        region_info: region::to_proto(&region),
        split_row: Some("m".into()),
        ..Default::default()
    };
    master.call(&split).unwrap();
    then("a split");
    load(&mut master);
    then("writes after a split");
    let halves = served(&mut master);
    let region = halves.iter().map(|(_, region)| support::region_ref(region).to_proto()).collect();
    master.call(&proto::MergeTableRegionsRequest { region, ..Default::default() }).unwrap();
    then("a merge");
    server.disable_table("t");
    let truncation =
        proto::TruncateTableRequest { table_name: support::table_name("t"), ..Default::default() };
    master.call(&truncation).unwrap();
    then("a truncation");
    load(&mut master);
    for change in [RegionServerChange::Kill, RegionServerChange::Start] {
        let call = RegionServerCall { number: 0, change };
        let procedure = region_server::call_to_proto(&call);
        master.call(&proto::ExecProcedureRequest { procedure }).unwrap();
        then(&format!("{change:?} of a region server"));
    }
    let text = page(web, "/metrics");
    assert_eq!(sample(&text, "rowhouse_table_writes_total{table=\"t\"}"), 4.0);
    let up: Vec<_> = text.lines().filter(|line| line.starts_with("rowhouse_server_up{")).collect();
    assert!(up.len() == 2 && up.iter().all(|line| line.ends_with(" 1")), "{up:?}");
}

#[test]
fn region_servers_with_a_limit_have_metrics_of_its_queue() {
    let (limited, web) = server_with(|options| options.ops_per_server = Some(1));
    let address = limited.address().to_owned();
    let region = limited.create_table("t", &["cf"], &[]).remove(0);
    let mut client = limited.client();
    // The second one is there before the first one is paid off.
    for row in ["a", "b"] {
        client.send(&support::put_message(&region, row, "v"), &[]);
    }
    (0..2).for_each(|_| _ = client.receive().unwrap().outcome.unwrap());
    let (_, text) = fetch(web, "/metrics", "localhost");
    let of_server =
        |name: &str| sample(&text, &format!("rowhouse_server_{name}{{server=\"{address}\"}}"));
    assert_eq!((of_server("up"), of_server("regions")), (1.0, 1.0));
    assert_eq!(of_server("cap_waiting_calls"), 0.0);
    assert_eq!(of_server("cap_waits_total"), 1.0);
    assert!(of_server("cap_wait_seconds_total") > 0.0, "{text}");
    assert_eq!(of_server("cap_refusals_total"), 0.0);
    assert!(of_server("call_seconds_count") >= 2.0, "{text}");
    let (_server, web) = server();
    assert!(!fetch(web, "/metrics", "localhost").1.contains("rowhouse_server_cap_waits_total{"));
}

#[test]
fn health_is_200_while_writes_are_taken() {
    let (_server, web) = server();
    assert_eq!(fetch(web, "/health", "127.0.0.1"), ("HTTP/1.1 200 OK".into(), "ok\n".into()));
}
