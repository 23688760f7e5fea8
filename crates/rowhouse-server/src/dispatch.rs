//! From a request to whoever answers it. The match over methods has no wildcard: it is the list of
//! what is supported.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use prost::Message;
use rowhouse_format::convert::CellsIn;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Call, CellCodec, Method, Request};
use rowhouse_model::{Error, ErrorKind, KeyValue, Result};

use crate::handle::{admin, bulk_load, endpoint, get, master, multi, mutate, registry, scan};
use crate::limits::{
    CLIENT_WAIT_MIN, SCAN_ANSWER_WAIT, SCAN_ANSWER_WAIT_MIN, SHORT_CALL_BYTES, SHORT_CALL_WAIT,
};
use crate::server::Context;

/// Who asks, as far as answers depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// How cell blocks are written; without one, cells stand in the messages.
    pub(crate) codec: Option<CellCodec>,
    /// Whether what an answer had no room for is asked for again, alone.
    pub(crate) repeats_the_rest: bool,
}

/// A call and everything that answering it needs.
pub(crate) struct Exchange {
    pub(crate) context: Context,
    pub(crate) request: Request,
    pub(crate) client: Client,
    /// When the call came in.
    pub(crate) arrived: Instant,
    /// When somebody began with it.
    begun: Instant,
}

/// What came of routing a call.
pub(crate) enum Done {
    /// The answer is written.
    Answered,
    /// It may take long or has to wait, and nothing was done yet.
    Long(Work),
    /// It takes long after all; this is what is left to do.
    Begun(Work),
}

/// What is done for a call on a thread of its own.
pub(crate) type Work = Box<dyn FnOnce(&Exchange, &mut BytesMut) -> Result<()> + Send>;

/// A call that may take long, to be run on a thread of its own.
pub(crate) struct LongCall {
    exchange: Exchange,
    work: Work,
    is_begun: bool,
}

impl LongCall {
    /// Writes the answer; none when the client has given up before the call could begin. As on HBase,
    /// it is not told.
    pub(crate) fn run(self, out: &mut BytesMut) {
        let Self { mut exchange, work, is_begun } = self;
        if !is_begun {
            exchange.begun = Instant::now();
        }
        if !is_begun && exchange.is_late() {
            let (method, timeout) = (exchange.request.method, exchange.request.timeout_ms);
            tracing::warn!(?method, timeout, "a call came up too late for its client, dropped");
            return;
        }
        if let Err(error) = work(&exchange, out) {
            exchange.refuse(out, &error);
        }
    }
}

/// Answers a call, or gives back what is left to do when it may take long.
pub(crate) fn answer(
    context: &Context,
    client: Client,
    request: Request,
    out: &mut BytesMut,
) -> Option<LongCall> {
    let arrived = Instant::now();
    let exchange = Exchange { context: context.clone(), request, client, arrived, begun: arrived };
    if *context.stop.borrow() {
        exchange.refuse(out, &Error::new(ErrorKind::ServerNotRunning, "the server is stopping"));
        return None;
    }
    match route(&exchange, out) {
        Ok(Done::Answered) => None,
        Ok(Done::Long(work)) => Some(LongCall { exchange, work, is_begun: false }),
        Ok(Done::Begun(work)) => Some(LongCall { exchange, work, is_begun: true }),
        Err(error) => {
            exchange.refuse(out, &error);
            None
        }
    }
}

impl Exchange {
    /// How long the client waits for the answer, as it says.
    fn patience(&self) -> Option<Duration> {
        let millis = u64::from(self.request.timeout_ms?);
        Some(Duration::from_millis(millis).max(CLIENT_WAIT_MIN))
    }

    /// Whether the client has given up.
    fn is_late(&self) -> bool {
        self.patience().is_some_and(|patience| self.arrived.elapsed() > patience)
    }

    /// How long the call waited, and how long it has been worked at.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        (self.begun - self.arrived, self.begun.elapsed())
    }

    /// When a scan that begins to read now has to say that it is alive: with half of the client's patience gone.
    pub(crate) fn scan_until(&self) -> Instant {
        let half = self.patience().map_or(SCAN_ANSWER_WAIT, |patience| patience / 2);
        let until = self.arrived + half.min(SCAN_ANSWER_WAIT);
        // Or scans that wait for long would never come to read anything.
        until.max(Instant::now() + SCAN_ANSWER_WAIT_MIN)
    }

    /// When the call has taken too long for where it arrived.
    pub(crate) fn pause(&self) -> Instant {
        self.arrived + SHORT_CALL_WAIT
    }

    /// Whether the request is small enough for what it asks to be tried at once.
    pub(crate) fn is_small(&self) -> bool {
        self.request.message.len() + self.request.cells.len() <= SHORT_CALL_BYTES
    }

    /// The request's message.
    pub(crate) fn message<M: Message + Default>(&self) -> Result<M> {
        self.request.message()
    }

    /// Where the answer's cells go.
    pub(crate) fn cells_in(&self) -> CellsIn {
        if self.client.codec.is_some() { CellsIn::Block } else { CellsIn::Message }
    }

    /// Writes the answer.
    pub(crate) fn reply(&self, out: &mut BytesMut, message: &impl Message) -> Result<()> {
        self.reply_with(out, message, [])
    }

    /// Writes the answer and, if the connection has a codec, cells behind it.
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

    fn refuse(&self, out: &mut BytesMut, error: &Error) {
        let method = self.request.method;
        match error.kind() {
            ErrorKind::Io | ErrorKind::Corruption | ErrorKind::OutcomeUnknown => {
                tracing::error!(?method, %error, "a call failed");
            }
            _ => tracing::debug!(?method, %error, "a call was refused"),
        }
        rpc::encode_exception(out, self.request.call_id, &Exception::from(error));
    }

    fn unsupported(&self) -> Error {
        let method = self.request.method;
        let name = format!("{}.{}", method.service().name(), method.name());
        Error::unsupported(format!("{name} is not supported"))
    }
}

/// Answers with what `handle` makes of the message.
fn short<M: Call>(
    exchange: &Exchange,
    out: &mut BytesMut,
    handle: impl FnOnce(&Context, M) -> Result<M::Answer>,
) -> Result<Done> {
    let message = exchange.message::<M>()?;
    exchange.reply(out, &handle(&exchange.context, message)?)?;
    Ok(Done::Answered)
}

/// As [`short`], on a thread of its own.
fn long<M: Call + 'static>(
    handle: impl FnOnce(&Context, M) -> Result<M::Answer> + Send + 'static,
) -> Result<Done> {
    Ok(Done::Long(Box::new(move |exchange, out| short(exchange, out, handle).map(|_| ()))))
}

fn route(exchange: &Exchange, out: &mut BytesMut) -> Result<Done> {
    match exchange.request.method {
        // The data.
        Method::Get => get::get(exchange, out),
        Method::Mutate => mutate::mutate(exchange, out),
        Method::Scan => scan::scan(exchange, out),
        Method::Multi => multi::multi(exchange, out),

        Method::PrepareBulkLoad => long(bulk_load::prepare),
        Method::BulkLoadHFile => long(bulk_load::load),
        Method::CleanupBulkLoad => long(bulk_load::clean_up),

        // Finding the cluster.
        Method::GetClusterId => short(exchange, out, registry::cluster_id),
        Method::GetActiveMaster => short(exchange, out, registry::active_master),
        Method::GetMasters => short(exchange, out, registry::masters),
        Method::GetMetaRegionLocations => short(exchange, out, registry::meta_locations),
        Method::GetBootstrapNodes => short(exchange, out, registry::bootstrap_nodes),

        // The master.
        Method::IsMasterRunning => short(exchange, out, master::status::is_running),
        Method::GetProcedureResult => short(exchange, out, master::procedure::result),
        Method::GetClusterStatus => short(exchange, out, master::status::cluster_status),
        Method::GetSecurityCapabilities => short(exchange, out, master::status::security),
        Method::IsBalancerEnabled => short(exchange, out, master::switches::balancer),
        Method::SetBalancerRunning => short(exchange, out, master::switches::set_balancer),
        Method::Balance => short(exchange, out, master::switches::balance),
        Method::SetSplitOrMergeEnabled => long(master::switches::set),
        Method::IsSplitOrMergeEnabled => short(exchange, out, master::switches::is_on),
        Method::SwitchSnapshotCleanup => long(master::switches::set_snapshot_cleanup),
        Method::IsSnapshotCleanupEnabled => {
            short(exchange, out, master::switches::snapshot_cleanup)
        }
        Method::IsNormalizerEnabled => short(exchange, out, master::status::normalizer),
        Method::IsMasterInMaintenanceMode => short(exchange, out, master::status::maintenance),
        Method::CreateTable => long(master::table::create),
        Method::ModifyTable => long(master::table::modify),
        Method::AddColumn => long(master::table::add_family),
        Method::ModifyColumn => long(master::table::modify_family),
        Method::DeleteColumn => long(master::table::delete_family),
        Method::GetSchemaAlterStatus => short(exchange, out, master::table::alter_status),
        Method::TruncateTable => long(master::table::truncate),
        Method::SplitRegion => long(master::region::split),
        Method::MergeTableRegions => long(master::region::merge),
        Method::MoveRegion => long(master::region::move_to),
        Method::AssignRegion => long(master::region::assign),
        Method::UnassignRegion => long(master::region::unassign),
        Method::DeleteTable => long(master::table::delete),
        Method::EnableTable => long(master::table::enable),
        Method::DisableTable => long(master::table::disable),
        Method::FlushTable => long(master::table::flush),
        Method::GetTableDescriptors => short(exchange, out, master::list::descriptors),
        Method::ListTableDescriptorsByState => {
            short(exchange, out, master::list::descriptors_by_state)
        }
        Method::ListTableDescriptorsByNamespace => {
            short(exchange, out, master::list::descriptors_by_namespace)
        }
        Method::GetTableNames => short(exchange, out, master::list::names),
        Method::ListTableNamesByState => short(exchange, out, master::list::names_by_state),
        Method::ListTableNamesByNamespace => short(exchange, out, master::list::names_by_namespace),
        Method::GetTableState => short(exchange, out, master::list::state),
        Method::Snapshot => long(master::snapshot::take),
        Method::GetCompletedSnapshots => short(exchange, out, master::snapshot::list),
        Method::DeleteSnapshot => long(master::snapshot::delete),
        Method::IsSnapshotDone => short(exchange, out, master::snapshot::is_done),
        Method::RestoreSnapshot => long(master::snapshot::restore),
        Method::ExecProcedure => long(master::backup::begin),
        Method::IsProcedureDone => short(exchange, out, master::backup::status),
        Method::CreateNamespace => long(master::namespace::create),
        Method::ModifyNamespace => long(master::namespace::modify),
        Method::DeleteNamespace => long(master::namespace::delete),
        Method::GetNamespaceDescriptor => short(exchange, out, master::namespace::get),
        Method::ListNamespaces => short(exchange, out, master::namespace::names),
        Method::ListNamespaceDescriptors => short(exchange, out, master::namespace::list),

        // A region server's regions.
        Method::GetRegionInfo => long(admin::region_info),
        Method::GetOnlineRegion => short(exchange, out, admin::online_regions),
        Method::GetServerInfo => short(exchange, out, admin::server_info),
        Method::GetRegionLoad => short(exchange, out, admin::region_load),
        Method::FlushRegion => long(admin::flush_region),
        Method::CompactRegion => short(exchange, out, admin::compact_region),

        Method::ExecService => Ok(Done::Long(Box::new(endpoint::exec))),
        Method::ExecRegionServerService
        | Method::ExecMasterService
        | Method::ExecProcedureWithRet
        | Method::AbortProcedure
        | Method::GetStoreFile => Err(exchange.unsupported()),
    }
}
