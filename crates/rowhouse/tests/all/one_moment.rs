//! Queries with conditions on qualifier fields use several scans; an embedded database runs them at
//! one read point.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse::query::QueryRow;
use rowhouse::schema::FamilyDescriptor;
use rowhouse::{Database, Mutation, Table, TableSpec};

const USERS: [&str; 4] = ["ann", "bob", "eve", "zoe"];

async fn table(database: &Database, key: &str) -> Table {
    let columns = "f:[at seconds 4] price u64; d:n count u64; e:n size u64";
    let spec = TableSpec::new("t").key(key).columns(columns);
    database.create_table(spec.family("f").family("d").family("e")).await.unwrap()
}

/// Writes a number into all families in all rows in one atomic change.
async fn write(database: &Database, table: &Table, number: u64) {
    let columns = table.column_schema().unwrap();
    let price = columns.encode_with("price", &[("at", 7.into())], number).unwrap();
    let put = |user: &str| -> (Table, Mutation) {
        let row = table.row(&[("user", user.into())]);
        let row = row.set_named("count", number).set_named("size", number);
        let put = row.into_put().unwrap();
        let put = put.add(price.family.clone(), price.qualifier.clone(), price.value.clone());
        (table.clone(), put.unwrap().into())
    };
    database.commit(USERS.map(put)).await.unwrap();
}

/// Returns all numbers in a row.
fn numbers(row: &QueryRow) -> Vec<u64> {
    let named = ["count", "size"].map(|name| row.column(name).unwrap().unwrap().as_u64().unwrap());
    let prices = row.columns("price").unwrap().map(|price| price.unwrap().1.as_u64().unwrap());
    named.into_iter().chain(prices).collect()
}

/// Runs queries with one or several ranges, sequential or merged from buckets, in both directions.
async fn sees_one_moment_beside_a_writer(key: &str) {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let table = table(&database, key).await;
    write(&database, &table, 0).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let database = database.clone();
        let table = table.clone();
        let stop = Arc::clone(&stop);
        async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                write(&database, &table, number).await;
                if number % 100 == 0 {
                    database.admin().flush("t").await.unwrap();
                }
            }
            number
        }
    });
    let mut seen = 0;
    for nth in 0..300 {
        let one_by_one = "user in ('ann', 'bob', 'eve', 'zoe') and price.at = 7";
        let text = if nth % 2 == 0 { one_by_one } else { "price.at between 5 and 9" };
        let query = table.query(text);
        let query = if nth % 3 == 0 { query.reversed() } else { query };
        let rows = query.rows().await.unwrap().collect().await.unwrap();
        assert_eq!(rows.len(), USERS.len());
        let values: Vec<_> = rows.iter().map(numbers).collect();
        let number = values[0][0];
        assert!(values.iter().all(|row| *row == [number; 3]), "{text}: {values:?}");
        assert!(number >= seen, "a later query sees an earlier moment: {number} after {seen}");
        seen = number;
    }
    stop.store(true, Ordering::Relaxed);
    assert!(writer.await.unwrap() > 0);
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_read_in_two_scans_are_never_half_old_beside_a_writer() {
    sees_one_moment_beside_a_writer("[user string]").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_buckets_read_in_two_scans_are_never_half_old_beside_a_writer() {
    sees_one_moment_beside_a_writer("[bucket 4 of user][user string]").await;
}

#[tokio::test]
async fn ranges_that_are_reached_later_are_read_as_they_were_when_the_query_began() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let table = table(&database, "[user string]").await;
    write(&database, &table, 1).await;
    let query = table.query("user in ('ann', 'bob', 'eve', 'zoe') and price.at = 7");
    let mut rows = query.rows().await.unwrap();
    assert_eq!(rows.plan().ranges().len(), USERS.len());
    // Change the table during the read in every possible way.
    write(&database, &table, 2).await;
    database.admin().flush("t").await.unwrap();
    let tags = FamilyDescriptor::new("tags").unwrap();
    database.admin().alter_table("t", move |t| Ok(t.clone().family(tags.clone()))).await.unwrap();
    let region = table.regions().await.unwrap().remove(0);
    database.admin().split_region(&region, Some("c".into())).await.unwrap();
    write(&database, &table, 3).await;
    let mut count = 0;
    while let Some(row) = rows.next().await.unwrap() {
        assert_eq!(numbers(&row), [1; 3], "{row}");
        count += 1;
    }
    assert_eq!(count, USERS.len());
    let rows = table.query("price.at = 7").rows().await.unwrap().collect().await.unwrap();
    assert!(rows.iter().all(|row| numbers(row) == [3; 3]));
    database.close().await.unwrap();
}
