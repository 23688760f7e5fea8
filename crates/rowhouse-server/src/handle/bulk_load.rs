//! Loads HFiles that a client has written on this machine into a region, for HBase's
//! `BulkLoadHFilesTool`. The files stay at their path even if the client does not ask for a copy.
//! HBase does the same on a local file system and moves files only on HDFS.

use std::path::PathBuf;
use std::sync::Arc;

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::{Bytes, Error, Result};
use rowhouse_store::{Region, Store};

use crate::bulk_loads::FamilyPaths;
use crate::cluster::ServedRegion;
use crate::context::Context;

pub(crate) fn prepare(
    context: &Context,
    request: proto::PrepareBulkLoadRequest,
) -> Result<proto::PrepareBulkLoadResponse> {
    let table = names::table_from_proto(request.table_name)?;
    if let Some(region) = request.region {
        stored(context, region)?;
    }
    // The client's folder must not be created in what has taken the data directory's place.
    context.cluster.store.check_writable()?;
    Ok(proto::PrepareBulkLoadResponse { bulk_token: context.cluster.bulk_loads.prepare(&table)? })
}

pub(crate) fn clean_up(
    context: &Context,
    request: proto::CleanupBulkLoadRequest,
) -> Result<proto::CleanupBulkLoadResponse> {
    context.cluster.bulk_loads.clean_up(&request.bulk_token)?;
    Ok(proto::CleanupBulkLoadResponse {})
}

pub(crate) fn load(
    context: &Context,
    request: proto::BulkLoadHFileRequest,
) -> Result<proto::BulkLoadHFileResponse> {
    // A load that this cluster passed on to another cluster has come back.
    if request.cluster_ids.contains(&context.cluster.id) {
        return Ok(proto::BulkLoadHFileResponse { loaded: true });
    }
    // With this flag off HBase keeps the sequence numbers stored in the files.
    if request.assign_seq_num == Some(false) {
        return Err(Error::unsupported(
            "loading HFiles with their own sequence numbers is not supported",
        ));
    }
    let files: FamilyPaths =
        request.family_path.into_iter().map(|file| (file.family, file.path)).collect();
    let region = request.region;
    let load = || {
        let region = stored(context, region)?;
        load_files(context, &region, &files)
    };
    let loaded = match &request.bulk_token {
        Some(token) => context.cluster.bulk_loads.find(token)?.once(&files, load)?,
        None => load()?,
    };
    Ok(proto::BulkLoadHFileResponse { loaded })
}

/// Loads the files and returns `true`, or returns `false` if any row in them is outside the region.
fn load_files(context: &Context, region: &Arc<Region>, files: &FamilyPaths) -> Result<bool> {
    let local_files = files
        .iter()
        .map(|(family, path)| Ok((family.clone(), context.cluster.bulk_loads.local_file(path)?)));
    let local_files = local_files.collect::<Result<Vec<(Bytes, PathBuf)>>>()?;
    let Some(report) = context.cluster.store.bulk_load_region(region, &local_files)? else {
        tracing::info!(region = %region.name(), files = local_files.len(), "HFiles do not fit a region");
        return Ok(false);
    };
    let files = report.files;
    let cells = report.cells;
    tracing::info!(region = %region.name(), files, cells, "HFiles loaded");
    Ok(true)
}

fn stored(context: &Context, region: proto::RegionSpecifier) -> Result<Arc<Region>> {
    match context.cluster.region(&context.server, &RegionRef::from_proto(region))? {
        ServedRegion::Stored(region) => Ok(region),
        ServedRegion::System(table, _) => Err(Store::refuse_write(&table)),
    }
}
