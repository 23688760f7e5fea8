//! Routes each request to its handler. The match over methods has no wildcard, so it lists every
//! supported method.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use prost::Message;
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Call, CellCodec, Method, Request};
use rowhouse_model::{Error, ErrorKind, KeyValue, Result};

use crate::handle::{
    admin, bulk_load, endpoint, get, hbck, master, multi, mutate, registry, scan, server, slow_log,
};
use crate::limits::{
    CLIENT_WAIT_MIN, SCAN_ANSWER_WAIT, SCAN_ANSWER_WAIT_MIN, SHORT_CALL_BYTES, SHORT_CALL_WAIT,
};
use crate::server::Context;

/// The properties of a client that answers depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// The encoding of cell blocks; without one, cells are written inside the messages.
    pub(crate) codec: Option<CellCodec>,
    /// The HBase release that the client announces, as (major, minor).
    pub(crate) release: Option<(u32, u32)>,
    pub(crate) caller: Arc<Caller>,
}

impl Client {
    /// Returns whether the client announces this HBase release or a newer one. A client that
    /// announces none counts as older.
    pub(crate) fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.release.is_some_and(|release| release >= (major, minor))
    }
}

/// The remote end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    /// `host:port`.
    pub(crate) address: String,
    /// The user name that the client claims, unverified.
    pub(crate) user: String,
}

/// A call with everything that answering it needs.
pub(crate) struct CallContext {
    pub(crate) context: Context,
    pub(crate) request: Request,
    pub(crate) client: Client,
    /// When the call arrived.
    pub(crate) arrived: Instant,
    /// When its processing started.
    begun: Instant,
}

/// The result of routing a call.
pub(crate) enum Done {
    /// The answer is written.
    Answered,
    /// The call may take long or block; no work is done yet.
    Long(Work),
    /// The call has taken long; the closure does the remaining work.
    Begun(Work),
}

/// The part of a call that runs on a worker thread.
pub(crate) type Work = Box<dyn FnOnce(&CallContext, &mut BytesMut) -> Result<()> + Send>;

/// A call that may take long, to run on a worker thread.
pub(crate) struct LongCall {
    call_context: CallContext,
    work: Work,
    is_begun: bool,
}

impl LongCall {
    /// Runs the call and writes its answer. If the client's timeout has passed before the call
    /// starts, the call is dropped without an answer, as on HBase.
    pub(crate) fn run(self, out: &mut BytesMut) {
        let Self { mut call_context, work, is_begun } = self;
        if !is_begun {
            call_context.begun = Instant::now();
        }
        if !is_begun && call_context.is_expired() {
            let (method, timeout) = (call_context.request.method, call_context.request.timeout_ms);
            tracing::warn!(?method, timeout, "a call was dropped after its client's timeout");
            return;
        }
        match work(&call_context, out) {
            Ok(()) => call_context.finish(out.len()),
            Err(error) => call_context.refuse(out, &error),
        }
    }
}

/// Answers a call, or returns the remaining work if it may take long.
pub(crate) fn answer(
    context: &Context,
    client: Client,
    request: Request,
    out: &mut BytesMut,
) -> Option<LongCall> {
    let arrived = Instant::now();
    context.server.requests.count();
    let call_context =
        CallContext { context: context.clone(), request, client, arrived, begun: arrived };
    if *context.stop.borrow() {
        call_context
            .refuse(out, &Error::new(ErrorKind::ServerNotRunning, "the server is stopping"));
        return None;
    }
    let written = out.len();
    match route(&call_context, out) {
        Ok(Done::Answered) => {
            call_context.finish(out.len() - written);
            None
        }
        Ok(Done::Long(work)) => Some(LongCall { call_context, work, is_begun: false }),
        Ok(Done::Begun(work)) => Some(LongCall { call_context, work, is_begun: true }),
        Err(error) => {
            call_context.refuse(out, &error);
            None
        }
    }
}

impl CallContext {
    /// Returns the client's timeout for the answer, if it sent one.
    fn client_timeout(&self) -> Option<Duration> {
        let millis = u64::from(self.request.timeout_ms?);
        Some(Duration::from_millis(millis).max(CLIENT_WAIT_MIN))
    }

    /// Returns whether the client's timeout has passed.
    fn is_expired(&self) -> bool {
        self.client_timeout().is_some_and(|client_timeout| self.arrived.elapsed() > client_timeout)
    }

    /// Returns how long the call waited and how long it has been processed.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        (self.begun - self.arrived, self.begun.elapsed())
    }

    /// Returns the deadline of a scan that starts reading now: after half of the client's timeout
    /// it answers with a heartbeat.
    pub(crate) fn heartbeat_deadline(&self) -> Instant {
        let half =
            self.client_timeout().map_or(SCAN_ANSWER_WAIT, |client_timeout| client_timeout / 2);
        let until = self.arrived + half.min(SCAN_ANSWER_WAIT);
        // The minimum lets scans that waited long for a thread still read rows.
        until.max(Instant::now() + SCAN_ANSWER_WAIT_MIN)
    }

    /// Returns when the call has run too long on the connection's task and moves to a worker
    /// thread.
    pub(crate) fn pause(&self) -> Instant {
        self.arrived + SHORT_CALL_WAIT
    }

    /// Returns whether the request is small enough to be tried on the connection's task.
    pub(crate) fn is_small(&self) -> bool {
        self.request.message.len() + self.request.cells.len() <= SHORT_CALL_BYTES
    }

    /// Decodes the request's message.
    pub(crate) fn message<M: Message + Default>(&self) -> Result<M> {
        self.request.message()
    }

    /// Returns where the answer's cells are written.
    pub(crate) fn cells_in(&self) -> CellPlacement {
        if self.client.codec.is_some() { CellPlacement::Block } else { CellPlacement::Message }
    }

    /// Writes the answer.
    pub(crate) fn reply(&self, out: &mut BytesMut, message: &impl Message) -> Result<()> {
        self.reply_with(out, message, [])
    }

    /// Writes the answer, followed by its cells if the connection has a codec.
    pub(crate) fn reply_with<'a>(
        &self,
        out: &mut BytesMut,
        message: &impl Message,
        cells: impl IntoIterator<Item = KeyValue<'a>, IntoIter: Clone>,
    ) -> Result<()> {
        let call_id = self.request.call_id;
        match self.client.codec {
            Some(codec) => rpc::encode_response(out, call_id, message, codec, cells),
            None => rpc::encode_response(out, call_id, message, CellCodec::default(), []),
        }
    }

    /// Counts a call that was answered with so many bytes, and logs it where it was slow or large.
    fn finish(&self, bytes: usize) {
        self.count(false);
        slow_log::note(self, bytes);
    }

    fn count(&self, is_error: bool) {
        let calls = &self.context.server.calls;
        calls.count(self.request.method, self.arrived.elapsed(), is_error);
    }

    fn refuse(&self, out: &mut BytesMut, error: &Error) {
        self.count(true);
        let method = self.request.method;
        match error.kind() {
            ErrorKind::Io | ErrorKind::Corruption | ErrorKind::OutcomeUnknown => {
                tracing::error!(?method, %error, "a call failed");
            }
            _ => tracing::debug!(?method, %error, "a call was refused"),
        }
        rpc::encode_exception(out, self.request.call_id, &Exception::from(error));
    }

    /// Returns the error of a method that is never supported, with the reason.
    fn refused<T>(&self, why: &str) -> Result<T> {
        let method = self.request.method;
        let name = format!("{}.{}", method.service().name(), method.name());
        Err(Error::unsupported(format!("{name} is not supported: {why}")))
    }
}

/// Answers with the result of `handle`, on the connection's task.
fn short<M: Call>(
    call_context: &CallContext,
    out: &mut BytesMut,
    handle: impl FnOnce(&Context, M) -> Result<M::Answer>,
) -> Result<Done> {
    let message = call_context.message::<M>()?;
    call_context.reply(out, &handle(&call_context.context, message)?)?;
    Ok(Done::Answered)
}

/// As [`short`], on a worker thread.
fn long<M: Call + 'static>(
    handle: impl FnOnce(&Context, M) -> Result<M::Answer> + Send + 'static,
) -> Result<Done> {
    Ok(Done::Long(Box::new(move |call_context, out| short(call_context, out, handle).map(|_| ()))))
}

/// Answers with a message that has no field set.
fn empty(call_context: &CallContext, out: &mut BytesMut) -> Result<Done> {
    call_context.reply(out, &())?;
    Ok(Done::Answered)
}

/// Returns HBase's error for a feature that is not configured, with HBase's text.
fn not_configured<T>(what: &str) -> Result<T> {
    Err(Error::unsupported(format!("java.lang.UnsupportedOperationException: {what}")))
}

/// HBase's refusal of calls about user permissions.
const NO_ACCESS_CONTROL: &str =
    "org.apache.hadoop.hbase.security.access.AccessController is not loaded";

fn route(call_context: &CallContext, out: &mut BytesMut) -> Result<Done> {
    match call_context.request.method {
        // Data.
        Method::Get => get::get(call_context, out),
        Method::Mutate => mutate::mutate(call_context, out),
        Method::Scan => scan::scan(call_context, out),
        Method::Multi => multi::multi(call_context, out),

        Method::PrepareBulkLoad => long(bulk_load::prepare),
        Method::BulkLoadHFile => long(bulk_load::load),
        Method::CleanupBulkLoad => long(bulk_load::clean_up),

        // Cluster discovery.
        Method::GetClusterId => short(call_context, out, registry::cluster_id),
        Method::GetActiveMaster => short(call_context, out, registry::active_master),
        Method::GetMasters => short(call_context, out, registry::masters),
        Method::GetMetaRegionLocations => short(call_context, out, registry::meta_locations),
        Method::GetBootstrapNodes => short(call_context, out, registry::bootstrap_nodes),

        // The master.
        Method::IsMasterRunning => short(call_context, out, master::status::is_running),
        Method::GetProcedureResult => short(call_context, out, master::procedure::result),
        Method::GetClusterStatus => short(call_context, out, master::status::cluster_status),
        Method::GetSecurityCapabilities => short(call_context, out, master::status::security),
        Method::IsBalancerEnabled => short(call_context, out, master::switches::balancer),
        Method::SetBalancerRunning => short(call_context, out, master::switches::set_balancer),
        Method::Balance => short(call_context, out, master::switches::balance),
        Method::SetSplitOrMergeEnabled => long(master::switches::set),
        Method::IsSplitOrMergeEnabled => short(call_context, out, master::switches::is_on),
        Method::SwitchSnapshotCleanup => long(master::switches::set_snapshot_cleanup),
        Method::IsSnapshotCleanupEnabled => {
            short(call_context, out, master::switches::snapshot_cleanup)
        }
        Method::Normalize => short(call_context, out, master::switches::normalize),
        Method::SetNormalizerRunning => long(master::switches::set_normalizer),
        Method::IsNormalizerEnabled => short(call_context, out, master::switches::normalizer),
        Method::RunCatalogScan => short(call_context, out, master::chores::run_catalog_scan),
        Method::EnableCatalogJanitor => {
            short(call_context, out, master::chores::set_catalog_janitor)
        }
        Method::IsCatalogJanitorEnabled => {
            short(call_context, out, master::chores::catalog_janitor)
        }
        Method::RunCleanerChore => short(call_context, out, master::chores::run_cleaner),
        Method::SetCleanerChoreRunning => short(call_context, out, master::chores::set_cleaner),
        Method::IsCleanerChoreEnabled => short(call_context, out, master::chores::cleaner),
        Method::FlushMasterStore => short(call_context, out, master::chores::flush_master_store),
        Method::Shutdown => short(call_context, out, master::servers::shutdown),
        Method::StopMaster => short(call_context, out, master::servers::stop_master),
        Method::ListDecommissionedRegionServers => {
            short(call_context, out, master::servers::decommissioned)
        }
        Method::DecommissionRegionServers => {
            short(call_context, out, master::servers::decommission)
        }
        Method::RecommissionRegionServer => short(call_context, out, master::servers::recommission),
        Method::ClearDeadServers => short(call_context, out, master::servers::clear_dead),
        Method::GetMasterLogEntries => slow_log::balancer_entries(call_context, out),
        Method::AbortProcedure => short(call_context, out, master::procedure::abort),
        // Procedures finish before their calls return, and no lock outlives a call.
        Method::GetProcedures | Method::GetLocks => empty(call_context, out),
        Method::SetQuota => not_configured("quota support disabled"),
        Method::GetQuotaStates | Method::GetSpaceQuotaRegionSizes => empty(call_context, out),
        Method::SwitchRpcThrottle => short(call_context, out, master::quota::switch_rpc_throttle),
        Method::IsRpcThrottleEnabled => short(call_context, out, master::quota::rpc_throttle),
        Method::SwitchExceedThrottleQuota => {
            short(call_context, out, master::quota::switch_exceed_throttle)
        }
        Method::Grant
        | Method::Revoke
        | Method::GetUserPermissions
        | Method::HasUserPermissions => not_configured(NO_ACCESS_CONTROL),
        Method::ListReplicationPeers => short(call_context, out, master::replication::list),
        Method::GetReplicationPeerConfig => short(call_context, out, master::replication::config),
        Method::IsReplicationPeerEnabled => short(call_context, out, master::replication::state),
        Method::RemoveReplicationPeer => short(call_context, out, master::replication::remove),
        Method::EnableReplicationPeer => short(call_context, out, master::replication::enable),
        Method::DisableReplicationPeer => short(call_context, out, master::replication::disable),
        Method::AddReplicationPeer | Method::UpdateReplicationPeerConfig => {
            call_context.refused("there is no replication")
        }
        Method::ReplicationPeerModificationSwitch => long(master::replication::set_modification),
        Method::IsReplicationPeerModificationEnabled => {
            short(call_context, out, master::replication::modification)
        }
        Method::GetReplicationPeerModificationProcedures => empty(call_context, out),
        Method::IsMasterInMaintenanceMode => short(call_context, out, master::status::maintenance),
        Method::CreateTable => long(master::table::create),
        Method::ModifyTable => long(master::table::modify),
        Method::AddColumn => long(master::table::add_family),
        Method::ModifyColumn => long(master::table::modify_family),
        Method::DeleteColumn => long(master::table::delete_family),
        Method::GetSchemaAlterStatus => short(call_context, out, master::table::alter_status),
        Method::ModifyTableStoreFileTracker => long(master::tracker::modify_table),
        Method::ModifyColumnStoreFileTracker => long(master::tracker::modify_family),
        Method::TruncateTable => long(master::table::truncate),
        Method::TruncateRegion => long(master::region::truncate),
        Method::OfflineRegion => long(master::region::offline),
        Method::GetLastMajorCompactionTimestamp => {
            short(call_context, out, master::compaction::of_table)
        }
        Method::GetLastMajorCompactionTimestampForRegion => {
            short(call_context, out, master::compaction::of_region)
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
        Method::GetTableDescriptors => short(call_context, out, master::list::descriptors),
        Method::ListTableDescriptorsByState => {
            short(call_context, out, master::list::descriptors_by_state)
        }
        Method::ListTableDescriptorsByNamespace => {
            short(call_context, out, master::list::descriptors_by_namespace)
        }
        Method::GetTableNames => short(call_context, out, master::list::names),
        Method::ListTableNamesByState => short(call_context, out, master::list::names_by_state),
        Method::ListTableNamesByNamespace => {
            short(call_context, out, master::list::names_by_namespace)
        }
        Method::GetTableState => short(call_context, out, master::list::state),
        Method::Snapshot => long(master::snapshot::take),
        Method::GetCompletedSnapshots => short(call_context, out, master::snapshot::list),
        Method::DeleteSnapshot => long(master::snapshot::delete),
        Method::IsSnapshotDone => short(call_context, out, master::snapshot::is_done),
        Method::RestoreSnapshot => long(master::snapshot::restore),
        Method::ExecProcedure => long(master::procedure::exec),
        Method::IsProcedureDone => short(call_context, out, master::procedure::is_done),
        Method::CreateNamespace => long(master::namespace::create),
        Method::ModifyNamespace => long(master::namespace::modify),
        Method::DeleteNamespace => long(master::namespace::delete),
        Method::GetNamespaceDescriptor => short(call_context, out, master::namespace::get),
        Method::ListNamespaces => short(call_context, out, master::namespace::names),
        Method::ListNamespaceDescriptors => short(call_context, out, master::namespace::list),

        // The regions of a region server.
        Method::GetRegionInfo => long(admin::region_info),
        Method::GetOnlineRegion => short(call_context, out, admin::online_regions),
        Method::GetServerInfo => short(call_context, out, admin::server_info),
        Method::GetRegionLoad => short(call_context, out, admin::region_load),
        Method::FlushRegion => long(admin::flush_region),
        Method::CompactRegion => short(call_context, out, admin::compact_region),

        Method::GetStoreFile => short(call_context, out, admin::store_files),
        Method::WarmupRegion => short(call_context, out, admin::warm_up_region),
        Method::CompactionSwitch => short(call_context, out, server::switch_compactions),
        Method::ClearCompactionQueues => short(call_context, out, server::clear_compaction_queues),
        Method::ClearRegionBlockCache => long(server::clear_block_cache),
        Method::RollWALWriter => long(server::roll_log),
        Method::StopServer => short(call_context, out, server::stop),
        Method::UpdateConfiguration => short(call_context, out, server::update_configuration),
        Method::GetSlowLogResponses | Method::GetLargeLogResponses => {
            slow_log::responses(call_context, out)
        }
        Method::ClearSlowLogsResponses => short(call_context, out, slow_log::clear),
        Method::GetServerLogEntries => slow_log::entries(call_context, out),
        // There are no caches that outlive the process and no space quotas.
        Method::GetCachedFilesList | Method::GetSpaceQuotaSnapshots => empty(call_context, out),

        // Repairs.
        Method::RunHbckChore => short(call_context, out, hbck::run_chore),
        Method::Assigns => long(hbck::assign),
        Method::Unassigns => long(hbck::unassign),
        Method::BypassProcedure => short(call_context, out, hbck::bypass),
        Method::ScheduleServerCrashProcedure => short(call_context, out, hbck::server_crashed),
        Method::ScheduleSCPsForUnknownServers => short(call_context, out, hbck::unknown_servers),
        Method::FixMeta => short(call_context, out, hbck::fix_meta),
        Method::SetTableStateInMeta | Method::SetRegionStateInMeta => {
            call_context.refused("hbase:meta is synthesized from the manifest")
        }

        Method::ExecService => Ok(Done::Long(Box::new(endpoint::exec))),
        Method::ExecRegionServerService | Method::ExecMasterService => {
            call_context.refused("only regions have coprocessors")
        }
        Method::ExecProcedureWithRet => call_context.refused("client procedures return no data"),
        Method::OpenRegion | Method::CloseRegion | Method::ExecuteProcedures => {
            call_context.refused("there is no master in another process")
        }
        Method::UpdateFavoredNodes => call_context.refused("files are on one machine"),
        Method::ReplicateWALEntry => call_context.refused("there is no replication"),
        Method::Replay => call_context.refused("a region has no replicas"),
    }
}
