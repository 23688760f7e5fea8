//! The cluster's status, and versions.

use axum::response::Response;
use rowhouse_format::proto::{self, Option as Part};

use super::media::{OF_CLUSTER_VERSION, OF_DESCRIPTIONS};
use super::refusal::Refusal;
use super::request::Request;
use super::tables::uncached;
use super::write::{ClusterStatus, ClusterVersion, Version, description};
use crate::gateway::Session;

type Answer = Result<Response, Refusal>;

async fn status_of(session: &Session, parts: &[Part]) -> Result<proto::ClusterStatus, Refusal> {
    let options = parts.iter().map(|&part| part.into()).collect();
    Ok(session.master(&proto::GetClusterStatusRequest { options }).await?.cluster_status)
}

/// Returns the HBase version that clients are told.
async fn hbase_version(session: &Session) -> Result<String, Refusal> {
    let version = status_of(session, &[Part::HbaseVersion]).await?.hbase_version;
    Ok(version.map(|version| version.version).unwrap_or_default())
}

pub(super) async fn version(request: &Request) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    let hbase = hbase_version(&request.session).await?;
    Ok(uncached(description(media, &Version { hbase })))
}

pub(super) async fn cluster_version(request: &Request) -> Answer {
    let media = request.accepted(OF_CLUSTER_VERSION)?;
    let version = hbase_version(&request.session).await?;
    Ok(uncached(description(media, &ClusterVersion(version))))
}

pub(super) async fn status(request: &Request) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    let status = status_of(&request.session, &[Part::LiveServers, Part::DeadServers]).await?;
    Ok(uncached(description(media, &ClusterStatus::from(status))))
}
