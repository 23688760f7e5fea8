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
        read(&self.region, &self.get, call_context.wait_mode)
    }

    fn reply(&self, call_context: &CallContext, row: Row, out: &mut BytesMut) -> Result<()> {
        if self.get.existence_only {
            let result = Some(result::existence(!row.is_empty()));
            return call_context.reply(out, &proto::GetResponse { result });
        }
        // Clients before HBase 1.3 read the cells of a get only from the message.
        if !call_context.client.is_at_least(1, 3) {
            let result = Some(result::to_proto(&row, CellPlacement::Message));
            return call_context.reply(out, &proto::GetResponse { result });
        }
        let result = Some(result::to_proto(&row, call_context.cells_in()));
        call_context.reply_with(out, &proto::GetResponse { result }, row.cells())
    }
}

/// Reads a row of a region.
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
