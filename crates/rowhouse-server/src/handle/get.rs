//! Reads one row.

use bytes::BytesMut;
use rowhouse_filter::FilterRun;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::{self, CellPlacement, result};
use rowhouse_format::proto;
use rowhouse_model::{Get, Result, Row};
use rowhouse_store::NonBlocking;

use crate::cluster::ServedRegion;
use crate::dispatch::{CallContext, Done};
use crate::filtered::filter_row;

pub(crate) fn get(call_context: &CallContext, out: &mut BytesMut) -> Result<Done> {
    if !call_context.is_small() {
        return Ok(Done::Long(Box::new(|call_context, out| {
            let (region, get) = asked(call_context)?;
            reply(call_context, &get, &read(&region, &get)?, out)
        })));
    }
    let (region, get) = asked(call_context)?;
    if let NonBlocking::Done(row) = read_non_blocking(&region, &get)? {
        reply(call_context, &get, &row, out)?;
        return Ok(Done::Answered);
    }
    Ok(Done::Long(Box::new(move |call_context, out| {
        reply(call_context, &get, &read(&region, &get)?, out)
    })))
}

fn asked(call_context: &CallContext) -> Result<(ServedRegion, Get)> {
    let request = call_context.message::<proto::GetRequest>()?;
    let name = RegionRef::from_proto(request.region);
    let get = convert::get::from_proto(request.get)?;
    let context = &call_context.context;
    Ok((context.cluster.region(&context.server, &name)?, get))
}

fn reply(call_context: &CallContext, get: &Get, row: &Row, out: &mut BytesMut) -> Result<()> {
    if get.existence_only {
        let result = Some(result::existence(!row.is_empty()));
        return call_context.reply(out, &proto::GetResponse { result });
    }
    // Clients before HBase 1.3 read the cells of a get only from the message.
    if !call_context.client.is_at_least(1, 3) {
        let result = Some(result::to_proto(row, CellPlacement::Message));
        return call_context.reply(out, &proto::GetResponse { result });
    }
    let result = Some(result::to_proto(row, call_context.cells_in()));
    call_context.reply_with(out, &proto::GetResponse { result }, row.cells())
}

/// Reads a row of a region.
pub(super) fn read(region: &ServedRegion, get: &Get) -> Result<Row> {
    match region {
        ServedRegion::Stored(region) => region.get(get),
        ServedRegion::System(_, table) => {
            let row = table.get(get);
            let Some(filter) = get.filter.as_deref() else { return Ok(row) };
            let filtered = filter_row(&mut FilterRun::new(filter, false)?, &row)?;
            Ok(filtered.unwrap_or_default())
        }
    }
}

/// As [`read`], but returns `WouldBlock` instead of waiting or reading much.
pub(super) fn read_non_blocking(region: &ServedRegion, get: &Get) -> Result<NonBlocking<Row>> {
    match region {
        ServedRegion::Stored(region) => region.non_blocking().get(get),
        ServedRegion::System(..) if get.filter.is_some() => Ok(NonBlocking::WouldBlock),
        ServedRegion::System(..) => read(region, get).map(NonBlocking::Done),
    }
}
