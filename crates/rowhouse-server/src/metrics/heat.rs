//! The heat of tables, judged for alerts.

use rowhouse_model::{HeatColumn, HeatReport};
use rowhouse_schema::{KeySchema, LoadKind, LoadProfile, LoadVerdict};
use rowhouse_store::{Store, Table};

/// A table's heat in the last minutes.
pub(super) struct TableHeat {
    pub(super) table: String,
    /// The mean over the requests.
    pub(super) range_share: f64,
    /// 0 if no row is certainly hot.
    pub(super) row_share: f64,
    /// The verdicts about reads and writes.
    pub(super) verdicts: [(&'static str, LoadVerdict); 2],
}

/// Returns the heat of the first tables, by name, that had requests in the last milliseconds.
pub(super) fn of_tables(store: &Store, millis: i64, tables_max: usize) -> Vec<TableHeat> {
    let now_millis = store.now_millis();
    let heats = store.tables().into_iter().filter_map(|table| {
        let report = table.heat(now_millis - millis, i64::MAX);
        (!report.columns.is_empty()).then(|| TableHeat::new(&table, &report))
    });
    heats.take(tables_max).collect()
}

impl TableHeat {
    fn new(table: &Table, report: &HeatReport) -> Self {
        let schema = KeySchema::of_table(table.descriptor()).ok().flatten();
        let judge = |kind| {
            let regions = table.regions().iter().map(|region| region.info().range.clone());
            LoadProfile::of_heat(report, kind, regions.collect()).judge(schema.as_ref())
        };
        let all: u64 = report.columns.iter().map(|column| requests(column).sum::<u64>()).sum();
        let hottest = report.columns.iter().filter_map(|column| requests(column).max());
        let row = report.hot_rows.first().map_or(0, |row| row.requests_min());
        let share = |part: u64| (part as f64 / all.max(1) as f64).min(1.0);
        Self {
            table: table.name().to_string(),
            range_share: share(hottest.sum()),
            row_share: share(row),
            verdicts: [("reads", judge(LoadKind::Reads)), ("writes", judge(LoadKind::Writes))],
        }
    }
}

/// Returns the requests to each range.
fn requests(column: &HeatColumn) -> impl Iterator<Item = u64> {
    column.buckets.iter().map(|bucket| bucket.reads + bucket.writes)
}
