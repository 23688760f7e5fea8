//! Store file trackers. The manifest is the only tracker; a tracker declared by a table or family
//! is stored for an HBase cluster that the table may be exported to.

use rowhouse_format::convert::names;
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, TableName, escape};

use super::procedure;
use crate::context::Context;

/// HBase's setting.
const TRACKER: &str = "hbase.store.file-tracker.impl";
/// HBase's settings for a migration from one tracker to another. Changing the tracker ends it.
const MIGRATION: [&str; 2] =
    ["hbase.store.file-tracker.migration.src.impl", "hbase.store.file-tracker.migration.dst.impl"];

/// Declares another tracker for a table.
pub(crate) fn modify_table(
    context: &Context,
    request: proto::ModifyTableStoreFileTrackerRequest,
) -> Result<proto::ModifyTableStoreFileTrackerResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let tracker = tracker_of(&request.dst_sft)?;
    check_enabled(context, &name)?;
    context.cluster.store.change_table(&name, |current| {
        let mut table = current.clone().attribute(TRACKER, tracker);
        table.attributes.retain(|name, _| !MIGRATION.iter().any(|one| one.as_bytes() == &name[..]));
        Ok(table)
    })?;
    Ok(proto::ModifyTableStoreFileTrackerResponse { proc_id: procedure::done() })
}

/// Declares another tracker for a family.
pub(crate) fn modify_family(
    context: &Context,
    request: proto::ModifyColumnStoreFileTrackerRequest,
) -> Result<proto::ModifyColumnStoreFileTrackerResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let tracker = tracker_of(&request.dst_sft)?;
    check_enabled(context, &name)?;
    context.cluster.store.change_table(&name, |current| {
        let family = current.find_family(&request.family).map_err(|_| {
            let message = format!("{} does not exist for table {name}", escape(&request.family));
            Error::new(ErrorKind::NoSuchColumnFamily, message)
        })?;
        let mut family = family.clone();
        family.configuration.insert(TRACKER.into(), tracker.into());
        family.configuration.retain(|name, _| !MIGRATION.contains(&&**name));
        Ok(current.clone().family(family))
    })?;
    Ok(proto::ModifyColumnStoreFileTrackerResponse { proc_id: procedure::done() })
}

fn check_enabled(context: &Context, name: &TableName) -> Result<()> {
    context.cluster.store.table(name)?.check_enabled()
}

/// Returns the requested tracker if it is an HBase tracker that a table can change to.
fn tracker_of(name: &str) -> Result<&'static str> {
    match &*name.to_ascii_uppercase() {
        "DEFAULT" => Ok("DEFAULT"),
        "FILE" => Ok("FILE"),
        "MIGRATION" => Err(Error::invalid(format!("Do not need to transfer to {name}"))),
        _ => Err(Error::unsupported(format!(
            "unknown store file tracker: name={name}, known=DEFAULT, FILE"
        ))),
    }
}
