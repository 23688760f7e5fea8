//! The heat of tables, judged for alerts.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{HeatColumn, HeatReport, RowRange};
use rowhouse_schema::{KeySchema, LoadProfile, LoadVerdict, Placement};
use rowhouse_store::{Store, Table};

use crate::cluster::Cluster;
use crate::region_server::RegionServer;

/// How long a judgement is used: scrapes, of which several programs may make many, are cheap.
const JUDGED_FOR: Duration = Duration::from_secs(10);

/// The heats that were judged last, and when.
#[derive(Default)]
pub(crate) struct JudgedHeats(Mutex<Option<(Instant, Arc<Vec<TableHeat>>)>>);

impl JudgedHeats {
    /// Returns the heats of the tables with the most requests in the last milliseconds, the busiest
    /// first, as they were judged at most ten seconds ago.
    pub(super) fn of_tables(
        &self,
        cluster: &Cluster,
        millis: i64,
        tables_max: usize,
    ) -> Arc<Vec<TableHeat>> {
        // Other scrapes wait for the one that judges.
        let mut judged = self.0.lock();
        match &*judged {
            Some((at, heats)) if at.elapsed() < JUDGED_FOR => Arc::clone(heats),
            _ => {
                let live = cluster.members.live();
                let heats = Arc::new(of_tables(&cluster.store, &live, millis, tables_max));
                *judged = Some((Instant::now(), Arc::clone(&heats)));
                heats
            }
        }
    }
}

/// A table's heat in the last minutes.
pub(crate) struct TableHeat {
    pub(super) table: String,
    /// The mean over the requests.
    pub(super) range_share: f64,
    /// 0 if no row is certainly hot.
    pub(super) row_share: f64,
    /// The verdicts about writes and reads, without remedies.
    pub(super) verdicts: [(&'static str, LoadVerdict); 2],
}

/// Returns the heats of the tables with the most requests in the last milliseconds.
fn of_tables(
    store: &Store,
    live: &[Arc<RegionServer>],
    millis: i64,
    tables_max: usize,
) -> Vec<TableHeat> {
    let since = store.now_millis() - millis;
    let busy = store.tables().into_iter().filter_map(|table| {
        let report = table.heat(since, i64::MAX);
        let all = report.columns.iter().flat_map(requests).fold(0, u64::saturating_add);
        (all > 0).then_some((all, table))
    });
    let mut busy: Vec<(u64, Arc<Table>)> = busy.collect();
    busy.sort_by_key(|(all, table)| (Reverse(*all), table.name().clone()));
    let busy = busy.into_iter().take(tables_max);
    busy.map(|(_, table)| TableHeat::new(live, &table, &table.heat(since, i64::MAX))).collect()
}

/// Returns a table's template, and the regions.
pub(crate) fn keys_of(table: &Table) -> (Option<KeySchema>, Vec<RowRange>) {
    let schema = KeySchema::of_table(table.descriptor()).ok().flatten();
    let regions = table.regions().iter().map(|region| region.info().range.clone());
    (schema, regions.collect())
}

/// Returns which of the live region servers serve a table's regions.
pub(crate) fn placement_of(live: &[Arc<RegionServer>], table: &Table) -> Placement {
    let servers = live.iter().map(|server| server.name.address()).collect();
    let regions = table.regions().iter().map(|region| {
        let assignment = region.assignment();
        let server = live.iter().find(|server| server.number == assignment.server);
        server.filter(|_| assignment.in_service).map(|server| server.name.address())
    });
    Placement::new(servers, regions)
}

impl TableHeat {
    fn new(live: &[Arc<RegionServer>], table: &Table, report: &HeatReport) -> Self {
        let (schema, regions) = keys_of(table);
        let placement = placement_of(live, table);
        let all: u64 = report.columns.iter().map(|column| requests(column).sum::<u64>()).sum();
        let hottest = report.columns.iter().filter_map(|column| requests(column).max());
        let row = report.hot_rows.first().map_or(0, |row| row.requests_min());
        let share = |part: u64| (part as f64 / all.max(1) as f64).min(1.0);
        Self {
            table: table.name().to_string(),
            range_share: share(hottest.sum()),
            row_share: share(row),
            verdicts: LoadProfile::of_kinds(report, &regions, &placement)
                .map(|(kind, profile)| (kind.name(), profile.cause(schema.as_ref()))),
        }
    }
}

/// Returns the requests to each range.
fn requests(column: &HeatColumn) -> impl Iterator<Item = u64> {
    column.buckets.iter().map(|bucket| bucket.reads.saturating_add(bucket.writes))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Get, TableDescriptor, TableName};

    use super::*;

    #[test]
    fn the_tables_with_the_most_requests_are_judged() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for (name, gets) in [("a", 1), ("b", 3), ("c", 2), ("d", 0)] {
            let name = TableName::parse(name).unwrap();
            let family = FamilyDescriptor::new("f").unwrap();
            store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
            let table = store.table(&name).unwrap();
            for _ in 0..gets {
                table.get(&Get::new("r").unwrap()).unwrap();
            }
        }
        let names = |tables_max| {
            let heats = of_tables(&store, &[], 600_000, tables_max).into_iter();
            heats.map(|heat| heat.table).collect::<Vec<_>>()
        };
        assert_eq!(names(2), ["b", "c"]);
        assert_eq!(names(9), ["b", "c", "a"]);
    }
}
