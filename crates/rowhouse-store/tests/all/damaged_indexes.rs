//! Damage of indexes under threads: writers and readers go on, files that others share stay, and
//! what a promotion has swapped is distinguished.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rowhouse_model::{
    Bytes, Delete, ErrorKind, FamilyDescriptor, Get, Put, Scan, Snapshot, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE, KeySchema};
use rowhouse_store::{Settings, Store, Table, check, salvage};

const KEY: &str = "[user string][n u32]";
const INDEXES: &str = "1 by_sender [sender]; one_email [email] unique; by_n [n][user] covers *";
const NAMES: [&str; 3] = ["by_sender", "one_email", "by_n"];

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn table(store: &Store, of: &str) -> Arc<Table> {
    store.table(&name(of)).unwrap()
}

fn row(n: u32) -> Bytes {
    let key = KeySchema::parse(KEY).unwrap();
    key.encode(&[("user", "bob".into()), ("n", n.into())]).unwrap()
}

fn put(n: u32, email: u32) -> Put {
    let put = Put::new(row(n)).unwrap().add("d", "f", format!("s{}", n % 5)).unwrap();
    put.add("d", "e", format!("e{email:05}")).unwrap()
}

/// Creates a store with rows in files.
fn filled(dir: &Path, rows: u32) -> Store {
    let store = Store::open(dir).unwrap();
    let mail = TableDescriptor::new(name("mail"))
        .family(FamilyDescriptor::new("d").unwrap().versions(3).attribute("BLOCKSIZE", "1024"))
        .attribute(KEY_ATTRIBUTE, format!("1 {KEY}"))
        .attribute(COLUMNS_ATTRIBUTE, "1 d:f sender string; d:e email string")
        .attribute(INDEXES_ATTRIBUTE, INDEXES);
    store.create_table(mail, &[]).unwrap();
    let mail = table(&store, "mail");
    for n in 0..rows {
        mail.mutate(&put(n, n).into()).unwrap();
    }
    store
}

fn paths(dir: &Path) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(dir.join("files")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// Flushes a table, and returns the file that this makes.
fn flush(store: &Store, dir: &Path, of: &str) -> PathBuf {
    let before = paths(dir);
    table(store, of).flush().unwrap();
    let mut made: Vec<_> = paths(dir).difference(&before).cloned().collect();
    assert_eq!(made.len(), 1, "{of}: {made:?}");
    made.remove(0)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    fs::write(path, bytes).unwrap();
}

fn state(store: &Store, index: &str) -> IndexState {
    store.index_state(&name("mail"), index).unwrap()
}

fn wait_for(store: &Store, index: &str) {
    while state(store, index) != IndexState::Ready {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_clean(store: &Store, index: &str) -> bool {
    store.verify_index(&name("mail"), index, |_| {}).unwrap().is_clean()
}

/// Reads a table to the end, or to an error. Indexes are off then that were found damaged.
fn read(store: &Store, of: &str) -> bool {
    let mut rows = table(store, of).scan(Scan::all());
    let is_whole = loop {
        match rows.as_mut().map(|rows| rows.next()) {
            Ok(Ok(Some(_))) => {}
            Ok(Ok(None)) => break true,
            Ok(Err(_)) | Err(_) => break false,
        }
    };
    store.settle_index_damage();
    is_whole
}

#[test]
fn writers_continue_while_damaged_indexes_are_detected_and_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 400);
    let files = NAMES.map(|index| flush(&store, dir.path(), &format!("mail.{index}")));
    store.close().unwrap();
    drop(store);
    files.iter().for_each(|file| flip(file, 100));
    let store = Store::open(dir.path()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..3u32 {
            let store = &store;
            let is_done = &is_done;
            scope.spawn(move || {
                let mail = table(store, "mail");
                for n in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                    let at = writer * 100 + n % 100;
                    // The value stays, so no unique index is checked.
                    mail.mutate(&put(at, at).into()).unwrap();
                    let newest = Delete::new(row(at)).unwrap();
                    let newest = newest.version("d", "f", Timestamp::LATEST).unwrap();
                    mail.mutate(&newest.into()).unwrap();
                    let fresh = 10_000 * (writer + 1) + n;
                    match mail.mutate(&put(fresh, fresh).into()) {
                        Ok(_) => {}
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::RegionTooBusy, "{error}");
                            assert!(error.message().contains("one_email"), "{error}");
                        }
                    }
                }
            });
        }
        for index in NAMES {
            read(&store, &format!("mail.{index}"));
        }
        std::thread::sleep(Duration::from_millis(300));
        NAMES.iter().for_each(|index| wait_for(&store, index));
        std::thread::sleep(Duration::from_millis(100));
        is_done.store(true, Ordering::Relaxed);
    });
    for index in NAMES {
        wait_for(&store, index);
        assert!(is_clean(&store, index), "{index}");
    }
    let taken = table(&store, "mail").mutate(&put(900, 399).into()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::InvalidRequest, "{taken}");
}

#[test]
fn a_file_that_is_removed_from_an_open_store_is_noticed_at_the_latest_at_its_next_open() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let file = flush(&store, dir.path(), "mail.by_sender");
    fs::remove_file(&file).unwrap();
    // A descriptor may be open.
    read(&store, "mail.by_sender");
    table(&store, "mail").mutate(&put(50, 50).into()).unwrap();
    store.close().unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    wait_for(&store, "by_sender");
    assert!(is_clean(&store, "by_sender"));
}

#[test]
fn a_damaged_file_of_an_index_stays_while_a_snapshot_or_a_clone_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let file = flush(&store, dir.path(), "mail.by_sender");
    store.take_snapshot(Snapshot::new("s", name("mail.by_sender")).unwrap()).unwrap();
    store.clone_snapshot("s", &name("plain")).unwrap();
    store.close().unwrap();
    drop(store);
    flip(&file, 100);
    let store = Store::open(dir.path()).unwrap();
    assert!(!read(&store, "plain"), "a table of its own is read as any damaged one");
    wait_for(&store, "by_sender");
    assert!(is_clean(&store, "by_sender"));
    assert!(file.exists());
    assert_eq!(fs::read_dir(dir.path().join("aside")).unwrap().count(), 0);
    assert!(!read(&store, "plain"));
    // Without it the clone would be lost: the store does not open.
    store.close().unwrap();
    drop(store);
    fs::remove_file(&file).unwrap();
    let error = Store::open(dir.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
}

#[test]
fn a_clone_and_a_restore_of_a_table_with_a_damaged_index_have_whole_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let files = NAMES.map(|index| flush(&store, dir.path(), &format!("mail.{index}")));
    store.take_snapshot(Snapshot::new("s", name("mail")).unwrap()).unwrap();
    store.close().unwrap();
    drop(store);
    files.iter().for_each(|file| flip(file, 100));
    let settings = Settings { index_rebuild_bytes_max: 0, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    NAMES.iter().for_each(|index| assert!(!read(&store, &format!("mail.{index}"))));
    store.clone_snapshot("s", &name("clone")).unwrap();
    for index in NAMES {
        while store.index_state(&name("clone"), index).unwrap() != IndexState::Ready {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(store.verify_index(&name("clone"), index, |_| {}).unwrap().is_clean());
        assert!(matches!(state(&store, index), IndexState::Off(_)));
    }
    store.disable_table(&name("mail")).unwrap();
    store.restore_snapshot("s").unwrap();
    store.enable_table(&name("mail")).unwrap();
    for index in NAMES {
        wait_for(&store, index);
        assert!(is_clean(&store, index), "{index}");
    }
    table(&store, "mail").mutate(&put(90, 90).into()).unwrap();
}

#[test]
fn after_a_promotion_the_old_table_is_an_index_and_the_copy_is_a_table() {
    for damages_copy in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path(), 50);
        let was_table = flush(&store, dir.path(), "mail");
        let was_copy = flush(&store, dir.path(), "mail.by_n");
        store.promote_index(&name("mail"), "by_n").unwrap();
        NAMES.iter().for_each(|index| wait_for(&store, index));
        store.close().unwrap();
        drop(store);
        flip(if damages_copy { &was_copy } else { &was_table }, 100);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(read(&store, "mail"), !damages_copy);
        assert_eq!(read(&store, "mail.by_n"), damages_copy);
        if damages_copy {
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(state(&store, "by_n"), IndexState::Ready, "it has the last good rows");
            let error = store.request_index_repair(&name("mail"), "by_n").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
            assert!(was_table.exists());
        } else {
            wait_for(&store, "by_n");
            assert!(is_clean(&store, "by_n"));
            assert!(!was_table.exists());
        }
    }
}

#[test]
fn a_copy_with_damaged_files_is_not_promoted() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let file = flush(&store, dir.path(), "mail.by_n");
    store.close().unwrap();
    drop(store);
    flip(&file, 100);
    let settings = Settings { index_rebuild_bytes_max: 0, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    assert!(!read(&store, "mail.by_n"));
    let error = store.promote_index(&name("mail"), "by_n").unwrap_err();
    assert!(error.message().contains("damage"), "{error}");
    assert!(read(&store, "mail"));
}

#[test]
fn a_repair_whose_sweep_meets_damage_builds_the_index_anew() {
    for index in ["by_sender", "one_email"] {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path(), 2_000);
        let file = flush(&store, dir.path(), &format!("mail.{index}"));
        store.close().unwrap();
        drop(store);
        flip(&file, 100);
        let settings = Settings { index_rebuild_bytes_max: 0, ..Settings::default() };
        let store = Store::builder(dir.path()).settings(settings).open().unwrap();
        // Nobody has met it.
        store.request_index_repair(&name("mail"), index).unwrap();
        loop {
            match state(&store, index) {
                IndexState::Building { .. } => break,
                state => assert_eq!(state, IndexState::Repairing),
            }
            std::thread::yield_now();
        }
        // Another row has the last row's value; the last row's entry comes last.
        table(&store, "mail").mutate(&put(5_000, 1_999).into()).unwrap_err();
        wait_for(&store, index);
        assert!(is_clean(&store, index));
        assert!(!file.exists());
    }
}

#[test]
fn a_transaction_that_read_an_index_conflicts_with_a_write_after_it_went_off() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let file = flush(&store, dir.path(), "mail.by_n");
    store.close().unwrap();
    drop(store);
    flip(&file, 100);
    let settings = Settings { index_rebuild_bytes_max: 0, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let mut tries = 0;
    let mail = table(&store, "mail");
    store
        .transact(|transaction| {
            tries += 1;
            let read = transaction.index_read(&name("mail"), "by_sender")?.unwrap();
            let mut entries = transaction.scan(&read.entries, Scan::all())?;
            let mut count = 0;
            while entries.next()?.is_some() {
                count += 1;
            }
            if tries == 1 {
                assert_eq!(count, 50);
                // Another index goes off; a write to another row commits.
                assert!(!self::read(&store, "mail.by_n"));
                store.settle_index_damage();
                assert!(matches!(state(&store, "by_n"), IndexState::Off(_)));
            }
            transaction.mutate(&mail, put(0, 0))?;
            Ok(())
        })
        .unwrap();
    assert_eq!(tries, 2);
}

#[test]
fn a_salvage_of_a_store_with_damaged_indexes_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path(), 50);
    let files = NAMES.map(|index| flush(&store, dir.path(), &format!("mail.{index}")));
    store.close().unwrap();
    drop(store);
    flip(&files[0], 100);
    fs::remove_file(&files[1]).unwrap();
    flip(&files[2], 100);
    let report = check(dir.path(), |_| {}).unwrap();
    assert_eq!(report.problems.len(), 3, "{:?}", report.problems);
    for (problem, index) in report.problems.iter().zip(NAMES) {
        assert!(problem.message().contains(&format!("table=mail.{index}")), "{problem}");
    }
    let target = tempfile::tempdir().unwrap();
    let into = target.path().join("salvaged");
    let salvaged = salvage(dir.path(), &into, |_| {}).unwrap();
    assert!(salvaged.lost.is_empty(), "{:?}", salvaged.lost);
    let store = Store::open(&into).unwrap();
    assert!(!table(&store, "mail").get(&Get::new(row(49)).unwrap()).unwrap().is_empty());
    for index in NAMES {
        wait_for(&store, index);
        assert!(is_clean(&store, index), "{index}");
    }
}
