//! Routes each request to the handler. The match over methods has no wildcard, so it lists every
//! supported method.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use rowhouse_format::rpc::{Call, Method, Request};
use rowhouse_model::{Error, ErrorKind, Result};

use crate::answer::{PendingCall, Routed, account, try_here};
use crate::call::{CallContext, Client};
use crate::context::Context;
use crate::handle::{
    admin, bulk_load, endpoint, get, hbck, master, multi, mutate, registry, replicate, scan,
    server, slow_log,
};
use crate::memory::Reserved;

/// Answers a call that arrived at `arrived`, or returns the rest for a worker thread.
pub(crate) fn answer(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    memory: Option<Reserved>,
    arrived: Instant,
    out: &mut BytesMut,
) -> Option<PendingCall> {
    // A killed server's connections are cut.
    let _running = context.server.begin_call()?;
    context.server.requests.count();
    let call_context = CallContext::new(Arc::clone(context), client, request, memory, arrived);
    if context.server.is_stopping() {
        let stopping = Error::new(ErrorKind::ServerNotRunning, "the server is stopping");
        call_context.refuse(out, &stopping);
        return None;
    }
    let written = out.len();
    match route(&call_context, out) {
        Ok(Routed::Answered) => account(&call_context, out.len() - written),
        Ok(Routed::Pending { work, is_started }) => {
            return Some(PendingCall { call_context, work, is_started });
        }
        Err(error) => call_context.refuse(out, &error),
    }
    None
}

/// Answers with the result of `handle`, on the connection's task.
fn short<M: Call>(
    call_context: &CallContext,
    out: &mut BytesMut,
    handle: impl FnOnce(&Context, M) -> Result<M::Answer>,
) -> Result<Routed> {
    let message = call_context.message::<M>()?;
    call_context.reply(out, &handle(&call_context.context, message)?)?;
    Ok(Routed::Answered)
}

/// As [`short`], on a worker thread.
fn long<M: Call + 'static>(
    handle: impl FnOnce(&Context, M) -> Result<M::Answer> + Send + 'static,
) -> Result<Routed> {
    Ok(Routed::to_worker(move |call_context, out| short(call_context, out, handle).map(drop)))
}

/// Answers with a message that has no field set.
fn empty(call_context: &CallContext, out: &mut BytesMut) -> Result<Routed> {
    call_context.reply(out, &())?;
    Ok(Routed::Answered)
}

/// Returns HBase's error for a feature that is not configured, with HBase's text.
fn not_configured<T>(what: &str) -> Result<T> {
    Err(Error::unsupported(format!("java.lang.UnsupportedOperationException: {what}")))
}

/// How HBase refuses calls about user permissions.
const NO_ACCESS_CONTROL: &str =
    "org.apache.hadoop.hbase.security.access.AccessController is not loaded";

fn route(call: &CallContext, out: &mut BytesMut) -> Result<Routed> {
    match call.request.method {
        // Data.
        Method::Get => try_here::<get::GetCall>(call, out),
        Method::Mutate => try_here::<mutate::Mutate>(call, out),
        Method::Scan => try_here::<scan::Scan>(call, out),
        Method::Multi => try_here::<multi::Multi>(call, out),

        Method::PrepareBulkLoad => long(bulk_load::prepare),
        Method::BulkLoadHFile => long(bulk_load::load),
        Method::CleanupBulkLoad => long(bulk_load::clean_up),

        // Cluster discovery.
        Method::GetClusterId => short(call, out, registry::cluster_id),
        Method::GetActiveMaster => short(call, out, registry::active_master),
        Method::GetMasters => short(call, out, registry::masters),
        Method::GetMetaRegionLocations => short(call, out, registry::meta_locations),
        Method::GetBootstrapNodes => short(call, out, registry::bootstrap_nodes),

        // The master.
        Method::IsMasterRunning => short(call, out, master::status::is_running),
        Method::GetProcedureResult => short(call, out, master::procedure::result),
        Method::GetClusterStatus => short(call, out, master::status::cluster_status),
        Method::GetSecurityCapabilities => short(call, out, master::status::security),
        Method::IsBalancerEnabled => short(call, out, master::switches::balancer),
        Method::SetBalancerRunning => short(call, out, master::switches::set_balancer),
        Method::Balance => long(master::switches::balance),
        Method::SetSplitOrMergeEnabled => long(master::switches::set),
        Method::IsSplitOrMergeEnabled => short(call, out, master::switches::is_on),
        Method::SwitchSnapshotCleanup => long(master::switches::set_snapshot_cleanup),
        Method::IsSnapshotCleanupEnabled => short(call, out, master::switches::snapshot_cleanup),
        Method::Normalize => short(call, out, master::switches::normalize),
        Method::SetNormalizerRunning => long(master::switches::set_normalizer),
        Method::IsNormalizerEnabled => short(call, out, master::switches::normalizer),
        Method::RunCatalogScan => short(call, out, master::chores::run_catalog_scan),
        Method::EnableCatalogJanitor => short(call, out, master::chores::set_catalog_janitor),
        Method::IsCatalogJanitorEnabled => short(call, out, master::chores::catalog_janitor),
        Method::RunCleanerChore => short(call, out, master::chores::run_cleaner),
        Method::SetCleanerChoreRunning => short(call, out, master::chores::set_cleaner),
        Method::IsCleanerChoreEnabled => short(call, out, master::chores::cleaner),
        Method::FlushMasterStore => short(call, out, master::chores::flush_master_store),
        Method::Shutdown => short(call, out, master::servers::shutdown),
        Method::StopMaster => short(call, out, master::servers::stop_master),
        Method::ListDecommissionedRegionServers => {
            short(call, out, master::servers::decommissioned)
        }
        Method::DecommissionRegionServers => long(master::servers::decommission),
        Method::RecommissionRegionServer => long(master::servers::recommission),
        Method::ClearDeadServers => short(call, out, master::servers::clear_dead),
        Method::GetMasterLogEntries => slow_log::balancer_entries(call, out),
        Method::AbortProcedure => short(call, out, master::procedure::abort),
        // Procedures finish before their calls return, and no lock outlives a call.
        Method::GetProcedures | Method::GetLocks => empty(call, out),
        Method::SetQuota => not_configured("quota support disabled"),
        Method::GetQuotaStates | Method::GetSpaceQuotaRegionSizes => empty(call, out),
        Method::SwitchRpcThrottle => short(call, out, master::quota::switch_rpc_throttle),
        Method::IsRpcThrottleEnabled => short(call, out, master::quota::rpc_throttle),
        Method::SwitchExceedThrottleQuota => {
            short(call, out, master::quota::switch_exceed_throttle)
        }
        Method::Grant
        | Method::Revoke
        | Method::GetUserPermissions
        | Method::HasUserPermissions => not_configured(NO_ACCESS_CONTROL),
        Method::ListReplicationPeers => short(call, out, master::replication::list),
        Method::GetReplicationPeerConfig => short(call, out, master::replication::config),
        Method::IsReplicationPeerEnabled => short(call, out, master::replication::state),
        Method::RemoveReplicationPeer => short(call, out, master::replication::remove),
        Method::EnableReplicationPeer => short(call, out, master::replication::enable),
        Method::DisableReplicationPeer => short(call, out, master::replication::disable),
        Method::AddReplicationPeer | Method::UpdateReplicationPeerConfig => {
            call.refused("there is no replication")
        }
        Method::ReplicationPeerModificationSwitch => long(master::replication::set_modification),
        Method::IsReplicationPeerModificationEnabled => {
            short(call, out, master::replication::modification)
        }
        Method::GetReplicationPeerModificationProcedures => empty(call, out),
        Method::IsMasterInMaintenanceMode => short(call, out, master::status::maintenance),
        Method::CreateTable => long(master::table::create),
        Method::ModifyTable => long(master::table::modify),
        Method::AddColumn => long(master::table::add_family),
        Method::ModifyColumn => long(master::table::modify_family),
        Method::DeleteColumn => long(master::table::delete_family),
        Method::GetSchemaAlterStatus => short(call, out, master::table::alter_status),
        Method::ModifyTableStoreFileTracker => long(master::tracker::modify_table),
        Method::ModifyColumnStoreFileTracker => long(master::tracker::modify_family),
        Method::TruncateTable => long(master::table::truncate),
        Method::TruncateRegion => long(master::region::truncate),
        Method::OfflineRegion => long(master::region::offline),
        Method::GetLastMajorCompactionTimestamp => short(call, out, master::compaction::of_table),
        Method::GetLastMajorCompactionTimestampForRegion => {
            short(call, out, master::compaction::of_region)
        }
        Method::SplitRegion => long(master::region::split),
        Method::MergeTableRegions => long(master::region::merge),
        Method::MoveRegion => long(master::region::move_to),
        Method::AssignRegion => long(master::region::assign),
        Method::UnassignRegion => long(master::region::unassign),
        Method::DeleteTable => long(master::table::delete),
        Method::EnableTable => long(master::table::enable),
        Method::DisableTable => long(master::table::disable),
        Method::FlushTable => long(master::table::flush),
        Method::GetTableDescriptors => short(call, out, master::list::descriptors),
        Method::ListTableDescriptorsByState => short(call, out, master::list::descriptors_by_state),
        Method::ListTableDescriptorsByNamespace => {
            short(call, out, master::list::descriptors_by_namespace)
        }
        Method::GetTableNames => short(call, out, master::list::names),
        Method::ListTableNamesByState => short(call, out, master::list::names_by_state),
        Method::ListTableNamesByNamespace => short(call, out, master::list::names_by_namespace),
        Method::GetTableState => short(call, out, master::list::state),
        Method::Snapshot => long(master::snapshot::take),
        Method::GetCompletedSnapshots => short(call, out, master::snapshot::list),
        Method::DeleteSnapshot => long(master::snapshot::delete),
        Method::IsSnapshotDone => short(call, out, master::snapshot::is_done),
        Method::RestoreSnapshot => long(master::snapshot::restore),
        Method::ExecProcedure => long(master::procedure::exec),
        Method::ExecProcedureWithRet => Ok(Routed::to_worker(master::procedure::exec_with_answer)),
        Method::IsProcedureDone => short(call, out, master::procedure::is_done),
        Method::CreateNamespace => long(master::namespace::create),
        Method::ModifyNamespace => long(master::namespace::modify),
        Method::DeleteNamespace => long(master::namespace::delete),
        Method::GetNamespaceDescriptor => short(call, out, master::namespace::get),
        Method::ListNamespaces => short(call, out, master::namespace::names),
        Method::ListNamespaceDescriptors => short(call, out, master::namespace::list),

        // A region server's regions.
        Method::GetRegionInfo => long(admin::region_info),
        Method::GetOnlineRegion => short(call, out, admin::online_regions),
        Method::GetServerInfo => short(call, out, admin::server_info),
        Method::GetRegionLoad => short(call, out, admin::region_load),
        Method::FlushRegion => long(admin::flush_region),
        Method::CompactRegion => short(call, out, admin::compact_region),

        Method::GetStoreFile => short(call, out, admin::store_files),
        Method::WarmupRegion => short(call, out, admin::warm_up_region),
        Method::CompactionSwitch => short(call, out, server::switch_compactions),
        Method::ClearCompactionQueues => short(call, out, server::clear_compaction_queues),
        Method::ClearRegionBlockCache => long(server::clear_block_cache),
        Method::RollWALWriter => long(server::roll_log),
        Method::StopServer => long(server::stop),
        Method::UpdateConfiguration => short(call, out, server::update_configuration),
        Method::GetSlowLogResponses | Method::GetLargeLogResponses => {
            slow_log::responses(call, out)
        }
        Method::ClearSlowLogsResponses => short(call, out, slow_log::clear),
        Method::GetServerLogEntries => slow_log::entries(call, out),
        // There are no caches that outlive the process and no space quotas.
        Method::GetCachedFilesList | Method::GetSpaceQuotaSnapshots => empty(call, out),

        // Repairs.
        Method::RunHbckChore => short(call, out, hbck::run_chore),
        Method::Assigns => long(hbck::assign),
        Method::Unassigns => long(hbck::unassign),
        Method::BypassProcedure => short(call, out, hbck::bypass),
        Method::ScheduleServerCrashProcedure => short(call, out, hbck::server_crashed),
        Method::ScheduleSCPsForUnknownServers => short(call, out, hbck::unknown_servers),
        Method::FixMeta => short(call, out, hbck::fix_meta),
        Method::SetTableStateInMeta | Method::SetRegionStateInMeta => {
            call.refused("hbase:meta is synthesized from the manifest")
        }

        Method::ExecService => Ok(Routed::to_worker(endpoint::exec)),
        Method::ExecRegionServerService | Method::ExecMasterService => {
            call.refused("only regions have coprocessors")
        }
        Method::OpenRegion | Method::CloseRegion | Method::ExecuteProcedures => {
            call.refused("there is no master in another process")
        }
        Method::UpdateFavoredNodes => call.refused("files are on one machine"),
        Method::ReplicateWALEntry => try_here::<replicate::Replicate>(call, out),
        Method::Replay => call.refused("a region has no replicas"),
    }
}
