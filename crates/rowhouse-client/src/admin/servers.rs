//! Region servers: balancing, decommissioning, stopping.

use rowhouse_format::convert::names;
use rowhouse_format::convert::procedure::region_server::{self, RegionServerCall};
use rowhouse_format::convert::procedure::state::{self, StateCall};
use rowhouse_format::proto;
use rowhouse_model::{Balanced, RegionInfo, Result, ServerName};

use super::Admin;
use super::regions::specifier;
use crate::connection::{Address, CallRequest};
use crate::retry::Attempts;

impl Admin {
    /// Moves a region to a region server.
    ///
    /// # Errors
    /// `UnknownRegion`; the master's error.
    pub async fn move_region_to(&self, region: &RegionInfo, server: &ServerName) -> Result<()> {
        let message = proto::MoveRegionRequest {
            region: specifier(region),
            dest_server_name: Some(names::server_to_proto(server)),
        };
        self.call(message).await?;
        self.client.locator().forget_table(&region.table);
        Ok(())
    }

    /// Runs the balancer once. A dry run only plans.
    ///
    /// # Errors
    /// The master's error.
    pub async fn balance(&self, dry_run: bool) -> Result<Balanced> {
        let message = proto::BalanceRequest { ignore_rit: None, dry_run: Some(dry_run) };
        let answer = self.call(message).await?;
        Ok(Balanced {
            ran: answer.balancer_ran,
            planned: answer.moves_calculated.unwrap_or_default(),
            made: answer.moves_executed.unwrap_or_default(),
        })
    }

    /// Returns true if the balancer is switched on.
    ///
    /// # Errors
    /// The master's error.
    pub async fn balancer(&self) -> Result<bool> {
        Ok(self.call(proto::IsBalancerEnabledRequest {}).await?.enabled)
    }

    /// Switches the balancer on or off; returns true if it was on.
    ///
    /// # Errors
    /// The master's error.
    pub async fn set_balancer(&self, on: bool) -> Result<bool> {
        let message = proto::SetBalancerRunningRequest { on, synchronous: Some(true) };
        Ok(self.call(message).await?.prev_balance_value.unwrap_or_default())
    }

    /// Marks region servers as decommissioned: they get no new regions. With `offload` their
    /// regions move to other servers.
    ///
    /// # Errors
    /// The master's error.
    pub async fn decommission(&self, servers: &[ServerName], offload: bool) -> Result<()> {
        let server_name = servers.iter().map(names::server_to_proto).collect();
        self.call(proto::DecommissionRegionServersRequest { server_name, offload }).await.map(drop)
    }

    /// Returns the region servers that are decommissioned.
    ///
    /// # Errors
    /// The master's error; `Protocol` for an invalid name in the answer.
    pub async fn decommissioned(&self) -> Result<Vec<ServerName>> {
        let answer = self.call(proto::ListDecommissionedRegionServersRequest {}).await?;
        answer.server_name.into_iter().map(names::server_from_proto).collect()
    }

    /// Removes a region server's decommissioned mark, and moves these regions to the server.
    ///
    /// # Errors
    /// The master's error.
    pub async fn recommission(&self, server: &ServerName, regions: &[RegionInfo]) -> Result<()> {
        let message = proto::RecommissionRegionServerRequest {
            server_name: names::server_to_proto(server),
            region: regions.iter().map(specifier).collect(),
        };
        self.call(message).await?;
        regions.iter().for_each(|region| self.client.locator().forget_table(&region.table));
        Ok(())
    }

    /// Makes the master forget dead region servers. Returns the servers that it did not forget.
    ///
    /// # Errors
    /// The master's error; `Protocol` for an invalid name in the answer.
    pub async fn clear_dead_servers(&self, servers: &[ServerName]) -> Result<Vec<ServerName>> {
        let server_name = servers.iter().map(names::server_to_proto).collect();
        let answer = self.call(proto::ClearDeadServersRequest { server_name }).await?;
        answer.server_name.into_iter().map(names::server_from_proto).collect()
    }

    /// Asks a region server to stop, without a retry.
    ///
    /// # Errors
    /// The server's error: a rowhouse server may not permit it.
    pub async fn stop_region_server(&self, server: &ServerName, reason: &str) -> Result<()> {
        let message = proto::StopServerRequest { reason: reason.to_owned() };
        let deadline = Attempts::new(self.client.settings()).deadline();
        let request = CallRequest { message, cells: &[], is_meta_call: false, deadline };
        let answer = self.client.connections().call(&Address::from(server), request).await;
        answer.map(drop).map_err(|failure| failure.error)
    }

    /// Starts, stops or kills a region server in a rowhouse server, by number.
    ///
    /// # Errors
    /// `InvalidRequest` for a number without a server, a server that runs already or not at all,
    /// and for the last server that runs; the error from an Apache HBase master, which does not
    /// know the call.
    pub async fn change_region_server(&self, call: RegionServerCall) -> Result<()> {
        let procedure = region_server::call_to_proto(&call);
        self.call(proto::ExecProcedureRequest { procedure }).await.map(drop)
    }

    /// Resets, saves or restores all tables of a rowhouse server that permits it, or deletes a
    /// saved state, for tests.
    ///
    /// # Errors
    /// `Unsupported` by a server that does not permit it; `SnapshotNotFound` for an unknown state;
    /// `SnapshotExists` for a state that is saved already; `InvalidRequest` for a name that is
    /// none, and for a state without tables or with a disabled one; `QuotaExceeded` for too many
    /// states; the error from an Apache HBase master, which does not know the call.
    pub async fn change_state(&self, call: &StateCall) -> Result<()> {
        let procedure = state::call_to_proto(call);
        self.call(proto::ExecProcedureRequest { procedure }).await.map(drop)
    }
}
