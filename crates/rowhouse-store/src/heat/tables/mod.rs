//! The heats for all tables in a store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::HeatReport;

use super::budget::Budget;
use super::file::{self, Unusable};
use super::table::TableHeat;
use crate::clock::Clock;
use crate::disk::Disk;

/// How often the heat is written to disk: a crash loses at most this much.
const SAVE_MILLIS: i64 = 10 * 60_000;

/// The heats for all tables in a store.
pub(crate) struct Heat {
    /// `None` if the store keeps no heat.
    budget: Option<Arc<Budget>>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By table id.
    tables: BTreeMap<u64, Arc<TableHeat>>,
    /// The file from an earlier open has been read.
    is_loaded: bool,
    /// Tables whose columns in the file are void: they have other regions now.
    replaced: BTreeSet<u64>,
    saved_millis: i64,
}

impl Heat {
    /// Returns the heat of a store; if not `is_enabled`, the tables have none.
    pub(crate) fn new(is_enabled: bool, clock: &Arc<dyn Clock>) -> Self {
        let known = Known { saved_millis: clock.now_millis(), ..Known::default() };
        let budget = is_enabled.then(|| Arc::new(Budget::new(Arc::clone(clock))));
        Self { budget, known: Mutex::new(known) }
    }

    /// Returns the heat for a new table; `None` if the store keeps no heat.
    pub(crate) fn new_table(&self) -> Option<Arc<TableHeat>> {
        self.budget.as_ref().map(|budget| Arc::new(TableHeat::new(budget)))
    }

    /// Notes the store's tables, by id. Drops tables that it knew and that are not among them.
    pub(crate) fn set_tables(&self, tables: BTreeMap<u64, Arc<TableHeat>>) {
        let mut known = self.known.lock();
        let is_other = |(id, heat): &(&u64, &Arc<TableHeat>)| {
            known.tables.get(id).is_some_and(|before| !Arc::ptr_eq(before, heat))
        };
        let replaced: Vec<u64> = tables.iter().filter(is_other).map(|(id, _)| *id).collect();
        if !replaced.is_empty() {
            // The file has keys from rows that these tables no longer have.
            known.saved_millis = i64::MIN;
            if let Some(budget) = &self.budget {
                budget.note_change();
            }
        }
        known.replaced.extend(replaced);
        known.tables = tables;
    }

    /// Returns a table's heat between two times, in milliseconds since 1970.
    pub(crate) fn report(
        &self,
        disk: &dyn Disk,
        table: &TableHeat,
        from_millis: i64,
        to_millis: i64,
    ) -> HeatReport {
        self.known.lock().load(disk);
        table.report(from_millis, to_millis)
    }

    /// Returns true if there is work for [`Heat::keep`].
    pub(crate) fn needs_upkeep(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.has_tables())
    }

    /// Makes all tables obey their budgets, and returns true if the file is to be written. To be
    /// called every minute or so.
    pub(crate) fn keep(&self) -> bool {
        let Some(budget) = &self.budget else { return false };
        let tables: Vec<_> = self.known.lock().tables.values().cloned().collect();
        tables.iter().for_each(|table| table.keep());
        let now_millis = budget.now_millis();
        let since = now_millis.saturating_sub(self.known.lock().saved_millis);
        !(0..SAVE_MILLIS).contains(&since)
    }

    /// Writes the file, unless there were no requests since it was written. A failure is only
    /// logged.
    pub(crate) fn save(&self, disk: &dyn Disk) {
        let Some(budget) = &self.budget else { return };
        let mut known = self.known.lock();
        known.saved_millis = budget.now_millis();
        if !budget.take_changed() {
            return;
        }
        known.load(disk);
        let tables = known.tables.iter().map(|(id, table)| (*id, table.stored()));
        let tables = tables.filter(|(_, heat)| !heat.columns.is_empty()).collect();
        if let Err(error) = file::write(disk, &tables) {
            tracing::warn!(%error, file = file::PATH, "the heat of tables could not be written");
        }
    }
}

impl Known {
    /// Gives the file's columns to the tables, unless that was done.
    fn load(&mut self, disk: &dyn Disk) {
        if std::mem::replace(&mut self.is_loaded, true) {
            return;
        }
        let replaced = std::mem::take(&mut self.replaced);
        let stored = match file::read(disk) {
            Ok(stored) => stored.unwrap_or_default(),
            Err(why) => return log(&why),
        };
        for (id, heat) in stored {
            if let Some(table) = self.tables.get(&id).filter(|_| !replaced.contains(&id)) {
                table.add_earlier(heat);
            }
        }
    }
}

fn log(why: &Unusable) {
    let file = file::PATH;
    match why {
        Unusable::Io(error) => {
            tracing::warn!(%error, file, "the heat of earlier opens is unreadable");
        }
        Unusable::Version(version) => {
            tracing::warn!(
                version,
                file,
                "the heat was written by a newer version and is not used"
            );
        }
        Unusable::Damaged(why) => {
            tracing::warn!(why, file, "the heat of earlier opens is damaged and is not used");
        }
    }
}

#[cfg(test)]
mod tests;
