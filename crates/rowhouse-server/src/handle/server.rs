//! Region server calls that concern the whole server.

use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_model::{Error, Result};

use crate::cluster::ServedRegion;
use crate::context::Context;

/// Turns compactions on or off until the server restarts; returns the previous state.
pub(crate) fn switch_compactions(
    context: &Context,
    request: proto::CompactionSwitchRequest,
) -> Result<proto::CompactionSwitchResponse> {
    let prev_state = context.cluster.store.set_compactions(request.enabled);
    Ok(proto::CompactionSwitchResponse { prev_state })
}

pub(crate) fn clear_compaction_queues(
    context: &Context,
    request: proto::ClearCompactionQueuesRequest,
) -> Result<proto::ClearCompactionQueuesResponse> {
    let large = request.queue_name.iter().map(|name| match &**name {
        "long" => Ok(true),
        "short" => Ok(false),
        _ => Err(Error::invalid(format!("Unknown queue name {name}"))),
    });
    for large in large.collect::<Result<Vec<_>>>()? {
        context.cluster.store.forget_requested_compactions(large);
    }
    Ok(proto::ClearCompactionQueuesResponse {})
}

/// Evicts regions' blocks from the block cache; returns how many, and the regions that are not on
/// this server.
pub(crate) fn clear_block_cache(
    context: &Context,
    request: proto::ClearRegionBlockCacheRequest,
) -> Result<proto::ClearRegionBlockCacheResponse> {
    let mut blocks = 0;
    let mut bytes = 0;
    let mut exception = Vec::new();
    for region in request.region {
        let name = RegionRef::from_proto(region.clone());
        match context.cluster.region(&context.server, &name) {
            Ok(ServedRegion::Stored(stored)) => {
                let evicted = stored.clear_block_cache();
                blocks += evicted.blocks;
                bytes += evicted.bytes;
            }
            Ok(ServedRegion::System(..)) => {}
            Err(error) => exception.push(proto::RegionExceptionMessage {
                region,
                exception: Exception::from(&error).to_pair(),
            }),
        }
    }
    let (_, bytes_max) = context.cluster.store.block_cache_bytes();
    let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
    let stats = proto::CacheEvictionStats {
        evicted_blocks: number(blocks),
        bytes_evicted: number(bytes),
        max_cache_size: number(bytes_max),
        exception,
    };
    Ok(proto::ClearRegionBlockCacheResponse { stats })
}

/// Starts a new log segment.
pub(crate) fn roll_log(
    context: &Context,
    _: proto::RollWalWriterRequest,
) -> Result<proto::RollWalWriterResponse> {
    context.cluster.store.roll_log()?;
    Ok(proto::RollWalWriterResponse { region_to_flush: Vec::new() })
}

/// Stops the region server; the last one ends with the process.
pub(crate) fn stop(
    context: &Context,
    request: proto::StopServerRequest,
) -> Result<proto::StopServerResponse> {
    context.cluster.end_for_client(&context.server, &request.reason)?;
    Ok(proto::StopServerResponse {})
}

/// Does nothing: there is no configuration file to reload.
pub(crate) fn update_configuration(
    _: &Context,
    _: proto::UpdateConfigurationRequest,
) -> Result<proto::UpdateConfigurationResponse> {
    Ok(proto::UpdateConfigurationResponse {})
}
