//! Deletions of the rows of a query or a range: exactly those rows, in this process and through a
//! server, with everything that follows single deletes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rowhouse::filter::CompareOperator;
use rowhouse::key::TimeZone;
use rowhouse::observer::{Additions, Observer, RowChange};
use rowhouse::query::delete::DeleteAdvice;
use rowhouse::query::{Predicate, Query};
use rowhouse::schema::IndexState;
use rowhouse::{
    Bytes, Condition, Database, DeletedCells, ErrorKind, Get, Increment, Mutation, Put, Result,
    RowRange, Scan, Table, TableSpec, Timestamp,
};

use crate::support::{Random, on_both};

const KEYS: [&str; 4] = [
    "[user string][n u8]",
    "[bucket 4 of user][user string][n u8]",
    "[salt 4 a-d]-[user text]#[n u8]",
    "[n u8 desc][hash 1 of n][user text]",
];
const COLUMNS: &str = "d:s sender string; d:z size u16; f:!x extra u8";
const INDEXES: &str = "by_sender [sender]
    large [size desc] covers sender where size > 300
    by_both [sender][size]
    in_buckets [bucket 4 of sender][sender][n desc]
    copied [n desc][user] covers *";
const INDEX_NAMES: [&str; 5] = ["by_sender", "large", "by_both", "in_buckets", "copied"];
const USERS: [&str; 4] = ["ann", "bob", "b", "eve"];

/// Creates a table with random rows, of which two have keys that do not fit.
async fn random_table(database: &Database, name: &str, key: &str, random: &mut Random) -> Table {
    let indexes = if key.contains("salt") { "by_sender [sender]" } else { INDEXES };
    let spec = TableSpec::new(name).key(key).columns(COLUMNS).indexes(indexes);
    let table = database.create_table(spec.family("d").family("f").regions(3)).await;
    let table = match table {
        Ok(table) => table,
        // Not every template has a first field by which regions are laid out.
        Err(_) => {
            let spec = TableSpec::new(name).key(key).columns(COLUMNS).indexes(indexes);
            database.create_table(spec.family("d").family("f")).await.unwrap()
        }
    };
    let rows = 40 + random.below(60);
    for _ in 0..rows {
        let user = random.one_of(&USERS);
        let row = table.row(&[("user", user.into()), ("n", random.below(200).into())]);
        let row = row.set_named("sender", random.one_of(&["eve", "zoë", "al"]));
        let row = match random.below(5) {
            0 => row,
            // A value that does not have the column's type.
            1 => row.set("d", "z", "many"),
            _ => row.set_named("size", random.below(8) * 100),
        };
        let row = if random.is(3) { row.set_named("extra", 5) } else { row };
        table.put(row.into_put().unwrap()).await.unwrap();
    }
    for key in ["", "\u{1}misfit"] {
        let key = if key.is_empty() { "~".to_owned() } else { key.to_owned() };
        table.put(Put::new(key).unwrap().add("d", "s", "eve").unwrap()).await.unwrap();
    }
    table
}

fn random_query(random: &mut Random) -> String {
    let size = random.below(8) * 100;
    let n = random.below(200);
    let one = |random: &mut Random| match random.below(9) {
        0 => format!("sender = '{}'", random.one_of(&["eve", "zoë", "none"])),
        1 => "sender in ('eve', 'al')".to_owned(),
        2 => format!("size > {size}"),
        3 => format!("size between 100 and {size}"),
        4 => "size is null".to_owned(),
        5 => format!("user = '{}'", random.one_of(&USERS)),
        6 => format!("n < {n}"),
        7 => format!("n between 50 and {n}"),
        _ => "extra is not null".to_owned(),
    };
    let first = one(random);
    if random.is(5) { format!("{first} and {}", one(random)) } else { first }
}

async fn all_keys(table: &Table) -> BTreeSet<Bytes> {
    let rows = table.scan(Scan::all()).await.unwrap().collect().await.unwrap();
    rows.iter().map(|row| Bytes::copy_from_slice(row.key())).collect()
}

async fn keys(query: Query<'_>) -> BTreeSet<Bytes> {
    query.keys().await.unwrap().into_iter().collect()
}

/// The law: a deletion removes the rows that the query returns, as many as it counts, and no other.
async fn assert_query_rows_are_deleted(database: &Database, seed: u64) {
    let mut random = Random::new(seed);
    let key = KEYS[random.below(KEYS.len() as u64) as usize];
    let table = random_table(database, "mail", key, &mut random).await;
    for _ in 0..4 {
        let text = random_query(&mut random);
        let context = format!("{key}, {text}, seed={seed}");
        let before = all_keys(&table).await;
        let selected = keys(table.query(&text)).await;
        let counted = table.query(&text).count().await.unwrap();
        assert_eq!(counted, selected.len() as u64, "{context}");
        assert_eq!(all_keys(&table).await, before, "a count deletes nothing: {context}");
        let batch = 1 + random.below(9) as u32;
        let deleted = table.query(&text).delete().batch_rows(batch).run().await.unwrap();
        assert_eq!(deleted, counted, "{context}");
        let left: BTreeSet<_> = before.difference(&selected).cloned().collect();
        assert_eq!(all_keys(&table).await, left, "{context}");
        assert_eq!(table.query(&text).count().await.unwrap(), 0, "{context}");
    }
    for index in INDEX_NAMES.iter().filter(|_| !key.contains("salt")) {
        let report = database.admin().verify_index("mail", index).await.unwrap();
        assert_eq!((report.missing, report.stale), (0, 0), "{index} {key}, seed={seed}");
    }
    database.admin().disable_table("mail").await.unwrap();
    database.admin().drop_table("mail").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_removes_exactly_the_rows_that_its_query_returns() {
    on_both(async |database, is_server| {
        // The runner only draws the seeds: a case is awaited, and it says its seed.
        let mut runner = TestRunner::deterministic();
        let cases = if is_server { 6 } else { 12 };
        for _ in 0..cases {
            let seed = any::<u64>().new_tree(&mut runner).unwrap().current();
            assert_query_rows_are_deleted(&database, seed).await;
        }
        database.close().await.unwrap();
    })
    .await;
}

/// Splits the last region.
async fn split(database: &Database, table: &Table, at: Bytes) {
    let last = table.regions().await.unwrap().pop().unwrap();
    database.admin().split_region(&last, Some(at)).await.unwrap();
}

/// A table with rows `0` to `rows - 1`, in three regions.
async fn numbers(database: &Database, rows: u32) -> Table {
    let spec = TableSpec::new("numbers").family("d").key("[n u32]").columns("d:k kind u8");
    let table = database.create_table(spec).await.unwrap();
    let put = |n: u32| -> Mutation {
        let row = table.row(&[("n", n.into())]).set_named("kind", n % 2).set("d", "v", "value");
        row.into_put().unwrap().into()
    };
    for outcome in table.batch((0..rows).map(put).collect()).await {
        outcome.unwrap();
    }
    for at in [rows / 3, rows / 2] {
        split(database, &table, table.key(&[("n", at.into())]).unwrap()).await;
    }
    table
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_deletion_is_ended_by_the_same_one_and_steps_are_bounded() {
    on_both(async |database, _| {
        let table = numbers(&database, 700).await;
        let odd = || table.query("kind = 1").delete();
        let mut deletion = odd().batch_rows(1);
        assert!(deletion.step().await.unwrap());
        let first = deletion.deleted();
        // A hundred batches of one row, unless a second is over earlier.
        assert!((1..=100).contains(&first), "{first}");
        drop(deletion);
        assert_eq!(table.query("kind = 1").count().await.unwrap(), 350 - first);
        let mut deletion = odd().batch_rows(2);
        let mut steps = 1;
        while deletion.step().await.unwrap() {
            steps += 1;
        }
        assert_eq!(deletion.deleted(), 350 - first);
        assert!(steps >= 2, "no step deletes in two regions: {steps}");
        assert!(!deletion.step().await.unwrap());
        assert_eq!(table.query("kind = 0").count().await.unwrap(), 350);
        assert_eq!(odd().run().await.unwrap(), 0);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_change_until_they_match_no_more_stay() {
    on_both(async |database, _| {
        let spec = TableSpec::new("jobs").family("d").key("[n u32]").columns("d:s state string");
        let table = database.create_table(spec).await.unwrap();
        let key = |n: u32| table.key(&[("n", n.into())]).unwrap();
        let rows = 400_u32;
        let put = |n: u32, state: &'static str| -> Mutation {
            table.row(&[("n", n.into())]).set_named("state", state).into_put().unwrap().into()
        };
        for outcome in table.batch((0..rows).map(|n| put(n, "old")).collect()).await {
            outcome.unwrap();
        }
        // One renews rows while they are old, the other deletes those that are old.
        let renews = async {
            let mut renewed = BTreeSet::new();
            for n in (0..rows).rev() {
                let is_old = Condition::value("d", "s", CompareOperator::Equal, "old");
                if table.mutate_if(&is_old, put(n, "new")).await.unwrap().is_some() {
                    renewed.insert(key(n));
                }
            }
            renewed
        };
        let deletes = async {
            let mut deletion = table.query("state = 'old'").delete().batch_rows(3);
            while deletion.step().await.unwrap() {}
            deletion.deleted()
        };
        let (renewed, deleted) = futures_util::future::join(renews, deletes).await;
        assert_eq!(all_keys(&table).await, renewed, "each renewed row is there, and no other");
        assert_eq!(deleted + renewed.len() as u64, u64::from(rows));
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn parts_of_queries_that_a_deletion_does_not_have_are_refused() {
    on_both(async |database, _| {
        let spec = TableSpec::new("t").family("d").family("f").key("[user string][at millis]");
        let spec = spec.columns("d:s sender string; f:[tag text] tagged u8");
        let table = database.create_table(spec.index("by_sender [sender]")).await.unwrap();
        let row = table.row(&[("user", "bob".into()), ("at", 5.into())]);
        table.put(row.set_named("sender", "eve").into_put().unwrap()).await.unwrap();
        let query = || table.query("user = 'bob'");
        let range = rowhouse::TimeRange::new(
            Timestamp::from_millis(1).unwrap(),
            Timestamp::from_millis(2).unwrap(),
        );
        for (query, part) in [
            (query().limit(1), "limit"),
            (query().offset(1), "offset"),
            (query().after("x"), "page"),
            (query().reversed(), "order"),
            (query().by_score(), "order"),
            (query().family("d"), "columns"),
            (query().named("sender"), "columns"),
            (query().versions(2), "versions"),
            (query().time_range(range.unwrap()), "time range"),
            (query().with_misfits(), "rows whose keys do not fit"),
            (query().using("by_sender"), "leave out index=by_sender"),
            (query().using_key(), "leave out index=key"),
            (table.query("tagged.tag = 'a'"), "tagged"),
            (table.query("nothing = 1"), "nothing"),
            (table.query("user = "), "user"),
            // As text, it is a year.
            (table.query_where(Predicate::all().lt("at", 2020)), "as times"),
        ] {
            let error = query.delete().run().await.unwrap_err();
            let kinds = [ErrorKind::InvalidRequest, ErrorKind::Unsupported];
            assert!(kinds.contains(&error.kind()), "{part}: {error}");
            assert!(error.message().contains(part), "{part}: {error}");
        }
        for rows in [0, 10_001] {
            let error = query().delete().batch_rows(rows).run().await.unwrap_err();
            assert!(error.message().contains(&format!("rows={rows}")), "{error}");
        }
        assert_eq!(query().count().await.unwrap(), 1);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn times_are_in_the_zone_of_the_query() {
    on_both(async |database, _| {
        let spec = TableSpec::new("t").family("d").key("[at millis]");
        let table = database.create_table(spec).await.unwrap();
        for at in ["2020-01-01T00:30+08:00", "2020-01-01T00:30Z", "2019-12-31T15:59:59Z"] {
            let row = table.row(&[("at", rowhouse::key::Time::parse(at).unwrap().into())]);
            table.put(row.set("d", "q", at).into_put().unwrap()).await.unwrap();
        }
        for zone in ["Asia/Shanghai", "+08:00"] {
            let zone = rowhouse_schema::parse_zone(zone).unwrap();
            assert_ne!(zone, TimeZone::UTC);
            let old = table.query("at < 2020").zone(zone);
            old.delete().run().await.unwrap();
            assert_eq!(table.query("at > 2000").count().await.unwrap(), 2);
        }
        assert_eq!(table.query("at < 2020").delete().run().await.unwrap(), 1);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn ranges_lose_rows_families_or_columns_as_by_single_deletes() {
    on_both(async |database, _| {
        let spec = |name| TableSpec::new(name).family("d").family("f");
        let many = database.create_table(spec("many")).await.unwrap();
        let single = database.create_table(spec("single")).await.unwrap();
        for table in [&many, &single] {
            for row in ["a", "b1", "b2", "b3", "c"] {
                let put = Put::new(row).unwrap();
                let put = put.add_at("d", "q", Timestamp::from_millis(5).unwrap(), "v").unwrap();
                let put = put.add_at("d", "r", Timestamp::from_millis(7).unwrap(), "v").unwrap();
                table.put(put.add("f", "q", "v").unwrap()).await.unwrap();
            }
        }
        let at = Timestamp::from_millis(6).unwrap();
        for (cells, timestamp) in [
            (DeletedCells::Column("d".into(), "q".into()), at),
            (DeletedCells::Family("d".into()), at),
            (DeletedCells::Family("f".into()), at),
            (DeletedCells::Row, at),
            (DeletedCells::Row, Timestamp::from_millis(8).unwrap()),
        ] {
            let deletion = many.delete_rows(RowRange::prefix(b"b"), cells.clone());
            assert_eq!(deletion.batch_rows(2).timestamp(timestamp).run().await.unwrap(), 3);
            for row in ["b1", "b2", "b3"] {
                let request = rowhouse_model::DeleteRows {
                    cells: cells.clone(),
                    timestamp,
                    ..rowhouse_model::DeleteRows::new(RowRange::all())
                };
                single.delete(request.delete_of(row.into()).unwrap()).await.unwrap();
            }
            // The markers are the same too.
            for raw in [false, true] {
                let mut scan = Scan::all();
                scan.raw = raw;
                let rows = async |table: &Table| {
                    let rows = table.scan(scan.clone()).await.unwrap().collect().await.unwrap();
                    let cells = rows.iter().flat_map(|row| row.to_cells());
                    let without_time = cells.map(|cell| {
                        let at = Some(cell.timestamp()).filter(|at| at.as_millis() < 100);
                        (cell.row().to_vec(), cell.family().to_vec(), cell.kind(), at)
                    });
                    without_time.collect::<Vec<_>>()
                };
                assert_eq!(rows(&many).await, rows(&single).await, "{cells:?}, raw={raw}");
            }
        }
        let deletion = many.delete_rows(RowRange::prefix(b"b"), DeletedCells::Row);
        assert_eq!(deletion.run().await.unwrap(), 3);
        assert_eq!(all_keys(&many).await.len(), 2);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_select_rows_and_the_full_text_index_follows() {
    on_both(async |database, _| {
        let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
        let spec = spec.columns("d:b body string; d:z size u32");
        let table = database.create_table(spec.index("text search body english")).await.unwrap();
        while database.admin().index_state("mail", "text").await.unwrap() != IndexState::Ready {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        for n in 0..40_u32 {
            let user = ["ann", "bob"][n as usize % 2];
            let body = ["rows and keys", "a lock", "keys of locks"][n as usize % 3];
            let row = table.row(&[("user", user.into()), ("n", n.into())]);
            let row = row.set_named("body", body).set_named("size", n);
            table.put(row.into_put().unwrap()).await.unwrap();
        }
        let text = "user = 'bob' and size > 9 and body matches 'keys'";
        let selected = keys(table.query(text)).await;
        assert!(selected.len() > 5);
        let before = all_keys(&table).await;
        let deleted = table.query(text).delete().batch_rows(2).run().await.unwrap();
        assert_eq!(deleted, selected.len() as u64);
        assert_eq!(all_keys(&table).await, before.difference(&selected).cloned().collect());
        assert_eq!(table.query(text).count().await.unwrap(), 0);
        let report = database.admin().verify_index("mail", "text").await.unwrap();
        assert_eq!((report.missing, report.stale), (0, 0));
        database.close().await.unwrap();
    })
    .await;
}

/// Counts rows in another table, and refuses to lose one of them.
struct Counted {
    counts: Table,
    refuses: Arc<AtomicBool>,
}

impl Observer for Counted {
    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
        if self.refuses.load(Ordering::Relaxed) && change.after.is_empty() {
            return Err(rowhouse::Error::invalid("not now"));
        }
        let more = i64::from(!change.after.is_empty()) - i64::from(!change.before.is_empty());
        additions.mutate(&self.counts, Increment::new("rows")?.add("n", "n", more)?)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn observers_see_each_row_and_may_refuse() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let counts = TableSpec::new("counts").family("n");
    let counts = database.create_table(counts).await.unwrap();
    let spec = TableSpec::new("t").family("d").key("[n u32]");
    let table = database.create_table(spec).await.unwrap();
    let refuses = Arc::new(AtomicBool::new(false));
    let observer = Counted { counts: counts.clone(), refuses: Arc::clone(&refuses) };
    database.observe("t", observer).await.unwrap();
    for n in 0..30_u32 {
        table.row(&[("n", n.into())]).set("d", "q", "v").put().await.unwrap();
    }
    assert_eq!(table.query("n < 12").delete().batch_rows(5).run().await.unwrap(), 12);
    assert_eq!(counts.counter("rows", "n", "n").await.unwrap(), Some(18));
    refuses.store(true, Ordering::Relaxed);
    let error = table.query("n < 20").delete().run().await.unwrap_err();
    assert!(error.message().contains("not now"), "{error}");
    assert_eq!(table.query("n < 20").count().await.unwrap(), 8);
    assert_eq!(counts.counter("rows", "n", "n").await.unwrap(), Some(18));
    database.close().await.unwrap();
}

/// Refuses changes to the rows that it has.
#[derive(Clone, Default)]
struct Refused(Arc<std::sync::Mutex<BTreeSet<Bytes>>>);

impl Observer for Refused {
    fn row_changes(&self, change: &RowChange, _: &mut Additions<'_>) -> Result<()> {
        let is_refused = self.0.lock().unwrap().contains(&change.row[..]);
        if is_refused { Err(rowhouse::Error::invalid("this row stays")) } else { Ok(()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_one_row_ends_a_deletion_of_columns_with_the_exact_count() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("d").family("f")).await.unwrap();
    for n in 0..20 {
        let put = Put::new(format!("x{n:02}")).unwrap();
        let put = put.add("d", "q", "v").unwrap().add("f", "q", "v").unwrap();
        table.put(put).await.unwrap();
    }
    let refused = Refused::default();
    database.observe("t", refused.clone()).await.unwrap();
    refused.0.lock().unwrap().insert("x05".into());
    for cells in [DeletedCells::Column("d".into(), "q".into()), DeletedCells::Family("f".into())] {
        let deletion = || table.delete_rows(RowRange::all(), cells.clone()).batch_rows(10);
        let mut refusing = deletion();
        assert!(refusing.step().await.unwrap(), "the error is for the next step");
        assert_eq!(refusing.deleted(), 10);
        let error = refusing.step().await.unwrap_err();
        assert!(error.message().contains("this row stays"), "{error}");
        assert_eq!(refusing.deleted(), 10);
        assert!(deletion().run().await.is_err());
        refused.0.lock().unwrap().clear();
        assert_eq!(deletion().run().await.unwrap(), 10);
        refused.0.lock().unwrap().insert("x05".into());
    }
    assert!(all_keys(&table).await.is_empty());
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_the_family_or_column_get_no_markers_and_do_not_count() {
    on_both(async |database, _| {
        let table = database.create_table(TableSpec::new("t").family("d").family("f"));
        let table = table.await.unwrap();
        for (row, family, qualifier) in [("a", "d", "q"), ("b", "d", "r"), ("c", "f", "q")] {
            let put = Put::new(row).unwrap().add(family, qualifier, "v").unwrap();
            table.put(put).await.unwrap();
        }
        for cells in [
            DeletedCells::Column("d".into(), "q".into()),
            DeletedCells::Family("d".into()),
            DeletedCells::Family("f".into()),
        ] {
            let deletion = table.delete_rows(RowRange::all(), cells.clone());
            assert_eq!(deletion.run().await.unwrap(), 1, "{cells:?}");
        }
        let mut raw = Scan::all();
        raw.raw = true;
        let rows = table.scan(raw).await.unwrap().collect().await.unwrap();
        let markers = rows.iter().map(|row| row.to_cells().len() - 1);
        assert_eq!(markers.collect::<Vec<_>>(), [1, 1, 1]);
        let unknown = table.delete_rows(RowRange::all(), DeletedCells::Family("x".into()));
        assert!(unknown.run().await.is_err());
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn cheaper_ways_are_named() {
    on_both(async |database, _| {
        let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
        let mail = database.create_table(spec.columns("d:s sender string")).await.unwrap();
        for at in ["bob\0\u{1}", "bob\0\u{2}"] {
            split(&database, &mail, at.into()).await;
        }
        let advice = async |query: &str| mail.query(query).delete().advice().await.unwrap();
        let by_age = DeleteAdvice::TimeToLive("at".to_owned());
        assert_eq!(advice("at < 2020").await, std::slice::from_ref(&by_age));
        assert_eq!(advice("at <= 2020-01-01 and at < 2021").await, [by_age]);
        assert_eq!(advice("user = 'bob'").await, [DeleteAdvice::TruncateRegions(1)]);
        assert_eq!(advice("user >= ''").await, [DeleteAdvice::TruncateRegions(2)]);
        let all = mail.query_where(Predicate::all()).delete();
        assert_eq!(all.advice().await.unwrap(), [DeleteAdvice::Truncate]);
        for query in ["user = 'ann'", "user = 'bob' and at < 2020", "sender = 'eve'"] {
            assert_eq!(advice(query).await, [], "{query}");
        }
        let of = async |range, cells| mail.delete_rows(range, cells).advice().await.unwrap();
        assert_eq!(of(RowRange::all(), DeletedCells::Row).await, [DeleteAdvice::Truncate]);
        assert_eq!(of(RowRange::all(), DeletedCells::Family("d".into())).await, []);
        let prefix = RowRange::prefix(b"bob");
        assert_eq!(of(prefix, DeletedCells::Row).await, [DeleteAdvice::TruncateRegions(1)]);
        let older = Timestamp::from_millis(5).unwrap();
        for deletion in [
            mail.query("user = 'bob'").delete(),
            mail.query_where(Predicate::all()).delete(),
            mail.delete_rows(RowRange::all(), DeletedCells::Row),
        ] {
            assert_eq!(deletion.timestamp(older).advice().await.unwrap(), []);
        }
        assert!(mail.get(&Get::new("a").unwrap()).await.unwrap().is_empty());
        database.close().await.unwrap();
    })
    .await;
}
