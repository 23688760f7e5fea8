//! Table snapshots.

use rowhouse_format::convert::snapshot;
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, TableName};

use super::procedure;
use crate::context::Context;

/// How long clients poll until a snapshot is done, in milliseconds: HBase's own value.
pub(super) const EXPECTED_MILLIS: i64 = 300_000;

pub(crate) fn take(
    context: &Context,
    request: proto::SnapshotRequest,
) -> Result<proto::SnapshotResponse> {
    context.cluster.store.take_snapshot(snapshot::from_proto(request.snapshot)?)?;
    let proc_id = procedure::done().and_then(|id| i64::try_from(id).ok());
    Ok(proto::SnapshotResponse { expected_timeout: EXPECTED_MILLIS, proc_id })
}

pub(crate) fn list(
    context: &Context,
    _: proto::GetCompletedSnapshotsRequest,
) -> Result<proto::GetCompletedSnapshotsResponse> {
    let snapshots = context.cluster.store.snapshots();
    let snapshots = snapshots.iter().map(snapshot::to_proto).collect();
    Ok(proto::GetCompletedSnapshotsResponse { snapshots })
}

pub(crate) fn delete(
    context: &Context,
    request: proto::DeleteSnapshotRequest,
) -> Result<proto::DeleteSnapshotResponse> {
    context.cluster.store.delete_snapshot(&request.snapshot.name)?;
    Ok(proto::DeleteSnapshotResponse {})
}

/// Returns true if a snapshot is done. It is done when the call that takes it returns, so an
/// unknown snapshot was never requested.
pub(crate) fn is_done(
    context: &Context,
    request: proto::IsSnapshotDoneRequest,
) -> Result<proto::IsSnapshotDoneResponse> {
    let unknown = |message: String| Error::new(ErrorKind::UnknownSnapshot, message);
    let Some(requested) = request.snapshot else {
        return Err(unknown(
            "No snapshot name passed in request, can't figure out which snapshot you want to check."
                .to_owned(),
        ));
    };
    match context.cluster.store.snapshot(&requested.name) {
        Ok(_) => Ok(proto::IsSnapshotDoneResponse { done: Some(true), snapshot: None }),
        Err(_) => Err(unknown(format!(
            "Snapshot {{ ss={} table={} type={} ttl={} }} is not currently running or one of the known \
             completed snapshots.",
            requested.name,
            requested.table(),
            requested.r#type().as_str_name(),
            requested.ttl()
        ))),
    }
}

/// Restores a snapshot into the snapshot's table, or clones it into a new one. Called with an
/// existing table that is not the snapshot's, HBase restores the snapshot's table instead; this
/// server refuses the call. The flag that restores permissions has no effect: without security
/// there are none, as in HBase.
pub(crate) fn restore(
    context: &Context,
    request: proto::RestoreSnapshotRequest,
) -> Result<proto::RestoreSnapshotResponse> {
    let store = &context.cluster.store;
    if let Some(tracker) = request.custom_sft.filter(|tracker| tracker != "DEFAULT") {
        let message = format!("a store file tracker of a clone is not supported: {tracker}");
        return Err(Error::unsupported(message));
    }
    let table = TableName::parse(request.snapshot.table())?;
    store.namespace(table.namespace())?;
    let snapshot = store.snapshot(&request.snapshot.name)?;
    if snapshot.table == table {
        store.restore_snapshot(snapshot.name())?;
    } else {
        store.clone_snapshot(snapshot.name(), &table)?;
    }
    Ok(proto::RestoreSnapshotResponse { proc_id: procedure::done().unwrap_or_default() })
}
