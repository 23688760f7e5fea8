//! Atomic changes to a row, or to several rows in a region.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse_model::{
    Append, CompareOperator, Condition, Delete, ErrorKind, FamilyDescriptor, Get, Increment,
    Mutation, Nonce, Put, Row, RowCondition, RowMutations, TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{Store, Table};

fn with_table(test: impl FnOnce(Arc<Table>)) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = |name| FamilyDescriptor::new(name).unwrap();
    let table = TableDescriptor::new(name.clone()).family(family("a")).family(family("b"));
    store.create_table(table, &["m".into()]).unwrap();
    test(store.table(&name).unwrap());
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn put(row: &'static str, qualifier: &str, value: impl AsRef<[u8]>) -> Put {
    Put::new(row).unwrap().add("a", qualifier, value).unwrap()
}

fn count(row: &'static str, amount: i64) -> Increment {
    Increment::new(row).unwrap().add("a", "n", amount).unwrap()
}

fn append(row: &'static str, value: &str) -> Append {
    Append::new(row).unwrap().add("b", "q", value).unwrap()
}

fn row(mutations: impl IntoIterator<Item = Mutation>) -> RowMutations {
    mutations.into_iter().fold(RowMutations::new("r").unwrap(), |all, one| all.with(one).unwrap())
}

/// `qualifier=value` of each cell; counters as numbers.
fn show(row: &Row) -> String {
    let show = |cell: rowhouse_model::KeyValue<'_>| {
        let value = match <[u8; 8]>::try_from(cell.value()) {
            Ok(bytes) => i64::from_be_bytes(bytes).to_string(),
            Err(_) => String::from_utf8_lossy(cell.value()).into_owned(),
        };
        format!("{}={value}", String::from_utf8_lossy(cell.qualifier()))
    };
    row.cells().map(show).collect::<Vec<_>>().join(" ")
}

fn read(table: &Table, row: &'static str) -> String {
    show(&table.get(&Get::new(row).unwrap()).unwrap())
}

#[test]
fn outcomes_come_in_the_order_of_the_mutations() {
    with_table(|table| {
        table.mutate(&put("r", "old", "x").into()).unwrap();
        let column = Delete::new("r").unwrap().column("a", "old", Timestamp::LATEST).unwrap();
        let mutations = row([
            append("r", "v").into(),
            put("r", "p", "x").into(),
            count("r", 5).into(),
            column.into(),
        ]);
        assert_eq!(show(&table.mutate_row(&mutations).unwrap().row), "q=v n=5");
        assert_eq!(read(&table, "r"), "n=5 p=x q=v");
    });
}

#[test]
fn reading_mutations_see_the_row_as_it_was_before_all_of_them() {
    with_table(|table| {
        table.mutate(&count("r", 5).into()).unwrap();
        let hundred = put("r", "n", 100i64.to_be_bytes());
        // The increment comes last, and it does not see the put.
        let outcome = table.mutate_row(&row([hundred.into(), count("r", 1).into()])).unwrap();
        assert_eq!(show(&outcome.row), "n=6");
        assert_eq!(read(&table, "r"), "n=6");
        let twice = table.mutate_row(&row([count("r", 1).into(), count("r", 2).into()])).unwrap();
        assert_eq!(show(&twice.row), "n=7 n=8");
        assert_eq!(read(&table, "r"), "n=8");
        // As if each were alone.
        let newest = || Delete::new("r").unwrap().version("a", "n", Timestamp::LATEST).unwrap();
        table.mutate_row(&row([newest().into(), newest().into()])).unwrap();
        let left = Get::new("r").unwrap().versions(9);
        assert_eq!(show(&table.get(&left).unwrap()), "n=6");
    });
}

#[test]
fn one_that_cannot_be_done_leaves_nothing_of_the_others() {
    with_table(|table| {
        table.mutate(&put("r", "n", "short").into()).unwrap();
        let error = table.mutate_row(&row([put("r", "p", "x").into(), count("r", 1).into()]));
        assert_eq!(error.unwrap_err().message(), "Field is not a long, it's 5 bytes wide");
        let nowhere = Put::new("r").unwrap().add("c", "q", "x").unwrap();
        let error = table.mutate_row(&row([put("r", "p", "x").into(), nowhere.into()]));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NoSuchColumnFamily);
        assert_eq!(read(&table, "r"), "n=short");
        assert_eq!(
            RowMutations::new("r").unwrap().with(put("s", "p", "x")).unwrap_err().message(),
            "The row in the recently added Mutation <s> doesn't match the original one <r>"
        );
        assert!(table.mutate_row(&row([])).unwrap().row.is_empty(), "none at all is nothing");
    });
}

#[test]
fn a_condition_decides_about_all_of_them() {
    with_table(|table| {
        let is_open = Condition::value("a", "state", CompareOperator::Equal, "open");
        let close = row([put("r", "state", "closed").into(), count("r", 1).into()]);
        assert!(table.mutate_row_if(&is_open, &close).unwrap().is_none());
        assert_eq!(read(&table, "r"), "");
        table.mutate(&put("r", "state", "open").into()).unwrap();
        let done = table.mutate_row_if(&is_open, &close).unwrap().unwrap();
        assert_eq!(show(&done.row), "n=1");
        assert!(table.mutate_row_if(&is_open, &close).unwrap().is_none());
        assert_eq!(read(&table, "r"), "n=1 state=closed");
    });
}

#[test]
fn conditional_puts_are_not_older_than_the_cells_of_their_condition() {
    with_table(|table| {
        let future = at(9_000_000_000_000);
        let open = Put::new("r").unwrap().add_at("a", "state", future, "open").unwrap();
        table.mutate(&open.into()).unwrap();
        let is_open = Condition::value("a", "state", CompareOperator::Equal, "open");
        let column = Delete::new("r").unwrap().column("a", "state", Timestamp::LATEST).unwrap();
        assert!(table.mutate_if(&is_open, &column.into()).unwrap().is_some());
        assert_eq!(read(&table, "r"), "state=open", "a delete is of its own time, as on HBase");
        let close = row([put("r", "state", "closed").into()]);
        assert!(table.mutate_row_if(&is_open, &close).unwrap().is_some());
        assert_eq!(read(&table, "r"), "state=closed");
    });
}

#[test]
fn rows_of_a_region_change_together_if_all_conditions_hold() {
    with_table(|table| {
        let region = table.region_of(b"a");
        let is = |row: &'static str, value: &'static str| RowCondition {
            row: row.into(),
            condition: Condition::value("a", "q", CompareOperator::Equal, value),
        };
        table.mutate(&put("a", "q", "1").into()).unwrap();
        table.mutate(&put("b", "q", "2").into()).unwrap();
        let swap = [put("a", "q", "2").into(), put("b", "q", "1").into()];
        assert!(region.mutate_rows(&[is("a", "1"), is("b", "1")], &swap).unwrap().is_none());
        let outcomes = region.mutate_rows(&[is("a", "1"), is("b", "2")], &swap).unwrap();
        assert_eq!(outcomes.unwrap().len(), 2);
        assert_eq!((read(&table, "a"), read(&table, "b")), ("q=2".into(), "q=1".into()));
        let absent = RowCondition { row: "c".into(), condition: Condition::no_value("a", "q") };
        let of_c = put("d", "q", "c is not there").into();
        assert!(region.mutate_rows(&[absent], &[of_c]).unwrap().is_some(), "of another row");
        for row in ["z", ""] {
            let error = region.mutate_rows(&[is(row, "1")], &swap).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::NoSuchColumnFamily, "{error}");
        }
        let elsewhere = [put("a", "q", "x").into(), put("z", "q", "x").into()];
        let error = region.mutate_rows(&[], &elsewhere).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongRegion);
        assert_eq!(read(&table, "a"), "q=2");
    });
}

#[test]
fn a_repetition_of_all_writes_nothing_again() {
    with_table(|table| {
        let nonce = Some(Nonce { group: 1, number: 2 });
        let named = Mutation::from(count("r", 5)).with_nonce(nonce);
        let all = row([put("r", "p", "x").into(), named]);
        let first = table.mutate_row(&all).unwrap();
        table.mutate(&put("r", "p", "later").into()).unwrap();
        table.mutate(&count("r", 1).into()).unwrap();
        assert_eq!(table.mutate_row(&all).unwrap(), first);
        assert_eq!(read(&table, "r"), "n=6 p=later");
    });
}

#[test]
fn no_reader_sees_half_of_them() {
    with_table(|table| {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let table = &table;
            let stop = &stop;
            let readers = (0..2).map(|_| {
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let row = table.get(&Get::new("r").unwrap()).unwrap();
                        let grown = row.value("b", "q").map_or(0, |value| value.len() as i64);
                        assert_eq!(row.counter("a", "n").unwrap().unwrap_or(0), grown);
                    }
                })
            });
            let readers: Vec<_> = readers.collect();
            for _ in 0..500 {
                table.mutate_row(&row([count("r", 1).into(), append("r", "x").into()])).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
    });
}
