//! What the calls to a region server share.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::region_server::RegionServer;

/// What the calls to a region server share.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) cluster: Arc<Cluster>,
    /// The region server that listens on the connection's port.
    pub(crate) server: Arc<RegionServer>,
}

impl Context {
    pub(crate) fn new(cluster: Arc<Cluster>, server: Arc<RegionServer>) -> Self {
        Self { cluster, server }
    }
}
