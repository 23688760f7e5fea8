//! Region servers: balancing, decommissioning, stopping.

use rowhouse_model::{Balanced, Error, RegionInfo, Result, ServerName};

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Moves a region to a server in a cluster. A region that is there already stays.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let admin = database.admin();
    /// let servers = admin.status().await?.live_servers;
    /// let (region, _) = database.table("blog").await?.locate(b"bob").await?;
    /// admin.move_region_to(&region, &servers[0]).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::assign_region`]; `NotServingRegion` for an unassigned region; `Unsupported` for
    /// an embedded database, which has no region servers.
    pub async fn move_region_to(self, region: &RegionInfo, server: &ServerName) -> Result<()> {
        self.servers()?.move_region_to(region, server).await
    }

    /// Runs a cluster's balancer once: it moves regions so that each server has a similar share of
    /// the load. With `dry_run` it only plans.
    ///
    /// # Errors
    /// `Unsupported` for an embedded database; `Connection`.
    pub async fn balance(self, dry_run: bool) -> Result<Balanced> {
        self.servers()?.balance(dry_run).await
    }

    /// Returns true if a cluster's balancer is switched on.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn balancer(self) -> Result<bool> {
        self.servers()?.balancer().await
    }

    /// Switches a cluster's balancer on or off; returns true if it was on.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn set_balancer(self, on: bool) -> Result<bool> {
        self.servers()?.set_balancer(on).await
    }

    /// Marks cluster servers as decommissioned: they get no new regions. With `offload` their
    /// regions move to other servers.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn decommission(self, servers: &[ServerName], offload: bool) -> Result<()> {
        self.servers()?.decommission(servers, offload).await
    }

    /// Returns the decommissioned servers in a cluster.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn decommissioned(self) -> Result<Vec<ServerName>> {
        self.servers()?.decommissioned().await
    }

    /// Removes a decommissioned server's mark, and moves these regions to it.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn recommission(self, server: &ServerName, regions: &[RegionInfo]) -> Result<()> {
        self.servers()?.recommission(server, regions).await
    }

    /// Makes a cluster forget dead servers. Returns those that it did not forget.
    ///
    /// # Errors
    /// As [`Admin::balance`].
    pub async fn clear_dead_servers(self, servers: &[ServerName]) -> Result<Vec<ServerName>> {
        self.servers()?.clear_dead_servers(servers).await
    }

    /// Requests that a region server in a cluster stops. Its regions move to other servers. The
    /// last region server of `rowhouse serve` stops only if that was started with
    /// `--allow-shutdown`.
    ///
    /// # Errors
    /// As [`Admin::balance`]; `Unsupported` for a server that clients may not stop.
    pub async fn stop_region_server(self, server: &ServerName) -> Result<()> {
        self.servers()?.stop_region_server(server, "requested by a client").await
    }

    /// Returns the administration for region servers, which only a cluster has.
    fn servers(self) -> Result<rowhouse_client::Admin> {
        match self.side() {
            Side::Cluster(it) => Ok(it.admin()),
            Side::Embedded(_) => Err(Error::unsupported(
                "a database that is embedded in the process has no region servers; rowhouse serve \
                 --region-servers N has",
            )),
        }
    }
}
