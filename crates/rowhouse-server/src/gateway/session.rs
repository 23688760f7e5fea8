//! A client's calls to the cluster in this process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{Body, Call, CellBlock, CellCodec, CellReader, Request, Response};
use rowhouse_model::{Cell, Error, ErrorKind, RegionInfo, RowRange, TableName};
use rowhouse_store::Region;
use tokio::time::Instant;

use crate::access::Identity;
use crate::answer::Answer;
use crate::call::{Caller, Client, Share};
use crate::cluster::Cluster;
use crate::connection::answer_call;
use crate::context::Context;
use crate::limits::GATEWAY_RETRY_TIME;
use crate::memory::{CALL_BYTES, ConnectionMemory, Reserved, TURN_BYTES};
use crate::region_server::RegionServer;

/// How cells are encoded between a gateway and the calls.
const CODEC: CellCodec = CellCodec::KeyValue;
/// The HBase release that a gateway announces: no workaround for older clients applies.
const RELEASE: (u32, u32) = (2, 6);
/// The pause before the first repetition of a refused call. It doubles up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// The frame's length before a response.
const LENGTH_BYTES: usize = 4;

/// What a gateway's connections share.
#[derive(Clone)]
pub(crate) struct Gateway {
    pub(crate) cluster: Arc<Cluster>,
}

impl Gateway {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        Self { cluster }
    }

    /// Returns what a connection's calls may hold. [`Share::close`] at the connection's end drops
    /// calls that have not started.
    pub(crate) fn share(&self) -> Arc<Share> {
        Arc::new(Share::new(ConnectionMemory::new(&self.cluster.call_memory)))
    }

    /// Returns a session for calls of a user on a connection.
    pub(crate) fn session(
        &self,
        share: &Arc<Share>,
        peer: SocketAddr,
        identity: Identity,
    ) -> Session {
        let caller = Arc::new(Caller { address: peer.to_string(), identity });
        let share = Arc::clone(share);
        let client = Client { codec: Some(CODEC), release: Some(RELEASE), caller, share };
        Session { cluster: Arc::clone(&self.cluster), client }
    }
}

/// The calls of one user on one connection.
#[derive(Clone)]
pub(crate) struct Session {
    cluster: Arc<Cluster>,
    client: Client,
}

/// The answer to a call.
pub(crate) struct Reply<M> {
    pub(crate) message: M,
    /// The cell block.
    pub(crate) cells: CellReader,
    /// What the bytes have reserved, which the message and cells may share. Whoever waits for
    /// memory must not hold one.
    pub(crate) memory: Option<Reserved>,
}

/// A region and the server that has it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) server: Arc<RegionServer>,
    pub(crate) region: RegionRef,
    pub(crate) range: RowRange,
}

/// The row that a region is looked up for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    Row(&'a [u8]),
    /// The region with the rows before this one; empty for the last region.
    Before(&'a [u8]),
}

/// The pauses between a call's repetitions.
pub(super) struct Attempts {
    end: Instant,
    pause: Duration,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { end: Instant::now() + GATEWAY_RETRY_TIME, pause: PAUSE_MIN }
    }
}

impl Attempts {
    /// Waits before a call is repeated that was refused for a while and changed nothing.
    ///
    /// # Errors
    /// The exception, if it is not for a while or the time for repetitions is over.
    pub(super) async fn wait(&mut self, exception: Exception) -> Result<(), Exception> {
        if !is_refusal_for_now(&exception) || Instant::now() + self.pause > self.end {
            return Err(exception);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        Ok(())
    }
}

/// Returns true if a call was not begun, and may succeed later.
pub(super) fn is_refusal_for_now(exception: &Exception) -> bool {
    use ErrorKind::{
        NotServingRegion, RegionTooBusy, ResponseTooLarge, ServerNotRunning, WrongRegion,
    };
    let kind = exception.clone().into_error().kind();
    let is_refusal = matches!(
        kind,
        NotServingRegion | WrongRegion | RegionTooBusy | ResponseTooLarge | ServerNotRunning
    );
    is_refusal && !exception.do_not_retry && exception.class != NO_ANSWER
}

/// The class for a call without an answer, which may have been made.
const NO_ANSWER: &str = "org.apache.hadoop.hbase.exceptions.ConnectionClosedException";

/// Returns what HBase's client throws if the server has cut the connection or sends no answer.
fn no_answer(method: &str) -> Exception {
    Exception {
        class: NO_ANSWER.into(),
        message: format!("the server closed the connection without an answer: method={method}"),
        do_not_retry: false,
    }
}

impl Session {
    pub(crate) fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// Returns the user for whom the calls are made.
    #[cfg(feature = "rest")]
    pub(crate) fn user(&self) -> &str {
        &self.client.caller.identity.user
    }

    /// Returns what the connection's calls may hold.
    pub(crate) fn share(&self) -> &Arc<Share> {
        &self.client.share
    }

    /// Reserves memory for a request with so many bytes, and for the calls that it leads to.
    pub(crate) async fn reserve(&self, bytes: u64) -> Reserved {
        self.client.share.memory.reserve(bytes).await
    }

    /// As [`Session::reserve`] for a call, if nothing has to be waited for: whoever holds memory
    /// for earlier answers must not wait.
    pub(crate) fn try_reserve_call(&self) -> Option<Reserved> {
        self.client.share.memory.try_reserve(CALL_BYTES)
    }

    /// Calls the master.
    ///
    /// # Errors
    /// The exception that answers the call.
    pub(crate) async fn master<M: Call>(&self, message: &M) -> Result<M::Answer, Exception> {
        let master = Arc::clone(&self.cluster.master);
        let mut attempts = Attempts::default();
        loop {
            match self.call(&master, message, &[], None).await {
                Ok(reply) => return Ok(reply.message),
                Err(exception) => attempts.wait(exception).await?,
            }
        }
    }

    /// Calls a region server, once. `memory` is what the request has reserved, with
    /// [`CALL_BYTES`] for the call; without it the request is small, and
    /// the caller holds no memory for other calls.
    ///
    /// # Errors
    /// The exception that answers the call; `ConnectionClosedException` for a call that a fault on
    /// demand leaves without an answer.
    pub(crate) async fn call<M: Call>(
        &self,
        server: &Arc<RegionServer>,
        message: &M,
        cells: &[Cell],
        memory: Option<Reserved>,
    ) -> Result<Reply<M::Answer>, Exception> {
        let mut block = CellBlock::new(CODEC);
        cells.iter().for_each(|cell| block.push(cell));
        let request = Request {
            call_id: 0,
            method: M::METHOD,
            priority: 0,
            timeout_ms: None,
            message: message.encode_to_vec().into(),
            cells: Bytes::copy_from_slice(block.as_bytes()),
        };
        drop(block);
        let process = &self.cluster.call_memory;
        let turn = match &memory {
            // What holds memory for large requests waits for no more.
            Some(_) => process.try_small(TURN_BYTES),
            None => Some(process.small(TURN_BYTES).await),
        };
        let context = Arc::new(Context::new(Arc::clone(&self.cluster), Arc::clone(server)));
        let answer = answer_call(&context, self.client.clone(), request, memory, turn).await;
        let Answer { bytes, memory, .. } = answer;
        if bytes.len() < LENGTH_BYTES {
            return Err(no_answer(M::METHOD.name()));
        }
        let body = Response::decode(bytes.freeze().slice(LENGTH_BYTES..)).map_err(exception)?;
        reply(&body.outcome?, memory).map_err(exception)
    }

    /// Calls the server that has a row, and repeats the call while the region moves, splits or is
    /// busy. `make` makes the message for the region.
    ///
    /// # Errors
    /// The exception that answers the call; `TableNotFoundException`, `TableNotEnabledException`.
    pub(crate) async fn at_row<M: Call>(
        &self,
        table: &TableName,
        row: &[u8],
        make: impl Fn(RegionRef) -> Result<M, Error>,
    ) -> Result<Reply<M::Answer>, Exception> {
        let mut attempts = Attempts::default();
        loop {
            let called = match self.locate(table, At::Row(row)) {
                Ok(place) => {
                    let message = make(place.region).map_err(exception)?;
                    self.call(&place.server, &message, &[], None).await
                }
                Err(exception) => Err(exception),
            };
            match called {
                Ok(reply) => return Ok(reply),
                Err(exception) => attempts.wait(exception).await?,
            }
        }
    }

    /// Returns the place of the region for a row.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotEnabledException`; `NotServingRegionException` while no
    /// server has the region.
    pub(crate) fn locate(&self, table: &TableName, at: At<'_>) -> Result<Place, Exception> {
        let cluster = &self.cluster;
        if let Some(region) = cluster.system_region(table) {
            return Ok(self.system_place(&region));
        }
        let stored = cluster.store.table(table).map_err(exception)?;
        stored.check_enabled().map_err(exception)?;
        let region = match at {
            At::Row(row) => stored.region_of(row),
            At::Before(row) => {
                let regions = stored.regions();
                let is_before =
                    |region: &&Arc<Region>| row.is_empty() || region.info().range.start[..] < *row;
                regions.iter().rev().find(is_before).unwrap_or(&regions[0])
            }
        };
        let server = cluster.members.live_number(region.assignment().server);
        let server = server.ok_or_else(|| exception(region.not_serving()))?;
        let range = region.info().range.clone();
        Ok(Place { server, region: RegionRef::Full(region.name().full.clone()), range })
    }

    fn system_place(&self, region: &RegionInfo) -> Place {
        let server = self.cluster.meta_server();
        Place { server, region: RegionRef::Full(region.name().full), range: RowRange::all() }
    }
}

fn reply<M: Message + Default>(body: &Body, memory: Option<Reserved>) -> Result<Reply<M>, Error> {
    Ok(Reply { message: body.message()?, cells: body.cells(Some(CODEC)), memory })
}

/// Returns the exception for an error inside a gateway.
pub(crate) fn exception(error: Error) -> Exception {
    Exception::from(&error)
}
