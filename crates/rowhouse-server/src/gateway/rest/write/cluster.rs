//! The cluster's status, and versions.

use std::fmt::Write;

use prost::Message;
use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto as hbase;
use serde_json::{Value, json};

use super::base64;
use super::describe::{Describe, attribute, escaped};
use crate::gateway::rest::proto::{self, Node, NodeRegion};

/// The version of HBase's REST interface.
const REST_VERSION: &str = "0.0.3";

/// The versions of the gateway. What is not Java's has no other value.
pub(in crate::gateway::rest) struct Version {
    /// The HBase version that clients are told.
    pub(in crate::gateway::rest) hbase: String,
}

impl Version {
    fn server() -> String {
        format!("rowhouse/{}", env!("CARGO_PKG_VERSION"))
    }

    fn os() -> String {
        format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
    }
}

impl Describe for Version {
    fn text(&self) -> String {
        let Self { hbase } = self;
        let (os, server) = (Self::os(), Self::server());
        format!(
            "rest {REST_VERSION} [JVM: ] [OS: {os}] [Server: {server}] [Jersey: ] [Version: {hbase}] [Revision: ]\n"
        )
    }

    fn xml(&self) -> String {
        let attributes = [
            attribute("JVM", ""),
            attribute("Jersey", ""),
            attribute("OS", Self::os()),
            attribute("REST", REST_VERSION),
            attribute("Revision", ""),
            attribute("Server", Self::server()),
            attribute("Version", &self.hbase),
        ];
        format!("<Version{}/>", attributes.concat())
    }

    fn json(&self) -> Value {
        json!({
            "Server": Self::server(),
            "Jersey": "",
            "Version": self.hbase,
            "Revision": "",
            "REST": REST_VERSION,
            "JVM": "",
            "OS": Self::os(),
        })
    }

    fn protobuf(&self) -> Vec<u8> {
        let message = proto::Version {
            rest: Some(REST_VERSION.to_owned()),
            jvm: Some(String::new()),
            os: Some(Self::os()),
            server: Some(Self::server()),
            jersey: Some(String::new()),
            version: Some(self.hbase.clone()),
            revision: Some(String::new()),
        };
        message.encode_to_vec()
    }
}

/// The HBase version that clients are told.
pub(in crate::gateway::rest) struct ClusterVersion(pub(in crate::gateway::rest) String);

impl Describe for ClusterVersion {
    fn text(&self) -> String {
        self.0.clone()
    }

    fn xml(&self) -> String {
        format!("<ClusterVersion{}/>", attribute("Version", &self.0))
    }

    fn json(&self) -> Value {
        json!({ "Version": self.0 })
    }

    /// HBase has no message for it.
    fn protobuf(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// The servers and their regions.
pub(in crate::gateway::rest) struct ClusterStatus(proto::ClusterStatus);

fn int(number: Option<u32>) -> Option<i32> {
    Some(i32::try_from(number.unwrap_or(0)).unwrap_or(i32::MAX))
}

fn long(number: Option<u64>) -> Option<i64> {
    Some(i64::try_from(number.unwrap_or(0)).unwrap_or(i64::MAX))
}

impl From<hbase::ClusterStatus> for ClusterStatus {
    fn from(status: hbase::ClusterStatus) -> Self {
        let nodes: Vec<_> = status.live_servers.into_iter().map(node).collect();
        let regions: usize = nodes.iter().map(|node| node.regions.len()).sum();
        let requests = nodes.iter().filter_map(|node| node.requests).sum();
        let average = if nodes.is_empty() { 0.0 } else { regions as f64 / nodes.len() as f64 };
        let dead = status.dead_servers.into_iter();
        let dead = dead.filter_map(|name| Some(names::server_from_proto(name).ok()?.to_string()));
        Self(proto::ClusterStatus {
            live_nodes: nodes,
            dead_nodes: dead.collect(),
            regions: i32::try_from(regions).ok(),
            requests: Some(requests),
            average_load: Some(average),
        })
    }
}

fn node(server: hbase::LiveServerInfo) -> Node {
    let hbase::LiveServerInfo { server, server_load: load } = server;
    Node {
        name: format!("{}:{}", server.host_name, server.port.unwrap_or(0)),
        start_code: long(server.start_code),
        requests: long(load.total_number_of_requests),
        heap_size_mb: int(load.used_heap_mb),
        max_heap_size_mb: int(load.max_heap_mb),
        regions: load.region_loads.into_iter().map(region).collect(),
    }
}

fn region(load: hbase::RegionLoad) -> NodeRegion {
    let name = match RegionRef::from_proto(load.region_specifier) {
        RegionRef::Full(name) | RegionRef::Encoded(name) => name,
    };
    NodeRegion {
        name,
        stores: int(load.stores),
        store_files: int(load.storefiles),
        store_file_size_mb: int(load.storefile_size_mb),
        mem_store_size_mb: int(load.mem_store_size_mb),
        store_file_index_size_kb: long(load.storefile_index_size_kb),
        read_requests_count: long(load.read_requests_count),
        write_requests_count: long(load.write_requests_count),
        root_index_size_kb: int(load.root_index_size_kb),
        total_static_index_size_kb: int(load.total_static_index_size_kb),
        total_static_bloom_size_kb: int(load.total_static_bloom_size_kb),
        total_compacting_kvs: long(load.total_compacting_k_vs),
        current_compacted_kvs: long(load.current_compacted_k_vs),
    }
}

/// Returns a region's numbers under the names in JSON, in that order.
fn numbers(region: &NodeRegion) -> [(&'static str, i64); 12] {
    let int = |number: Option<i32>| i64::from(number.unwrap_or(0));
    let long = |number: Option<i64>| number.unwrap_or(0);
    [
        ("stores", int(region.stores)),
        ("storefiles", int(region.store_files)),
        ("storefileSizeMB", int(region.store_file_size_mb)),
        ("storefileIndexSizeKB", long(region.store_file_index_size_kb)),
        ("readRequestsCount", long(region.read_requests_count)),
        ("writeRequestsCount", long(region.write_requests_count)),
        ("rootIndexSizeKB", int(region.root_index_size_kb)),
        ("totalStaticIndexSizeKB", int(region.total_static_index_size_kb)),
        ("totalStaticBloomSizeKB", int(region.total_static_bloom_size_kb)),
        ("totalCompactingKVs", long(region.total_compacting_kvs)),
        ("currentCompactedKVs", long(region.current_compacted_kvs)),
        ("memStoreSizeMB", int(region.mem_store_size_mb)),
    ]
}

/// Returns a server's numbers under the names in JSON, in that order.
fn node_numbers(node: &Node) -> [(&'static str, i64); 4] {
    [
        ("startCode", node.start_code.unwrap_or(0)),
        ("requests", node.requests.unwrap_or(0)),
        ("heapSizeMB", node.heap_size_mb.unwrap_or(0).into()),
        ("maxHeapSizeMB", node.max_heap_size_mb.unwrap_or(0).into()),
    ]
}

/// The lines for a region in text, each with the name in JSON.
const LINES: [(&str, &str); 12] = [
    ("stores", "stores"),
    ("storefiless", "storefiles"),
    ("storefileSizeMB", "storefileSizeMB"),
    ("memstoreSizeMB", "memStoreSizeMB"),
    ("storefileIndexSizeKB", "storefileIndexSizeKB"),
    ("readRequestsCount", "readRequestsCount"),
    ("writeRequestsCount", "writeRequestsCount"),
    ("rootIndexSizeKB", "rootIndexSizeKB"),
    ("totalStaticIndexSizeKB", "totalStaticIndexSizeKB"),
    ("totalStaticBloomSizeKB", "totalStaticBloomSizeKB"),
    ("totalCompactingKVs", "totalCompactingKVs"),
    ("currentCompactedKVs", "currentCompactedKVs"),
];

impl Describe for ClusterStatus {
    fn text(&self) -> String {
        let status = &self.0;
        let (live, dead) = (status.live_nodes.len(), status.dead_nodes.len());
        let load = status.average_load.unwrap_or(0.0);
        let mut text =
            format!("{live} live servers, {dead} dead servers, {load:.4} average load\n\n");
        if live > 0 {
            let _ = writeln!(text, "{live} live servers");
        }
        for node in &status.live_nodes {
            let [(_, start_code), (_, requests), (_, heap), (_, max_heap)] = node_numbers(node);
            let (name, regions) = (&node.name, node.regions.len());
            let _ = write!(
                text,
                "    {name} {start_code}\n        requests={requests}, regions={regions}\n        heapSizeMB={heap}\n        maxHeapSizeMB={max_heap}\n\n"
            );
            for region in &node.regions {
                let _ = write!(text, "        {}", String::from_utf8_lossy(&region.name));
                let numbers = numbers(region);
                for (line, name) in LINES {
                    let number = numbers.iter().find(|(of, _)| *of == name);
                    let number = number.map_or(0, |(_, number)| *number);
                    let _ = write!(text, "\n            {line}={number}");
                }
                text.push('\n');
            }
            text.push('\n');
        }
        if dead > 0 {
            let _ = write!(text, "\n{dead} dead servers\n");
        }
        for node in &status.dead_nodes {
            let _ = writeln!(text, "    {node}");
        }
        text
    }

    fn xml(&self) -> String {
        let status = &self.0;
        let nodes = status.live_nodes.iter().map(|node| {
            let regions = node.regions.iter().map(|region| {
                let numbers = numbers(region).map(|(name, number)| attribute(name, number));
                format!("<Region{}{}/>", attribute("name", base64(&region.name)), numbers.concat())
            });
            let regions: String = regions.collect();
            let numbers = node_numbers(node).map(|(name, number)| attribute(name, number));
            let attributes = attribute("name", &node.name) + &numbers.concat();
            format!("<Node{attributes}>{regions}</Node>")
        });
        let nodes: String = nodes.collect();
        let dead = status.dead_nodes.iter().map(|name| format!("<Node>{}</Node>", escaped(name)));
        let dead: String = dead.collect();
        let attributes = [
            attribute("averageLoad", format!("{:?}", status.average_load.unwrap_or(0.0))),
            attribute("regions", status.regions.unwrap_or(0)),
            attribute("requests", status.requests.unwrap_or(0)),
        ];
        format!(
            "<ClusterStatus{}><DeadNodes>{dead}</DeadNodes><LiveNodes>{nodes}</LiveNodes></ClusterStatus>",
            attributes.concat()
        )
    }

    fn json(&self) -> Value {
        let status = &self.0;
        let object = |name: String, numbers: &[(&str, i64)]| {
            let name = std::iter::once(("name".to_owned(), Value::from(name)));
            let numbers =
                numbers.iter().map(|(name, number)| ((*name).to_owned(), (*number).into()));
            name.chain(numbers).collect::<serde_json::Map<_, _>>()
        };
        let nodes = status.live_nodes.iter().map(|node| {
            let regions = node
                .regions
                .iter()
                .map(|region| Value::Object(object(base64(&region.name), &numbers(region))));
            let regions: Vec<_> = regions.collect();
            let mut shown = object(node.name.clone(), &node_numbers(node));
            shown.insert("Region".to_owned(), regions.into());
            Value::Object(shown)
        });
        json!({
            "LiveNodes": nodes.collect::<Vec<_>>(),
            "DeadNodes": status.dead_nodes,
            "regions": status.regions,
            "requests": status.requests,
            "averageLoad": status.average_load,
        })
    }

    fn protobuf(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_hbases_form() {
        let region = NodeRegion { name: "t,,1".into(), stores: Some(2), ..NodeRegion::default() };
        let node = Node {
            name: "h:1".into(),
            start_code: Some(5),
            regions: vec![region],
            ..Node::default()
        };
        let status = ClusterStatus(proto::ClusterStatus {
            live_nodes: vec![node],
            dead_nodes: vec!["h,2,3".into()],
            regions: Some(1),
            requests: Some(9),
            average_load: Some(1.0),
        });
        let text = status.text();
        assert!(text.starts_with(
            "1 live servers, 1 dead servers, 1.0000 average load\n\n1 live servers\n    h:1 5\n"
        ));
        assert!(text.contains("        t,,1\n            stores=2\n            storefiless=0\n"));
        assert!(text.ends_with("currentCompactedKVs=0\n\n\n1 dead servers\n    h,2,3\n"));
        assert!(status.xml().starts_with(r#"<ClusterStatus averageLoad="1.0" regions="1" requests="9"><DeadNodes><Node>h,2,3</Node>"#));
        let json = status.json().to_string();
        assert!(json.starts_with(r#"{"LiveNodes":[{"name":"h:1","startCode":5,"requests":0,"heapSizeMB":0,"maxHeapSizeMB":0,"Region":[{"name":"dCwsMQ==","stores":2,"#), "{json}");
        assert!(
            json.ends_with(r#""DeadNodes":["h,2,3"],"regions":1,"requests":9,"averageLoad":1.0}"#)
        );
    }
}
