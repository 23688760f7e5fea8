//! Bulk loads within a history: a load is there in full, or not at all.

use std::fs::File;
use std::sync::atomic::Ordering;

use rowhouse_format::hfile::{Finish, Writer, WriterOptions};
use rowhouse_model::{Bytes, Cell, CellKind};

use super::{FAMILIES, History, Op, Outcome, TABLES, name, row_key};

impl History {
    /// Loads a file for each family, with cells that are newer than all there are.
    pub(super) fn load(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        let rows = [2 + self.random.below(3) as u8, 6 + self.random.below(3) as u8];
        self.clock.fetch_add(1, Ordering::Relaxed);
        let number = self.next_number;
        self.next_number += 1;
        let store = self.store();
        let timestamp = store.engine().timestamps.issue();
        let dir = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        let mut places = Vec::new();
        for (at, family) in FAMILIES.iter().enumerate() {
            let path = dir.path().join(family);
            let mut writer = Writer::new(File::create(&path).unwrap(), WriterOptions::default());
            for row in rows {
                let value = number.to_be_bytes();
                let row_key = row_key(row);
                let family = family.as_bytes();
                let kind = CellKind::Put;
                let cell = Cell::new(row_key.as_bytes(), family, b"q", timestamp, kind, value);
                writer.append(&cell.unwrap().view()).unwrap();
                places.push(((table, row, at as u8), Some(number)));
            }
            writer.finish(&Finish::default()).unwrap();
            files.push((Bytes::from_static(family.as_bytes()), path));
        }
        let loaded = store.bulk_load(&name(table), &files, |_| {});
        self.tell(format_args!("load {number} {places:?}: {loaded:?}"));
        let outcome = if loaded.is_ok() { Outcome::Synced } else { Outcome::Unknown };
        if self.may_fail(loaded).is_some() {
            self.seen.extend(places.iter().map(|(place, number)| (*place, number.unwrap())));
        }
        self.ops.push(Op { number, places, outcome, is_distinct: true });
    }
}
