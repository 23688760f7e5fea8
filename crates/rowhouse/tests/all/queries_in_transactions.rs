//! Queries in transactions: what they read counts, by the key and by indexes, so that transactions
//! that query and then write are serializable.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rowhouse::query::Query;
use rowhouse::schema::IndexState;
use rowhouse::{Database, Delete, Error, ErrorKind, Result, Table, TableSpec};
use tokio::runtime::{Builder, Handle};

const INDEXES: &str = "by_state [state]; by_room [room]; one_mail [mail] unique";

async fn scene() -> (tempfile::TempDir, Database, Table) {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let spec = TableSpec::new("t")
        .family("d")
        .key("[id string]")
        .columns("d:s state string; d:r room string; d:f from u8; d:m mail string; d:o other u8");
    let table = database.create_table(spec.indexes(INDEXES)).await.unwrap();
    (dir, database, table)
}

async fn set(table: &Table, id: &str, columns: &[(&str, &str)]) {
    let id = [("id", id.into())];
    let row = columns.iter().fold(table.row(&id), |row, (name, value)| match value.parse::<u8>() {
        Ok(number) => row.set_named(name, number),
        Err(_) => row.set_named(name, *value),
    });
    row.put().await.unwrap();
}

/// The ways to read a query about a column.
const WAYS: [Option<&str>; 2] = [None, Some("index")];

fn read<'t>(table: &'t Table, query: &str, index: Option<&str>) -> Query<'t> {
    let query = table.query(query);
    match index {
        Some(index) => query.using(index),
        None => query.using_key(),
    }
}

/// Runs `read`, and in the first attempt `meanwhile` after it, then writes a row. Returns the
/// attempt count.
async fn attempts<F: Future<Output = ()> + Send + 'static>(
    database: &Database,
    table: &Table,
    read: impl Fn(&mut rowhouse::Transaction<'_>) -> Result<usize> + Send + 'static,
    meanwhile: impl Fn() -> F + Send + 'static,
) -> u32 {
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let table = table.clone();
    let runtime = Handle::current();
    let transact = database.transact(move |transaction| {
        let count = read(transaction)?;
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            runtime.block_on(meanwhile());
        }
        let row = table.row(&[("id", "written".into())]);
        transaction.put(&table, row.set_named("other", count as u8).into_put()?)
    });
    transact.await.unwrap();
    attempts.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_transactions_that_read_changes_of_each_other_one_is_repeated() {
    for way in WAYS {
        let (_dir, database, doctors) = scene().await;
        for id in ["ann", "bob"] {
            set(&doctors, id, &[("state", "on call")]).await;
        }
        let index = way.map(|_| "by_state");
        let leave = |doctors: Table, id: &'static str| {
            move |transaction: &mut rowhouse::Transaction<'_>| {
                let on_call = transaction.query(read(&doctors, "state = 'on call'", index))?.len();
                let row = doctors.row(&[("id", id.into())]).set_named("state", "away");
                Ok::<_, Error>((on_call, row.into_put()?))
            }
        };
        let is_first = Arc::new(AtomicU32::new(0));
        let inside = database.clone();
        let runtime = Handle::current();
        let ann = leave(doctors.clone(), "ann");
        let bob = leave(doctors.clone(), "bob");
        let table = doctors.clone();
        let counted = Arc::clone(&is_first);
        let left = database.transact(move |transaction| {
            let (on_call, put) = ann(transaction)?;
            if counted.fetch_add(1, Ordering::Relaxed) == 0 {
                let bob = bob.clone();
                let table = table.clone();
                let inside = inside.clone();
                runtime.block_on(async move {
                    inside
                        .transact(move |transaction| {
                            let (on_call, put) = bob(transaction)?;
                            assert_eq!(on_call, 2);
                            transaction.put(&table, put)
                        })
                        .await
                        .unwrap();
                });
            }
            if on_call < 2 {
                return Err(Error::invalid("nobody else is on call"));
            }
            transaction.put(&table, put)
        });
        assert_eq!(left.await.unwrap_err().message(), "nobody else is on call");
        assert_eq!(is_first.load(Ordering::Relaxed), 2);
        let on_call = doctors.query("state = 'on call'").page(9).await.unwrap().rows;
        assert_eq!(on_call.len(), 1);
        database.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_conflicts_with_rows_that_come_to_match_and_not_with_others() {
    for way in WAYS {
        let (_dir, database, bookings) = scene().await;
        set(&bookings, "b", &[("room", "blue"), ("from", "9")]).await;
        let count_of = |query: &'static str| {
            let index = way.map(|_| "by_room");
            let bookings = bookings.clone();
            move |transaction: &mut rowhouse::Transaction<'_>| {
                let rows = transaction.query(read(&bookings, query, index))?;
                // A limit does not narrow what counts.
                let first = transaction.query(read(&bookings, query, index).limit(1))?;
                assert_eq!(first.len(), rows.len().min(1));
                Ok(rows.len())
            }
        };
        let change = |id: &'static str, columns: &'static [(&'static str, &'static str)]| {
            let bookings = bookings.clone();
            move || {
                let bookings = bookings.clone();
                async move { set(&bookings, id, columns).await }
            }
        };
        let blue = "room = 'blue' and from > 5";
        let conflicting: &[(&'static str, &'static [(&str, &str)])] = &[
            ("c", &[("room", "blue"), ("from", "11")]),
            ("b", &[("room", "red")]),
            ("b", &[("room", "blue")]),
            // Only the row shows that it matches no more.
            ("c", &[("from", "1")]),
        ];
        for (id, columns) in conflicting {
            let tried = attempts(&database, &bookings, count_of(blue), change(id, columns)).await;
            assert_eq!(tried, 2, "{way:?} {id} {columns:?}");
        }
        let nobody = "room = 'green' and from > 5";
        let tried = attempts(
            &database,
            &bookings,
            count_of(nobody),
            change("d", &[("room", "green"), ("from", "7")]),
        );
        assert_eq!(tried.await, 2, "{way:?}, a row where there was none");
        if way.is_some() {
            let other = change("d", &[("room", "yellow"), ("from", "7")]);
            assert_eq!(attempts(&database, &bookings, count_of(blue), other).await, 1);
        }
        let of_key = "id = 'b' and room = 'blue'";
        let other = change("d", &[("room", "black")]);
        assert_eq!(attempts(&database, &bookings, count_of(of_key), other).await, 1, "{way:?}");
        database.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unique_value_is_decided_when_a_transaction_commits() {
    let (_dir, database, users) = scene().await;
    set(&users, "ann", &[("mail", "ann@x.org")]).await;
    let put = |id: &str, mail: &str| {
        users.row(&[("id", id.into())]).set_named("mail", mail).into_put().unwrap()
    };
    let table = users.clone();
    let taken = put("bob", "ann@x.org");
    let other = put("eve", "eve@x.org");
    let both = database.transact(move |transaction| {
        transaction.put(&table, other.clone())?;
        transaction.put(&table, taken.clone())?;
        // Within the transaction both rows have it.
        assert_eq!(transaction.query(table.query("mail = 'ann@x.org'"))?.len(), 2);
        Ok(())
    });
    let error = both.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    assert!(error.message().contains("one_mail"), "{error}");
    assert!(users.query("mail = 'eve@x.org'").page(1).await.unwrap().rows.is_empty());

    let table = users.clone();
    let taken = put("bob", "ann@x.org");
    let given_up = Delete::new(users.key(&[("id", "ann".into())]).unwrap()).unwrap();
    database
        .transact(move |transaction| {
            transaction.delete(&table, given_up.clone())?;
            transaction.put(&table, taken.clone())
        })
        .await
        .unwrap();
    let rows = users.query("mail = 'ann@x.org'").using("one_mail").page(9).await.unwrap().rows;
    assert_eq!(rows.iter().map(ToString::to_string).collect::<Vec<_>>(), ["id='bob'"]);

    // Another takes the value between the query and the commit.
    let counted = Arc::new(AtomicU32::new(0));
    let inside = users.clone();
    let tried = Arc::clone(&counted);
    let table = users.clone();
    let runtime = Handle::current();
    let own = put("one", "new@x.org");
    let theirs = put("other", "new@x.org");
    let transacted = database.transact(move |transaction| {
        let query = table.query("mail = 'new@x.org'").using("one_mail");
        let is_taken = !transaction.query(query)?.is_empty();
        if tried.fetch_add(1, Ordering::Relaxed) == 0 {
            let inside = inside.clone();
            let theirs = theirs.clone();
            runtime.block_on(async move { inside.put(theirs).await.unwrap() });
        }
        if !is_taken {
            transaction.put(&table, own.clone())?;
        }
        Ok(is_taken)
    });
    // It begins again, rather than being refused for what it has not seen.
    assert!(transacted.await.unwrap());
    assert_eq!(counted.load(Ordering::Relaxed), 2);
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_ready_only_after_the_transaction_began_is_not_read() {
    let (_dir, database, table) = scene().await;
    for n in 0..300_u32 {
        set(&table, &format!("{n:03}"), &[("state", if n == 7 { "on call" } else { "away" })])
            .await;
    }
    let inside = table.clone();
    let outside = database.clone();
    let runtime = Handle::current();
    let transacted = database.transact(move |transaction| {
        transaction.get(&inside, &rowhouse::Get::new("none")?)?;
        let outside = outside.clone();
        runtime.block_on(async move {
            let admin = outside.admin();
            admin.alter_indexes("t", "late [state]").await.unwrap();
            while admin.index_state("t", "late").await.unwrap() != IndexState::Ready {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let named = transaction.query(inside.query("state = 'on call'").using("late"));
        assert!(named.is_err());
        transaction.query(inside.query("state = 'on call'"))
    });
    assert_eq!(transacted.await.unwrap().len(), 1);
    assert_eq!(
        table.query("state = 'on call'").rows().await.unwrap().index(),
        Some("late"),
        "outside it is read"
    );
    database.close().await.unwrap();
}

#[test]
fn a_query_in_a_transaction_needs_no_other_thread() {
    let mut threads = Builder::new_multi_thread();
    let runtime = threads.worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
        let spec = TableSpec::new("t").family("d").key("[bucket 4 of id][id u32]");
        let spec = spec.columns("d:s state string; f:[tag string] tagged u8").family("f");
        let table = database.create_table(spec.index("by_state [state]")).await.unwrap();
        let puts = (0..500_u32).map(|id| {
            let row = table.row(&[("id", id.into())]).set_named("state", format!("s{}", id % 5));
            row.into_put().unwrap().into()
        });
        for outcome in table.batch(puts.collect::<Vec<_>>()).await {
            outcome.unwrap();
        }
        let inside = table.clone();
        let transacted = database.transact(move |transaction| {
            let key = transaction.query(inside.query("state = 's1'").using_key())?;
            let index = transaction.query(inside.query("state = 's1'").using("by_state"))?;
            Ok((key.len(), index.len()))
        });
        let outcome = tokio::time::timeout(Duration::from_secs(60), transacted).await;
        assert_eq!(outcome.expect("it does not wait for itself").unwrap(), (100, 100));
        database.close().await.unwrap();
    });
}

#[tokio::test]
async fn a_query_by_a_copy_sees_the_writes_of_its_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let spec =
        TableSpec::new("t").family("d").key("[at u8][id string]").columns("d:s state string");
    let table = database.create_table(spec.index("by_id [id][at] covers *")).await.unwrap();
    let put = |at: u8, id: &str, state: &str| {
        let row = table.row(&[("at", at.into()), ("id", id.into())]);
        row.set_named("state", state).into_put().unwrap()
    };
    for (at, id) in [(1, "a"), (2, "b"), (3, "a")] {
        table.put(put(at, id, "old")).await.unwrap();
    }
    let changed = put(1, "a", "new");
    let added = put(2, "a", "new");
    let gone = Delete::new(put(3, "a", "old").row().clone()).unwrap();
    let inside = table.clone();
    let transacted = database.transact(move |transaction| {
        transaction.put(&inside, changed.clone())?;
        transaction.put(&inside, added.clone())?;
        transaction.delete(&inside, gone.clone())?;
        let key = transaction.query(inside.query("id = 'a'").using_key())?;
        let copy = transaction.query(inside.query("id = 'a'").using("by_id"))?;
        let text = |rows: &[rowhouse::query::QueryRow]| -> Vec<_> {
            let state = |row: &rowhouse::query::QueryRow| row.column("state").unwrap().unwrap();
            rows.iter().map(|row| format!("{row} {}", state(row))).collect()
        };
        assert_eq!(text(&copy), ["at=1, id='a' new", "at=2, id='a' new"]);
        Ok((text(&key), text(&copy)))
    });
    let (key, copy) = transacted.await.unwrap();
    assert_eq!(key, copy);
    database.close().await.unwrap();
}
