//! Promotions that a crash interrupts.

use std::collections::BTreeSet;

use rowhouse_model::{Durability, FamilyDescriptor, Put, Row, Scan, TableDescriptor, TableName};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE, KeySchema};

use super::open;
use crate::Store;
use crate::disk::simulated::SimulatedDisk;

const KEY: &str = "[at u8][user string]";
const PROMOTED: &str = "[user string][at u8]";
const INDEXES: &str = "1 by_user [user][at] covers *; sized [size]";
const ROWS: u8 = 12;

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn key_of(store: &Store, table: &str) -> KeySchema {
    KeySchema::of_table(store.table(&name(table)).unwrap().descriptor()).unwrap().unwrap()
}

/// A store with rows in files and in the log, all synced.
fn filled(seed: u64) -> (SimulatedDisk, Store) {
    let disk = SimulatedDisk::seeded(seed);
    let store = open(&disk, 1).unwrap();
    let mail = TableDescriptor::new(name("mail"))
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, format!("1 {KEY}"))
        .attribute(COLUMNS_ATTRIBUTE, "1 d:size size u8")
        .attribute(INDEXES_ATTRIBUTE, INDEXES);
    store.create_table(mail, &[]).unwrap();
    let table = store.table(&name("mail")).unwrap();
    for at in 0..ROWS {
        let key = key_of(&store, "mail").encode(&[("at", at.into()), ("user", "bob".into())]);
        let mut put = Put::new(key.unwrap()).unwrap().add("d", "size", [at]).unwrap();
        put.durability = Durability::FsyncWal;
        table.mutate(&put.into()).unwrap();
        if at == ROWS / 2 {
            table.flush().unwrap();
        }
    }
    (disk, store)
}

/// Returns the times in a table's keys, after checking each against the row's cell.
fn times(store: &Store, table: &str) -> BTreeSet<u8> {
    let key = key_of(store, table);
    let mut rows = store.table(&name(table)).unwrap().scan(Scan::all()).unwrap();
    let time = |row: Row| {
        let fields = key.decode(row.key()).unwrap();
        let at = u8::try_from(fields.get("at").unwrap().as_u64().unwrap()).unwrap();
        assert_eq!(row.value("d", "size").unwrap()[..], [at]);
        at
    };
    std::iter::from_fn(|| rows.next().unwrap()).map(time).collect()
}

#[test]
fn a_promotion_that_a_crash_interrupts_has_happened_whole_or_not_at_all() {
    let all: BTreeSet<u8> = (0..ROWS).collect();
    let mut outcomes = BTreeSet::new();
    for changes in 0.. {
        let (disk, store) = filled(changes);
        disk.fail_after(changes);
        let promoted = store.promote_index(&name("mail"), "by_user");
        let has_stopped = disk.has_stopped();
        store.abandon();
        for crashed in [disk.after_kill(), disk.after_power_cut(changes)] {
            let store = open(&crashed, 2).unwrap();
            let key = key_of(&store, "mail");
            let copy = key_of(&store, "mail.by_user");
            let keys = [key.to_string(), copy.to_string()];
            if promoted.is_ok() {
                assert_eq!(keys, [PROMOTED, KEY], "after {changes} changes");
            } else {
                assert!(
                    keys == [PROMOTED, KEY] || keys == [KEY, PROMOTED],
                    "after {changes} changes: {keys:?}"
                );
            }
            outcomes.insert((promoted.is_ok(), keys[0] == PROMOTED));
            assert_eq!(times(&store, "mail"), all, "after {changes} changes");
            assert_eq!(times(&store, "mail.by_user"), all, "after {changes} changes");
            let verified = store.verify_index(&name("mail"), "by_user", |_| {}).unwrap();
            assert!(verified.is_clean(), "after {changes} changes: {verified:?}");
        }
        if !has_stopped {
            break;
        }
    }
    assert!(outcomes.contains(&(false, false)) && outcomes.contains(&(true, true)));
}
