//! Snapshots taken, deleted, restored and cloned within a history, and tables dropped and created
//! again under the same name. A snapshot's contents must never change.

use std::collections::BTreeMap;

use rowhouse_model::{ErrorKind, Get, Snapshot, TableName};

use super::{FAMILIES, History, Op, Outcome, ROWS, TABLES, declared, name, row_key, values};
use crate::Store;

/// The maximum snapshot count.
const SNAPSHOTS: u8 = 4;

/// The mutation number in each cell, by row and family.
type TableCells = BTreeMap<(u8, u8), u64>;

/// A snapshot's expected state.
pub(super) struct Held {
    /// The table that the snapshot was taken from.
    table: u8,
    /// The contents; `None` if they were unknown when the snapshot was taken.
    cells: Option<TableCells>,
    /// Whether it certainly exists.
    is_sure: bool,
}

impl History {
    pub(super) fn take_snapshot(&mut self) {
        let snapshot = format!("s{}", self.random.below(SNAPSHOTS.into()));
        let table = self.random.below(TABLES.into()) as u8;
        if self.snapshots.contains_key(&snapshot) {
            return;
        }
        let taken = self.store().take_snapshot(Snapshot::new(&snapshot, name(table)).unwrap());
        self.tell(format_args!("take {snapshot} of {table}: {taken:?}"));
        let is_sure = self.may_fail(taken).is_some();
        let cells = (!self.unsure).then(|| self.cells_of(table));
        self.snapshots.insert(snapshot, Held { table, cells, is_sure });
    }

    pub(super) fn delete_snapshot(&mut self) {
        let Some(snapshot) = self.some_snapshot() else { return };
        let deleted = self.store().delete_snapshot(&snapshot);
        self.tell(format_args!("delete {snapshot}: {deleted:?}"));
        match self.may_fail(deleted) {
            Some(()) => drop(self.snapshots.remove(&snapshot)),
            None => self.snapshots.get_mut(&snapshot).unwrap().is_sure = false,
        }
    }

    /// Restores a table to a snapshot. After a failure the table may stay disabled.
    pub(super) fn restore(&mut self) {
        let Some(snapshot) = self.some_snapshot() else { return };
        let Held { table, cells: Some(cells), .. } = &self.snapshots[&snapshot] else { return };
        let table = *table;
        let cells = cells.clone();
        self.scans.retain(|(_, of, _)| *of != table);
        let store = self.store();
        let disabled = store.disable_table(&name(table));
        if self.may_fail(disabled).is_none() {
            return;
        }
        let restored = store.restore_snapshot(&snapshot);
        self.tell(format_args!("restore {snapshot} of {table}: {restored:?}"));
        self.note_table(table, &cells, restored.is_ok());
        if self.may_fail(restored).is_some() {
            self.may_fail(store.enable_table(&name(table)));
        }
    }

    /// Drops a table and creates one with the same name: empty, or cloned from a snapshot.
    pub(super) fn replace_table(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        self.scans.retain(|(_, of, _)| *of != table);
        let store = self.store();
        // Earlier writes to other tables must survive whenever this change does.
        let dropped = store.engine().sync_log();
        let dropped = dropped.and_then(|()| store.disable_table(&name(table)));
        let dropped = dropped.and_then(|()| store.drop_table(&name(table)));
        self.tell(format_args!("drop {table}: {dropped:?}"));
        self.note_table(table, &TableCells::new(), dropped.is_ok());
        if self.may_fail(dropped).is_none() {
            return;
        }
        let snapshot = self.some_snapshot().filter(|name| self.snapshots[name].cells.is_some());
        let Some(snapshot) = snapshot else {
            self.may_fail(store.create_table(declared(&name(table)), &[]));
            return;
        };
        let cells = self.snapshots[&snapshot].cells.clone().unwrap();
        let cloned = store.clone_snapshot(&snapshot, &name(table));
        self.tell(format_args!("clone {snapshot} as {table}: {cloned:?}"));
        self.note_table(table, &cells, cloned.is_ok());
        self.may_fail(cloned);
    }

    /// Checks after an open that exactly the expected snapshots exist.
    pub(super) fn check_snapshots(&mut self) {
        let listed = self.store().snapshots();
        let is_listed = |name: &String| listed.iter().any(|snapshot| snapshot.name() == name);
        if !self.disk.has_lost_pages() {
            for (name, held) in &self.snapshots {
                assert!(is_listed(name) || !held.is_sure, "seed {}: {name} is lost", self.seed);
            }
            let is_known = |snapshot: &Snapshot| self.snapshots.contains_key(snapshot.name());
            assert!(listed.iter().all(is_known), "seed {}: {listed:?}", self.seed);
        }
        self.snapshots.retain(|name, _| is_listed(name));
        self.snapshots.values_mut().for_each(|held| held.is_sure = true);
    }

    /// Clones each snapshot and reads the clone.
    pub(super) fn check_all_snapshots(&mut self) {
        if self.disk.has_lost_pages() {
            return;
        }
        for (snapshot, held) in &self.snapshots {
            let Some(cells) = &held.cells else { continue };
            let clone = TableName::parse("c").unwrap();
            let store = self.store();
            store.clone_snapshot(snapshot, &clone).unwrap();
            assert_eq!(read(&store, &clone), *cells, "seed {}: {snapshot}", self.seed);
            store.disable_table(&clone).unwrap();
            store.drop_table(&clone).unwrap();
        }
    }

    fn some_snapshot(&mut self) -> Option<String> {
        let sure = self.snapshots.iter().filter(|(_, held)| held.is_sure);
        let names: Vec<String> = sure.map(|(name, _)| name.clone()).collect();
        let at = self.random.below(names.len());
        names.into_iter().nth(at)
    }

    /// Returns a table's contents as readers see them.
    fn cells_of(&self, table: u8) -> TableCells {
        let cells = self.seen.iter().filter(|((of, _, _), _)| *of == table);
        cells.map(|((_, row, family), number)| ((*row, *family), *number)).collect()
    }

    /// Notes that a table holds these cells from now on, certainly or possibly.
    fn note_table(&mut self, table: u8, cells: &TableCells, is_sure: bool) {
        let places = (0..ROWS).flat_map(|row| (0..FAMILIES.len() as u8).map(move |it| (row, it)));
        let places = places.map(|(row, family)| ((table, row, family), cells.get(&(row, family))));
        let places = places.map(|(place, number)| (place, number.copied())).collect();
        let outcome = if is_sure { Outcome::Synced } else { Outcome::Unknown };
        let number = self.next_number;
        self.next_number += 1;
        self.ops.push(Op { number, places, outcome, is_distinct: false });
        if is_sure {
            self.seen.retain(|(of, _, _), _| *of != table);
            let cells = cells.iter().map(|((row, family), it)| ((table, *row, *family), *it));
            self.seen.extend(cells);
        }
    }
}

fn read(store: &Store, table: &TableName) -> TableCells {
    let mut cells = TableCells::new();
    let open = store.table(table).unwrap();
    for row in 0..ROWS {
        match open.get(&Get::new(row_key(row)).unwrap()) {
            Ok(read) => cells.extend(values(&read).map(|(family, it)| ((row, family), it))),
            // The snapshot was taken from a table that had lost a family.
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoSuchColumnFamily, "{error}"),
        }
    }
    cells
}
