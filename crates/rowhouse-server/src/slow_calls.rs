//! Describes slow calls and large answers for the slow log.

use std::time::Instant;

use bytes::Bytes;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Service};
use rowhouse_model::escape;

use crate::call::CallContext;
use crate::limits::SLOW_LOG_PARAM_BYTES_MAX;
use crate::slow_log::{LoggedCall, PROTOS, ScanSource, began_millis, beginning, copied};

/// Logs a call that ends `now`, if it was slow or if the answer, with `bytes` bytes, was large.
pub(crate) fn note(call_context: &CallContext, bytes: usize, now: Instant) {
    let (waited, took) = call_context.times(now);
    let log = &call_context.context.server.slow_log;
    let Some(kind) = log.kind_of(took, bytes) else { return };
    let method = call_context.request.method;
    let millis = |time: std::time::Duration| i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let Described { region, rows, param, gets, mutations, service_calls } = describe(call_context);
    let caller = &call_context.client.caller;
    tracing::warn!(
        ?kind,
        ?method,
        ?took,
        bytes,
        client = caller.address,
        param,
        "slow call or large response"
    );
    let payload = proto::SlowLogPayload {
        start_time: began_millis(took),
        processing_time: millis(took),
        queue_time: millis(waited),
        response_size: i64::try_from(bytes).unwrap_or(i64::MAX),
        client_address: caller.address.clone(),
        server_class: "HRegionServer".into(),
        method_name: method.name().into(),
        call_details: call_details(method),
        param: Some(param),
        user_name: caller.identity.user.clone(),
        region_name: Some(shown(region.as_ref())),
        multi_gets: Some(gets),
        multi_mutations: Some(mutations),
        multi_service_calls: Some(service_calls),
        r#type: kind.into(),
        ..Default::default()
    };
    log.add(LoggedCall { payload, region: region.as_ref().map(copied), rows });
}

/// Returns the method's name and, for data calls, the request's Java class.
fn call_details(method: Method) -> String {
    let name = method.name();
    match (method.service(), method) {
        (_, Method::ExecService) => {
            format!("{name}({PROTOS}.ClientProtos$CoprocessorServiceRequest)")
        }
        (Service::Client, _) => format!("{name}({PROTOS}.ClientProtos${name}Request)"),
        _ => name.into(),
    }
}

/// A call's description in the log.
#[derive(Default)]
struct Described {
    region: Option<RegionRef>,
    rows: Vec<Bytes>,
    param: String,
    gets: i32,
    mutations: i32,
    service_calls: i32,
}

fn describe(call_context: &CallContext) -> Described {
    let described = match call_context.request.method {
        Method::Get => call_context
            .message::<proto::GetRequest>()
            .map(|request| described_row(request.region, &request.get.row)),
        Method::Mutate => call_context.message::<proto::MutateRequest>().map(|request| {
            described_row(request.region, &request.mutation.row.unwrap_or_default())
        }),
        Method::Scan => call_context
            .message::<proto::ScanRequest>()
            .map(|request| described_scan(call_context, request)),
        Method::Multi => call_context.message::<proto::MultiRequest>().map(described_multi),
        Method::ExecService => {
            call_context.message::<proto::CoprocessorServiceRequest>().map(described_endpoint)
        }
        Method::BulkLoadHFile => {
            call_context.message::<proto::BulkLoadHFileRequest>().map(|request| {
                let region = RegionRef::from_proto(request.region);
                let files = request.family_path.len();
                let param = format!("region= {region}, for {files} file(s)");
                Described { region: Some(region), param, ..Described::default() }
            })
        }
        _ => Ok(Described::default()),
    };
    let mut described = described.unwrap_or_default();
    let mut end = described.param.len().min(SLOW_LOG_PARAM_BYTES_MAX);
    while !described.param.is_char_boundary(end) {
        end -= 1;
    }
    described.param.truncate(end);
    described
}

/// Describes a call that opens a scanner or goes on with one, whose source the scanner has.
fn described_scan(call_context: &CallContext, request: proto::ScanRequest) -> Described {
    let opened = request.region.zip(request.scan).map(|(region, scan)| {
        let [start, stop] = [scan.start_row, scan.stop_row].map(Option::unwrap_or_default);
        ScanSource::new(&RegionRef::from_proto(region), &start, &stop)
    });
    let source = opened.or_else(|| call_context.scan_source.get().map(|it| (**it).clone()));
    let id = request.scanner_id.map(|id| format!("scanner_id= {id}"));
    let Some(ScanSource { region, rows }) = source else {
        return Described { param: id.unwrap_or_default(), ..Described::default() };
    };
    let [start, stop] = rows.each_ref().map(|row| escape(row));
    let range = format!("region= {region}, start row= {start}, stop row= {stop}");
    let param = std::iter::once(range).chain(id).collect::<Vec<_>>().join(", ");
    Described { region: Some(region), rows: rows.into(), param, ..Described::default() }
}

fn described_endpoint(request: proto::CoprocessorServiceRequest) -> Described {
    let proto::CoprocessorServiceCall { row, service_name, method_name, .. } = request.call;
    let region = RegionRef::from_proto(request.region);
    let param = format!("coprocessorService= {service_name}:{method_name}");
    // The calls for a whole region have the first row, or none.
    let rows = if row.is_empty() { Vec::new() } else { vec![beginning(&row)] };
    Described { region: Some(region), rows, param, ..Described::default() }
}

fn described_multi(request: proto::MultiRequest) -> Described {
    let actions = || request.region_action.iter().flat_map(|region| &region.action);
    let count = |is: fn(&proto::Action) -> bool| {
        i32::try_from(actions().filter(|action| is(action)).count()).unwrap_or(i32::MAX)
    };
    let first = request.region_action.first();
    let region = first.map(|first| RegionRef::from_proto(first.region.clone()));
    let region_name = shown(region.as_ref());
    Described {
        param: format!("region= {region_name}, for {} action(s)", actions().count()),
        gets: count(|action| action.get.is_some()),
        mutations: count(|action| action.mutation.is_some()),
        service_calls: count(|action| action.service_call.is_some()),
        rows: Vec::new(),
        region,
    }
}

fn described_row(region: proto::RegionSpecifier, row: &[u8]) -> Described {
    let region = RegionRef::from_proto(region);
    let param = format!("region= {region}, row= {}", escape(row));
    Described { param, region: Some(region), rows: vec![beginning(row)], ..Described::default() }
}

fn shown(region: Option<&RegionRef>) -> String {
    region.map(RegionRef::to_string).unwrap_or_default()
}
