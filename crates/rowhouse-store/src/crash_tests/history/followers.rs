//! Followers within a history: programs beside the store that apply the changes which they read, go
//! back to the position that they saved last when the store crashes, and hold what the table holds.

use std::collections::BTreeMap;

use rowhouse_model::{
    Cell, CellKind, Change, ChangePosition, Error, ErrorKind, Result, WholeTableChangeKind,
};

use super::{FAMILIES, History, ROWS, TABLES, UNLOGGED_ROW, name};
use crate::disk::simulated::Random;
use crate::{Changes, ChangesFrom, Store};

/// A follower of a table.
pub(super) struct Follower {
    table: u8,
    /// The name under which it is registered; one without a name retains no log while it is away.
    name: Option<String>,
    /// Own numbers, so that a history is the same with and without followers.
    random: Random,
    /// The position that it saved; `None` if it has to copy the table.
    saved: Option<ChangePosition>,
    /// The position to which `columns` are.
    position: Option<ChangePosition>,
    /// Every cell that it was given, by row and family: time, and the number of a put; `None` for a
    /// delete marker.
    columns: BTreeMap<(u8, u8), BTreeMap<i64, Option<u64>>>,
}

impl Follower {
    /// Returns one with a name and one without for each table.
    pub(super) fn all(seed: u64) -> Vec<Self> {
        let follower = |at: u8| Self {
            table: at % TABLES,
            name: (at < TABLES).then(|| format!("follower-{at}")),
            random: Random::new(seed ^ (0xF0_1105 << at)),
            saved: None,
            position: None,
            columns: BTreeMap::new(),
        };
        (0..2 * TABLES).map(follower).collect()
    }

    /// Reads up to `count` changes. Returns true if no more are synced.
    fn read(&mut self, store: &Store, count: usize) -> Result<bool> {
        let from = match &self.position {
            Some(position) => ChangesFrom::Position(position.clone()),
            None => {
                self.columns.clear();
                ChangesFrom::Copy
            }
        };
        let mut changes = store.table_changes(&name(self.table), &from)?;
        self.position = Some(changes.position());
        for _ in 0..count {
            let Some(change) = changes.next_now()? else {
                self.position = Some(changes.position());
                return Ok(true);
            };
            self.position = Some(change.position().clone());
            self.apply(change, &mut changes)?;
        }
        Ok(false)
    }

    fn apply(&mut self, change: Change, changes: &mut Changes) -> Result<()> {
        match change {
            Change::Row(row) | Change::Copied(row) => {
                assert_eq!(row.table, name(self.table));
                row.cells.iter().for_each(|cell| self.put(cell));
            }
            Change::CopyEnded(_) => {}
            Change::Table(change) => {
                self.columns.clear();
                if change.kind != WholeTableChangeKind::Dropped {
                    // A crash before the copy begins must not skip it.
                    self.position = None;
                    self.saved = None;
                    changes.copy_again()?;
                    self.position = Some(changes.position());
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, cell: &Cell) {
        let row = std::str::from_utf8(cell.row()).unwrap().parse().unwrap();
        if row == UNLOGGED_ROW {
            return;
        }
        let family = FAMILIES.iter().position(|name| name.as_bytes() == cell.family()).unwrap();
        let number = match cell.kind() {
            CellKind::Put => Some(u64::from_be_bytes(*cell.value().first_chunk().unwrap())),
            CellKind::DeleteFamily => None,
            kind => panic!("histories write no {kind:?}"),
        };
        let column = self.columns.entry((row, family as u8)).or_default();
        column.insert(cell.timestamp().as_millis(), number);
    }

    /// Returns what reads of the newest versions would see.
    fn visible(&self) -> BTreeMap<(u8, u8), u64> {
        let newest = |column: &BTreeMap<i64, Option<u64>>| *column.last_key_value()?.1;
        let columns = self.columns.iter();
        columns.filter_map(|(place, column)| Some((*place, newest(column)?))).collect()
    }

    fn save(&mut self, store: &Store) -> Result<()> {
        let Some(position) = &self.position else { return Ok(()) };
        if let Some(name_of) = &self.name {
            store.save_follower(name_of, &name(self.table), position)?;
        }
        self.saved = Some(position.clone());
        Ok(())
    }
}

impl History {
    /// Lets some followers read, and save where they are.
    pub(super) fn follow(&mut self) {
        let mut followers = std::mem::take(&mut self.followers);
        for follower in &mut followers {
            if !follower.random.chance(50) {
                continue;
            }
            // It was restarted, perhaps with the store.
            if follower.random.chance(60) {
                follower.position = follower.saved.clone();
            }
            let count = follower.random.below(30);
            let done = follower.read(&self.store(), count);
            self.tell(format_args!(
                "follow {} {:?}: {done:?}, {:?}",
                follower.table, follower.name, follower.position
            ));
            self.may_lose(follower, done);
            if follower.random.chance(128) {
                let saved = follower.save(&self.store());
                self.tell(format_args!("save {:?}: {saved:?}", follower.position));
                self.may_lose(follower, saved);
            }
        }
        self.followers = followers;
    }

    /// Checks that a follower has lost its place only if it may.
    fn may_lose<T>(&self, follower: &mut Follower, done: Result<T, Error>) -> Option<T> {
        let error = match done {
            Ok(done) => return Some(done),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::PositionLost => {
                let is_saved = follower.saved.is_some() && follower.position == follower.saved;
                let is_retained = follower.name.is_some() && is_saved;
                assert!(
                    !is_retained || self.disk.has_lost_pages(),
                    "seed {}: a retained place is lost: {error}",
                    self.seed
                );
                follower.position = None;
                follower.saved = None;
            }
            // Tables are dropped, disabled and created again.
            ErrorKind::TableNotFound | ErrorKind::TableNotEnabled => {}
            _ => assert!(self.failing, "seed {}: {error}", self.seed),
        }
        None
    }

    /// Checks that every follower, when it has read all, holds what the table holds.
    pub(super) fn check_followers(&mut self) {
        if self.disk.has_lost_pages() {
            return;
        }
        let store = self.store();
        store.engine().sync_log().unwrap();
        let cells = self.read_all().unwrap();
        let mut followers = std::mem::take(&mut self.followers);
        for follower in &mut followers {
            follower.position = follower.saved.clone();
            let mut attempts = 0;
            loop {
                attempts += 1;
                assert!(attempts < 10, "seed {}: no end of changes", self.seed);
                let done = follower.read(&store, 100_000);
                self.tell(format_args!("catch up {:?}: {done:?}", follower.name));
                if self.may_lose(follower, done) == Some(true) {
                    break;
                }
            }
            let of_table = cells.iter().filter(|((table, ..), _)| *table == follower.table);
            let expected: BTreeMap<_, _> = of_table
                .filter(|((_, row, _), _)| *row < ROWS)
                .map(|((_, row, family), number)| ((*row, *family), *number))
                .collect();
            assert_eq!(
                follower.visible(),
                expected,
                "seed {}: what {:?} of table {} holds",
                self.seed,
                follower.name,
                follower.table
            );
        }
        self.followers = followers;
    }
}
