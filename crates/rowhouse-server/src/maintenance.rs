//! Administrative settings that last until the server stops.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rowhouse_model::ServerName;

/// The state of a master that HBase, too, keeps only in memory.
pub(crate) struct Maintenance {
    /// The chore that looks for regions left over from splits and merges.
    pub(crate) catalog_janitor: Switch,
    /// The chore that removes unreferenced files.
    pub(crate) cleaner: Switch,
    /// Servers that must not receive regions.
    decommissioned: Mutex<Vec<ServerName>>,
}

/// A switch that is on or off.
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

    /// Sets the switch and returns its previous state.
    pub(crate) fn set(&self, on: bool) -> bool {
        self.0.swap(on, Ordering::Relaxed)
    }
}

impl Maintenance {
    pub(crate) fn decommissioned(&self) -> Vec<ServerName> {
        self.decommissioned.lock().clone()
    }

    /// Marks a server as decommissioned, so that it must not receive regions, or removes the mark.
    pub(crate) fn set_decommissioned(&self, server: ServerName, decommissioned: bool) {
        let mut servers = self.decommissioned.lock();
        servers.retain(|have| *have != server);
        if decommissioned {
            servers.push(server);
        }
    }
}
