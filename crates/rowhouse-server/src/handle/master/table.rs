//! Tables made, changed and dropped.

use rowhouse_format::convert::{names, table};
use rowhouse_format::proto;
use rowhouse_model::{Error, Result};

use super::procedure;
use crate::server::Context;

pub(crate) fn create(
    context: &Context,
    request: proto::CreateTableRequest,
) -> Result<proto::CreateTableResponse> {
    let descriptor = table::from_proto(request.table_schema)?;
    context.cluster.store.create_table(descriptor, &request.split_keys)?;
    Ok(proto::CreateTableResponse { proc_id: procedure::done() })
}

/// What can be modified is what the store can alter. A name that is not the schema's is a mistake of the
/// caller.
pub(crate) fn modify(
    context: &Context,
    request: proto::ModifyTableRequest,
) -> Result<proto::ModifyTableResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let descriptor = table::from_proto(request.table_schema)?;
    if *descriptor.name() != name {
        return Err(Error::invalid(format!(
            "the schema is of another table: table={name}, schema={}",
            descriptor.name()
        )));
    }
    context.cluster.store.alter_table(descriptor)?;
    Ok(proto::ModifyTableResponse { proc_id: procedure::done() })
}

pub(crate) fn delete(
    context: &Context,
    request: proto::DeleteTableRequest,
) -> Result<proto::DeleteTableResponse> {
    context.cluster.store.drop_table(&names::table_from_proto(request.table_name)?)?;
    Ok(proto::DeleteTableResponse { proc_id: procedure::done() })
}

pub(crate) fn enable(
    context: &Context,
    request: proto::EnableTableRequest,
) -> Result<proto::EnableTableResponse> {
    context.cluster.store.enable_table(&names::table_from_proto(request.table_name)?)?;
    Ok(proto::EnableTableResponse { proc_id: procedure::done() })
}

pub(crate) fn disable(
    context: &Context,
    request: proto::DisableTableRequest,
) -> Result<proto::DisableTableResponse> {
    context.cluster.store.disable_table(&names::table_from_proto(request.table_name)?)?;
    Ok(proto::DisableTableResponse { proc_id: procedure::done() })
}

pub(crate) fn flush(
    context: &Context,
    request: proto::FlushTableRequest,
) -> Result<proto::FlushTableResponse> {
    if !request.column_family.is_empty() {
        return Err(Error::unsupported("flushing single families is not supported"));
    }
    context.cluster.store.table(&names::table_from_proto(request.table_name)?)?.flush()?;
    Ok(proto::FlushTableResponse { proc_id: procedure::done() })
}
