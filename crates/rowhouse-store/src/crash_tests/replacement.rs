//! Table replacements that a crash interrupts.

use std::collections::BTreeSet;

use rowhouse_model::{Durability, FamilyDescriptor, Put, Scan, TableDescriptor, TableName};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE, KeySchema};

use super::open;
use crate::Store;
use crate::disk::simulated::SimulatedDisk;

const ROWS: u8 = 6;
const OLD: u8 = 1;
const NEW: u8 = 2;

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

/// Creates a table whose rows all have one value, in files and in the log, synced.
fn create(store: &Store, of: &str, value: u8, family: &'static str) {
    let table = TableDescriptor::new(name(of))
        .family(FamilyDescriptor::new(family).unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [at u8]")
        .attribute(COLUMNS_ATTRIBUTE, format!("1 {family}:size size u8"))
        .attribute(INDEXES_ATTRIBUTE, "1 sized [size]");
    store.create_table(table, &[]).unwrap();
    let table = store.table(&name(of)).unwrap();
    let key = KeySchema::of_table(table.descriptor()).unwrap().unwrap();
    for at in 0..ROWS {
        let row = key.encode(&[("at", at.into())]).unwrap();
        let mut put = Put::new(row).unwrap().add(family, "size", [value]).unwrap();
        put.durability = Durability::FsyncWal;
        table.mutate(&put.into()).unwrap();
        if at == ROWS / 2 {
            table.flush().unwrap();
        }
    }
}

/// Returns the values in a table's rows.
fn values(store: &Store, of: &str, family: &str) -> Vec<u8> {
    let mut rows = store.table(&name(of)).unwrap().scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| rows.next().unwrap());
    rows.map(|row| row.value(family, "size").unwrap()[0]).collect()
}

#[test]
fn a_replacement_that_a_crash_interrupts_has_happened_whole_or_not_at_all() {
    let mut outcomes = BTreeSet::new();
    for changes in 0.. {
        let disk = SimulatedDisk::seeded(changes);
        let store = open(&disk, 1).unwrap();
        create(&store, "mail", OLD, "d");
        create(&store, "mail.new", NEW, "e");
        disk.fail_after(changes);
        let replaced = store.replace_table(&name("mail"), &name("mail.new"), |_| Ok(()));
        let has_stopped = disk.has_stopped();
        store.abandon();
        for crashed in [disk.after_kill(), disk.after_power_cut(changes)] {
            let store = open(&crashed, 2).unwrap();
            let is_new = store.table(&name("mail.new")).is_err();
            assert!(is_new || replaced.is_err(), "after {changes} changes");
            let (value, family) = if is_new { (NEW, "e") } else { (OLD, "d") };
            let expected = vec![value; ROWS.into()];
            assert_eq!(values(&store, "mail", family), expected, "after {changes} changes");
            let verified = store.verify_index(&name("mail"), "sized", |_| {}).unwrap();
            assert!(verified.is_clean(), "after {changes} changes: {verified:?}");
            if is_new {
                assert!(store.table(&name("mail.new.sized")).is_err());
            } else {
                assert_eq!(values(&store, "mail.new", "e"), [NEW; ROWS as usize]);
            }
            outcomes.insert((replaced.is_ok(), is_new));
        }
        if !has_stopped {
            break;
        }
    }
    assert!(outcomes.contains(&(false, false)) && outcomes.contains(&(true, true)));
}
