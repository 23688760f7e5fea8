//! Reads one row.

use bytes::BytesMut;
use rowhouse_filter::FilterRun;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::{self, CellPlacement, result};
use rowhouse_format::proto;
use rowhouse_model::{Get, Result, Row};
use rowhouse_store::{NonBlocking, WaitMode};

use crate::answer::ResumableCall;
use crate::call::CallContext;
use crate::cluster::ServedRegion;
use crate::filtered::filter_row;

/// A call for one row.
pub(crate) struct GetCall {
    region: ServedRegion,
    get: Get,
}

impl ResumableCall for GetCall {
    type Answer = Row;

    fn parse(call_context: &CallContext) -> Result<Self> {
        let request = call_context.message::<proto::GetRequest>()?;
        let name = RegionRef::from_proto(request.region);
        let get = convert::get::from_proto(request.get)?;
        let context = &call_context.context;
        Ok(Self { region: context.cluster.region(&context.server, &name)?, get })
    }

    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<Row>> {
        if call_context.wait_mode == WaitMode::NonBlocking {
            return read(&self.region, &self.get, WaitMode::NonBlocking);
        }
        match read_in_room(call_context, &self.region, &self.get, 0)? {
            InRoom::Whole(row) => Ok(NonBlocking::Done(row)),
            InRoom::MoreThan(bytes) => {
                call_context.outgrow(bytes)?;
                Ok(NonBlocking::WouldBlock)
            }
        }
    }

    fn reply(&self, call_context: &CallContext, row: Row, out: &mut BytesMut) -> Result<()> {
        if self.get.existence_only {
            let result = Some(result::existence(!row.is_empty()));
            return call_context.reply(out, &proto::GetResponse { result });
        }
        // Clients before HBase 1.3 read a get's cells only from the message.
        if !call_context.client.is_at_least(1, 3) {
            let result = Some(result::to_proto(&row, CellPlacement::Message));
            return call_context.reply(out, &proto::GetResponse { result });
        }
        let result = Some(result::to_proto(&row, call_context.cells_in()));
        call_context.reply_with(out, &proto::GetResponse { result }, row.cells())
    }
}

/// A row that was read on a worker thread.
pub(super) enum InRoom {
    Whole(Row),
    /// The row's cells have more bytes than the call can reserve.
    MoreThan(u64),
}

/// As [`read`] in blocking mode, within the memory that the call can reserve for an answer that has
/// `used` bytes already.
pub(super) fn read_in_room(
    call_context: &CallContext,
    region: &ServedRegion,
    get: &Get,
    used: u64,
) -> Result<InRoom> {
    let region = match region {
        // It returns no cells.
        ServedRegion::Stored(region) if !get.existence_only => region,
        region => return Ok(InRoom::Whole(read(region, get, WaitMode::Blocking)?.done())),
    };
    let mut room = call_context.answer_room(used);
    loop {
        if let Some(row) = region.get_within(get, room)? {
            return Ok(InRoom::Whole(row));
        }
        let more = call_context.answer_room(used.saturating_add(room));
        if more == 0 {
            return Ok(InRoom::MoreThan(room));
        }
        room = room.saturating_add(more);
    }
}

/// Reads a row in a region.
pub(super) fn read(
    region: &ServedRegion,
    get: &Get,
    wait_mode: WaitMode,
) -> Result<NonBlocking<Row>> {
    let table = match region {
        ServedRegion::Stored(region) => return region.in_mode(wait_mode).get(get),
        ServedRegion::System(_, table) => table,
    };
    let Some(filter) = get.filter.as_deref() else { return Ok(NonBlocking::Done(table.get(get))) };
    if wait_mode == WaitMode::NonBlocking {
        return Ok(NonBlocking::WouldBlock);
    }
    let filtered = filter_row(&mut FilterRun::new(filter, false)?, &table.get(get))?;
    Ok(NonBlocking::Done(filtered.unwrap_or_default()))
}
