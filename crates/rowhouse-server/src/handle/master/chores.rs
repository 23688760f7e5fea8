//! A master's periodic chores. They have nothing to do here: splits, merges and drops clean up
//! before their calls return, and files are deleted when their last reader ends.

use rowhouse_format::proto;
use rowhouse_model::Result;

use crate::context::Context;

pub(crate) fn run_catalog_scan(
    _: &Context,
    _: proto::RunCatalogScanRequest,
) -> Result<proto::RunCatalogScanResponse> {
    Ok(proto::RunCatalogScanResponse { scan_result: Some(0) })
}

pub(crate) fn set_catalog_janitor(
    context: &Context,
    request: proto::EnableCatalogJanitorRequest,
) -> Result<proto::EnableCatalogJanitorResponse> {
    let before = context.cluster.maintenance.catalog_janitor.set(request.enable);
    Ok(proto::EnableCatalogJanitorResponse { prev_value: Some(before) })
}

pub(crate) fn catalog_janitor(
    context: &Context,
    _: proto::IsCatalogJanitorEnabledRequest,
) -> Result<proto::IsCatalogJanitorEnabledResponse> {
    let value = context.cluster.maintenance.catalog_janitor.is_on();
    Ok(proto::IsCatalogJanitorEnabledResponse { value })
}

/// Runs the cleaner, even if it is switched off, as in HBase.
pub(crate) fn run_cleaner(
    _: &Context,
    _: proto::RunCleanerChoreRequest,
) -> Result<proto::RunCleanerChoreResponse> {
    Ok(proto::RunCleanerChoreResponse { cleaner_chore_ran: true })
}

pub(crate) fn set_cleaner(
    context: &Context,
    request: proto::SetCleanerChoreRunningRequest,
) -> Result<proto::SetCleanerChoreRunningResponse> {
    let before = context.cluster.maintenance.cleaner.set(request.on);
    Ok(proto::SetCleanerChoreRunningResponse { prev_value: Some(before) })
}

pub(crate) fn cleaner(
    context: &Context,
    _: proto::IsCleanerChoreEnabledRequest,
) -> Result<proto::IsCleanerChoreEnabledResponse> {
    let value = context.cluster.maintenance.cleaner.is_on();
    Ok(proto::IsCleanerChoreEnabledResponse { value })
}

/// Does nothing: every catalog change is in the manifest when the call returns.
pub(crate) fn flush_master_store(
    _: &Context,
    _: proto::FlushMasterStoreRequest,
) -> Result<proto::FlushMasterStoreResponse> {
    Ok(proto::FlushMasterStoreResponse {})
}
