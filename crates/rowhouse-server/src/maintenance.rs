//! What administrators set for as long as the server runs.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rowhouse_model::ServerName;

/// The state of a master that HBase keeps in memory too.
pub(crate) struct Maintenance {
    /// Looks for regions that splits and merges left behind.
    pub(crate) catalog_janitor: Switch,
    /// Removes files that nobody needs any more.
    pub(crate) cleaner: Switch,
    /// Servers that regions are not to be moved to.
    decommissioned: Mutex<Vec<ServerName>>,
}

/// Something that is on or off.
pub(crate) struct Switch(AtomicBool);

impl Default for Maintenance {
    fn default() -> Self {
        let on = || Switch(AtomicBool::new(true));
        Self { catalog_janitor: on(), cleaner: on(), decommissioned: Mutex::default() }
    }
}

impl Switch {
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Turns it on or off; returns whether it was on.
    pub(crate) fn set(&self, on: bool) -> bool {
        self.0.swap(on, Ordering::Relaxed)
    }
}

impl Maintenance {
    pub(crate) fn decommissioned(&self) -> Vec<ServerName> {
        self.decommissioned.lock().clone()
    }

    /// Marks a server as one that regions are not to be moved to, or takes the mark away.
    pub(crate) fn set_decommissioned(&self, server: ServerName, decommissioned: bool) {
        let mut servers = self.decommissioned.lock();
        servers.retain(|have| *have != server);
        if decommissioned {
            servers.push(server);
        }
    }
}
