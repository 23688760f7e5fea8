//! A conditional mutation applies only if the condition holds, atomically with the check.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rowhouse_model::{
    CompareOperator, Condition, Delete, ErrorKind, FamilyDescriptor, Filter, Get, Mutation, Put,
    TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{Store, Table};

fn with_table(test: impl FnOnce(Arc<Table>)) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let descriptor = TableDescriptor::new(name.clone())
        .family(FamilyDescriptor::new("a").unwrap())
        .family(FamilyDescriptor::new("b").unwrap());
    store.create_table(descriptor, &["m".into()]).unwrap();
    test(store.table(&name).unwrap());
}

fn put(row: &'static str, family: &'static str, value: impl AsRef<[u8]>) -> Mutation {
    Put::new(row).unwrap().add(family, "q", value).unwrap().into()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

/// Returns true if the mutation was applied.
fn made(table: &Table, condition: &Condition, mutation: &Mutation) -> bool {
    table.mutate_if(condition, mutation).unwrap().is_some()
}

fn value(table: &Table, row: &'static str) -> Option<String> {
    let result = table.get(&Get::new(row).unwrap()).unwrap();
    result.value("a", "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn a_row_that_is_there_is_not_written_whichever_family_it_has() {
    with_table(|table| {
        assert!(made(&table, &Condition::NoRow, &put("r", "b", "first")));
        assert!(!made(&table, &Condition::NoRow, &put("r", "a", "second")));
        assert_eq!(value(&table, "r"), None);
        table.flush().unwrap();
        assert!(!made(&table, &Condition::NoRow, &put("r", "a", "second")), "from a file");
        table.mutate(&Delete::new("r").unwrap().into()).unwrap();
        // A delete marker hides puts in the same millisecond.
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(made(&table, &Condition::NoRow, &put("r", "a", "third")), "it was deleted");
        assert_eq!(value(&table, "r").as_deref(), Some("third"));
        assert!(made(&table, &Condition::NoRow, &put("z", "a", "of the other region")));
    });
}

#[test]
fn a_column_with_an_empty_value_counts_as_one_without() {
    with_table(|table| {
        let absent = Condition::no_value("a", "q");
        let future = at(9_000_000_000_000);
        let empty = Put::new("r").unwrap().add_at("a", "q", future, "").unwrap();
        table.mutate(&empty.into()).unwrap();
        assert!(made(&table, &absent, &put("r", "a", "seen")));
        assert_eq!(value(&table, "r").as_deref(), Some("seen"), "not hidden by a later cell");
        assert!(!made(&table, &absent, &put("r", "a", "again")));
        let other = Condition::no_value("a", "other");
        assert!(made(&table, &other, &put("r", "a", "another column was asked")));
    });
}

#[test]
fn only_cells_of_the_time_range_are_checked() {
    with_table(|table| {
        let old = Put::new("r").unwrap().add_at("a", "q", at(5), "old").unwrap();
        table.mutate(&old.into()).unwrap();
        let within = |from, to| {
            let time_range = TimeRange::new(at(from), at(to)).unwrap();
            Condition::no_value("a", "q").time_range(time_range)
        };
        assert!(!made(&table, &within(0, 6), &put("r", "a", "x")));
        assert!(made(&table, &within(6, 9), &put("r", "a", "x")));
    });
}

#[test]
fn a_family_that_is_not_there_is_refused() {
    with_table(|table| {
        let absent = Condition::no_value("c", "q");
        let error = table.mutate_if(&absent, &put("r", "a", "x")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchColumnFamily);
    });
}

#[test]
fn a_filter_holds_where_it_lets_a_cell_of_the_row_through() {
    with_table(|table| {
        table.mutate(&put("r", "a", "seen")).unwrap();
        let begins = |prefix: &'static str| Condition::filter(Filter::ColumnPrefix(prefix.into()));
        assert!(!made(&table, &begins("x"), &put("r", "a", "x")));
        assert!(made(&table, &begins("q"), &put("r", "b", "y")));
        assert!(!made(&table, &begins("q"), &put("nowhere", "b", "z")));
    });
}

#[test]
fn a_value_is_compared_by_every_operator() {
    use CompareOperator::*;
    with_table(|table| {
        table.mutate(&put("r", "a", "5")).unwrap();
        for (operator, expected) in [
            (Less, "6"),
            (LessOrEqual, "5 6"),
            (Equal, "5"),
            (NotEqual, "4 6"),
            (GreaterOrEqual, "4 5"),
            (Greater, "4"),
        ] {
            let holds = |value: &&str| {
                let condition = Condition::value("a", "q", operator, value.to_string());
                made(&table, &condition, &put("r", "b", "x"))
            };
            let held: Vec<&str> = ["4", "5", "6"].into_iter().filter(holds).collect();
            assert_eq!(held.join(" "), expected, "{operator:?}");
        }
        let missing = Condition::value("a", "missing", NotEqual, "x");
        assert!(!made(&table, &missing, &put("r", "b", "x")), "nothing compares with nothing");
    });
}

#[test]
fn of_many_threads_that_insert_one_row_exactly_one_does() {
    const THREADS: usize = 8;
    const ROWS: usize = 200;
    with_table(|table| {
        let won = AtomicUsize::new(0);
        let start = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let table = &table;
                let won = &won;
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    for row in 0..ROWS {
                        // Half of them write another family: the condition covers the whole row.
                        let family = if thread % 2 == 0 { "a" } else { "b" };
                        let put = Put::new(format!("{row}")).unwrap();
                        let put = put.add(family, "q", format!("{thread}")).unwrap();
                        if made(table, &Condition::NoRow, &put.into()) {
                            won.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(won.into_inner(), ROWS);
        for row in 0..ROWS {
            let row = table.get(&Get::new(format!("{row}")).unwrap()).unwrap();
            assert_eq!(row.cells().count(), 1);
        }
    });
}
