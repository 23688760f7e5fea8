//! Damage to each file of each kind of index: answers stay right, writes go on, and the index is
//! rebuilt.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Delete, Durability, ErrorKind, FamilyDescriptor, Mutation, Put, Scan, TableDescriptor,
    TableName,
};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE, KeySchema, index_damage,
};

use crate::check::check_disk;
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;
use crate::layout::file_path;
use crate::{Settings, Store, Table};

const KEY: &str = "[user string][n u8]";
const COLUMNS: &str = "1 d:f sender string; d:s subject string; d:z size u8; d:e email string";
const INDEXES: &str = "1 by_sender [sender]; large [size desc] covers subject where size > 3; \
                       one_email [email] unique; by_n [n][user] covers *";
const NAMES: [&str; 4] = ["by_sender", "large", "one_email", "by_n"];
const ROWS: u8 = 12;

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn open_with(disk: &SimulatedDisk, settings: Settings) -> rowhouse_model::Result<Store> {
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([1; 16]).by_hand(1).open()
}

fn open(disk: &SimulatedDisk) -> Store {
    open_with(disk, Settings::default()).unwrap()
}

/// As [`open`], with a limit that makes every table a large one.
fn open_large(disk: &SimulatedDisk) -> Store {
    open_with(disk, Settings { index_rebuild_bytes_max: 0, ..Settings::default() }).unwrap()
}

fn table(store: &Store, of: &str) -> Arc<Table> {
    store.table(&name(of)).unwrap()
}

fn row(n: u8) -> Bytes {
    let key = KeySchema::parse(KEY).unwrap();
    key.encode(&[("user", "bob".into()), ("n", n.into())]).unwrap()
}

fn put(n: u8, email: u8) -> Mutation {
    let mut put = Put::new(row(n)).unwrap();
    for (qualifier, value) in [
        ("f", format!("s{}", n % 3)),
        ("s", format!("subject {n}")),
        ("z", char::from(n).to_string()),
        ("e", format!("e{email}")),
    ] {
        put = put.add("d", qualifier, value).unwrap();
    }
    put.durability = Durability::FsyncWal;
    put.into()
}

fn work(store: &Store) {
    while store.work_by_hand() {}
}

/// A closed store with rows in two files for the table and for each index.
fn filled() -> SimulatedDisk {
    let disk = SimulatedDisk::default();
    let store = open(&disk);
    let family = FamilyDescriptor::new("d").unwrap().versions(3).attribute("BLOCKSIZE", "1024");
    let mail = TableDescriptor::new(name("mail"))
        .family(family)
        .attribute(KEY_ATTRIBUTE, format!("1 {KEY}"))
        .attribute(COLUMNS_ATTRIBUTE, COLUMNS)
        .attribute(INDEXES_ATTRIBUTE, INDEXES);
    store.create_table(mail, &[]).unwrap();
    store.set_compactions(false);
    for n in 0..ROWS {
        table(&store, "mail").mutate(&put(n, n)).unwrap();
        if n == ROWS / 2 || n == ROWS - 1 {
            store.tables().iter().for_each(|table| table.flush().unwrap());
        }
    }
    work(&store);
    store.close().unwrap();
    drop(store);
    disk
}

fn index_table(store: &Store, index: &str) -> Arc<Table> {
    table(store, &format!("mail.{index}"))
}

/// Returns the paths to a table's files.
fn files(store: &Store, of: &str) -> Vec<String> {
    let table = table(store, of);
    let families = table.regions().iter().flat_map(|region| region.families());
    let files = families.flat_map(|family| family.super_version().files.clone());
    files.map(|file| file_path(file.id())).collect()
}

/// Returns each index's files.
fn index_files(disk: &SimulatedDisk) -> Vec<(&'static str, String)> {
    let store = open(&disk.after_kill());
    let paths = NAMES.map(|index| {
        let of_index = files(&store, &format!("mail.{index}"));
        assert!(of_index.len() >= 2, "{index}: {of_index:?}");
        of_index.into_iter().map(move |path| (index, path))
    });
    let paths = paths.into_iter().flatten().collect();
    store.abandon();
    paths
}

fn state(store: &Store, index: &str) -> IndexState {
    store.index_state(&name("mail"), index).unwrap()
}

/// Returns the table's rows, by their numbers.
fn numbers(store: &Store) -> BTreeSet<u8> {
    let mut rows = table(store, "mail").scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| rows.next().unwrap());
    rows.map(|row| row.key()[row.key().len() - 1]).collect()
}

/// Reads all entries in an index, as queries do. Returns true if they could be read; an error says
/// that a file is damaged.
fn read(store: &Store, index: &str, damaged: &str) -> bool {
    let mut entries = match index_table(store, index).scan(Scan::all()) {
        Ok(entries) => entries,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corruption, "{damaged}: {error}");
            return false;
        }
    };
    loop {
        match entries.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "{damaged}: {error}");
                return false;
            }
        }
    }
}

/// Checks that every index is ready and right.
fn check_whole(store: &Store, rows: &BTreeSet<u8>, damaged: &str) {
    assert_eq!(numbers(store), *rows, "{damaged}");
    for index in NAMES {
        assert_eq!(state(store, index), IndexState::Ready, "{damaged}: {index}");
        assert_eq!(index_damage(index_table(store, index).descriptor()), None, "{damaged}");
        let verified = store.verify_index(&name("mail"), index, |_| {}).unwrap();
        assert!(verified.is_clean(), "{damaged}: {index} {verified:?}");
    }
}

/// Opens a store with a damaged index file, reads it, writes, and checks that it heals. Returns
/// true if the damage was found.
fn heals(disk: &SimulatedDisk, index: &str, path: &str, damaged: &str) -> bool {
    let store = open(disk);
    let is_off = !matches!(state(&store, index), IndexState::Ready);
    let is_whole = !is_off && read(&store, index, damaged);
    // A row whose newest version goes, and a new one. Neither takes or frees a value that counts.
    let mut rows: BTreeSet<u8> = (0..ROWS).collect();
    let delete =
        Delete::new(row(1)).unwrap().version("d", "s", rowhouse_model::Timestamp::LATEST).unwrap();
    table(&store, "mail").mutate(&delete.into()).unwrap();
    let written = table(&store, "mail").mutate(&put(ROWS, ROWS));
    match written {
        Ok(_) => {
            rows.insert(ROWS);
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::RegionTooBusy, "{damaged}: {error}");
            assert_eq!(index, "one_email", "{damaged}: {error}");
        }
    }
    work(&store);
    check_whole(&store, &rows, damaged);
    table(&store, "mail").mutate(&put(ROWS, ROWS)).unwrap();
    rows.insert(ROWS);
    let taken = table(&store, "mail").mutate(&put(ROWS + 1, 3)).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::InvalidRequest, "{damaged}: {taken}");
    check_whole(&store, &rows, damaged);
    if !is_whole {
        let aside = disk.list("aside").unwrap();
        let file = path.rsplit('/').next().unwrap();
        let is_there = aside.iter().any(|name| name.ends_with(file));
        let was_there = !damaged.contains("removed");
        assert_eq!(is_there, was_there, "{damaged}: {aside:?}");
        assert!(!disk.paths().contains(&path.to_owned()), "{damaged}");
    }
    store.close().unwrap();
    drop(store);
    let store = open(disk);
    check_whole(&store, &rows, damaged);
    store.abandon();
    if !is_whole {
        let whole: Arc<dyn Disk> = Arc::new(disk.clone());
        let report = check_disk(&whole, [1; 16], |_| {}).unwrap();
        assert!(report.problems.is_empty(), "{damaged}: {:?}", report.problems);
    }
    !is_whole
}

#[test]
fn an_index_with_a_flipped_bit_in_a_file_answers_right_and_is_built_anew() {
    let whole = filled();
    let mut healed = 0;
    for (index, path) in index_files(&whole) {
        // An odd step, so that each bit is flipped.
        for at in (0..whole.file_len(&path).unwrap()).step_by(97) {
            let disk = whole.after_kill();
            disk.corrupt(&path, at, 1 << (at % 8));
            healed += usize::from(heals(&disk, index, &path, &format!("{index}: {path} at {at}")));
        }
    }
    assert!(healed > 100, "{healed}");
}

#[test]
fn an_index_with_a_file_that_was_cut_answers_right_and_is_built_anew() {
    let whole = filled();
    for (index, path) in index_files(&whole) {
        for len in (0..whole.file_len(&path).unwrap()).step_by(501) {
            let disk = whole.after_kill();
            disk.cut(&path, len);
            assert!(heals(&disk, index, &path, &format!("{index}: {path} cut to {len}")));
        }
    }
}

#[test]
fn an_index_without_a_file_does_not_prevent_the_open_and_is_built_anew() {
    let whole = filled();
    for (index, path) in index_files(&whole) {
        let disk = whole.after_kill();
        disk.remove(&path).unwrap();
        assert!(heals(&disk, index, &path, &format!("{index}: {path} removed")));
    }
}

#[test]
fn an_index_of_a_large_table_is_off_until_it_is_repaired() {
    let whole = filled();
    for (index, path) in index_files(&whole) {
        let disk = whole.after_kill();
        disk.corrupt(&path, 40, 1);
        let store = open_large(&disk);
        assert!(!read(&store, index, &path));
        work(&store);
        let IndexState::Off(why) = state(&store, index) else { panic!("{index} is not off") };
        assert!(why.starts_with("its data is damaged") && why.contains(&path), "{why}");
        store.close().unwrap();
        drop(store);

        let store = open_large(&disk);
        work(&store);
        assert_eq!(state(&store, index), IndexState::Off(why.clone()), "{index} after an open");
        let error = store.verify_index(&name("mail"), index, |_| {}).unwrap_err();
        assert!(error.message().contains(&path), "{error}");
        // Writes go on, except for new values in a unique index.
        let written = table(&store, "mail").mutate(&put(ROWS, ROWS));
        match index {
            "one_email" => {
                let error = written.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corruption);
                assert!(error.message().contains("`repair_index`"), "{error}");
                assert!(error.message().contains(&path), "{error}");
                table(&store, "mail").mutate(&put(2, 2)).unwrap();
                table(&store, "mail").mutate(&Delete::new(row(3)).unwrap().into()).unwrap();
            }
            _ => {
                written.unwrap();
                table(&store, "mail").mutate(&Delete::new(row(3)).unwrap().into()).unwrap();
            }
        }
        table(&store, "mail").flush().unwrap();
        index_table(&store, index).flush().unwrap();
        store.request_index_repair(&name("mail"), index).unwrap();
        if index == "one_email" {
            let error = table(&store, "mail").mutate(&put(ROWS, ROWS)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RegionTooBusy, "{error}");
        }
        work(&store);
        table(&store, "mail").mutate(&put(ROWS, 3)).unwrap();
        let rows = (0..=ROWS).filter(|n| *n != 3).collect();
        check_whole(&store, &rows, index);
        store.abandon();
    }
}

/// Returns the store with one damaged index file, and the path to the file.
fn with_damage(index: &str) -> (SimulatedDisk, String) {
    let whole = filled();
    let files = index_files(&whole);
    let (_, path) = files.iter().find(|(of, _)| *of == index).unwrap();
    whole.corrupt(path, 40, 1);
    (whole, path.clone())
}

#[test]
fn a_crash_at_any_step_of_a_rebuild_leaves_an_index_that_heals_at_the_next_open() {
    for index in NAMES {
        let (damaged, path) = with_damage(index);
        let mut ends = BTreeSet::new();
        for changes in 0.. {
            let disk = damaged.after_kill();
            let store = open(&disk);
            disk.fail_after(changes);
            read(&store, index, index);
            work(&store);
            let has_stopped = disk.has_stopped();
            store.abandon();
            for crashed in [disk.after_kill(), disk.after_power_cut(changes)] {
                let store = open(&crashed);
                ends.insert(format!("{:.8}", state(&store, index).to_string()));
                // It may be ready as it was before.
                read(&store, index, index);
                work(&store);
                check_whole(&store, &(0..ROWS).collect(), &format!("{index} after {changes}"));
                let aside = crashed.list("aside").unwrap();
                let is_aside = aside.iter().any(|it| it.ends_with(&path["files/".len()..]));
                assert!(is_aside, "{index} after {changes}: {aside:?}");
                store.abandon();
            }
            if !has_stopped {
                break;
            }
        }
        let states = ["building", "off its ", "ready"].map(str::to_owned);
        assert!(states.iter().all(|state| ends.contains(state)), "{index}: {ends:?}");
    }
}

#[test]
fn a_write_that_meets_the_damage_of_a_copy_first_is_written() {
    let (disk, _) = with_damage("by_n");
    let store = open_large(&disk);
    // In both files a version must be compared with the copy.
    for n in 0..ROWS {
        let delete = Delete::new(row(n)).unwrap();
        let delete = delete.version("d", "s", rowhouse_model::Timestamp::LATEST).unwrap();
        table(&store, "mail").mutate(&delete.into()).unwrap();
    }
    assert!(matches!(state(&store, "by_n"), IndexState::Off(_)));
    store.request_index_repair(&name("mail"), "by_n").unwrap();
    work(&store);
    check_whole(&store, &(0..ROWS).collect(), "by_n");
    store.abandon();
}

#[test]
fn a_write_that_meets_the_damage_of_a_unique_index_first_is_refused_until_it_is_built() {
    let (disk, path) = with_damage("one_email");
    let store = open(&disk);
    let mut refused = 0;
    for n in ROWS..ROWS * 2 {
        // Next to each value that is taken.
        let mut put = Put::new(row(n)).unwrap().add("d", "e", format!("e{}", n - ROWS)).unwrap();
        put.durability = Durability::FsyncWal;
        let error = table(&store, "mail").mutate(&put.into()).unwrap_err();
        match error.kind() {
            ErrorKind::InvalidRequest => assert_eq!(refused, 0, "{error}"),
            kind => {
                assert_eq!(kind, ErrorKind::RegionTooBusy, "{error}");
                assert!(error.message().contains(&path), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
    // Other writes pass.
    table(&store, "mail").mutate(&put(2, 2)).unwrap();
    table(&store, "mail").mutate(&Delete::new(row(3)).unwrap().into()).unwrap();
    work(&store);
    let rows: BTreeSet<u8> = (0..ROWS).filter(|n| *n != 3).collect();
    check_whole(&store, &rows, "one_email");
    assert!(table(&store, "mail").mutate(&put(ROWS, 4)).is_err());
    table(&store, "mail").mutate(&put(ROWS, 3)).unwrap();
    store.abandon();
}

#[test]
fn no_index_is_built_anew_while_its_table_is_damaged() {
    for index in NAMES {
        let (disk, path) = with_damage(index);
        let of_table = {
            let store = open(&disk.after_kill());
            let path = files(&store, "mail").remove(0);
            store.abandon();
            path
        };
        disk.corrupt(&of_table, 40, 1);
        let store = open(&disk);
        // A copy is not given up for a table that nobody has read.
        let is_read = index != "by_n";
        if is_read {
            assert!(table(&store, "mail").get(&rowhouse_model::Get::new(row(1)).unwrap()).is_err());
        }
        read(&store, index, index);
        work(&store);
        assert!(matches!(state(&store, index), IndexState::Off(_)), "{index}");
        assert!(disk.paths().contains(&path), "{index}");
        let error = store.request_index_repair(&name("mail"), index).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert!(error.message().contains(&of_table), "{error}");
        assert!(disk.list("aside").unwrap().is_empty(), "{index}");
        store.close().unwrap();
        drop(store);
        // Nor at the next open. A build that fails ends the work.
        let store = open(&disk);
        work(&store);
        work(&store);
        assert!(matches!(state(&store, index), IndexState::Off(_)), "{index}");
        assert_eq!(disk.paths().contains(&path), index == "by_n", "{index}");
        store.abandon();
    }
}

#[test]
fn a_build_from_a_damaged_table_ends_with_the_reason() {
    let whole = filled();
    let store = open(&whole);
    let path = files(&store, "mail").remove(0);
    store.request_index_repair(&name("mail"), "by_sender").unwrap();
    store.request_index_repair(&name("mail"), "by_n").unwrap();
    whole.corrupt(&path, 40, 1);
    work(&store);
    work(&store);
    for index in ["by_sender", "by_n"] {
        let IndexState::Off(why) = state(&store, index) else { panic!("{index} is not off") };
        assert!(why.starts_with("mail is damaged") && why.contains(&path), "{why}");
    }
    assert_eq!(state(&store, "large"), IndexState::Ready);
    store.abandon();
}

#[test]
fn an_index_with_a_row_that_is_no_entry_is_built_anew() {
    for index in ["by_sender", "one_email"] {
        let disk = filled();
        let store = open(&disk);
        let key = Bytes::from_static(b"e3");
        let at = rowhouse_model::Timestamp::from_millis(1).unwrap();
        let kind = rowhouse_model::CellKind::Put;
        let cell = rowhouse_model::Cell::new(key, b"e", b"", at, kind, b"").unwrap();
        crate::write::cells::write_cells(&index_table(&store, index), &[cell]).unwrap();
        let error = store.verify_index(&name("mail"), index, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        let IndexState::Off(why) = state(&store, index) else { panic!("{index} is not off") };
        assert!(why.contains("is no entry"), "{why}");
        work(&store);
        check_whole(&store, &(0..ROWS).collect(), index);
        store.abandon();
    }
}
