//! Tests for the store under kills, power cuts, and failing, full or corrupting disks.

mod blocks;
mod counters;
mod damaged_indexes;
mod file_faults;
mod flips;
mod history;
mod moments;
mod promotion;
mod replacement;
mod whole_changes;

use rowhouse_model::{
    Delete, Durability, ErrorKind, FamilyDescriptor, Get, Namespace, Put, Scan, TableDescriptor,
    TableName,
};

use crate::disk::simulated::{Faults, SimulatedDisk};
use crate::{CompactionKind, CompactionSettings, Settings, Store};

/// Opens the store in the machine's boot number `boot`, which rises with each power cut.
fn open(disk: &SimulatedDisk, boot: u8) -> rowhouse_model::Result<Store> {
    // Small files, which a compaction would soon reduce to one.
    let compaction = CompactionSettings {
        files_min: 2,
        ratio: 0.9,
        bytes_min: Some(0),
        ..CompactionSettings::default()
    };
    let settings = Settings { wal_segment_bytes: 600, compaction, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([boot; 16]).open()
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn create(store: &Store) {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    let descriptor = TableDescriptor::new(name()).family(family("f")).family(family("g"));
    store.create_table(descriptor, &[]).unwrap();
}

fn put(store: &Store, row: u8, value: u8, synced: bool) -> rowhouse_model::Result<()> {
    let put = Put::new(row.to_string()).unwrap();
    let mut put = put.add("f", "q", [value]).unwrap().add("g", "q", [value]).unwrap();
    put.durability = if synced { Durability::FsyncWal } else { Durability::UseDefault };
    store.table(&name()).unwrap().mutate(&put.into()).map(|_| ())
}

/// Returns each row's value, after checking that no row is torn between families.
fn values(store: &Store) -> Vec<Option<u8>> {
    let table = store.table(&name()).unwrap();
    let values = (0..16u8).map(|row| {
        let row = table.get(&Get::new(row.to_string()).unwrap()).unwrap();
        let f = row.value("f", "q");
        let g = row.value("g", "q");
        assert_eq!(f, g, "half a mutation is visible");
        f.map(|value| value[0])
    });
    values.collect()
}

#[test]
fn a_synced_write_after_unsynced_writes_of_a_killed_process_survives() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    store.abandon();
    let disk = disk.after_kill();
    let store = open(&disk, 1).unwrap();
    put(&store, 2, 2, true).unwrap();
    store.abandon();
    assert_eq!(values(&open(&disk.after_power_cut(0), 2).unwrap())[2], Some(2));
}

#[test]
fn no_half_of_a_mutation_survives_in_the_file_of_one_family() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    let region = store.table(&name()).unwrap().regions()[0].clone();
    crate::flush::flush(region.engine(), &region.families()[0]).unwrap();
    store.abandon();
    let store = open(&disk.after_power_cut(0), 2).unwrap();
    assert_eq!(values(&store)[1], Some(1));
}

/// Returns a store with four rows, to be loaded into others.
fn source(dir: &tempfile::TempDir) -> Store {
    let source = Store::open(dir.path()).unwrap();
    create(&source);
    (0..4).for_each(|row| put(&source, row, 9, false).unwrap());
    source
}

#[test]
fn a_load_is_there_as_a_whole_or_not_at_all_wherever_the_disk_fails() {
    let from = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let cells = crate::ExportedCells::Retained;
    source(&from).export_hfiles(&name(), files.path(), cells, |_| {}).unwrap();
    let files = crate::files_to_load(files.path()).unwrap();
    is_whole_wherever_the_disk_fails(|store| store.bulk_load(&name(), &files, |_| {}));
}

#[test]
fn a_store_opens_after_a_power_cut_that_follows_a_load() {
    let from = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let cells = crate::ExportedCells::Retained;
    source(&from).export_hfiles(&name(), files.path(), cells, |_| {}).unwrap();
    let files = crate::files_to_load(files.path()).unwrap();
    let other = TableName::parse("u").unwrap();
    for loads in [false, true] {
        let mut refused = Vec::new();
        for seed in 0..60 {
            let disk = SimulatedDisk::default();
            let store = open(&disk, 1).unwrap();
            create(&store);
            let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
            let descriptor =
                TableDescriptor::new(other.clone()).family(family("f")).family(family("g"));
            store.create_table(descriptor, &[]).unwrap();
            (0..6).for_each(|row| put(&store, row, 1, false).unwrap());
            if loads {
                store.bulk_load(&other, &files, |_| {}).unwrap();
            }
            store.abandon();
            let cut = disk.after_power_cut(seed);
            refused.extend(open(&cut, 2).err().map(|error| (seed, error.to_string())));
        }
        assert!(refused.is_empty(), "loads={loads}: {} of 60: {:?}", refused.len(), refused[0]);
    }
}

#[test]
fn a_load_does_not_take_the_reserve() {
    let from = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let cells = crate::ExportedCells::Retained;
    source(&from).export_hfiles(&name(), files.path(), cells, |_| {}).unwrap();
    let files = crate::files_to_load(files.path()).unwrap();
    let disk = SimulatedDisk::default();
    let settings = Settings { disk_reserve_bytes: 1 << 20, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    let store = builder.with_boot_id([1; 16]).open().unwrap();
    create(&store);
    disk.set_capacity(Some(disk.used_bytes() + (100 << 10)));
    assert_eq!(put(&store, 1, 1, true).unwrap_err().kind(), ErrorKind::RegionTooBusy);
    let loaded = store.bulk_load(&name(), &files, |_| {});
    assert_eq!(loaded.unwrap_err().kind(), ErrorKind::RegionTooBusy);
}

#[test]
fn a_load_of_rows_is_there_as_a_whole_or_not_at_all_wherever_the_disk_fails() {
    let from = tempfile::tempdir().unwrap();
    let mut scanner = source(&from).table(&name()).unwrap().scan(Scan::all()).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        rows.push(row.to_cells());
    }
    is_whole_wherever_the_disk_fails(|store| {
        let mut rows = rows.clone().into_iter();
        store.load_rows(&name(), || Ok(rows.next()))
    });
}

/// Makes the disk fail at the first change in a load of four rows, then at the second, and so on.
fn is_whole_wherever_the_disk_fails(
    load: impl Fn(&Store) -> rowhouse_model::Result<crate::LoadReport>,
) {
    let mut failed = 0;
    for changes in 0.. {
        let disk = SimulatedDisk::default();
        let store = open(&disk, 1).unwrap();
        create(&store);
        put(&store, 5, 1, true).unwrap();
        let before = values(&store);
        disk.fail_after(changes);
        let is_done = load(&store).is_ok();
        store.abandon();
        for (disk, boot) in [(disk.after_kill(), 1), (disk.after_power_cut(changes), 2)] {
            let values = values(&open(&disk, boot).unwrap());
            let is_loaded = values[..6] == [Some(9), Some(9), Some(9), Some(9), None, Some(1)];
            assert!(is_loaded || values == before, "{changes} {values:?}");
            assert!(is_loaded || !is_done, "{changes} {values:?}");
        }
        if is_done {
            break;
        }
        failed += 1;
    }
    assert!(failed > 5, "{failed}");
}

#[test]
fn memory_is_given_back_to_the_byte_after_writers_side_by_side() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || (0..200).for_each(|_| put(store, writer, 1, false).unwrap()));
        }
    });
    let table = store.table(&name()).unwrap();
    table.flush().unwrap();
    assert_eq!(table.regions()[0].engine().memory.bytes(), 0);
}

#[test]
fn sequences_of_forgotten_segments_are_not_given_out_again() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    let table = store.table(&name()).unwrap();
    for _ in 0..500 {
        let mut unlogged = Put::new("x").unwrap().add("f", "q", "x").unwrap();
        unlogged.durability = Durability::SkipWal;
        table.mutate(&unlogged.into()).unwrap();
    }
    drop((table, store));
    let store = open(&disk, 1).unwrap();
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    create(&store);
    for row in 0..16 {
        put(&store, row, row, false).unwrap();
    }
    drop(store);
    let stored = values(&open(&disk, 1).unwrap());
    assert_eq!(stored, (0..16).map(Some).collect::<Vec<_>>());
}

#[test]
fn unlogged_writes_survive_a_clean_close_but_no_kill() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    let unlogged = |store: &Store, row: &str| {
        let mut put = Put::new(row.to_owned()).unwrap().add("f", "q", [9]).unwrap();
        put.durability = Durability::SkipWal;
        store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    };
    unlogged(&store, "kept");
    store.close().unwrap();
    drop(store);
    let store = open(&disk, 1).unwrap();
    unlogged(&store, "lost");
    store.abandon();
    let store = open(&disk.after_kill(), 1).unwrap();
    let table = store.table(&name()).unwrap();
    let there = |row: &str| !table.get(&Get::new(row.to_owned()).unwrap()).unwrap().is_empty();
    assert_eq!((there("1"), there("kept"), there("lost")), (true, true, false));
}

#[test]
fn a_full_disk_refuses_writes_leaves_room_for_deletes_and_flushes_and_recovers() {
    let disk = SimulatedDisk::default();
    let settings = Settings { disk_reserve_bytes: 60_000, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    let store = builder.with_boot_id([1; 16]).open().unwrap();
    create(&store);
    disk.set_capacity(Some(disk.used_bytes() + 70_000));
    let mut written = 0;
    let error = loop {
        match put(&store, written, written, false) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::RegionTooBusy);
    assert!(error.message().contains("reserve=60000"), "{error}");
    assert!(written > 10, "{written}");
    // Deletes make room in the end, but making room needs some itself.
    let table = store.table(&name()).unwrap();
    table.mutate(&Delete::new("0").unwrap().into()).unwrap();
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    assert_eq!(values(&store)[..3], [None, Some(1), Some(2)]);
    disk.set_capacity(None);
    put(&store, 0, 7, false).unwrap();
    assert_eq!(values(&store)[0], Some(7));
    store.close().unwrap();
}

#[test]
fn a_full_disk_is_called_one_without_a_reserve_too() {
    // Too small for room that is made for the log in advance.
    let small = Some(512 << 20);
    let disk = SimulatedDisk::default();
    disk.set_capacity(small);
    let settings = Settings { disk_reserve_bytes: 0, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings.clone()).with_disk(disk.clone());
    let store = builder.with_boot_id([1; 16]).by_hand(1).open().unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    disk.set_capacity(Some(disk.used_bytes()));
    let table = store.table(&name()).unwrap();
    let other = TableDescriptor::new(TableName::parse("u").unwrap());
    let other = other.family(FamilyDescriptor::new("f").unwrap());
    let refused = [
        put(&store, 2, 2, true),
        table.flush(),
        store.create_table(other, &[]),
        store.disable_table(&name()),
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        let error = refused.unwrap_err();
        assert!(error.message().starts_with("the disk is full"), "{number}: {error}");
        let kinds = [ErrorKind::Io, ErrorKind::RegionTooBusy];
        assert!(kinds.contains(&error.kind()), "{number}: {error:?}");
    }
    disk.set_capacity(small);
    put(&store, 3, 3, true).unwrap();
    table.flush().unwrap();
    assert_eq!(values(&store)[..4], [None, Some(1), None, Some(3)]);
    drop(table);
    store.close().unwrap();
    drop(store);
    disk.set_capacity(Some(disk.used_bytes()));
    let builder = Store::builder("simulated").settings(settings).with_disk(disk);
    let error = builder.with_boot_id([1; 16]).open().map(drop).unwrap_err();
    assert!(error.message().starts_with("the disk is full"), "{error}");
}

#[test]
fn a_write_that_the_disk_refuses_is_a_hole_and_the_next_one_is_taken() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    disk.set_faults(Faults { write: 255, ..Faults::default() });
    // Some writes may succeed: try until one fails.
    let refused = (2..).find(|row| put(&store, *row, *row, false).is_err()).unwrap();
    disk.set_faults(Faults::default());
    put(&store, 0, 0, true).unwrap();
    let seen = values(&store);
    assert_eq!((seen[0], seen[1], seen[usize::from(refused)]), (Some(0), Some(1), None));
    store.abandon();
    for disk in [disk.after_kill(), disk.after_power_cut(1)] {
        assert_eq!(values(&open(&disk, 2).unwrap()), seen);
    }
}

#[test]
fn a_split_that_could_not_be_written_down_is_not_there_after_a_kill() {
    for seed in 0..40 {
        let disk = SimulatedDisk::seeded(seed);
        let store = open(&disk, 1).unwrap();
        create(&store);
        put(&store, 1, 1, true).unwrap();
        let table = store.table(&name()).unwrap();
        table.flush().unwrap();
        disk.set_faults(Faults { write: 255, ..Faults::default() });
        let region = table.regions()[0].clone();
        let split = store.split_region(&region.name().full, Some("5".into()));
        disk.set_faults(Faults::default());
        // If the edit could not be undone, nothing is written that could be lost with the region.
        let written = put(&store, 2, 2, true).is_ok();
        assert!(split.is_err() || written, "{split:?}");
        store.abandon();
        for disk in [disk.after_kill(), disk.after_power_cut(seed)] {
            let stored = values(&open(&disk, 2).unwrap());
            assert_eq!((stored[1], stored[2]), (Some(1), written.then_some(2)), "{seed} {split:?}");
        }
    }
}

#[test]
fn a_failed_sync_ends_writing_until_the_store_is_opened_again() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    disk.set_faults(Faults { sync: 255, ..Faults::default() });
    let error = (0..9).find_map(|_| put(&store, 2, 2, true).err()).unwrap();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    disk.set_faults(Faults::default());
    assert_eq!(put(&store, 3, 3, false).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(values(&store)[1], Some(1));
    store.abandon();
    let store = open(&disk.after_kill(), 1).unwrap();
    put(&store, 3, 3, false).unwrap();
    assert_eq!((values(&store)[1], values(&store)[3]), (Some(1), Some(3)));
}

#[test]
fn a_disk_that_is_elsewhere_ends_writing_until_the_store_is_opened_again() {
    let flush = |store: &Store| store.table(&name()).unwrap().flush();
    let edit = |store: &Store| store.create_namespace(Namespace::new("n").unwrap());
    let sync = |store: &Store| store.engine().wal().sync_in_background();
    type Change<'a> = &'a dyn Fn(&Store) -> rowhouse_model::Result<()>;
    let refused: [Change<'_>; 3] = [&flush, &edit, &sync];
    for (number, refused) in refused.into_iter().enumerate() {
        let disk = SimulatedDisk::default();
        let store = open(&disk, 1).unwrap();
        create(&store);
        put(&store, 1, 1, true).unwrap();
        put(&store, 2, 2, false).unwrap();
        store.check_writable().unwrap();
        disk.set_removed(true);
        assert!(refused(&store).is_err(), "{number}");
        disk.set_removed(false);
        assert!(store.check_writable().is_err(), "{number}");
        store.abandon();
        let stored = values(&open(&disk.after_kill(), 1).unwrap());
        assert_eq!((stored[1], stored[2]), (Some(1), Some(2)), "{number}");
    }
}

#[test]
fn merged_files_of_a_killed_process_are_removed_and_foreign_files_stay() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    let table = store.table(&name()).unwrap();
    for row in 0..3 {
        put(&store, row, row, false).unwrap();
        table.flush().unwrap();
    }
    // Keeps the compacted files.
    let mut scanner = table.scan(Scan::all()).unwrap();
    table.compact(CompactionKind::Major).unwrap();
    assert!(scanner.next().unwrap().is_some());
    crate::Disk::create(&disk, "files/0000009999.hfile").unwrap();
    let killed = disk.after_kill();
    assert!(disk_files(&killed).len() > 3, "{:?}", disk_files(&killed));
    let store = open(&killed, 1).unwrap();
    assert_eq!(disk_files(&killed).len(), 2);
    let aside = crate::Disk::list(&killed, "aside").unwrap();
    assert!(matches!(&aside[..], [name] if name.ends_with("-0000009999.hfile")), "{aside:?}");
    assert_eq!(values(&store)[..3], [Some(0), Some(1), Some(2)]);
}

#[test]
fn data_without_a_manifest_is_refused() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, false).unwrap();
    drop(store);
    for copy in ["MANIFEST", "MANIFEST.copy"] {
        crate::Disk::remove(&disk, copy).unwrap();
    }
    let error = open(&disk, 1).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
}

#[test]
fn damage_below_the_synced_offset_is_refused_even_after_a_restart() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    put(&store, 2, 2, true).unwrap();
    store.abandon();
    let disk = disk.after_power_cut(0);
    disk.corrupt("wal/0000000001.wal", 120 + 40, 1);
    let error = open(&disk, 2).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
}

#[test]
fn a_corrupt_block_fails_its_read_and_leaves_the_others() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    for row in 0..16 {
        put(&store, row, row, false).unwrap();
    }
    let table = store.table(&name()).unwrap();
    table.flush().unwrap();
    put(&store, 3, 99, false).unwrap();
    let file = disk_files(&disk).remove(0);
    disk.corrupt(&file, 60, 0x10);
    let error = table.get(&Get::new("5").unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains(&file), "{error}");
    assert!(table.scan(Scan::all().family("f")).is_err());
    // The other family's file is undamaged, and writes continue.
    let row = table.get(&Get::new("5").unwrap().family("g")).unwrap();
    assert_eq!(row.value("g", "q").as_deref(), Some(&[5][..]));
    put(&store, 4, 4, false).unwrap();
    // A compaction does not drop unreadable cells.
    table.flush().unwrap();
    assert!(table.compact(CompactionKind::Major).is_err());
    disk.corrupt(&file, 60, 0x10);
    assert_eq!(values(&store)[5], Some(5));
}

#[test]
fn a_scanner_that_met_a_corrupt_block_does_not_come_to_an_end() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    let table = store.table(&name()).unwrap();
    for row in ["1", "2", "3"] {
        let block = vec![7; 100_000];
        table.mutate(&Put::new(row).unwrap().add("f", "q", block).unwrap().into()).unwrap();
    }
    table.flush().unwrap();
    let mut scanner = table.scan(Scan::all()).unwrap();
    assert!(scanner.next().unwrap().is_some());
    let file = disk_files(&disk).remove(0);
    disk.corrupt(&file, 150_000, 0x10);
    disk.corrupt(&file, 250_000, 0x10);
    assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::Corruption);
    assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::UnknownScanner);
}

fn disk_files(disk: &SimulatedDisk) -> Vec<String> {
    use crate::Disk;
    let names = disk.list("files").unwrap();
    names.into_iter().map(|name| format!("files/{name}")).collect()
}

#[test]
fn a_write_without_log_between_two_segments_leaves_no_gap_in_the_log() {
    for puts in 0..16 {
        let disk = SimulatedDisk::default();
        let settings = Settings { wal_segment_bytes: 600, ..Settings::default() };
        let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
        let store = builder.with_boot_id([1; 16]).by_hand(1).open().unwrap();
        create(&store);
        (0..puts).for_each(|row| put(&store, row, row, true).unwrap());
        while store.work_by_hand() {}
        let table = store.table(&name()).unwrap();
        table.flush().unwrap();
        let mut unlogged = Put::new("x").unwrap().add("g", "q", "x").unwrap();
        unlogged.durability = Durability::SkipWal;
        table.mutate(&unlogged.into()).unwrap();
        let logged = Put::new("y").unwrap().add("f", "q", "y").unwrap();
        table.mutate(&logged.into()).unwrap();
        let region = table.regions()[0].clone();
        crate::flush::flush(region.engine(), &region.families()[0]).unwrap();
        crate::flush::release_flushed_segments(region.engine()).unwrap();
        while store.work_by_hand() {}
        store.abandon();
        let store = open(&disk.after_kill(), 1);
        let stored = values(&store.unwrap_or_else(|error| panic!("{puts}: {error}")));
        assert_eq!(stored, (0..16).map(|row| (row < puts).then_some(row)).collect::<Vec<_>>());
    }
}

#[test]
fn an_unreadable_bloom_fails_no_read_and_is_reported_by_a_check() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1).unwrap();
    create(&store);
    (0..16).step_by(2).for_each(|row| put(&store, row, row, true).unwrap());
    store.table(&name()).unwrap().flush().unwrap();
    store.close().unwrap();
    drop(store);
    for path in disk_files(&disk) {
        let mut bytes = vec![0; disk.file_len(&path).unwrap()];
        crate::Disk::open(&disk, &path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
        let chunk = bytes.windows(8).position(|magic| magic == b"BLMFBLK2").unwrap();
        disk.corrupt(&path, chunk + 40, 1);
    }
    let whole: std::sync::Arc<dyn crate::Disk> = std::sync::Arc::new(disk.clone());
    let report = crate::check::check_disk(&whole, [1; 16], |_| {}).unwrap();
    let texts: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().all(|text| text.contains("checksum mismatch")), "{texts:?}");
    let store = open(&disk, 1).unwrap();
    let stored = values(&store);
    assert_eq!(stored, (0..16).map(|row| (row % 2 == 0).then_some(row)).collect::<Vec<_>>());
}
