//! `/jmx`: measurements under the names of HBase's beans, in the same form as Hadoop's servlet, for
//! tools that read Apache HBase's measurements. Only what is measured is there.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rowhouse_model::TableName;
use rowhouse_store::Table;
use serde_json::{Map, Value, json};

use super::monitoring;
use super::reader::Reader;
use super::state::{Web, failed};
use crate::call_metrics::Calls;
use crate::cluster::Cluster;
use crate::limits::WEB_LISTED_MAX;
use crate::metrics::Totals;

/// Answers with the beans whose names match the pattern `qry`, in which `*` stands for any text; by
/// default with all.
pub(super) async fn beans(State(web): State<Web>, reader: Reader) -> Response {
    let made = tokio::task::spawn_blocking(move || {
        let pattern = match reader.param("qry") {
            "" => "*",
            pattern => pattern,
        };
        let beans = all_beans(&web.context.cluster);
        let matching = beans.into_iter().filter(|bean| {
            bean.get("name").and_then(Value::as_str).is_some_and(|name| is_match(pattern, name))
        });
        json!({ "beans": matching.collect::<Vec<_>>() })
    });
    match made.await {
        Ok(beans) => monitoring::json(&beans),
        Err(error) => failed(&error),
    }
}

/// Whether a text matches a pattern with `*`.
fn is_match(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

type Bean = Map<String, Value>;

fn bean(process: &str, sub: &str, context: &str, host: &str) -> Bean {
    let mut bean = Bean::new();
    bean.insert("name".into(), format!("Hadoop:service=HBase,name={process},sub={sub}").into());
    bean.insert("modelerType".into(), format!("{process},sub={sub}").into());
    bean.insert("tag.Context".into(), context.into());
    bean.insert("tag.Hostname".into(), host.into());
    bean
}

fn extend<const N: usize>(bean: &mut Bean, values: [(&str, Value); N]) {
    bean.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

fn all_beans(cluster: &Cluster) -> Vec<Bean> {
    let tables = cluster.store.tables();
    vec![
        master(cluster),
        server(cluster, &tables),
        ipc(cluster),
        regions(cluster, &tables),
        of_tables(cluster, &tables),
    ]
}

fn master(cluster: &Cluster) -> Bean {
    let live = cluster.region_servers();
    let dead = cluster.members.dead();
    let drained = cluster.members.decommissioned();
    let regions: usize = live.iter().map(|server| cluster.regions_of(server).len()).sum();
    let requests: u64 = cluster.members.all().iter().map(|server| server.requests.ever()).sum();
    let joined = |names: Vec<String>| Value::from(names.join(";"));
    let name = &cluster.master.name;
    let mut bean = bean("Master", "Server", "master", &name.host);
    extend(
        &mut bean,
        [
            ("tag.liveRegionServers", joined(live.iter().map(|it| it.name.to_string()).collect())),
            ("tag.deadRegionServers", joined(dead.iter().map(ToString::to_string).collect())),
            (
                "tag.drainingRegionServers",
                joined(drained.iter().map(ToString::to_string).collect()),
            ),
            ("tag.serverName", name.to_string().into()),
            ("tag.clusterId", cluster.id.clone().into()),
            ("tag.isActiveMaster", "true".into()),
            ("masterActiveTime", name.start_code.into()),
            ("masterStartTime", name.start_code.into()),
            ("averageLoad", (regions as f64 / live.len().max(1) as f64).into()),
            ("numRegionServers", live.len().into()),
            ("numDeadRegionServers", dead.len().into()),
            ("numDrainingRegionServers", drained.len().into()),
            ("clusterRequests", requests.into()),
        ],
    );
    bean
}

/// Returns sums over the process's region servers, as several region servers in one JVM have.
/// Counters include servers that were stopped and tables that were dropped.
fn server(cluster: &Cluster, tables: &[Arc<Table>]) -> Bean {
    let servers = cluster.region_servers();
    let totals = Totals::of(tables.iter().flat_map(|table| table.regions()));
    let region_bytes_mean = totals.region_bytes_mean();
    let Totals { regions, size } = totals;
    let requests = cluster.store.requests().all;
    // With stopped servers, so that counters do not fall.
    let ever = cluster.members.all();
    let calls = Calls::sum(ever.iter().map(|server| &*server.calls));
    let called = |name: &str| -> Value {
        let of_method = calls.called().find(|(method, _)| method.name() == name);
        of_method.map_or(0, |(_, calls)| calls.buckets().sum::<u64>()).into()
    };
    let (cached, cache_max) = cluster.store.block_cache_bytes();
    let first = cluster.meta_server();
    let mut bean = bean("RegionServer", "Server", "regionserver", &first.name.host);
    if let [only] = &servers[..] {
        bean.insert("tag.serverName".into(), only.name.to_string().into());
    }
    extend(
        &mut bean,
        [
            ("tag.clusterId", cluster.id.clone().into()),
            ("regionServerStartTime", first.name.start_code.into()),
            ("regionCount", regions.into()),
            ("storeCount", size.stores.into()),
            ("storeFileCount", size.files.into()),
            ("storeFileSize", size.file_bytes.into()),
            ("memStoreSize", size.memstore_bytes.into()),
            ("averageRegionSize", region_bytes_mean.into()),
            ("staticIndexSize", size.index_bytes.into()),
            ("staticBloomSize", size.bloom_bytes.into()),
            ("totalRequestCount", ever.iter().map(|it| it.requests.ever()).sum::<u64>().into()),
            ("readRequestCount", requests.reads.into()),
            ("filteredReadRequestCount", requests.filtered_reads.into()),
            ("writeRequestCount", requests.writes.into()),
            ("rpcGetRequestCount", called("Get")),
            ("rpcMutateRequestCount", called("Mutate")),
            ("rpcMultiRequestCount", called("Multi")),
            ("rpcScanRequestCount", called("Scan")),
            ("blockCacheSize", cached.into()),
            ("blockCacheFreeSize", cache_max.saturating_sub(cached).into()),
            ("activeScanners", servers.iter().map(|it| it.scanners.len()).sum::<usize>().into()),
        ],
    );
    bean
}

fn ipc(cluster: &Cluster) -> Bean {
    let servers = cluster.members.all();
    let calls = Calls::sum(servers.iter().map(|server| &*server.calls));
    let count: u64 = calls.called().flat_map(|(_, calls)| calls.buckets()).sum();
    let errors: u64 = calls.called().map(|(_, calls)| calls.errors()).sum();
    let seconds: f64 = calls.called().map(|(_, calls)| calls.latency().as_secs_f64()).sum();
    let host = &cluster.meta_server().name.host;
    let mut bean = bean("RegionServer", "IPC", "regionserver", host);
    extend(
        &mut bean,
        [
            ("exceptions", errors.into()),
            ("TotalCallTime_num_ops", count.into()),
            ("TotalCallTime_mean", (seconds * 1000.0 / count.max(1) as f64).into()),
        ],
    );
    bean
}

fn regions(cluster: &Cluster, tables: &[Arc<Table>]) -> Bean {
    let host = &cluster.meta_server().name.host;
    let mut bean = bean("RegionServer", "Regions", "regionserver", host);
    for region in tables.iter().flat_map(|table| table.regions()).take(WEB_LISTED_MAX) {
        let size = region.size();
        let requests = region.requests();
        let age = region.last_major_compaction().map_or(0, |at| cluster.store.now_millis() - at);
        let prefix = prefix(&region.info().table, Some(&region.name().encoded));
        let values: [(&str, Value); 8] = [
            ("storeCount", size.stores.into()),
            ("storeFileCount", size.files.into()),
            ("storeFileSize", size.file_bytes.into()),
            ("memStoreSize", size.memstore_bytes.into()),
            ("readRequestCount", requests.reads.into()),
            ("filteredReadRequestCount", requests.filtered_reads.into()),
            ("writeRequestCount", requests.writes.into()),
            ("lastMajorCompactionAge", age.into()),
        ];
        bean.extend(values.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
    }
    bean
}

fn of_tables(cluster: &Cluster, tables: &[Arc<Table>]) -> Bean {
    let host = &cluster.meta_server().name.host;
    let mut bean = bean("RegionServer", "Tables", "regionserver", host);
    bean.insert("numTables".into(), tables.len().into());
    let all_requests = cluster.store.requests().tables;
    for table in tables.iter().take(WEB_LISTED_MAX) {
        // The table may have been dropped since it was listed.
        let Some(requests) = all_requests.get(table.name()) else { continue };
        let totals = Totals::of(table.regions());
        let region_bytes_mean = totals.region_bytes_mean();
        let Totals { size, .. } = totals;
        let prefix = prefix(table.name(), None);
        let all = requests.reads + requests.filtered_reads + requests.writes;
        let values: [(&str, Value); 9] = [
            ("readRequestCount", requests.reads.into()),
            ("filteredReadRequestCount", requests.filtered_reads.into()),
            ("writeRequestCount", requests.writes.into()),
            ("totalRequestCount", all.into()),
            ("memStoreSize", size.memstore_bytes.into()),
            ("storeFileCount", size.files.into()),
            ("storeFileSize", size.file_bytes.into()),
            ("tableSize", (size.file_bytes + size.memstore_bytes).into()),
            ("averageRegionSize", region_bytes_mean.into()),
        ];
        bean.extend(values.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
    }
    bean
}

/// Returns what comes before the metric names for a table or region.
fn prefix(table: &TableName, region: Option<&str>) -> String {
    let region = region.map(|name| format!("_region_{name}")).unwrap_or_default();
    format!("Namespace_{}_table_{}{region}_metric_", table.namespace(), table.qualifier())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let name = "Hadoop:service=HBase,name=RegionServer,sub=Server";
        for pattern in
            ["*", name, "Hadoop:*", "Hadoop:service=HBase,name=*,sub=Server", "*Server", "**"]
        {
            assert!(is_match(pattern, name), "{pattern}");
        }
        for pattern in ["Hadoop:", "java.lang:*", "*sub=IPC", "Hadoop:*,sub=*x*", "*ServerServer"] {
            assert!(!is_match(pattern, name), "{pattern}");
        }
        assert!(!is_match("ab*ba", "aba"));
    }
}
