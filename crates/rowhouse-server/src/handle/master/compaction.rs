//! Last major compaction times.

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::Result;

use super::region;
use crate::context::Context;

/// Returns the oldest last major compaction time among a table's regions; 0 if a region never had
/// one, and for an unknown table.
pub(crate) fn of_table(
    context: &Context,
    request: proto::MajorCompactionTimestampRequest,
) -> Result<proto::MajorCompactionTimestampResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let table = context.cluster.store.table(&name).ok();
    let regions = table.iter().flat_map(|table| table.regions());
    let times = regions.map(|region| region.last_major_compaction().unwrap_or(0));
    let compaction_timestamp = times.min().unwrap_or(0);
    Ok(proto::MajorCompactionTimestampResponse { compaction_timestamp })
}

/// Returns a region's last major compaction time; 0 for an unknown region.
pub(crate) fn of_region(
    context: &Context,
    request: proto::MajorCompactionTimestampForRegionRequest,
) -> Result<proto::MajorCompactionTimestampResponse> {
    let region = region::find(context, &RegionRef::from_proto(request.region))?;
    let time = region.and_then(|region| region.last_major_compaction());
    Ok(proto::MajorCompactionTimestampResponse { compaction_timestamp: time.unwrap_or(0) })
}
