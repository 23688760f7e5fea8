use std::sync::atomic::{AtomicI64, Ordering};

use super::super::load::Load;
use super::*;
use crate::disk::simulated::SimulatedDisk;

#[derive(Clone, Default)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl SetClock {
    fn add(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }

    fn as_clock(&self) -> Arc<dyn Clock> {
        Arc::new(self.clone())
    }
}

fn disk() -> SimulatedDisk {
    let disk = SimulatedDisk::default();
    disk.create_dir(crate::layout::TMP_DIR).unwrap();
    disk
}

/// Returns the heat for a store with one table that has this id.
fn one_table(clock: &SetClock, id: u64) -> (Heat, Arc<TableHeat>) {
    let heat = Heat::new(true, &clock.as_clock());
    let table = heat.new_table().unwrap();
    heat.set_tables(BTreeMap::from([(id, Arc::clone(&table))]));
    (heat, table)
}

/// Returns a key of 200 bytes that shares few with others.
fn long_row(number: u64) -> String {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{mixed:016x}{:016x}{:0168}", mixed.rotate_left(17), number)
}

fn read(table: &TableHeat, row: &str) {
    table.record(row.as_bytes(), Load::of_reads(1, 10), 1, true, None);
}

fn reads(report: &HeatReport) -> u64 {
    report.columns.iter().flat_map(|column| &column.buckets).map(|bucket| bucket.reads).sum()
}

fn report(heat: &Heat, disk: &SimulatedDisk, table: &TableHeat) -> HeatReport {
    heat.report(disk, table, i64::MIN, i64::MAX)
}

#[test]
fn columns_survive_a_close_and_share_the_minute_of_the_next_open() {
    let clock = SetClock::default();
    let disk = disk();
    let (heat, table) = one_table(&clock, 7);
    read(&table, "a");
    clock.add(60_000);
    read(&table, "b");
    heat.save(&disk);
    drop(heat);

    let (heat, table) = one_table(&clock, 7);
    read(&table, "c");
    let heat_report = report(&heat, &disk, &table);
    assert_eq!(reads(&heat_report), 3);
    clock.add(60_000);
    read(&table, "d");
    let heat_report = report(&heat, &disk, &table);
    let columns = heat_report.columns.iter().map(|column| column.start_millis / 60_000);
    assert_eq!(columns.collect::<Vec<_>>(), [0, 1, 2]);
    assert!(!heat_report.is_sampled);
    assert_eq!(heat_report.hot_rows.len(), 4, "hot rows survive the close");
    let heat_report = heat.report(&disk, &table, 60_000, 120_000);
    assert_eq!(reads(&heat_report), 2);
}

#[test]
fn the_file_is_written_every_ten_minutes_and_not_without_requests() {
    let clock = SetClock::default();
    let disk = disk();
    let (heat, table) = one_table(&clock, 7);
    let is_there = |disk: &SimulatedDisk| disk.open(file::PATH).is_ok();
    assert!(!heat.needs_upkeep());
    read(&table, "a");
    assert!(heat.needs_upkeep());
    clock.add(SAVE_MILLIS - 1);
    assert!(!heat.keep());
    clock.add(1);
    assert!(heat.keep());
    heat.save(&disk);
    assert!(!heat.keep());
    assert!(is_there(&disk));
    disk.remove(file::PATH).unwrap();
    clock.add(SAVE_MILLIS);
    assert!(heat.keep());
    heat.save(&disk);
    assert!(!is_there(&disk));
}

#[test]
fn columns_of_the_file_are_not_those_of_a_table_with_other_regions() {
    let clock = SetClock::default();
    let disk = disk();
    let (heat, table) = one_table(&clock, 7);
    read(&table, "a");
    heat.save(&disk);
    let (heat, _) = one_table(&clock, 7);
    let truncated = heat.new_table().unwrap();
    heat.set_tables(BTreeMap::from([(7, Arc::clone(&truncated))]));
    assert_eq!(reads(&report(&heat, &disk, &truncated)), 0);
    // It is written without them within a minute.
    assert!(heat.keep());
    heat.save(&disk);
    let (heat, table) = one_table(&clock, 7);
    assert_eq!(reads(&report(&heat, &disk, &table)), 0);
}

#[test]
fn a_damaged_file_is_ignored_and_replaced() {
    let clock = SetClock::default();
    let disk = disk();
    disk.create(file::PATH).unwrap().write_all_at(b"ROWHHEAT and no more", 0).unwrap();
    let (heat, table) = one_table(&clock, 7);
    read(&table, "a");
    assert_eq!(reads(&report(&heat, &disk, &table)), 1);
    heat.save(&disk);
    let (heat, table) = one_table(&clock, 7);
    assert_eq!(reads(&report(&heat, &disk, &table)), 1);
}

#[test]
fn a_store_without_heat_has_no_tables() {
    let heat = Heat::new(false, &SetClock::default().as_clock());
    assert!(heat.new_table().is_none());
    assert!(!heat.needs_upkeep());
    let disk = disk();
    heat.save(&disk);
    assert!(disk.open(file::PATH).is_err());
}

#[test]
fn a_thousand_tables_take_16_mib() {
    let clock = SetClock::default();
    let heat = Heat::new(true, &clock.as_clock());
    let tables: BTreeMap<u64, _> = (0..1000).map(|id| (id, heat.new_table().unwrap())).collect();
    assert!(tables.values().all(|table| table.bytes() == 0), "nothing before the first request");
    heat.set_tables(tables.clone());
    // The first table is used for hours before the others are.
    for minute in 0..600 {
        for row in 0..500u64 {
            read(&tables[&0], &long_row(minute * 500 + row));
        }
        clock.add(60_000);
    }
    assert!((512 << 10..1 << 20).contains(&tables[&0].bytes()), "{}", tables[&0].bytes());
    for minute in 0..3 {
        for table in tables.values() {
            for row in 0..300u64 {
                read(table, &long_row(minute * 300 + row));
            }
        }
        clock.add(60_000);
    }
    heat.keep();
    let bytes: usize = tables.values().map(|table| table.bytes()).sum();
    assert!(bytes <= 16 << 20, "{bytes}");
    let used = tables.values().filter(|table| table.bytes() > 0).count();
    assert_eq!(used, 512, "the others have no heat");
    let most = tables.values().map(|table| table.bytes()).max();
    assert!(most <= Some(32 << 10), "{most:?}");
}

#[test]
fn sampled_requests_count_for_all_of_them_on_average() {
    let clock = SetClock::default();
    let (heat, table) = one_table(&clock, 7);
    // 50 million requests in 50 seconds; every third is for the hot row.
    let requests: u64 = 3_000_000;
    let mut recorded = 0;
    for nth in 0..requests {
        if nth.is_multiple_of(1000) {
            clock.add(1);
        }
        let Some(weight) = table.weight(nth) else { continue };
        recorded += 1;
        let row = if nth.is_multiple_of(3) { 0 } else { nth.wrapping_mul(7919) % 1000 + 1 };
        table.record(format!("{row:04}").as_bytes(), Load::of_reads(1, 10), weight, true, None);
    }
    assert!(recorded < 3 * 4000 + 4000, "{recorded}");
    let heat_report = report(&heat, &disk(), &table);
    assert!(heat_report.is_sampled);
    let total = reads(&heat_report);
    let is_near = |count: u64, expected: u64| count.abs_diff(expected) < expected / 10;
    assert!(is_near(total, requests), "{total}");
    let hot = &heat_report.hot_rows[0];
    assert_eq!(hot.row, "0000");
    assert!(is_near(hot.reads, requests / 3), "{hot:?}");
}
