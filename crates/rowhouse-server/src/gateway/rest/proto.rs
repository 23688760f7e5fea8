//! HBase's protobuf messages for REST, with the numbers of their fields; rows have none here: they
//! are read and written part by part.

use bytes::Bytes;

/// A scanner to open.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Scanner {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) start_row: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub(super) end_row: Option<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub(super) columns: Vec<Bytes>,
    #[prost(int32, optional, tag = "4")]
    pub(super) batch: Option<i32>,
    #[prost(int64, optional, tag = "5")]
    pub(super) start_time: Option<i64>,
    #[prost(int64, optional, tag = "6")]
    pub(super) end_time: Option<i64>,
    #[prost(int32, optional, tag = "7")]
    pub(super) max_versions: Option<i32>,
    #[prost(string, optional, tag = "8")]
    pub(super) filter: Option<String>,
    #[prost(int32, optional, tag = "9")]
    pub(super) caching: Option<i32>,
    #[prost(string, repeated, tag = "10")]
    pub(super) labels: Vec<String>,
    #[prost(bool, optional, tag = "11")]
    pub(super) cache_blocks: Option<bool>,
}

/// A name and a value, which HBase's tables, families and namespaces have.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(string, required, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TableSchema {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(message, repeated, tag = "3")]
    pub(super) columns: Vec<ColumnSchema>,
    #[prost(bool, optional, tag = "4")]
    pub(super) in_memory: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub(super) read_only: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ColumnSchema {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(int32, optional, tag = "3")]
    pub(super) ttl: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) max_versions: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub(super) compression: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TableInfo {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) regions: Vec<TableRegion>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TableRegion {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub(super) start_key: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub(super) end_key: Option<Bytes>,
    #[prost(int64, optional, tag = "4")]
    pub(super) id: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) location: Option<String>,
}

/// The names of tables, or of namespaces: both messages are alike.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Names {
    #[prost(string, repeated, tag = "1")]
    pub(super) names: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NamespaceProperties {
    #[prost(message, repeated, tag = "1")]
    pub(super) properties: Vec<Attribute>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Version {
    #[prost(string, optional, tag = "1")]
    pub(super) rest: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) jvm: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) os: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) server: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(super) jersey: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) version: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub(super) revision: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ClusterStatus {
    #[prost(message, repeated, tag = "1")]
    pub(super) live_nodes: Vec<Node>,
    #[prost(string, repeated, tag = "2")]
    pub(super) dead_nodes: Vec<String>,
    #[prost(int32, optional, tag = "3")]
    pub(super) regions: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) requests: Option<i64>,
    #[prost(double, optional, tag = "5")]
    pub(super) average_load: Option<f64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    /// `host:port`.
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(int64, optional, tag = "2")]
    pub(super) start_code: Option<i64>,
    #[prost(int64, optional, tag = "3")]
    pub(super) requests: Option<i64>,
    #[prost(int32, optional, tag = "4")]
    pub(super) heap_size_mb: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) max_heap_size_mb: Option<i32>,
    #[prost(message, repeated, tag = "6")]
    pub(super) regions: Vec<NodeRegion>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeRegion {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub(super) name: Bytes,
    #[prost(int32, optional, tag = "2")]
    pub(super) stores: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) store_files: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) store_file_size_mb: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) mem_store_size_mb: Option<i32>,
    #[prost(int64, optional, tag = "6")]
    pub(super) store_file_index_size_kb: Option<i64>,
    #[prost(int64, optional, tag = "7")]
    pub(super) read_requests_count: Option<i64>,
    #[prost(int64, optional, tag = "8")]
    pub(super) write_requests_count: Option<i64>,
    #[prost(int32, optional, tag = "9")]
    pub(super) root_index_size_kb: Option<i32>,
    #[prost(int32, optional, tag = "10")]
    pub(super) total_static_index_size_kb: Option<i32>,
    #[prost(int32, optional, tag = "11")]
    pub(super) total_static_bloom_size_kb: Option<i32>,
    #[prost(int64, optional, tag = "12")]
    pub(super) total_compacting_kvs: Option<i64>,
    #[prost(int64, optional, tag = "13")]
    pub(super) current_compacted_kvs: Option<i64>,
}
