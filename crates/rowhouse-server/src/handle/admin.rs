//! Region server calls about regions.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_model::{Bytes, CompactionState, Error, RegionInfo, Result, RowRange, TableName};
use rowhouse_store::CompactionKind;

use super::master::status::region_loads;
use crate::cluster::ServedRegion;
use crate::context::Context;

pub(crate) fn region_info(
    context: &Context,
    request: proto::GetRegionInfoRequest,
) -> Result<proto::GetRegionInfoResponse> {
    let name = RegionRef::from_proto(request.region);
    let state_requested = request.compaction_state.unwrap_or(false);
    if let Some(mob) = mob_region(context, &name) {
        // MOB values are in the regions' files.
        let state = region::compaction_state_to_proto(CompactionState::None).into();
        return Ok(proto::GetRegionInfoResponse {
            region_info: region::to_proto(&mob),
            compaction_state: state_requested.then_some(state),
            ..Default::default()
        });
    }
    let info = context.cluster.region_info(&context.server, &name)?;
    let (state, stored) = match context.cluster.region(&context.server, &name)? {
        ServedRegion::Stored(region) => (region.compaction_state(), Some(region)),
        ServedRegion::System(..) => (CompactionState::None, None),
    };
    let split_row_requested = request.best_split_row.unwrap_or(false);
    let best_split_row = match stored.as_ref().filter(|_| split_row_requested) {
        Some(region) => {
            let table = context.cluster.store.table(&info.table)?;
            region.split_row(table.descriptor())?
        }
        None => None,
    };
    Ok(proto::GetRegionInfoResponse {
        region_info: region::to_proto(&info),
        compaction_state: state_requested.then(|| region::compaction_state_to_proto(state).into()),
        splittable: Some(stored.is_some()),
        mergeable: Some(stored.is_some()),
        best_split_row,
    })
}

/// Returns the region by whose name clients ask the master about a table's MOB files, as they do in
/// `Admin.getCompactionState` with `CompactType.MOB`. No server serves it.
fn mob_region(context: &Context, name: &RegionRef) -> Option<RegionInfo> {
    let RegionRef::Full(name) = name else { return None };
    let is_master = Arc::ptr_eq(&context.server, &context.cluster.master);
    let end = name.windows(2).position(|bytes| bytes == b",.").filter(|_| is_master)?;
    let table = TableName::parse(std::str::from_utf8(&name[..end]).ok()?).ok()?;
    let range = RowRange { start: Bytes::from_static(MOB_REGION), stop: Bytes::new() };
    Some(RegionInfo::new(table, range, 0)).filter(|mob| mob.name().full == *name)
}

/// The first row in [`mob_region`].
const MOB_REGION: &[u8] = b".mob";

pub(crate) fn online_regions(
    context: &Context,
    _: proto::GetOnlineRegionRequest,
) -> Result<proto::GetOnlineRegionResponse> {
    let regions = context.cluster.regions_of(&context.server);
    let region_info = regions.iter().map(region::to_proto).collect();
    Ok(proto::GetOnlineRegionResponse { region_info })
}

pub(crate) fn server_info(
    context: &Context,
    _: proto::GetServerInfoRequest,
) -> Result<proto::GetServerInfoResponse> {
    let server_name = names::server_to_proto(&context.server.name);
    let server_info = proto::ServerInfo { server_name, webui_port: None };
    Ok(proto::GetServerInfoResponse { server_info })
}

pub(crate) fn region_load(
    context: &Context,
    request: proto::GetRegionLoadRequest,
) -> Result<proto::GetRegionLoadResponse> {
    let table = request.table_name.map(names::table_from_proto).transpose()?;
    let is_selected = |name: &TableName| table.as_ref().is_none_or(|table| table == name);
    let region_loads = region_loads(context, &context.server, is_selected);
    Ok(proto::GetRegionLoadResponse { region_loads })
}

pub(crate) fn flush_region(
    context: &Context,
    request: proto::FlushRegionRequest,
) -> Result<proto::FlushRegionResponse> {
    if let ServedRegion::Stored(region) = find(context, request.region)? {
        match &request.family {
            Some(family) => region.flush_family(family)?,
            None => region.flush()?,
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(proto::FlushRegionResponse {
        last_flush_time: u64::try_from(now.as_millis()).unwrap_or_default(),
        flushed: Some(true),
        wrote_flush_wal_marker: Some(false),
    })
}

/// Requests a compaction and returns without waiting for it, as HBase does: clients poll the
/// compaction state.
pub(crate) fn compact_region(
    context: &Context,
    request: proto::CompactRegionRequest,
) -> Result<proto::CompactRegionResponse> {
    let name = RegionRef::from_proto(request.region.clone());
    if let Some(mob) = mob_region(context, &name) {
        return Err(Error::unsupported(format!(
            "there are no MOB files to compact, the values are in the files of the table: table={}",
            mob.table
        )));
    }
    if let ServedRegion::Stored(region) = find(context, request.region)? {
        let kind = match request.major {
            Some(true) => CompactionKind::Major,
            _ => CompactionKind::Minor,
        };
        region.request_compaction(kind, request.family.as_deref())?;
    }
    Ok(proto::CompactRegionResponse {})
}

/// Returns a region's files, as paths in the data directory.
pub(crate) fn store_files(
    context: &Context,
    request: proto::GetStoreFileRequest,
) -> Result<proto::GetStoreFileResponse> {
    let store_file = match find(context, request.region)? {
        ServedRegion::Stored(region) => region.file_paths(&request.family)?,
        ServedRegion::System(..) => Vec::new(),
    };
    Ok(proto::GetStoreFileResponse { store_file })
}

/// Does nothing: files are opened on their first read.
pub(crate) fn warm_up_region(
    _: &Context,
    request: proto::WarmupRegionRequest,
) -> Result<proto::WarmupRegionResponse> {
    region::from_proto(request.region_info)?;
    Ok(proto::WarmupRegionResponse {})
}

fn find(context: &Context, name: proto::RegionSpecifier) -> Result<ServedRegion> {
    context.cluster.region(&context.server, &RegionRef::from_proto(name))
}
