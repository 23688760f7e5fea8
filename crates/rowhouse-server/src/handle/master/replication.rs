//! Replication peers: there are none.

use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, MasterSwitch, Result};

use crate::context::Context;

pub(crate) fn list(_: &Context, _: proto::ListReplicationPeersRequest) -> Result<()> {
    Ok(())
}

pub(crate) fn config(_: &Context, request: proto::GetReplicationPeerConfigRequest) -> Result<()> {
    Err(Error::new(ErrorKind::ReplicationPeerNotFound, request.peer_id))
}

pub(crate) fn state(_: &Context, request: proto::GetReplicationPeerStateRequest) -> Result<()> {
    let message = format!("Replication Peer of {} does not exist.", request.peer_id);
    Err(Error::new(ErrorKind::ReplicationPeerNotFound, message))
}

pub(crate) fn remove(
    context: &Context,
    request: proto::RemoveReplicationPeerRequest,
) -> Result<()> {
    refuse_change(context, request.peer_id)
}

pub(crate) fn enable(
    context: &Context,
    request: proto::EnableReplicationPeerRequest,
) -> Result<()> {
    refuse_change(context, request.peer_id)
}

pub(crate) fn disable(
    context: &Context,
    request: proto::DisableReplicationPeerRequest,
) -> Result<()> {
    refuse_change(context, request.peer_id)
}

fn refuse_change(context: &Context, peer: String) -> Result<()> {
    if !context.cluster.store.master_switch(MasterSwitch::PeerModification) {
        return Err(Error::unsupported("Replication peer modification disabled"));
    }
    Err(Error::new(ErrorKind::ReplicationPeerNotFound, peer))
}

/// Sets permanently whether peers may be changed; returns the previous setting.
pub(crate) fn set_modification(
    context: &Context,
    request: proto::ReplicationPeerModificationSwitchRequest,
) -> Result<proto::ReplicationPeerModificationSwitchResponse> {
    let store = &context.cluster.store;
    let previous_value = store.set_master_switch(MasterSwitch::PeerModification, request.on)?;
    Ok(proto::ReplicationPeerModificationSwitchResponse { previous_value })
}

pub(crate) fn modification(
    context: &Context,
    _: proto::IsReplicationPeerModificationEnabledRequest,
) -> Result<proto::IsReplicationPeerModificationEnabledResponse> {
    let enabled = context.cluster.store.master_switch(MasterSwitch::PeerModification);
    Ok(proto::IsReplicationPeerModificationEnabledResponse { enabled })
}
