//! Requests to tables since the store was opened: counters that never fall.
//!
//! A region counts the requests it receives, and begins at 0: after a split, a merge, a truncation,
//! a restored snapshot or a promoted index a table has other regions. The totals hold the former
//! regions' counts too, which their scanners may still add to. Nothing is added to a request: a
//! total is summed when it is read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::TableName;

use crate::read::RegionCounts;
use crate::region::RegionRequests;
use crate::table::Table;

/// Requests to a store's tables since it was opened. No count falls while the store is open, except
/// that a table that is dropped and created again begins at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreRequests {
    /// The requests to each table, by name.
    pub tables: BTreeMap<TableName, RegionRequests>,
    /// The requests to all tables, also to dropped ones.
    pub all: RegionRequests,
}

/// The counts that [`StoreRequests`] sums.
#[derive(Default)]
pub(crate) struct RequestTotals {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tables: BTreeMap<TableName, Counted>,
    /// The counts for tables that are gone.
    dropped: Counted,
}

/// The counts from regions, present and former ones.
#[derive(Default)]
struct Counted {
    /// The sum of the counts that nothing adds to any more.
    ended: RegionRequests,
    /// By address, so that a region counts once however often the table changes.
    counts: HashMap<usize, Arc<RegionCounts>>,
}

impl RequestTotals {
    /// Notes a change to the store's tables. A table goes on where the table with the same name
    /// was.
    pub(crate) fn note(
        &self,
        before: &BTreeMap<TableName, Arc<Table>>,
        after: &BTreeMap<TableName, Arc<Table>>,
    ) {
        let mut known = self.known.lock();
        for name in before.keys().filter(|name| !after.contains_key(name)) {
            if let Some(gone) = known.tables.remove(name) {
                known.dropped.absorb(gone);
            }
        }
        for (name, table) in after {
            if before.get(name).is_some_and(|same| Arc::ptr_eq(same, table)) {
                continue;
            }
            let counted = known.tables.entry(name.clone()).or_default();
            let counts = table.regions().iter().map(|region| region.counts());
            counted.counts.extend(counts.map(|it| (Arc::as_ptr(it).addr(), Arc::clone(it))));
            counted.settle();
        }
        known.dropped.settle();
    }

    /// Returns the requests so far.
    pub(crate) fn report(&self) -> StoreRequests {
        let mut known = self.known.lock();
        let Known { tables, dropped } = &mut *known;
        let mut report = StoreRequests { all: dropped.total(), ..StoreRequests::default() };
        for (name, counted) in tables {
            let total = counted.total();
            report.all.add(&total);
            report.tables.insert(name.clone(), total);
        }
        report
    }
}

impl Counted {
    fn total(&mut self) -> RegionRequests {
        self.settle();
        let mut total = self.ended;
        self.counts.values().for_each(|counts| total.add(&RegionRequests::of(counts)));
        total
    }

    /// Adds up the counts that neither a region nor a scanner holds: they do not change any more.
    fn settle(&mut self) {
        self.counts.retain(|_, counts| match Arc::get_mut(counts) {
            Some(counts) => {
                self.ended.add(&RegionRequests::of(counts));
                false
            }
            None => true,
        });
    }

    fn absorb(&mut self, other: Self) {
        self.ended.add(&other.ended);
        self.counts.extend(other.counts);
    }
}
