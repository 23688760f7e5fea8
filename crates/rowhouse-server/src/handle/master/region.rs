//! Splits, merges, truncates, assigns and unassigns regions.

use std::sync::Arc;

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_model::{Bytes, Error, ErrorKind, Result};
use rowhouse_store::Region;

use super::procedure;
use crate::context::Context;

/// Splits a region at a row, or halfway through the region's data.
pub(crate) fn split(
    context: &Context,
    request: proto::SplitTableRegionRequest,
) -> Result<proto::SplitTableRegionResponse> {
    let name = region::from_proto(request.region_info)?.name();
    let row = request.split_row.filter(|row| !row.is_empty());
    context.cluster.store.split_region(&name.full, row)?;
    Ok(proto::SplitTableRegionResponse { proc_id: procedure::done() })
}

/// Merges adjacent regions. Even a forced merge refuses others: the rows between them would have no
/// region.
pub(crate) fn merge(
    context: &Context,
    request: proto::MergeTableRegionsRequest,
) -> Result<proto::MergeTableRegionsResponse> {
    let store = &context.cluster.store;
    let names = request.region.into_iter().map(|region| full_name(context, region));
    let names = names.collect::<Result<Vec<_>>>()?;
    let names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
    store.merge_regions(&names)?;
    Ok(proto::MergeTableRegionsResponse { proc_id: procedure::done() })
}

/// Moves a region to the named server, or to another one if none is named: the one with the fewest
/// regions, where HBase takes one at random. If there is no such server, the region stays.
pub(crate) fn move_to(
    context: &Context,
    request: proto::MoveRegionRequest,
) -> Result<proto::MoveRegionResponse> {
    let name = full_name(context, request.region)?;
    let target = request.dest_server_name.map(names::server_from_proto).transpose()?;
    context.cluster.move_region(&name, target.as_ref())?;
    Ok(proto::MoveRegionResponse {})
}

/// Brings a region into service.
pub(crate) fn assign(
    context: &Context,
    request: proto::AssignRegionRequest,
) -> Result<proto::AssignRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.assign_region(&name)?;
    Ok(proto::AssignRegionResponse {})
}

/// Removes a region from service until it is assigned.
pub(crate) fn unassign(
    context: &Context,
    request: proto::UnassignRegionRequest,
) -> Result<proto::UnassignRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.unassign_region(&name)?;
    Ok(proto::UnassignRegionResponse {})
}

/// Removes all cells in a region.
pub(crate) fn truncate(
    context: &Context,
    request: proto::TruncateRegionRequest,
) -> Result<proto::TruncateRegionResponse> {
    let region = region::from_proto(request.region_info)?;
    if region.table.is_system() {
        return Err(Error::invalid("Can't truncate region in catalog tables"));
    }
    context.cluster.store.truncate_region(&region.name().full)?;
    Ok(proto::TruncateRegionResponse { proc_id: procedure::done() })
}

/// Removes a region from service, as [`unassign`]. HBase only forgets the region's location.
pub(crate) fn offline(
    context: &Context,
    request: proto::OfflineRegionRequest,
) -> Result<proto::OfflineRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.unassign_region(&name)?;
    Ok(proto::OfflineRegionResponse {})
}

/// Returns the user table region with this name, if it exists.
pub(crate) fn find(context: &Context, name: &RegionRef) -> Result<Option<Arc<Region>>> {
    let store = &context.cluster.store;
    Ok(match name {
        RegionRef::Full(full) => store.find_region(full),
        RegionRef::Encoded(_) => store.find_region_by_encoded_name(name.encoded_name()?),
    })
}

/// Returns a user table region's full name.
///
/// # Errors
/// `UnknownRegion`.
fn full_name(context: &Context, region: proto::RegionSpecifier) -> Result<Bytes> {
    let name = RegionRef::from_proto(region);
    match find(context, &name)? {
        Some(region) => Ok(region.name().full.clone()),
        None => Err(Error::new(ErrorKind::UnknownRegion, name.to_string())),
    }
}
