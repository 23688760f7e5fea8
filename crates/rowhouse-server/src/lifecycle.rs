//! Stops, starts and decommissions region servers in a running cluster.

use std::sync::Arc;

use rowhouse_model::{Error, Result, ServerName};
use tokio::runtime::Handle;

use crate::cluster::Cluster;
use crate::ports::bind;
use crate::region_server::{RegionServer, start_code};

/// How a region server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Calls under way are finished and answered.
    Stop,
    /// Connections are cut, also mid-call.
    Kill,
}

impl Cluster {
    /// Ends a region server. The regions go to the others in turn; what was acknowledged is in the
    /// store that they share.
    ///
    /// # Errors
    /// `InvalidRequest` for a server that does not run, and for the last one; `Io`, `ReadOnly`.
    pub(crate) fn end_region_server(&self, number: u32, how: End) -> Result<()> {
        let _changing = self.members.changing.lock();
        let Some(server) = self.members.live_number(number) else {
            return Err(self.members.not_live(number));
        };
        let others = |numbers: Vec<u32>| -> Vec<u32> {
            numbers.into_iter().filter(|&other| other != number).collect()
        };
        let live = others(self.members.live_numbers());
        if live.is_empty() {
            return Err(Error::invalid(
                "the last region server is not stopped while the process serves",
            ));
        }
        if how == End::Kill {
            self.members.cut(number);
            if !server.kill() {
                tracing::warn!(server = %server.name, "calls of a killed server are still running");
            }
        }
        let targets = others(self.members.targets());
        let targets = if targets.is_empty() { &live } else { &targets };
        let moved = self.store.set_region_servers(targets, |server| live.contains(&server))?;
        self.members.end(number);
        server.stop();
        tracing::info!(server = %server.name, ?how, moved, "a region server ended");
        Ok(())
    }

    /// Starts a region server that was stopped, on the former port, with a new start code and
    /// without regions; returns the name. Must be called on a runtime thread that may block.
    ///
    /// # Errors
    /// `InvalidRequest` for a server that runs; `InUse` if another process holds the port.
    pub(crate) fn start_region_server(self: &Arc<Self>, number: u32) -> Result<ServerName> {
        let _changing = self.members.changing.lock();
        let before = self.members.dead_number(number)?;
        let address = ServerName::format_address(&self.listen_host()?, before.listen_port);
        let listener = Handle::current().block_on(bind(&address, "--region-servers"))?;
        let start_code = start_code().max(before.name.start_code + 1);
        let name = ServerName { start_code, ..before.name.clone() };
        let server = Arc::new(before.succeeded(name, &self.options));
        self.members.begin(Arc::clone(&server));
        (self.serve_port)(self, listener, &server);
        self.set_targets(&[])?;
        tracing::info!(server = %server.name, "a region server was started");
        Ok(server.name.clone())
    }

    /// Marks region servers as decommissioned: they get no new regions. With `offload` their
    /// regions go to the others, if there are any. Servers that are not online are skipped, as in
    /// HBase.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub(crate) fn decommission(&self, names: &[ServerName], offload: bool) -> Result<()> {
        let _changing = self.members.changing.lock();
        let mut numbers = Vec::new();
        for name in names {
            match self.members.named(name) {
                Some(server) => numbers.push(server.number),
                None => {
                    tracing::warn!(server = %name, "only an online server can be decommissioned");
                }
            }
        }
        numbers.iter().for_each(|&number| self.members.set_decommissioned(number, true));
        self.set_targets(if offload { &numbers } else { &[] })
    }

    /// Removes a server's decommissioned mark, and moves regions, by encoded names, back to the
    /// server. Unknown regions are skipped, as in HBase.
    ///
    /// # Errors
    /// `InvalidRequest` for a server that is not online; `Io`, `ReadOnly`.
    pub(crate) fn recommission(&self, name: &ServerName, regions: &[String]) -> Result<()> {
        let _changing = self.members.changing.lock();
        let Some(server) = self.members.named(name) else {
            tracing::warn!(server = %name, "only an online server can be recommissioned");
            return Ok(());
        };
        self.members.set_decommissioned(server.number, false);
        self.set_targets(&[])?;
        let regions = regions.iter().filter_map(|it| self.store.find_region_by_encoded_name(it));
        let moves = regions.map(|region| (region.name().full.clone(), server.number));
        let moves: Vec<_> = moves.collect();
        self.store.move_regions(&moves)
    }

    /// Moves a region to the server with this name, or without a name to another one, the one with
    /// the fewest regions. If there is no such server, the region stays where it is.
    ///
    /// # Errors
    /// `UnknownRegion`, `NotServingRegion`; `Io`, `ReadOnly`.
    pub(crate) fn move_region(&self, region: &[u8], to: Option<&ServerName>) -> Result<()> {
        let _changing = self.members.changing.lock();
        let stored = self.store.region(region)?;
        stored.check_serving()?;
        let now = stored.assignment().server;
        let target = match to {
            Some(name) => self.members.named(name).map(|server| server.number),
            None => {
                let others = self.members.targets().into_iter().filter(|&number| number != now);
                others.min_by_key(|&number| self.region_count(number))
            }
        };
        match target {
            Some(number) => self.store.move_region(region, number),
            None => Ok(()),
        }
    }

    fn region_count(&self, number: u32) -> usize {
        let tables = self.store.tables();
        let regions = tables.iter().flat_map(|table| table.regions());
        regions.filter(|region| region.assignment().server == number).count()
    }

    /// Has new regions go to the servers that may get some, and the regions on `leave` too.
    fn set_targets(&self, leave: &[u32]) -> Result<()> {
        let targets = self.members.targets();
        if targets.is_empty() {
            tracing::warn!("all region servers are decommissioned: regions stay where they are");
            return Ok(());
        }
        self.store.set_region_servers(&targets, |server| !leave.contains(&server)).map(drop)
    }

    /// Returns the host that region servers listen on.
    fn listen_host(&self) -> Result<String> {
        Ok(ServerName::parse_address(&self.options.listen)?.0)
    }

    /// Ends a region server for a client. The last one ends with the process, which clients may
    /// stop only if it is permitted.
    ///
    /// # Errors
    /// As [`StopRequest::request`](crate::stop_request::StopRequest::request); `Io`, `ReadOnly`.
    pub(crate) fn end_for_client(&self, server: &RegionServer, reason: &str) -> Result<()> {
        if self.region_servers().len() == 1 {
            return self.stop_request.request("AdminService.StopServer", reason);
        }
        self.end_region_server(server.number, End::Stop)
    }
}
