//! What regions may do, and whether snapshots go: HBase's switches, for all tables, and what a table declares for itself.

use std::sync::Arc;

use rowhouse_model::{Error, MasterSwitch, RegionSwitch, Result};

use super::Store;
use crate::manifest::{Edit, EditKind, SwitchesChanged};
use crate::region::Region;
use crate::table::Table;

impl Store {
    /// Whether a switch is on; all are in a new store.
    pub fn region_switch(&self, switch: RegionSwitch) -> bool {
        is_on(switch, self.inner.engine.manifest.read(|state| state.switches))
    }

    /// Turns a switch on or off; whether it was on. A split or merge that has begun is finished.
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

    /// Whether snapshots are removed when their time has passed; they are in a new store.
    pub fn snapshot_cleanup(&self) -> bool {
        self.inner.engine.manifest.read(|state| !state.switches.snapshot_cleanup_off)
    }

    /// Says whether snapshots are removed when their time has passed; whether they were. Those whose time passes meanwhile stay
    /// listed and can only be deleted, and go once it is on again. When this returns none is being removed any more.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub fn set_snapshot_cleanup(&self, on: bool) -> Result<bool> {
        let before = self.change_switches(|switches| switches.snapshot_cleanup_off = !on)?;
        // Whoever removes some has looked before it was said.
        drop(self.inner.engine.snapshots.lock());
        Ok(!before.snapshot_cleanup_off)
    }

    /// Whether a switch of the master is on; all are in a new store.
    pub fn master_switch(&self, switch: MasterSwitch) -> bool {
        let mut switches = self.inner.engine.manifest.read(|state| state.switches);
        !*off(&mut switches, switch)
    }

    /// Turns a switch of the master on or off; returns whether it was on.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`.
    pub fn set_master_switch(&self, switch: MasterSwitch, on: bool) -> Result<bool> {
        let mut before = self.change_switches(|switches| *off(switches, switch) = !on)?;
        Ok(!*off(&mut before, switch))
    }

    /// Gives back what they were.
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
            let edit = Edit::new(EditKind::SwitchesChanged(switches));
            self.inner.engine.manifest.append(&edit)?;
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
