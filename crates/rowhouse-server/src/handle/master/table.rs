//! Creates, alters and drops tables.

use rowhouse_format::convert::{names, table};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, TableName};
use rowhouse_store::Table;

use super::procedure;
use crate::context::Context;

pub(crate) fn create(
    context: &Context,
    request: proto::CreateTableRequest,
) -> Result<proto::CreateTableResponse> {
    let descriptor = table::from_proto(request.table_schema)?;
    context.cluster.store.create_table(descriptor, &request.split_keys)?;
    Ok(proto::CreateTableResponse { proc_id: procedure::done() })
}

/// Replaces a table's schema. If the request contains the expected current schema, the table must
/// still have it. The table name in the request must equal the schema's.
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
    let expected = request.rowhouse_expected.map(table::from_proto).transpose()?;
    context.cluster.store.change_table(&name, |current| {
        // The table already has the new schema: the client repeats the call.
        match expected {
            Some(expected) if *current != expected && *current != descriptor => {
                Err(altered_meanwhile(&name))
            }
            _ => Ok(descriptor),
        }
    })?;
    Ok(proto::ModifyTableResponse { proc_id: procedure::done() })
}

pub(crate) fn add_family(
    context: &Context,
    request: proto::AddColumnRequest,
) -> Result<proto::AddColumnResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let family = table::family_from_proto(request.column_families)?;
    context.cluster.store.add_family(&name, family)?;
    Ok(proto::AddColumnResponse { proc_id: procedure::done() })
}

pub(crate) fn modify_family(
    context: &Context,
    request: proto::ModifyColumnRequest,
) -> Result<proto::ModifyColumnResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let family = table::family_from_proto(request.column_families)?;
    let expected = request.rowhouse_expected.map(table::family_from_proto).transpose()?;
    context.cluster.store.change_family(&name, family.name(), |current| match expected {
        Some(expected) if *current != expected && *current != family => {
            Err(altered_meanwhile(&name))
        }
        _ => Ok(family.clone()),
    })?;
    Ok(proto::ModifyColumnResponse { proc_id: procedure::done() })
}

pub(crate) fn delete_family(
    context: &Context,
    request: proto::DeleteColumnRequest,
) -> Result<proto::DeleteColumnResponse> {
    let name = names::table_from_proto(request.table_name)?;
    context.cluster.store.drop_family(&name, &request.column_name)?;
    Ok(proto::DeleteColumnResponse { proc_id: procedure::done() })
}

/// Returns how many regions have yet to apply an alteration: none, since an alteration is applied
/// when the call returns.
pub(crate) fn alter_status(
    context: &Context,
    request: proto::GetSchemaAlterStatusRequest,
) -> Result<proto::GetSchemaAlterStatusResponse> {
    let table = context.cluster.store.table(&names::table_from_proto(request.table_name)?)?;
    Ok(proto::GetSchemaAlterStatusResponse {
        yet_to_update_regions: Some(0),
        total_regions: Some(u32::try_from(table.regions().len()).unwrap_or(u32::MAX)),
    })
}

pub(crate) fn truncate(
    context: &Context,
    request: proto::TruncateTableRequest,
) -> Result<proto::TruncateTableResponse> {
    let name = names::table_from_proto(request.table_name)?;
    context.cluster.store.truncate_table(&name, request.preserve_splits.unwrap_or(false))?;
    Ok(proto::TruncateTableResponse { proc_id: procedure::done() })
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
    let table = context.cluster.store.table(&names::table_from_proto(request.table_name)?)?;
    flush_families(&table, &request.column_family)?;
    Ok(proto::FlushTableResponse { proc_id: procedure::done() })
}

/// Flushes a table's named families, or all if none are named.
pub(super) fn flush_families(table: &Table, families: &[impl AsRef<[u8]>]) -> Result<()> {
    match families {
        [] => table.flush(),
        families => families.iter().try_for_each(|family| table.flush_family(family.as_ref())),
    }
}

fn altered_meanwhile(table: &TableName) -> Error {
    let message = format!("the table was altered concurrently: table={table}");
    Error::new(ErrorKind::Conflict, message)
}
