//! Drives the heat with a load under a set clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rowhouse_model::HeatReport;
use rowhouse_schema::{LoadKind, LoadProfile, LoadVerdict};

use super::super::{Heat, Load, TableHeat};
use super::load::LabelledLoad;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;

#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns the heat for a store with one table.
fn one_table(clock: &SetClock) -> (Heat, Arc<TableHeat>) {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    let heat = Heat::new(true, &clock);
    let table = heat.new_table().unwrap();
    heat.set_tables(BTreeMap::from([(1, Arc::clone(&table))]));
    (heat, table)
}

/// Records a load and returns the report about all of it.
pub(super) fn report_on(load: &LabelledLoad) -> HeatReport {
    let clock = SetClock(Arc::new(AtomicI64::new(0)));
    let disk = SimulatedDisk::default();
    disk.create_dir(crate::layout::TMP_DIR).unwrap();
    let (mut heat, mut table) = one_table(&clock);
    for (nth, request) in (0..).zip(&load.requests) {
        clock.0.store(request.at_millis, Ordering::Relaxed);
        let is_write = request.is_judged == load.judges_writes;
        let of_request =
            if is_write { Load::of_write(100) } else { Load::of_reads(request.rows, 100) };
        if let Some(weight) = table.weight(nth) {
            table.record(&request.row, of_request, weight, request.rows == 1, None);
        }
    }
    clock.0.fetch_add(load.silent_millis, Ordering::Relaxed);
    if load.is_reopened {
        heat.save(&disk);
        (heat, table) = one_table(&clock);
    }
    heat.keep();
    heat.report(&disk, &table, i64::MIN, i64::MAX)
}

pub(super) fn verdict_on(load: &LabelledLoad) -> LoadVerdict {
    profile_of(load).judge(load.schema().as_ref())
}

pub(super) fn profile_of(load: &LabelledLoad) -> LoadProfile {
    let kind = if load.judges_writes { LoadKind::Writes } else { LoadKind::Reads };
    LoadProfile::of_heat(&report_on(load), kind, load.regions.clone())
}
