//! Formats answers as text, one fact per line.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use prost::Message;
use regex::Regex;
use rowhouse_format::convert::multi::{ActionResult, MultiResult};
use rowhouse_format::convert::region;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{Body, Call, CellReader, Method, decode_message};
use rowhouse_model::{KeyValue, Result, Row, escape};

/// Formats an answer: the message without absent fields, then the cells.
pub(crate) fn answer(method: Method, answer: &std::result::Result<Body, Exception>) -> String {
    match answer {
        Err(exception) => exception_text(exception),
        Ok(body) if method == Method::Multi => multi(body),
        Ok(body) => message(method, body) + &cells(body.cells(None)),
    }
}

fn exception_text(exception: &Exception) -> String {
    let Exception { class, message, do_not_retry } = exception;
    format!("{class}\n  message: {message}\n  do_not_retry: {do_not_retry}\n")
}

/// Formats a Multi answer. HBase's result order has no meaning; the results are sorted into the
/// client's order.
fn multi(body: &Body) -> String {
    let message: proto::MultiResponse = body.message().unwrap();
    let mut text = format!("processed: {:?}\n", message.processed);
    text += &format!("region_statistics: {:?}\n", message.region_statistics);
    let mut block = body.cells(None);
    let exceptions = message.region_action_result.iter().map(|region| region.exception.clone());
    let exceptions: Vec<_> = exceptions.collect();
    let mut classes = BTreeMap::new();
    for (at, region) in message.region_action_result.iter().enumerate() {
        for result in &region.result_or_exception {
            let exception = result.exception.clone().map(Exception::from_pair);
            classes.insert((at, result.index()), exception);
        }
    }
    let answer = MultiResult::from_proto(message, &mut block).unwrap();
    assert!(block.is_empty(), "cells that belong to no result");
    for (at, (region, exception)) in answer.regions.into_iter().zip(exceptions).enumerate() {
        text += "region:\n";
        let Ok(region) = region else {
            text += &exception_text(&Exception::from_pair(exception.unwrap()));
            continue;
        };
        let mut answers = region.answers;
        answers.sort_by_key(|numbered| numbered.index);
        for numbered in answers {
            text += &format!("  {}: ", numbered.index);
            text += &match numbered.answer {
                Ok(ActionResult::Done) => "done\n".to_owned(),
                Ok(ActionResult::Nothing) => "nothing\n".to_owned(),
                Ok(ActionResult::Service(value)) => format!("{}\n", value.name),
                Ok(ActionResult::Exists(exists)) => format!("exists={exists}\n"),
                Ok(ActionResult::Row(row)) => row_text(&row),
                Err(_) => exception_text(&classes[&(at, numbered.index)].clone().unwrap()),
            };
        }
    }
    text
}

fn row_text(row: &Row) -> String {
    let cells: String = row.cells().map(cell).collect();
    format!("{} cells\n{cells}", row.len())
}

fn cells(block: CellReader) -> String {
    block.map(Result::unwrap).map(|one| cell(one.as_key_value())).collect()
}

fn cell(cell: KeyValue<'_>) -> String {
    let key = cell.key();
    let family = escape(key.family);
    let qualifier = escape(key.qualifier);
    let value = match &*qualifier {
        "regioninfo" => format!("{:?}", region::from_pbuf(&cell.value_bytes()).unwrap()),
        "serverstartcode" => u64::from_be_bytes(cell.value().try_into().unwrap()).to_string(),
        _ => escape(cell.value()),
    };
    let row = escape(key.row);
    let kind = cell.kind();
    format!("  {row} {family}:{qualifier} {} {kind:?} = {value}\n", key.timestamp)
}

/// Returns the regions that an answer describes.
pub(crate) fn regions(method: Method, body: &Body) -> Vec<rowhouse_model::RegionInfo> {
    if method == Method::GetOnlineRegion {
        let message: proto::GetOnlineRegionResponse = body.message().unwrap();
        return message
            .region_info
            .into_iter()
            .map(|region| region::from_proto(region).unwrap())
            .collect();
    }
    let infos = body.cells(None).map(Result::unwrap);
    let infos = infos.filter(|cell| cell.family() == b"info" && cell.qualifier() == b"regioninfo");
    infos.map(|cell| region::from_pbuf(&cell.value_bytes()).unwrap()).collect()
}

/// One arm per recorded method.
macro_rules! message_by_method {
    ($method:expr, $body:expr, $($name:ident $request:ident),* $(,)?) => {
        match $method {
            $(Method::$name => {
                format!("{:#?}\n", $body.message::<<proto::$request as Call>::Answer>().unwrap())
            })*
            other => panic!("{other:?} cannot be printed yet"),
        }
    };
}

fn message(method: Method, body: &Body) -> String {
    let text = match method {
        Method::GetClusterStatus => cluster_status(body.message_bytes().clone()),
        Method::GetProcedureResult => procedure(body),
        Method::GetTableDescriptors => descriptors(body),
        Method::GetOnlineRegion => online_regions(body),
        _ => message_by_method!(method, body,
            Get GetRequest, Mutate MutateRequest, Scan ScanRequest,
            GetClusterId GetClusterIdRequest, GetActiveMaster GetActiveMasterRequest,
            GetMetaRegionLocations GetMetaRegionLocationsRequest,
            IsMasterRunning IsMasterRunningRequest,
            CreateTable CreateTableRequest, DeleteTable DeleteTableRequest,
            EnableTable EnableTableRequest, DisableTable DisableTableRequest,
            FlushTable FlushTableRequest, GetTableNames GetTableNamesRequest,
            ListTableNamesByNamespace ListTableNamesByNamespaceRequest,
            CreateNamespace CreateNamespaceRequest, ModifyNamespace ModifyNamespaceRequest,
            DeleteNamespace DeleteNamespaceRequest, ListNamespaces ListNamespacesRequest,
            ListNamespaceDescriptors ListNamespaceDescriptorsRequest,
            GetNamespaceDescriptor GetNamespaceDescriptorRequest,
            IsBalancerEnabled IsBalancerEnabledRequest,
            IsNormalizerEnabled IsNormalizerEnabledRequest,
        ),
    };
    tidy(&text)
}

/// Formats a procedure's result. A failure is an exception, shown without the Java stack trace.
fn procedure(body: &Body) -> String {
    let mut message: proto::GetProcedureResultResponse = body.message().unwrap();
    let failed = message.exception.take().map(Exception::from_foreign);
    let failed = failed.map(|exception| {
        format!("failed: {}\n  message: {}\n", exception.class, exception.message)
    });
    format!("{message:#?}\n{}", failed.unwrap_or_default())
}

/// Sorts attributes, which are an unordered map.
fn descriptors(body: &Body) -> String {
    let mut message: proto::GetTableDescriptorsResponse = body.message().unwrap();
    for table in &mut message.table_schema {
        table.attributes.sort_by(|a, b| a.first.cmp(&b.first));
        for family in &mut table.column_families {
            family.attributes.sort_by(|a, b| a.first.cmp(&b.first));
        }
    }
    format!("{message:#?}\n")
}

/// Sorts a server's regions, which have no order.
fn online_regions(body: &Body) -> String {
    let mut message: proto::GetOnlineRegionResponse = body.message().unwrap();
    message
        .region_info
        .sort_by_key(|region| (region.table_name.encode_to_vec(), region.start_key.clone()));
    format!("{message:#?}\n")
}

/// Formats the cluster's servers and regions. Load figures are not comparable and are left out.
fn cluster_status(message: Bytes) -> String {
    let message: proto::GetClusterStatusResponse = decode_message(message).unwrap();
    let mut status = message.cluster_status;
    status.master_tasks.clear();
    status.table_region_states_count.sort_by_key(|count| count.table_name.encode_to_vec());
    let mut regions = Vec::new();
    for server in &mut status.live_servers {
        let load = std::mem::take(&mut server.server_load);
        // Identify regions by table and start row: the id that follows them is cluster-specific.
        let names = load.region_loads.iter().map(|load| escape(&load.region_specifier.value));
        let places = names.filter_map(|name| Some(name.rsplit_once(',')?.0.to_owned()));
        regions.extend(places.map(|place| format!("region {place}\n")));
    }
    regions.sort();
    format!("{status:#?}\n{}", regions.concat())
}

/// Drops absent fields and puts small values on one line.
fn tidy(text: &str) -> String {
    static RULES: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
        [
            (r"\n *\w+: (None|\[\]),", ""),
            (r"Some\(\n *([^\n]*),\n *\)", "$1"),
            (
                r#"ServerName \{\s*host_name: "(.*)",\s*port: (\d+),\s*start_code: (\d+),\s*\}"#,
                "$1,$2,$3",
            ),
            (r#"TableName \{\s*namespace: b"(.*)",\s*qualifier: b"(.*)",\s*\}"#, "$1:$2"),
            (r#"BytesBytesPair \{\s*first: b"(.*)",\s*second: b"(.*)",\s*\}"#, "$1 = $2"),
            (r#"NameStringPair \{\s*name: "(.*)",\s*value: "(.*)",\s*\}"#, "$1 = $2"),
        ]
        .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
    });
    RULES.iter().fold(text.to_owned(), |text, (pattern, with)| {
        pattern.replace_all(&text, *with).into_owned()
    })
}
