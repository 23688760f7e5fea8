//! HBase's switches for splits, merges and snapshot cleanup in all tables, combined with the
//! attributes of a table.

use std::sync::Arc;

use rowhouse_model::{Error, MasterSwitch, RegionSwitch, Result};

use super::Store;
use crate::manifest::{EditKind, SwitchesChanged};
use crate::region::Region;
use crate::table::Table;

impl Store {
    /// Returns true if a switch is on; all are on in a new store.
    pub fn region_switch(&self, switch: RegionSwitch) -> bool {
        is_on(switch, self.inner.engine.manifest.read(|state| state.switches))
    }

    /// Turns a switch on or off; returns true if it was on. Splits and merges in progress finish.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub fn set_region_switch(&self, switch: RegionSwitch, on: bool) -> Result<bool> {
        let before = self.change_switches(|switches| match switch {
            RegionSwitch::Split => switches.splits_off = !on,
            RegionSwitch::Merge => switches.merges_off = !on,
        })?;
        Ok(is_on(switch, before))
    }

    /// Returns true if the cleanup removes expired snapshots; it does in a new store.
    pub fn snapshot_cleanup(&self) -> bool {
        self.inner.engine.manifest.read(|state| !state.switches.snapshot_cleanup_off)
    }

    /// Turns the cleanup of expired snapshots on or off; returns true if it was on. While it is
    /// off, expired snapshots stay listed and can only be deleted; once it is on again it removes
    /// them. When this returns, no removal is in progress.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub fn set_snapshot_cleanup(&self, on: bool) -> Result<bool> {
        let before = self.change_switches(|switches| switches.snapshot_cleanup_off = !on)?;
        // Waits for a removal that read the switch before the change.
        drop(self.inner.engine.snapshots.lock());
        Ok(!before.snapshot_cleanup_off)
    }

    /// Returns true if a master switch is on; all are on in a new store.
    pub fn master_switch(&self, switch: MasterSwitch) -> bool {
        let mut switches = self.inner.engine.manifest.read(|state| state.switches);
        !*off(&mut switches, switch)
    }

    /// Turns a master switch on or off; returns true if it was on.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub fn set_master_switch(&self, switch: MasterSwitch, on: bool) -> Result<bool> {
        let mut before = self.change_switches(|switches| *off(switches, switch) = !on)?;
        Ok(!*off(&mut before, switch))
    }

    /// Returns the switches as they were before.
    fn change_switches(
        &self,
        change: impl FnOnce(&mut SwitchesChanged),
    ) -> Result<SwitchesChanged> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let before = self.inner.engine.manifest.read(|state| state.switches);
        let mut switches = before;
        change(&mut switches);
        if switches != before {
            self.inner.engine.append_edit(EditKind::SwitchesChanged(switches))?;
        }
        Ok(before)
    }

    pub(super) fn check_split_allowed(&self, table: &Table, region: &Region) -> Result<()> {
        let refuse =
            |why| Err(Error::invalid(format!("Split region {} failed {why}", region.name())));
        if !self.region_switch(RegionSwitch::Split) {
            return refuse("due to split switch off");
        }
        if !table.descriptor().split_enabled() {
            return refuse("as region split is disabled for the table");
        }
        Ok(())
    }

    pub(super) fn check_merge_allowed(&self, table: &Table, regions: &[Arc<Region>]) -> Result<()> {
        let refuse = |why| {
            let names: Vec<_> = regions.iter().map(|region| &*region.name().encoded).collect();
            Err(Error::invalid(format!("Merge of [{}] failed {why}", names.join(", "))))
        };
        if !self.region_switch(RegionSwitch::Merge) {
            return refuse("because merge switch is off");
        }
        if !table.descriptor().merge_enabled() {
            return refuse("as region merge is disabled for the table");
        }
        Ok(())
    }
}

fn off(switches: &mut SwitchesChanged, switch: MasterSwitch) -> &mut bool {
    match switch {
        MasterSwitch::Balancer => &mut switches.balancer_off,
        MasterSwitch::Normalizer => &mut switches.normalizer_off,
        MasterSwitch::PeerModification => &mut switches.peer_modification_off,
    }
}

fn is_on(switch: RegionSwitch, switches: SwitchesChanged) -> bool {
    match switch {
        RegionSwitch::Split => !switches.splits_off,
        RegionSwitch::Merge => !switches.merges_off,
    }
}
