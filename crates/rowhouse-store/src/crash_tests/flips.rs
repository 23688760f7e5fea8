//! Every byte of a small store, flipped one at a time, and every file cut at every length: reads
//! either return correct data or fail with an error that names the file. No corruption is silent.

use std::sync::Arc;

use rowhouse_model::{Durability, ErrorKind, FamilyDescriptor, Get, Put, Scan, TableDescriptor};

use super::name;
use crate::disk::Disk;
use crate::disk::simulated::{Faults, SimulatedDisk};
use crate::salvage::salvage_disk;
use crate::{Settings, Store};

const ROWS: u8 = 12;

/// Returns the offsets at which a file is damaged for a salvage. A salvage writes a store, so it
/// takes too long for each byte of the larger files.
fn some_places(path: &str, len: usize) -> impl Iterator<Item = usize> {
    // An odd step, so that each bit is flipped.
    (0..len).step_by(if path == "MANIFEST" { 1 } else { 15 })
}

/// Returns a store with cells in several log segments and in two files. Every write is synced.
pub(super) fn disk(end: End) -> SimulatedDisk {
    disks(end).pop().expect("the last one is the store")
}

/// Returns the same store after a kill at each row, and as it ends.
pub(super) fn disks(end: End) -> Vec<SimulatedDisk> {
    let mut killed = Vec::new();
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    let families = ["f", "g"].map(|name| FamilyDescriptor::new(name).unwrap());
    let [f, g] = families;
    store.create_table(TableDescriptor::new(name()).family(f).family(g), &[]).unwrap();
    let table = store.table(&name()).unwrap();
    for row in 0..ROWS {
        let put = Put::new(format!("row{row:02}")).unwrap();
        let mut put = put.add("f", "q", [row; 20]).unwrap().add("g", "q", [row; 20]).unwrap();
        put.durability = Durability::FsyncWal;
        table.mutate(&put.into()).unwrap();
        if row == ROWS / 2 {
            table.flush().unwrap();
        }
        while store.work_by_hand() {}
        killed.push(disk.after_kill());
    }
    match end {
        End::Closed => {
            drop(table);
            drop(store);
            killed.push(disk);
        }
        End::Killed => {
            store.abandon();
            killed.push(disk.after_kill());
        }
    }
    killed
}

#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Closed,
    Killed,
}

fn open(disk: &SimulatedDisk) -> rowhouse_model::Result<Store> {
    let settings = Settings { wal_segment_bytes: 1200, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([1; 16]).by_hand(1).open()
}

/// The result of reading a damaged store.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// An error reports the damage.
    Refused,
    /// All rows are there.
    Right,
    /// Only the first rows, this many, are there.
    First(u8),
}

/// Opens the store and reads everything. Panics on wrong data.
pub(super) fn read(disk: &SimulatedDisk, damaged: &str) -> Outcome {
    let refused = |error: rowhouse_model::Error| {
        let known = [ErrorKind::Corruption, ErrorKind::Unsupported];
        assert!(known.contains(&error.kind()), "{damaged}: {error:?}");
        let names_a_file = ["MANIFEST", "wal/", "files/", "the log"];
        let text = error.to_string();
        assert!(names_a_file.iter().any(|name| text.contains(name)), "{damaged}: {error}");
        Outcome::Refused
    };
    let store = match open(disk) {
        Ok(store) => store,
        Err(error) => return refused(error),
    };
    let table = match store.table(&name()) {
        Ok(table) => table,
        // The edit that created it was cut off as one that was never acknowledged.
        Err(_) => return Outcome::First(0),
    };
    let mut there = 0;
    for row in 0..ROWS {
        for family in ["f", "g"] {
            let get = Get::new(format!("row{row:02}")).unwrap().family(family);
            let result = match table.get(&get) {
                Ok(result) => result,
                Err(error) => return refused(error),
            };
            match result.value(family, "q") {
                Some(value) => {
                    assert_eq!(&value[..], [row; 20], "{damaged}");
                    assert_eq!(there / 2, row, "{damaged}: a row before row {row} is missing");
                    there += 1;
                }
                None => assert_eq!(there % 2, 0, "{damaged}: half a row"),
            }
        }
    }
    store.abandon();
    if there == ROWS * 2 { Outcome::Right } else { Outcome::First(there / 2) }
}

/// Salvages a damaged store into another one. Returns true if everything is there. Panics on wrong
/// data and on an unreported loss.
pub(super) fn salvage(disk: &SimulatedDisk, damaged: &str) -> bool {
    let whole: Arc<dyn Disk> = Arc::new(disk.clone());
    let into = SimulatedDisk::default();
    let report = match salvage_disk(&whole, [1; 16], || open(&into), |_| {}) {
        Ok(report) => report,
        // Without a manifest the tables are unknown.
        Err(error) => {
            let kinds = [ErrorKind::Corruption, ErrorKind::Unsupported, ErrorKind::Io];
            assert!(kinds.contains(&error.kind()), "{damaged}: {error:?}");
            return false;
        }
    };
    let store = open(&into).unwrap();
    let mut there = 0;
    if let Ok(table) = store.table(&name()) {
        let mut scanner = table.scan(Scan::all()).unwrap();
        while let Some(result) = scanner.next().unwrap() {
            let row: u8 = str::from_utf8(&result.key()[3..]).unwrap().parse().unwrap();
            for cell in result.cells() {
                assert_eq!(cell.value(), [row; 20], "{damaged}");
                there += 1;
            }
        }
    }
    store.abandon();
    assert!(there == ROWS * 2 || !report.lost.is_empty(), "{damaged}: {there} {report:?}");
    there == ROWS * 2
}

#[test]
fn a_salvage_after_any_flipped_bit_reports_every_loss() {
    for end in [End::Closed, End::Killed] {
        let whole = disk(end);
        assert!(salvage(&whole, "whole"));
        for path in whole.paths() {
            for at in some_places(&path, whole.file_len(&path).unwrap()) {
                let disk = whole.after_kill();
                disk.corrupt(&path, at, 1 << (at % 8));
                salvage(&disk, &format!("{path} flipped at {at}, {end:?}"));
            }
        }
    }
}

#[test]
fn a_salvage_of_a_closed_store_reports_truncated_files() {
    let whole = disk(End::Closed);
    for path in whole.paths() {
        for len in some_places(&path, whole.file_len(&path).unwrap()) {
            let disk = whole.after_kill();
            disk.cut(&path, len);
            salvage(&disk, &format!("{path} cut to {len}"));
        }
    }
}

#[test]
fn a_salvage_reports_unreadable_data() {
    let whole = disk(End::Closed);
    let seeds = (0..100).filter(|seed| {
        let disk = SimulatedDisk::seeded(*seed);
        for path in whole.paths() {
            let mut bytes = vec![0; whole.file_len(&path).unwrap()];
            whole.open(&path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
            disk.create(&path).unwrap().write_all_at(&bytes, 0).unwrap();
        }
        disk.set_faults(Faults { read: 15, ..Faults::default() });
        salvage(&disk, &format!("unreadable, {seed}"))
    });
    let salvaged = seeds.count();
    assert!((1..99).contains(&salvaged), "{salvaged}");
}

#[test]
fn a_salvage_reports_each_missing_file() {
    let whole = disk(End::Closed);
    for path in whole.paths() {
        let disk = whole.after_kill();
        disk.remove(&path).unwrap();
        salvage(&disk, &format!("{path} missing"));
    }
}

#[test]
fn a_flipped_bit_anywhere_is_never_a_wrong_answer_nor_a_lost_write() {
    for end in [End::Closed, End::Killed] {
        let whole = disk(end);
        for path in whole.paths() {
            for at in 0..whole.file_len(&path).unwrap() {
                let disk = whole.after_kill();
                disk.corrupt(&path, at, 1 << (at % 8));
                let damaged = format!("{path} flipped at {at}, {end:?}");
                let outcome = read(&disk, &damaged);
                assert!(
                    matches!(outcome, Outcome::Refused | Outcome::Right),
                    "{damaged}: {outcome:?}"
                );
            }
        }
    }
}

#[test]
fn a_store_that_was_closed_misses_nothing_that_is_cut_from_it() {
    let whole = disk(End::Closed);
    for path in whole.paths() {
        for len in 0..whole.file_len(&path).unwrap() {
            let disk = whole.after_kill();
            disk.cut(&path, len);
            let damaged = format!("{path} cut to {len}");
            let outcome = read(&disk, &damaged);
            assert!(matches!(outcome, Outcome::Refused | Outcome::Right), "{damaged}: {outcome:?}");
        }
    }
}

#[test]
fn a_store_that_was_killed_misses_no_synced_write_that_is_cut_from_it() {
    let whole = disk(End::Killed);
    for path in whole.paths() {
        for len in 0..whole.file_len(&path).unwrap() {
            let disk = whole.after_kill();
            disk.cut(&path, len);
            let damaged = format!("{path} cut to {len}");
            let outcome = read(&disk, &damaged);
            assert!(matches!(outcome, Outcome::Refused | Outcome::Right), "{damaged}: {outcome:?}");
        }
    }
}
