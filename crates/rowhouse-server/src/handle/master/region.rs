//! Regions split, merged and truncated, taken into service and out of it.

use std::sync::Arc;

use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_model::{Bytes, Error, ErrorKind, Result};
use rowhouse_store::Region;

use super::procedure;
use crate::server::Context;

/// Splits a region at a row, or in the middle of what it holds.
pub(crate) fn split(
    context: &Context,
    request: proto::SplitTableRegionRequest,
) -> Result<proto::SplitTableRegionResponse> {
    let name = region::from_proto(request.region_info)?.name();
    let row = request.split_row.filter(|row| !row.is_empty());
    context.cluster.store.split_region(&name.full, row)?;
    Ok(proto::SplitTableRegionResponse { proc_id: procedure::done() })
}

/// Merges neighbours. There is no force that merges others: rows between them would belong to nobody.
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

/// Moves a region. HBase picks a server at random where the one that is named is not there, and leaves a region where it is
/// when there is no other: here a region's server follows from its name.
pub(crate) fn move_to(
    context: &Context,
    request: proto::MoveRegionRequest,
) -> Result<proto::MoveRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.region(&name)?.check_serving()?;
    Ok(proto::MoveRegionResponse {})
}

/// Takes a region into service.
pub(crate) fn assign(
    context: &Context,
    request: proto::AssignRegionRequest,
) -> Result<proto::AssignRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.assign_region(&name)?;
    Ok(proto::AssignRegionResponse {})
}

/// Takes a region out of service, until it is assigned or the server is started again.
pub(crate) fn unassign(
    context: &Context,
    request: proto::UnassignRegionRequest,
) -> Result<proto::UnassignRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.unassign_region(&name)?;
    Ok(proto::UnassignRegionResponse {})
}

/// Drops all cells of a region.
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

/// Takes a region out of service, as [`unassign`]. HBase only forgets where the region is.
pub(crate) fn offline(
    context: &Context,
    request: proto::OfflineRegionRequest,
) -> Result<proto::OfflineRegionResponse> {
    let name = full_name(context, request.region)?;
    context.cluster.store.unassign_region(&name)?;
    Ok(proto::OfflineRegionResponse {})
}

/// The region of a table that has this name, if there is one.
pub(crate) fn find(context: &Context, name: &RegionRef) -> Result<Option<Arc<Region>>> {
    let store = &context.cluster.store;
    Ok(match name {
        RegionRef::Full(full) => store.find_region(full),
        RegionRef::Encoded(_) => store.find_region_by_encoded_name(name.encoded_name()?),
    })
}

/// The full name of a region of a table.
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
