//! Administrative settings that last until the server stops.

use std::sync::atomic::{AtomicBool, Ordering};

/// A master's state that HBase, too, keeps only in memory.
pub(crate) struct Maintenance {
    /// The chore that looks for regions left over from splits and merges.
    pub(crate) catalog_janitor: Switch,
    /// The chore that removes unreferenced files.
    pub(crate) cleaner: Switch,
}

/// A switch that is on or off.
pub(crate) struct Switch(AtomicBool);

impl Default for Maintenance {
    fn default() -> Self {
        let on = || Switch(AtomicBool::new(true));
        Self { catalog_janitor: on(), cleaner: on() }
    }
}

impl Switch {
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the switch and returns the previous state.
    pub(crate) fn set(&self, on: bool) -> bool {
        self.0.swap(on, Ordering::Relaxed)
    }
}
