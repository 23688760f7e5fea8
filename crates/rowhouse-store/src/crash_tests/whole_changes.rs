//! Changes of a table as a whole that fail after their record is in the log: followers copy the
//! table again or learn that it is gone, and what they hold is what the table holds.

use std::collections::{BTreeMap, BTreeSet};

use rowhouse_model::{
    Cell, Change, ChangePosition, Durability, FamilyDescriptor, Put, Result, Scan, TableDescriptor,
    TableName, TableState, WholeTableChangeKind,
};

use super::open;
use crate::disk::simulated::SimulatedDisk;
use crate::{ChangesFrom, Store};

const TABLES: [&str; 2] = ["t", "u"];

/// A change to the table `t`.
type Operation = fn(&Store) -> Result<()>;

const OPERATIONS: [(&str, Operation); 4] = [
    ("drop", |store| store.drop_table(&name("t"))),
    ("truncate", |store| store.truncate_table(&name("t"), false)),
    ("replace", |store| store.replace_table(&name("t"), &name("u"), |_| Ok(()))),
    ("alter", |store| store.alter_family(&name("t"), family().versions(2))),
];

type Rows = BTreeMap<String, String>;

/// A registered follower, which holds the rows of its table up to a position.
#[derive(Clone)]
struct Follower {
    table: &'static str,
    position: ChangePosition,
    rows: Rows,
}

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn family() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap()
}

fn put(store: &Store, table: &str, row: &str) -> Result<()> {
    let mut put = Put::new(row.to_owned())?.add("f", "q", format!("{row} of {table}"))?;
    put.durability = Durability::FsyncWal;
    store.table(&name(table))?.mutate(&put.into()).map(|_| ())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the rows of a table; none if it does not exist.
fn rows(store: &Store, table: &str) -> Rows {
    let Ok(table) = store.table(&name(table)) else { return Rows::new() };
    let mut rows = table.scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| rows.next().unwrap());
    rows.map(|row| (text(row.key()), text(&row.value("f", "q").unwrap()))).collect()
}

/// Enables a table that a failed drop has left disabled.
fn enable(store: &Store, table: &str) -> Result<()> {
    match store.table(&name(table)) {
        Ok(table) if table.state() == TableState::Disabled => store.enable_table(table.name()),
        _ => Ok(()),
    }
}

impl Follower {
    /// Registers a follower at the end of the log.
    fn register(store: &Store, nth: usize, table: &'static str) -> Self {
        let position = store.changes_end().unwrap();
        store.save_follower(&format!("{table}{nth}"), &name(table), &position).unwrap();
        Self { table, position, rows: rows(store, table) }
    }

    /// Reads all changes. Returns the changes of the table as a whole.
    fn read(&mut self, store: &Store) -> Vec<WholeTableChangeKind> {
        let from = ChangesFrom::Position(self.position.clone());
        let mut changes = store.table_changes(&name(self.table), &from).unwrap();
        let mut kinds = Vec::new();
        while let Some(change) = changes.next_now().unwrap() {
            match change {
                Change::Row(row) | Change::Copied(row) => {
                    let value = row.cells.last().map(Cell::value).unwrap();
                    self.rows.insert(text(&row.row), text(value));
                }
                Change::CopyEnded(_) => {}
                Change::Table(change) => {
                    self.rows.clear();
                    if change.kind != WholeTableChangeKind::Dropped {
                        changes.copy_again().unwrap();
                    }
                    kinds.push(change.kind);
                }
            }
        }
        self.position = changes.position();
        kinds
    }
}

/// Checks that the followers hold what their tables hold. Returns the changes of tables as a whole
/// that the followers of `t` have read.
fn check(store: &Store, mut followers: Vec<Follower>, case: &str) -> Vec<WholeTableChangeKind> {
    let mut kinds = Vec::new();
    for follower in &mut followers {
        let read = follower.read(store);
        assert_eq!(follower.rows, rows(store, follower.table), "{case}: {}", follower.table);
        if follower.table == "t" {
            kinds.extend(read);
        }
    }
    kinds
}

#[test]
fn followers_hold_the_rows_of_their_table_wherever_a_change_of_the_table_fails() {
    for (operation, run) in OPERATIONS {
        let mut outcomes = BTreeSet::new();
        for changes in 0.. {
            let case = format!("{operation} after {changes} changes");
            let disk = SimulatedDisk::seeded(changes);
            let store = open(&disk, 1).unwrap();
            for table in TABLES {
                let table = TableDescriptor::new(name(table)).family(family());
                store.create_table(table, &[]).unwrap();
            }
            let mut followers: Vec<_> =
                TABLES.map(|table| Follower::register(&store, 0, table)).into();
            for (table, row) in [("t", "a"), ("u", "b"), ("t", "c"), ("u", "d")] {
                put(&store, table, row).unwrap();
            }
            followers.extend(TABLES.map(|table| Follower::register(&store, 1, table)));
            // A reader that is told about changes and goes on, without a copy.
            let mut reader = store.table_changes(&name("t"), &ChangesFrom::Now).unwrap();
            if ["drop", "truncate"].contains(&operation) {
                store.disable_table(&name("t")).unwrap();
            }
            disk.fail_after(changes);
            let done = run(&store);
            let has_stopped = disk.has_stopped();
            let crashed = [disk.after_kill(), disk.after_power_cut(changes)];

            // The disk works again, and the process goes on, unless MANIFEST is not known.
            disk.recover();
            if enable(&store, "t").is_ok() && put(&store, "t", "later").is_ok() {
                let kinds = check(&store, followers.clone(), &case);
                outcomes.insert((done.is_ok(), !kinds.is_empty()));
                let mut changes = std::iter::from_fn(|| reader.next_now().unwrap());
                let is_later =
                    |change| matches!(change, Change::Row(row) if &row.row[..] == b"later");
                assert!(changes.any(is_later), "{case}");
            }
            drop(reader);
            store.abandon();

            for crashed in crashed {
                let store = open(&crashed, 2).unwrap();
                TABLES.iter().for_each(|table| enable(&store, table).unwrap());
                let kinds = check(&store, followers.clone(), &case);
                outcomes.insert((done.is_ok(), !kinds.is_empty()));
            }
            if !has_stopped {
                break;
            }
        }
        // It failed before its record was logged, after it, and not at all.
        let expected = [(false, false), (false, true), (true, true)];
        assert_eq!(outcomes, expected.into(), "{operation}");
    }
}
