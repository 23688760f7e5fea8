//! Batch outcomes. A batch answers and leaves what its mutations do one by one, whatever observes
//! or indexes the table.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rowhouse_model::{
    Append, Columns, Delete, Durability, Error, ErrorKind, FamilyDescriptor, Increment, Mutation,
    MutationOutcome, Put, Result, Scan, TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE};
use rowhouse_store::{Additions, Observer, RowChange, Store, Table};

use crate::histories::{SetClock, copy_of_store};

const COLUMNS: &str = "1 f:m email string; f:c counter blob; f:x text blob";
const UNIQUE: &str = "one_email [email] unique";
const PLAIN: &str = "by_counter [counter]; by_email [email] covers text";
const COPY: &str = "copied [user]!copy covers *";

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

/// What keeps data derived from a table.
#[derive(Clone, Copy, Debug)]
struct Derived {
    indexes: &'static str,
    is_observed: bool,
    is_split: bool,
    /// The table whose region is out of service.
    closed: Option<&'static str>,
}

fn derived() -> impl Strategy<Value = Derived> {
    let kinds = prop_oneof![
        Just(("", vec![])),
        Just((UNIQUE, vec!["t.one_email"])),
        Just((PLAIN, vec!["t.by_counter", "t.by_email"])),
        Just((COPY, vec!["t.copied"])),
    ];
    let closed = (kinds, any::<bool>()).prop_flat_map(|((indexes, mut tables), is_observed)| {
        if is_observed {
            tables.push("log");
        }
        let closed = if tables.is_empty() {
            Just(None).boxed()
        } else {
            prop::option::weighted(0.3, prop::sample::select(tables)).boxed()
        };
        (Just(indexes), Just(is_observed), closed)
    });
    (closed, any::<bool>()).prop_map(|((indexes, is_observed, closed), is_split)| Derived {
        indexes,
        is_observed,
        is_split,
        closed,
    })
}

/// Writes each changed row to another table, and refuses some values.
struct Log(Arc<Table>);

impl Observer for Log {
    fn columns(&self) -> Columns {
        Columns::all()
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()> {
        // Never hidden by another change in the same record: observers see the row after the whole
        // record.
        if change.after.value("f", "refused").is_some() {
            return Err(Error::new(ErrorKind::InvalidRequest, "no"));
        }
        let shown: Vec<_> = change.after.cells().map(|cell| cell.value().to_vec()).collect();
        let put = Put::new(change.row.clone())?.add("f", "shown", shown.concat())?;
        additions.mutate(&self.0, put);
        Ok(())
    }
}

struct Subject {
    dir: tempfile::TempDir,
    store: Store,
}

impl Subject {
    fn new(derived: Derived) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // One that stands still: regions have equal names, and mutations share a millisecond.
        let clock = SetClock(Arc::new(AtomicI64::new(1_000_000)));
        let store = Store::builder(dir.path()).with_clock(clock).open().unwrap();
        let family = || FamilyDescriptor::new("f").unwrap().versions(3);
        store.create_table(TableDescriptor::new(name("log")).family(family()), &[]).unwrap();
        let table = TableDescriptor::new(name("t"))
            .family(family())
            .attribute(KEY_ATTRIBUTE, "1 [user text]")
            .attribute(COLUMNS_ATTRIBUTE, COLUMNS);
        let table = match derived.indexes {
            "" => table,
            indexes => table.attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")),
        };
        let splits = if derived.is_split { vec!["b".into()] } else { Vec::new() };
        store.create_table(table, &splits).unwrap();
        if derived.is_observed {
            let log = store.table(&name("log")).unwrap();
            store.observe(&name("t"), Arc::new(Log(log))).unwrap();
        }
        if let Some(closed) = derived.closed {
            let region = store.table(&name(closed)).unwrap().regions()[0].name().full.clone();
            store.unassign_region(&region).unwrap();
        }
        Self { dir, store }
    }

    fn table(&self) -> Arc<Table> {
        self.store.table(&name("t")).unwrap()
    }

    /// Returns versions of a table's rows, without timestamps: a batch's timestamps are equal.
    fn shown(&self, table: &str, versions: u32) -> Vec<String> {
        let table = self.store.table(&name(table)).unwrap();
        let mut scan = Scan::all();
        scan.versions = versions;
        let mut rows = table.scan(scan).unwrap();
        let mut shown = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
            shown.extend(row.cells().map(|cell| {
                format!("{} {} {}", text(cell.row()), text(cell.qualifier()), text(cell.value()))
            }));
        }
        shown
    }

    /// Ends the process, as far as the store can tell, and opens it again.
    fn reopen(self) -> Self {
        let Self { dir, store } = self;
        let copy = copy_of_store(dir.path());
        drop(store);
        let store = Store::open(copy.path()).unwrap();
        Self { dir: copy, store }
    }
}

/// A mutation. Puts have timestamps, in their order: two in a batch without timestamps are one
/// version, as in HBase.
#[derive(Clone, Debug)]
struct Change {
    row: &'static str,
    kind: Kind,
    durability: Durability,
}

#[derive(Clone, Debug)]
enum Kind {
    Put(&'static str, &'static str),
    Increment(&'static str),
    Append,
    DeleteRow,
    DeleteNewest(&'static str),
    DeleteColumn(&'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let kind = prop_oneof![
        4 => prop::sample::select(vec!["x1", "x2", "x3"]).prop_map(|email| Kind::Put("m", email)),
        1 => Just(Kind::Put("x", "v")),
        3 => Just(Kind::Increment("c")),
        1 => Just(Kind::Increment("x")),
        2 => Just(Kind::Append),
        1 => Just(Kind::DeleteRow),
        2 => prop::sample::select(vec!["m", "c", "x"]).prop_map(Kind::DeleteNewest),
        1 => prop::sample::select(vec!["m", "c", "x"]).prop_map(Kind::DeleteColumn),
    ];
    let durability = prop_oneof![
        4 => Just(Durability::UseDefault),
        1 => Just(Durability::AsyncWal),
    ];
    let change = prop_oneof![
        8 => (prop::sample::select(vec!["a", "b", "k"]), kind),
        1 => Just(("c", Kind::Put("refused", ""))),
    ];
    (change, durability).prop_map(|((row, kind), durability)| Change { row, kind, durability })
}

fn mutation(change: &Change, nth: usize) -> Mutation {
    let Change { row, kind, durability } = change;
    let at = Timestamp::from_millis(1000 + nth as i64).unwrap();
    let delete = || Delete::new(*row).unwrap();
    let mutation: Mutation = match kind {
        Kind::Put(qualifier, value) => {
            Put::new(*row).unwrap().add_at("f", *qualifier, at, *value).unwrap().into()
        }
        Kind::Increment(qualifier) => {
            Increment::new(*row).unwrap().add("f", *qualifier, 1).unwrap().into()
        }
        Kind::Append => Append::new(*row).unwrap().add("f", "x", "+").unwrap().into(),
        Kind::DeleteRow => delete().into(),
        Kind::DeleteNewest(qualifier) => {
            delete().version("f", *qualifier, Timestamp::LATEST).unwrap().into()
        }
        Kind::DeleteColumn(qualifier) => {
            delete().column("f", *qualifier, Timestamp::LATEST).unwrap().into()
        }
    };
    mutation.with_default_durability(*durability)
}

fn answer(outcome: &Result<MutationOutcome>) -> String {
    match outcome {
        Ok(outcome) => outcome.row.cells().map(|cell| format!("{:?} ", cell.value())).collect(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}

/// The number of histories; `BATCH_HISTORIES` sets another.
fn cases() -> u32 {
    let cases = std::env::var("BATCH_HISTORIES").ok().and_then(|cases| cases.parse().ok());
    cases.unwrap_or(60)
}

#[test]
fn puts_of_a_unique_index_are_written_before_a_mutation_that_reads() {
    let derived = Derived { indexes: UNIQUE, is_observed: false, is_split: false, closed: None };
    let subject = Subject::new(derived);
    let put = |row: &'static str, email: &'static str| -> Mutation {
        Put::new(row).unwrap().add("f", "m", email).unwrap().into()
    };
    let increment: Mutation = Increment::new("k").unwrap().add("f", "c", 1).unwrap().into();
    let append: Mutation = Append::new("k").unwrap().add("f", "x", "+").unwrap().into();
    let delete = Delete::new("k").unwrap().version("f", "x", Timestamp::LATEST).unwrap();
    let batches = [
        vec![put("a", "x1"), increment.clone()],
        vec![put("b", "x2"), append],
        vec![put("c", "x3"), delete.into()],
        vec![put("d", "x4"), put("e", "x5"), increment],
    ];
    for batch in batches {
        subject.table().batch(batch).into_iter().for_each(|outcome| _ = outcome.unwrap());
    }
    let counter = "k c \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02";
    let rows = ["a m x1", "b m x2", "c m x3", "d m x4", "e m x5", counter];
    assert_eq!(subject.shown("t", 1), rows);

    let increment: Mutation = Increment::new("k").unwrap().add("f", "c", 1).unwrap().into();
    let outcomes = subject.table().batch(vec![put("z", "x1"), increment]);
    assert!(outcomes[0].as_ref().unwrap_err().message().contains("is unique"));
    assert!(outcomes[1].is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
    #[test]
    fn batches_have_the_outcomes_and_effects_of_single_mutations(
        derived in derived(),
        batches in prop::collection::vec(prop::collection::vec(change(), 1..7), 1..6),
    ) {
        let together = Subject::new(derived);
        let alone = Subject::new(Derived { closed: None, ..derived });
        let mut nth = 0;
        for changes in batches {
            let mut mutations: Vec<_> = changes.iter().map(|change| {
                nth += 1;
                mutation(change, nth)
            }).collect();
            if derived.is_split {
                // A batch applies the mutations of one region after the mutations of another.
                mutations.sort_by_key(|mutation| mutation.row()[..] >= b"b"[..]);
            }
            let outcomes = together.table().batch(mutations.clone());
            for (mutation, outcome) in mutations.iter().zip(outcomes) {
                if let Err(error) = &outcome
                    && error.kind() == ErrorKind::RegionTooBusy
                {
                    prop_assert!(derived.closed.is_some(), "{}", error);
                    continue;
                }
                let expected = alone.table().mutate(mutation);
                prop_assert_eq!(answer(&outcome), answer(&expected), "{:?}", mutation);
            }
            prop_assert_eq!(together.shown("t", 3), alone.shown("t", 3));
        }
        if derived.closed.is_none() {
            agree(&together, &alone, derived)?;
        }
        let together = together.reopen();
        let alone = alone.reopen();
        prop_assert_eq!(together.shown("t", 3), alone.shown("t", 3), "after a kill");
    }
}

fn agree(
    together: &Subject,
    alone: &Subject,
    derived: Derived,
) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(together.shown("log", 1), alone.shown("log", 1));
    if derived.indexes.is_empty() {
        return Ok(());
    }
    for table in together.store.tables() {
        if let Some(index) = table.name().qualifier().strip_prefix("t.") {
            let report = together.store.verify_index(&name("t"), index, |_| {}).unwrap();
            prop_assert!(report.is_clean(), "{}: {:?}", index, report);
        }
    }
    Ok(())
}
