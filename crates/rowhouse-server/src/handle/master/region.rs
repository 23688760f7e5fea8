//! Regions split and merged.

use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result};

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
    let full = |region| match RegionRef::from_proto(region) {
        RegionRef::Full(name) => Ok(name),
        name => match store.find_region_by_encoded_name(name.encoded_name()?) {
            Some(region) => Ok(region.name().full.clone()),
            None => Err(Error::new(ErrorKind::UnknownRegion, name.to_string())),
        },
    };
    let names = request.region.into_iter().map(full).collect::<Result<Vec<_>>>()?;
    let names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
    store.merge_regions(&names)?;
    Ok(proto::MergeTableRegionsResponse { proc_id: procedure::done() })
}
