//! Automatic splits for regions that have grown too large.

use std::sync::Arc;

use rowhouse_model::{ErrorKind, Result, RowRange, check_row};

use super::handle::Tables;
use crate::background::{Failed, guard};
use crate::region::Region;
use crate::split::{Situation, is_too_large};
use crate::table::Table;

impl Tables {
    /// Checks regions that received files, until the store is closed.
    pub(super) fn split_when_due(&self) {
        while let Some(region_id) = self.engine.splits.next() {
            self.split_if_due(region_id);
        }
    }

    /// Splits a region that has grown too large. A failure is only logged; the next file of the
    /// region triggers another attempt.
    pub(super) fn split_if_due(&self, region_id: u64) {
        match guard(|| self.try_split(region_id)) {
            Ok(()) => {}
            Err(Failed::Error(error)) if error.kind() == ErrorKind::ServerNotRunning => {}
            Err(error) => tracing::error!(%error, region_id, "a region was not split"),
        }
    }

    fn try_split(&self, region_id: u64) -> Result<()> {
        if self.find_too_large(region_id).is_none() {
            return Ok(());
        }
        let _changing = self.changing.lock();
        self.engine.check_open()?;
        let Some((table, region)) = self.find_too_large(region_id) else { return Ok(()) };
        let at = region.split_row(table.descriptor())?;
        // Otherwise no split point separates rows that may be parted.
        let Some(at) = at.filter(|at| check_row(at).is_ok()) else {
            tracing::debug!(region = %region.name(), "cannot be split");
            return Ok(());
        };
        let RowRange { start, stop } = region.info().range.clone();
        let ranges = [RowRange::new(start, at.clone()), RowRange::new(at, stop)];
        self.replace_regions(&table, &[region], &ranges)
    }

    /// Returns the region, with the table, if it exists, is too large and can be split now.
    fn find_too_large(&self, region_id: u64) -> Option<(Arc<Table>, Arc<Region>)> {
        let settings = &self.engine.settings.split;
        if !settings.automatic || self.engine.manifest.read(|state| state.switches.splits_off) {
            return None;
        }
        let entries = self.catalog.entries();
        let regions = entries.tables.values().map(|table| table.regions().len()).sum::<usize>();
        let (table, region) = entries.tables.values().find_map(|table| {
            let mut regions = table.regions().iter();
            Some((table, regions.find(|region| region.id() == region_id)?))
        })?;
        let descriptor = table.descriptor();
        // An unknown policy or restriction was declared before the store validated it.
        let policy = descriptor.split_policy().ok()?;
        descriptor.split_restriction().ok()?;
        let can_split = descriptor.split_enabled()
            && region.check_serving().is_ok()
            && regions < settings.regions_max
            && self.check_split_quota(region).is_ok()
            && region
                .families()
                .iter()
                .all(|family| !family.is_blocked() && !family.has_wider_files());
        let situation = Situation {
            table: descriptor,
            policy: &policy,
            region_id,
            regions: table.regions().len() as u64,
            bytes: region.families().iter().map(|family| family.file_bytes()).max().unwrap_or(0),
        };
        let due = can_split && is_too_large(&situation, settings);
        due.then(|| (Arc::clone(table), Arc::clone(region)))
    }
}
