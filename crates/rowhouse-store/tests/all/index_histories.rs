//! The law of indexes under random histories: at every time and read point each row has the entries
//! that it must have, and an entry that claims to be certain is one that the row has.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rowhouse_model::Bytes;
use rowhouse_schema::{Covered, ENTRY_FAMILY, EntryHeader, Index};
use rowhouse_store::{ReadPoint, Store, Table};

use crate::histories::{
    Declared, History, MINOR_COMPACTIONS, Step, Upkeep, Values, rows, step, versions,
    wait_for_indexes,
};

const COLUMNS: &str = "1 f:q q string; f:s size i64; g:q other string; t:[tag string] tagged blob";
const INDEXES: &str = "1 by_q [q]; sized [size desc] covers q, other where size > 2; \
                       nulls [q null last][other null first]; by_n [n][user]; \
                       by_tag [tagged.tag][q null first] covers other; both [other][q] covers size";
/// The same indexes in memory, beside one that is not.
const IN_MEMORY: &str = "1 by_q [q] memory; sized [size desc] memory covers q, other where size > 2; \
                         nulls [q null last][other null first] memory; by_n [n][user] memory; \
                         by_tag [tagged.tag][q null first] memory covers other; \
                         both [other][q] covers size";
/// A copy of the table under another key.
const COPY: &str = "; copied [n][user] covers *";
const VALUES: Values = Values { count: 6, of: value };

fn value(qualifier: &[u8], value: u8) -> Vec<u8> {
    match qualifier {
        b"s" => (i64::from(value) ^ i64::MIN).to_be_bytes().to_vec(),
        // Not a text.
        b"q" if value == 5 => vec![0xff],
        _ => format!("{value}\0\x01").into_bytes(),
    }
}

fn declared(indexes: String) -> Declared {
    let other_columns = COLUMNS.replace("f:q q string", "g:x q string");
    let fewer_indexes = "1 by_q [q]; other [other]";
    Declared { columns: COLUMNS, other_columns, indexes, fewer_indexes }
}

/// The store keeps these indexes itself.
struct ByStore;

impl Upkeep for ByStore {
    type Point = Arc<ReadPoint>;

    fn opened(&mut self, _store: &Store) {}

    fn closing(&mut self) {}

    fn settle(&mut self, store: &Store) {
        wait_for_indexes(store, |_| true);
    }

    fn point(&mut self, store: &Store) -> Self::Point {
        store.read_point()
    }
}

impl History<ByStore> {
    fn check(&mut self) -> Result<(), TestCaseError> {
        self.settle();
        for table in self.store().tables() {
            let Some(indexes) = table.indexes().unwrap() else { continue };
            for index in indexes.indexes() {
                self.check_index(&table, index, &self.store().read_point())?;
                if table.name().qualifier() == "t" {
                    for point in &self.points {
                        self.check_index(&table, index, point)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Every row has the same cells in the copy, and the copy has no others.
    fn check_copy(
        &self,
        table: &Arc<Table>,
        index: &Index,
        point: &Arc<ReadPoint>,
    ) -> Result<(), TestCaseError> {
        let copy = self.store().table(&index.table_name(table.name()).unwrap()).unwrap();
        let rows = versions(table, point).into_iter();
        let due: BTreeMap<_, _> =
            rows.filter_map(|(row, cells)| Some((index.copy_key(&row).unwrap()?, cells))).collect();
        prop_assert_eq!(due, versions(&copy, point), "{}", index);
        Ok(())
    }

    fn check_index(
        &self,
        table: &Arc<Table>,
        index: &Index,
        point: &Arc<ReadPoint>,
    ) -> Result<(), TestCaseError> {
        if index.is_copy() {
            return self.check_copy(table, index, point);
        }
        let now = self.store().now_millis();
        let mut due: BTreeMap<Bytes, Vec<Option<Covered>>> = BTreeMap::new();
        for row in rows(table, point) {
            let entries = index.entries(row.key(), &row).unwrap();
            due.extend(entries.into_iter().map(|entry| (entry.key, entry.covered)));
        }
        let entries = self.store().table(&index.table_name(table.name()).unwrap()).unwrap();
        for entry in rows(&entries, point) {
            let Some(header) = entry.value(ENTRY_FAMILY, "") else {
                return Err(TestCaseError::fail(format!("{index}: no header: {entry:?}")));
            };
            let header = EntryHeader::decode(&header).unwrap();
            let covered = due.remove(entry.key());
            if !header.is_certain_at(now) {
                continue;
            }
            let names = index.covers().iter().zip(header.timestamps);
            let have = names.map(|(name, timestamp)| {
                let value = entry.value(ENTRY_FAMILY, name).unwrap_or_default();
                timestamp.map(|timestamp| Covered { timestamp, value })
            });
            prop_assert_eq!(
                covered,
                Some(have.collect()),
                "{}: a certain entry: {}",
                index,
                entry.key().escape_ascii()
            );
        }
        let missing: Vec<_> = due.keys().map(|key| key.escape_ascii().to_string()).collect();
        prop_assert!(missing.is_empty(), "{index}: missing entries: {missing:?}");
        Ok(())
    }
}

/// The number of histories, and of steps in each.
fn effort() -> (u32, Range<usize>) {
    let cases = std::env::var("INDEX_HISTORIES").ok().and_then(|cases| cases.parse().ok());
    (cases.unwrap_or(150), 1..40)
}

fn run(mut history: History<ByStore>, steps: &[Step]) -> Result<(), TestCaseError> {
    for (nth, step) in steps.iter().enumerate() {
        history.run(step);
        history
            .check()
            .map_err(|error| TestCaseError::fail(format!("after step {nth}, {step:?}: {error}")))?;
    }
    history.close();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: effort().0, ..ProptestConfig::default() })]
    #[test]
    fn no_row_lacks_an_entry_and_every_certain_entry_is_right_in_random_histories(
        keep in prop_oneof![
            4 => Just(None),
            1 => Just(Some("KEEP_DELETED_CELLS")),
            1 => Just(Some(MINOR_COMPACTIONS)),
            1 => Just(Some("NEW_VERSION_BEHAVIOR")),
        ],
        steps in prop::collection::vec(step(VALUES), effort().1),
    ) {
        run(History::new(declared(INDEXES.to_owned()), keep, ByStore), &steps)?;
    }

    #[test]
    fn indexes_in_memory_obey_the_law_in_random_histories(
        keep in prop_oneof![
            4 => Just(None),
            1 => Just(Some("KEEP_DELETED_CELLS")),
            1 => Just(Some("NEW_VERSION_BEHAVIOR")),
        ],
        steps in prop::collection::vec(step(VALUES), effort().1),
    ) {
        let indexes = format!("{IN_MEMORY}{COPY}");
        let fewer_indexes = "1 by_q [q] memory; other [other]";
        let declared = Declared { fewer_indexes, ..declared(indexes) };
        run(History::new(declared, keep, ByStore), &steps)?;
    }

    #[test]
    fn a_copy_shows_the_same_versions_as_its_table_in_random_histories(
        keep in prop_oneof![
            4 => Just(None),
            1 => Just(Some("KEEP_DELETED_CELLS")),
            1 => Just(Some(MINOR_COMPACTIONS)),
            1 => Just(Some("NEW_VERSION_BEHAVIOR")),
        ],
        has_others in any::<bool>(),
        steps in prop::collection::vec(step(VALUES), effort().1),
    ) {
        let indexes = if has_others { format!("{INDEXES}{COPY}") } else { format!("1 {}", &COPY[2..]) };
        run(History::new(declared(indexes), keep, ByStore), &steps)?;
    }
}
