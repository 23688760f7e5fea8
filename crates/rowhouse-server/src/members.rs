//! Which region servers there are, and which are live.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rowhouse_model::{Error, Result, ServerName};
use tokio::task::AbortHandle;

use crate::region_server::RegionServer;

/// A cluster's region servers, by number.
pub(crate) struct Members {
    state: RwLock<State>,
    /// Serializes changes.
    pub(crate) changing: Mutex<()>,
}

#[derive(Default)]
struct State {
    members: Vec<Member>,
    /// Stopped servers' names, oldest first.
    dead: Vec<ServerName>,
    version: u64,
}

struct Member {
    server: Arc<RegionServer>,
    is_live: bool,
    /// A decommissioned server gets no regions.
    is_decommissioned: bool,
    /// Cuts the server's connections.
    abort: Option<AbortHandle>,
}

impl Members {
    /// Creates members that are live.
    pub(crate) fn new(servers: impl IntoIterator<Item = Arc<RegionServer>>) -> Self {
        let member =
            |server| Member { server, is_live: true, is_decommissioned: false, abort: None };
        let members = servers.into_iter().map(member).collect();
        let state = State { members, ..State::default() };
        Self { state: RwLock::new(state), changing: Mutex::default() }
    }

    /// Returns a number that differs after each change.
    pub(crate) fn version(&self) -> u64 {
        self.state.read().version
    }

    /// Returns all servers, by number, also those that were stopped.
    pub(crate) fn all(&self) -> Vec<Arc<RegionServer>> {
        self.state.read().members.iter().map(|it| Arc::clone(&it.server)).collect()
    }

    /// Returns the live servers, by number.
    pub(crate) fn live(&self) -> Vec<Arc<RegionServer>> {
        let state = self.state.read();
        state.members.iter().filter(|it| it.is_live).map(|it| Arc::clone(&it.server)).collect()
    }

    /// Returns the live server with this number.
    pub(crate) fn live_number(&self, number: u32) -> Option<Arc<RegionServer>> {
        let state = self.state.read();
        let member = state.members.get(number as usize).filter(|it| it.is_live)?;
        Some(Arc::clone(&member.server))
    }

    /// Returns the live server with this name.
    pub(crate) fn named(&self, name: &ServerName) -> Option<Arc<RegionServer>> {
        self.live().into_iter().find(|server| server.name == *name)
    }

    /// Returns the first live server, which has the system regions.
    pub(crate) fn first(&self) -> Arc<RegionServer> {
        let state = self.state.read();
        let live = state.members.iter().find(|it| it.is_live);
        Arc::clone(&live.expect("the last live server is not stopped").server)
    }

    /// Returns the numbers of the servers that may get regions: those that are live and not
    /// decommissioned.
    pub(crate) fn targets(&self) -> Vec<u32> {
        let state = self.state.read();
        let targets = state.members.iter().filter(|it| it.is_live && !it.is_decommissioned);
        targets.map(|it| it.server.number).collect()
    }

    /// Returns the live servers' numbers.
    pub(crate) fn live_numbers(&self) -> Vec<u32> {
        self.live().iter().map(|server| server.number).collect()
    }

    /// Returns stopped servers' names.
    pub(crate) fn dead(&self) -> Vec<ServerName> {
        self.state.read().dead.clone()
    }

    /// Forgets stopped servers. Returns the entries in `names` that were not known as stopped.
    pub(crate) fn clear_dead(&self, names: Vec<ServerName>) -> Vec<ServerName> {
        let mut state = self.state.write();
        let (known, unknown): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| state.dead.contains(name));
        state.forget_dead(|name| known.contains(name));
        unknown
    }

    pub(crate) fn decommissioned(&self) -> Vec<ServerName> {
        let state = self.state.read();
        let marked = state.members.iter().filter(|it| it.is_live && it.is_decommissioned);
        marked.map(|it| it.server.name.clone()).collect()
    }

    /// Marks a live server as decommissioned or not.
    pub(crate) fn set_decommissioned(&self, number: u32, is_decommissioned: bool) {
        let mut state = self.state.write();
        if let Some(member) = state.members.get_mut(number as usize) {
            member.is_decommissioned = is_decommissioned;
        }
        state.version += 1;
    }

    /// Sets what cuts a server's connections.
    pub(crate) fn set_abort(&self, number: u32, abort: AbortHandle) {
        if let Some(member) = self.state.write().members.get_mut(number as usize) {
            member.abort = Some(abort);
        }
    }

    /// Closes a server's port and cuts the connections.
    pub(crate) fn cut(&self, number: u32) {
        let state = self.state.read();
        if let Some(abort) = state.members.get(number as usize).and_then(|it| it.abort.as_ref()) {
            abort.abort();
        }
    }

    /// Notes that a server is dead.
    pub(crate) fn end(&self, number: u32) {
        let mut state = self.state.write();
        let Some(member) = state.members.get_mut(number as usize) else { return };
        member.is_live = false;
        member.is_decommissioned = false;
        let name = member.server.name.clone();
        state.dead.push(name);
        state.version += 1;
    }

    /// Returns the server with this number, which must be dead.
    ///
    /// # Errors
    /// `InvalidRequest` for a number without a server, or with a live one.
    pub(crate) fn dead_number(&self, number: u32) -> Result<Arc<RegionServer>> {
        let state = self.state.read();
        match state.members.get(number as usize) {
            Some(member) if !member.is_live => Ok(Arc::clone(&member.server)),
            Some(_) => Err(Error::invalid(format!("region server {number} is running"))),
            None => Err(unknown(number, state.members.len())),
        }
    }

    /// Checks that there is a region server with this number, live or dead.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none.
    pub(crate) fn check_number(&self, number: u32) -> Result<()> {
        let count = self.state.read().members.len();
        if number as usize >= count {
            return Err(unknown(number, count));
        }
        Ok(())
    }

    /// Returns the error for a number without a live server.
    pub(crate) fn not_live(&self, number: u32) -> Error {
        let state = self.state.read();
        match state.members.get(number as usize) {
            Some(_) => Error::invalid(format!("region server {number} is not running")),
            None => unknown(number, state.members.len()),
        }
    }

    /// Replaces a dead server by one that is live.
    pub(crate) fn begin(&self, server: Arc<RegionServer>) {
        let mut state = self.state.write();
        // As in HBase, a server at a dead server's address takes the dead one's place.
        let is_same =
            |name: &ServerName| (&name.host, name.port) == (&server.name.host, server.name.port);
        state.forget_dead(is_same);
        if let Some(member) = state.members.get_mut(server.number as usize) {
            *member = Member { server, is_live: true, is_decommissioned: false, abort: None };
        }
        state.version += 1;
    }
}

impl State {
    fn forget_dead(&mut self, is_forgotten: impl Fn(&ServerName) -> bool) {
        self.dead.retain(|name| !is_forgotten(name));
        self.version += 1;
    }
}

fn unknown(number: u32, count: usize) -> Error {
    Error::invalid(format!("there is no region server {number}: they are 0 to {}", count - 1))
}
