//! HBase's built-in coprocessor endpoints, for tables that declare them, searches, deletes of many
//! rows, changes for followers, and tokens of users.

mod aggregate;
mod authentication;
mod bulk_delete;
mod changes;
mod number;
mod search;

use bytes::BytesMut;
use rowhouse_format::convert::delete;
use rowhouse_format::convert::endpoint::{self, ColumnInterpreter, EndpointCall};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Mutation, Result, escape};
use rowhouse_query::delete_rows;
use rowhouse_store::Region;

use self::aggregate::{run, scan_for};
use self::number::{Decimal, Double, Long};
use super::scan::open_region;
use crate::call::CallContext;
use crate::cluster::ServedRegion;
use crate::context::Context;

/// The Java package for the answer messages.
const PROTOS: &str = "org.apache.hadoop.hbase.protobuf.generated.";

/// Answers a call to a region's endpoint.
pub(crate) fn exec(call_context: &CallContext, out: &mut BytesMut) -> Result<()> {
    let request = call_context.message::<proto::CoprocessorServiceRequest>()?;
    let context = &call_context.context;
    let name = RegionRef::from_proto(request.region.clone());
    let region = context.cluster.region(&context.server, &name)?;
    let value = call(call_context, &region, request.call)?;
    call_context.reply(out, &proto::CoprocessorServiceResponse { region: request.region, value })
}

/// Returns a region endpoint's result, called alone or as an action in a Multi.
pub(crate) fn call(
    call_context: &CallContext,
    region: &ServedRegion,
    call: proto::CoprocessorServiceCall,
) -> Result<proto::NameBytesPair> {
    let context = &*call_context.context;
    let call = EndpointCall::from_proto(call)?;
    let identity = &call_context.client.caller.identity;
    // Every region answers these.
    match call {
        EndpointCall::GetAuthenticationToken => return authentication::token(context, identity),
        EndpointCall::WhoAmI => return Ok(authentication::who_am_i(identity)),
        _ => {}
    }
    let region = match region {
        ServedRegion::Stored(region) => region,
        ServedRegion::System(table, _) => {
            return Err(Error::unsupported(format!("{table} has no coprocessors")));
        }
    };
    check_declared(context, region, &call)?;
    match call {
        EndpointCall::GetAuthenticationToken | EndpointCall::WhoAmI => {
            unreachable!("answered above")
        }
        EndpointCall::Search(call) => search::answer(context, &region.info().table, call),
        EndpointCall::ReadChanges(request) => {
            changes::answer(call_context, &region.info().table, &request)
        }
        EndpointCall::DeleteRows(request) => {
            check_first_row(region, &request.range.start)?;
            let cluster = &context.cluster;
            let deleted = delete_rows(&cluster.store, Some(&cluster.search), region, &request)?;
            Ok(delete::answer_to_proto(deleted))
        }
        EndpointCall::BulkDelete { scan, kind, timestamp, batch_rows } => {
            let scan = bulk_delete::scan_for(kind, *scan);
            let rows = &mut open_region(context, region, &scan, None, false)?;
            let answer = bulk_delete::run(region, rows, kind, timestamp, batch_rows)?;
            let class = "org.apache.hadoop.hbase.shaded.coprocessor.example.generated.\
                         BulkDeleteProtos$BulkDeleteResponse";
            Ok(endpoint::answer(class, &answer))
        }
        EndpointCall::MutateRows { mutations, conditions } => {
            check_one_region(region, &mutations)?;
            let processed = Some(region.mutate_rows(&conditions, &mutations)?.is_some());
            let answer = proto::MutateRowsResponse { processed };
            let class = format!("{PROTOS}MultiRowMutationProtos$MutateRowsResponse");
            Ok(endpoint::answer(&class, &answer))
        }
        EndpointCall::Aggregate { function, interpreter, scan } => {
            let named = scan.scan.columns.families().next();
            let named = named.map_or(0, |(_, columns)| columns.named().count());
            let scan = OpenScan { scan: scan_for(function, scan.scan), ..*scan };
            let rows = &mut open_region(context, region, &scan, None, true)?;
            let answer = match interpreter {
                ColumnInterpreter::Long => run::<Long>(rows, function, named)?,
                ColumnInterpreter::Double => run::<Double>(rows, function, named)?,
                ColumnInterpreter::BigDecimal => run::<Decimal>(rows, function, named)?,
            };
            let class = format!("{PROTOS}AggregateProtos$AggregateResponse");
            Ok(endpoint::answer(&class, &answer))
        }
    }
}

/// Refuses a range that begins in another region: its rows before this one would be skipped.
fn check_first_row(region: &Region, row: &[u8]) -> Result<()> {
    if region.info().range.contains(row) {
        return Ok(());
    }
    let message = format!("Requested row out of range '{}' for {}", escape(row), region.name());
    Err(Error::new(ErrorKind::WrongRegion, message))
}

/// Refuses rows in several regions permanently: another region lookup cannot help. If the first row
/// is outside the region, the usual error follows, and the client looks the region up again.
fn check_one_region(region: &Region, mutations: &[Mutation]) -> Result<()> {
    let range = &region.info().range;
    let is_here = |mutation: &&Mutation| range.contains(mutation.row());
    if mutations.first().is_some_and(|first| is_here(&first))
        && let Some(other) = mutations.iter().find(|mutation| !is_here(mutation))
    {
        let row = escape(other.row());
        return Err(Error::invalid(format!("Requested row out of range '{row}'")));
    }
    Ok(())
}

/// Checks that the region's table declares the coprocessor that the call needs.
fn check_declared(context: &Context, region: &Region, call: &EndpointCall) -> Result<()> {
    let Some(coprocessor) = call.coprocessor() else { return Ok(()) };
    let table = context.cluster.store.table(&region.info().table)?;
    if table.descriptor().has_coprocessor(coprocessor) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Protocol,
        format!(
            "No registered coprocessor service found in region {}: the table must declare {}",
            region.name(),
            coprocessor.class_name()
        ),
    ))
}
