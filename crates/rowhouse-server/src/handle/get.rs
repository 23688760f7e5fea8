//! Reading one row.

use bytes::BytesMut;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::{self, CellsIn, result};
use rowhouse_format::proto;
use rowhouse_model::{FilterRun, Get, Result, Row};
use rowhouse_store::Tried;

use crate::cluster::Served;
use crate::dispatch::{Done, Exchange};
use crate::filtered::filter_row;

pub(crate) fn get(exchange: &Exchange, out: &mut BytesMut) -> Result<Done> {
    if !exchange.is_small() {
        return Ok(Done::Long(Box::new(|exchange, out| {
            let (region, get) = asked(exchange)?;
            reply(exchange, &get, &read(&region, &get)?, out)
        })));
    }
    let (region, get) = asked(exchange)?;
    if let Tried::Done(row) = read_at_once(&region, &get)? {
        reply(exchange, &get, &row, out)?;
        return Ok(Done::Answered);
    }
    Ok(Done::Long(Box::new(move |exchange, out| reply(exchange, &get, &read(&region, &get)?, out))))
}

fn asked(exchange: &Exchange) -> Result<(Served, Get)> {
    let request = exchange.message::<proto::GetRequest>()?;
    let name = RegionRef::from_proto(request.region);
    let get = convert::get::from_proto(request.get)?;
    let context = &exchange.context;
    Ok((context.cluster.region(&context.server, &name)?, get))
}

fn reply(exchange: &Exchange, get: &Get, row: &Row, out: &mut BytesMut) -> Result<()> {
    if get.existence_only {
        let result = Some(result::existence(!row.is_empty()));
        return exchange.reply(out, &proto::GetResponse { result });
    }
    // Clients before HBase 1.3 look for the cells of a get in the message alone.
    if !exchange.client.is_at_least(1, 3) {
        let result = Some(result::to_proto(row, CellsIn::Message));
        return exchange.reply(out, &proto::GetResponse { result });
    }
    let result = Some(result::to_proto(row, exchange.cells_in()));
    exchange.reply_with(out, &proto::GetResponse { result }, row.cells())
}

/// Reads a row of a region.
pub(super) fn read(region: &Served, get: &Get) -> Result<Row> {
    match region {
        Served::Stored(region) => region.get(get),
        Served::System(_, table) => {
            let row = table.get(get);
            let Some(filter) = get.filter.as_deref() else { return Ok(row) };
            let filtered = filter_row(&mut FilterRun::new(filter, false)?, &row)?;
            Ok(filtered.unwrap_or_default())
        }
    }
}

/// The same, if it is done in a moment.
pub(super) fn read_at_once(region: &Served, get: &Get) -> Result<Tried<Row>> {
    match region {
        Served::Stored(region) => region.at_once().get(get),
        Served::System(..) if get.filter.is_some() => Ok(Tried::WouldWait),
        Served::System(..) => read(region, get).map(Tried::Done),
    }
}
